r"""Blocks of columns that belong together, such as the words of a text.

The rows of a block have one unit already (a text vectoriser leaves them with length
one), so its columns are not scaled one by one: a rare word would weigh as much as a
common one. There are many more columns than points, and hardly any holds anything; so
the features are made in the dual. With the rows x of a block and landmarks l, all of
the points or some of them, the linear kernel is k(x, l) = x^T l, and the kernel of
several blocks b with factors f_b is

.. math:: k(x, l) = \sum_b f_b^2 \, x_b^T l_b ,

so that each block is multiplied once, whatever the number of candidates. As a block and
the other columns need not deserve the same weight, candidates see each sort of block
alone, all blocks, and all blocks beside the other columns, whose variance is that of
the blocks times `RATIOS`.

Further candidates see the leading axes of all points alone (latent semantic analysis):
words that occur together show what texts are about, whether anybody was asked about
them or not. Principal axes follow the columns that vary most, which are common words,
and rarer ones tell more; with all columns scaled to variance one they would follow the
rarest, which are pairs of words that met by chance. So columns are brought half of the
way: each is divided by the fourth root of its variance.

A linear model on such features is one on the columns: w = L^T (T v) for landmarks L,
the map T of the dual and weights v. `flattened` makes that of a member, so that a model
that was fitted needs no landmarks, predicts at the cost of one sparse product and says
how much each word weighs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from sklearn.utils.extmath import randomized_svd

from pairlearn.models.auto.columns import ColumnView
from pairlearn.models.auto.kernels import FeatureMap, Kernel, principal_axes
from pairlearn.models.auto.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.random import RandomState

    from pairlearn.data.types import Floats, Ints, PointsLike
    from pairlearn.models.auto.ensemble import Member

__all__ = ["ALL", "BLOCKS", "Block", "BlockView", "block_trials"]
__all__ += ["check_blocks", "find_blocks", "flattened", "in_columns"]

# What candidates with all blocks are called, and with all columns.
BLOCKS, ALL = "blocks", "all"
# The variance of the other columns, beside that of the blocks.
RATIOS = (0.25, 1.0)
# Further candidates see so many of the leading axes: what texts are about shows in few,
# and that takes fewer answers. Where it does not, they are not used.
FEW = (3, 10, 30)
# Landmarks: all points if there are no more than this.
_LANDMARKS = 1000
# From so many columns on a sparse table of rows of length one is taken for a block.
_MANY = 100
# More things than this, each with blocks of its own, are not tried one by one.
_THINGS = 4
_NOISE = 1e-8


class Block(NamedTuple):
    """Columns that belong together.

    Attributes
    ----------
    thing : str
        What they describe, such as the column of a table that holds the text.
    part : str
        In what way, such as "words" or "characters".
    start, stop : int
        The first column, and the one after the last.
    """

    thing: str
    part: str
    start: int
    stop: int


def check_blocks(blocks: Any, n_features: int) -> tuple[Block, ...]:
    """Return blocks, or refuse them.

    Parameters
    ----------
    blocks : sequence of tuple
        (thing, part, start, stop) for each.
    n_features : int
        How many columns there are.

    Returns
    -------
    tuple of Block

    Examples
    --------
    >>> check_blocks([("title", "words", 2, 9)], 9)
    (Block(thing='title', part='words', start=2, stop=9),)
    """
    try:
        made = [Block(str(a), str(b), int(c), int(d)) for a, b, c, d in blocks]
    except (TypeError, ValueError):
        raise ValueError(
            "blocks must be a list of (thing, part, start, stop), such as "
            f"('title', 'words', 0, 500); got {blocks!r}"
        ) from None
    made.sort(key=lambda block: (block.start, block.stop))
    end = 0
    for block in made:
        if not end <= block.start <= block.stop <= n_features:
            raise ValueError(
                f"the block {tuple(block)} overlaps another one, or is not within the "
                f"{n_features} columns of the points"
            )
        end = block.stop
    return tuple(block for block in made if block.start < block.stop)


def find_blocks(X: PointsLike) -> tuple[Block, ...]:
    """Take a sparse table whose rows have length one for a block.

    That is what text vectorisers leave. Rows of zeros, texts without a known word, may
    be among them.

    Examples
    --------
    >>> X = sparse.csr_array(np.eye(200))
    >>> find_blocks(X), find_blocks(2 * X)
    ((Block(thing='', part='', start=0, stop=200),), ())
    """
    if not sparse.issparse(X) or X.shape[1] < _MANY:
        return ()
    square = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    if not np.all((np.abs(square - 1) < 1e-5) | (square == 0)) or not square.any():
        return ()
    return (Block("", "", 0, int(X.shape[1])),)


class BlockView:
    """Some blocks, each times a factor, and perhaps the other columns in a view.

    Parameters
    ----------
    kind : str
        What it is called.
    pieces : sequence of Block
        The blocks.
    others : ndarray of int
        The other columns, or none of them.
    view : ColumnView or None
        How these are put.
    ratio : float or None
        Their variance, beside that of the blocks; None: as the view leaves them.
    """

    def __init__(
        self,
        kind: str,
        pieces: Sequence[Block],
        others: Ints,
        view: ColumnView | None = None,
        ratio: float | None = None,
    ) -> None:
        self.kind = kind
        self.spans = [(block.start, block.stop) for block in pieces]
        self.others, self.view, self.ratio = others, view, ratio
        # So that rows have length one again.
        self.factor = 1 / np.sqrt(max(1, len(self.spans)))
        self.other_factor = 1.0

    def fit(self, X: PointsLike, rng: RandomState) -> Self:
        """Learn how to put the other columns."""
        if self.view is None:
            return self
        dense = _dense(X, self.others)
        self.view.fit(dense, rng)
        if self.ratio is not None:
            put = np.asarray(self.view.transform(dense))
            variance = float(put.var(axis=0).sum())
            self.other_factor = float(np.sqrt(self.ratio / variance)) if variance else 0
        return self

    @property
    def bends(self) -> bool:
        """Whether any column is bent."""
        return self.view is not None and self.view.bends

    @property
    def stays_sparse(self) -> bool:
        """Whether the points in this view are sparse."""
        return bool(self.spans)

    def transform(self, X: PointsLike) -> PointsLike:
        """Return the points in this view: sparse if there are blocks in it."""
        other = self._put(X)
        if not self.spans:
            return other
        X = sparse.csr_array(X)
        parts: list[Any] = [X[:, a:b] * self.factor for a, b in self.spans]
        if self.view is not None:
            parts.append(sparse.csr_array(other))
        return sparse.csr_array(sparse.hstack(parts, format="csr"))

    def columns(self) -> Ints:
        """Return which columns of the table those of this view are, or -1."""
        spans = [np.arange(a, b) for a, b in self.spans]
        n_others = 0 if self.view is None else len(self.view.kept)
        return np.concatenate([*spans, np.full(n_others, -1)])

    def _put(self, X: PointsLike) -> Any:
        if self.view is None:
            return None
        return np.asarray(self.view.transform(_dense(X, self.others))) * (
            self.other_factor
        )


def _dense(X: PointsLike, columns: Ints) -> Floats:
    some = sparse.csr_array(X)[:, columns] if sparse.issparse(X) else X[:, columns]
    filled = some.toarray() if sparse.issparse(some) else some
    return np.asarray(filled, dtype=np.float64)


def block_trials(
    X: PointsLike,
    n_asked: int,
    blocks: tuple[Block, ...],
    n_components: int,
    rng: RandomState,
) -> tuple[list[Callable[[], list[Trial]]], Ints]:
    """Return what makes the candidates that see blocks, and the other columns.

    Parameters
    ----------
    X : ndarray or CSR matrix
        Points; those that were asked about come first.
    n_asked : int
        How many were.
    blocks : tuple of Block
        The blocks.
    n_components : int
        The largest number of features.
    rng : RandomState
        Source of landmarks.

    Returns
    -------
    list of callable, ndarray of int
    """
    inside = np.zeros(X.shape[1], dtype=bool)
    for block in blocks:
        inside[block.start : block.stop] = True
    others = np.flatnonzero(~inside)
    nothing = np.arange(0)
    views = [BlockView(k, some, nothing) for k, some in _sorts(blocks).items()]
    if len(others):
        for ratio in RATIOS:
            kind = f"{ALL} {ratio:g}"
            view = BlockView(kind, blocks, others, ColumnView("power"), ratio)
            views.append(view.fit(X, rng))
    order = rng.permutation(X.shape[0])
    order = order[np.argsort(order >= n_asked, kind="stable")]
    rows = np.sort(order[:_LANDMARKS])
    sparse_X = sparse.csr_array(X)
    grams = {
        (block.start, block.stop): _products(
            sparse_X[:, block.start : block.stop], rows
        )
        for block in blocks
    }

    def make(view: BlockView) -> list[Trial]:
        gram = sum(grams[span] for span in view.spans) * view.factor**2
        other = view._put(X)
        if other is not None:
            gram = gram + other @ other[rows].T
        feature_map, features = _in_dual(
            view.transform(X[rows]), gram, rows, n_components
        )
        made = [(feature_map, features), *_leading(view.transform(X))]
        return [Trial(view, found, Z[:n_asked]) for found, Z in made]

    return [partial(make, view) for view in views], others


def _sorts(blocks: tuple[Block, ...]) -> dict[str, tuple[Block, ...]]:
    """Return which blocks candidates see: each sort alone, each thing alone, all."""
    found = {}
    parts = dict.fromkeys(block.part for block in blocks)
    things = dict.fromkeys(block.thing for block in blocks)
    if len(parts) > 1:
        for part in parts:
            found[part] = tuple(block for block in blocks if block.part == part)
    if 1 < len(things) <= _THINGS:
        for thing in things:
            name = f"{thing} alone"
            found[name] = tuple(block for block in blocks if block.thing == thing)
    return found | {BLOCKS: blocks}


def _products(X: Any, rows: Ints) -> Floats:
    """Return the products of all points with some of them."""
    return np.asarray((X @ X[rows].T).toarray(), dtype=np.float64)


def _in_dual(
    landmarks: Any, gram: Floats, rows: Ints, n_components: int
) -> tuple[FeatureMap, Floats]:
    """Return the features of a linear kernel, by the products with landmarks."""
    feature_map = FeatureMap(Kernel("linear"), n_components)
    feature_map.landmarks = landmarks
    inner = gram[rows]
    mean = inner.mean(axis=0)
    centred = inner - mean - mean[:, None] + mean.mean()
    n = len(rows)
    first = max(0, n - n_components)
    values, vectors = eigh(centred, subset_by_index=(first, n - 1))
    kept = values > max(_NOISE * float(values.max(initial=0)), 1e-12)
    turn = vectors[:, kept] / np.sqrt(values[kept])
    # Weights that sum to zero over the landmarks do not feel the mean.
    Z = gram @ turn
    feature_map.centre = Z.mean(axis=0)
    Z -= feature_map.centre
    axes = principal_axes(Z)
    feature_map.turn = turn @ axes
    feature_map.centre = feature_map.centre @ axes
    return feature_map, np.asarray(Z @ axes)


def _leading(X: Any) -> list[tuple[FeatureMap, Floats]]:
    """Return the leading axes of all points in a view, so many as in each of `FEW`.

    They are found with columns that vary little brought nearer to the others: each is
    divided by the fourth root of its variance.
    """
    few = [k for k in FEW if k < min(X.shape)]
    mean, square = (np.asarray(each.mean(axis=0)).ravel() for each in (X, X * X))
    variance = square - mean**2
    varies = variance > _NOISE * float(variance.max(initial=0))
    if not few or not varies.any():
        return []
    factor = np.where(varies, np.where(varies, variance, 1.0) ** -0.25, 0.0)
    # One more than are wanted: the first points to the mean.
    axes = randomized_svd(
        X @ sparse.diags_array(factor), few[-1] + 1, n_iter=4, random_state=0
    )[2]
    turn = factor[:, None] * axes.T
    Z = np.asarray(X @ turn)
    centre = Z.mean(axis=0)
    main = principal_axes(Z - centre)
    turn, Z, centre = turn @ main, (Z - centre) @ main, centre @ main
    found = []
    for k in few:
        longer = 1 / float(np.sqrt(np.sum(Z[:, :k] ** 2) / len(Z)))
        feature_map = FeatureMap(Kernel("linear"), k)
        feature_map.landmarks = None
        feature_map.turn, feature_map.centre = turn[:, :k] * longer, centre[:k] * longer
        found.append((feature_map, Z[:, :k] * longer))
    return found


def in_columns(member: Member) -> Member:
    """Return a member whose features are made of columns, and not of landmarks."""
    found = member.feature_map
    if found.kernel.name != "linear" or found.landmarks is None:
        return member
    made = FeatureMap(found.kernel, found.n_components)
    made.landmarks, made.centre = None, found.centre
    made.turn = np.asarray(found.landmarks.T @ found.turn)
    return replace(member, feature_map=made)


def flattened(member: Member) -> Member:
    """Return a member whose features are the scores of its models, where it has blocks.

    The scores are the same: one column for each output of each model, and weights of
    one.
    """
    if not member.view.stays_sparse or member.feature_map.kernel.name != "linear":
        return member
    found = member.feature_map
    n_models, n_outputs, _ = member.weights.shape
    flat = member.weights.reshape(n_models * n_outputs, -1)
    made = FeatureMap(found.kernel, found.n_components)
    made.landmarks = None
    turn = found.turn @ flat[:, :-1].T
    made.turn = (
        turn if found.landmarks is None else np.asarray(found.landmarks.T @ turn)
    )
    made.centre = found.centre @ flat[:, :-1].T
    weights = np.column_stack([np.eye(len(flat)), flat[:, -1]])
    weights = weights.reshape(n_models, n_outputs, -1)
    return replace(member, feature_map=made, weights=weights)
