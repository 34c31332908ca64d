"""Lessons: which model learns, and what it is told of wrong answers."""

import numpy as np
import pytest
from scipy.special import expit, logit

from pairlearn import PairClassifier
from pairlearn.ask.lessons import Teacher, _Neighbours
from pairlearn.files.saving import load, save
from pairlearn.models.pool import PoolClassifier


def answered(n, wrong, seed=0):
    """Answers about a tree of points of two kinds that overlap a little."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=300)
    X = rng.normal(size=(300, 4))
    X[:, 0] += 4 * y
    index = np.array([(int(rng.integers(k + 1)), k + 1) for k in range(n)])
    said = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    said[:wrong] *= -1
    teacher = {
        noise: Teacher(
            X,
            np.arange(300),
            n_classes=2,
            noise=noise,
            majority=None,
            classes=None,
            estimator=None,
            random_state=0,
        )
        for noise in (None, "auto", 0.1)
    }
    return teacher, index, said, (X, y)


@pytest.mark.parametrize("noise", [None, "auto", 0.1])
@pytest.mark.parametrize("n", [30, 39, 80, 100])
def test_neighbours_teach_only_while_answers_are_few(noise, n):
    teacher, index, said, _ = answered(n, 0)
    lesson = teacher[noise].teach(index, said)
    few = n * (1 - 2 * lesson.noise) ** 2 < 40
    assert isinstance(lesson.model, PoolClassifier if few else PairClassifier)
    assert few == (n < 40)


@pytest.mark.parametrize(
    ("n", "e", "share"),
    [(1, 0.0, 0.5), (20, 0.0, 0.5), (30, 0.0, 0.25), (40, 0.0, 0.0), (50, 0.1, 0.2)],
)
def test_neighbours_count_for_less_the_more_is_told(n, e, share):
    teacher, index, said, _ = answered(40, 0)
    teacher[None].noise = e
    near = _Neighbours(teacher[None], index, said)
    assert near.share(n) == pytest.approx(share)


def test_until_a_hundred_answers_neighbours_tell_how_many_are_wrong():
    teacher, index, said, (X, y) = answered(90, 6)
    lesson = teacher["auto"].teach(index, said)
    assert 0.03 < lesson.noise < 0.12
    assert lesson.model.noise == lesson.noise
    right = np.mean((lesson.model.predict(X) > 0) == (y == 1))
    assert max(right, 1 - right) > 0.93
    assert teacher[0.1].teach(index, said).model.noise == 0.1


def test_from_a_hundred_answers_on_the_model_finds_the_rate_itself():
    teacher, index, said, _ = answered(100, 10)
    assert teacher["auto"].teach(index, said).model.noise == "auto"


@pytest.mark.parametrize("n", [20, 30])
@pytest.mark.parametrize("noise", [None, "auto"])
def test_from_a_dozen_answers_on_two_models_teach_together(monkeypatch, noise, n):
    teacher, index, said, (X, _) = answered(n, 0)
    both = teacher[noise].teach(index, said).model.predict_proba(X)[:, 1]
    fitted = []
    fit = Teacher._fit

    def kept(self, *args):
        fitted.append(fit(self, *args))
        return fitted[-1]

    monkeypatch.setattr(Teacher, "_fit", kept)
    e = teacher[noise].teach(index, said).noise
    share = min(0.5, 1 - n * (1 - 2 * e) ** 2 / 40)
    (other,) = fitted
    monkeypatch.setattr("pairlearn.ask.lessons._TOGETHER", 99)
    alone = teacher[noise].teach(index, said)
    assert len(fitted) == 1
    if noise is not None:
        assert other.noise == alone.noise
    p = alone.model.predict_proba(X)[:, 1]
    # The other's, before its calibration, and with the first one's names.
    mean = other._ensemble.average(X)
    mean = mean + other._ensemble.constant_share * other._ensemble.constant
    q = mean[:, other._order[1]]
    slope, bias = other._ensemble.calibration.slope, other._ensemble.calibration.bias
    bias = (bias[other._order] * [-1, 1]).sum()
    if (p - 0.5) @ (q - 0.5) < 0:
        q, bias = 1 - q, -bias
    mixed = slope ** (1 - share) * logit(share * p + (1 - share) * q)
    np.testing.assert_allclose(both, expit(mixed + (1 - share) * bias), atol=1e-6)


def test_the_mean_of_two_models_is_saved(tmp_path):
    teacher, index, said, (X, _) = answered(20, 0)
    model = teacher[None].teach(index, said).model
    save(model, tmp_path / "model.skops")
    kept = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(kept.predict_proba(X), model.predict_proba(X))


class Lost:
    """A model that says something else than all answers."""

    classes_ = np.array([-1, 1])

    def predict_proba(self, X):
        """Return the classes by a column that means nothing."""
        p = (X[:, 3] > 0).astype(float)
        return np.column_stack([1 - p, p])


@pytest.mark.parametrize("n", [80, 110])
def test_a_model_that_lost_its_way_is_not_used(monkeypatch, n):
    teacher, index, said, (X, y) = answered(n, 3)
    found = teacher["auto"].teach(index, said).model
    assert isinstance(found, PairClassifier)
    monkeypatch.setattr(Teacher, "_fit", lambda *_: Lost())
    lesson = teacher["auto"].teach(index, said)
    assert isinstance(lesson.model, PoolClassifier)
    right = np.mean((lesson.model.predict(X) > 0) == (y == 1))
    assert max(right, 1 - right) > 0.9
    # Where no answer is wrong, nothing is compared.
    assert isinstance(teacher[None].teach(index, said).model, Lost)
