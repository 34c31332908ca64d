"""`Pairs`: points held once, pairs held as row numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
from scipy import sparse

from pairlearn.data.checks import check_answers, check_integer
from pairlearn.data.containers import (
    check_columns,
    check_table,
    is_dask,
    is_tensor,
    look_up,
    stack_rows,
)
from pairlearn.data.pair_graph import PairGraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats, PairsLike, PointsLike

__all__ = ["Pairs", "as_pairs"]

_TWO_FORMS = (
    "pairs can be given in two forms:\n"
    "  Pairs(X, index)   points X of shape (n_points, n_features) and row numbers of "
    "shape (n_pairs, 2)\n"
    "  array             shape (n_pairs, 2, n_features): the two points of each pair\n"
    "Pairs.from_arrays(left, right) makes the first form from two tables, row by row"
)


class Pairs(PairGraph):
    """Pairs of points: a table of points, and two row numbers per pair.

    It behaves like an array of shape `(n_pairs, 2, n_features)`: it has a length
    and a shape, can be sliced by pair (the points are shared, not copied) and
    turned into an array. So the splitters, searches and pipelines of scikit-learn
    work on it as they do on any array.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame, tensor or dask array
        The points, of shape (n_points, n_features). A NumPy array, a SciPy sparse
        matrix or array, a pandas or a polars frame, a torch tensor on any device, a
        dask array that need not fit into memory; kept by reference. Missing values and
        text are allowed here as long as a pipeline deals with them before a model
        sees them. A list of strings, or of other objects that are not numbers, becomes
        one column; see :func:`pairlearn.data.containers.object_column` and
        :class:`LandmarkSimilarity`.
    index : array-like of shape (n_pairs, 2)
        Row numbers of the two points of each pair.

    Attributes
    ----------
    X : as given
        The points.
    index : ndarray of shape (n_pairs, 2)
        The pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import Pairs
    >>> X = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])
    >>> pairs = Pairs(X, [[0, 1], [1, 2]])
    >>> pairs
    Pairs(n_pairs=2, n_points=3, n_features=2)
    >>> pairs[:1].index
    array([[0, 1]])
    >>> np.asarray(pairs).shape
    (2, 2, 2)
    """

    @classmethod
    def from_arrays(cls, left: PointsLike, right: PointsLike) -> Pairs:
        """Pair the rows of two tables: row k of `left` with row k of `right`.

        Parameters
        ----------
        left, right : array-like, sparse or data frame, (n_pairs, n_features)
            The first and the second point of each pair.

        Returns
        -------
        Pairs

        Examples
        --------
        >>> from pairlearn import Pairs
        >>> Pairs.from_arrays([[1.0], [2.0]], [[3.0], [4.0]]).index
        array([[0, 2],
               [1, 3]])
        """
        left, right = check_table(left), check_table(right)
        if left.shape != right.shape:
            raise ValueError(
                "left and right must have the same shape, one row per pair; got "
                f"{left.shape} and {right.shape}"
            )
        columns = [list(getattr(table, "columns", [])) for table in (left, right)]
        if type(left) is not type(right) or columns[0] != columns[1]:
            raise ValueError(
                "left and right must be tables of the same type and columns; got "
                f"{type(left).__name__} {columns[0]} and {type(right).__name__} "
                f"{columns[1]}"
            )
        if is_dask(left):
            from pairlearn.data.dask.tables import couple_rows

            # Both points of a pair come to lie in one block.
            return as_pairs(couple_rows(left, right))
        n_pairs = left.shape[0]
        index = np.arange(2 * n_pairs).reshape(2, n_pairs).T
        return cls(stack_rows(left, right), index)

    @classmethod
    def from_frame(
        cls,
        points: Any,
        pairs: Any,
        *,
        id: str | None = None,  # noqa: A002 - the user's word for it
        left: str = "left",
        right: str = "right",
        features: Sequence[str] | None = None,
    ) -> Pairs:
        """Look up pairs of ids in a table of points.

        Parameters
        ----------
        points : pandas or polars DataFrame
            One row per point.
        pairs : pandas or polars DataFrame
            One row per pair, with the ids of its two points.
        id : str, optional
            The column of `points` that holds the ids. None: the index of a pandas
            frame, the row number of a polars frame.
        left, right : str, default="left", "right"
            The columns of `pairs` that hold the ids.
        features : sequence of str, optional
            The columns of `points` to learn from; None: all except the id.

        Returns
        -------
        Pairs

        Examples
        --------
        >>> import pandas as pd
        >>> from pairlearn import Pairs
        >>> points = pd.DataFrame({"name": ["ann", "bob", "cy"], "age": [31, 25, 47]})
        >>> asked = pd.DataFrame({"left": ["cy", "ann"], "right": ["ann", "bob"]})
        >>> Pairs.from_frame(points, asked, id="name").index
        array([[2, 0],
               [0, 1]])
        """
        index = look_up(points, pairs, id=id, left=left, right=right)
        return cls(_features(points, id, features), index)

    @classmethod
    def from_answers(
        cls,
        points: Any,
        answers: Any,
        *,
        id: str | None = None,  # noqa: A002 - the user's word for it
        features: Sequence[str] | None = None,
        purpose: str = "learn",
        unsure: bool | None = None,
    ) -> tuple[Pairs, Floats]:
        """Read answers about pairs: the file of ``pairlearn label``, or a frame.

        Parameters
        ----------
        points : pandas or polars DataFrame
            One row per point.
        answers : str, Path or DataFrame
            The file `answers.sqlite` that ``pairlearn label`` writes, also while people
            are answering; or a frame with the columns left and right, which hold ids,
            and answer: "same" (or 1), "different" (or -1), "unsure" (or 0, or empty).
            A column `purpose` may say "audit".
        id : str, optional
            The column of `points` that holds the ids. None: the index of a pandas
            frame; or the row numbers, if the points had no ids.
        features : sequence of str, optional
            The columns of `points` to learn from; None: all except the id.
        purpose : {"learn", "audit", "all"}, default="learn"
            Which answers: those to learn from, audits, with which a model is judged, or
            both. Nothing may be learned from audits that are to judge the model.
        unsure : bool, optional
            Whether pairs about which somebody was unsure are there, with the answer 0.
            None: among audits, where a certificate must count them.

        Returns
        -------
        pairs : Pairs
            One for each answer, in the order in which they were asked; of an audit the
            first sure answer alone counts.
        t : ndarray of shape (n_pairs,)
            The answers.

        See Also
        --------
        pairlearn.files.tables.read_answers : Read files of points and of answers, in
            whatever words, as ``pairlearn fit`` does.

        Notes
        -----
        The page shows the error of each model that it makes meanwhile. ``pairlearn fit
        points.csv answers.sqlite`` takes account of that in its certificate; one from
        these audits does not, unless it is made with ``anytime=True`` and with the
        confidence that :func:`pairlearn.trust.live.live_confidence` gives.

        Examples
        --------
        >>> import pandas as pd
        >>> from pairlearn import Pairs
        >>> points = pd.DataFrame({"name": ["ann", "bob", "cy"], "age": [31, 25, 47]})
        >>> said = pd.DataFrame(
        ...     {
        ...         "left": ["cy", "ann", "bob"],
        ...         "right": ["ann", "bob", "cy"],
        ...         "answer": ["different", "same", "unsure"],
        ...     }
        ... )
        >>> pairs, t = Pairs.from_answers(points, said, id="name")
        >>> pairs.index.tolist(), t
        ([[2, 0], [0, 1]], array([-1.,  1.]))
        """
        from pairlearn.data.answer_tables import find_answers

        index, t = find_answers(points, answers, id=id, purpose=purpose, unsure=unsure)
        return cls(_features(points, id, features), index), t

    @classmethod
    def from_graph(cls, X: PointsLike, adjacency: Any) -> Pairs:
        """Make one pair from every link of a graph.

        A link that is given both ways is one pair, (i, j) with i < j; links from a
        point to itself are left out. In a signed graph the answers are
        ``adjacency[pairs.left, pairs.right]``.

        Parameters
        ----------
        X : array-like, sparse or data frame of shape (n_points, n_features)
            The points.
        adjacency : array-like or sparse of shape (n_points, n_points)
            Non-zero where two points are linked.

        Returns
        -------
        Pairs

        Examples
        --------
        >>> from pairlearn import Pairs
        >>> links = [[0, 1, 0], [1, 0, 1], [0, 0, 0]]
        >>> Pairs.from_graph([[0.0], [1.0], [2.0]], links).index
        array([[0, 1],
               [1, 2]])
        """
        X = check_table(X)
        links = sparse.coo_array(adjacency)
        if links.shape != (X.shape[0], X.shape[0]):
            raise ValueError(
                f"adjacency must be square, with one row and one column for each of "
                f"the {X.shape[0]} points; got shape {links.shape}"
            )
        linked = links.data != 0
        rows, columns = links.coords[0][linked], links.coords[1][linked]
        ends = np.stack([rows, columns], axis=1).astype(np.intp)
        ends = ends[rows != columns]
        # Of a link given both ways, the way up comes first and is kept.
        ends = ends[np.argsort(ends[:, 0] > ends[:, 1], kind="stable")]
        _, first = np.unique(np.sort(ends, axis=1), axis=0, return_index=True)
        return cls(X, ends[first])

    @overload
    @classmethod
    def sample(
        cls,
        X: PointsLike,
        n_pairs: int,
        y: None = ...,
        *,
        reuse: bool = ...,
        random_state: int | RandomState | None = ...,
    ) -> Pairs: ...

    @overload
    @classmethod
    def sample(
        cls,
        X: PointsLike,
        n_pairs: int,
        y: ArrayLike,
        *,
        reuse: bool = ...,
        random_state: int | RandomState | None = ...,
    ) -> tuple[Pairs, Floats]: ...

    @classmethod
    def sample(
        cls,
        X: PointsLike,
        n_pairs: int,
        y: ArrayLike | None = None,
        *,
        reuse: bool = False,
        random_state: int | RandomState | None = None,
    ) -> Pairs | tuple[Pairs, Floats]:
        """Draw random pairs of points.

        Parameters
        ----------
        X : array-like, sparse or data frame of shape (n_points, n_features)
            The points.
        n_pairs : int
            How many pairs to draw.
        y : array-like of shape (n_points,), optional
            Class labels; if given, the answers they imply are returned too.
        reuse : bool, default=False
            False: every point occurs at most once, so the pairs are independent,
            as a certificate needs them; at most n_points // 2 of them. True: a
            point may occur in several pairs.
        random_state : int, RandomState or None
            Seed.

        Returns
        -------
        pairs : Pairs
        t : ndarray of shape (n_pairs,)
            The answers; only if `y` is given.

        Examples
        --------
        >>> import numpy as np
        >>> from pairlearn import Pairs
        >>> X, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 1, 1, 1, 1])
        >>> pairs, t = Pairs.sample(X, 3, y, random_state=0)
        >>> len(np.unique(pairs.index)), t
        (6, array([-1., -1.,  1.]))
        """
        from sklearn.utils import check_random_state

        X = check_table(X)
        n_points = X.shape[0]
        rng = check_random_state(random_state)
        if np.ndim(n_pairs):
            raise ValueError(
                "the order is Pairs.sample(X, n_pairs, y); got an array "
                "where the number of pairs is needed"
            )
        check_integer("n_pairs", n_pairs)
        if reuse:
            if n_points < 2:
                raise ValueError("at least two points are needed to form a pair")
            first = rng.randint(n_points, size=n_pairs)
            # A shift by 1 to n - 1 places reaches every other point alike.
            second = (first + rng.randint(1, n_points, size=n_pairs)) % n_points
            index = np.stack([first, second], axis=1)
        else:
            if 2 * n_pairs > n_points:
                raise ValueError(
                    f"{n_pairs} pairs need {2 * n_pairs} distinct points; there are "
                    f"{n_points}; draw at most {n_points // 2} pairs or pass reuse=True"
                )
            index = rng.permutation(n_points)[: 2 * n_pairs].reshape(n_pairs, 2)
        pairs = cls(X, index)
        return pairs if y is None else (pairs, pairs.answers(y))

    def _repr_html_(self) -> str:
        """Return a table of the first few pairs, for notebooks."""
        from pairlearn.data.notebook import pairs_html

        return pairs_html(self)

    def to_frame(self, t: ArrayLike | None = None, *, ids: Any = None) -> Any:
        """Return the pairs as a pandas frame, one row per pair.

        Parameters
        ----------
        t : array-like of shape (n_pairs,), optional
            Answers, for a column `answer`.
        ids : array-like of shape (n_points,), optional
            The ids of the points. None: the index of the points, if they are a pandas
            frame, and else their row numbers.

        Returns
        -------
        pandas.DataFrame
            With the columns left, right and, with `t`, answer: what
            :meth:`from_frame` and :meth:`from_answers` read.

        Examples
        --------
        >>> from pairlearn import Pairs
        >>> pairs = Pairs([[0.0], [1.0], [5.0]], [[0, 1], [1, 2]])
        >>> pairs.to_frame([1, -1], ids=["ann", "bob", "cy"])
          left right  answer
        0  ann   bob     1.0
        1  bob    cy    -1.0
        """
        from pairlearn.data.frames import frame_of_pairs

        if t is not None:
            t = check_answers(t, len(self), self.index)
        return frame_of_pairs(self.X, self.index, t, ids)


def _features(
    points: Any,
    id: str | None,  # noqa: A002 - the user's word for it
    features: Sequence[str] | None,
) -> Any:
    """Return the columns of a frame to learn from: all except the id, if none."""
    check_columns("points", points, features or [])
    if features is None:
        features = [column for column in points.columns if column != id]
    return points[list(features)]


def as_pairs(pairs: PairsLike) -> Pairs:
    """Return pairs given as `Pairs` or as an (n_pairs, 2, n_features) array.

    Parameters
    ----------
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        The pairs.

    Returns
    -------
    Pairs
        Over the same memory where possible.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn.data.pairs import as_pairs
    >>> as_pairs(np.zeros((4, 2, 3)))
    Pairs(n_pairs=4, n_points=8, n_features=3)
    """
    if isinstance(pairs, Pairs):
        return pairs
    if is_dask(pairs) and not hasattr(pairs, "columns"):
        from pairlearn.data.dask.tables import known_chunks

        # Both points of a pair in one block.
        known = known_chunks(pairs)
        pairs = known.rechunk(dict.fromkeys(range(1, known.ndim), -1))
    if sparse.issparse(pairs) or hasattr(pairs, "columns"):
        raise ValueError(f"got a table of points where pairs are needed; {_TWO_FORMS}")
    try:
        array: Any = pairs if is_tensor(pairs) or is_dask(pairs) else np.asarray(pairs)
    except ValueError:  # NumPy's word for rows of different lengths
        raise ValueError(f"the pairs do not form an array; {_TWO_FORMS}") from None
    if array.ndim != 3 or array.shape[1] != 2:
        raise ValueError(
            f"got an array of shape {tuple(array.shape)} where pairs are needed; "
            + _TWO_FORMS
        )
    n_pairs, _, n_features = array.shape
    rows = array.reshape(2 * n_pairs, n_features)
    return Pairs(rows, np.arange(2 * n_pairs).reshape(n_pairs, 2))
