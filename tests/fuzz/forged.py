"""Forged models: any number in a file is changed, and nothing may crash.

One attribute of a fitted model, somewhere inside it, gets another type, shape or value.
The model is then written as a forger would, loaded, and used on points. Loading may
refuse it, and using it may raise any error or give any answer. It must not end the
process, nor load for long, nor take memory without bounds.

    python -m tests.fuzz.forged --n 200
"""

import argparse
import copy
import mmap
import operator
import os
import resource
import signal
import struct
import sys
import tempfile
import warnings
import zlib
from functools import partial
from pathlib import Path

import numpy as np
import skops.io  # noqa: F401 - here, since each child would import it anew
from scipy import sparse

from pairlearn import load
from pairlearn.files.archive import ModelFileError
from pairlearn.files.saving import _parts
from tests.fuzz.models import fitted, names
from tests.support.model_files import unchecked

# Seconds of the processor for one forgery, to load and to use, and bytes.
LONGEST, MOST = 10, 2**30
MUCH_MEMORY, LONG_USE = "takes much memory", "takes long when used"
METHODS = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "transform",
    "score_samples", "mahalanobis", "error_norm", "get_feature_names_out",
)  # fmt: skip
_NUMBERS = (
    -1, 0, 1, 2, 3, 7, 100, 10**6, 2**30, 2**31 - 1, 2**31, 2**62, 2**64, -(2**31),
    -(2**62), 0.5, -0.5, 1e300, -1e300, float("nan"), float("inf"), None, True, False,
    "x", "", (), [], {},
)  # fmt: skip
_DTYPES = ("int64", "int32", "int8", "uint8", "float32", "float64", "bool", "U3", "O")


def changed_array(array, rng):
    """Return the array with another type, shape or content."""
    choice = rng.integers(12)
    flat = array.ravel()
    if choice == 0:
        return array.astype(rng.choice(_DTYPES))
    if choice == 1:
        return array[: len(array) // 2] if array.ndim else array.reshape(1)
    if choice == 2:
        return array[:0] if array.ndim else array.reshape(1, 1)
    if choice == 3:
        return (
            np.concatenate([array] * int(rng.integers(2, 9))) if array.ndim else array
        )
    if choice == 4:
        return array[..., None] if rng.integers(2) else array[None]
    if choice == 5:
        return array[0] if len(flat) and array.ndim else array
    if choice == 6:
        return np.asfortranarray(array.T)
    if choice == 7:
        return array[..., : array.shape[-1] // 2] if array.ndim else array
    if choice == 8:
        return np.repeat(array, 3, axis=-1) if array.ndim else array
    if array.dtype.kind == "O":
        made = array.copy()
        if made.size:
            made.flat[rng.integers(made.size)] = _NUMBERS[rng.integers(len(_NUMBERS))]
        return made
    values = [v for v in _NUMBERS if isinstance(v, int | float)]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = np.asarray(values[rng.integers(len(values))])
        made = array.copy()
        if choice == 9 and made.size:
            made.flat[rng.integers(made.size)] = value.astype(array.dtype)
        elif choice == 10:
            made[...] = value.astype(array.dtype)
        elif made.size:
            made = rng.permutation(flat).reshape(array.shape)
    return made


def changed(value, rng, others):
    """Return something else of about the same kind, or of another."""
    if rng.integers(8) == 0 and others:
        # Another part of the same model.
        return others[rng.integers(len(others))]
    if isinstance(value, np.ndarray):
        return changed_array(value, rng)
    if sparse.issparse(value):
        kinds = [sparse.coo_array, sparse.csc_array, sparse.csr_matrix, np.asarray]
        return kinds[rng.integers(4)](changed_array(value.toarray(), rng))
    if isinstance(value, str):
        texts = [other for other in others if isinstance(other, str)]
        texts += ["x", "", "precomputed", "linear", "auto", "csr", "poly", "filename"]
        return texts[rng.integers(len(texts))]
    if isinstance(value, dict) and value and rng.integers(3):
        made = dict(value)
        key = list(made)[rng.integers(len(made))]
        if rng.integers(2):
            del made[key]
        else:
            made[key] = _NUMBERS[rng.integers(len(_NUMBERS))]
        return made
    if isinstance(value, list | tuple) and value and rng.integers(3):
        parts = [list(value)[::-1], list(value) * 3, list(value)[:-1]]
        return type(value)(parts[rng.integers(3)])
    return _NUMBERS[rng.integers(len(_NUMBERS))]


def places(model):
    """Return (holder, key, value) for all that a model is made of, and for parts."""
    found, waiting, seen = [], [model], set()
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, dict | list):
            keys = thing if isinstance(thing, dict) else range(len(thing))
            found += [(thing, key, thing[key]) for key in keys]
        elif hasattr(thing, "__dict__") and not (
            isinstance(thing, np.ndarray) or sparse.issparse(thing) or callable(thing)
        ):
            found += [(vars(thing), key, part) for key, part in vars(thing).items()]
        waiting += [part for _, part in _parts(thing)]
    return found


def forge(model, rng):
    """Return what was changed, and the file of a copy with that change."""
    model = copy.deepcopy(model)
    spots = places(model)
    # Parameters are many and dull; what was learnt ends in an underscore or begins so.
    learnt = [s for s in spots if str(s[1]).endswith("_") or str(s[1]).startswith("_")]
    spots = learnt if learnt and rng.integers(4) else spots
    done = []
    for _ in range(int(rng.integers(1, 3))):
        holder, key, value = spots[rng.integers(len(spots))]
        holder[key] = changed(value, rng, [part for _, _, part in spots])
        done.append(f"{key}: {str(holder[key])[:60]!r}")
    return "; ".join(done), unchecked(model)


def use(model, tables):
    """Ask for everything about every table; errors are fine."""
    for table in tables:
        for name in METHODS:
            try:
                result = getattr(model, name)(table)
                if name == "transform":
                    if sparse.issparse(result):
                        result.toarray()
                        (result @ np.ones(result.shape[1])).sum()
                    model.inverse_transform(result)
            except MemoryError:
                raise
            except Exception:  # noqa: S112
                continue
        try:
            n = table.shape[0] if hasattr(table, "shape") else len(table)
            model.score(table, np.arange(n) % 2)
        except MemoryError:
            raise
        except Exception:  # noqa: S112
            continue


def one(name, model, tables, seed, path, loaded):
    """Forge, load and use a model once; return what came of it."""
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    warnings.simplefilter("ignore")
    try:
        what, data = forge(model, rng)
    except Exception:
        return "not made", ""
    path.write_bytes(data)
    try:
        again = load(path)
    except ModelFileError:
        return "refused", what
    loaded()
    try:
        use(again, tables)
    except MemoryError:
        return "memory", what
    return "used", what


def _limit(n_bytes):
    """Allow so many bytes more than there are."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * mmap.PAGESIZE
    resource.setrlimit(resource.RLIMIT_AS, (now + n_bytes, now + n_bytes))


def run(name, seeds, folder):
    """Return how often what came of it, and what went wrong.

    Each process goes on until a forgery ends it.
    """
    model, tables = fitted(name)
    path, shared = Path(folder) / "forged.skops", mmap.mmap(-1, 9)
    counts, wrong, waiting = {}, [], list(seeds)
    while waiting:
        read, write = os.pipe()
        child = os.fork()
        if not child:
            os.close(read)
            _work(name, model, tables, waiting, path, shared, write)
        os.close(write)
        with os.fdopen(read) as lines:
            results = [line.rstrip("\n").split("\t") for line in lines]
        _, status = os.waitpid(child, 0)
        for seed, result, what in results:
            counts[result] = counts.get(result, 0) + 1
            if result == "memory":
                wrong.append((name, int(seed), MUCH_MEMORY, what))
        waiting = waiting[len(results) :]
        if status and waiting:
            (seed,) = struct.unpack("<q", shared[:8])
            signalled = os.WIFSIGNALED(status)
            end = (
                signal.Signals(os.WTERMSIG(status)).name
                if signalled
                else f"exit {os.WEXITSTATUS(status)}"
            )
            if end == "SIGPROF":
                end = LONG_USE if shared[8] else "hangs in loading"
            wrong.append((name, seed, end, ""))
            waiting = waiting[1:]
    return counts, wrong


def _work(name, model, tables, seeds, path, shared, write):
    """Do forgeries until one ends this process."""
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    _limit(MOST)
    with os.fdopen(write, "w", buffering=1) as out:
        for seed in seeds:
            shared[:] = struct.pack("<qb", seed, 0)
            loaded = partial(operator.setitem, shared, 8, 1)
            signal.setitimer(signal.ITIMER_PROF, LONGEST)
            result, what = one(name, model, tables, seed, path, loaded)
            out.write(f"{seed}\t{result}\t{' '.join(what.split())}\n")
    os._exit(0)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=50, help="forgeries of each model")
    parser.add_argument("--seeds", type=int, default=0, help="number of the first")
    parser.add_argument("--only", nargs="*", help="names of models")
    parser.add_argument("--part", default="1/1", help="as 1/3: the first third")
    parser.add_argument("--show", action="store_true", help="tell what was changed")
    found = parser.parse_args(arguments)
    total, wrong, say = {}, [], partial(print, flush=True)
    with tempfile.TemporaryDirectory() as folder:
        part, n_parts = map(int, found.part.split("/"))
        for name in (found.only or names())[part - 1 :: n_parts]:
            counts, bad = run(name, range(found.seeds, found.seeds + found.n), folder)
            say(f"{name}: {counts}")
            for _, seed, end, what in bad:
                if found.show and not what:
                    model, _ = fitted(name)
                    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
                    what = forge(model, rng)[0]
                say(f"  {end} with seed {seed}: {what}")
            wrong += bad
            for key, count in counts.items():
                total[key] = total.get(key, 0) + count
    say(total, f"{len(wrong)} of them wrong")
    # To use a forged model may take what its numbers ask for; to load it must not.
    return bool([end for _, _, end, _ in wrong if end not in (MUCH_MEMORY, LONG_USE)])


if __name__ == "__main__":
    sys.exit(main())
