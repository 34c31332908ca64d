"""Models on disk: no code runs when one is loaded.

A model is written with skops, as a description of objects and their arrays. It is read
from a file that is checked first (:mod:`pairlearn.files.archive`), by building only
types that this package vouches for (:mod:`pairlearn.files.trusted_types`,
:mod:`pairlearn.files.building`), and none that would crash when used
(:mod:`pairlearn.files.trusted_sklearn`, :mod:`pairlearn.files.consistency`).
"""

from __future__ import annotations

import json
import os
import platform
import warnings
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
import sklearn
from scipy import sparse
from sklearn.exceptions import InconsistentVersionWarning

import pairlearn
from pairlearn.files.archive import SCHEMA, ModelFileError, pack, unpack
from pairlearn.files.building import build
from pairlearn.files.trusted_types import (
    FUNCTIONS,
    check_schema,
    check_trusted,
    refuse_unknown,
)
from pairlearn.system.writing import write_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["ModelFileError", "describe", "load", "save"]


def save(model: Any, path: str | Path, *, about: dict[str, Any] | None = None) -> None:
    """Write a model to a file.

    The file holds the model, the versions of the libraries it was made with, and
    `about`. It is written under another name and then moved into place, so `path` is
    either the whole new file or what it was before. What was written is read back and
    compared with the model.

    Parameters
    ----------
    model : estimator
        A classifier of this package, a pipeline or a search that ends in one, or any
        estimator of scikit-learn. Networks are saved in their own way, see the guide.
    path : str or Path
        The file; its name usually ends in ``.skops``. Its folder must exist.
    about : dict, optional
        Notes to keep with the model, such as where the data came from; anything that
        JSON can hold. :func:`describe` returns it.

    Raises
    ------
    TypeError
        If a part of the model cannot be saved: a function, a network, an open file.

    See Also
    --------
    load : Read the model.
    describe : Read what is said about it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pairlearn import CIPSClassifier, Pairs, load, save
    >>> pairs = Pairs([[-1.0], [-2.0], [3.0]], [[0, 1], [1, 2]])
    >>> clf = CIPSClassifier().fit(pairs, [1, -1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.skops"
    ...     save(clf, path)
    ...     again = load(path)
    >>> bool((again.decision_function(pairs.X) == clf.decision_function(pairs.X)).all())
    True
    """
    if not hasattr(model, "get_params") or isinstance(model, type):
        raise TypeError(
            "the first argument of save(model, path) must be an estimator; got "
            f"{model.__name__ if isinstance(model, type) else type(model).__name__}"
        )
    target = _target(path)
    header = {
        "kind": _kind(model),
        "versions": _versions(),
        "about": _check_about(about),
    }
    for where, part in _walk(model):
        _refuse(where, part)
    skops = _skops()
    try:
        data = pack(skops.dumps(model), header)
    except RecursionError:
        raise TypeError(
            f"{type(model).__name__} cannot be saved: a part of it contains the model "
            "itself, as after set_fit_request; fit a model without that"
        ) from None
    except Exception as error:
        raise TypeError(
            f"{type(model).__name__} holds something that cannot be saved: {error}"
        ) from error
    _compare(model, data)
    write_files({target: data})


def load(path: str | Path, *, trusted: Iterable[str | type] = ()) -> Any:
    """Read a model that :func:`save` wrote.

    No code in the file is run: it has none, and only types that were reviewed are
    built, after a check of numbers that could crash compiled code. Memory and time are
    in proportion to the size of the file. A file that is damaged, or that asks for
    anything else, is an error.

    Parameters
    ----------
    path : str or Path
        The file.
    trusted : list of str or type, optional
        Classes of your own that the model is made of, such as
        ``["mypackage.MyTransformer"]``, and others that the error names. Only name
        classes that you know: their code will run, and their numbers are not checked.

    Returns
    -------
    estimator

    Warns
    -----
    UserWarning
        If the file was written by another version of pairlearn or scikit-learn; the
        first two numbers of the versions are compared.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged or forged, or has a newer format.

    Notes
    -----
    Models of this release can be read by the next. *Not guaranteed:* that a model
    learned what its name says. A file of unknown origin may hold any weights, may be
    slow to use, and is not for further training (`partial_fit`, `warm_start`).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pairlearn import MCLClassifier, load, save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.skops"
    ...     save(MCLClassifier(alpha=0.5), path)
    ...     load(path)
    MCLClassifier(alpha=0.5)
    """
    names = check_trusted(trusted)
    data = _read(path)
    with _about_file(path):
        header, model = _build(data, names)
    _warn_of_versions(header["versions"])
    return model


def describe(path: str | Path) -> dict[str, Any]:
    """Read what a file says about its model, without building it.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    dict
        "kind": what the model is; "versions": the libraries that it was made with;
        "about": what was given to :func:`save`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pairlearn import CIPSClassifier, save
    >>> from pairlearn.files.saving import describe
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.skops"
    ...     save(CIPSClassifier(), path, about={"rows": 3})
    ...     found = describe(path)
    >>> found["kind"], found["about"], sorted(found["versions"])
    ('CIPSClassifier', {'rows': 3}, ['numpy', 'pairlearn', 'python', 'scikit-learn',
    'scipy', 'skops'])
    """
    data = _read(path)
    with _about_file(path):
        header = unpack(data)[0]
    return {name: header[name] for name in ("versions", "about", "kind")}


def _skops() -> Any:
    try:
        import skops.io
    except ImportError:
        raise ModuleNotFoundError(
            "to save a model skops is needed, which is not installed: "
            "pip install 'pairlearn[cli]'",
            name="skops",
        ) from None
    return skops.io


def _versions() -> dict[str, str]:
    _skops()
    import skops

    return {
        "pairlearn": pairlearn.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "skops": skops.__version__,
        "python": platform.python_version(),
    }


def _kind(model: Any) -> str:
    """Return the name of the class; for a pipeline also those of its steps."""
    name = type(model).__name__
    if hasattr(model, "steps"):
        steps = [
            getattr(step, "transformer", step)
            for _, step in model.steps
            if step is not None and not isinstance(step, str)
        ]
        return f"{name} of {', '.join(type(step).__name__ for step in steps)}"
    inner = getattr(model, "estimator", None)
    return name if inner is None else f"{name} of {_kind(inner)}"


def _check_about(about: dict[str, Any] | None) -> dict[str, Any]:
    if about is None:
        return {}
    try:
        same = isinstance(about, dict) and json.loads(json.dumps(about)) == about
    except (TypeError, ValueError, RecursionError):
        same = False
    if not same:
        raise TypeError(
            "about must be a dict of what JSON can hold: text, finite numbers, True, "
            f"False, None, and lists and dicts of these, with text for keys; got "
            f"{about!r}"
        )
    return about


def _target(path: str | Path) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            "the second argument of save(model, path) must be a file name; got "
            f"{type(path).__name__}"
        )
    # A link stays a link: the file that it points to is replaced.
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file, {path}/model.skops")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent}; make it first")
    return target


def _read(path: str | Path) -> bytes:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"the name of a file is needed; got {type(path).__name__}")
    file = Path(path)
    if file.is_dir():
        raise ModelFileError(f"{path} is a folder, not a model file")
    try:
        return file.read_bytes()
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}") from None


@contextmanager
def _about_file(path: Any) -> Iterator[None]:
    """Turn whatever goes wrong in reading a file into one error that names it."""
    try:
        yield
    except ModelFileError as error:
        # Names in it come from the file, and may hold anything.
        reason = " ".join(str(error).split())[:1000]
        raise ModelFileError(f"{path} cannot be loaded: {reason}") from None
    except ModuleNotFoundError as error:
        raise ModelFileError(
            f"{path} cannot be loaded: it needs the module {error.name}, which is not "
            "installed"
        ) from None
    except Exception as error:
        # Memory and recursion too: a forged file may ask for any amount of either.
        lines = str(error).splitlines() or [""]
        raise ModelFileError(
            f"{path} cannot be loaded: it is damaged, or was not written by "
            f"pairlearn.save ({type(error).__name__}: {lines[0][:200]})"
        ) from None


def _build(data: bytes, trusted: list[str]) -> tuple[dict[str, Any], Any]:
    """Return the header of a file, and its model."""
    header, members = unpack(data)
    schema = json.loads(members[SCHEMA])
    refuse_unknown(check_schema(schema, trusted))
    with warnings.catch_warnings():
        # Versions are compared once for the file, not for each estimator in it.
        warnings.simplefilter("ignore", InconsistentVersionWarning)
        model = build(schema, members, trusted)
    if not hasattr(model, "get_params") or isinstance(model, type):
        raise ModelFileError(f"it holds a {type(model).__name__}, which is not a model")
    return header, model


def _warn_of_versions(written: dict[str, str]) -> None:
    # A model depends on these in their first two numbers.
    here = {"pairlearn": pairlearn.__version__, "scikit-learn": sklearn.__version__}
    differ = [
        f"{name} {written.get(name)} (here {version})"
        for name, version in here.items()
        if str(written.get(name)).split(".")[:2] != version.split(".")[:2]
    ]
    if differ:
        warnings.warn(
            f"the model was saved with {' and '.join(differ)}; its predictions may "
            "have changed since then: compare some, or fit and save it again",
            stacklevel=3,
        )


def _parts(thing: Any) -> list[tuple[str, Any]]:
    """Return what an object is made of, with how to get there; nothing for a value."""
    if isinstance(thing, dict):
        return [(f"[{key!r}]", value) for key, value in thing.items()]
    if isinstance(thing, list | tuple):
        return [(f"[{k}]", value) for k, value in enumerate(thing)]
    if isinstance(thing, np.ma.MaskedArray):
        return [(".data", thing.data), (".mask", thing.mask)]
    if isinstance(thing, np.ndarray):
        values = thing.ravel().tolist() if thing.dtype == object else []
        return [(f"[{k}]", value) for k, value in enumerate(values)]
    if isinstance(thing, partial):
        return [(f".{name}", getattr(thing, name)) for name in _OF_PARTIAL]
    if sparse.issparse(thing):
        # The one format that has any number of dimensions.
        table = thing.tocoo()
        return [
            (".shape", table.shape),
            (".coords", table.coords),
            (".data", table.data),
        ]
    if isinstance(thing, _LEAVES):
        return []
    state = thing.__getstate__() if hasattr(thing, "__dict__") else None
    if not isinstance(state, dict):
        return []
    return [(f".{name}", value) for name, value in state.items()]


_OF_PARTIAL = ("func", "args", "keywords")
_LEAVES = (type, FunctionType, ModuleType, np.ufunc)


def _walk(model: Any) -> Iterator[tuple[str, Any]]:
    """Go through a model and all that it is made of, each thing once."""
    waiting, seen = [("", model)], {}
    while waiting:
        where, thing = waiting.pop()
        if id(thing) in seen:
            continue
        # Kept, so that no other object comes to have its id.
        seen[id(thing)] = thing
        yield where, thing
        parts = [] if _is_foreign(thing) else _parts(thing)
        waiting.extend((where + name, part) for name, part in parts)


def _is_foreign(thing: Any) -> bool:
    """Tell whether this is of a network, or of the library below one."""
    module = type(thing).__module__ or ""
    home = module.partition(".")[0]
    return home in ("torch", "skorch") or module.startswith("pairlearn.models.neural")


def _refuse(where: str, part: Any) -> None:
    name = type(part).__name__
    if _is_foreign(part):
        raise TypeError(
            f"{name} is a network, or a part of one, and save keeps NumPy only; save "
            "a network with pickle, or its weights with torch.save, as the section "
            "'Saving' of the guide shows"
        )
    named = callable(part) and hasattr(part, "__name__")
    if not named or isinstance(part, type | np.ufunc):
        return
    if f"{getattr(part, '__module__', None)}.{part.__name__}" not in FUNCTIONS:
        raise TypeError(
            f"a function cannot be saved, and{where.replace('.', ' ', 1)} is one "
            f"({part.__name__}): a file that holds code could run it on loading. Use "
            "a name where there is one, such as similarity='rbf', or an object of a "
            "class of your own with a method __call__, and load the model with "
            "load(path, trusted=['package.module.Class'])"
        )


def _compare(model: Any, data: bytes) -> None:
    """Make sure that what was written gives back the model."""
    try:
        # What is not vouched for is for those who load the model to trust.
        trusted = sorted(check_schema(json.loads(unpack(data)[1][SCHEMA])))
        _, again = _build(data, trusted)
        where = _first_difference(model, again)
    except Exception as error:
        raise TypeError(
            f"{type(model).__name__} cannot be saved, because it could not be loaded "
            f"again: {error}"
        ) from error
    if where is not None:
        raise TypeError(
            f"{type(model).__name__}{where} cannot be saved: it would not be the same "
            "after loading"
        )


def _first_difference(model: Any, other: Any) -> str | None:
    """Return where two models differ, or None."""
    waiting, seen = [("", model, other)], {}
    while waiting:
        where, a, b = waiting.pop()
        if (id(a), id(b)) in seen:
            continue
        seen[id(a), id(b)] = a, b
        if type(a) is not type(b) or not _same_value(a, b):
            return where
        parts, others = _parts(a), _parts(b)
        if [name for name, _ in parts] != [name for name, _ in others]:
            return where
        waiting.extend(
            (where + name, part, twin)
            for (name, part), (_, twin) in zip(parts, others, strict=True)
        )
    return None


def _same_value(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        plain = a.dtype != object and not isinstance(a, np.ma.MaskedArray)
        return (
            a.dtype == b.dtype
            and a.shape == b.shape
            and (not plain or a.tobytes() == b.tobytes())
        )
    if isinstance(a, bool | int | float | str | bytes | np.generic):
        return bool(a == b or (a != a and b != b))
    return True
