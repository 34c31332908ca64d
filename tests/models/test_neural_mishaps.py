"""Networks when something is amiss: folders, settings, fits that fail."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

torch = pytest.importorskip("torch")
pytest.importorskip("skorch")

from skorch.callbacks import Callback  # noqa: E402
from torch import nn  # noqa: E402

from pairlearn import Pairs  # noqa: E402
from pairlearn.models.neural import PairNet  # noqa: E402
from pairlearn.models.neural.loop import PairTraining  # noqa: E402
from pairlearn.models.neural.training import _on_device  # noqa: E402

# Trained for an epoch or two: too little to leave the flat start.
pytestmark = pytest.mark.filterwarnings("ignore:the network puts all points")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(3000, 2))
PAIRS, T = Pairs.sample(X, 1500, X[:, 0] > 0, random_state=0)


def net(module=None, **settings):
    small = {"hidden": (4,), "max_epochs": 2, "device": "cpu", "random_state": 0}
    return PairNet(module, **{**small, **settings})


def test_a_checkpoint_notices_any_point_that_changed(tmp_path):
    net(checkpoint=tmp_path).fit(PAIRS, T)
    for row in (1, 1502, 2999):
        changed = X.copy()
        changed[row] += 1
        with pytest.raises(ValueError, match="other pairs or other settings"):
            net(checkpoint=tmp_path).fit(Pairs(changed, PAIRS.index), T)


def test_a_checkpoint_of_another_network_is_told(tmp_path):
    net(lambda: nn.Linear(2, 1), checkpoint=tmp_path).fit(PAIRS, T)
    other = net(
        lambda: nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)), checkpoint=tmp_path
    )
    with pytest.raises(ValueError, match="checkpoint of another network"):
        other.fit(PAIRS, T)


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(OSError, match="is not a folder that can be written to"):
        net(checkpoint=file).fit(PAIRS, T)
    with pytest.raises(TypeError, match="path of a folder"):
        net(checkpoint="").fit(PAIRS, T)


@pytest.mark.parametrize("checkpoint", [False, True])
def test_lazy_layers_are_made_by_the_points(tmp_path, checkpoint):
    module = nn.Sequential(nn.LazyLinear(3), nn.ReLU(), nn.LazyLinear(1))
    clf = net(module, checkpoint=tmp_path if checkpoint else None).fit(PAIRS, T)
    assert clf.predict(X).shape == (3000,)


def test_holding_out_all_pairs_is_refused():
    with pytest.raises(ValueError, match="leaves none to learn from"):
        net(validation_size=0.9999).fit(PAIRS, T)


def test_a_fit_that_failed_leaves_no_fitted_model():
    clf = net(nn.Linear(5, 1))
    with pytest.raises(ValueError, match="cannot take points"):
        clf.fit(PAIRS, T)
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_points_keep_their_digits_on_the_device(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (2**40, 2**40))
    there = _on_device(X, torch.device("cpu"), torch.float64)
    assert there.dtype == torch.float64
    np.testing.assert_array_equal(there.numpy(), X)


def test_callbacks_see_gradients_without_the_scale_of_float16(monkeypatch):
    seen = []

    class Look(Callback):
        def on_grad_computed(self, net, named_parameters, **_):  # noqa: ARG002
            seen.append(max(float(p.grad.abs().max()) for _, p in named_parameters))

    make = PairTraining.__init__

    def scaled(self, *args, **kwargs):
        make(self, *args, **kwargs)
        self._scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12)

    monkeypatch.setattr(PairTraining, "__init__", scaled)
    # skorch copies the callbacks' class, not what it has seen.
    monkeypatch.setattr(Look, "__deepcopy__", lambda self, _: self, raising=False)
    net(callbacks=[Look()], max_epochs=1).fit(PAIRS, T)
    assert max(seen) < 10
