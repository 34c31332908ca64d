"""What is made of a crowd's answers: five ways to a classifier."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np

from benchmarks.outside import run_rival
from benchmarks.people.crowds import draw
from pairlearn import PairClassifier, clustering_error
from pairlearn.models.auto import with_people

if TYPE_CHECKING:
    from benchmarks.accuracy.record import Key, Results
    from benchmarks.people.crowds import Crowd

MAJORITY, OURS, DAWID = "majority", "annotators", "dawid-skene"
KNOWN, RIGHT = "known", "right"
LIMIT = 300.0  # seconds for the rival


def majority(crowd: Crowd, seed: int) -> Any:
    """Take the mean of the answers about each pair, and one rate for all of them."""
    return PairClassifier(random_state=seed).fit(*crowd.majority)


def ours(crowd: Crowd, seed: int) -> Any:
    """Say who answered."""
    clf = PairClassifier(random_state=seed)
    return clf.fit(crowd.pairs, crowd.t, annotators=crowd.who)


def dawid_skene(crowd: Crowd, seed: int) -> Any:
    """Let crowd-kit settle each pair, and learn from what it settles on."""
    ends = np.sort(crowd.pairs.index, axis=1)
    _, first, pair = np.unique(ends, axis=0, return_index=True, return_inverse=True)
    found = run_rival(
        "dawid_skene", "crowd-kit", LIMIT, pair=pair.ravel(), t=crowd.t, who=crowd.who
    )
    t = np.array(found["t"], dtype=float)
    return PairClassifier(random_state=seed).fit(crowd.pairs[first], t)


def known(crowd: Crowd, seed: int) -> Any:
    """Say who answered, and how often each is right, as a bound."""
    clf = PairClassifier(random_state=seed)
    names, _ = clf._check_annotators(crowd.who, len(crowd.t))
    r1 = crowd.accuracy[[int(name) for name in names]]

    def told(*given: Any, **options: Any) -> Any:
        return replace(find_coins(*given, **options), r1=r1, r0=1 - r1)

    find_coins = with_people.find_coins
    with patch.object(with_people, "find_coins", told):
        return clf.fit(crowd.pairs, crowd.t, annotators=crowd.who)


def right(crowd: Crowd, seed: int) -> Any:
    """Learn from right answers, as a bound."""
    ends = np.sort(crowd.pairs.index, axis=1)
    _, first = np.unique(ends, axis=0, return_index=True)
    return PairClassifier(random_state=seed).fit(crowd.pairs[first], crowd.right[first])


METHODS = {
    MAJORITY: majority,
    OURS: ours,
    DAWID: dawid_skene,
    KNOWN: known,
    RIGHT: right,
}


def run(key: Key) -> Results:
    """Return the error on other points and, of ours, how well people are known."""
    crowd = draw(key.dataset, key.m, key.seed)
    with warnings.catch_warnings():
        # Answers at chance are of odd shares; the error shows it if it hurts.
        warnings.simplefilter("ignore")
        start = time.process_time()
        clf = METHODS[key.method](crowd, key.seed)
        seconds = time.process_time() - start
    sample = crowd.sample
    error = clustering_error(sample.y_test, clf.predict(sample.X_test))
    results = {"error": round(error, 6), "seconds": round(seconds, 1)}
    if key.method == OURS:
        results |= people(clf, crowd)
    return results


def people(clf: Any, crowd: Crowd) -> Results:
    """Return each person's rates and intervals, in the order of the crowd."""
    rows = [clf.people_.named(str(k)) for k in range(len(crowd.accuracy))]
    return {
        "accuracy": crowd.accuracy.round(4).tolist(),
        "r1": [[round(x, 4) for x in (p.r1, *p.r1_interval)] for p in rows],
        "r0": [[round(x, 4) for x in (p.r0, *p.r0_interval)] for p in rows],
        "verdicts": [p.verdict for p in rows],
    }
