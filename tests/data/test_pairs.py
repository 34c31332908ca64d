import pickle
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from pairlearn import Pairs
from pairlearn.data.containers import take_rows
from pairlearn.data.pairs import as_pairs

X = np.arange(12.0).reshape(6, 2)
INDEX = [[0, 1], [2, 3], [1, 4]]


@pytest.fixture(
    params=["numpy", "csr_array", "csc_matrix", "pandas", "polars"],
)
def table(request):
    return {
        "numpy": lambda: X,
        "csr_array": lambda: sparse.csr_array(X),
        "csc_matrix": lambda: sparse.csc_matrix(X),
        "pandas": lambda: pd.DataFrame(X, columns=["u", "v"], index=list("abcdef")),
        "polars": lambda: pl.DataFrame(X, schema=["u", "v"], orient="row"),
    }[request.param]()


def test_looks_like_a_three_dimensional_array(table):
    pairs = Pairs(table, INDEX)
    whole = X[np.array(INDEX)]
    assert (len(pairs), pairs.shape, pairs.ndim) == (3, (3, 2, 2), 3)
    np.testing.assert_array_equal(np.asarray(pairs), whole)
    np.testing.assert_array_equal(pairs[1], whole[1])
    np.testing.assert_array_equal(pairs[-1], whole[-1])
    np.testing.assert_array_equal(pairs[:, 0], whole[:, 0])
    np.testing.assert_array_equal(np.array(list(pairs)), whole)
    for key in (slice(1, 3), [2, 0], np.array([True, False, True])):
        part = pairs[key]
        assert isinstance(part, Pairs)
        assert part.X is pairs.X
        np.testing.assert_array_equal(np.asarray(part), whole[key])
    assert len(pairs[[]]) == 0
    np.testing.assert_array_equal(np.asarray(pairs[[1], ...]), whole[[1]])
    with pytest.raises(IndexError):
        pairs[3]


def test_compact_keeps_the_pairs_and_drops_unused_points(table):
    pairs = Pairs(table, INDEX)
    compact = pairs.compact()
    assert compact.n_points == 5
    np.testing.assert_array_equal(np.asarray(compact), np.asarray(pairs))
    assert compact.compact() is compact


def test_points_are_kept_by_reference():
    assert Pairs(X, INDEX).X is X
    array = np.random.default_rng(0).normal(size=(4, 2, 3))
    assert np.shares_memory(as_pairs(array).X, array)
    np.testing.assert_array_equal(np.asarray(as_pairs(array)), array)
    with pytest.raises(ValueError, match="copy"):
        Pairs(X, INDEX).__array__(copy=False)


def test_pickle():
    again = pickle.loads(pickle.dumps(Pairs(X, INDEX)))  # noqa: S301 - our own
    np.testing.assert_array_equal(np.asarray(again), np.asarray(Pairs(X, INDEX)))


def test_from_arrays(table):
    left, right = (take_rows(Pairs(table, []).X, rows) for rows in ([0, 2], [1, 3]))
    pairs = Pairs.from_arrays(left, right)
    expected = Pairs(table, [[0, 1], [2, 3]])
    assert type(pairs.X) is type(expected.X)
    np.testing.assert_array_equal(np.asarray(pairs), np.asarray(expected))
    with pytest.raises(ValueError, match="same shape"):
        Pairs.from_arrays(X[:2], X[:3])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_from_frame(frame):
    points = frame({"id": ["a", "b", "c"], "u": [1.0, 2.0, 3.0], "v": [4.0, 5.0, 6.0]})
    asked = frame({"one": ["c", "a"], "two": ["a", "b"], "answer": [1, -1]})
    pairs = Pairs.from_frame(points, asked, id="id", left="one", right="two")
    np.testing.assert_array_equal(pairs.index, [[2, 0], [0, 1]])
    assert list(pairs.X.columns) == ["u", "v"]
    only = Pairs.from_frame(
        points, asked, id="id", left="one", right="two", features=["v"]
    )
    assert list(only.X.columns) == ["v"]
    with pytest.raises(ValueError, match=r"no column 'left'.*'one'"):
        Pairs.from_frame(points, asked, id="id")
    with pytest.raises(ValueError, match=r"2 id\(s\).*'c'.*column 'id': 'a', 'b'"):
        Pairs.from_frame(
            points[:2], frame({"left": ["c", "a"], "right": ["a", "c"]}), id="id"
        )
    twice = frame({"id": ["a", "a"], "u": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"unique.*'a'"):
        Pairs.from_frame(twice, asked, id="id", left="one", right="two")


def test_from_frame_by_pandas_index_and_integer_ids():
    points = pd.DataFrame({"u": [1.0, 2.0]}, index=[10, 20])
    asked = pd.DataFrame({"left": [20], "right": [10]})
    np.testing.assert_array_equal(Pairs.from_frame(points, asked).index, [[1, 0]])


def test_from_graph_reads_links_once():
    adjacency = sparse.coo_array(
        ([1, 1, 5, 0], ([0, 1, 2, 3], [1, 0, 2, 4])), shape=(6, 6)
    )
    np.testing.assert_array_equal(Pairs.from_graph(X, adjacency).index, [[0, 1]])
    signed = np.zeros((6, 6))
    signed[0, 1], signed[3, 2] = 1, -1
    pairs = Pairs.from_graph(X, signed + signed.T)
    answers = (signed + signed.T)[pairs.left, pairs.right]
    np.testing.assert_array_equal(answers, [1, -1])
    below = sparse.csr_array(np.tril(signed + signed.T))
    pairs = Pairs.from_graph(X, below)
    np.testing.assert_array_equal(below[pairs.left, pairs.right], [1, -1])
    with pytest.raises(ValueError, match="square"):
        Pairs.from_graph(X, np.zeros((3, 3)))


def test_sample_without_reuse_uses_each_point_once():
    y = np.arange(200) % 2
    pairs, t = Pairs.sample(np.zeros((200, 1)), 100, y, random_state=0)
    assert pairs.is_disjoint()
    np.testing.assert_array_equal(t, np.where(y[pairs.left] == y[pairs.right], 1, -1))
    again, _ = Pairs.sample(np.zeros((200, 1)), 100, y, random_state=0)
    np.testing.assert_array_equal(pairs.index, again.index)
    with pytest.raises(ValueError, match="reuse=True"):
        Pairs.sample(np.zeros((200, 1)), 101)


def test_sample_with_reuse_is_uniform_over_distinct_points():
    pairs = Pairs.sample(np.zeros((4, 1)), 12_000, reuse=True, random_state=0)
    assert (pairs.left != pairs.right).all()
    counts = np.bincount(pairs.left * 4 + pairs.right, minlength=16).reshape(4, 4)
    off_diagonal = counts[~np.eye(4, dtype=bool)]
    assert abs(off_diagonal - 1000).max() < 5 * np.sqrt(1000)


@pytest.mark.parametrize("gap", [None, np.nan])
def test_missing_labels_have_no_answer(gap):
    labels = np.array([1, 1, 1, gap, 0, 0], dtype=object if gap is None else float)
    with pytest.raises(ValueError, match="point 3 has no label"):
        Pairs(X, INDEX).answers(labels)


def test_from_arrays_needs_tables_of_one_kind():
    frame = pd.DataFrame(X, columns=["u", "v"])
    for other in (pd.DataFrame(X, columns=["u", "w"]), X):
        with pytest.raises(ValueError, match="of the same type and columns"):
            Pairs.from_arrays(frame, other)


def test_odd_keys():
    pairs = Pairs(X, INDEX)
    assert pairs[...] is pairs
    with pytest.raises(IndexError, match="selected by"):
        pairs[[[0, 1]]]


def test_answers_need_one_label_a_point():
    with pytest.raises(ValueError, match="one label per point"):
        Pairs(X, INDEX).answers([0, 1])


def test_disjoint_chooses_a_maximal_set():
    pairs = Pairs.sample(np.zeros((50, 1)), 400, reuse=True, random_state=0)
    keep = pairs.disjoint(random_state=0)
    kept = pairs[keep]
    assert kept.is_disjoint()
    used = np.unique(kept.index)
    # Maximal: every other pair touches a point that is taken.
    assert np.isin(pairs.index, used).any(axis=1).all()


def test_repr():
    assert repr(Pairs(X, INDEX)) == "Pairs(n_pairs=3, n_points=6, n_features=2)"


class TestToFrame:
    def test_ids_answers_and_back(self):
        pd = pytest.importorskip("pandas")
        points = pd.DataFrame({"x": [0.0, 1.0, 5.0]}, index=["ann", "bob", "cy"])
        pairs = Pairs(points, [[2, 0], [0, 1]])
        frame = pairs.to_frame([-1, 1])
        assert frame.to_dict("list") == {
            "left": ["cy", "ann"],
            "right": ["ann", "bob"],
            "answer": [-1.0, 1.0],
        }
        again, t = Pairs.from_answers(points, frame)
        assert again.index.tolist() == pairs.index.tolist()
        assert t.tolist() == [-1, 1]
        numbers = Pairs(points.to_numpy(), pairs.index).to_frame()
        assert numbers.to_dict("list") == {"left": [2, 0], "right": [0, 1]}
        named = pairs.to_frame(ids=[7, 8, 9])
        assert named["left"].tolist() == [9, 7]

    def test_wrong_ids_and_answers(self):
        pytest.importorskip("pandas")
        pairs = Pairs([[0.0], [1.0]], [[0, 1]])
        with pytest.raises(ValueError, match="one id per point, 2 in all"):
            pairs.to_frame(ids=["a"])
        with pytest.raises(ValueError, match="answers"):
            pairs.to_frame([1, 1])

    def test_without_pandas(self, monkeypatch):
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match=r"pip install 'pairlearn\[cli\]'"):
            Pairs([[0.0], [1.0]], [[0, 1]]).to_frame()
