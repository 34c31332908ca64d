r"""How learning went so far, and about how far it has to go.

Each version of the model expects an error of its own: the mean over the points of
1 - max_c p_c(x), with its calibrated probabilities. Errors of learning fall about as a
power of the number n of answers, so that

.. math:: \log e(n) = a - b \log n + \text{chance}, \quad b > 0.

:meth:`LearningCurve.advice` fits a and b by least squares to the later versions, and
solves e(n) = the wanted error. Its range is where lines cross the wanted error whose a
and b are within the uncertainty of the fit (80 %, by Student's t, from 4,000 drawn
lines). It is a forecast: a curve may level off, and the expected error is the model's
own opinion. The certificate is what holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from pairlearn.data.checks import check_share

__all__ = ["Advice", "LearningCurve", "Version"]

# Versions with fewer answers are guesses, and so many of them are needed for a line.
_FIRST, _ENOUGH = 10, 3
_DRAWS, _RANGE = 4000, 0.8
# No forecast goes further than this many times the answers so far.
_FAR = 100.0
# Neighbouring versions share most of their answers, so their errors vary together and
# lie closer to a line than fresh ones would; no line is believed to be closer than this
# to the truth (standard deviation of the logarithm).
_LEAST_SCATTER = 0.1


@dataclass(frozen=True)
class Version:
    """One version of the model.

    Attributes
    ----------
    number : int
        1 for the first.
    n_answers : int
        How many answers it was learned from.
    expected_error : float
        The error that it expects of itself.
    n_audits, n_wrong : int
        Audits that had been answered then, and how many of these it got wrong.
    """

    number: int
    n_answers: int
    expected_error: float
    n_audits: int = 0
    n_wrong: int = 0


@dataclass(frozen=True)
class Advice:
    """About how many more questions are needed: a forecast, not a guarantee.

    Attributes
    ----------
    error : float
        The error that is wanted.
    n_more : int or None
        About how many more answers it takes; 0: the model thinks it is there; None: not
        known yet, or further away than one can see.
    n_more_range : tuple of int or None
        Between which numbers, with about 80 % probability if the curve goes on as it
        did; None as an end: further than one can see.
    reason : str
        Where this comes from.
    """

    error: float
    n_more: int | None
    n_more_range: tuple[int, int | None] | None
    reason: str

    def __str__(self) -> str:
        wanted = f"an error of {self.error:.1%}"
        if self.n_more == 0:
            return f"The model expects to have reached {wanted}: {self.reason}."
        if self.n_more is None:
            return f"How many more answers {wanted} takes is not known: {self.reason}."
        text = f"About {self.n_more} more answers to {wanted}"
        if self.n_more_range is not None:
            low, high = self.n_more_range
            upper = "more than one can see" if high is None else f"{high}"
            text += f" (perhaps {low}, perhaps {upper})"
        return f"{text}: {self.reason}."


class LearningCurve(Sequence[Version]):
    """The versions of the model, from the first to the last.

    Parameters
    ----------
    versions : sequence of Version
        The versions.

    Examples
    --------
    >>> curve = LearningCurve(
    ...     [Version(k, n, 2 / n) for k, n in enumerate((20, 40, 80), 1)]
    ... )
    >>> print(curve)
    version  answers  expected error
          1       20           10.0%
          2       40            5.0%
          3       80            2.5%
    >>> curve.advice(0.0125).n_more
    80
    """

    def __init__(self, versions: Sequence[Version]) -> None:
        self._versions = tuple(versions)

    def __len__(self) -> int:
        return len(self._versions)

    @overload
    def __getitem__(self, number: int) -> Version: ...
    @overload
    def __getitem__(self, number: slice) -> LearningCurve: ...
    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return LearningCurve(self._versions[number])
        return self._versions[number]

    def __str__(self) -> str:
        audited = any(version.n_audits for version in self)
        lines = ["version  answers  expected error" + "  audits wrong" * audited]
        for v in self:
            line = f"{v.number:7d}  {v.n_answers:7d}  {v.expected_error:14.1%}"
            if audited:
                line += f"  {f'{v.n_wrong} of {v.n_audits}':>12}"
            lines.append(line)
        return "\n".join(lines)

    __repr__ = __str__

    def advice(self, error: float) -> Advice:
        """Forecast how many more answers an error takes.

        Parameters
        ----------
        error : float
            The error that is wanted, between 0 and 1.

        Returns
        -------
        Advice
        """
        check_share("error", error)
        used = [v for v in self if v.n_answers >= _FIRST and v.expected_error > 0]
        if len(used) < _ENOUGH:
            return Advice(
                error, None, None, f"a forecast needs {_ENOUGH} versions of the model"
            )
        now, last = used[-1].n_answers, used[-1].expected_error
        if last <= error:
            return Advice(
                error, 0, (0, 0), f"after {now} answers it expects {last:.1%}"
            )
        # What happened long ago tells little about what comes.
        used = [v for v in used if v.n_answers >= now / 8] or used
        x = np.log([v.n_answers for v in used])
        y = np.log([v.expected_error for v in used])
        crossing, low, high = _crossing(x, y, float(np.log(error)))
        reason = (
            f"its expected error fell to {last:.1%} in {now} answers, and if it goes "
            "on like that"
        )
        if crossing is None:
            falls = "its expected error does not fall so far that one could see it"
            return Advice(error, None, None, falls)

        def more(n: float) -> int:
            return max(1, round(n - now))

        return Advice(
            error,
            more(crossing),
            (max(0, round(low - now)), None if high is None else more(high)),
            reason,
        )


def _crossing(
    x: Any, y: Any, wanted: float
) -> tuple[float | None, float, float | None]:
    """Return where a line through the points meets the wanted height, and a range."""
    centre, n = x.mean(), len(x)
    squares = float(((x - centre) ** 2).sum())
    slope = float(((x - centre) * y).sum() / squares)
    scatter = y - y.mean() - slope * (x - centre)
    degrees = max(1, n - 2)
    spread = max(float(np.sqrt((scatter**2).sum() / degrees)), _LEAST_SCATTER)
    rng = np.random.default_rng(0)
    chance = rng.standard_t(max(degrees, 3), size=(2, _DRAWS)) * spread
    heights = y.mean() + chance[0] / np.sqrt(n)
    slopes = slope + chance[1] / np.sqrt(squares)
    furthest = x[-1] + np.log(_FAR)

    def meets(height: Any, slope: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            where = centre + (wanted - height) / slope
        return np.where((slope < 0) & (where < furthest), where, np.inf)

    middle = float(meets(y.mean(), slope))
    low, high = np.quantile(
        meets(heights, slopes), [(1 - _RANGE) / 2, (1 + _RANGE) / 2], method="nearest"
    )
    if not np.isfinite(middle):
        return None, 0.0, None
    upper = float(np.exp(high)) if np.isfinite(high) else None
    return float(np.exp(middle)), float(np.exp(low)), upper
