"""What came out of a round over all candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pairlearn.data.types import Floats
    from pairlearn.models.auto.ensemble import Ensemble
    from pairlearn.models.auto.folds import Folds
    from pairlearn.models.auto.problem import Problem
    from pairlearn.models.auto.stack import HeldOut
    from pairlearn.models.auto.table import Candidate

__all__ = ["Choice"]


@dataclass(frozen=True)
class Choice:
    """The outcome of a round over all candidates.

    Attributes
    ----------
    ensemble : Ensemble
        The averaged model.
    rows : list of Candidate
        What was tried.
    p : ndarray of shape (n_tested, 2, n_classes)
        Averaged probabilities of held-out pairs, before calibration.
    held_out : HeldOut
        Their answers.
    log_likelihood : float
        Of these answers, after calibration.
    n_iter : int
        Iterations of L-BFGS over all candidates.
    folds : Folds
        The folds of the round.
    """

    ensemble: Ensemble
    rows: list[Candidate]
    p: Floats
    held_out: HeldOut
    log_likelihood: float
    n_iter: int
    folds: Folds

    @property
    def calibrated(self) -> Floats:
        """Calibrated log-probabilities of held-out pairs."""
        given = np.log(np.maximum(self.p, 1e-12))
        return self.held_out.bent(given, self.ensemble.calibration(self.p))

    def out_of_fold(self, problem: Problem) -> Floats:
        """Return calibrated log-probabilities of points, by models that left them out.

        Shape (n_points, n_classes); NaN for points that no model has left out.
        """
        folds, calibrated = self.folds, self.calibrated
        logits = np.full((problem.X.shape[0], calibrated.shape[2]), np.nan)
        first = problem.index[folds.tested[: folds.n_first]]
        logits[first] = calibrated[: folds.n_first]
        judged = slice(len(folds.tested), len(folds.tested) + folds.n_first_points)
        points = folds.points[: folds.n_first_points]
        logits[points] = calibrated[judged, 0]
        return logits
