import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from pairlearn import CIPSClassifier, PairKFold, Pairs


def check_no_point_on_both_sides(pairs, folds):
    tested = []
    parts = list(folds.split(pairs))
    for (train, test), left_out in zip(parts, folds.n_left_out_, strict=True):
        assert not np.intersect1d(pairs.index[train], pairs.index[test]).size
        assert len(train) + len(test) + left_out == len(pairs)
        tested.append(test)
    tested = np.concatenate(tested)
    assert len(np.unique(tested)) == len(tested)
    return tested, folds.n_left_out_


@pytest.mark.parametrize("shuffle", [False, True])
def test_disjoint_pairs_are_dealt_out_evenly(shuffle):
    pairs = Pairs.sample(np.zeros((200, 1)), 97, random_state=0)
    folds = PairKFold(5, shuffle=shuffle, random_state=0)
    tested, left_out = check_no_point_on_both_sides(pairs, folds)
    assert len(tested) == 97
    assert left_out == [0] * 5
    sizes = [len(test) for _, test in folds.split(pairs)]
    assert max(sizes) - min(sizes) <= 1


def test_small_components_stay_whole():
    triangles = np.arange(60).reshape(20, 3)
    index = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]]])
    pairs = Pairs(np.zeros((60, 1)), index)
    tested, left_out = check_no_point_on_both_sides(pairs, PairKFold(4))
    assert len(tested) == 40
    assert left_out == [0] * 4


def test_a_chain_loses_only_the_pairs_at_the_cuts():
    n = 1000
    chain = np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
    pairs = Pairs(np.zeros((n + 1, 1)), chain)
    tested, left_out = check_no_point_on_both_sides(pairs, PairKFold(5))
    assert len(tested) == n - 4
    assert left_out == [1, 2, 2, 2, 1]


def test_dense_graph_leaves_out_what_crosses_and_says_so():
    pairs = Pairs.sample(np.zeros((100, 1)), 3000, reuse=True, random_state=0)
    folds = PairKFold(5)
    _, left_out = check_no_point_on_both_sides(pairs, folds)
    # Of random pairs 2 * 1/5 * 4/5 cross a fold.
    assert np.mean(left_out) / 3000 == pytest.approx(0.32, abs=0.02)
    with pytest.warns(UserWarning, match="pairs cross"):
        list(PairKFold(2).split(Pairs(np.zeros((4, 1)), STAR_WITH_ENDS)))


STAR_WITH_ENDS = [[0, 1], [2, 3], [0, 2], [0, 3], [1, 2], [1, 3]]


def test_impossible_folds_are_refused():
    star = Pairs(np.zeros((6, 1)), [[0, k] for k in range(1, 6)])
    with pytest.raises(ValueError, match="fewer folds"):
        list(PairKFold(5).split(star))
    with pytest.raises(ValueError, match="cannot fill"):
        list(PairKFold(5).split(star[:2]))
    with pytest.raises(ValueError, match="2 or above"):
        PairKFold(1)


def test_shuffle_depends_on_the_seed_alone():
    pairs = Pairs.sample(np.zeros((200, 1)), 97, random_state=0)
    chain = np.stack([np.arange(300), np.arange(1, 301)], axis=1)
    connected = Pairs(
        np.zeros((301, 1)), np.random.default_rng(0).permutation(301)[chain]
    )
    folds = [
        list(PairKFold(3, shuffle=True, random_state=seed).split(connected))
        for seed in (0, 0, 1)
    ]
    assert folds[0][0][1].tolist() == folds[1][0][1].tolist()
    assert folds[0][0][1].tolist() != folds[2][0][1].tolist()
    check_no_point_on_both_sides(connected, PairKFold(3, shuffle=True, random_state=0))
    first, again, other = (
        [test.tolist() for _, test in PairKFold(3, shuffle=True, random_state=s).split(
            pairs)] for s in (0, 0, 1)
    )  # fmt: skip
    assert first == again != other


def test_works_in_cross_validation_and_search(blobs):
    X, y = blobs
    pairs, t = Pairs.sample(X, 300, y, reuse=True, random_state=0)
    scores = cross_val_score(CIPSClassifier(), pairs, t, cv=PairKFold(3))
    assert scores.shape == (3,)
    assert scores.mean() > 0.7
    search = GridSearchCV(CIPSClassifier(), {"alpha": [1e-3, 0.5]}, cv=PairKFold(3))
    search.fit(pairs, t)
    assert search.best_params_ == {"alpha": 1e-3}
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
