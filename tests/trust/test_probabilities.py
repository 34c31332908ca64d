"""P(same) is one formula: as probabilities, with slopes, and as the engine's logs."""

import numpy as np
import pytest

from pairlearn.engine.links import BinaryLink, SoftmaxLink
from pairlearn.trust.probabilities import (
    agree,
    probabilities,
    same_and_slopes,
    same_class,
)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_all_forms_of_p_same_agree(n_classes):
    shape = (50, 1) if n_classes == 2 else (50, n_classes)
    f, h = 2 * np.random.default_rng(0).normal(size=(2, *shape))
    p, q = probabilities(f), probabilities(h)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    same = same_class(p, q)
    if n_classes == 2:
        np.testing.assert_allclose(agree(p[:, 1], q[:, 1]), same)
        logs = BinaryLink().log_probabilities(f[:, 0], h[:, 0])
        found, by_f, by_h = same_and_slopes(f, h)
        found = found[:, 0]
    else:
        logs = SoftmaxLink().log_probabilities(f, h)
        found, by_f, by_h = (
            part[:, 0] for part in same_and_slopes(f[:, None], h[:, None])
        )
    np.testing.assert_allclose(found, same)
    np.testing.assert_allclose(np.exp(logs[0]), same)
    np.testing.assert_allclose(np.exp(logs[1]), 1 - same)
    # d P = P d log P.
    by_logs = logs[2](same, np.zeros(50))
    np.testing.assert_allclose(by_f.reshape(by_logs[0].shape), by_logs[0], atol=1e-14)
    np.testing.assert_allclose(by_h.reshape(by_logs[1].shape), by_logs[1], atol=1e-14)


def test_small_probabilities_are_not_lost():
    p = probabilities(np.array([[50.0], [-50.0]]))
    np.testing.assert_allclose(p[0, 0], np.exp(-50.0))
    np.testing.assert_array_equal(p[0], p[1, ::-1])
