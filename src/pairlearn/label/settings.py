"""How an interview on the page is made: what was said when its file was begun."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pairlearn.files.answers_store import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DEFAULTS", "OVERLAP", "settled"]

# As `pairlearn ask` has them; plain values, which JSON can keep.
DEFAULTS: dict[str, Any] = {
    "id": None,
    "first_row": None,
    "delimiter": None,
    "embed": None,
    "kinds": 2,
    "audits": 0.2,
    "noise": "auto",
    "strategy": "mixed",
    "seed": 0,
    "confidence": 0.95,
}
# The share of questions that two people are asked, once there are two.
OVERLAP = 0.1


def settled(
    given: Mapping[str, Any],
    kept: Mapping[str, Any] | None,
    name: str,
    *,
    is_shared: bool = False,
) -> dict[str, Any]:
    """Return the settings that hold: those that a file was begun with.

    Parameters
    ----------
    given : dict
        What was said now.
    kept : dict or None
        What the file was begun with; None: it begins now.
    name : str
        Of the file, for messages.
    is_shared : bool, default=False
        Whether it is a database.

    Returns
    -------
    dict

    Raises
    ------
    StoreError
        If something else is said now.

    Examples
    --------
    >>> settled({"kinds": 3}, None, "answers.sqlite")["kinds"]
    3
    >>> settled({"seed": 1}, {"seed": 0}, "answers.sqlite")
    Traceback (most recent call last):
        ...
    pairlearn.data.databases.StoreError: answers.sqlite was begun with --seed 0,
    and that cannot be changed to 1 in the middle. Leave --seed out, or begin another
    file with --answers
    """
    unknown = sorted(set(given) - set(DEFAULTS))
    if unknown:
        raise ValueError(f"there is no setting {unknown[0]!r}")
    plain = {name: _plain(value) for name, value in given.items()}
    if kept is None:
        return DEFAULTS | plain
    whole = DEFAULTS | dict(kept)
    if whole["embed"] is not None and "embed" not in plain:
        # A file that somebody else made gets no function called by its word alone.
        raise StoreError(
            f"{name} was begun with --embed {_shown(whole['embed'])}; say so again, if "
            "you know what that is"
        )
    another = "database with --database" if is_shared else "file with --answers"
    for option, value in plain.items():
        if value != whole[option]:
            flag = "--" + option.replace("_", "-")
            raise StoreError(
                f"{name} was begun with {flag} {_shown(whole[option])}, and that "
                f"cannot be changed to {_shown(value)} in the middle. Leave {flag} "
                f"out, or begin another {another}"
            )
    return whole


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return "none" if value is None else str(value)
