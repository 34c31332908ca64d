"""Attempts to spoil an interview: its certificate, its state, and its messages."""

import json

import numpy as np
import pandas as pd
import pytest

from pairlearn.ask import Interview
from pairlearn.ask.audits import coins
from tests.ask.test_interview import go_on, make, quick, resume, same


@pytest.mark.parametrize("seed", [0, 7])
def test_points_made_with_the_same_seed_are_put_aside_at_random(seed):
    """Classes drawn with default_rng(seed).random must not decide about audits."""
    drawn = np.random.default_rng(seed).random(2000)
    assert abs(np.corrcoef(drawn, coins(2000, seed))[0, 1]) < 0.1
    y = drawn < 0.3
    interview = quick(np.column_stack([y, y]), random_state=seed)
    share = y[interview._audits.reserve].mean()
    assert 0.2 < share < 0.4


@pytest.mark.parametrize("names", [["a", "b", "a", "c"], [1, "1", 2, 3]])
def test_names_are_those_of_one_point_each(names):
    """Equal names have equal coins, and would be in one audit."""
    with pytest.raises(ValueError, match="two points have the name"):
        quick(np.eye(4), names=names)


def test_a_point_is_in_one_audit_also_if_they_are_brought_one_by_one():
    X, _ = make()
    interview = quick(X)
    a, b, c = interview._audits.reserve[:3]
    interview.bring([(a, b)], [1], purpose="audit")
    for pair in ((a, c), (a, b)):
        with pytest.raises(ValueError, match="is in two audits"):
            interview.bring([pair], [-1], purpose="audit")
    assert len(interview.ledger.questions) == 1


@pytest.mark.parametrize("chosen", [False, True])
def test_nothing_is_brought_along_after_learning_has_ended(chosen):
    """Brought audits would stand for those that the final model is judged by."""
    X, y = make()
    interview = quick(X, noise=None)
    go_on(interview, y, 30)
    interview.freeze(5, chosen=chosen)
    fresh = interview._audits.unused(interview.ledger)[-2:]
    for purpose in ("audit", "learn"):
        with pytest.raises(ValueError, match="learning has ended"):
            interview.bring([fresh], [1], purpose=purpose)
    go_on(interview, y, 5)
    assert interview.certificate.n_pairs == 5
