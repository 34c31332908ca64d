"""From a classifier and pairs to a certificate, and pairs to keep for one."""

from __future__ import annotations

import numbers
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.data.checks import check_answers, check_flip_rates
from pairlearn.data.containers import on_host
from pairlearn.data.graph import disjoint_pairs
from pairlearn.data.pairs import Pairs, as_pairs
from pairlearn.trust.certificate import RIGHT, certificate_from_answers, clopper_pearson

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Bools, Floats, Ints, PairsLike
    from pairlearn.trust.certificate import Certificate, Rates

__all__ = ["LEAST_KEPT", "certify", "keep_aside", "rates_of"]

# Fewer pairs kept aside say next to nothing.
LEAST_KEPT = 20
# Pairs that may be lost to training, as a multiple of those to be kept.
_MOST_LOST = 1.5


def certify(
    clf: Any,
    pairs: PairsLike,
    t: ArrayLike,
    *,
    confidence: float = 0.95,
    flip_rates: Any = None,
) -> Certificate:
    """Estimate the error of a classifier from pairs, with a confidence interval.

    The interval is valid if the pairs were drawn at random, were not used for training
    or class assignment, and share no point; see the notes.

    Parameters
    ----------
    clf : object
        Fitted, with a method ``predict(X)`` for points: an estimator of this
        package, a pipeline, or any binary classifier.
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        Fresh random pairs.
    t : array-like of shape (n_pairs,)
        Their answers, -1 or +1.
    confidence : float, default=0.95
        Confidence of the intervals.
    flip_rates : tuple, float, "auto" or None, default=None
        How often answers are wrong: (r1, r0) with r1 = P(answer same | same) and
        r0 = P(answer same | different); a single number e for (1 - e, e), wrong at that
        rate whatever the truth; None for never. "auto": as the classifier takes it (its
        `flip_rates_`), which is a guess: the lower end of the intervals is then 0, and
        the upper end holds also if no answer is wrong.

    Returns
    -------
    Certificate

    Warns
    -----
    UserWarning
        If pairs share points: disagreements are then dependent and the interval is
        too narrow. If fewer answers disagree than `flip_rates` say are wrong.

    Notes
    -----
    *Guaranteed:* for such pairs the interval contains the clustering error with
    probability at least `confidence`. *Not guaranteed:* anything for pairs chosen
    for a reason (hard cases, neighbours), for pairs the model has seen, or for the
    class assignment, which the clustering error ignores.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import CIPSClassifier, Pairs, certify
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=1200)
    >>> X = rng.normal(size=(1200, 2)) + 2 * y[:, None]
    >>> pairs, t = Pairs.sample(X, 600, y, random_state=0)
    >>> clf = CIPSClassifier().fit(pairs[:200], t[:200])
    >>> certify(clf, pairs[200:], t[200:])
    <Certificate: error 7.3%, between 5.5% and 9.5%, up to swapping the classes (95%
    confidence, 400 pairs)>
    """
    if not hasattr(clf, "predict"):
        raise TypeError(
            "the first argument of certify(clf, pairs, t) must be a fitted classifier; "
            "got "
            f"{type(clf).__name__}, which has no method predict"
        )
    pairs = as_pairs(pairs)
    answers = check_answers(t, len(pairs), pairs.index)
    if not len(pairs):
        raise ValueError("a certificate needs at least one pair")
    if np.any(np.abs(answers) != 1):
        raise ValueError(
            "a certificate counts disagreements, so its answers must be -1 or +1; for "
            "uncertain answers pass their signs and flip_rates"
        )
    guessed = isinstance(flip_rates, str)
    checked = check_flip_rates(flip_rates, words=("auto",))
    rates = rates_of(clf) if isinstance(checked, str) else checked or RIGHT
    if not pairs.is_disjoint():
        warnings.warn(
            "some pairs share points, so their disagreements are not independent and "
            "the interval is too narrow; take pairs that share none: "
            "keep = pairs.disjoint(); certify(clf, pairs[keep], t[keep])",
            stacklevel=2,
        )
    compact = pairs.compact()
    predicted = np.asarray(on_host(clf.predict(compact.X)))
    if len(np.unique(predicted)) > 2:
        raise ValueError(
            "a certificate is for classifiers into two classes (Theorem 1); this one "
            f"predicts {len(np.unique(predicted))}"
        )
    says = compact.answers(predicted)
    found = certificate_from_answers(
        says, answers, rates, confidence=confidence, guessed=guessed
    )
    if not guessed:
        _warn_if_too_high(says, answers, rates, confidence)
    return found


def rates_of(clf: Any) -> Rates:
    """Return (r1, r0) as a classifier, or the last step of a pipeline, takes them."""
    last = clf[-1] if hasattr(clf, "steps") else clf
    r1, r0 = getattr(last, "flip_rates_", None) or RIGHT
    # Rates that were learned may say that answers mean nothing; then they help nobody.
    return (float(r1), float(r0)) if r1 > r0 else RIGHT


def _warn_if_too_high(says: Floats, t: Floats, rates: Rates, confidence: float) -> None:
    """Warn if the answers are right more often than the rates allow."""
    level = (1 + confidence) / 2
    for kind, name, rate in ((1, "same", 1 - rates[0]), (-1, "different", rates[1])):
        disagrees = t[says == kind] != kind
        n_wrong, n_pairs = int(disagrees.sum()), len(disagrees)
        if n_pairs and clopper_pearson(n_wrong, n_pairs, level)[1] < rate:
            warnings.warn(
                f"the answers disagree with the classifier in {n_wrong / n_pairs:.1%} "
                f"of the pairs that it calls {name}, fewer than the {rate:.1%} that "
                "you said are wrong: flip_rates seem too high, and the certificate "
                "is not to be relied on",
                stacklevel=3,
            )
            return


def keep_aside(
    pairs: Pairs,
    t: Floats,
    size: float,
    rng: RandomState,
    group: Ints | None = None,
    *,
    usable: Bools | None = None,
    least: int = LEAST_KEPT,
) -> tuple[Ints, Ints]:
    """Divide pairs into those to train on and those to keep for the certificate.

    No point of a kept pair is in a training pair or in another kept pair, so pairs
    that share a point with a kept one are used for neither. Pairs whose points occur
    in few others are kept first, since they cost least; for random pairs that is as
    good as any choice. Fewer are kept where as many would cost training too much, and
    none where these are too few.

    Parameters
    ----------
    pairs : Pairs
        The pairs.
    t : ndarray of shape (n_pairs,)
        Their answers.
    size : float or int
        The share to keep, or their number; 0: none.
    rng : RandomState
        Seed.
    group : ndarray of shape (n_points,), optional
        A number for each point; points with the same number are one.
    usable : ndarray of bool of shape (n_pairs,), optional
        Which pairs may be kept. None: all.
    least : int, default=20
        The fewest pairs to keep, unless none.

    Returns
    -------
    trained, kept : ndarray
        Pair numbers.
    """
    n_pairs, n_points = len(pairs), pairs.n_points
    index = pairs.index if group is None else group[pairs.index]
    everything, nothing = np.arange(n_pairs), np.arange(0)
    wanted = size if isinstance(size, numbers.Integral) else size * n_pairs
    if not wanted >= least:
        return everything, nothing
    degree = np.bincount(index.ravel(), minlength=n_points)
    order = np.lexsort((rng.permutation(n_pairs), degree[index].sum(axis=1)))
    place = np.empty(n_pairs, dtype=np.intp)
    place[order] = np.arange(n_pairs)
    if usable is not None:
        order = order[usable[order]]
    chosen = disjoint_pairs(n_points, index, order)
    chosen = chosen[np.argsort(place[chosen])][: round(wanted)]
    # With which kept pair, in their order, each pair is lost to training.
    step = np.full(n_points, len(chosen))
    step[index[chosen]] = np.arange(len(chosen))[:, None]
    lost_with = step[index].min(axis=1)
    lost = np.cumsum(np.bincount(lost_with, minlength=len(chosen))[: len(chosen)])
    n_kept = int(np.sum(lost <= _MOST_LOST * wanted))
    kept, trained = np.sort(chosen[:n_kept]), np.flatnonzero(lost_with >= n_kept)
    both_kinds = np.any(t[trained] > 0) and np.any(t[trained] < 0)
    if len(kept) < least or not both_kinds:
        return everything, nothing
    return trained, kept
