"""What must hold, and whether it does."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """A figure beside its floor or ceiling.

    Parameters
    ----------
    what : str
        What was measured.
    figure, bound : float
        What came out, and what must not be passed.
    least : bool
        Whether the bound is a floor; else it is a ceiling.
    form : str
        How both are written.
    """

    what: str
    figure: float
    bound: float
    least: bool = False
    form: str = "{:.2f}"

    @property
    def holds(self) -> bool:
        """Whether the figure is on the right side."""
        if self.least:
            return self.figure >= self.bound
        return self.figure <= self.bound

    def row(self) -> list[str]:
        """Return the row of the table."""
        return [
            self.what,
            self.form.format(self.figure),
            ("at least " if self.least else "at most ") + self.form.format(self.bound),
            "holds" if self.holds else "MISSES",
        ]
