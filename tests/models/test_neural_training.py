"""How networks are trained: stopping, checkpoints, interruptions, seeds."""

import os
import pickle
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import check_random_state

torch = pytest.importorskip("torch")
pytest.importorskip("skorch")

from skorch.callbacks import Callback, LRScheduler  # noqa: E402

from pairlearn import Pairs, clustering_error  # noqa: E402
from pairlearn.models.neural import MLP, PairNet, ProductLoss, SDLoss  # noqa: E402
from pairlearn.models.neural.checkpoint import read_checkpoint  # noqa: E402
from pairlearn.models.neural.training import _hold_out  # noqa: E402

# Many nets here are trained for a few epochs only: too few to leave the flat start.
pytestmark = pytest.mark.filterwarnings("ignore:the network puts all points")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2))
Y = np.where((X**2).sum(axis=1) > 1.0, 1, -1)
PAIRS, T = Pairs.sample(X, 200, Y, random_state=0)
# Wrong answers make a network that learns them by heart worse on those held out.
NOISY = np.where(RNG.random(200) < 0.2, -T, T)
SMALL = {"hidden": (8,), "lr": 0.02, "batch_size": 32, "max_epochs": 6}
SMALL |= {"device": "cpu", "random_state": 0}
HELD_OUT = _hold_out(np.arange(200), 0.3, check_random_state(0))[1]


def net(**settings):
    return PairNet(**{**SMALL, **settings})


def scores(model):
    return model.decision_function(X)


def losses(model, name="train_loss"):
    return [epoch[name] for epoch in model.history_]


class Breaks(Callback):
    """Ends a training in an epoch, once: `raised` is for all copies."""

    raised = False
    error = RuntimeError

    def __init__(self, epoch, *, within=False):
        self.epoch = epoch
        self.within = within

    def _maybe(self, net):
        # The net of a training that goes on counts its own epochs from one.
        if not Breaks.raised and len(net.history) == self.epoch:
            Breaks.raised = True
            raise self.error("a power cut")

    def on_epoch_begin(self, net, **_):
        if not self.within:
            self._maybe(net)

    def on_batch_end(self, net, **_):
        if self.within and len(net.history[-1]["batches"]) == 3:
            self._maybe(net)


class Interrupts(Breaks):
    error = KeyboardInterrupt


@pytest.fixture(autouse=True)
def _unbroken(monkeypatch):
    monkeypatch.setattr(Breaks, "raised", False)


# --- When training stops ----------------------------------------------------------


def held_out_loss(model, t):
    pairs, t = PAIRS[HELD_OUT], t[HELD_OUT]
    p = model.predict_proba(pairs.X)[:, 1]
    left, right = p[pairs.left], p[pairs.right]
    same = left * right + (1 - left) * (1 - right)
    return -np.log(np.where(t > 0, same, 1 - same)).mean()


@pytest.mark.parametrize("patience", [3, None])
def test_the_best_weights_on_held_out_pairs_are_kept(patience):
    model = net(
        hidden=(64,), lr=0.05, max_epochs=25, patience=patience, validation_size=0.3,
        precision="float64",
    ).fit(PAIRS, NOISY)  # fmt: skip
    held_out = losses(model, "valid_loss")
    assert model.best_epoch_ == np.argmin(held_out) + 1 < model.n_iter_
    assert model.valid_loss_ == min(held_out)
    assert held_out_loss(model, NOISY) == pytest.approx(model.valid_loss_, rel=1e-9)
    assert model.n_iter_ == len(held_out)
    if patience is None:
        assert model.n_iter_ == 25
        # The training itself went on getting better.
        assert losses(model)[-1] < losses(model)[model.best_epoch_ - 1]
    else:
        assert model.n_iter_ == model.best_epoch_ + 3 < 25
    assert [epoch["epoch"] for epoch in model.history_] == [
        *range(1, model.n_iter_ + 1)
    ]


def test_held_out_pairs_do_not_touch_the_weights():
    settings = {"patience": None, "validation_size": 0.3}
    lies = T.copy()
    lies[HELD_OUT] *= -1
    honest, lied = (net(**settings).fit(PAIRS, t) for t in (T, lies))
    assert losses(honest) == losses(lied)
    assert losses(honest, "valid_loss") != losses(lied, "valid_loss")
    lies = T.copy()
    lies[np.setdiff1d(np.arange(200), HELD_OUT)[0]] *= -1
    assert losses(net(**settings).fit(PAIRS, lies)) != losses(honest)


@pytest.mark.parametrize(
    ("n_pairs", "size"), [(200, 0), (90, 0.1)], ids=["none", "too few"]
)
def test_without_held_out_pairs_the_last_weights_are_kept(n_pairs, size):
    settings = {"validation_size": size, "patience": 1, "lr": 0.3, "max_epochs": 8}
    model = net(**settings).fit(PAIRS[:n_pairs], NOISY[:n_pairs])
    assert model.n_iter_ == model.best_epoch_ == 8
    assert model.valid_loss_ is None
    assert losses(model, "valid_loss") == [None] * 8
    kept = net(**settings, callbacks=[Last()]).fit(PAIRS[:n_pairs], NOISY[:n_pairs])
    np.testing.assert_array_equal(scores(kept), scores(model))
    last = Last.weights
    for name, value in kept.module_.state_dict().items():
        assert torch.equal(value, last[name])


class Last(Callback):
    """Writes down the weights at the end of each epoch."""

    weights: dict = {}  # noqa: RUF012

    def on_epoch_end(self, net, **_):
        state = net.module_.state_dict()
        Last.weights = {name: value.clone() for name, value in state.items()}


# --- Checkpoints ------------------------------------------------------------------

DROPOUT = torch.nn.Sequential(MLP(2, (16,), dropout=0.3))
SCHEDULE = [LRScheduler("StepLR", step_size=2, gamma=0.3)]
PLATEAU = [LRScheduler("ReduceLROnPlateau", patience=0, factor=0.5)]
CYCLE = [LRScheduler("CyclicLR", base_lr=1e-3, max_lr=0.1, step_every="batch")]


@pytest.mark.parametrize("within", [False, True], ids=["between", "within"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"module": DROPOUT},
        {"callbacks": SCHEDULE, "optimizer": "sgd"},
        {"callbacks": PLATEAU},
        {"callbacks": CYCLE, "optimizer": "sgd"},
        {"flip_rates": "auto", "max_epochs": 8},
        {"patience": 2, "hidden": (64,), "lr": 0.1, "max_epochs": 30},
        {"majority": 1, "certificate_size": 0.2, "assignment_size": 0.3},
    ],
    ids=["plain", "dropout", "epochs", "plateau", "batches", "flips", "stops", "kept"],
)
def test_an_interrupted_training_ends_where_it_would_have_ended(
    settings, within, tmp_path
):
    callbacks = [*settings.pop("callbacks", []), Breaks(4, within=within)]
    model = net(**settings, callbacks=callbacks)
    # Class assignment may be unsure of so short a training.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        Breaks.raised = True
        whole = clone(model).fit(PAIRS, NOISY)
        Breaks.raised = False
        model.set_params(checkpoint=tmp_path / "a" / "b")
        with pytest.raises(RuntimeError, match="a power cut"):
            clone(model).fit(PAIRS, NOISY)
        resumed = clone(model).fit(PAIRS, NOISY)
    assert whole.n_iter_ > 3
    assert losses(resumed) == losses(whole)
    assert losses(resumed, "valid_loss") == losses(whole, "valid_loss")
    assert resumed.best_epoch_ == whole.best_epoch_
    assert resumed.flip_rates_ == whole.flip_rates_
    np.testing.assert_array_equal(scores(resumed), scores(whole))


def test_more_epochs_go_on_from_the_end(tmp_path):
    settings = {"checkpoint": tmp_path, "patience": None}
    first = net(**settings, max_epochs=4).fit(PAIRS, T)
    more = net(**settings, max_epochs=9).fit(PAIRS, T)
    whole = net(patience=None, max_epochs=9).fit(PAIRS, T)
    assert more.n_iter_ == 9
    # The first four epochs were not run again: their times are the old ones.
    assert losses(more, "seconds")[:4] == losses(first, "seconds")
    np.testing.assert_array_equal(scores(more), scores(whole))


@pytest.mark.filterwarnings("ignore:the .* pairs for class assignment do not show")
def test_a_training_goes_on_with_the_points_in_another_place(tmp_path):
    """Row numbers are small within a fit, but not for a tensor: they are the same."""
    # So many pairs that those for training hold every point: none is copied away.
    here = Pairs(X[:20], np.random.default_rng(0).integers(20, size=(300, 2)))
    there, t = Pairs(torch.from_numpy(X[:20]), here.index), here.answers(Y[:20])
    settings = {"checkpoint": tmp_path, "patience": None, "majority": 1}
    first = net(**settings, max_epochs=2).fit(here, t)
    more = net(**settings, max_epochs=3).fit(there, t)
    assert losses(more, "seconds")[:2] == losses(first, "seconds")


def test_more_patience_goes_on_from_the_end(tmp_path):
    settings = {"hidden": (64,), "lr": 0.1, "max_epochs": 30}
    first = net(**settings, patience=1, checkpoint=tmp_path).fit(PAIRS, NOISY)
    more = net(**settings, patience=4, checkpoint=tmp_path).fit(PAIRS, NOISY)
    whole = net(**settings, patience=4).fit(PAIRS, NOISY)
    assert first.n_iter_ < more.n_iter_ == whole.n_iter_
    np.testing.assert_array_equal(scores(more), scores(whole))


def test_a_finished_training_is_not_run_again(tmp_path):
    model = net(checkpoint=tmp_path, callbacks=[Breaks(1)])
    Breaks.raised = True
    first = clone(model).fit(PAIRS, T)
    Breaks.raised = False
    again = clone(model).fit(PAIRS, T)
    assert again.history_ == first.history_
    np.testing.assert_array_equal(scores(again), scores(first))
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.pt"]


OTHERS = {
    "pairs": ({}, PAIRS[::-1], T[::-1]),
    "points": ({}, Pairs(X + 1, PAIRS.index), T),
    "answers": ({}, PAIRS, NOISY),
    "lr": ({"lr": 0.021}, PAIRS, T),
    "seed": ({"random_state": 1}, PAIRS, T),
    "hidden": ({"hidden": (9,)}, PAIRS, T),
    "loss": ({"loss": "product"}, PAIRS, T),
    "precision": ({"precision": "float64"}, PAIRS, T),
    "module": ({"module": MLP(2, (8,))}, PAIRS, T),
    "callbacks": ({"callbacks": SCHEDULE}, PAIRS, T),
}


@pytest.mark.parametrize("case", OTHERS)
def test_the_checkpoint_of_another_training_is_refused(case, tmp_path):
    settings, pairs, t = OTHERS[case]
    net(checkpoint=tmp_path, max_epochs=1).fit(PAIRS, T)
    file = tmp_path / "checkpoint.pt"
    before = file.read_bytes()
    with pytest.raises(ValueError, match=r"other pairs or other settings; delete it"):
        net(checkpoint=tmp_path, **settings).fit(pairs, t)
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"loss": ProductLoss("hinge")}, {"loss": ProductLoss("logistic")}),
        ({"loss": SDLoss(0.7)}, {"loss": SDLoss(0.8)}),
        ({"module": torch.nn.Linear(2, 1)}, {"module": torch.nn.Linear(2, 1)}),
        (
            {"callbacks": SCHEDULE},
            {"callbacks": [LRScheduler("StepLR", step_size=3, gamma=0.3)]},
        ),
    ],
    ids=["margin loss", "prior", "first weights", "schedule"],
)
def test_what_looks_alike_is_told_apart(one, other, tmp_path):
    net(checkpoint=tmp_path, max_epochs=2, **one).fit(PAIRS, T)
    net(checkpoint=tmp_path, max_epochs=3, **one).fit(PAIRS, T)
    with pytest.raises(ValueError, match="other settings"):
        net(checkpoint=tmp_path, max_epochs=3, **other).fit(PAIRS, T)


def test_a_random_state_is_told_by_what_it_gives(tmp_path):
    def state(seed):
        return np.random.RandomState(seed)

    settings = {"checkpoint": tmp_path, "patience": None}
    net(**settings, random_state=state(3), max_epochs=2).fit(PAIRS, T)
    more = net(**settings, random_state=state(3)).fit(PAIRS, T)
    whole = net(patience=None, random_state=3).fit(PAIRS, T)
    np.testing.assert_array_equal(scores(more), scores(whole))
    with pytest.raises(ValueError, match="other settings"):
        net(**settings, random_state=state(4)).fit(PAIRS, T)


KILLED = """
import os, signal, sys
import numpy as np
from skorch.callbacks import Callback
from pairlearn import Pairs
from pairlearn.models.neural import MLP, PairNet

class Dies(Callback):
    def on_batch_end(self, net, **_):
        if len(net.history) == 4:
            os.kill(os.getpid(), signal.SIGKILL)

def make():
    return MLP(2, (8,), dropout=0.2)

with np.load(f"{sys.argv[1]}/data.npz") as data:
    pairs, t = Pairs(data["X"], data["index"]), data["t"]
PairNet(make, hidden=(8,), lr=0.02, batch_size=32, max_epochs=6, device="cpu",
        random_state=0, callbacks=[Dies()], checkpoint=sys.argv[1]).fit(pairs, t)
"""


class Dies(Callback):
    """Of the same name as the one that does."""


def make():
    return MLP(2, (8,), dropout=0.2)


@pytest.mark.skipif(os.name != "posix", reason="no SIGKILL there")
def test_a_killed_process_goes_on_in_another(tmp_path):
    np.savez(tmp_path / "data.npz", X=X, index=PAIRS.index, t=T)
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    killed = subprocess.run(command, capture_output=True, check=False, timeout=600)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    saved = read_checkpoint(tmp_path / "checkpoint.pt")
    assert len(saved["history"]) == 3
    # The function and the callback lie elsewhere in this process.
    settings = {"module": make, "callbacks": [Dies()]}
    resumed = net(**settings, checkpoint=tmp_path).fit(PAIRS, T)
    assert losses(resumed, "seconds")[:3] == [e["seconds"] for e in saved["history"]]
    whole = net(**settings).fit(PAIRS, T)
    np.testing.assert_allclose(scores(resumed), scores(whole), rtol=1e-6)


# --- Ctrl-C -----------------------------------------------------------------------


@pytest.mark.parametrize("within", [False, True], ids=["between", "within"])
def test_ctrl_c_keeps_the_best_weights(within):
    model = net(callbacks=[Interrupts(3, within=within)])
    with pytest.warns(ConvergenceWarning, match="interrupted in epoch 3; the best"):
        model.fit(PAIRS, T)
    assert model.n_iter_ == 2
    np.testing.assert_array_equal(
        scores(model), scores(net(max_epochs=2).fit(PAIRS, T))
    )


def test_ctrl_c_before_there_is_anything_to_keep():
    model = net(callbacks=[Interrupts(1, within=True)])
    with pytest.raises(KeyboardInterrupt):
        model.fit(PAIRS, T)
    assert not hasattr(model, "module_")


# --- Seeds and copies -------------------------------------------------------------


def test_the_seed_settles_everything_and_nothing_else_is_touched():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    with_numpy = np.random.get_state()[1].copy()  # noqa: NPY002
    threads = torch.get_num_threads()
    dropout = {"module": lambda: MLP(2, (8,), dropout=0.3)}
    model = net(**dropout)
    first = scores(model.fit(PAIRS, T))
    assert torch.equal(torch.get_rng_state(), before)
    np.testing.assert_array_equal(np.random.get_state()[1], with_numpy)  # noqa: NPY002
    assert torch.get_num_threads() == threads
    torch.manual_seed(6)
    np.testing.assert_array_equal(scores(clone(model).fit(PAIRS, T)), first)
    # A second fit of the same object is a first one.
    np.testing.assert_array_equal(scores(model.fit(PAIRS, T)), first)
    assert model.n_iter_ == len(model.history_) == 6
    other = net(**dropout, random_state=1).fit(PAIRS, T)
    assert np.abs(scores(other) - first).max() > 1e-3


def test_the_generator_is_put_back_after_an_error():
    before = torch.get_rng_state()
    with pytest.raises(RuntimeError, match="power cut"):
        net(callbacks=[Breaks(2)]).fit(PAIRS, T)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("settings", [{}, {"loss": ProductLoss("hinge")}], ids=str)
def test_pickles_predict_the_same(settings):
    model = net(**settings).fit(PAIRS, T)
    # Whichever sign the net has come to, it is turned round.
    model.assign_from_points(X, -model.predict(X))
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.decision_function(X), scores(model))
    assert again.history_ == model.history_
    np.testing.assert_array_equal(scores(again.fit(PAIRS, T)), -scores(model))


def test_model_selection_needs_no_labels():
    model = net(max_epochs=20)
    search = GridSearchCV(model, {"lr": [1e-7, 0.05]}, cv=2).fit(PAIRS, T)
    assert search.best_params_ == {"lr": 0.05}
    cells = search.cv_results_["mean_test_score"]
    assert cells[1] > cells[0] + 0.1
    by_hand = cross_val_score(model.set_params(lr=0.05), PAIRS, T, cv=2)
    assert by_hand.mean() == pytest.approx(cells[1])


# --- Precision --------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["bfloat16", "float64"])
def test_other_precisions_learn_as_well(precision):
    settings = {"max_epochs": 30, "hidden": (16,), "lr": 0.03}
    model = net(**settings, precision=precision).fit(PAIRS, T)
    plain = net(**settings).fit(PAIRS, T)
    for one in (model, plain):
        assert clustering_error(Y, one.predict(X)) < 0.06
    kind = torch.float64 if precision == "float64" else torch.float32
    assert {p.dtype for p in model.module_.parameters()} == {kind}
    # The first step begins from the same weights, and is rounded otherwise.
    gap = abs(losses(model)[0] - losses(plain)[0])
    assert 0 < gap < 0.02


class Seen(torch.nn.Module):
    """Writes down the types it computes in."""

    types: set = set()  # noqa: RUF012

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def forward(self, x):
        scores = self.layer(x)
        if self.training:
            Seen.types.add(scores.dtype)
        return scores


@pytest.mark.parametrize("precision", [None, "bfloat16", "float64"], ids=str)
def test_the_precision_is_that_of_the_layers(precision, monkeypatch):
    monkeypatch.setattr(Seen, "types", set())
    net(module=Seen, precision=precision, max_epochs=1).fit(PAIRS, T)
    assert Seen.types == {getattr(torch, precision or "float32")}


def test_a_network_that_learned_nothing_warns():
    class Flat(torch.nn.Linear):
        def forward(self, x):
            return torch.sigmoid(super().forward(x))

    net = PairNet(Flat(2, 1), device="cpu", max_epochs=3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="puts all points into one class"):
        net.fit(PAIRS, T)
    assert len(np.unique(net.predict(X))) == 1
