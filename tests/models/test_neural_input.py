"""What the networks refuse, how batches are gathered, and what works without torch."""

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch")
pytest.importorskip("skorch")

from pairlearn import Pairs  # noqa: E402
from pairlearn.models.neural import (  # noqa: E402
    ContrastiveLoss,
    PairLikelihoodLoss,
    PairNet,
    ProductLoss,
    SemiSupervisedPairLoss,
)
from pairlearn.models.neural.batches import PairBatches, gather  # noqa: E402
from tests.support.hidden import without  # noqa: E402

# Many nets here are trained for a few epochs only: too few to leave the flat start.
pytestmark = pytest.mark.filterwarnings("ignore:the network puts all points")


RNG = np.random.default_rng(0)
X = RNG.normal(size=(160, 3))
PAIRS, T = Pairs.sample(X, 80, X[:, 0] > 0, random_state=0)
SMALL = {"hidden": (4,), "max_epochs": 2, "device": "cpu", "random_state": 0}

CASES = [
    ({"module": 5}, TypeError, "module must be a torch.nn.Module"),
    ({"module": dict}, TypeError, "module must be a torch.nn.Module.*got dict"),
    ({"module": torch.nn.Linear}, TypeError, "module cannot be made.*without argum"),
    ({"module": torch.nn.Linear(4, 1)}, ValueError, "module cannot take.*3 features"),
    ({"module": torch.nn.Linear(3, 2)}, ValueError, r"module must return.*\(2, 2\)"),
    ({"module": torch.nn.Linear(3, 1), "n_classes": 3}, ValueError, r"shape \(n, 3\)"),
    (
        {"module": torch.nn.Linear(3, 1).requires_grad_(False)},
        ValueError,
        "module has no weights that can be learned",
    ),
    ({"module": torch.nn.AvgPool1d(3)}, ValueError, "module has no weights"),
    ({"hidden": 5}, ValueError, "hidden"),
    ({"hidden": None}, ValueError, "hidden"),
    ({"hidden": (0,)}, ValueError, "hidden"),
    ({"hidden": (2.5,)}, ValueError, "hidden"),
    ({"hidden": "ab"}, ValueError, "hidden"),
    ({"loss": "log"}, ValueError, "unknown loss 'log'.*'likelihood', 'product'"),
    ({"loss": None}, TypeError, "loss must be one of"),
    ({"loss": torch.nn.MSELoss()}, TypeError, "loss must be one of.*MSELoss"),
    ({"loss": ProductLoss}, TypeError, "loss must be one of"),
    ({"loss": ContrastiveLoss()}, ValueError, "loss.*use DeepMetricClassifier"),
    (
        {"loss": SemiSupervisedPairLoss((0.5, 0.5, 0.0), 0.6)},
        ValueError,
        "loss.*unlabelled points",
    ),
    ({"n_classes": 1}, ValueError, "n_classes"),
    ({"n_classes": 2.0}, ValueError, "n_classes"),
    ({"n_classes": 3, "loss": "product"}, ValueError, "n_classes=3 needs loss='like"),
    ({"flip_rates": 0.6}, ValueError, "flip_rates"),
    ({"flip_rates": "yes"}, ValueError, "unknown flip_rates"),
    ({"flip_rates": 0.1, "loss": "product"}, ValueError, "flip_rates go with loss='l"),
    ({"flip_rates": 0.1, "loss": PairLikelihoodLoss()}, ValueError, "give them to it"),
    ({"optimizer": "rmsprop"}, ValueError, "unknown optimizer.*'adam'.*'sgd'"),
    ({"optimizer": 5}, TypeError, "optimizer must be"),
    ({"optimizer": torch.nn.Linear}, TypeError, "optimizer must be"),
    (
        {"optimizer": torch.optim.SGD([torch.zeros(1)])},
        TypeError,
        "optimizer must be.*got an optimizer that is already made$",
    ),
    ({"lr": 0}, ValueError, "lr must be a number above 0"),
    ({"lr": np.inf}, ValueError, "lr must be"),
    ({"lr": np.nan}, ValueError, "lr must be"),
    ({"lr": "0.1"}, ValueError, "lr must be"),
    ({"weight_decay": -1e-9}, ValueError, "weight_decay must be"),
    ({"weight_decay": None}, ValueError, "weight_decay must be"),
    ({"batch_size": 0}, ValueError, "batch_size"),
    ({"batch_size": 2.5}, ValueError, "batch_size"),
    ({"max_epochs": 0}, ValueError, "max_epochs"),
    ({"max_epochs": None}, ValueError, "max_epochs"),
    ({"patience": 0}, ValueError, "patience"),
    ({"patience": 1.5}, ValueError, "patience"),
    ({"validation_size": 1.0}, ValueError, "validation_size"),
    ({"validation_size": -0.1}, ValueError, "validation_size"),
    ({"validation_size": "tenth"}, ValueError, "validation_size"),
    ({"precision": "half"}, ValueError, "unknown precision 'half'.*'bfloat16'"),
    ({"precision": torch.float16}, ValueError, "unknown precision"),
    ({"device": "gpu"}, ValueError, "unknown device 'gpu'"),
    ({"device": None}, ValueError, "unknown device None; use 'auto'"),
    ({"device": "meta"}, ValueError, "device='meta' cannot be used on"),
    ({"device": "cuda:99"}, ValueError, "device='cuda:99'"),
    ({"checkpoint": __file__}, OSError, "checkpoint=.*is not a folder that can be"),
    ({"distributed": True, "random_state": None}, ValueError, "distributed needs a ra"),
    ({"checkpoint": 5}, TypeError, "checkpoint must be the path"),
    (
        {"checkpoint": "x", "random_state": None},
        ValueError,
        "checkpoint needs a random",
    ),
    ({"callbacks": 5}, TypeError, "callbacks must be"),
    ({"callbacks": [5]}, TypeError, "callbacks must be"),
    ({"majority": 0}, ValueError, "majority"),
    ({"majority": 1, "n_classes": 3}, ValueError, "majority.*assign_from_points"),
    ({"majority": 1, "assignment_size": 0}, ValueError, "assignment_size"),
    ({"majority": 1, "assignment_size": "x"}, ValueError, "assignment_size"),
    ({"certificate_size": 0}, ValueError, "certificate_size"),
    ({"certificate_size": 80}, ValueError, "certificate_size"),
    ({"certificate_size": 0.2, "n_classes": 3}, ValueError, "certificate_size is for"),
    ({"classes": (1, 1)}, ValueError, "classes must name 2"),
    ({"classes": (1, 2), "n_classes": 3}, ValueError, "classes must name 3"),
    ({"random_state": "a"}, ValueError, "RandomState"),
]


@pytest.mark.parametrize(
    ("parameters", "kind", "message"),
    CASES,
    ids=[f"{number}-{'-'.join(case[0])}" for number, case in enumerate(CASES)],
)
def test_parameters(parameters, kind, message, monkeypatch):
    def never(*_):
        raise AssertionError("training had begun")

    monkeypatch.setattr("pairlearn.models.neural.training._run", never)
    net = PairNet(**{**SMALL, **parameters})
    with pytest.raises(kind, match=message):
        net.fit(PAIRS, T)
    assert not hasattr(net, "module_")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there():
    with pytest.raises(ValueError, match="device='cuda' needs a GPU"):
        PairNet(**{**SMALL, "device": "cuda"}).fit(PAIRS, T)


def test_a_folder_that_cannot_be_written_to(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pairlearn.models.neural.training.TemporaryFile", refuse)
    with pytest.raises(PermissionError, match=r"checkpoint=.*\(Permission denied\)"):
        PairNet(**SMALL, checkpoint=tmp_path).fit(PAIRS, T)


def test_a_lazy_module_learns_its_width_from_the_points():
    net = PairNet(torch.nn.LazyLinear(1), **{**SMALL, "hidden": ()}).fit(PAIRS, T)
    assert net.module_.in_features == 3


@pytest.mark.parametrize(
    "settings",
    [
        {"optimizer": "sgd", "lr": 1e9},
        # The step that goes wrong is the last, and only the weights show it.
        {"optimizer": "sgd", "lr": 1e38, "max_epochs": 1, "batch_size": 500},
        {"optimizer": "sgd", "lr": 1e38, "max_epochs": 1, "validation_size": 0},
    ],
    ids=["losses", "held-out", "weights"],
)
def test_divergence_says_what_to_do(settings):
    net = PairNet(
        torch.nn.Linear(3, 1),
        loss=ProductLoss("squared"),
        **{**SMALL, "batch_size": 16, **settings},
    )
    message = "no longer a number in epoch.*lower lr.*scale the features"
    with pytest.raises(FloatingPointError, match=message):
        net.fit(Pairs(X * 100, PAIRS.index), T)
    assert not hasattr(net, "module_")


def test_features_too_large_for_the_module():
    net = PairNet(torch.nn.Linear(3, 1), loss="product", **SMALL)
    with pytest.raises(FloatingPointError, match="scale the features"):
        net.fit(Pairs(X * 1e30, PAIRS.index), T)


# --- Batches ----------------------------------------------------------------------

SPARSE = sparse.random(160, 3, density=0.4, format="csr", random_state=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("kind", ["array", "float32", "frozen", "sparse", "tensor"])
def test_a_batch_is_the_points_of_its_pairs(kind, dtype):
    frozen = X.copy()
    frozen.flags.writeable = False
    points = {
        "array": X,
        "float32": X.astype(np.float32),
        "frozen": frozen,
        "sparse": SPARSE,
        "tensor": torch.tensor(X),
    }[kind]
    dense = points.toarray() if kind == "sparse" else np.asarray(points)
    weight = RNG.random(80)
    batches = PairBatches(points, PAIRS.index, T, weight, dtype)
    assert len(batches) == 80
    for numbers in ([5, 0, 79, 5], [3]):
        found, (t, w) = batches.__getitems__(numbers)
        expected = torch.tensor(dense[PAIRS.index[numbers]]).to(dtype)
        assert found.dtype == t.dtype == w.dtype == dtype
        assert torch.equal(found, expected)
        assert torch.equal(t, torch.tensor(T[numbers], dtype=dtype))
        assert torch.equal(w, torch.tensor(weight[numbers], dtype=dtype))
    one, _ = batches[7]
    assert torch.equal(one, torch.tensor(dense[PAIRS.index[[7]]]).to(dtype))
    some = gather(points, slice(2, 9), dtype)
    assert torch.equal(some, torch.tensor(dense[2:9]).to(dtype))
    # What came out may be written to without harm to the points.
    if kind == "frozen":
        some += 1
        assert torch.equal(gather(points, slice(2, 9), dtype) + 1, some)


class Counted(np.ndarray):
    """An array that writes down how many rows are taken at once."""

    taken: list[int] = []  # noqa: RUF012

    def __getitem__(self, rows):
        part = np.asarray(self)[rows]
        self.taken.append(len(part))
        return part


def test_no_more_than_a_batch_is_ever_there(monkeypatch):
    index = RNG.integers(160, size=(1000, 2))
    points = X.view(Counted)
    monkeypatch.setattr(Counted, "taken", [])
    batches = PairBatches(points, index, np.ones(1000), np.ones(1000))
    assert Counted.taken == []
    loader = torch.utils.data.DataLoader(
        batches, batch_size=64, collate_fn=lambda batch: batch
    )
    sizes = [len(points) for points, _ in loader]
    assert sum(sizes) == 1000
    assert Counted.taken == [2 * size for size in sizes]
    assert max(Counted.taken) == 128


# --- Without torch ----------------------------------------------------------------


@pytest.mark.parametrize("package", ["torch", "skorch"])
def test_the_import_names_what_is_missing(package):
    result = without(package, "import pairlearn.models.neural")
    assert result.returncode == 1
    assert f"ImportError: pairlearn.models.neural needs {package}" in result.stderr
    assert "pip install 'pairlearn[neural]'" in result.stderr


def test_everything_else_works_without_torch():
    code = """
import numpy as np, pairlearn, pairlearn.reproduce
X = np.random.default_rng(0).normal(size=(80, 2))
pairs, t = pairlearn.Pairs.sample(X, 40, X[:, 0] > 0, random_state=0)
clf = pairlearn.CIPSClassifier(random_state=0).fit(pairs, t)
print(pairlearn.clustering_error(X[:, 0] > 0, clf.predict(X)) < 0.1)
assert "torch" not in sys.modules
"""
    result = without("torch,skorch", code)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "True"
