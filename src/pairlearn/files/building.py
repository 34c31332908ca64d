"""From the schema of a model file to the model, one object for each node.

The schema is that of skops; its own reader makes some kB of helpers for each node, and
has its own list of types to trust. Here a node becomes what it says and nothing else,
after :func:`pairlearn.files.trusted_types.check_schema` has seen the whole: the time
and the memory to build a model are in proportion to its file.
"""

from __future__ import annotations

import inspect
import io
import json
import math
from collections import Counter, OrderedDict, defaultdict
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch

from pairlearn.files.archive import ModelFileError
from pairlearn.files.consistency import check_sound, parameters_of
from pairlearn.files.trusted_types import FUNCTIONS, SCALARS, TYPES, full_name, is_ufunc

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

__all__ = ["build"]

# Things of one hash that a set or a dict may hold: each is compared with all before.
# Numbers can be chosen to have the same; by chance it is one or two.
_MOST_ALIKE = 20
_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_OF_SEED = {"entropy", "n_children_spawned", "pool_size", "spawn_key"}
_PLAIN = (str, int, float, bool, type(None))


def build(
    schema: dict[str, Any], members: dict[str, bytes], trusted: Collection[str] = ()
) -> Any:
    """Return the object that a schema describes.

    Parameters
    ----------
    schema : dict
        As it was checked.
    members : dict of bytes
        Content of the arrays, by name.
    trusted : collection of str
        Types that the user trusts. Their objects are not checked.

    Returns
    -------
    object
    """
    return _Builder(members, frozenset(trusted)).build(schema)


class _Builder:
    """What has been built so far, by number."""

    def __init__(self, members: dict[str, bytes], trusted: frozenset[str]) -> None:
        self.members, self.trusted = members, trusted
        self.done: dict[int, Any] = {}

    def build(self, node: dict[str, Any]) -> Any:
        number = node.get("__id__")
        if number is not None and number in self.done:
            return self.done[number]
        thing = _MAKERS[node["__loader__"]](self, node)
        if number is not None:
            self.done[number] = thing
        return thing

    def build_all(self, nodes: list[dict[str, Any]]) -> list[Any]:
        return [self.build(node) for node in nodes]

    def find(self, node: dict[str, Any]) -> Any:
        """Return what a node names, which is vouched for or trusted."""
        name = full_name(node)
        if name not in TYPES | FUNCTIONS | self.trusted:
            raise ModelFileError(f"it asks for {name}")
        return getattr(import_module(node["__module__"]), node["__class__"])


def _json(_: _Builder, node: dict[str, Any]) -> Any:
    value = json.loads(node["content"])
    inside = list(value.values()) if isinstance(value, dict) else value
    if isinstance(inside, list) and not all(
        isinstance(item, _PLAIN) for item in inside
    ):
        raise ModelFileError("it holds lists within lists, which no model needs")
    return value


def _list(builder: _Builder, node: dict[str, Any]) -> Any:
    items = builder.build_all(node["content"])
    return items if full_name(node) == "builtins.list" else builder.find(node)(items)


def _tuple(builder: _Builder, node: dict[str, Any]) -> Any:
    items = builder.build_all(node["content"])
    if full_name(node) == "builtins.tuple":
        return tuple(items)
    # One that has names for its items.
    return builder.find(node)(*items)


def _set(builder: _Builder, node: dict[str, Any]) -> Any:
    items = builder.build_all(node["content"])
    _check_hashes(items)
    return (
        set(items) if full_name(node) == "builtins.set" else builder.find(node)(items)
    )


def _dict(builder: _Builder, node: dict[str, Any]) -> Any:
    kinds = builder.build_all(node["key_types"]["content"])
    keys = [
        key if kind is str else kind(key)
        for kind, key in zip(kinds, node["content"], strict=True)
    ]
    _check_hashes(keys)
    values = builder.build_all(list(node["content"].values()))
    own = {
        "builtins.dict": dict,
        "collections.OrderedDict": OrderedDict,
        "sklearn.utils._bunch.Bunch": Bunch,
    }
    cls = own.get(full_name(node)) or builder.find(node)
    made = cls()
    for key, value in zip(keys, values, strict=True):
        made[key] = value
    return made


def _default_dict(builder: _Builder, node: dict[str, Any]) -> Any:
    content = node["content"]
    made: defaultdict[Any, Any] = defaultdict(builder.build(content["default_factory"]))
    made.update(builder.build(content["main"]))
    return made


def _check_hashes(items: Sequence[Any]) -> None:
    """Refuse things that a set would compare with each other, all with all."""
    if all(type(item) is str for item in items) or len(items) <= _MOST_ALIKE:
        return
    # Counted as text, since the numbers themselves can be chosen to be alike.
    counts = Counter(str(hash(item)) for item in items)
    if max(counts.values()) > _MOST_ALIKE:
        raise ModelFileError(
            "it holds a set, or a dict, of items that were made to take forever to "
            "compare"
        )


def _slice(_: _Builder, node: dict[str, Any]) -> Any:
    ends = [node["content"][name] for name in ("start", "stop", "step")]
    if not all(end is None or type(end) in (int, str) for end in ends):
        raise ModelFileError("it holds a slice whose ends are not numbers")
    return slice(*ends)


def _type(builder: _Builder, node: dict[str, Any]) -> Any:
    module, name = node["__module__"], node["__class__"]
    if module == "builtins":
        return {"bool": bool, "float": float, "int": int, "object": object, "str": str}[
            name
        ]
    if module == "numpy" and name in SCALARS:
        return getattr(np, name)
    return builder.find(node)


def _function(builder: _Builder, node: dict[str, Any]) -> Any:
    if full_name(node) not in builder.trusted and is_ufunc(node):
        home = scipy.special if node["__module__"].startswith("scipy.") else np
        return getattr(home, node["__class__"])
    return builder.find(node)


def _partial(builder: _Builder, node: dict[str, Any]) -> Any:
    content = node["content"]
    if content["func"]["__loader__"] != "FunctionNode" or is_ufunc(content["func"]):
        raise ModelFileError(
            "it holds a functools.partial of a function that models do not use"
        )
    made = partial(
        builder.build(content["func"]),
        *builder.build(content["args"]),
        **builder.build(content["kwds"]),
    )
    vars(made).update(builder.build(content["namespace"]) or {})
    return made


def _array(builder: _Builder, node: dict[str, Any]) -> Any:
    if node["type"] == "json":
        shape, content = builder.build(node["shape"]), node["content"]
        items = content if isinstance(content, list) else builder.build(content)
        return _of_objects(builder, items, shape)
    content = io.BytesIO(builder.members[node["file"]])
    array = np.load(content, allow_pickle=False)
    if full_name(node) == "numpy.ndarray":
        return array
    if node["__module__"] != "numpy" or node["__class__"] not in SCALARS:
        return builder.find(node)(array)
    if array.shape != ():
        raise ModelFileError("it holds a number that is an array")
    kind, value = getattr(np, node["__class__"]), array[()]
    return value if isinstance(value, kind) else kind(value)


def _of_objects(builder: _Builder, items: list[Any], shape: Any) -> Any:
    """Return an array of objects; but for the last dimension its items are lists."""
    if not isinstance(shape, tuple) or not all(type(n) is int for n in shape):
        raise ModelFileError("it holds an array without a shape")
    for depth in range(1, len(shape)):
        if len(items) != math.prod(shape[:depth]):
            raise ModelFileError("one of its arrays is not as long as it says")
        items = [item for row in items for item in _row(builder, row)]
    if len(items) != math.prod(shape):
        raise ModelFileError("one of its arrays is not as long as it says")
    made = np.empty(len(items), dtype=object)
    for k, item in enumerate(items):
        made[k] = builder.build(item) if isinstance(item, dict) else item
    return made.reshape(shape)


def _row(builder: _Builder, node: dict[str, Any]) -> list[Any]:
    row = node["content"] if node["__loader__"] == "ListNode" else builder.build(node)
    if not isinstance(row, list):
        raise ModelFileError("one of its arrays is not as long as it says")
    return row


def _masked(builder: _Builder, node: dict[str, Any]) -> Any:
    data, mask = (builder.build(node["content"][name]) for name in ("data", "mask"))
    if not isinstance(data, np.ndarray) or not isinstance(mask, np.ndarray | np.bool_):
        raise ModelFileError("it holds a masked array without a valid mask")
    return np.ma.MaskedArray(data, mask)


def _sparse(builder: _Builder, node: dict[str, Any]) -> Any:
    return sparse.load_npz(io.BytesIO(builder.members[node["file"]]))


def _dtype(builder: _Builder, node: dict[str, Any]) -> Any:
    return builder.build(node["content"]).dtype


def _random_state(builder: _Builder, node: dict[str, Any]) -> Any:
    made = np.random.RandomState(0)
    made.set_state(builder.build(node["content"]))
    _check_place(made.get_state(legacy=False))
    return made


def _generator(builder: _Builder, node: dict[str, Any]) -> Any:
    state, seed = (
        builder.build(node["content"][name]) for name in ("bit_generator", "seed_seq")
    )
    if state["bit_generator"] not in _GENERATORS:
        raise ModelFileError("it asks for an unknown generator of random numbers")
    # The time to mix a seed grows as the square of its size.
    size = seed.get("pool_size", 4)
    if not set(seed) <= _OF_SEED or type(size) is not int or not 4 <= size <= 64:
        raise ModelFileError(
            "it holds a generator of random numbers without a valid seed"
        )
    bits = getattr(np.random, state["bit_generator"])(np.random.SeedSequence(**seed))
    bits.state = state
    _check_place(bits.state)
    return np.random.Generator(bits)


def _check_place(state: Any) -> None:
    """Refuse a generator of random numbers whose place lies outside of its state.

    NumPy reads memory at this place, and does not check it.
    """
    place = size = 0
    if state["bit_generator"] == "MT19937":
        place, size = state["state"]["pos"], 624
    elif state["bit_generator"] == "Philox":
        place, size = state["buffer_pos"], 4
    if not 0 <= place <= size:
        raise ModelFileError(
            f"it holds a generator of random numbers at place {place} of {size}"
        )


def _object(builder: _Builder, node: dict[str, Any]) -> Any:
    cls, name = builder.find(node), full_name(node)
    is_trusted = name in builder.trusted
    made = cls.__new__(cls)
    content = node.get("content")
    state = None if content is None else builder.build(content)
    # Some objects have no attributes; an estimator has its parameters.
    least = (dict,) if issubclass(cls, BaseEstimator) else (dict, type(None))
    if not is_trusted and type(state) not in least:
        raise ModelFileError(f"its {cls.__name__} has no attributes")
    if state is not None:
        # A copy, since some take things out of it that others may share.
        state = dict(state) if type(state) is dict else state
        if hasattr(made, "__setstate__"):
            made.__setstate__(state)
        else:
            made.__dict__.update(state)
    if not is_trusted:
        check_sound(made, name)
    if isinstance(made, BaseEstimator):
        _complete(made)
    return made


def _complete(estimator: BaseEstimator) -> None:
    """Give parameters that are newer than the file their defaults."""
    for name, parameter in parameters_of(type(estimator)).items():
        if parameter.default is not inspect.Parameter.empty:
            vars(estimator).setdefault(name, parameter.default)


def _loss(builder: _Builder, node: dict[str, Any]) -> Any:
    cls, name = builder.find(node), full_name(node)
    arguments = builder.build(node["__reduce__"]["args"])
    state = builder.build(node["content"])
    if name not in builder.trusted and (
        state or not all(type(value) in (int, float) for value in arguments)
    ):
        raise ModelFileError(f"its {cls.__name__} is made of more than numbers")
    made = cls(*arguments)
    if state:
        made.__setstate__(state)
    return made


def _called(builder: _Builder, node: dict[str, Any]) -> Any:
    return builder.find(node)(*builder.build(node["content"]))


_MAKERS: dict[str, Callable[[_Builder, dict[str, Any]], Any]] = {
    "ConstructorFromReduceNode": _called,
    "DTypeNode": _dtype,
    "DefaultDictNode": _default_dict,
    "DictNode": _dict,
    "FunctionNode": _function,
    "JsonNode": _json,
    "ListNode": _list,
    "LossNode": _loss,
    "MaskedArrayNode": _masked,
    "NdArrayNode": _array,
    "ObjectNode": _object,
    "PartialNode": _partial,
    "RandomGeneratorNode": _generator,
    "RandomStateNode": _random_state,
    "SetNode": _set,
    "SliceNode": _slice,
    "SparseMatrixNode": _sparse,
    # A tree is made and filled like a loss; it has to be trusted.
    "TreeNode": _loss,
    "TupleNode": _tuple,
    "TypeNode": _type,
}
