"""PairNet: what it learns, and from what.

How it is trained is in test_neural_training.py, what it refuses in
test_neural_input.py, what it says of its errors in test_neural_certificate.py.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit

torch = pytest.importorskip("torch")
pytest.importorskip("skorch")

from pairlearn import (  # noqa: E402
    CIPSClassifier,
    MCLClassifier,
    Pairs,
    clustering_error,
)
from pairlearn.models.neural import (  # noqa: E402
    MLP,
    PairLikelihoodLoss,
    PairNet,
    ProductLoss,
    SDLoss,
    SemiSupervisedPairLoss,
)
from tests.support.rings import (  # noqa: E402
    PAIRS,
    X_NEW,
    Y_NEW,
    T,
    X,
    Y,
    error,
    few,
    fit,
    ring,
)

# Many nets here are trained for a few epochs only: too few to leave the flat start.
pytestmark = pytest.mark.filterwarnings("ignore:the network puts all points")
# One step an epoch over all pairs, from given weights: nothing is left to chance.
FULL = {"batch_size": 10**6, "validation_size": 0, "precision": "float64"}


@pytest.fixture(scope="module")
def trained():
    return fit(max_epochs=30)


def linear(n_features=4, seed=0, **options):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return torch.nn.Linear(n_features, 1, **options)


# --- What is learned --------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "most"),
    [
        ("likelihood", 0.04),
        ("product", 0.04),
        (ProductLoss("hinge"), 0.04),
        (ProductLoss("squared"), 0.12),
        (PairLikelihoodLoss("symmetric"), 0.04),
        (SemiSupervisedPairLoss((1.0, 0.0, 0.0), same_rate=0.58), 0.04),
    ],
    ids=["likelihood", "product", "hinge", "squared", "flips", "semi"],
)
def test_a_circle_is_learned(loss, most):
    assert min(np.mean(Y_NEW > 0), np.mean(Y_NEW < 0)) > 0.25
    assert error(fit(loss=loss, max_epochs=30)) < most


def test_the_sd_loss_fixes_the_sign():
    # It estimates the risk of points from pairs, which takes more of them.
    points, y = ring(3000, radius=0.85)
    prior = float(np.mean(y > 0))
    assert 0.65 < prior < 0.75
    pairs, t = Pairs.sample(points, 1500, y, random_state=0)
    settings = {"lr": 0.01, "batch_size": 128, "max_epochs": 15}
    right = fit(pairs, t, loss=SDLoss(prior), **settings)
    assert np.mean(right.predict(X_NEW) == Y_NEW) > 0.9
    turned = fit(pairs, t, loss=SDLoss(1 - prior, nonnegative=True), **settings)
    assert np.mean(turned.predict(X_NEW) == Y_NEW) < 0.1


def three_groups(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    centres = np.array([[0.0, 3.0], [-3.0, -1.5], [3.0, -1.5]])
    return rng.normal(size=(n, 2)) + centres[y], y


def test_three_classes_get_their_names_from_points():
    points, y = three_groups(600, 0)
    pairs, t = Pairs.sample(points, 300, y, random_state=0)
    names = np.array(["a", "b", "c"])
    net = fit(pairs, t, n_classes=3, classes=tuple(names), max_epochs=25)
    new, y_new = three_groups(1000, 1)
    assert (net.predict_pairs(pairs) == t).mean() > 0.95
    for turn in range(3):
        # The names go where the points say, whatever they were before.
        order = np.roll(names, turn)
        net.assign_from_points(points[:20], order[y[:20]])
        assert np.mean(net.predict(new) == order[y_new]) > 0.95
    proba = net.predict_proba(new)
    assert proba.shape == (1000, 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(names[proba.argmax(axis=1)], net.predict(new))
    assert net.decision_function(new).shape == (1000, 3)


@pytest.mark.parametrize(
    ("loss", "peer"),
    [
        ("likelihood", MCLClassifier),
        ("product", CIPSClassifier),
        (PairLikelihoodLoss((0.9, 0.2)), MCLClassifier),
    ],
    ids=["likelihood", "product", "flips"],
)
def test_one_unit_ends_where_the_linear_classifier_ends(loss, peer, blob_pairs):
    pairs, t = blob_pairs
    weight = np.random.default_rng(0).uniform(0.5, 2, len(t))
    # The optimizer's penalty is on all weights, so there must be no intercept.
    options = {"alpha": 0.02, "fit_intercept": False, "tol": 1e-10}
    if isinstance(loss, PairLikelihoodLoss):
        options["flip_rates"] = (0.9, 0.2)
    best = peer(**options).fit(pairs, t, weight)
    net = PairNet(
        linear(bias=False), loss=loss, lr=0.1, weight_decay=0.02, max_epochs=250,
        patience=None, device="cpu", random_state=0, **FULL,
    ).fit(pairs, t, weight)  # fmt: skip
    w = net.module_.weight.detach().numpy()[0]
    value = net.history_[-1]["train_loss"] + 0.01 * w @ w
    assert value == pytest.approx(best.objective_, rel=1e-7)
    sign = np.sign(w @ best.coef_[0])
    np.testing.assert_allclose(sign * w, best.coef_[0], rtol=1e-3, atol=1e-4)


# --- Weights and answers ----------------------------------------------------------


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("loss", ["likelihood", "product", SDLoss(0.7)], ids=str)
def test_weight_two_is_a_pair_twice(loss, optimizer, blob_pairs):
    pairs, t = blob_pairs
    weight = np.random.default_rng(0).integers(0, 4, len(t))
    copies = np.repeat(np.arange(len(t)), weight)
    settings = {"lr": 0.1, "max_epochs": 5, "loss": loss, "optimizer": optimizer}
    # Together, a right answer that is given twice says no more than once.
    settings["likelihood"] = "pair"
    net = PairNet(linear(), device="cpu", random_state=0, **settings, **FULL)
    once = net.fit(pairs, t, weight)
    scores, losses = once.decision_function(pairs.X), once.history_
    twice = net.fit(pairs[copies], t[copies])
    np.testing.assert_allclose(twice.decision_function(pairs.X), scores, rtol=1e-9)
    for a, b in zip(losses, twice.history_, strict=True):
        assert a["train_loss"] == pytest.approx(b["train_loss"], rel=1e-12)
    # And the weights say something at all.
    plain = net.fit(pairs, t).decision_function(pairs.X)
    assert np.abs(plain - scores).max() > 1e-3


@pytest.mark.parametrize("batch_size", [7, 64, 500])
def test_batches_add_up_to_the_weighted_mean(batch_size, blob_pairs):
    pairs, t = blob_pairs
    weight = np.random.default_rng(0).uniform(0, 5, len(t))
    # With a rate this small the weights stay where they are.
    net = PairNet(
        linear(), batch_size=batch_size, lr=1e-12, max_epochs=1, validation_size=0.3,
        precision="float64", device="cpu", random_state=0,
    ).fit(pairs, t, weight)  # fmt: skip
    p = net.predict_proba(pairs.X)[:, 1]
    left, right = p[pairs.left], p[pairs.right]
    same = left * right + (1 - left) * (1 - right)
    each = -weight / weight.mean() * np.log(np.where(t > 0, same, 1 - same))
    n_held_out = round(0.3 * len(t))
    losses = net.history_[0]
    total = (
        losses["train_loss"] * (len(t) - n_held_out) + losses["valid_loss"] * n_held_out
    )
    assert total == pytest.approx(each.sum(), rel=1e-9)


def test_weight_zero_is_as_if_the_pair_were_not_there():
    rng = np.random.default_rng(0)
    # Pairs of points far from all others, among those that count.
    far = np.vstack([X, 1e4 * rng.normal(size=(80, 2))])
    index = np.vstack([PAIRS.index, len(X) + np.arange(80).reshape(40, 2)])
    answers = np.append(T, rng.choice([-1.0, 1.0], 40))
    mixed = rng.permutation(440)
    weight = np.append(rng.uniform(0.5, 2, 400), np.zeros(40))[mixed]
    pairs, t, counts = Pairs(far, index[mixed]), answers[mixed], weight > 0
    with_them = fit(pairs, t, weight, max_epochs=3)
    without = fit(pairs[counts], t[counts], weight[counts], max_epochs=3)
    np.testing.assert_array_equal(
        with_them.decision_function(X), without.decision_function(X)
    )
    assert with_them.valid_loss_ == without.valid_loss_


def test_bool_answers_are_answers():
    numbers = few().decision_function(X)
    words = fit(PAIRS[:60], T[:60] > 0, max_epochs=4, hidden=(6,))
    np.testing.assert_array_equal(words.decision_function(X), numbers)


def test_a_soft_answer_is_a_mixture_of_both(blob_pairs):
    pairs, t = blob_pairs
    soft = 0.6 * t
    net = PairNet(
        linear(), lr=0.1, max_epochs=5, likelihood="pair", device="cpu",
        random_state=0, **FULL,
    )  # fmt: skip
    scores = net.fit(pairs, soft).decision_function(pairs.X)
    # 0.6 is "same" with weight 0.8 and "different" with weight 0.2.
    both = pairs[np.tile(np.arange(len(t)), 2)]
    weight = np.concatenate([(1 + soft) / 2, (1 - soft) / 2])
    hard = np.repeat([1.0, -1.0], len(t))
    mixed = net.fit(both, hard, weight).decision_function(pairs.X)
    np.testing.assert_allclose(scores, mixed, rtol=1e-9)


# --- Forms of points and modules --------------------------------------------------


def test_pairs_and_arrays_are_the_same():
    points = np.asarray(PAIRS[:60]).reshape(-1, 2)
    flat = Pairs(points, np.arange(120).reshape(60, 2))
    a = fit(flat, T[:60], max_epochs=3).decision_function(X)
    b = fit(np.asarray(PAIRS[:60]), T[:60], max_epochs=3).decision_function(X)
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", ["csr_array", "csr_matrix", "csc_array"])
def test_sparse_points_give_the_same(kind):
    thin = np.where(np.abs(X) > 0.5, X, 0)
    make = getattr(sparse, kind)
    dense = fit(Pairs(thin, PAIRS.index), T, max_epochs=3, precision="float64")
    other = fit(Pairs(make(thin), PAIRS.index), T, max_epochs=3, precision="float64")
    expected = dense.decision_function(thin)
    for model in (dense, other):
        scores = model.decision_function(make(thin))
        np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-9)


def test_float32_points_give_the_same():
    as_float = X.astype(np.float32)
    wide = fit(Pairs(as_float.astype(float), PAIRS.index), T, max_epochs=3)
    narrow = fit(Pairs(as_float, PAIRS.index), T, max_epochs=3)
    assert next(narrow.module_.parameters()).dtype == torch.float32
    np.testing.assert_allclose(
        narrow.decision_function(as_float), wide.decision_function(as_float), rtol=1e-4
    )


def test_tensors_are_points():
    tensor = torch.tensor(X)
    a = fit(Pairs(tensor, PAIRS.index), T, max_epochs=3)
    b = fit(max_epochs=3)
    np.testing.assert_allclose(
        a.decision_function(tensor), b.decision_function(X), rtol=1e-5, atol=1e-6
    )


def test_a_frame_names_the_features():
    frame = pd.DataFrame(X, columns=["width", "height"])
    net = fit(Pairs(frame, PAIRS.index), T, max_epochs=2)
    assert net.feature_names_in_.tolist() == ["width", "height"]
    assert net.n_features_in_ == 2
    plain = fit(max_epochs=2).decision_function(X)
    np.testing.assert_array_equal(net.decision_function(frame), plain)
    with pytest.raises(ValueError, match="feature names"):
        net.predict(frame[["height", "width"]])


def test_other_numbers_of_features_are_refused(trained):
    with pytest.raises(ValueError, match=r"3 features.*expecting 2"):
        trained.predict(np.zeros((4, 3)))


def test_images_through_a_convolution():
    # A bar of four bright pixels, upright or lying, anywhere in the image.
    rng = np.random.default_rng(0)
    images, y = rng.normal(scale=0.1, size=(300, 1, 6, 6)), rng.integers(2, size=300)
    for image, upright in zip(images, y, strict=True):
        row, column = rng.integers(0, 3), rng.integers(0, 6)
        part = (slice(row, row + 4), column)
        image[0][part if upright else part[::-1]] += 1
    pairs, t = Pairs.sample(images.reshape(300, -1), 150, y, random_state=0)
    torch.manual_seed(0)
    module = torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, 6, 6)),
        torch.nn.Conv2d(1, 8, 3),
        torch.nn.ReLU(),
        torch.nn.AdaptiveMaxPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(8, 1),
    )
    net = fit(pairs, t, module=module, batch_size=32, max_epochs=40)
    assert clustering_error(y, net.predict(images.reshape(300, -1))) < 0.05
    with pytest.raises(ValueError, match=r"35 features.*Unflatten\(1, \(channels"):
        fit(Pairs(images.reshape(300, -1)[:, 1:], pairs.index), t, module=module)


def test_a_module_is_copied_and_is_where_training_begins():
    module = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Linear(4, 1))
    before = {k: v.clone() for k, v in module.state_dict().items()}
    net = few(module=module, lr=1e-12, max_epochs=1)
    assert net.module_ is not module
    with torch.no_grad():
        start = module(torch.tensor(X, dtype=torch.float32))[:, 0].numpy()
    np.testing.assert_allclose(net.decision_function(X), start, atol=1e-5)
    far = few(module=module, lr=0.1)
    assert np.abs(far.decision_function(X) - start).max() > 0.01
    for name, value in module.state_dict().items():
        assert torch.equal(value, before[name])
    assert module.training


def test_a_factory_is_called_with_the_seed():
    made = []

    def make():
        made.append(MLP(2, (5,)))
        return made[-1]

    a, b = few(module=make), few(module=make)
    assert len(made) == 2
    np.testing.assert_array_equal(a.decision_function(X), b.decision_function(X))
    c = few(module=make, random_state=1)
    assert np.abs(a.decision_function(X) - c.decision_function(X)).max() > 1e-3


def test_scores_of_shape_n_are_the_same_as_of_shape_n_1():
    plain = torch.nn.Sequential(MLP(2, (5,)))
    flat = torch.nn.Sequential(*plain, torch.nn.Flatten(0))
    a, b = (few(module=m).decision_function(X) for m in (plain, flat))
    assert a.shape == (len(X),)
    np.testing.assert_allclose(a, b, rtol=1e-5)


def test_a_module_in_float64_stays_in_float64():
    module = MLP(2, (16,)).double()
    net = fit(module=module, max_epochs=30)
    assert next(net.module_.parameters()).dtype == torch.float64
    assert error(net) < 0.05


def test_the_standard_network_standardises():
    moved = X * [1e-3, 1e3] + [5, -1e4]
    settings = {"max_epochs": 3, "precision": "float64"}
    a = fit(Pairs(moved, PAIRS.index), T, **settings).decision_function(moved)
    b = fit(**settings).decision_function(X)
    np.testing.assert_allclose(a, b, rtol=1e-2, atol=1e-3)


def test_a_constant_feature_does_no_harm():
    constant = np.column_stack([X, np.full(len(X), 3.7)])
    net = fit(Pairs(constant, PAIRS.index), T, max_epochs=30)
    new = np.column_stack([X_NEW, np.full(len(X_NEW), 3.7)])
    assert clustering_error(Y_NEW, net.predict(new)) < 0.05


# --- Classes and probabilities ----------------------------------------------------


@pytest.mark.parametrize("majority", [1, -1])
@pytest.mark.parametrize("loss", ["likelihood", "product"])
def test_the_majority_settles_the_classes(loss, majority):
    net = fit(loss=loss, majority=majority, classes=("in", "out"), max_epochs=30)
    truth = np.where(majority * Y_NEW > 0, "out", "in")
    assert np.mean(net.predict(X_NEW) == truth) > 0.93
    assert net.assignment_.method == "pairs"
    right = net.decision_function(X_NEW)
    net.assign_from_points(X_NEW[:50], np.where(truth == "in", "out", "in")[:50])
    np.testing.assert_array_equal(net.decision_function(X_NEW), -right)


def test_pairs_for_the_assignment_play_no_part_in_training():
    one, other = (fit(majority=m, assignment_size=90, max_epochs=15) for m in (1, -1))
    assert one.assignment_.n_pairs == 90
    losses = [[e["train_loss"] for e in net.history_] for net in (one, other)]
    assert losses[0] == losses[1]
    np.testing.assert_array_equal(one.decision_function(X), -other.decision_function(X))


def test_probabilities_are_of_the_class_they_stand_for(trained):
    net = trained.assign_from_points(X, Y)
    proba = net.predict_proba(X_NEW)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(proba[:, 1], expit(net.decision_function(X_NEW)))
    sure = proba[:, 1] > 0.9
    assert np.mean(Y_NEW[sure] == 1) > 0.93
    assert np.mean(Y_NEW[proba[:, 1] < 0.1] == -1) > 0.9
    assert sure.sum() > 500


def test_probabilities_come_with_the_likelihood_alone(trained):
    assert hasattr(PairNet(loss=PairLikelihoodLoss()), "predict_proba")
    assert hasattr(trained, "predict_proba")
    for loss in ("product", SDLoss(0.7)):
        assert not hasattr(few(loss=loss), "predict_proba")
