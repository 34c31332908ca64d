"""Dask on a cluster, and what is refused."""

import os
import signal
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from pairlearn import CIPSClassifier, MCLClassifier, Pairs
from pairlearn.data.pairs import as_pairs
from pairlearn.engine.points import as_points
from tests.support.dask_blocks import lazily
from tests.support.estimators import ESTIMATORS

dask = pytest.importorskip("dask", reason="needs dask")


da = pytest.importorskip("dask.array", reason="needs dask")


class TestBadInput:
    @pytest.mark.parametrize("name", ["cips-logistic", "cips-eigen", "sd", "meta"])
    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_a_number_that_is_none(self, name, bad, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        row = int(pairs.index[3, 0])
        X = X.copy()
        X[row, 2] = bad
        place = rf"first in row {row}, column 2 \(1 value"
        clf = clone(ESTIMATORS[name])
        with pytest.raises(ValueError, match=place):
            clf.fit(Pairs(lazily(X), pairs.index), t)
        clf.fit(pairs, t)
        with pytest.raises(ValueError, match=place):
            clf.predict(lazily(X)).compute()

    def test_points_that_no_pair_uses_may_be_bad(self, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        right = CIPSClassifier().fit(pairs, t)
        X = X.copy()
        X[np.setdiff1d(np.arange(300), pairs.index)] = np.nan
        clf = CIPSClassifier().fit(Pairs(lazily(X), pairs.index), t)
        np.testing.assert_allclose(clf.coef_, right.coef_)

    def test_points_for_assignment_are_checked_too(self, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        clf = CIPSClassifier(majority=1, random_state=0)
        _, kept, _ = clf._prepare_fit(pairs, t, None)
        row = int(pairs.used_points()[kept.taken().pairs.index[0, 0]])
        X = X.copy()
        X[row, 1] = np.nan
        with pytest.raises(ValueError, match=f"first in row {row}, column 1"):
            clf.fit(Pairs(lazily(X), pairs.index), t)

    def test_large_finite_numbers_are_no_infinity(self, blobs):
        X, _ = blobs
        points = as_points(lazily(1e300 * X))
        assert not np.isfinite(points.scores(np.full(4, 1e300))).all()

    def test_points(self, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        clf = CIPSClassifier()
        with pytest.raises(NotFittedError):
            clf.predict(lazily(X))
        clf.fit(pairs, t)
        with pytest.raises(ValueError, match=r"X has 3 features, but .* expecting 4"):
            clf.predict(lazily(X[:, :3]))
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            clf.predict(da.zeros((0, 4)))
        with pytest.raises(ValueError, match="got pairs where points"):
            clf.predict(da.zeros((5, 2, 4)))
        with pytest.raises(ValueError, match=r"got shape \(5,\)"):
            clf.predict(da.zeros(5))
        with pytest.raises(ValueError, match=r"X has 3 features, but .* expecting 4"):
            clf.set_params(warm_start=True).partial_fit(
                Pairs(lazily(X[:, :3]), pairs.index), t
            )

    def test_pairs(self):
        strange = da.zeros((3, 2), meta=np.zeros((0, 0)))
        strange._meta = "neither"
        with pytest.raises(TypeError, match="must be NumPy arrays or SciPy sparse"):
            Pairs(strange, [[0, 1]])
        with pytest.raises(ValueError, match=r"got shape \(3, 2, 1\)"):
            Pairs(da.zeros((3, 2, 1)), [[0, 1]])
        with pytest.raises(ValueError, match="numbered 0 to 2"):
            Pairs(da.zeros((3, 2)), [[0, 3]])
        with pytest.raises(ValueError, match="where pairs are needed"):
            as_pairs(da.zeros((3, 2)))
        with pytest.raises(ValueError, match="pairs need 3 points"):
            Pairs(da.zeros((3, 2)), [[0, 1]]).with_points(da.zeros((2, 2)))

    @pytest.mark.parametrize("dtype", [object, "U3", complex])
    def test_text(self, dtype):
        X = np.array([["a"], ["b"], ["c"], ["d"]], dtype="U3")
        X = np.ones((4, 1), dtype) if dtype is complex else X.astype(dtype)
        pairs = Pairs(da.from_array(X, chunks=(2, 1)), [[0, 1], [2, 3]])
        with pytest.raises(ValueError, match=r"not a number|[Cc]omplex"):
            CIPSClassifier().fit(pairs, [1, -1])


# A worker on a busy machine is not taken for dead.
PATIENT = {
    "distributed.comm.timeouts.connect": "600s",
    "distributed.comm.timeouts.tcp": "600s",
    "distributed.scheduler.worker-ttl": None,
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    distributed = pytest.importorskip("distributed", reason="needs distributed")
    # Whatever else runs on the machine, it warns of when it starts and ends.
    with dask.config.set(PATIENT), warnings.catch_warnings(action="ignore"):
        cluster = distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=50,
            memory_limit=0,
            local_directory=str(tmp_path_factory.mktemp("cluster")),
        )
        client = distributed.Client(cluster, timeout=600)
    with dask.config.set(PATIENT):
        yield client
    with warnings.catch_warnings(action="ignore"):
        client.close()
        cluster.close()


def by_threads(work):
    """Do some work here though there is a cluster, which some versions warn of."""
    with dask.config.set(scheduler="threads"), warnings.catch_warnings(action="ignore"):
        return work()


@pytest.mark.usefixtures("cluster")
class TestCluster:
    # Each task of a cluster takes milliseconds: few blocks and few evaluations.
    quick = {"n_init": 1, "alpha": 0.1}  # noqa: RUF012

    def test_same_model_and_digits(self, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        index, table = np.sort(pairs.index, axis=0), lazily(X)
        right = CIPSClassifier(**self.quick).fit(Pairs(X, index), t)
        clf = CIPSClassifier(**self.quick).fit(Pairs(table, index), t)
        np.testing.assert_allclose(clf.coef_, right.coef_, rtol=1e-8)
        np.testing.assert_array_equal(clf.predict(table).compute(), right.predict(X))
        here = CIPSClassifier(**self.quick)
        by_threads(lambda: here.fit(Pairs(table, index), t))
        np.testing.assert_array_equal(clf.coef_, here.coef_)

    def test_a_worker_dies(self, tmp_path, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        right = MCLClassifier(**self.quick).fit(pairs, t)
        log = tmp_path / "calls"

        def read(block):
            """Read a block; the worker that does so for the thirtieth time dies."""
            if not block.size:
                return block
            with log.open("a") as calls:
                calls.write("x")
            if log.stat().st_size == 30:
                os.kill(os.getpid(), signal.SIGKILL)
            return block

        table = lazily(X).map_blocks(read, dtype=X.dtype, meta=X[:0])
        clf = MCLClassifier(**self.quick).fit(Pairs(table, pairs.index), t)
        # It was in the middle: passes before it, and passes after it.
        assert log.stat().st_size > 40
        np.testing.assert_allclose(clf.coef_, right.coef_, rtol=1e-8)
        here = MCLClassifier(**self.quick)
        by_threads(lambda: here.fit(Pairs(lazily(X), pairs.index), t))
        np.testing.assert_array_equal(clf.coef_, here.coef_)
