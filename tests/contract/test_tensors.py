"""Points as torch tensors: the same models as from NumPy, on every device there is."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import StandardScaler

from pairlearn import (
    CIPSClassifier,
    MCLClassifier,
    OneVsRestPairClassifier,
    PairClassifier,
    PairMetaClassifier,
    Pairs,
    SDClassifier,
    SLLCClassifier,
    certify,
    make_pair_pipeline,
)
from pairlearn.data.containers import is_tensor, on_host, stack_rows
from pairlearn.data.pairs import as_pairs
from pairlearn.models.multiclass import answers_per_class
from pairlearn.trust.metrics import (
    clustering_accuracy_scorer,
    clustering_error,
    pair_accuracy_scorer,
    pair_error,
)
from tests.support.estimators import ESTIMATORS
from tests.support.tensors import OwnLoss, every_device

torch = pytest.importorskip("torch", reason="needs torch")


def table_of(X, kind, device="cpu"):
    if kind == "sparse":
        return sparse.csr_array(X)
    return torch.tensor(X, dtype=getattr(torch, kind), device=device)


# The greatest difference of scores, in relation to the greatest score.
NEAR = {"sparse": 1e-6, "float64": 1e-6, "float32": 2e-3}


class TestEstimators:
    @pytest.mark.usefixtures("quick")
    @every_device
    @pytest.mark.parametrize("kind", ["sparse", "float64", "float32"])
    @pytest.mark.parametrize("name", ESTIMATORS)
    def test_any_table_gives_the_same_model(
        self, name, kind, device, blobs, blob_pairs
    ):
        if (kind == "sparse" and device != "cpu") or (name, kind) == ("auto", "sparse"):
            pytest.skip("not a place for it, or other columns to choose from")
        (X, _), (pairs, t) = blobs, blob_pairs
        table = table_of(X, kind, device)
        given = Pairs(table, pairs.index)
        right = clone(ESTIMATORS[name]).fit(pairs, t)
        clf = clone(ESTIMATORS[name]).fit(given, t)
        found, scores = clf.decision_function(table), right.decision_function(X)
        off = np.abs(on_host(found) - scores).max() / np.abs(scores).max()
        assert off < NEAR[kind]
        sure = np.abs(scores) > NEAR[kind] * np.abs(scores).max()
        predicted = clf.predict(table)
        np.testing.assert_array_equal(on_host(predicted)[sure], right.predict(X)[sure])
        for returned in (clf.pair_score(given), clf.predict_pairs(given)):
            assert isinstance(returned, np.ndarray)
        assert clf.score(given, t) == pytest.approx(right.score(pairs, t), abs=0.02)
        if is_tensor(table):
            for returned in (found, predicted):
                assert returned.device == table.device
            assert found.dtype == table.dtype
            # Each model predicts points of the other kind.
            assert isinstance(clf.decision_function(X), np.ndarray)
            assert is_tensor(right.decision_function(table))
            assert not any(map(is_tensor, vars(clf).values()))
            stored = pickle.dumps(clf)
            if hasattr(clf, "module_"):
                weights = pickle.loads(stored).module_.parameters()  # noqa: S301
                assert all(part.device.type == "cpu" for part in weights)
            else:
                assert b"torch" not in stored
        if hasattr(clf, "predict_proba"):
            found, p = clf.predict_proba(table), right.predict_proba(X)
            assert is_tensor(found) == is_tensor(table)
            np.testing.assert_allclose(on_host(found), p, atol=100 * NEAR[kind])

    @every_device
    @pytest.mark.parametrize(
        "make",
        [
            lambda: CIPSClassifier(majority=+1, random_state=0),
            lambda: CIPSClassifier(loss=OwnLoss()),
            lambda: CIPSClassifier(loss="squared_hinge", fit_intercept=False),
            lambda: CIPSClassifier(flip_rates=(0.9, 0.1)),
            lambda: CIPSClassifier(flip_rates="auto"),
            lambda: MCLClassifier(flip_rates="symmetric"),
            lambda: MCLClassifier(n_classes=3, random_state=0),
            lambda: MCLClassifier(solver="sgd", max_iter=5, random_state=0),
            lambda: SDClassifier(prior=0.7, loss="logistic"),
            lambda: SDClassifier(prior=0.7, loss="logistic", nonnegative=True),
            lambda: SDClassifier(prior=0.7, solver="sgd", max_iter=3, random_state=0),
        ],
    )
    def test_parameters(self, make, device, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        table = table_of(X, "float64", device)
        right = make().fit(pairs, t).decision_function(X)
        found = make().fit(Pairs(table, pairs.index), t).decision_function(table)
        np.testing.assert_allclose(found.cpu(), right, rtol=1e-4, atol=1e-5)

    @every_device
    def test_unlabelled_and_labelled_points(self, device, blobs, blob_pairs):
        (X, y), (pairs, t) = blobs, blob_pairs
        table = table_of(X, "float64", device)
        given = Pairs(table, pairs.index)
        for make in (
            lambda: CIPSClassifier(gammas=(0.5, 0.25, 0.25), random_state=0),
            lambda: SDClassifier(prior=0.7),
        ):
            right = make().fit(pairs, t, unlabeled=X).decision_function(X)
            for unlabeled in (table, X):
                clf = make().fit(given, t, unlabeled=unlabeled)
                np.testing.assert_allclose(
                    clf.decision_function(X), right, rtol=1e-5, atol=1e-6
                )
            clf = make().fit(pairs, t, unlabeled=table)
            np.testing.assert_allclose(clf.decision_function(X), right, rtol=1e-6)
        auto = PairClassifier(noise=None, n_folds=2, random_state=0)
        right = auto.fit(pairs, t, unlabeled=X).decision_function(X)
        for here, there in ((given, table), (given, X), (pairs, table)):
            auto.fit(here, t, unlabeled=there)
            np.testing.assert_allclose(auto.decision_function(X), right, rtol=1e-6)
        labels = torch.tensor(y[:20], device=device)
        clf = SLLCClassifier(n_landmarks=5, random_state=0)
        clf.fit(given, t, labeled=(table[:20], labels))
        assert float((clf.predict(table).cpu() == torch.tensor(y)).float().mean()) > 0.8

    @every_device
    def test_a_stream(self, device, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        given = Pairs(table_of(X, "float64", device), pairs.index)
        right, clf = CIPSClassifier(), CIPSClassifier()
        for part in (slice(0, 60), slice(60, 120)):
            right.partial_fit(pairs[part], t[part])
            clf.partial_fit(given[part], t[part])
        np.testing.assert_allclose(clf.coef_, right.coef_, rtol=1e-8)

    @every_device
    def test_names_of_classes(self, device, blobs, blob_pairs):
        (X, y), (pairs, t) = blobs, blob_pairs
        table = table_of(X, "float32", device)
        given = Pairs(table, pairs.index)
        clf = CIPSClassifier(classes=("no", "yes")).fit(given, t)
        assert set(clf.predict(table)) == {"no", "yes"}
        clf = MCLClassifier(classes=(3, 8)).fit(given, t)
        clf.assign_from_points(table, torch.tensor(np.where(y > 0, 8, 3)))
        predicted = clf.predict(table)
        assert predicted.dtype == torch.int64
        assert set(predicted.tolist()) == {3, 8}
        assert np.mean((on_host(predicted) == 8) == (y > 0)) > 0.8
        clf = MCLClassifier(n_classes=3, random_state=0).fit(given, t)
        assert clf.predict(table).device == table.device
        assert clf.predict_proba(table).shape == (300, 3)
        assert clf.assign_from_points(table, np.arange(300) % 3) is clf

    @every_device
    def test_what_goes_with_a_model(self, device, blobs, blob_pairs):
        (X, y), (pairs, t) = blobs, blob_pairs
        table = table_of(X, "float64", device)
        given = Pairs(table, pairs.index)
        half = {"majority": 1, "assignment_size": 0.5, "random_state": 0}
        clf = CIPSClassifier(**half).fit(given[:80], t[:80])
        right = CIPSClassifier(**half).fit(pairs[:80], t[:80])
        assert clf.assignment_.sign == right.assignment_.sign
        assert certify(clf, given[80:], t[80:]) == certify(right, pairs[80:], t[80:])
        assert pair_accuracy_scorer(clf, given, t) == pytest.approx(
            pair_accuracy_scorer(right, pairs, t)
        )
        assert clustering_accuracy_scorer(clf, table, y) == pytest.approx(
            clustering_accuracy_scorer(right, X, y)
        )
        clf.assign_from_pairs(given, t, majority=1)
        tensor_t = torch.tensor(t, device=device)
        assert clf.score(given, tensor_t, torch.ones(120)) == clf.score(given, t)

    def test_several_classes_and_other_models(self, blobs, blob_pairs):
        (X, y), (pairs, t) = blobs, blob_pairs
        table = table_of(X, "float64")
        given = Pairs(table, pairs.index)
        groups = np.arange(300) % 3
        answers = answers_per_class(pairs, groups, [0, 1, 2])
        right = OneVsRestPairClassifier(CIPSClassifier()).fit(pairs, answers)
        clf = OneVsRestPairClassifier(CIPSClassifier()).fit(given, answers)
        assert is_tensor(clf.predict(table))
        np.testing.assert_allclose(
            clf.decision_function(table), right.decision_function(X), rtol=1e-5
        )
        np.testing.assert_allclose(clf.pair_score(given), right.pair_score(pairs))
        assert clf.score(given, answers) == right.score(pairs, answers)
        meta = PairMetaClassifier(LogisticRegression(), initial=CIPS_WITH_PROBABILITY)
        assert is_tensor(meta.fit(given, t).predict_proba(table))
        auto = PairClassifier(random_state=0).fit(
            given, t, labeled=(table[:9], torch.tensor(y[:9]))
        )
        assert is_tensor(auto.predict_proba(table))

    def test_selection_and_pipelines(self, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        table = table_of(X, "float64")
        given = Pairs(table, pairs.index)
        pipe = make_pair_pipeline(StandardScaler(), CIPSClassifier())
        for model in (CIPSClassifier(), pipe):
            np.testing.assert_allclose(
                cross_val_score(model, given, t, error_score="raise"),
                cross_val_score(model, pairs, t),
            )
        search = GridSearchCV(CIPSClassifier(), {"alpha": [1e-4, 1e-1]}, cv=2)
        assert is_tensor(search.fit(given, t).predict(table))
        np.testing.assert_allclose(
            pipe.fit(given, t).decision_function(table),
            pipe.fit(pairs, t).decision_function(X),
        )


CIPS_WITH_PROBABILITY = MCLClassifier(alpha=0.01)


class TestPairs:
    @every_device
    def test_points_stay_where_they_are(self, device):
        X = torch.arange(24.0, device=device).reshape(8, 3)
        pairs = Pairs(X, torch.tensor([[0, 1], [2, 7], [5, 0]], device=device))
        assert pairs.X.data_ptr() == X.data_ptr()
        assert pairs[:2].X is pairs.X
        assert pairs.shape == (3, 2, 3)
        compact = pairs[1:].compact()
        assert compact.X.device == X.device
        assert compact.n_points == 4
        np.testing.assert_array_equal(np.asarray(pairs), X.cpu()[pairs.index])
        np.testing.assert_array_equal(pairs[0], X.cpu()[[0, 1]])
        both = Pairs.from_arrays(X[:4], X[4:])
        assert both.X.device == X.device
        np.testing.assert_array_equal(np.asarray(both)[0], X.cpu()[[0, 4]])
        labels = torch.tensor([0, 1] * 4, device=device)
        drawn, t = Pairs.sample(X, 3, labels, random_state=0)
        assert is_tensor(drawn.X)
        assert isinstance(t, np.ndarray)
        as_array = torch.zeros(5, 2, 3, device=device)
        assert as_pairs(as_array).X.device == X.device
        assert copy.deepcopy(pairs).shape == (3, 2, 3)

    def test_no_history_of_gradients(self, blob_pairs):
        pairs, t = blob_pairs
        X = torch.tensor(pairs.X, requires_grad=True)
        given = Pairs(X, pairs.index)
        assert not given.X.requires_grad
        assert not CIPSClassifier().fit(given, t).decision_function(X).requires_grad

    def test_numbers_of_other_types(self, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        for kind in ("float16", "bfloat16", "int32"):
            table = table_of(10 * X, kind)
            for clf in (CIPSClassifier(), ESTIMATORS["ovpc"]):
                scores = clf.fit(Pairs(table, pairs.index), t).decision_function(table)
                assert scores.dtype == torch.float32

    def test_stacking_different_kinds(self):
        a, b = np.ones((2, 3)), torch.zeros(1, 3)
        assert is_tensor(stack_rows(b, a))
        assert stack_rows(a, b).tolist() == [[1] * 3, [1] * 3, [0] * 3]
        assert stack_rows(sparse.csr_array(a), b).shape == (3, 3)


class TestBadInput:
    def test_shapes(self):
        with pytest.raises(ValueError, match=r"got shape \(3,\)"):
            Pairs(torch.zeros(3), [[0, 1]])
        with pytest.raises(ValueError, match="two forms"):
            CIPSClassifier().fit(torch.zeros(4, 3), [1, -1])
        with pytest.raises(TypeError, match="dense and real"):
            Pairs(torch.zeros(3, 2).to_sparse(), [[0, 1]])
        with pytest.raises(TypeError, match="dense and real"):
            Pairs(torch.zeros(3, 2, dtype=torch.complex64), [[0, 1]])
        with pytest.raises(ValueError, match="pairs need 3 points"):
            Pairs(torch.zeros(3, 2), [[0, 1]]).with_points(torch.zeros(2, 2))

    @pytest.mark.parametrize("name", ["cips-logistic", "ovpc"])
    def test_points(self, name, blobs, blob_pairs):
        (X, _), (pairs, t) = blobs, blob_pairs
        clf = clone(ESTIMATORS[name])
        with pytest.raises(NotFittedError):
            clf.predict(torch.tensor(X))
        bad = torch.tensor(X)
        bad[int(pairs.index[3, 0]), 2] = torch.nan
        place = f"first in row {pairs.index[3, 0]}, column 2"
        with pytest.raises(ValueError, match=place):
            clf.fit(Pairs(bad, pairs.index), t)
        clf.fit(Pairs(torch.tensor(X), pairs.index), t)
        with pytest.raises(ValueError, match=r"X has 3 features, but .* expecting 4"):
            clf.predict(torch.tensor(X[:, :3]))
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            clf.predict(torch.zeros(0, 4))
        with pytest.raises(ValueError, match="got pairs where points"):
            clf.predict(torch.zeros(5, 2, 4))

    def test_large_finite_numbers_are_no_infinity(self, blob_pairs):
        pairs, _ = blob_pairs
        X = torch.tensor(1e37 * pairs.X, dtype=torch.float32)
        assert CIPSClassifier()._validate_points(X, reset=True) is not None


class Elsewhere(torch.Tensor):
    """A tensor that NumPy cannot read, as those of a GPU."""

    def __array__(self, dtype=None, copy=None):
        raise TypeError("can't convert cuda:0 device type tensor to numpy")


def test_answers_and_labels_may_be_on_a_device(blobs, blob_pairs):
    (X, y), (pairs, t) = blobs, blob_pairs

    def far(values):
        return torch.tensor(values).as_subclass(Elsewhere)

    clf = CIPSClassifier().fit(Pairs(X, far(pairs.index)), far(t), far(np.ones(len(t))))
    assert clf.score(pairs, far(t)) == clf.score(pairs, t)
    assert pair_error(far(t), far(-t)) == 1
    assert clustering_error(far(y), far(y)) == 0
    clf.assign_from_pairs(pairs, far(t), majority=1)
    clf.assign_from_points(X, far(np.where(y > 0, 1, -1)))
    np.testing.assert_array_equal(pairs.answers(far(y)), t)
