r"""The likelihood of all answers together, where pairs share points.

Pairs that share no point have the likelihood of
:mod:`pairlearn.models.auto.likelihood`; all others that of their component,
:mod:`pairlearn.engine.components.likelihood`.

**Folds.** A component that is too large for one fold is not cut: all of its answers
stay, and a fold hides *points*. The model of a fold does not see the features of its
hidden points: they count as of either class alike, p_i(c) = 1 / C. An answer about a
hidden point still joins its neighbours, and its own class is found from the answers
about it, as far as these lead to points that are seen; that is the marginal m_i of the
model of the fold. The hidden point is then judged by the likelihood

.. math:: \log \sum_c p_i(c) \, m_i(c)

of what its features say against what the answers say. That is honest: the model was
trained without the features of the point, and what answers say about its class
relative to other points does not depend on them.

**Right answers.** Where all answers are said to be right, and do not contradict each
other, the sum over a component has two terms
(:mod:`pairlearn.engine.components.certain`). Answers that are only not known to be
wrong may each be, with a chance of 1e-4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from pairlearn.data.graph import spanning_forest
from pairlearn.engine.components.certain import CertainSides
from pairlearn.engine.components.likelihood import class_log_probabilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from pairlearn.data.types import Bools, Floats, Ints
    from pairlearn.engine.components.likelihood import Answers, Components
    from pairlearn.engine.components.propagation import Memory
    from pairlearn.models.auto.likelihood import Labels, PairLikelihood, Rates

__all__ = ["JointLikelihood"]


@dataclass
class JointLikelihood:
    """R of the scores of all points, and its derivative, for each model.

    Parameters
    ----------
    alone : PairLikelihood
        The part of the pairs that share no point, and of the labels.
    index : ndarray of shape (n_pairs, 2)
        The pairs that share points.
    components : Components
        The graph of the pairs that share points.
    answers : Answers
        The answers to these pairs.
    hidden : ndarray of shape (n_points, n_models)
        Which points' features a model does not see.
    rates : tuple of float, or of ndarray of shape (n_pairs, 1)
        (r1, r0), of all pairs or of each.
    certain : bool
        Whether all answers are said to be right.
    """

    alone: PairLikelihood
    index: Ints
    components: Components
    answers: Answers
    hidden: Bools
    rates: Rates | tuple[Floats, Floats]
    certain: bool = False

    def __post_init__(self) -> None:
        self._tables = self.components.tables(self.answers, self.rates)
        self._groups = self._known_together()
        self._sides: CertainSides | None = None
        if self.certain and self._agree():
            self._sides = CertainSides(*self._groups)

    @property
    def n_models(self) -> int:
        """Number of models."""
        return int(self.hidden.shape[1])

    def _known_together(self) -> tuple[Ints, Floats]:
        """Return the component of each point, and the sign that answers imply for it.

        The signs are those of a tree of answers; points in no pair have sign 0.
        """
        t = self.answers.same[:, 0] - self.answers.different[:, 0]
        used = np.flatnonzero(t)
        forest = spanning_forest(self.n_points, self.index[used])
        # An answer that may be wrong says less of points that are further away.
        told: Any = self.rates[0] - self.rates[1]
        if np.ndim(told):
            sign = forest.signs(np.sign(t[used]) * told[used, 0])
        else:
            sign = forest.signs(np.sign(t[used])) * told**forest.depth
        sign[np.bincount(forest.component)[forest.component] == 1] = 0.0
        return forest.component, sign

    def _agree(self) -> bool:
        """Tell whether all answers are sure, about two classes, and can be right."""
        same, different = self.answers
        sure = (same > 0) ^ (different > 0)
        side = np.sign(self._groups[1])[self.index]
        alike = side[:, 0] == side[:, 1]
        agree = alike[:, None] == (same > different)
        return self.components.n_classes == 2 and bool((sure & agree).all())

    def moment(self, Z: Floats, model: int) -> Floats:
        """Return the sum of t (z z'^T + z' z^T) over answers, given and implied.

        A component of n points counts as n - 1 answers: each of its n (n - 1) / 2
        pairs as 2 / n of one. A point is no pair with itself: in small components such
        terms would outweigh what the answers say.
        """
        group, sign = self._groups
        sign = np.where(self.hidden[:, model], 0.0, sign)
        used = np.flatnonzero(sign)
        total = sparse.csr_array(
            (sign[used], (group[used], used)), shape=(group.max() + 1, len(group))
        )
        size = np.maximum(np.bincount(group[used], minlength=group.max() + 1), 1)
        sums = (total @ Z) / np.sqrt(size)[:, None]
        own = (sign[used] / np.sqrt(size[group[used]]))[:, None] * Z[used]
        together = 2 * (sums.T @ sums - own.T @ own)
        return np.asarray(self.alone.moment(Z, model) + together)

    @property
    def labels(self) -> Labels | None:
        """Labelled points."""
        return self.alone.labels

    @property
    def n_points(self) -> int:
        """Number of points."""
        return self.alone.n_points

    def evaluator(
        self, models: Ints, memory: Memory | None = None
    ) -> Callable[[Floats, Ints], tuple[Floats, Floats]]:
        """Return (scores, rows) -> R and its derivative, row k being models[k]."""

        def evaluate(scores: Floats, rows: Ints) -> tuple[Floats, Floats]:
            return self(scores, models[rows], memory, rows)

        return evaluate

    def __call__(
        self,
        scores: Floats,
        models: Ints,
        memory: Memory | None = None,
        rows: Ints | None = None,
    ) -> tuple[Floats, Floats]:
        """Return R of each model and its derivative."""
        if self._sides is not None:
            hidden = self.hidden[:, models]
            risk, pull = self._sides(np.where(hidden, 0.0, scores))
            pull[hidden] = 0.0
        else:
            log_p = class_log_probabilities(scores)
            log_z, points = self._sum(log_p, models, memory, rows)
            risk, pull = -log_z, np.exp(log_p) - points
            pull[:, self.hidden[:, models]] = 0.0
            pull = pull[1] if scores.ndim == 2 else np.moveaxis(pull, 0, 2)
        if not len(self.alone.index) and self.labels is None:
            return risk, pull
        others, by_scores = self.alone(scores, models)
        return risk + others, by_scores + pull

    def marginals(self, scores: Floats, models: Ints) -> Floats:
        """Return what the answers say about the points, by the models' scores.

        The outcome has shape (n_classes, n_points, n_models).
        """
        if self._sides is not None:
            return self._sides.marginals(np.where(self.hidden[:, models], 0.0, scores))
        return self._sum(class_log_probabilities(scores), models)[1]

    def _sum(
        self,
        log_p: Floats,
        models: Ints,
        memory: Memory | None = None,
        rows: Ints | None = None,
    ) -> tuple[Floats, Floats]:
        """Return log Z of each model, and the marginals of the points."""
        unseen = np.where(self.hidden[:, models], -np.log(len(log_p)), log_p)
        tables = self._tables
        some = tables._replace(
            same=tables.same[:, models],
            different=tables.different[:, models],
            log_scale=tables.log_scale[models],
        )
        found = self.components(unseen, some, memory, rows)
        return found.log_z, found.points
