"""Coefficients of pairs in one byte each."""

import numpy as np
import pytest

from pairlearn.engine.coefficients import TwoValued, equal_answers, pair_coefficients
from pairlearn.engine.risks import answer_coefficients

RNG = np.random.default_rng(0)
SURE = np.where(RNG.random(50) < 0.3, 1.0, -1.0)


@pytest.mark.parametrize(
    ("t", "weight", "kind"),
    [
        (SURE, np.full(50, 3.0), TwoValued),
        (SURE, RNG.random(50), np.ndarray),
        (np.where(SURE > 0, 0.5, -1.0), np.ones(50), np.ndarray),
        (np.where(SURE > 0, 1.0, 0.0), np.ones(50), np.ndarray),
    ],
    ids=["sure and equal", "weights", "soft", "unknown"],
)
def test_the_same_numbers_as_two_arrays(t, weight, kind):
    for found, right in zip(
        pair_coefficients(t, weight), answer_coefficients(t, weight), strict=True
    ):
        assert isinstance(found, kind)
        np.testing.assert_array_equal(np.asarray(found), right)
        rows = np.array([7, 3, 49])
        np.testing.assert_array_equal(found[rows], right[rows])
        np.testing.assert_array_equal(found[10:20], right[10:20])
        np.testing.assert_allclose(found.sum(), right.sum(), rtol=1e-14)
        assert found.sum(keepdims=True).shape == (1,)
        assert len(found) == 50


def test_equal_answers_say_all_or_nothing():
    same, different = pair_coefficients(SURE, np.ones(50))
    flags, share = equal_answers(same, different)
    np.testing.assert_array_equal(flags, SURE > 0)
    assert share == 1 / 50
    # Two values, but not "this much for one answer and nothing for the other".
    assert equal_answers(TwoValued(flags, 0.1, 0.2), TwoValued(flags, 0.2, 0.1)) is None
    assert equal_answers(same, np.asarray(different)) is None
