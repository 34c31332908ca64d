"""Files of checkpoints: nothing but what was written is read."""

import hashlib
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("skorch")

from torch.torch_version import TorchVersion  # noqa: E402

from pairlearn import Pairs  # noqa: E402
from pairlearn.models.neural import PairNet  # noqa: E402
from pairlearn.models.neural.checkpoint import (  # noqa: E402
    MAGIC,
    read_checkpoint,
    write_checkpoint,
)

pytestmark = pytest.mark.filterwarnings("ignore:the network puts all points")

X = np.random.default_rng(0).normal(size=(200, 2))
PAIRS, T = Pairs.sample(X, 100, (X**2).sum(axis=1) > 1, random_state=0)
HEADER = len(MAGIC) + 32
REFUSED = r"checkpoint\.pt is damaged, or not a checkpoint.*delete it"


def net(folder, **settings):
    settings = {"hidden": (4,), "max_epochs": 1, "random_state": 0, **settings}
    return PairNet(**settings, device="cpu", checkpoint=folder)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The bytes of a real checkpoint."""
    folder = tmp_path_factory.mktemp("written")
    net(folder).fit(PAIRS, T)
    return (folder / "checkpoint.pt").read_bytes()


def flipped(content, bit):
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "checkpoint.pt"
    state = {"a": torch.arange(5.0), "b": [1, 2.5, None, "x"], "c": {"d": (True,)}}
    write_checkpoint(path, state)
    again = read_checkpoint(path)
    assert torch.equal(again.pop("a"), state.pop("a"))
    assert again == state


def test_every_flipped_bit_is_refused(written, tmp_path):
    path = tmp_path / "checkpoint.pt"
    n_bits = 8 * len(written)
    some = np.random.default_rng(0).choice(n_bits, 1000, replace=False)
    # All of the header, and where the archive's own directory is.
    for bit in {*some.tolist(), *range(8 * HEADER), *range(n_bits - 800, n_bits)}:
        path.write_bytes(flipped(written, bit))
        with pytest.raises(ValueError, match=REFUSED):
            read_checkpoint(path)
    path.write_bytes(written)
    assert read_checkpoint(path)["history"]


@pytest.mark.parametrize("seed", range(5))
def test_a_fit_refuses_a_flipped_bit_and_leaves_the_file(seed, written, tmp_path):
    path = tmp_path / "checkpoint.pt"
    bit = np.random.default_rng(seed).integers(8 * len(written))
    path.write_bytes(flipped(written, int(bit)))
    before = path.read_bytes()
    with pytest.raises(ValueError, match=REFUSED):
        net(tmp_path).fit(PAIRS, T)
    assert path.read_bytes() == before
    # The same file without the damage is taken, so it was nothing else.
    path.write_bytes(written)
    assert net(tmp_path, max_epochs=2).fit(PAIRS, T).n_iter_ == 2


def test_every_other_length_is_refused(written, tmp_path):
    path = tmp_path / "checkpoint.pt"
    some = np.random.default_rng(0).integers(len(written), size=100).tolist()
    for length in {*some, *range(HEADER + 2), len(written) - 1}:
        path.write_bytes(written[:length])
        with pytest.raises(ValueError, match=REFUSED):
            read_checkpoint(path)
    for more in (b"\0", b"x", b"\n", written, bytes(10_000)):
        path.write_bytes(written + more)
        with pytest.raises(ValueError, match=REFUSED):
            read_checkpoint(path)


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", None], ids=str)
def test_another_file_is_refused(content, tmp_path):
    path = tmp_path / "checkpoint.pt"
    if content is None:
        # What was written before there was a checksum.
        torch.save({"of": "", "history": []}, path)
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=REFUSED):
        net(tmp_path).fit(PAIRS, T)
    assert path.read_bytes() == before


class Harm:
    """Writes a file where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def forged(payload):
    return MAGIC + hashlib.sha256(payload).digest() + payload


def test_a_forged_file_runs_no_code(tmp_path):
    path, victim = tmp_path / "checkpoint.pt", tmp_path / "harm"
    for protocol in (2, 4):
        path.write_bytes(forged(pickle.dumps({"of": Harm(victim)}, protocol)))
        with pytest.raises(ValueError, match="delete it"):
            read_checkpoint(path)
        torch.save({"of": Harm(victim)}, victim.with_suffix(".pt"))
        path.write_bytes(forged(victim.with_suffix(".pt").read_bytes()))
        with pytest.raises(ValueError, match="although its checksum is right"):
            read_checkpoint(path)
    assert not victim.exists()
    torch.save([1], victim.with_suffix(".pt"))
    path.write_bytes(forged(victim.with_suffix(".pt").read_bytes()))
    with pytest.raises(ValueError, match="holds no state of a training"):
        read_checkpoint(path)


@pytest.mark.parametrize("version", ["2.4.0", "2.6.0", "2.9.1+cpu", "2.10.0a0+git1"])
def test_an_older_torch_reads_no_checkpoint(version, written, tmp_path, monkeypatch):
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(written)
    monkeypatch.setattr(torch, "__version__", TorchVersion(version))
    with pytest.raises(RuntimeError, match=r"run code in this torch 2\..*'torch>=2.10"):
        net(tmp_path).fit(PAIRS, T)
    path.unlink()
    # It may still train, and write.
    assert net(tmp_path).fit(PAIRS, T).n_iter_ == 1


@pytest.mark.parametrize("version", ["2.10.0", "2.13.0+cpu", "3.0.0"])
def test_a_newer_torch_reads_them(version, written, tmp_path, monkeypatch):
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(written)
    monkeypatch.setattr(torch, "__version__", TorchVersion(version))
    assert read_checkpoint(path)["history"]


class Stuck:
    def __reduce__(self):
        raise OSError("no space left")


def test_a_checkpoint_that_cannot_be_written_leaves_the_old_one(written, tmp_path):
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(written)
    with pytest.raises(OSError, match="no space left"):
        write_checkpoint(path, {"weights": torch.zeros(100_000), "bad": Stuck()})
    assert path.read_bytes() == written
    assert [one.name for one in tmp_path.iterdir()] == ["checkpoint.pt"]


def test_half_a_checkpoint_is_no_harm(tmp_path):
    half = tmp_path / ".partial-of-a-killed-process.pt"
    half.write_bytes(MAGIC + b"half of")
    with_half = net(tmp_path, max_epochs=2).fit(PAIRS, T)
    alone = net(None, max_epochs=2).fit(PAIRS, T)
    np.testing.assert_array_equal(
        with_half.decision_function(X), alone.decision_function(X)
    )
