"""What may be in a model file: the types this package vouches for.

A file may ask for the types below and for no other, unless the user trusts it. Each has
to be harmless whatever it is built from and called with, since a forged file chooses
that: constructors that only assign, and functions that only compute. Those of
scikit-learn, with the reasons, are in :mod:`pairlearn.files.trusted_sklearn`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.files.archive import ModelFileError
from pairlearn.files.trusted_sklearn import REVIEWED, why_not

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = [
    "FUNCTIONS",
    "SCALARS",
    "SPECIAL",
    "TYPES",
    "check_schema",
    "check_trusted",
    "full_name",
    "is_ufunc",
    "refuse_unknown",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Of this package. They hand their arrays to NumPy, SciPy and the estimators that they
# hold, and to no compiled code of our own: that is for learning.
_OWN = frozenset(
    {
        "pairlearn.models.pool.classifier.PoolClassifier",
        "pairlearn.trust.assignment.Assignment",
        "pairlearn.models.auto.axes.AxesView",
        "pairlearn.models.auto.blocks.BlockView",
        "pairlearn.models.auto.classifier.PairClassifier",
        "pairlearn.models.auto.columns.ColumnView",
        "pairlearn.models.auto.ensemble.Ensemble",
        "pairlearn.models.auto.ensemble.Member",
        "pairlearn.models.auto.kernels.FeatureMap",
        "pairlearn.models.auto.kernels.Kernel",
        "pairlearn.models.auto.kinds.Kinds",
        "pairlearn.models.auto.kinds.KindsTried",
        "pairlearn.models.auto.stack.Calibration",
        "pairlearn.models.auto.table.Candidate",
        "pairlearn.models.auto.table.Candidates",
        "pairlearn.trust.certificate.Certificate",
        "pairlearn.files.tables.encoders.texts.TextVectors",
        "pairlearn.files.tables.encoder.ReadDates",
        "pairlearn.files.tables.encoder.ReadNumbers",
        "pairlearn.files.tables.encoder.ReadText",
        "pairlearn.files.tables.encoders.embedding.EmbeddedColumn",
        "pairlearn.files.tables.encoders.images.ImageColumn",
        "pairlearn.files.tables.encoders.vectors.VectorColumn",
        "pairlearn.models.cluster.kmeans.ConstrainedKMeans",
        "pairlearn.models.cluster.spectral.ConstrainedSpectralClustering",
        "pairlearn.models.compose.OnPoints",
        "pairlearn.models.landmarks.LandmarkSimilarity",
        "pairlearn.models.linear.bilinear.OVPCClassifier",
        "pairlearn.models.linear.bilinear.SLLCClassifier",
        "pairlearn.models.linear.cips.CIPSClassifier",
        "pairlearn.models.linear.links.LinkClassifier",
        "pairlearn.models.linear.mcl.MCLClassifier",
        "pairlearn.models.linear.sd.SDClassifier",
        "pairlearn.engine.losses.DoubleHingeLoss",
        "pairlearn.engine.losses.ExponentialLoss",
        "pairlearn.engine.losses.HingeLoss",
        "pairlearn.engine.losses.LinearLoss",
        "pairlearn.engine.losses.LogisticLoss",
        "pairlearn.engine.losses.SmoothedHingeLoss",
        "pairlearn.engine.losses.SquaredHingeLoss",
        "pairlearn.engine.losses.SquaredLoss",
        "pairlearn.engine.losses.UnhingedLoss",
        "pairlearn.models.meta.PairMetaClassifier",
        "pairlearn.models.multiclass.OneVsRestPairClassifier",
        "pairlearn.data.folds.PairKFold",
        "pairlearn.people.rates.PeopleRates",
        "pairlearn.people.rates.PersonRates",
    }
)
_SPARSE = frozenset(
    f"scipy.sparse._{form}.{form}_{kind}"
    for form in ("coo", "csc", "csr")
    for kind in ("array", "matrix")
)
# Numbers and text of NumPy. Without bytes and void: of a number these make as many
# bytes.
SCALARS = _words(
    "bool bool_ clongdouble complex128 complex64 datetime64 float16 float32 float64 "
    "floating int16 int32 int64 int8 integer longdouble longlong number object_ str_ "
    "timedelta64 uint16 uint32 uint64 uint8 ulonglong"
)
_SCALARS = frozenset(f"numpy.{name}" for name in SCALARS)
TYPES = _OWN | REVIEWED | _SPARSE | {"builtins.object", "functools.partial"}
FUNCTIONS = frozenset(
    {
        "pairlearn.trust.metrics.clustering_accuracy_scorer",
        "pairlearn.trust.metrics.neg_pair_error_scorer",
        "pairlearn.trust.metrics.pair_accuracy_scorer",
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
# Functions of scipy.special of one number, in closed form or a short series. Of the
# others some take for ever, or read tables by numbers that they are given.
SPECIAL = _words(
    "cbrt entr erf erfc erfinv exp10 exp2 expit expm1 gammaln log1p log_expit "
    "log_ndtr loggamma logit ndtr ndtri psi round"
)
_CLASSES = frozenset(
    {f"builtins.{name}" for name in ("bool", "float", "int", "object", "str")}
)
# Each kind of node in a schema, with the types that it may build. What is missing here,
# such as a method or an operator, no model needs.
_NODES: dict[str, Collection[str]] = {
    "ConstructorFromReduceNode": (),
    "DefaultDictNode": {"collections.defaultdict"},
    "DictNode": {
        "builtins.dict",
        "collections.OrderedDict",
        "sklearn.utils._bunch.Bunch",
    },
    "DTypeNode": {"numpy.dtype"},
    "FunctionNode": FUNCTIONS,
    "JsonNode": {"builtins.str"},
    "ListNode": {"builtins.list"},
    "LossNode": {
        name
        for name in REVIEWED
        if name.startswith(("sklearn._loss._loss.", "sklearn.linear_model._sgd_fast."))
    },
    "MaskedArrayNode": {"numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"},
    "NdArrayNode": _SCALARS | {"numpy.ndarray"},
    "PartialNode": {"functools.partial"},
    "RandomGeneratorNode": {"numpy.random._generator.Generator"},
    "RandomStateNode": {"numpy.random.mtrand.RandomState"},
    "SetNode": {"builtins.set"},
    "SliceNode": {"builtins.slice"},
    "SparseMatrixNode": _SPARSE,
    "TreeNode": (),
    "TupleNode": {"builtins.tuple", "sklearn.impute._iterative._ImputerTriplet"},
    "TypeNode": _CLASSES | _SCALARS,
}
_ELSEWHERE = frozenset().union(*_NODES.values())
# An ObjectNode sets attributes freely, which types in C read without a look.
_NODES["ObjectNode"] = TYPES - _ELSEWHERE
# A dozen estimators within each other come to half of this.
_DEEPEST = 100


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


def check_schema(schema: Any, trusted: Collection[str] = ()) -> set[str]:
    """Refuse a schema that asks for anything no model needs.

    Each item of the schema is looked at once, and no more is kept of it.

    Parameters
    ----------
    schema : dict
        Content of the schema.
    trusted : collection of str
        What the user trusts besides.

    Returns
    -------
    set of str
        The types that it asks for and that nobody vouches for.
    """
    protocol = schema.get("protocol") if isinstance(schema, dict) else None
    if type(protocol) is not int or protocol < 1:
        raise ModelFileError("its schema is damaged")
    unknown: set[str] = set()
    seen: dict[int, Any] = {}
    files: set[str] = set()
    # Level by level. Between a node and the next one there is at most a list or a dict.
    level, depth = [schema], 0
    while level:
        depth += 1
        if depth > 2 * _DEEPEST:
            raise ModelFileError(
                f"its parts are nested more than {_DEEPEST} levels deep"
            )
        below: list[Any] = []
        for node in level:
            if isinstance(node, list):
                below.extend(node)
            elif isinstance(node, dict):
                if "__loader__" in node and not _is_new(node, seen, files):
                    continue
                if "__loader__" in node:
                    unknown.update(_check_node(node, trusted))
                elif not isinstance(node.get("__id__", {}), dict):
                    raise ModelFileError("its schema is damaged")
                below.extend(node.values())
        level = below
    return unknown


def _is_new(node: dict[str, Any], seen: dict[int, Any], files: set[str]) -> bool:
    """Tell whether a node is no copy of another, with the same number."""
    number, file = node.get("__id__"), node.get("file")
    if number is not None:
        if type(number) is not int or number < 1:
            raise ModelFileError("its schema is damaged")
        if seen.setdefault(number, node) is not node:
            # One thing is built for both, so another content would go unchecked. The
            # copy is compared whole, and not looked into again.
            if seen[number] != node:
                raise ModelFileError("its schema gives two things the same number")
            return False
    if file is not None:
        # An array that many nodes read would be many times in memory.
        if number is None or file in files:
            raise ModelFileError("its schema reads an array more than once")
        files.add(file)
    return True


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
    reasons = sorted({why_not(name) for name in unknown})
    if "" not in reasons:
        raise ModelFileError(
            f"it holds {', '.join(name.rpartition('.')[2] for name in unknown)}; a "
            f"forged one can crash Python, because {' and '.join(reasons)}. If you "
            f"know who made the file: load(path, trusted={unknown})"
        )
    raise ModelFileError(
        f"it asks for {', '.join(unknown)}, which pairlearn does not vouch for. Load "
        "it only if you know who made the file and what this is, such as a class of "
        "your own, or one of scikit-learn that was not reviewed: "
        f"load(path, trusted={unknown})"
    )


def full_name(node: dict[str, Any]) -> str:
    """Return the name of the type that a node asks for."""
    return f"{node['__module__']}.{node['__class__']}"


def is_ufunc(node: dict[str, Any]) -> bool:
    """Tell whether a node asks for a function of NumPy on single numbers.

    Where such a function is from differs by version; what it is called does not.
    """
    home = str(node["__module__"]).partition(".")[0]
    name = str(node["__class__"])
    if str(node["__module__"]).startswith("scipy.special"):
        return name in SPECIAL
    return home == "numpy" and isinstance(getattr(np, name, None), np.ufunc)


def _check_node(node: dict[str, Any], trusted: Collection[str]) -> list[str]:
    """Refuse a node; or return what has to be trusted for it, in a list."""
    loader, name = node["__loader__"], full_name(node)
    if loader not in _NODES:
        raise ModelFileError(
            f"it asks for {name} by {str(loader)[:40]}, which no model needs"
        )
    if loader == "DictNode":
        _check_keys(node["key_types"])
    if name in _NODES[loader] or (loader == "FunctionNode" and is_ufunc(node)):
        return []
    of_numpy = loader == "NdArrayNode" and name.startswith("numpy.")
    if name in _ELSEWHERE or name in TYPES or of_numpy:
        raise ModelFileError(f"it asks for {name} as a {loader}, which no model needs")
    return [] if name in trusted else [name]


def _check_keys(kinds: Any) -> None:
    """Refuse a dict whose keys are made by anything but a type, such as a function."""
    if kinds["__loader__"] != "ListNode" or any(
        kind["__loader__"] != "TypeNode" for kind in kinds["content"]
    ):
        raise ModelFileError("it holds a dict whose keys are of no type")
