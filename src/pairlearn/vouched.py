"""What may be in a model file: the types this package vouches for.

skops builds an object only if its type is trusted. The names below are those, beyond
the estimators of scikit-learn and the types of NumPy that skops trusts by itself. Each
has to be harmless whatever it is built from and called with, since a forged file
chooses that: constructors that only assign, and functions that only compute.
"""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer

from pairlearn.archive import ModelFileError

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = [
    "FUNCTIONS",
    "TYPES",
    "check_generator",
    "check_schema",
    "check_trusted",
    "refuse_unknown",
]

TYPES = frozenset(
    {
        "pairlearn.assignment.Assignment",
        "pairlearn.auto.classifier.PairClassifier",
        "pairlearn.auto.columns.ColumnView",
        "pairlearn.auto.ensemble.Ensemble",
        "pairlearn.auto.ensemble.Member",
        "pairlearn.auto.kernels.FeatureMap",
        "pairlearn.auto.kernels.Kernel",
        "pairlearn.auto.stack.Calibration",
        "pairlearn.auto.table.Candidate",
        "pairlearn.auto.table.Candidates",
        "pairlearn.certificate.Certificate",
        "pairlearn.cli.encode.ReadDates",
        "pairlearn.cli.encode.ReadNumbers",
        "pairlearn.cli.encode.ReadText",
        "pairlearn.cluster.kmeans.ConstrainedKMeans",
        "pairlearn.cluster.spectral.ConstrainedSpectralClustering",
        "pairlearn.compose.OnPoints",
        "pairlearn.landmarks.LandmarkSimilarity",
        "pairlearn.linear.bilinear.OVPCClassifier",
        "pairlearn.linear.bilinear.SLLCClassifier",
        "pairlearn.linear.cips.CIPSClassifier",
        "pairlearn.linear.links.LinkClassifier",
        "pairlearn.linear.mcl.MCLClassifier",
        "pairlearn.linear.sd.SDClassifier",
        "pairlearn.losses.DoubleHingeLoss",
        "pairlearn.losses.ExponentialLoss",
        "pairlearn.losses.HingeLoss",
        "pairlearn.losses.LinearLoss",
        "pairlearn.losses.LogisticLoss",
        "pairlearn.losses.SmoothedHingeLoss",
        "pairlearn.losses.SquaredHingeLoss",
        "pairlearn.losses.SquaredLoss",
        "pairlearn.losses.UnhingedLoss",
        "pairlearn.meta.PairMetaClassifier",
        "pairlearn.multiclass.OneVsRestPairClassifier",
        "pairlearn.split.PairKFold",
        "sklearn.calibration._CalibratedClassifier",
        "sklearn.calibration._SigmoidCalibration",
        "sklearn.compose._column_transformer.make_column_selector",
        "sklearn.impute._iterative._ImputerTriplet",
        "sklearn.metrics._scorer._PassthroughScorer",
        "sklearn.model_selection._split.GroupKFold",
        "sklearn.model_selection._split.KFold",
        "sklearn.model_selection._split.RepeatedKFold",
        "sklearn.model_selection._split.RepeatedStratifiedKFold",
        "sklearn.model_selection._split.ShuffleSplit",
        "sklearn.model_selection._split.StratifiedKFold",
        "sklearn.model_selection._split.StratifiedShuffleSplit",
        "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
        "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
        "sklearn.utils._bunch.Bunch",
        "sklearn.utils._metadata_requests.MetadataRequest",
        "sklearn.utils._metadata_requests.MethodMetadataRequest",
        "scipy.sparse._coo.coo_array",
        "scipy.sparse._coo.coo_matrix",
        "scipy.sparse._csc.csc_array",
        "scipy.sparse._csc.csc_matrix",
        "scipy.sparse._csr.csr_array",
        "scipy.sparse._csr.csr_matrix",
        "builtins.object",
        "functools.partial",
        "numpy.dtype",
        "numpy.floating",
        "numpy.integer",
        "numpy.number",
    }
)
# A list of columns that a ColumnTransformer keeps in scikit-learn 1.6, not later.
if hasattr(sys.modules[ColumnTransformer.__module__], "_RemainderColsList"):
    TYPES |= {"sklearn.compose._column_transformer._RemainderColsList"}
FUNCTIONS = frozenset(
    {
        "pairlearn.metrics.clustering_accuracy_scorer",
        "pairlearn.metrics.neg_pair_error_scorer",
        "pairlearn.metrics.pair_accuracy_scorer",
        "sklearn.metrics.pairwise.additive_chi2_kernel",
        "sklearn.metrics.pairwise.chi2_kernel",
        "sklearn.metrics.pairwise.cosine_similarity",
        "sklearn.metrics.pairwise.laplacian_kernel",
        "sklearn.metrics.pairwise.linear_kernel",
        "sklearn.metrics.pairwise.polynomial_kernel",
        "sklearn.metrics.pairwise.rbf_kernel",
        "sklearn.metrics.pairwise.sigmoid_kernel",
    }
)
_CLASSES = frozenset(
    {f"builtins.{name}" for name in ("bool", "float", "int", "object", "str")}
)
# Each kind of node in a schema, with the types that it may build; None: any that is
# trusted. What is missing here, such as a method or an operator, no model needs.
_NODES: dict[str, Collection[str] | None] = {
    "DefaultDictNode": {"collections.defaultdict"},
    "DictNode": {
        "builtins.dict",
        "collections.OrderedDict",
        "sklearn.utils._bunch.Bunch",
    },
    "DTypeNode": {"numpy.dtype"},
    "FunctionNode": None,
    "JsonNode": {"builtins.str"},
    "ListNode": {"builtins.list"},
    "LossNode": None,
    "MaskedArrayNode": {"numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"},
    "NdArrayNode": None,
    "ObjectNode": None,
    "PartialNode": {"functools.partial"},
    "RandomGeneratorNode": {"numpy.random._generator.Generator"},
    "RandomStateNode": {"numpy.random.mtrand.RandomState"},
    "SetNode": {"builtins.set"},
    "SliceNode": {"builtins.slice"},
    "SparseMatrixNode": {name for name in TYPES if name.startswith("scipy.sparse.")},
    "TreeNode": {"sklearn.tree._tree.Tree"},
    "TupleNode": {"builtins.tuple", "sklearn.impute._iterative._ImputerTriplet"},
    "TypeNode": None,
}
# Where the types of some nodes come from.
_HOMES = {"LossNode": "sklearn.", "NdArrayNode": "numpy.", "TypeNode": "numpy."}
# What some nodes must not build though it is trusted: an ObjectNode sets attributes
# freely, which types in C read without a look, and a FunctionNode is for functions.
_NEVER: dict[str, Collection[str]] = {
    "FunctionNode": TYPES,
    # Of a number these make so many bytes.
    "NdArrayNode": {"numpy.bytes_", "numpy.void"},
    "ObjectNode": {
        name
        for name in TYPES
        if name.startswith(("builtins.", "functools.", "numpy.", "scipy."))
    },
}
_GENERATORS = {"MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"}
_OF_SEED = {"entropy", "n_children_spawned", "pool_size", "spawn_key"}
_TREES = {
    "sklearn.tree._tree.Tree",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
}


def check_trusted(trusted: Any) -> list[str]:
    """Return the names of types that a user trusts.

    Parameters
    ----------
    trusted : sequence of str or type
        Names like "package.module.Class", or the classes themselves.

    Returns
    -------
    list of str
    """
    if isinstance(trusted, bool | str) or not hasattr(trusted, "__iter__"):
        raise TypeError(
            "trusted must be a list of classes, or of names such as "
            f"'package.module.Class'; got {trusted!r}"
        )
    return [
        f"{item.__module__}.{item.__name__}" if isinstance(item, type) else str(item)
        for item in trusted
    ]


def check_schema(schema: Any, trusted: Collection[str] = ()) -> None:
    """Refuse a schema that asks for anything no model needs.

    This comes before, and does not rely on, the checks of skops.

    Parameters
    ----------
    schema : dict
        Content of the schema.
    trusted : collection of str
        What the user trusts besides.
    """
    protocol = schema.get("protocol") if isinstance(schema, dict) else None
    if type(protocol) is not int or protocol < 1:
        raise ModelFileError("its schema is damaged")
    seen: dict[int, Any] = {}
    files: dict[str, int] = {}
    waiting = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            if isinstance(node.get("__loader__"), str):
                _check_node(node, trusted)
                number = node.get("__id__")
                # An array that many nodes read would be many times in memory.
                file = node.get("file")
                if file is not None and (
                    not number or files.setdefault(file, number) != number
                ):
                    raise ModelFileError("its schema reads an array more than once")
                # skops takes the first node of a number for all of them, so another
                # content behind the same number would go unchecked.
                if number is not None and seen.setdefault(number, node) is not node:
                    if seen[number] != node:
                        raise ModelFileError("its schema names two things alike")
                    continue
            elif not isinstance(node.get("__id__", {}), dict):
                # skops would take this for another node, and so any number of times.
                raise ModelFileError("its schema is damaged")
            waiting.extend(node.values())


def refuse_unknown(names: Collection[str]) -> None:
    """Raise an error about types that nobody vouches for, if there are any.

    Parameters
    ----------
    names : collection of str
        The types.
    """
    unknown = sorted(names)
    if not unknown:
        return
    if set(unknown) <= _TREES:
        raise ModelFileError(
            "it holds decision trees; a forged tree can crash Python, because "
            "scikit-learn does not check the numbers in it. If you know who made the "
            f"file: load(path, trusted={unknown})"
        )
    raise ModelFileError(
        f"it asks for {', '.join(unknown)}, which pairlearn does not vouch for. Load "
        "it only if you know who made the file and what this is, such as a class of "
        f"your own: load(path, trusted={unknown})"
    )


def check_generator(source: Any) -> None:
    """Refuse a generator of random numbers whose place lies outside of its state.

    NumPy reads memory at this place, and does not check it.

    Parameters
    ----------
    source : RandomState or Generator
        As it was built.
    """
    is_old = isinstance(source, np.random.RandomState)
    state = source.get_state(legacy=False) if is_old else source.bit_generator.state
    place = size = 0
    if state["bit_generator"] == "MT19937":
        place, size = state["state"]["pos"], 624
    elif state["bit_generator"] == "Philox":
        place, size = state["buffer_pos"], 4
    if not 0 <= place <= size:
        raise ModelFileError(
            f"it holds a generator of random numbers at place {place} of {size}"
        )


def _check_node(node: dict[str, Any], trusted: Collection[str]) -> None:
    loader, name = node["__loader__"], f"{node['__module__']}.{node['__class__']}"
    if loader == "DictNode":
        _check_keys(node["key_types"])
    if name in trusted and name not in TYPES:
        return
    if loader not in _NODES:
        raise ModelFileError(f"it asks for {name} by {loader}, which no model needs")
    allowed = _NODES[loader]
    if loader in _HOMES and not name.startswith(_HOMES[loader]):
        allowed = _CLASSES if loader == "TypeNode" else ()
    if (allowed is not None and name not in allowed) or name in _NEVER.get(loader, ()):
        raise ModelFileError(f"it asks for {name} as a {loader}, which no model needs")
    if loader == "RandomGeneratorNode":
        state = node["content"]["bit_generator"]["content"]["bit_generator"]
        if json.loads(state["content"]) not in _GENERATORS:
            raise ModelFileError("it asks for a generator of numbers that is none")
        _check_seed(node["content"]["seed_seq"])


def _check_seed(node: Any) -> None:
    """Refuse the seed of a generator that would take for ever to mix."""
    values = node["content"]
    size = values.get("pool_size", {"__loader__": "JsonNode", "content": "4"})
    if (
        node["__loader__"] != "DictNode"
        or not set(values) <= _OF_SEED
        or size["__loader__"] != "JsonNode"
        or json.loads(size["content"]) not in range(4, 65)
    ):
        raise ModelFileError("it holds a generator of numbers whose seed is none")


def _check_keys(kinds: Any) -> None:
    """Refuse a dict whose keys are made by anything but a type, such as a function."""
    if kinds["__loader__"] != "ListNode" or any(
        kind["__loader__"] != "TypeNode" for kind in kinds["content"]
    ):
        raise ModelFileError("it holds a dict whose keys are of no type")
