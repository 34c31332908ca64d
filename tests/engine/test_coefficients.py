"""Coefficients of pairs in one byte each."""

import numpy as np
import pytest

from pairlearn.engine.coefficients import (
    Coefficients,
    EqualAnswers,
    answer_coefficients,
    pair_coefficients,
)

RNG = np.random.default_rng(0)
SURE = np.where(RNG.random(50) < 0.3, 1.0, -1.0)


@pytest.mark.parametrize(
    ("t", "weight", "kind"),
    [
        (SURE, np.full(50, 3.0), EqualAnswers),
        (SURE, RNG.random(50), Coefficients),
        (np.where(SURE > 0, 0.5, -1.0), np.ones(50), Coefficients),
        (np.where(SURE > 0, 1.0, 0.0), np.ones(50), Coefficients),
    ],
    ids=["sure and equal", "weights", "soft", "unknown"],
)
def test_the_same_numbers_as_two_arrays(t, weight, kind):
    found, right = pair_coefficients(t, weight), answer_coefficients(t, weight)
    assert type(found) is kind
    np.testing.assert_array_equal([*found], [*right])
    for rows in (slice(None), np.array([7, 3, 49]), slice(10, 20)):
        np.testing.assert_array_equal(found[rows], right[rows])
        np.testing.assert_array_equal(
            [*found.scaled(rows, 0.3)], 0.3 * np.array(right[rows])
        )
    for total, part in zip(found.totals(), right, strict=True):
        np.testing.assert_allclose(total, part.sum(), rtol=1e-14)
        assert total.shape == (1,)
    assert [len(part) for part in found] == [50, 50]


def test_equal_answers_say_all():
    found = pair_coefficients(SURE, np.ones(50))
    assert isinstance(found, EqualAnswers)
    np.testing.assert_array_equal(found.same, SURE > 0)
    assert found.same.itemsize == 1
    assert found.weight == 1 / 50
    # A part with a factor of its own is two plain arrays.
    assert type(found.scaled(slice(None), 2.0)) is Coefficients
