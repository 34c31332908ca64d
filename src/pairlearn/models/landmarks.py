"""Features from a similarity, for points that need not be vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.metrics.pairwise import kernel_metrics, pairwise_kernels
from sklearn.utils import check_array, check_random_state, gen_batches
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, validate_data

from pairlearn.data.checks import check_choice, check_integer
from pairlearn.data.containers import object_column, take_rows
from pairlearn.data.pairs import Pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.random import RandomState
    from numpy.typing import NDArray

    from pairlearn.data.types import Floats, PointsLike

__all__ = ["LandmarkSimilarity"]


class LandmarkSimilarity(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    """Describe a point by its similarity to a few landmarks (Remark 2).

    x becomes the vector [K(x, z_1), ..., K(x, z_l)] for any similarity K and landmarks
    z_1, ..., z_l among the training points. The points may be anything that K
    understands: strings, sets, graphs, or vectors. K need be neither symmetric nor
    positive definite.

    Parameters
    ----------
    similarity : callable or str
        K(a, b), a number for two points. Or the name of a kernel of
        :func:`sklearn.metrics.pairwise.pairwise_kernels` ("rbf", "cosine", ...), for
        vectors.
    n_landmarks : int, default=50
        How many landmarks to choose at random among the distinct training points; all
        of them if there are fewer.
    landmarks : sequence of objects, or table of vectors, optional
        The landmarks, in the form of the points; `n_landmarks` is then not used.
    vectorized : bool, default=False
        True: `similarity(A, B)` takes many points at once and returns the matrix of
        shape (len(A), len(B)). A and B are 1-D arrays of objects, or tables if the
        points are vectors. For the parameters of a kernel:
        ``functools.partial(rbf_kernel, gamma=2.0)``.
    random_state : int, RandomState or None, default=None
        Seed of the choice of landmarks.
    n_jobs : int, optional
        How many points are compared at a time, as for :class:`joblib.Parallel`, when K
        takes two points.

    Attributes
    ----------
    landmarks_ : ndarray of objects, or table
        The landmarks.
    n_features_in_ : int
        Number of features; 1 for objects.
    feature_names_in_ : ndarray of str
        Names of the features, if the points have any.

    Notes
    -----
    *Forms of points.* A list, a 1-D array, or a table with one column that is not
    numeric holds one object an entry. Every other array, frame or sparse table holds
    vectors, and K gets its rows as 1-D arrays. Pairs of objects are
    ``Pairs(words, index)``; objects that NumPy takes for arrays, such as lists and
    tuples, first go through :func:`pairlearn.data.containers.object_column`.

    *Distinct points.* Equal points are chosen once if they can be hashed, or are
    arrays, sets, lists or dictionaries of such. Other objects are equal to nothing but
    themselves.

    *Not guaranteed:* that K suits the task. Landmark features separate the classes
    linearly, up to an error, if most points are on average more similar to landmarks
    of their own class [2]_ [3]_; this is not checked. Features of a similarity that is
    bounded need no scaling; for others put a scaler behind.

    References
    ----------
    .. [1] H. Bao, T. Shimada, L. Xu, I. Sato and M. Sugiyama, "Pairwise Supervision Can
       Provably Elicit a Decision Boundary", AISTATS 2022, Remark 2.
    .. [2] M.-F. Balcan, A. Blum and N. Srebro, "A Theory of Learning with Similarity
       Functions", Machine Learning 72, 2008.
    .. [3] P. Kar and P. Jain, "Similarity-based Learning via Data Driven Embeddings",
       NeurIPS 2011.

    Examples
    --------
    >>> from pairlearn import (
    ...     CIPSClassifier, LandmarkSimilarity, Pairs, make_pair_pipeline
    ... )
    >>> def common_letters(a, b):
    ...     return len(set(a) & set(b)) / len(set(a) | set(b))
    >>> LandmarkSimilarity(common_letters, landmarks=["abc"]).fit_transform(["ab", "x"])
    array([[0.66666667],
           [0.        ]])

    Strings in pairs:

    >>> words = ["aab", "abba", "bcab", "xyx", "yyz", "zxyy"]
    >>> pairs = Pairs(words, [[0, 1], [1, 2], [3, 4], [4, 5], [0, 5], [2, 3]])
    >>> features = LandmarkSimilarity(common_letters, random_state=0)
    >>> clf = make_pair_pipeline(features, CIPSClassifier(alpha=0.1))
    >>> clf = clf.fit(pairs, [1, 1, 1, 1, -1, -1])
    >>> a, b, c = clf.predict(["bbbc", "xyz", "ccca"])
    >>> bool(a == c != b)
    True
    """

    def __init__(
        self,
        similarity: str | Callable[[Any, Any], Any],
        *,
        n_landmarks: int = 50,
        landmarks: Any = None,
        vectorized: bool = False,
        random_state: int | RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.similarity = similarity
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.vectorized = vectorized
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: PointsLike | Sequence[Any], y: Any = None) -> Self:  # noqa: ARG002
        """Choose the landmarks.

        Parameters
        ----------
        X : sequence of objects, or table of shape (n_points, n_features)
            Points.
        y : ignored
            For the interface of scikit-learn.

        Returns
        -------
        self
        """
        self._check_parameters()
        points = self._validate(X, reset=True)
        if self.landmarks is None:
            rng = check_random_state(self.random_state)
            rows = _distinct_rows(points, self.n_landmarks, rng)
            self.landmarks_ = take_rows(points, rows)
        else:
            self.landmarks_ = self._validate_landmarks()
        return self

    def transform(self, X: PointsLike | Sequence[Any]) -> Floats:
        """Return the similarity of each point to each landmark.

        Parameters
        ----------
        X : sequence of objects, or table of shape (n_points, n_features)
            Points.

        Returns
        -------
        ndarray of shape (n_points, n_landmarks)
        """
        check_is_fitted(self)
        points = self._validate(X, reset=False)
        if isinstance(self.similarity, str):
            values = pairwise_kernels(points, self.landmarks_, metric=self.similarity)
        elif self.vectorized:
            values = self.similarity(points, self.landmarks_)
        else:
            values = self._compare(points)
        return _check_values(values, points, self.landmarks_)

    @property
    def _n_features_out(self) -> int:
        return int(self.landmarks_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = isinstance(self.similarity, str) or self.vectorized
        tags.input_tags.string = not isinstance(self.similarity, str)
        return tags

    def _check_parameters(self) -> None:
        if isinstance(self.similarity, str):
            check_choice("similarity", self.similarity, sorted(kernel_metrics()))
        elif not callable(self.similarity):
            raise ValueError(
                "similarity must be a function of two points or the name of a kernel; "
                f"got {self.similarity!r}"
            )
        check_integer("n_landmarks", self.n_landmarks)

    def _validate(self, X: Any, *, reset: bool) -> Any:
        """Return points in the form of `_table`; set or check their features."""
        if isinstance(X, Pairs):
            raise ValueError(
                "got pairs where points are needed; put LandmarkSimilarity into "
                "make_pair_pipeline(...) or OnPoints(...)"
            )
        if isinstance(self.similarity, str):
            return validate_data(self, X, reset=reset, accept_sparse="csr")
        if len(getattr(X, "shape", ())) == 2:
            validate_data(self, X, reset=reset, skip_check_array=True)
        elif reset:
            self.n_features_in_ = 1
        return self._table(X)

    def _validate_landmarks(self) -> Any:
        landmarks = self._table(self.landmarks)
        if landmarks.ndim == 2 and landmarks.shape[1] != self.n_features_in_:
            raise ValueError(
                f"the landmarks have {landmarks.shape[1]} features, the points "
                f"{self.n_features_in_}"
            )
        return landmarks

    def _table(self, X: Any) -> Any:
        """Return vectors as a table, and anything else as a 1-D array of objects."""
        if isinstance(self.similarity, str):
            return check_array(X, accept_sparse="csr")
        if not _holds_vectors(X):
            table = _objects(X)
        elif not sparse.issparse(X):
            table = np.asarray(X)
        elif self.vectorized:
            table = X.tocsr()
        else:
            raise ValueError(
                "similarity takes two points, but the points are sparse; give the name "
                "of a kernel, or a function of two sparse tables and vectorized=True"
            )
        if not table.shape[0]:
            raise ValueError("got no points; at least one is needed")
        return table

    def _compare(self, points: NDArray[Any]) -> list[list[float]]:
        # Enough parts for any number of cores, few enough to cost nothing on one.
        batches = gen_batches(len(points), max(1, len(points) // 64))
        parts = Parallel(n_jobs=self.n_jobs)(
            delayed(_compare_all)(self.similarity, points[batch], self.landmarks_)
            for batch in batches
        )
        return [row for part in parts for row in part]


def _compare_all(
    similarity: Callable[[Any, Any], Any], points: NDArray[Any], landmarks: NDArray[Any]
) -> list[list[float]]:
    return [[_number(similarity, x, z) for z in landmarks] for x in points]


def _number(similarity: Callable[[Any, Any], Any], x: Any, z: Any) -> float:
    try:
        value = similarity(x, z)
    except Exception as error:
        error.add_note(f"while comparing {_short(x)} with {_short(z)}")
        raise
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"similarity must return a number; for {_short(x)} and {_short(z)} it "
            f"returned {_short(value)}. A function of many points at once needs "
            "vectorized=True"
        ) from None


def _check_values(values: Any, points: Any, landmarks: Any) -> Floats:
    array = values.toarray() if sparse.issparse(values) else np.asarray(values)
    expected = (points.shape[0], landmarks.shape[0])
    if array.shape != expected:
        raise ValueError(
            f"similarity must return a matrix of shape {expected}, one row per point "
            f"and one column per landmark; got shape {array.shape}. A function of two "
            "points needs vectorized=False"
        )
    array = array.astype(float, copy=False)
    if not np.isfinite(array).all():
        i, j = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(
            f"similarity must be finite; it is {array[i, j]} for point {i}"
            f"{_shown(points, i)} and landmark {j}{_shown(landmarks, j)}"
        )
    return array


def _holds_vectors(X: Any) -> bool:
    """Tell a table of vectors from a column, or a sequence, of objects."""
    if len(getattr(X, "shape", ())) != 2:
        return False
    numeric = sparse.issparse(X) or np.asarray(X).dtype.kind in "biufc"
    return bool(numeric or X.shape[1] != 1)


def _objects(X: Any) -> NDArray[Any]:
    """Return a 1-D array that holds each object as it is."""
    if isinstance(X, str | bytes):
        raise ValueError(
            f"got one string, {_short(X)}, where points are needed; put it into a list"
        )
    if hasattr(X, "columns"):
        X = np.asarray(X)
    if isinstance(X, np.ndarray) and X.ndim == 2:
        X = X[:, 0]
    try:
        objects = list(X)
    except TypeError:
        raise ValueError(
            f"points must be a sequence of objects or a table; got {type(X).__name__}"
        ) from None
    return object_column(objects)[:, 0]


def _distinct_rows(points: Any, n_rows: int, rng: RandomState) -> NDArray[np.intp]:
    """Return the numbers of random points of which no two are equal, ascending."""
    chosen: dict[Hashable, int] = {}
    for row in rng.permutation(points.shape[0]):
        # Not every sparse table gives out a single row by its number.
        point = points[[row]].toarray() if sparse.issparse(points) else points[row]
        chosen.setdefault(_key(point), row)
        if len(chosen) == n_rows:
            break
    return np.sort(np.array(list(chosen.values()), dtype=np.intp))


def _key(point: Any) -> Hashable:
    """Return something that is equal for equal points and can be hashed."""
    if isinstance(point, np.ndarray):
        return ("array", point.shape, tuple(map(_key, point.ravel().tolist())))
    if isinstance(point, list | tuple):
        return (type(point).__name__, *map(_key, point))
    if isinstance(point, set | frozenset):
        return frozenset(point)
    if isinstance(point, dict):
        return frozenset((name, _key(value)) for name, value in point.items())
    try:
        hash(point)
    except TypeError:
        return ("object", id(point))
    return point  # type: ignore[no-any-return]


def _shown(points: Any, row: int) -> str:
    return f" ({_short(points[row])})" if points.ndim == 1 else ""


def _short(thing: Any) -> str:
    text = repr(thing)
    return text if len(text) <= 60 else f"{text[:57]}..."
