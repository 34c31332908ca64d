"""The error of a model as it was when it was made, against what is measured now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pairlearn.trust.kinds_certificate import KindsCertificate

if TYPE_CHECKING:
    from pairlearn.trust.certificate import Certificate

__all__ = ["Was", "change_in_words", "error_before", "short_of", "was_rows"]


@dataclass(frozen=True)
class Was:
    """The error of a model when it was made.

    Attributes
    ----------
    error : float
        The estimate.
    low, high : float
        The ends of its interval.
    n_pairs : int
        The pairs that it rests on.
    confidence : float
        Of the interval.
    cross_validated : bool
        Whether it is an estimate from the pairs that the model learned from.
    """

    error: float
    low: float
    high: float
    n_pairs: int
    confidence: float
    cross_validated: bool = False


def short_of(certificate: KindsCertificate) -> dict[str, Any]:
    """Return what is stored of a certificate for several kinds."""
    low, high = certificate.interval
    return {
        "error": float(certificate.error),
        "interval": [float(low), float(high)],
        "n_pairs": int(certificate.n_pairs),
        "confidence": float(certificate.confidence),
    }


def error_before(about: dict[str, Any]) -> Was | None:
    """Return the error that is stored beside a model, if there is one.

    Parameters
    ----------
    about : dict
        What is stored beside the model; what is not understood in it is left out.
    """
    two, several = about.get("certificate"), about.get("kinds certificate")
    try:
        if two is not None:
            return _was(
                two["clustering_error"],
                two["clustering_interval"],
                two["n_pairs"],
                two["confidence"],
                cross_validated=bool(two.get("cross_validated")),
            )
        if several is not None:
            return _was(
                several["error"],
                several["interval"],
                several["n_pairs"],
                several["confidence"],
            )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        pass
    return None


def _was(
    error: Any,
    ends: Any,
    n_pairs: Any,
    confidence: Any,
    *,
    cross_validated: bool = False,
) -> Was:
    low, high = (float(end) for end in ends)
    was = Was(float(error), low, high, int(n_pairs), float(confidence), cross_validated)
    if not all(0 <= x <= 1 for x in (was.error, low, high, was.confidence)):
        raise ValueError("a share that is none")
    return was


def was_rows(
    was: Was | None, now: Certificate | KindsCertificate
) -> list[tuple[str, str]]:
    """Return the lines about the error when the model was made.

    Parameters
    ----------
    was : Was or None
        The error then.
    now : Certificate or KindsCertificate
        What is measured now.
    """
    if was is None:
        return []
    how = (
        "cross-validated" if was.cross_validated else f"{was.n_pairs} pairs kept aside"
    )
    at = "" if was.confidence == now.confidence else f", {100 * was.confidence:g}%"
    line = f"{was.error:.1%}, between {was.low:.1%} and {was.high:.1%}"
    return [("error was", line), ("", f"when the model was made, {how}{at}")]


def change_in_words(was: Was | None, now: Certificate | KindsCertificate) -> str | None:
    """Return a sentence if both intervals have nothing in common.

    Parameters
    ----------
    was : Was or None
        The error then.
    now : Certificate or KindsCertificate
        What is measured now.
    """
    if was is None:
        return None
    several = isinstance(now, KindsCertificate)
    low, high = now.interval if several else now.clustering_interval  # type: ignore[union-attr]
    if low > was.high:
        return (
            "The model errs more often here than when it was made: these points, or "
            "the people who answer, may differ from those of then. Fit it anew with "
            "these answers."
        )
    if high < was.low:
        return (
            "The model errs less often here than when it was made: these points may be "
            "easier than those of then."
        )
    return None
