"""Fits on dask arrays: the same models as in memory, from any source."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from pairlearn import (
    CIPSClassifier,
    MCLClassifier,
    OneVsRestPairClassifier,
    PairClassifier,
    PairMetaClassifier,
    Pairs,
    SDClassifier,
    certify,
    make_pair_pipeline,
)
from pairlearn.data.containers import blocks_of_npy, is_dask, on_host, stack_rows
from pairlearn.data.pairs import as_pairs
from pairlearn.trust.metrics import clustering_accuracy_scorer
from tests.support.dask_blocks import lazily
from tests.support.estimators import ESTIMATORS

dask = pytest.importorskip("dask", reason="needs dask")


da = pytest.importorskip("dask.array", reason="needs dask")


class TestEstimators:
    @pytest.mark.usefixtures("quick")
    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_blocks_give_the_same_model(self, name, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        table = lazily(X)
        given = Pairs(table, pairs.index)
        right = clone(ESTIMATORS[name]).fit(pairs, t)
        clf = clone(ESTIMATORS[name]).fit(given, t)
        found, scores = clf.decision_function(table), right.decision_function(X)
        predicted = clf.predict(table)
        for returned in (found, predicted):
            assert is_dask(returned)
            assert returned.chunks[0] == table.chunks[0]
            assert returned.dtype == returned.compute().dtype
        scale = np.abs(scores).max()
        np.testing.assert_allclose(found.compute(), scores, atol=1e-6 * scale)
        sure = np.abs(scores) > 1e-6 * scale
        np.testing.assert_array_equal(predicted.compute()[sure], right.predict(X)[sure])
        for method in ("pair_score", "predict_pairs"):
            mine, theirs = getattr(clf, method)(given), getattr(right, method)(pairs)
            assert isinstance(mine, np.ndarray)
            np.testing.assert_allclose(mine, theirs, atol=1e-5 * scale**2)
        assert clf.score(given, t) == pytest.approx(right.score(pairs, t), abs=0.02)
        if hasattr(clf, "predict_proba"):
            found, p = clf.predict_proba(table), right.predict_proba(X)
            assert is_dask(found)
            assert found.shape == p.shape
            np.testing.assert_allclose(found.compute(), p, atol=1e-5)
        # Each model predicts points of the other kind.
        assert isinstance(clf.predict(X), np.ndarray)
        assert is_dask(right.predict(table))
        assert not any(map(is_dask, vars(clf).values()))

    @pytest.mark.parametrize(
        "make",
        [
            lambda: CIPSClassifier(majority=+1, random_state=0),
            lambda: CIPSClassifier(loss="squared_hinge", fit_intercept=False),
            lambda: CIPSClassifier(flip_rates="auto", n_init=2),
            lambda: MCLClassifier(flip_rates="symmetric", n_init=2),
            lambda: MCLClassifier(solver="sgd", max_iter=3, random_state=0),
            lambda: SDClassifier(prior=0.7, loss="logistic"),
            lambda: SDClassifier(prior=0.7, loss="logistic", nonnegative=True),
            lambda: SDClassifier(prior=0.7, solver="sgd", max_iter=3, random_state=0),
        ],
    )
    def test_parameters(self, make, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        right = make().fit(pairs, t)
        found = make().fit(Pairs(lazily(X), pairs.index), t)
        np.testing.assert_allclose(found.coef_, right.coef_, rtol=1e-4, atol=1e-6)

    def test_several_classes_with_names(self):
        rng = np.random.default_rng(0)
        y = rng.integers(3, size=300)
        X = rng.normal(size=(300, 2)) + 5 * np.eye(3)[y][:, :2]
        names = np.array(["ash", "birch", "cedar"])
        pairs, t = Pairs.sample(lazily(X), 300, y, reuse=True, random_state=0)
        clf = MCLClassifier(n_classes=3, classes=tuple(names), n_init=2, random_state=0)
        clf.fit(pairs, t).assign_from_points(lazily(X), names[y])
        table = lazily(X)
        assert np.mean(clf.predict(table).compute() == names[y]) > 0.9
        assert clf.predict(table).dtype == names.dtype
        assert clf.decision_function(table).shape == (300, 3)
        assert clf.predict_proba(table).compute().shape == (300, 3)
        assert clf.pair_score(pairs).shape == (300,)
        many = OneVsRestPairClassifier(MCLClassifier(n_init=1), classes=names)
        many.fit(pairs, pairs.answers(y)[:, None] * np.ones(3))
        assert is_dask(many.predict(table))
        assert many.decision_function(table).compute().shape == (300, 3)
        assert many.pair_score(pairs).shape == (300, 3)

    def test_unlabelled_and_labelled_points(self, blobs, blob_pairs):
        (X, y), (pairs, t) = blobs, blob_pairs
        extra = X[:100] + 0.1
        for make in (
            lambda: SDClassifier(prior=0.7, loss="logistic", gammas=(0.4, 0.3, 0.3)),
            lambda: CIPSClassifier(gammas=(0.5, 0.25, 0.25), n_init=1, random_state=0),
        ):
            right = make().fit(pairs, t, unlabeled=extra)
            given = Pairs(lazily(X), pairs.index)
            for these in (extra, lazily(extra)):
                clf = make().fit(given, t, unlabeled=these)
                np.testing.assert_allclose(clf.coef_, right.coef_, rtol=1e-4)
            clf = make().fit(pairs, t, unlabeled=lazily(extra))
            np.testing.assert_allclose(clf.coef_, right.coef_, rtol=1e-4)
            clf.assign_from_points(lazily(X), da.from_array(y))
            assert np.mean(clf.predict(lazily(X)).compute() == y) > 0.8
        auto = PairClassifier(noise=None, n_folds=2, random_state=0)
        right = auto.fit(pairs, t, unlabeled=extra).decision_function(X)
        for here, there in ((given, lazily(extra)), (given, extra)):
            auto.fit(here, t, unlabeled=there)
            np.testing.assert_allclose(auto.decision_function(X), right, rtol=1e-6)

    def test_the_rest_of_the_interface(self, blobs, blob_pairs):
        (X, y), (pairs, t) = blobs, blob_pairs
        given, table = Pairs(lazily(X), pairs.index), lazily(X)
        one = {"n_init": 1}
        clf = CIPSClassifier(**one, random_state=0).fit(given[:80], t[:80])
        right = CIPSClassifier(**one, random_state=0).fit(pairs[:80], t[:80])
        assert certify(clf, given[80:], t[80:]) == certify(right, pairs[80:], t[80:])
        clf.assign_from_pairs(given[80:], t[80:], majority=+1)
        assert clf.assignment_ is not None
        assert clustering_accuracy_scorer(clf, table, y) > 0.8
        some = cross_val_score(CIPSClassifier(**one), given, t, cv=3)
        np.testing.assert_allclose(
            some, cross_val_score(CIPSClassifier(**one), pairs, t, cv=3)
        )
        stream = CIPSClassifier(**one).partial_fit(given[:60], t[:60])
        stream.partial_fit(given[60:], t[60:])
        same = CIPSClassifier(**one).partial_fit(pairs[:60], t[:60])
        same.partial_fit(pairs[60:], t[60:])
        np.testing.assert_allclose(stream.coef_, same.coef_)

    def test_a_prediction_stays_that_of_its_model(self, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        clf = CIPSClassifier().fit(pairs, t)
        now = clf.decision_function(X)
        later = clf.decision_function(lazily(X))
        clf.set_params(alpha=10.0).fit(pairs, t)
        np.testing.assert_allclose(later.compute(), now)

    @pytest.mark.parametrize("last", [CIPSClassifier(n_init=1), PairMetaClassifier(
        LogisticRegression(), random_state=0)], ids=["linear", "meta"])  # fmt: skip
    def test_pipelines(self, last, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        right = make_pair_pipeline(StandardScaler(), clone(last)).fit(pairs, t)
        pipe = make_pair_pipeline(StandardScaler(), clone(last))
        pipe.fit(Pairs(lazily(X), pairs.index), t)
        found = pipe.decision_function(lazily(X))
        assert is_dask(found)
        np.testing.assert_allclose(found.compute(), right.decision_function(X), 1e-5)
        assert pipe.score(Pairs(lazily(X), pairs.index), t) == right.score(pairs, t)

    def test_pipelines_of_text(self):
        X = np.array([["a", "b", "c", "d"] * 10], dtype=object).T
        index = np.arange(40).reshape(-1, 2)
        t = np.where(np.arange(20) % 2, 1.0, -1.0)
        pipe = make_pair_pipeline(OneHotEncoder(), CIPSClassifier(alpha=0.1))
        pipe.fit(Pairs(lazily(X), index), t)
        right = clone(pipe).fit(Pairs(X, index), t)
        np.testing.assert_array_equal(
            on_host(pipe.predict(lazily(X))), right.predict(X)
        )

    def test_sparse_blocks(self, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        table = lazily(X).map_blocks(sparse.csr_array)
        given = Pairs(table, pairs.index)
        for make in (lambda: CIPSClassifier(n_init=1), lambda: ESTIMATORS["meta"]):
            right = clone(make()).fit(pairs, t)
            clf = clone(make()).fit(given, t)
            found = clf.decision_function(table).compute()
            np.testing.assert_allclose(found, right.decision_function(X), rtol=1e-4)


class TestPairs:
    def test_behaves_as_an_array(self, blobs, blob_pairs):
        (X, _), (pairs, _) = blobs, blob_pairs
        given = Pairs(lazily(X), pairs.index)
        assert len(given) == len(pairs)
        assert given.shape == pairs.shape
        np.testing.assert_array_equal(np.asarray(given), np.asarray(pairs))
        np.testing.assert_array_equal(np.asarray(given[3:9]), np.asarray(pairs[3:9]))
        np.testing.assert_array_equal(given[4], pairs[4])
        assert is_dask(given.compact().X)
        twice = given[10:60].compact()[5:9].compact()
        np.testing.assert_array_equal(np.asarray(twice), np.asarray(pairs[15:19]))
        assert is_dask(given.with_points(lazily(X + 1)).X)
        sample, t = Pairs.sample(lazily(X), 20, np.arange(300) % 2, random_state=0)
        right = Pairs.sample(X, 20, random_state=0)
        np.testing.assert_array_equal(sample.index, right.index)
        assert len(t) == 20

    def test_two_tables_make_pairs_inside_blocks(self, blobs):
        X, _ = blobs
        pairs = Pairs.from_arrays(lazily(X[:100]), lazily(X[100:200], rows=19))
        right = Pairs.from_arrays(X[:100], X[100:200])
        np.testing.assert_array_equal(np.asarray(pairs), np.asarray(right))
        ends = np.cumsum(pairs.X.chunks[0])
        blocks = np.searchsorted(ends, pairs.index, side="right")
        np.testing.assert_array_equal(blocks[:, 0], blocks[:, 1])
        with pytest.raises(ValueError, match="tables of the same type"):
            Pairs.from_arrays(lazily(X[:100]), X[100:200])

    def test_frames_with_ids(self):
        dd = pytest.importorskip("dask.dataframe")
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame({"name": list("abcdef"), "x": range(6), "y": [1.0] * 6})
        asked = pd.DataFrame({"left": ["c", "a"], "right": ["f", "b"]})
        points = dd.from_pandas(frame, npartitions=2)
        pairs = Pairs.from_frame(points, asked, id="name")
        right = Pairs.from_frame(frame, asked, id="name")
        assert is_dask(pairs.X)
        np.testing.assert_array_equal(np.asarray(pairs), np.asarray(right))
        asked = pd.DataFrame({"left": [2, 0], "right": [5, 1]})
        by_index = Pairs.from_frame(points[["x", "y"]], asked)
        np.testing.assert_array_equal(by_index.index, right.index)

    def test_sparse_blocks(self, blobs, blob_pairs):
        (X, _), (pairs, _) = blobs, blob_pairs
        given = Pairs(lazily(X).map_blocks(sparse.csr_array), pairs.index)
        np.testing.assert_array_equal(np.asarray(given), np.asarray(pairs))

    def test_three_dimensions(self, blobs):
        X, _ = blobs
        array = X[:200].reshape(100, 2, 4)
        pairs = as_pairs(da.from_array(array, chunks=(30, 1, 2)))
        assert is_dask(pairs.X)
        np.testing.assert_array_equal(np.asarray(pairs), array)

    def test_stacked_tables(self, blobs):
        X, _ = blobs
        for left, right in ((lazily(X), X), (X, lazily(X)), (lazily(X), lazily(X))):
            both = stack_rows(left, right)
            assert is_dask(both)
            np.testing.assert_array_equal(both.compute(), np.concatenate([X, X]))

    def test_rows_in_any_order(self, blobs):
        from pairlearn.data.containers import take_rows

        X, _ = blobs
        rows = np.array([7, 3, 3, 250])
        np.testing.assert_array_equal(on_host(take_rows(lazily(X), rows)), X[rows])
        none = take_rows(lazily(X), np.array([], dtype=int))
        assert on_host(none).shape == (0, 4)


class TestSources:
    def check(self, table, X, index, t):
        quick = {"n_init": 1, "alpha": 0.1}
        right = CIPSClassifier(**quick).fit(Pairs(X, index), t)
        clf = CIPSClassifier(**quick).fit(Pairs(table, index), t)
        np.testing.assert_allclose(clf.coef_, right.coef_, rtol=1e-8)
        found = clf.predict(table)
        assert is_dask(found)
        np.testing.assert_array_equal(found.compute(), right.predict(X))

    def test_zarr(self, tmp_path, blobs, blob_pairs):
        zarr = pytest.importorskip("zarr")
        (X, _), (pairs, t) = blobs, blob_pairs
        zarr.save_array(str(tmp_path / "points.zarr"), X)
        table = da.from_zarr(str(tmp_path / "points.zarr")).rechunk((64, 2))
        self.check(table, X, pairs.index, t)

    def test_parquet(self, tmp_path, blobs, blob_pairs):
        pytest.importorskip("pyarrow")
        dd = pytest.importorskip("dask.dataframe")
        pd = pytest.importorskip("pandas")
        (X, _), (pairs, t) = blobs, blob_pairs
        for k in range(3):
            frame = pd.DataFrame(X[100 * k : 100 * (k + 1)], columns=list("abcd"))
            frame.to_parquet(tmp_path / f"part{k}.parquet")
        frame = dd.read_parquet(tmp_path)
        self.check(frame, X, pairs.index, t)
        unknown = frame.to_dask_array()
        self.check(unknown, X, pairs.index, t)
        # What the user gave does not learn its lengths behind their back.
        assert np.isnan(unknown.shape[0])

    def test_memory_map(self, tmp_path, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        np.save(tmp_path / "points.npy", X)
        held = np.load(tmp_path / "points.npy", mmap_mode="r")
        self.check(da.from_array(held, chunks=(110, -1)), X, pairs.index, t)

    @pytest.mark.parametrize("mode", ["r", "r+", "c"])
    def test_pages_that_are_given_back_keep_their_numbers(self, mode, tmp_path):
        from pairlearn.data.dask.memory_maps import release_pages

        X = np.arange(20_000.0).reshape(-1, 4)
        np.save(tmp_path / "points.npy", X)
        held = np.load(tmp_path / "points.npy", mmap_mode=mode)
        if mode != "r":
            held += 1
        for block in (held, held[100:4000], held[::-1][:, 1:3], np.asarray(held)[7:7]):
            before = np.array(block)
            release_pages(block)
            np.testing.assert_array_equal(block, before)
        # A changed copy keeps its changes; the file never had them.
        np.testing.assert_array_equal(held, X if mode == "r" else X + 1)
        changed = X + 1 if mode == "r+" else X
        np.testing.assert_array_equal(np.load(tmp_path / "points.npy"), changed)

    def test_npy_files(self, tmp_path, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        np.save(tmp_path / "points.npy", X)
        table = blocks_of_npy(tmp_path / "points.npy", n_rows=110)
        self.check(table, X, pairs.index, t)
        assert blocks_of_npy(str(tmp_path / "points.npy")).numblocks == (1, 1)
        np.save(tmp_path / "column.npy", X[:, 0])
        with pytest.raises(ValueError, match=r"the file holds shape \(300,\)"):
            blocks_of_npy(tmp_path / "column.npy")

    @pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
    @pytest.mark.parametrize("source", ["file", "map"])
    def test_a_large_file_is_never_resident(self, source, peaks):
        assert peaks[source] < 120  # of 300 MB


@pytest.fixture(scope="module")
def peaks(tmp_path_factory):
    """By how many MB a file of 300 MB makes the memory grow, for each source."""
    shape, path = (75_000, 1000), tmp_path_factory.mktemp("large") / "points.npy"
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(25):
            file.write(np.ones((3000, 1000), "<f4").tobytes())
    command = [sys.executable, "-c", RESIDENT, path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    path.unlink()
    assert done.returncode == 0, done.stderr
    return {
        source: int(grown) for source, grown in map(str.split, done.stdout.splitlines())
    }


# Prints each source, and by how many MB the peak of resident memory exceeds that at
# the start.
RESIDENT = textwrap.dedent("""
    import os, re, sys
    import dask.array as da
    import numpy as np
    from pairlearn import Pairs
    from pairlearn.engine.points import as_points
    from pairlearn.engine.coefficients import Coefficients
    from pairlearn.engine.risks import ProductRisk
    from pairlearn.data.containers import blocks_of_npy

    class Reader:
        # Of a map itself dask would make a copy.
        def __init__(self, held):
            self.held, self.shape, self.dtype = held, held.shape, held.dtype
            self.ndim = held.ndim
        def __getitem__(self, key):
            return self.held[key]

    def resident(kind):
        with open("/proc/self/status") as status:
            return int(re.search(kind + r":\\s+(\\d+)", status.read())[1]) // 1024

    def measure(source):
        held = np.load(sys.argv[1], mmap_mode="r")
        if source == "file":
            table = blocks_of_npy(sys.argv[1], n_rows=3000)
        else:
            table = da.from_array(Reader(held), chunks=(3000, -1), name=False)
        points, index = as_points(table), np.arange(held.shape[0]).reshape(-1, 2)
        ones = np.ones(len(index))
        pairs = points.coupled(index, Coefficients(ones, ones))
        some = as_points(Pairs(table, index[::2]).compact().X)
        w = np.full(1000, 1e-3)
        # What is loaded once, compiled code among it, is not the file's.
        warm = as_points(np.ones((1000, 1000), "f4")).coupled(
            index[:500], Coefficients(ones[:500], ones[:500])
        )
        warm.value_and_gradient(ProductRisk("logistic"), w, 0.0)
        before = resident("VmRSS")
        points.mean_and_variance()
        pairs.value_and_gradient(ProductRisk("logistic"), w, 0.0)
        some.scores(w)
        points.own_scores(w).compute()
        print(source, resident("VmHWM") - before, flush=True)

    # Each in a copy of its own, whose peak begins with what it has.
    for source in ("file", "map"):
        child = os.fork()
        if not child:
            measure(source)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
""")
