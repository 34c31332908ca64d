"""Networks that see answers together where pairs share points."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import check_random_state

torch = pytest.importorskip("torch")
pytest.importorskip("skorch")

from skorch.callbacks import Callback  # noqa: E402

from pairlearn import Pairs, clustering_error  # noqa: E402
from pairlearn.engine.components.likelihood import Answers, Components  # noqa: E402
from pairlearn.models.neural import PairLikelihoodLoss, PairNet  # noqa: E402
from pairlearn.models.neural.joint import (  # noqa: E402
    ComponentLikelihoodLoss,
    JointBatches,
    log_likelihood,
)
from pairlearn.models.neural.pieces import (  # noqa: E402
    PieceBatches,
    connected_pieces,
    pairs_of_some_points,
)

pytestmark = pytest.mark.filterwarnings("ignore:the network puts all points")

RNG = np.random.default_rng(0)
N = 160
X = RNG.normal(size=(N + 1, 2))
Y = np.where(X @ [2.0, 1.0] > 0, 1, -1)
CHAIN = np.stack([np.arange(N), np.arange(1, N + 1)], axis=1)
STAR = np.stack([np.zeros(N, dtype=int), np.arange(1, N + 1)], axis=1)
GRAPH = RNG.integers(N, size=(N, 2))
GRAPH = GRAPH[GRAPH[:, 0] != GRAPH[:, 1]]
SMALL = {"hidden": (8,), "lr": 0.02, "batch_size": 32, "max_epochs": 5}
SMALL |= {"device": "cpu", "random_state": 0}
KINDS = ("component", "pair")


def net(**settings):
    return PairNet(**{**SMALL, **settings})


def answered(index, n_wrong=0):
    t = Y[index[:, 0]] * Y[index[:, 1]]
    return Pairs(X, index), np.where(np.arange(len(t)) < n_wrong, -t, t)


def losses(model, name="train_loss"):
    return [epoch[name] for epoch in model.history_]


def is_connected(index):
    inside, rest = set(index[0].tolist()), index[1:].tolist()
    while rest:
        joined = [pair for pair in rest if inside & set(pair)]
        if not joined:
            return False
        inside.update(*joined)
        rest = [pair for pair in rest if pair not in joined]
    return True


# --- The loss ---------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_derivatives_are_those_of_finite_differences(n_classes):
    rng = np.random.default_rng(1)
    # A cycle, a tree on it, a pair that is asked twice, and one of a point with itself.
    index = np.array([[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 3], [4, 4]])
    t = np.array([1, -1, -1, 0.4, 1, -1, 1.0])
    v = rng.uniform(0.5, 2, len(t))
    answers = Answers((v * (1 + t) / 2)[:, None], (v * (1 - t) / 2)[:, None])
    graph = Components(index, 6, n_classes)
    shape = 6 if n_classes == 2 else (6, n_classes)
    scores = torch.tensor(rng.normal(size=shape), requires_grad=True)
    rates = torch.tensor([0.85, 0.2], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(
        lambda f, r: log_likelihood(f, r, graph, answers), (scores, rates)
    )


@pytest.mark.parametrize("flip_rates", ["auto", "symmetric", (0.9, 0.2)])
def test_the_loss_and_its_rates_have_the_right_derivatives(flip_rates):
    loss = ComponentLikelihoodLoss(flip_rates).double()
    index = torch.tensor([[0, 1], [1, 2], [3, 4]])
    t, weight = torch.tensor([1.0, -1.0, -1.0]), torch.tensor([1.0, 2.0, 0.5])
    scores = torch.randn(
        5, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    ).requires_grad_()
    inputs = (scores, *loss.parameters())
    assert torch.autograd.gradcheck(
        lambda f, *_: loss.joint(f, index, t, weight), inputs
    )


def test_the_loss_of_pairs_that_share_no_point_is_that_of_pairs():
    scores = torch.randn(20, 3, generator=torch.Generator().manual_seed(0))
    index = torch.arange(20).reshape(-1, 2)
    t = torch.where(scores[::2, 0] > 0, 1.0, -1.0)
    left, right = scores[0::2], scores[1::2]
    for rates in (None, (0.9, 0.2)):
        joint = ComponentLikelihoodLoss(rates).joint(scores, index, t)
        torch.testing.assert_close(joint, PairLikelihoodLoss(rates)(left, right, t))


def test_answers_that_are_right_add_up_to_labels():
    rng = np.random.default_rng(2)
    f = rng.normal(size=41)
    y = rng.choice([-1, 1], 41)
    p = 1 / (1 + np.exp(-f))
    labels = np.prod(np.where(y > 0, p, 1 - p)) + np.prod(np.where(y > 0, 1 - p, p))
    for index in (CHAIN[:40], STAR[:40]):
        t = torch.tensor(y[index[:, 0]] * y[index[:, 1]])
        found = ComponentLikelihoodLoss().joint(torch.tensor(f), torch.tensor(index), t)
        assert found.item() == pytest.approx(-np.log(labels) / 40, rel=2e-3)


# --- Pieces -----------------------------------------------------------------------


@pytest.mark.parametrize("index", [CHAIN, STAR, GRAPH], ids=["chain", "star", "graph"])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_pieces_are_connected_and_hold_every_pair_once(index, size):
    batches = PieceBatches(index, size, seed=3, epoch=lambda: 5)
    for batch in batches:
        assert 1 <= len(batch) <= size
    found = np.concatenate(list(batches))
    np.testing.assert_array_equal(np.sort(found), np.arange(len(index)))
    rng = np.random.default_rng(0)
    for pairs in batches._large:
        pieces = connected_pieces(index[pairs], size, rng)
        assert sorted(np.concatenate(pieces)) == list(range(len(pairs)))
        for piece in pieces:
            assert len(piece) <= size
            assert is_connected(index[pairs][piece])
    for whole in batches._whole:
        assert is_connected(index[whole])


def test_cuts_are_new_in_each_epoch_and_the_same_with_the_same_seed():
    def cut(seed, epoch):
        return list(PieceBatches(CHAIN, 20, seed, lambda: epoch))

    assert cut(0, 1) == cut(0, 1)
    assert len({str(sorted(map(sorted, cut(0, epoch)))) for epoch in range(5)}) == 5
    assert cut(0, 1) != cut(1, 1)


@pytest.mark.parametrize("index", [CHAIN, STAR, GRAPH], ids=["chain", "star", "graph"])
def test_held_out_points_are_in_no_other_pair(index):
    held_out = pairs_of_some_points(index, 20, check_random_state(0))
    assert 15 <= len(held_out) <= 20
    rest = np.delete(index, held_out, axis=0)
    only = ~np.isin(index[held_out], rest)
    # Each held-out pair is about a point that no other pair is about.
    assert only.any(axis=1).all()


def test_a_batch_has_each_point_once():
    data = JointBatches(X, STAR, np.ones(N), np.ones(N))
    points, (t, weight, index) = data.__getitems__([3, 8, 1])
    assert points.shape == (4, 2)
    assert t.shape == weight.shape == (3,)
    rows = points[index].numpy()
    np.testing.assert_array_equal(rows, X[STAR[[3, 8, 1]]].astype(np.float32))
    assert data[5][0].shape == (2, 2)


# --- Training ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings", [{}, {"flip_rates": "auto"}, {"n_classes": 3}], ids=str
)
def test_nothing_changes_for_pairs_that_share_no_point(settings):
    pairs, t = answered(np.arange(N).reshape(-1, 2))
    fits = [net(**settings, likelihood=kind).fit(pairs, t) for kind in KINDS]
    assert losses(fits[0]) == losses(fits[1])
    assert losses(fits[0], "valid_loss") == losses(fits[1], "valid_loss")
    np.testing.assert_array_equal(*(f.decision_function(X) for f in fits))


def test_other_losses_see_each_pair_alone():
    pairs, t = answered(CHAIN)
    for settings in ({"loss": "product"}, {"loss": PairLikelihoodLoss()}):
        fits = [net(**settings, likelihood=kind).fit(pairs, t) for kind in KINDS]
        assert losses(fits[0]) == losses(fits[1])


def test_a_chain_is_worth_as_much_as_a_star():
    X_new = np.random.default_rng(9).normal(size=(2000, 2))
    truth = np.where(X_new @ [2.0, 1.0] > 0, 1, -1)
    errors = {}
    for name, index in {"chain": CHAIN, "star": STAR}.items():
        model = net(max_epochs=15, lr=0.05).fit(*answered(index))
        errors[name] = clustering_error(truth, model.predict(X_new))
    assert max(errors.values()) < 0.04
    assert abs(errors["chain"] - errors["star"]) < 0.02


def test_the_recorded_loss_is_that_of_all_answers():
    # Batches of different sizes are averaged by their pairs, not by their points.
    index = np.concatenate([STAR[:50], CHAIN[60:70]])
    pairs, t = answered(index)
    model = net(lr=1e-9, max_epochs=1, validation_size=0, precision="float64")
    model.fit(pairs, t)
    together = ComponentLikelihoodLoss().double()
    scores = torch.tensor(model.decision_function(X))
    batches = PieceBatches(index, 32, _seed(), lambda: 0)
    expected = sum(
        together.joint(scores, torch.tensor(index[b]), torch.tensor(t[b])) * len(b)
        for b in batches
    ) / len(t)
    assert len(list(batches)) >= 2
    assert losses(model)[0] == pytest.approx(expected.item(), rel=1e-6)


def _seed():
    """The seed of the batches, as a fit without held-out pairs draws it."""
    return int(check_random_state(0).randint(2**31 - 1))


@pytest.mark.parametrize(
    "settings", [{}, {"n_classes": 3}, {"validation_size": 0}], ids=str
)
def test_the_same_seed_gives_the_same_network(settings):
    pairs, t = answered(GRAPH)
    one, two = (net(**settings).fit(pairs, t) for _ in range(2))
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))
    other = net(**settings, random_state=1).fit(pairs, t)
    assert losses(one) != losses(other)


class Breaks(Callback):
    """Ends a training in its third epoch, once."""

    raised = False

    def on_batch_end(self, net, training=False, **_):
        if training and not Breaks.raised and len(net.history) == 3:
            Breaks.raised = True
            raise RuntimeError("a power cut")


@pytest.mark.parametrize("settings", [{}, {"flip_rates": "auto"}], ids=str)
def test_an_interrupted_training_ends_where_it_would_have_ended(settings, tmp_path):
    pairs, t = answered(CHAIN, n_wrong=10)
    model = net(**settings, batch_size=20, callbacks=[Breaks()])
    Breaks.raised = True
    whole = clone(model).fit(pairs, t)
    Breaks.raised = False
    model.set_params(checkpoint=tmp_path)
    with pytest.raises(RuntimeError, match="a power cut"):
        clone(model).fit(pairs, t)
    resumed = clone(model).fit(pairs, t)
    assert losses(resumed) == losses(whole)
    assert resumed.flip_rates_ == whole.flip_rates_
    np.testing.assert_array_equal(
        resumed.decision_function(X), whole.decision_function(X)
    )


def test_answers_that_contradict_each_other_are_borne():
    index = np.concatenate([CHAIN, CHAIN[:40, ::-1]])
    pairs, t = answered(index)
    t[N:] *= -1
    model = net().fit(pairs, t, sample_weight=np.linspace(0, 2, len(t)))
    assert np.isfinite(losses(model)).all()


def test_rates_are_learned_from_answers_that_share_points():
    rng = np.random.default_rng(4)
    index = rng.integers(N, size=(400, 2))
    index = index[index[:, 0] != index[:, 1]]
    pairs, t = answered(index)
    t = np.where(rng.random(len(t)) < 0.2, -t, t)
    model = net(flip_rates="symmetric", lr=0.05, max_epochs=12, batch_size=64)
    model.fit(pairs, t)
    assert model.flip_rates_[1] == pytest.approx(0.2, abs=0.08)


def test_points_with_themselves_say_nothing():
    pairs, t = answered(CHAIN)
    more = Pairs(X, np.concatenate([CHAIN, np.repeat(np.arange(30), 2).reshape(-1, 2)]))
    plain = net(validation_size=0).fit(pairs, t)
    same = net(validation_size=0).fit(more, np.concatenate([t, np.ones(30, int)]))
    np.testing.assert_array_equal(plain.decision_function(X), same.decision_function(X))


def test_a_wrong_name_is_refused():
    with pytest.raises(ValueError, match="likelihood"):
        net(likelihood="all").fit(*answered(CHAIN))


def test_the_bar_and_mixed_precision_go_on(capsys):
    pairs, t = answered(CHAIN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = net(progress=True, precision="bfloat16", max_epochs=2).fit(pairs, t)
    assert np.isfinite(losses(model)).all()
    assert "epoch 2" in capsys.readouterr().err
