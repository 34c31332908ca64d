"""What makes vectors of texts or images by a name: a network, or a user's function.

* ``timm:NAME``: a network for images, by its name, or a folder that holds one.
* ``sentence-transformers:NAME``: one for texts, by its name, or a folder.
* ``module:function``: a function of the user's own. It gets a list of texts, or of
  images of Pillow, and returns an array with a row for each.

A name may come from a user, or from a model file that somebody else made. A file gets
no function called, and nothing downloaded; see docs/decisions.md.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.tables.cells import shown
from pairlearn.files.tables.errors import OptionError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["Embedder", "load_embedder", "what_it_takes"]

_TIMM, _SENTENCES = "timm", "sentence-transformers"
_TAKES = {_TIMM: "images", _SENTENCES: "texts"}
_NEEDS = "it needs more packages, of which one is not installed ({}): {}"
_EXTRA = "pip install 'pairlearn[embed]'"


@dataclass(frozen=True)
class Embedder:
    """What makes vectors.

    Attributes
    ----------
    name : str
        The name that it was loaded by.
    version : str
        What tells it from others of that name: a hash of its weights, or of its code.
    made_of : callable
        Given a list of texts or images, returns an array with a row for each.
    batch : int
        How many it is given at a time.
    """

    name: str
    version: str
    made_of: Callable[[Sequence[Any]], Any]
    batch: int = 32

    def __call__(self, items: Sequence[Any]) -> NDArray[np.float32]:
        """Return the vectors of some texts or images, and see that they are fit."""
        try:
            made = np.asarray(self.made_of(list(items)), dtype=np.float32)
        except TableError:
            raise
        except (TypeError, ValueError) as problem:
            raise TableError(
                f"--embed {self.name} does not return an array of numbers: {problem}"
                f"{_place(problem)}"
            ) from problem
        except Exception as problem:
            why = f"{type(problem).__name__}: {problem}".partition("\n")[0][:300]
            raise TableError(
                f"--embed {self.name} failed with {why}{_place(problem)}"
            ) from problem
        if made.ndim != 2 or len(made) != len(items) or not made.shape[1]:
            raise TableError(
                f"--embed {self.name} must return an array with one row for each of "
                f"{len(items)} things; it returned one of shape {made.shape}"
            )
        if not np.isfinite(made).all():
            raise TableError(
                f"--embed {self.name} returned numbers that are not finite"
            )
        return made


def _place(problem: Exception) -> str:
    """Return where a problem arose, if that is in code other than this file."""
    last = traceback.extract_tb(problem.__traceback__)[-1]
    if last.filename == __file__:
        return ""
    return f" ({Path(last.filename).name}, line {last.lineno})"


def what_it_takes(name: str) -> str:
    """Return what a name of an embedding is for.

    Parameters
    ----------
    name : str
        As after --embed.

    Returns
    -------
    {"images", "texts", "either"}

    Raises
    ------
    OptionError
        If it is no name of an embedding.

    Examples
    --------
    >>> what_it_takes("timm:resnet18"), what_it_takes("my_module:my_function")
    ('images', 'either')
    """
    kind, _, rest = name.partition(":")
    if kind in _TAKES and rest.strip():
        return _TAKES[kind]
    if all(part.isidentifier() for part in kind.split(".")) and rest.isidentifier():
        return "either"
    raise OptionError(
        f"--embed {shown(name)} must be timm:NAME, sentence-transformers:NAME, or "
        "module:function, a function of your own"
    )


def load_embedder(name: str, *, named_by_user: bool) -> Embedder:
    """Load what makes vectors.

    Parameters
    ----------
    name : str
        As after --embed.
    named_by_user : bool
        Whether the user gave the name now. If not, it comes from a model file: then no
        function is called, and nothing is downloaded.

    Returns
    -------
    Embedder

    Raises
    ------
    TableError
        If it cannot be had, with the way out.
    """
    takes = what_it_takes(name)
    kind, _, rest = name.partition(":")
    if takes == "either":
        if not named_by_user:
            raise TableError(
                f"the model was made with the function {name}. A model file alone gets "
                f"no function called: if you know it, say so with --embed {name}"
            )
        return _function(name)
    try:
        if kind == _TIMM:
            return _timm(name, rest, download=named_by_user)
        return _sentences(name, rest, download=named_by_user)
    except ImportError as problem:
        needs = _NEEDS.format(problem.name or problem, _EXTRA)
        raise TableError(f"--embed {name}: {needs}") from None
    except TableError:
        raise
    except Exception as problem:
        first = str(problem).strip().partition("\n")[0][:200].rstrip(".")
        hint = "" if named_by_user else f". To have it downloaded, say --embed {name}"
        if "torchvision::" in first:
            hint = (
                ". The packages torch and torchvision do not fit each other: install "
                "both anew, from the same place"
            )
        raise TableError(
            f"--embed {name} cannot be loaded: {first or type(problem).__name__}{hint}"
        ) from problem


def _timm(name: str, rest: str, *, download: bool) -> Embedder:
    import timm
    import torch
    from timm.data import create_transform, resolve_model_data_config

    wanted = rest
    if Path(rest).is_dir():
        wanted = f"local-dir:{Path(rest).resolve()}"
        if not any(Path(rest).glob("*.safetensors")):
            raise TableError(
                f"--embed {name}: the folder holds no weights that are safe to read "
                "(model.safetensors)"
            )
    elif not download:
        _refuse_download(timm, rest, name)
    network = timm.create_model(wanted, pretrained=True, num_classes=0).eval()
    prepare = create_transform(**resolve_model_data_config(network), is_training=False)
    device = _device(torch)
    network.to(device)

    def made_of(images: Sequence[Any]) -> Any:
        tensors = torch.stack([prepare(image.convert("RGB")) for image in images])
        with torch.inference_mode():
            return network(tensors.to(device)).float().cpu().numpy()

    batch = 32 if device == "cpu" else 128
    return Embedder(name, _mark(network.state_dict()), made_of, batch)


def _refuse_download(timm: Any, rest: str, name: str) -> None:
    """Refuse a network of which the weights are not on this machine yet."""
    from huggingface_hub import try_to_load_from_cache

    home: str | None = rest.removeprefix("hf-hub:")
    if home == rest:
        home = getattr(timm.get_pretrained_cfg(rest), "hf_hub_id", None)
    files = ("model.safetensors", "open_clip_model.safetensors")
    if not home or not any(
        isinstance(try_to_load_from_cache(home, file), str) for file in files
    ):
        raise TableError(
            f"the model was made with {name}, whose weights are not on this machine. A "
            f"model file alone gets nothing downloaded: say so with --embed {name}"
        )


def _sentences(name: str, rest: str, *, download: bool) -> Embedder:
    import torch
    from sentence_transformers import SentenceTransformer

    device = _device(torch)
    network = SentenceTransformer(
        rest,
        device=device,
        trust_remote_code=False,
        local_files_only=not download,
        model_kwargs={"use_safetensors": True},
    )

    def made_of(texts: Sequence[Any]) -> Any:
        return network.encode(
            list(texts), batch_size=len(texts), show_progress_bar=False
        )

    batch = 32 if device == "cpu" else 256
    return Embedder(name, _mark(network.state_dict()), made_of, batch)


def _device(torch: Any) -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _mark(weights: Any) -> str:
    """Return a hash of the weights of a network."""
    digest = hashlib.sha256()
    for name, tensor in sorted(weights.items()):
        array = tensor.detach().cpu().float().contiguous().numpy()
        digest.update(f"{name}{array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def _function(name: str) -> Embedder:
    module_name, _, called = name.partition(":")
    here = str(Path.cwd())
    # A file beside the tables is what most people have; it is looked for last.
    sys.path.append(here)
    try:
        module = importlib.import_module(module_name)
    except Exception as problem:
        raise TableError(
            f"--embed {name}: the module {module_name} cannot be imported: {problem}"
            f"{_place(problem) if not isinstance(problem, ImportError) else ''}. It "
            "must be installed, or a file in the current folder"
        ) from None
    finally:
        if here in sys.path[-1:]:
            sys.path.pop()
    function = getattr(module, called, None)
    if not callable(function):
        raise TableError(f"--embed {name}: {module_name} has no function {called}")
    source = getattr(module, "__file__", None)
    code = Path(source).read_bytes() if source and Path(source).exists() else b""
    version = f"{getattr(module, '__version__', '')} {hashlib.sha256(code).hexdigest()}"
    return Embedder(name, version, function)
