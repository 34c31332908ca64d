"""Finding wrong answers: by the classifier, by cycles, and by both."""

import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

import pairlearn
from pairlearn import (
    CIPSClassifier,
    MCLClassifier,
    OneVsRestPairClassifier,
    PairClassifier,
    Pairs,
    make_pair_pipeline,
    suspicious_answers,
)
from tests.support.estimators import ESTIMATORS

FLIPPED = np.array([3, 20, 41, 66, 95, 110, 133, 158, 170, 199])


def separated(n_points=400, seed=0):
    """Two groups far apart; labels -1 and +1."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_points) < 0.6, 1, -1)
    return rng.normal(size=(n_points, 3)) + 4 * np.outer(y, [1, 0, -1]), y


def with_slips(reuse=False, n_points=400):
    X, y = separated(n_points)
    pairs, t = Pairs.sample(X, 200, y, reuse=reuse, random_state=1)
    t[FLIPPED] *= -1
    return pairs, t


@pytest.fixture(scope="module")
def found():
    return suspicious_answers(CIPSClassifier(), *with_slips(), random_state=0)


# What it finds


def test_all_slips_are_at_the_top(found):
    assert set(found.order[:10]) == set(FLIPPED)
    assert found.suspicion[FLIPPED].min() > 0.95
    assert np.delete(found.suspicion, FLIPPED).max() < 0.2
    assert found.noise_rate == pytest.approx(0.05, abs=0.02)


def test_probability_is_of_same_whatever_was_answered(found):
    _, t = with_slips()
    t[FLIPPED] *= -1
    np.testing.assert_array_equal(found.probability > 0.5, t > 0)


def test_order_and_range(found):
    assert sorted(found.order) == list(range(200))
    assert np.all(np.diff(found.suspicion[found.order]) <= 0)
    assert found.suspicion.min() >= 0
    assert found.suspicion.max() <= 1
    assert not found.contradicted.any()  # no point is in two pairs


def test_slips_among_pairs_that_share_points():
    pairs, t = with_slips(reuse=True, n_points=60)
    found = suspicious_answers(CIPSClassifier(), pairs, t, random_state=0)
    assert set(found.order[:10]) == set(FLIPPED)
    assert found.contradicted[FLIPPED].all()


def test_cycles_find_what_a_blind_classifier_does_not():
    """Features are noise: only the other answers can tell."""
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], size=40)
    pairs = Pairs.sample(rng.normal(size=(40, 2)), 200, reuse=True, random_state=1)
    t = pairs.answers(y)
    t[FLIPPED] *= -1
    found = suspicious_answers(CIPSClassifier(alpha=0.1), pairs, t, random_state=0)
    # Of the four answers about point 27 two are wrong: nothing can tell which two.
    tie = np.flatnonzero((pairs.index == 27).any(axis=1))
    assert len(tie) == 4
    assert np.isin(tie, FLIPPED).sum() == 2
    np.testing.assert_allclose(found.suspicion[tie], 0.5, atol=0.1)
    clear = np.setdiff1d(FLIPPED, tie)
    assert set(found.order[:8]) == set(clear)
    assert found.suspicion[clear].min() > 0.99


def test_a_triangle_with_one_wrong_answer():
    """Beside pairs that make the classifier sure, it points at the wrong one."""
    X, y = separated()
    index = np.arange(400).reshape(-1, 2)
    same = 2 * np.flatnonzero(y[::2] > 0)[:3]  # of three pairs
    triangle = np.array([same[[0, 1]], same[[1, 2]], same[[0, 2]]])
    pairs = Pairs(X, np.concatenate([index, triangle]))
    t = pairs.answers(y)
    t[-1] = -1
    found = suspicious_answers(CIPSClassifier(), pairs, t, random_state=0)
    assert found.order[0] == 202
    assert found.suspicion[202] > 0.95
    assert found.contradicted.sum() == 3
    assert found.contradicted[-3:].all()


def test_a_triangle_alone_is_judged_by_its_answers():
    pairs = Pairs(np.eye(3), [[0, 1], [1, 2], [0, 2]])
    with pytest.warns(UserWarning, match="3 of 3 answers are judged by other"):
        found = suspicious_answers(CIPSClassifier(), pairs, [1, 1, -1])
    # One is wrong, or all three: each of the three as probably as the others.
    assert found.suspicion == pytest.approx(found.suspicion[0])
    assert found.suspicion[0] > 1 / 3
    assert found.contradicted.all()
    np.testing.assert_array_equal(found.probability, 0.5)


def test_suspicions_are_probabilities():
    """Of the answers with a suspicion of about one half, about half are wrong."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(3000) < 0.6, 1, -1)
    X = rng.normal(size=(3000, 2)) + np.outer(y, [1.0, 0.5])
    corner = np.arange(3000).reshape(-1, 3)
    pairs = Pairs(X, np.concatenate([corner[:, :2], corner[:, 1:], corner[:, ::2]]))
    slip = rng.random(3000) < 0.1
    t = pairs.answers(y) * np.where(slip, -1, 1)
    found = suspicious_answers(CIPSClassifier(), pairs, t, random_state=0)
    assert found.noise_rate == pytest.approx(0.1, abs=0.02)
    band = np.digitize(found.suspicion, [0.05, 0.25, 0.6])
    for k in range(4):
        expected = found.suspicion[band == k].mean()
        spread = np.sqrt(expected * (1 - expected) / (band == k).sum())
        assert abs(slip[band == k].mean() - expected) < 4 * spread


def test_a_point_in_every_pair():
    """A fold with that point has no pair without it to train on, but with one."""
    X, y = separated(201)
    pairs = Pairs(X, [[0, k] for k in range(1, 201)])
    t = pairs.answers(y)
    t[FLIPPED] *= -1
    found = suspicious_answers(CIPSClassifier(), pairs, t, random_state=0)
    assert set(found.order[:10]) == set(FLIPPED)


def test_a_point_with_itself_is_never_suspicious():
    pairs, t = with_slips()
    pairs = Pairs(pairs.X, np.concatenate([pairs.index, [[5, 5]]]))
    found = suspicious_answers(CIPSClassifier(), pairs, [*t, 1.0], random_state=0)
    assert found.suspicion[200] == 0
    assert found.probability[200] == 1
    assert set(found.order[:10]) == set(FLIPPED)


# Soft answers and weights


def test_soft_answers():
    pairs, t = with_slips()
    t[FLIPPED[0]] *= 0.5
    t[FLIPPED[1]] = 0.0
    found = suspicious_answers(CIPSClassifier(), pairs, t, random_state=0)
    hard, soft, unsure = found.suspicion[[FLIPPED[2], *FLIPPED[:2]]]
    assert unsure == pytest.approx(found.noise_rate)
    assert unsure < soft < hard


def test_nearly_certain_answers_are_nearly_as_suspicious(found):
    pairs, t = with_slips()
    soft = suspicious_answers(CIPSClassifier(), pairs, 0.999999 * t, random_state=0)
    np.testing.assert_allclose(soft.suspicion, found.suspicion, atol=1e-3)


def test_a_pair_of_weight_zero_is_no_evidence_but_is_judged():
    pairs, t = with_slips(reuse=True, n_points=60)
    weight = np.ones(200)
    weight[FLIPPED] = 0
    # Whatever these say, nothing else changes.
    results = []
    for sign in (-1, 1):
        t[FLIPPED] *= sign
        results.append(
            suspicious_answers(
                CIPSClassifier(), pairs, t, sample_weight=weight, random_state=0
            )
        )
    right, slips = results
    others = np.delete(np.arange(200), FLIPPED)
    np.testing.assert_allclose(
        right.suspicion[others], slips.suspicion[others], atol=1e-9
    )
    assert right.suspicion[FLIPPED].min() > 0.9 or right.noise_rate < 0.05
    assert set(right.order[:10]) == set(FLIPPED)


def test_weights_are_relative():
    pairs, t = with_slips()
    weight = np.random.default_rng(0).uniform(1, 2, 200)
    one, ten = (
        suspicious_answers(
            MCLClassifier(), pairs, t, sample_weight=k * weight, random_state=0
        )
        for k in (1, 10)
    )
    np.testing.assert_allclose(one.suspicion, ten.suspicion, atol=1e-4)


# Invariance


def test_same_seed_same_result(found):
    again = suspicious_answers(CIPSClassifier(), *with_slips(), random_state=0)
    np.testing.assert_array_equal(again.order, found.order)
    np.testing.assert_array_equal(again.suspicion, found.suspicion)


def test_seed_reaches_the_clones():
    pairs, t = with_slips()
    clf = CIPSClassifier(solver="sgd", max_iter=3, n_init=1, tol=1)
    one, two = (suspicious_answers(clf, pairs, t, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.suspicion, two.suspicion)


@pytest.mark.parametrize("reuse", [False, True])
def test_order_of_pairs_and_of_points_does_not_matter(reuse):
    pairs, t = with_slips(reuse=reuse, n_points=400 if not reuse else 80)
    listed = np.random.default_rng(0).permutation(200)
    turned = Pairs(pairs.X, pairs.index[listed, ::-1])
    one = suspicious_answers(CIPSClassifier(), pairs, t, random_state=0)
    two = suspicious_answers(CIPSClassifier(), turned, t[listed], random_state=0)
    np.testing.assert_array_equal(two.suspicion, one.suspicion[listed])
    np.testing.assert_array_equal(two.contradicted, one.contradicted[listed])


def test_names_of_points_do_not_matter():
    """Other numbers make other folds, but find the same answers."""
    pairs, t = with_slips(reuse=True, n_points=80)
    name = np.random.default_rng(0).permutation(80)
    X = np.empty_like(pairs.X)
    X[name] = pairs.X
    one = suspicious_answers(CIPSClassifier(), pairs, t, random_state=0)
    two = suspicious_answers(
        CIPSClassifier(), Pairs(X, name[pairs.index]), t, random_state=0
    )
    assert set(one.order[:10]) == set(two.order[:10]) == set(FLIPPED)
    np.testing.assert_array_equal(one.contradicted, two.contradicted)


# Classifiers


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - {"auto", "pair-net"}))
def test_every_classifier_works(name):
    clf = clone(ESTIMATORS[name])
    if name == "cips-sgd":
        clf.set_params(learning_rate=0.01)
    pairs, t = with_slips()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few steps, at which this does not look
        found = suspicious_answers(clf, pairs, t, random_state=0)
    # These three put two in five of such pairs on the wrong side themselves.
    weak = name in ("sd", "ovpc", "sllc")
    assert np.isin(found.order[:10], FLIPPED).sum() >= (3 if weak else 9)


def test_the_recommended_classifier_and_an_array():
    pairs, t = with_slips()
    clf = PairClassifier(n_components=20, majority=1)
    found = suspicious_answers(clf, np.asarray(pairs), t == 1, cv=2, random_state=0)
    assert set(found.order[:10]) == set(FLIPPED)


def test_fitted_and_unfitted_classifiers_stay_as_they_are(found):
    pairs, t = with_slips()
    clf = CIPSClassifier(majority=1, random_state=0).fit(pairs, t)
    before = dict(vars(clf))
    weights = clf.coef_.copy()
    result = suspicious_answers(clf, pairs, t, random_state=0)
    assert vars(clf) == before
    np.testing.assert_array_equal(clf.coef_, weights)
    np.testing.assert_array_equal(result.order[:10], found.order[:10])
    new = CIPSClassifier()
    suspicious_answers(new, pairs, t, random_state=0)
    assert new.random_state is None
    assert not hasattr(new, "coef_")


def test_pipeline_on_a_frame_with_weights():
    pd = pytest.importorskip("pandas")
    pairs, t = with_slips()
    points = pd.DataFrame(1000 * pairs.X, columns=["a", "b", "c"])
    pipe = make_pair_pipeline(StandardScaler(), CIPSClassifier())
    found = suspicious_answers(
        pipe,
        Pairs(points, pairs.index),
        t,
        sample_weight=np.linspace(1, 2, 200),
        random_state=0,
    )
    assert set(found.order[:10]) == set(FLIPPED)


def test_search_over_a_classifier_with_weights():
    pairs, t = with_slips()
    search = GridSearchCV(CIPSClassifier(), {"alpha": [0.01, 1.0]}, cv=2)
    found = suspicious_answers(
        search, pairs, t, sample_weight=np.ones(200), cv=2, random_state=0
    )
    assert set(found.order[:10]) == set(FLIPPED)


def test_three_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    X = rng.normal(size=(150, 2)) + 6 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    pairs, t = Pairs.sample(X, 400, y, reuse=True, random_state=0)
    t[FLIPPED] *= -1
    found = suspicious_answers(
        MCLClassifier(n_classes=3, alpha=0.01), pairs, t, random_state=0
    )
    assert np.isin(found.order[:10], FLIPPED).sum() >= 9


# Bad input


class NoWeights(CIPSClassifier):
    def fit(self, pairs, t):
        return super().fit(pairs, t)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"clf": CIPSClassifier}, r"pass an instance, CIPSClassifier\(\)"),
        ({"clf": StandardScaler()}, "must be a pair classifier with fit and"),
        ({"clf": "cips"}, "such as PairClassifier"),
        ({"cv": 1}, "cv must be a whole number, 2 or above; got 1"),
        ({"cv": 2.5}, "got 2.5"),
        ({"cv": "five"}, "got 'five'"),
        ({"t": np.ones(200)}, "no answer is 'different'"),
        ({"t": np.ones(3)}, "there are 200 pairs but 3 answers"),
        ({"t": np.arange(200)}, "answer 2 is 2"),
        ({"t": np.ones((200, 3))}, r"column by column.*t\[:, c\]"),
        ({"pairs": np.zeros((200, 3))}, "pairs can be given in two forms"),
        ({"sample_weight": np.ones(3)}, "one weight per pair"),
        (
            {"clf": NoWeights(), "sample_weight": np.ones(200)},
            "leave out sample_weight",
        ),
    ],
    ids=str,
)
def test_bad_input(change, message):
    pairs, t = with_slips()
    given = {"clf": CIPSClassifier(), "pairs": pairs, "t": t} | change
    with pytest.raises(ValueError, match=message):
        suspicious_answers(
            given.pop("clf"), given.pop("pairs"), given.pop("t"), **given
        )


def test_one_vs_rest_is_refused_with_the_way_out():
    pairs, _ = with_slips()
    answers = np.ones((200, 3))
    with pytest.raises(ValueError, match=r"clf\.estimator"):
        suspicious_answers(OneVsRestPairClassifier(CIPSClassifier()), pairs, answers)


# The result


def test_head_and_iteration(found):
    pairs, t = with_slips()
    rows = found.head(3)
    assert [row.pair for row in rows] == found.order[:3].tolist()
    k = rows[0].pair
    assert rows[0] == (
        k,
        *pairs.index[k],
        t[k],
        found.probability[k],
        found.suspicion[k],
        False,
    )
    assert len(found.head()) == 10
    assert len(found.head(1000)) == len(found) == len(list(found)) == 200
    with pytest.raises(ValueError, match="whole number, 0 or above; got -1"):
        found.head(-1)


def test_frame(found):
    pd = pytest.importorskip("pandas")
    frame = found.to_frame()
    assert list(frame.columns) == [
        "pair", "left", "right", "answer", "probability", "suspicion", "contradicted",
    ]  # fmt: skip
    pd.testing.assert_frame_equal(frame, pd.DataFrame(list(found)), check_dtype=False)
    assert frame["suspicion"].is_monotonic_decreasing
    ids = [f"p{k}" for k in range(int(found.index.max()) + 1)]
    named = found.to_frame(ids=ids)
    assert named["left"].tolist() == [f"p{k}" for k in frame["left"]]
    with pytest.raises(ValueError, match="one id per point"):
        found.to_frame(ids=ids[:-1])


def test_frame_without_pandas(found, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'pairlearn\[cli\]'"):
        found.to_frame()


def test_repr(found):
    lines = repr(found).splitlines()
    assert lines[0].split() == ["pair", "points", "answer", "P(same)", "suspicion"]
    assert int(lines[1].split()[0]) == found.order[0]
    assert lines[-2] == "and 190 less suspicious"
    assert lines[-1].startswith("200 answers, about ")
    assert lines[-1].endswith("0 in contradictory cycles")
    assert "nan" not in repr(found)


def test_html(found):
    page = found._repr_html_()
    assert page.count("<tr>") == 11
    assert page.startswith("<table><caption>200 answers")
    assert page.endswith("</table>")


def test_repr_says_cycle_and_soft():
    pairs, t = with_slips(reuse=True, n_points=60)
    t[FLIPPED] *= 0.9
    found = suspicious_answers(CIPSClassifier(), pairs, t, random_state=0)
    assert "-0.90" in repr(found) or "+0.90" in repr(found)
    hard = suspicious_answers(CIPSClassifier(), pairs, np.sign(t), random_state=0)
    assert "in a contradictory cycle" in repr(hard)
    assert "contradictory</td>" in hard._repr_html_()


def test_public_name():
    assert pairlearn.suspicious_answers is suspicious_answers
    assert "suspicious_answers" in dir(pairlearn)
