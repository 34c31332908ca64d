"""Blocks of columns that belong together, such as the words of a text."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from pairlearn import PairClassifier, Pairs, make_pair_pipeline
from pairlearn.models.auto.blocks import FEW, _leading, check_blocks, find_blocks
from pairlearn.models.auto.choose import refit

WORDS = [f"w{chr(97 + k // 26)}{chr(97 + k % 26)}" for k in range(120)]


def texts(n, seed=0, n_kinds=2):
    """Return texts of kinds that differ in how often a few words occur."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_kinds, n)
    laws = np.ones((n_kinds, len(WORDS)))
    for k in range(n_kinds):
        laws[k, 10 * k : 10 * (k + 1)] = 6.0
    laws /= laws.sum(axis=1, keepdims=True)
    made = [" ".join(rng.choice(WORDS, 25, p=laws[k])) for k in y]
    return made, y


def error(found, y):
    wrong = np.mean((found == found.max()) != (y == 1))
    return min(wrong, 1 - wrong)


def asked(y, n_pairs):
    index = np.arange(2 * n_pairs).reshape(-1, 2)
    return index, np.where(y[index[:, 0]] == y[index[:, 1]], 1, -1)


@pytest.fixture(scope="module")
def sample():
    made, y = texts(500)
    words = TfidfVectorizer(sublinear_tf=True).fit_transform(made)
    noise = np.random.default_rng(1).normal(size=(500, 2))
    X = sparse.csr_array(sparse.hstack([words, noise]))
    return X, y, words.shape[1]


@pytest.fixture(scope="module")
def fitted(sample):
    X, y, n_words = sample
    index, t = asked(y, 70)
    clf = PairClassifier(random_state=0)
    return clf.fit(Pairs(X, index), t, blocks=[("text", "words", 0, n_words)])


def test_texts_are_told_apart_beside_columns_that_say_nothing(sample, fitted):
    X, y, _ = sample
    assert error(fitted.predict(X[140:]), y[140:]) < 0.12
    kinds = {row.columns for row in fitted.candidates_}
    assert {"blocks", "all 0.25", "all 1", "standard", "power"} <= kinds
    best = fitted.candidates_[0].columns
    assert best.startswith(("blocks", "all"))


def test_members_with_blocks_need_no_landmarks_and_score_the_same(sample):
    X, y, n_words = sample
    index, t = asked(y, 70)
    clf = PairClassifier(random_state=0)
    before = []

    def keep(ensemble, *_):
        before.append(ensemble)
        return ensemble

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pairlearn.models.auto.classifier.CHOICE_PAIRS", 60)
        patch.setattr("pairlearn.models.auto.classifier.refit", keep)
        clf.fit(Pairs(X, index), t, blocks=[("text", "words", 0, n_words)])
    flat = [m.feature_map for m in clf._ensemble.members if m.view.spans]
    assert flat
    assert all(each.landmarks is None for each in flat)
    assert all(each.turn.shape[1] <= 5 for each in flat)
    expected = before[0].logits(X[:50])
    np.testing.assert_allclose(clf._ensemble.logits(X[:50]), expected, atol=1e-9)


def test_the_leading_axes_show_what_texts_are_about(sample):
    """The first one tells the kinds apart, though nobody was asked about any text."""
    X, y, n_words = sample
    made = _leading(X[:, :n_words])
    assert [features.shape[1] for _, features in made] == list(FEW)
    for feature_map, features in made:
        assert error(np.where(features[:, 0] > 0, 1, 0), y) < 0.1
        np.testing.assert_allclose(
            feature_map.transform(X[:, :n_words]), features, atol=1e-9
        )
        # Together as long as other features are.
        assert np.mean(np.sum(features**2, axis=1)) == pytest.approx(1.0)
    assert not _leading(X[:2])
    assert not _leading(0 * X)


def test_axes_are_found_with_columns_half_evened_out():
    """One column varies most, three together less, and four hardly at all.

    As they are the first would lead; scaled to one, the four; half of the way, the
    three.
    """
    rng = np.random.default_rng(0)
    sizes, variances = (1, 3, 4), (1.0, 0.16, 0.01)
    signs = rng.choice([-1.0, 1.0], (400, 3)) * np.sqrt(variances)
    X = sparse.csr_array(np.repeat(signs, sizes, axis=1))
    for _, features in _leading(X):
        shares = np.abs(np.corrcoef(features[:, 0], signs.T)[0, 1:])
        assert shares.argmax() == 1
        assert shares[1] > 0.9


def test_texts_that_nobody_was_asked_about_help(sample):
    X, y, n_words = sample
    index, t = asked(y, 20)
    wrong = []
    for unlabeled in (None, X[40:300]):
        clf = PairClassifier(noise=None, random_state=0)
        clf.fit(
            Pairs(X[:40], index),
            t,
            blocks=[("text", "words", 0, n_words)],
            unlabeled=unlabeled,
        )
        wrong.append(error(clf.predict(X[300:]), y[300:]))
    assert wrong[1] < 0.1
    assert wrong[1] < wrong[0]


def test_more_pairs_train_the_chosen_models_further(sample):
    X, y, n_words = sample
    index, t = asked(y, 120)
    clf = PairClassifier(random_state=0)
    called = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pairlearn.models.auto.classifier.CHOICE_PAIRS", 60)
        patch.setattr(
            "pairlearn.models.auto.classifier.refit",
            lambda *given: called.append(1) or refit(*given),
        )
        clf.fit(Pairs(X, index), t, blocks=[("text", "words", 0, n_words)])
    assert called
    assert error(clf.predict(X[240:]), y[240:]) < 0.1


def test_a_sparse_table_of_rows_of_length_one_is_a_block():
    X = sparse.csr_array(normalize(sparse.random(20, 150, 0.2, random_state=0)))
    assert find_blocks(X)[0][2:] == (0, 150)
    assert not find_blocks(3 * X)
    assert not find_blocks(X.toarray())
    assert not find_blocks(sparse.csr_array(X.shape))


@pytest.mark.parametrize(
    "blocks",
    [
        [("a", "words", 0)],
        5,
        [("a", "words", "x", 3)],
        [("a", "words", 2, 1)],
        [("a", "words", 0, 99)],
        [("a", "words", 0, 4), ("b", "words", 3, 6)],
    ],
)
def test_wrong_blocks_are_refused(blocks):
    with pytest.raises(ValueError, match="block"):
        check_blocks(blocks, 10)


@pytest.mark.parametrize("kind", ["list", "array", "series"])
def test_pairs_of_strings_with_a_text_vectoriser(kind):
    pd = pytest.importorskip("pandas")
    made, y = texts(300, seed=3)
    given = {"list": list, "array": np.array, "series": pd.Series}[kind](made)
    index, t = asked(y, 60)
    model = make_pair_pipeline(TfidfVectorizer(), PairClassifier(random_state=0))
    model.fit(Pairs(given, index), t)
    assert error(model.predict(made[120:]), y[120:]) < 0.15
