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
from pairlearn.engine.coefficients import Coefficients, answer_coefficients
from pairlearn.engine.links import BinaryLink, ProductLink, SoftmaxLink
from pairlearn.engine.losses import LOSSES, LogisticLoss
from pairlearn.engine.noisy_objective import NoisyObjective
from pairlearn.engine.objective import PairObjective, PointObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import LikelihoodRisk, PointRisk, ProductRisk
from pairlearn.engine.scaling import Scaling
from pairlearn.models.multiclass import answers_per_class
from pairlearn.trust.metrics import (
    clustering_accuracy_scorer,
    clustering_error,
    pair_accuracy_scorer,
    pair_error,
)
from tests.support.estimators import ESTIMATORS

torch = pytest.importorskip("torch", reason="needs torch")

DEVICES = [
    "cpu",
    pytest.param(
        "cuda",
        marks=pytest.mark.skipif(
            not torch.cuda.is_available(), reason="no CUDA device"
        ),
    ),
]
every_device = pytest.mark.parametrize("device", DEVICES)


class OwnLoss(LogisticLoss):
    """A loss of the user's own, which only NumPy knows."""

    name = "own"


RATES = [(1.0, 0.0), (0.9, 0.2), (1.0, 0.3), (0.8, 0.0)]
PAIR_RISKS = {
    **{name: ProductRisk(name) for name in LOSSES},
    "smoothed": ProductRisk("hinge").smoothed(0.1),
    "clipped": ProductRisk("logistic", nonnegative=True),
    "own": ProductRisk(OwnLoss()),
    **{f"binary {r}": LikelihoodRisk(BinaryLink(), r) for r in RATES},
    **{f"product {r}": LikelihoodRisk(ProductLink(), r) for r in RATES},
}


def problem(n_points, n_pairs, n_features=4):
    """Return points, pairs and coefficients; points in a pair at most once or often."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_points, n_features)) + 0.5
    if 2 * n_pairs <= n_points:
        index = rng.permutation(n_points)[: 2 * n_pairs].reshape(n_pairs, 2)
    else:
        index = rng.integers(n_points, size=(n_pairs, 2))
    t = rng.uniform(-1, 1, n_pairs)
    t[::3], t[1::3] = 1, -1
    return X, index, answer_coefficients(t, rng.random(n_pairs))


def both_risk_sums(device, n_points=60, n_pairs=200, dtype="float64"):
    X, *pairs = problem(n_points, n_pairs)
    tensor = torch.tensor(X.astype(dtype), device=device)
    return (
        as_points(X.astype(dtype)).coupled(*pairs),
        as_points(tensor).coupled(*pairs),
    )


def assert_all_close(found, right, rtol=1e-9):
    for a, b in zip(found, right, strict=True):
        assert np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol)


class TestPoints:
    @every_device
    @pytest.mark.parametrize("columns", [(), (3,)])
    @pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-12), ("float32", 1e-5)])
    def test_products(self, device, columns, dtype, rtol):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(50, 4)).astype(dtype)
        mine, right = as_points(torch.tensor(X, device=device)), as_points(X)
        w, b = rng.normal(size=(4, *columns)), rng.normal(size=columns)
        r = rng.normal(size=(50, *columns))
        rows = np.array([3, 3, 49, 0])
        assert_all_close(
            [mine.scores(w, b), mine.pullback(r), mine.take(rows).scores(w, b)],
            [right.scores(w, b), right.pullback(r), right.take(rows).scores(w, b)],
            rtol,
        )
        assert_all_close(mine.mean_and_variance(), right.mean_and_variance(), rtol)
        own = mine.own_scores(w, b)
        assert own.device == mine.X.device
        assert own.dtype == mine.X.dtype
        assert (mine.n_points, mine.n_features) == (50, 4)
        np.testing.assert_allclose(own.cpu(), right.own_scores(w, b), rtol=1e-4)

    @every_device
    def test_sums_of_many_points_keep_their_digits(self, device):
        rng = np.random.default_rng(0)
        X = (rng.normal(size=(200_000, 3)) + 10).astype("float32")
        r = rng.normal(size=200_000)
        points = as_points(torch.tensor(X, device=device))
        right = X.T.astype(float) @ r
        scale = np.abs(X.T.astype(float)) @ np.abs(r)
        assert np.max(np.abs(points.pullback(r) - right) / scale) < 1e-8
        mean, variance = points.mean_and_variance()
        np.testing.assert_allclose(mean, X.mean(axis=0, dtype=float), rtol=1e-12)
        np.testing.assert_allclose(variance, X.var(axis=0, dtype=float), rtol=1e-9)


class TestTerms:
    @every_device
    @pytest.mark.parametrize("fresh", [True, False])
    @pytest.mark.parametrize("name", PAIR_RISKS)
    def test_pair_risks(self, name, fresh, device):
        shape = (500, 230) if fresh else (60, 200)
        right, mine = both_risk_sums(device, *shape)
        risk, w, b = PAIR_RISKS[name], np.array([0.7, -0.2, 0.1, 1.1]), np.array(0.3)
        assert_all_close(
            mine.value_and_gradient(risk, w, b), right.value_and_gradient(risk, w, b)
        )
        assert mine.value_along(risk, w, b)(0.7) == pytest.approx(
            right.value_along(risk, w, b)(0.7), rel=1e-10
        )
        if isinstance(risk, LikelihoodRisk):
            np.testing.assert_allclose(
                mine.rate_gradient(risk, w, b), right.rate_gradient(risk, w, b)
            )

    @every_device
    @pytest.mark.parametrize("rates", RATES)
    def test_several_outputs(self, rates, device):
        right, mine = both_risk_sums(device)
        rng = np.random.default_rng(1)
        w, b = rng.normal(size=(4, 3)), rng.normal(size=3)
        risk = LikelihoodRisk(SoftmaxLink(), rates)
        assert_all_close(
            mine.value_and_gradient(risk, w, b), right.value_and_gradient(risk, w, b)
        )
        assert_all_close(mine.moment(w, b), right.moment(w, b))
        np.testing.assert_allclose(
            mine.rate_gradient(risk, w, b), right.rate_gradient(risk, w, b)
        )

    @every_device
    @pytest.mark.parametrize("fresh", [True, False])
    @pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-10), ("float32", 1e-5)])
    def test_moment_and_narrow_points(self, dtype, rtol, fresh, device):
        shape = (5000, 2400) if fresh else (60, 200)
        right, mine = both_risk_sums(device, *shape, dtype=dtype)
        w, b = np.array([0.7, -0.2, 0.1, 1.1]), np.array(0.3)
        assert_all_close(mine.moment(w, b), right.moment(w, b), rtol)
        for name in ("logistic", "binary (1.0, 0.0)"):
            risk = PAIR_RISKS[name]
            assert_all_close(
                mine.value_and_gradient(risk, w, b),
                right.value_and_gradient(risk, w, b),
                rtol,
            )

    @every_device
    @pytest.mark.parametrize("loss", [*LOSSES, OwnLoss()])
    @pytest.mark.parametrize("nonnegative", [True, False])
    def test_point_risks(self, loss, nonnegative, device):
        X, *_ = problem(60, 200)
        rng = np.random.default_rng(2)
        coefficients = Coefficients(*rng.normal(size=(2, 60)) / 60)
        mine, right = (
            as_points(table).weighted(coefficients)
            for table in (torch.tensor(X, device=device), X)
        )
        risk = PointRisk(loss, nonnegative=nonnegative)
        w, b = np.array([0.7, -0.2, 0.1, 1.1]), np.array(0.3)
        assert_all_close(
            mine.value_and_gradient(risk, w, b), right.value_and_gradient(risk, w, b)
        )
        assert mine.value_along(risk, w, b)(0.7) == pytest.approx(
            right.value_along(risk, w, b)(0.7), rel=1e-10, abs=1e-12
        )

    @every_device
    @pytest.mark.parametrize("fresh", [True, False])
    def test_gradients_by_finite_differences(self, fresh, device):
        X, *pairs = problem(*((500, 230) if fresh else (60, 200)))
        points = as_points(torch.tensor(X, device=device))
        scaling = Scaling.of(points, 0.1, fit_intercept=True)
        couples = points.coupled(*pairs)
        single = points.weighted(
            Coefficients(np.full(len(X), 0.01), np.full(len(X), 0.02))
        )
        plain = PairObjective(couples, LikelihoodRisk(BinaryLink()), 0.1, scaling)
        objectives = [
            PairObjective(couples, ProductRisk("logistic"), 0.1, scaling),
            PairObjective(couples, LikelihoodRisk(SoftmaxLink()), 0.1, scaling, 3),
            PointObjective(single, PointRisk("logistic"), 0.1, scaling),
            NoisyObjective(plain, symmetric=False),
        ]
        for objective in objectives:
            size = getattr(objective, "size", scaling.size + 2)
            u = np.random.default_rng(3).normal(size=size)
            _, gradient = objective(u)
            steps = 1e-6 * np.eye(size)
            by_steps = [(objective(u + h)[0] - objective(u - h)[0]) / 2e-6
                        for h in steps]  # fmt: skip
            np.testing.assert_allclose(gradient, by_steps, rtol=1e-5, atol=1e-8)


def table_of(X, kind, device="cpu"):
    if kind == "sparse":
        return sparse.csr_array(X)
    return torch.tensor(X, dtype=getattr(torch, kind), device=device)


# The greatest difference of scores, in relation to the greatest score.
NEAR = {"sparse": 1e-6, "float64": 1e-6, "float32": 2e-3}


class TestEstimators:
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


def test_few_rows_are_fetched_from_a_device():
    """A pass over all points takes it less time than to fetch many of them."""
    far = torch.empty(10, 3, device="meta")
    assert as_points(torch.empty(10, 3)).most_rows > 10**9
    assert as_points(far).most_rows == 2**16
    # A first sample of twenty pairs a feature must fit into it.
    assert as_points(torch.empty(10, 5000, device="meta")).most_rows == 200_000
