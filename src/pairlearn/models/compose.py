"""Join pair classifiers with the transformers of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, TransformerMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pairlearn.data.blockwise import map_rows
from pairlearn.data.containers import check_table, is_dask, on_host
from pairlearn.data.pairs import Pairs, as_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn.data.types import PairsLike, PointsLike

__all__ = ["OnPoints", "make_pair_pipeline"]


def _transformer_has(name: str) -> Any:
    def check(self: OnPoints) -> bool:
        getattr(getattr(self, "transformer_", self.transformer), name)
        return True

    return check


class OnPoints(  # type: ignore[call-arg]
    MetaEstimatorMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Apply a transformer of points to the points of pairs.

    Each distinct point is transformed once, however many pairs it is in. Only points
    that occur in the pairs are used to fit, so that in cross-validation the points
    of test pairs stay unseen. Plain points (2-D) are transformed as they are.

    Points in a dask array come into memory to fit the transformer. Numbers are then
    transformed block by block, each time that they are needed; text all at once.

    Parameters
    ----------
    transformer : transformer
        Any transformer of scikit-learn; it does not see the answers.

    Attributes
    ----------
    transformer_ : transformer
        The fitted transformer.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pairlearn import OnPoints, Pairs
    >>> pairs = Pairs([[0.0], [2.0], [99.0]], [[0, 1]])
    >>> OnPoints(StandardScaler()).fit_transform(pairs).X.ravel()
    array([-1.,  1.])

    Texts are points, too, for a transformer that takes them:

    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> texts = Pairs(["a red apple", "a green apple", "two red cars"], [[0, 1]])
    >>> OnPoints(TfidfVectorizer()).fit_transform(texts).X.shape
    (2, 3)
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: PairsLike | PointsLike, y: Any = None) -> Self:  # noqa: ARG002
        """Fit the transformer to the distinct points of the pairs.

        Parameters
        ----------
        X : Pairs, array of shape (n_pairs, 2, n_features), or points
            What to fit to.
        y : ignored
            The answers, for the interface of scikit-learn.

        Returns
        -------
        self
        """
        self.transformer_ = clone(self.transformer)
        self.transformer_.fit(self._given(on_host(_pairs_or_points(X)[1])))
        return self

    def _given(self, points: Any) -> Any:
        """Return points as the transformer takes them: a column of texts as a list.

        A text vectoriser wants texts, and a table of one column holds rows.
        """
        if getattr(points, "ndim", 1) != 2 or points.shape[1] != 1:
            return points
        wanted = get_tags(self.transformer).input_tags
        if not wanted.string or wanted.two_d_array:
            return points
        column = points.iloc[:, 0] if hasattr(points, "iloc") else points[:, 0]
        return list(column)

    def transform(self, X: PairsLike | PointsLike) -> Any:
        """Transform the points, and keep the pairs.

        Parameters
        ----------
        X : Pairs, array of shape (n_pairs, 2, n_features), or points
            What to transform.

        Returns
        -------
        Pairs or points
            `Pairs` for pairs; what the transformer returns for points.
        """
        check_is_fitted(self)
        index, points = _pairs_or_points(X)
        if is_dask(points) and points.dtype.kind in "biuf":
            transformed = map_rows(self.transformer_.transform, points)
        else:
            transformed = self.transformer_.transform(self._given(on_host(points)))
        return transformed if index is None else Pairs(transformed, index)

    @available_if(_transformer_has("get_feature_names_out"))  # type: ignore[untyped-decorator]
    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the transformed features.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the features before.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        names: NDArray[Any] = self.transformer_.get_feature_names_out(input_features)
        return names

    def set_output(self, *, transform: str | None = None) -> Self:
        """Set what the transformer returns for points, such as "pandas".

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            As in scikit-learn.

        Returns
        -------
        self
        """
        for inner in (self.transformer, getattr(self, "transformer_", None)):
            if inner is not None:
                inner.set_output(transform=transform)
        return self

    @property
    def n_features_in_(self) -> int:
        """Number of features that the transformer was fitted to."""
        return int(self.transformer_.n_features_in_)

    @property
    def feature_names_in_(self) -> Any:
        """Names of the features that the transformer was fitted to."""
        return self.transformer_.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.transformer).input_tags
        tags.input_tags.three_d_array = True
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.allow_nan = inner.allow_nan
        return tags


def make_pair_pipeline(
    *steps: Any, memory: Any = None, verbose: bool = False
) -> Pipeline:
    """Build a scikit-learn pipeline of point transformers and a pair classifier.

    Every transformer is wrapped by :class:`OnPoints`; the result is an ordinary
    :class:`sklearn.pipeline.Pipeline` with steps named after the transformers, so
    that a parameter is set as ``standardscaler__transformer__with_mean``.

    Parameters
    ----------
    *steps : estimators
        Transformers of points, and last a pair classifier.
    memory, verbose
        As for :class:`sklearn.pipeline.Pipeline`.

    Returns
    -------
    sklearn.pipeline.Pipeline

    Examples
    --------
    >>> from sklearn.kernel_approximation import Nystroem
    >>> from sklearn.preprocessing import StandardScaler
    >>> from pairlearn import CIPSClassifier, make_pair_pipeline
    >>> pipe = make_pair_pipeline(StandardScaler(), Nystroem(), CIPSClassifier())
    >>> [name for name, _ in pipe.steps]
    ['standardscaler', 'nystroem', 'cipsclassifier']

    Texts, as a list, an array or a Series of strings:

    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from pairlearn import MCLClassifier, Pairs
    >>> texts = ["red apple", "green apple", "fast car", "slow car", "ripe apple"]
    >>> pairs = Pairs(texts, [[0, 1], [2, 3], [0, 2], [1, 3]])
    >>> pipe = make_pair_pipeline(TfidfVectorizer(), MCLClassifier(random_state=0))
    >>> found = pipe.fit(pairs, [1, 1, -1, -1]).predict(["an apple", "my car"])
    >>> bool(found[0] != found[1])
    True
    """
    if not steps:
        raise ValueError("a pipeline needs at least a pair classifier")
    if not hasattr(steps[-1], "predict"):
        raise ValueError(
            "the last step must be a pair classifier, such as CIPSClassifier(); got "
            f"{steps[-1]!r}"
        )
    names = [_name(step) for step in steps]
    for name in {name for name in names if names.count(name) > 1}:
        places = [k for k, other in enumerate(names) if other == name]
        for number, k in enumerate(places, start=1):
            names[k] = f"{name}-{number}"
    wrapped = [*(_wrap(step) for step in steps[:-1]), steps[-1]]
    return Pipeline(
        list(zip(names, wrapped, strict=True)), memory=memory, verbose=verbose
    )


def _name(step: Any) -> str:
    if isinstance(step, str):
        return step
    inner = step.transformer if isinstance(step, OnPoints) else step
    return type(inner).__name__.lower()


def _wrap(step: Any) -> Any:
    if isinstance(step, OnPoints) or step is None or step == "passthrough":
        return step
    return OnPoints(step)


def _pairs_or_points(X: Any) -> tuple[Any, PointsLike]:
    """Return the index of pairs, or None for plain points, and the points."""
    if isinstance(X, Pairs) or _is_array_of_pairs(X):
        pairs = as_pairs(X).compact()
        return pairs.index, pairs.X if is_dask(pairs.X) else on_host(pairs.X)
    # A transformer of scikit-learn works in memory.
    return None, check_table(X) if is_dask(X) else on_host(X)


def _is_array_of_pairs(X: Any) -> bool:
    if hasattr(X, "ndim") or hasattr(X, "columns"):
        return bool(np.ndim(X) == 3)
    if not isinstance(X, list | tuple):
        return False
    try:
        shape = np.shape(X)
    except ValueError:  # a list of objects of different lengths
        return False
    # A list of matrices is a list of objects, unless each can be two points.
    return len(shape) == 3 and shape[1] == 2
