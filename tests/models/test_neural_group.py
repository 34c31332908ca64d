"""Networks that several processes train: what they learn, and how they part."""

import json
import os
import signal
import socket
import subprocess
import sys
from copy import deepcopy

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("skorch")

from pairlearn import Pairs  # noqa: E402
from pairlearn.models.neural import PairNet  # noqa: E402

# Some are trained for a few epochs only: too few to leave the flat start.
pytestmark = pytest.mark.filterwarnings("ignore:the network puts all points")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(400, 2))
Y = np.where((X**2).sum(axis=1) > 1.0, 1, -1)
PAIRS, T = Pairs.sample(X, 200, Y, random_state=0)
NOISY = np.where(RNG.random(200) < 0.2, -T, T)
# A limit for what hangs; a loaded machine may take a minute for what takes seconds.
LONG = 900

CASES = {
    # Processes find each other also where a GPU was looked for in vain.
    "uneven": {"max_epochs": 2, "batch_size": 21,
               "device": "cpu" if torch.cuda.is_available() else "auto"},
    "plain": {"max_epochs": 4, "batch_size": 20},
    "stops": {"max_epochs": 30, "batch_size": 20, "patience": 2, "hidden": [64],
              "lr": 0.1},
    "flips": {"max_epochs": 3, "batch_size": 20, "flip_rates": "auto"},
}  # fmt: skip
# 140 pairs to learn from and 60 held out: whole batches for both processes.
SHARED = {"hidden": [8], "lr": 0.02, "validation_size": 0.3, "precision": "float64"}
SHARED |= {"device": "cpu", "random_state": 0}

BEGIN = """
import gc, json, os, sys, warnings
from pathlib import Path
import numpy as np
import torch._dynamo  # which the first optimiser does else
import torch.distributed as dist
from accelerate import Accelerator
from accelerate.state import AcceleratorState, GradientState, PartialState
from skorch.callbacks import Callback
from pairlearn import Pairs
from pairlearn.models.neural import DeepMetricClassifier, PairNet

warnings.filterwarnings("ignore", "the network puts all points")
# A fit collects garbage; to look through all that was imported takes longer than it.
gc.freeze()
if "RANK" not in os.environ:
    # Started by hand: to import all this twice would take longer than to train.
    second = os.fork()
    os.environ |= dict.fromkeys(["RANK", "LOCAL_RANK"], "0" if second else "1")
folder, rank = Path(sys.argv[1]), os.environ["RANK"]
with np.load(folder / "data.npz") as data:
    X, pairs, t = data["X"], Pairs(data["X"], data["index"]), data["t"]
cases = json.loads((folder / "cases.json").read_text())
said = {}

def threads():
    # The names of those that a process group has; that of the store stays.
    tasks = Path("/proc/self/task")
    names = [(one / "comm").read_text().strip() for one in tasks.glob("*")]
    return [name for name in names if name.startswith(("gloo", "pt_gloo", "pt_nccl"))]

def left():
    states = AcceleratorState, GradientState, PartialState
    known = [state.__name__ for state in states if state._shared_state]
    return {"threads": threads(), "states": known, "group": dist.is_initialized()}
"""

END = """
(folder / f"{rank}.json").write_text(json.dumps(said))
if globals().get("second"):
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(second, 0)[1]))
"""

LEARN = """
for name, settings in cases.items():
    try:
        net = PairNet(**settings, distributed=True).fit(pairs, t)
    except ValueError as error:
        said[name] = {"error": str(error), "left": left()}
        continue
    said[name] = {
        "scores": net.decision_function(X).tolist(),
        "losses": [[e["train_loss"], e["valid_loss"]] for e in net.history_],
        "best": net.best_epoch_,
        "rates": net.flip_rates_,
        "left": left(),
    }
"""

MISHAPS = """
class Breaks(Callback):
    def __init__(self, rank="", error=None):
        self.rank, self.error = rank, error

    def on_batch_end(self, net, **_):
        if rank == self.rank and len(net.history) == 2:
            raise self.error("a power cut")

def fit(kind, broken, **changes):
    settings = {**cases["plain"], "distributed": True, **changes}
    return kind(**settings, callbacks=[Breaks(*broken)]).fit(pairs, t)

kept = []
for name, broken, kind in [
    ("error in 1", ("1", RuntimeError), PairNet),
    ("Ctrl-C in 0", ("0", KeyboardInterrupt), PairNet),
    ("error in 0", ("0", OSError), DeepMetricClassifier),
]:
    try:
        fit(kind, broken)
    except BaseException as error:
        # Who keeps the error keeps what its traceback holds.
        kept.append(error)
        said[name] = {
            "type": type(error).__name__,
            "notes": getattr(error, "__notes__", []),
            "left": left(),
        }
# Another precision than before: nothing is known of the fits that failed.
for kind in (DeepMetricClassifier, PairNet):
    net = fit(kind, (), precision="bfloat16", batch_size=10)
    said[kind.__name__] = {"says": net.predict(X).tolist(), "left": left()}

# At a place of its own: torch's next group would meet at the addresses of this one.
place = dist.FileStore(str(folder / "place"), 2)
dist.init_process_group("gloo", store=place, rank=int(rank), world_size=2)
fit(PairNet, ())
try:
    fit(PairNet, (rank, OSError))
except OSError:
    pass
total = [None, None]
dist.all_gather_object(total, int(rank) + 1)
said["their group"] = {"total": sum(total), "left": left()}
dist.destroy_process_group()

accelerator = Accelerator(cpu=True)
fit(PairNet, ())
accelerator.wait_for_everyone()
said["their accelerator"] = {
    "n": accelerator.num_processes,
    "rank": accelerator.process_index,
    "left": left(),
}
accelerator.end_training()
"""


def run(folder, script, start):
    """Return what each of two processes says."""
    cases = {name: {**SHARED, **settings} for name, settings in CASES.items()}
    (folder / "cases.json").write_text(json.dumps(cases))
    (folder / "train.py").write_text(BEGIN + script + END)
    np.savez(folder / "data.npz", X=X, index=PAIRS.index, t=NOISY)
    start(str(folder / "train.py"), str(folder))
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]


def by_torchrun(*arguments):
    # It takes a free port by itself.
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    finish(launch([*command, "--nproc_per_node=2", *arguments]))


def by_hand(*arguments):
    """Start two processes without a launcher; the first holds the place to meet."""
    with socket.socket() as free:
        # Ours until the end, so that nobody else is given it; who is told may listen.
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
        where = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2"}
        finish(launch([sys.executable, *arguments], **where))


def launch(command, **variables):
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", **variables},
        start_new_session=True,
    )


def finish(process):
    """Wait for it, and show what it printed if it fails or hangs."""
    try:
        output, _ = process.communicate(timeout=LONG)
    except subprocess.TimeoutExpired:
        pytest.fail("the processes hang")
    finally:
        if process.poll() is None:
            # Also those that it has started.
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode == 0, f"{process.returncode}\n{output}"
    # Not even a warning of torch that a group was left behind.
    assert "destroy_process_group() was not called" not in output


GONE = {"threads": [], "states": [], "group": False}
needs_groups = pytest.mark.skipif(os.name != "posix", reason="no process groups there")


@pytest.fixture(scope="module")
def with_torchrun(tmp_path_factory):
    """What two processes of torchrun learn, then what they say of mishaps."""
    pytest.importorskip("accelerate")
    return run(tmp_path_factory.mktemp("torchrun"), LEARN + MISHAPS, by_torchrun)


@pytest.fixture(scope="module")
def with_hands(tmp_path_factory):
    pytest.importorskip("accelerate")
    return run(tmp_path_factory.mktemp("hands"), LEARN, by_hand)


@needs_groups
@pytest.mark.parametrize("both", ["with_hands", "with_torchrun"])
def test_two_processes_end_as_one(both, request):
    both = request.getfixturevalue(both)
    first, second = ({name: said[name] for name in CASES} for said in both)
    assert first == second
    uneven = first.pop("uneven")
    assert uneven["error"].startswith("batch_size=21 cannot be shared evenly by 2 pr")
    assert uneven["left"] == GONE
    for case, said in first.items():
        alone = PairNet(**{**SHARED, **CASES[case]}).fit(PAIRS, NOISY)
        expected = [[e["train_loss"], e["valid_loss"]] for e in alone.history_]
        # The losses are agreed on in 32 bits.
        np.testing.assert_allclose(said["losses"], expected, rtol=1e-5)
        np.testing.assert_allclose(
            said["scores"], alone.decision_function(X), rtol=1e-4, atol=1e-6
        )
        np.testing.assert_allclose(said["rates"], alone.flip_rates_, rtol=1e-5)
        assert said["best"] == alone.best_epoch_
        assert said["left"] == GONE
    assert len(first["stops"]["losses"]) == first["stops"]["best"] + 2 < 30


@needs_groups
def test_processes_part_whatever_happens(with_torchrun):
    both = deepcopy(with_torchrun)
    for name, broken, error in [
        ("error in 1", 1, "RuntimeError"),
        ("Ctrl-C in 0", 0, "KeyboardInterrupt"),
        ("error in 0", 0, "OSError"),
    ]:
        failed, other = both[broken].pop(name), both[1 - broken].pop(name)
        assert failed == {"type": error, "notes": [], "left": GONE}
        # Who waited for it is told at once, and by whom.
        why = f"process {broken} had failed: {error}: a power cut"
        assert other == {"type": "RuntimeError", "notes": [why], "left": GONE}
    ranks = [said["their accelerator"].pop("rank") for said in both]
    assert ranks == [0, 1]
    first, second = both
    assert first == second
    for name in ("DeepMetricClassifier", "PairNet"):
        assert len(first[name]["says"]) == len(X)
        assert first[name]["left"] == GONE
    theirs = first["their group"]
    assert theirs["total"] == 3
    assert theirs["left"]["group"]
    assert theirs["left"]["states"] == []
    theirs = first["their accelerator"]
    assert theirs["n"] == 2
    assert theirs["left"]["group"]
    assert {"AcceleratorState", "PartialState"} <= {*theirs["left"]["states"]}


def test_without_accelerate_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "accelerate", None)
    with pytest.raises(ImportError, match="pip install accelerate"):
        PairNet(distributed=True, random_state=0).fit(PAIRS, T)


def test_one_process_alone_leaves_nothing_behind():
    """Fits of other precisions in a row: accelerate keeps nothing of the first."""
    state = pytest.importorskip("accelerate.state")
    settings = {**SHARED, "max_epochs": 1, "distributed": True}
    for precision in ("float64", "bfloat16", None):
        PairNet(**{**settings, "precision": precision}).fit(PAIRS, T)
        for kind in (state.AcceleratorState, state.PartialState, state.GradientState):
            assert kind._shared_state == {}
