"""A classifier taken apart: steps of scikit-learn, and what is linear at the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from pairlearn.export import pieces

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn.data.types import Floats

    Step = tuple[str, Any]

__all__ = ["Parts"]


@dataclass
class Parts:
    """Steps from points to features, and scores that are linear in these.

    Attributes
    ----------
    steps : list of (name, transformer)
        Fitted transformers of scikit-learn.
    coef, intercept : ndarray
        One row for two classes, else one per class.
    classes : ndarray
        The names of the classes.
    probabilities : bool
        Whether scores are log-odds or logits.
    names : array of str or None
        Names of the features, if there are no steps.
    """

    steps: list[Step]
    coef: Floats
    intercept: Floats
    classes: NDArray[Any]
    probabilities: bool
    names: Any = None

    def pipeline(self) -> Pipeline:
        """Return the classifier."""
        last = pieces.linear_classifier(
            self.coef,
            self.intercept,
            self.classes,
            probabilities=self.probabilities,
            names=self.names,
        )
        return Pipeline([*self.steps, ("classifier", last)])

    def scores(self) -> Pipeline:
        """Return a transformer from points to scores."""
        one = np.ones(len(self.coef))
        weights = pieces.linear_map(np.atleast_2d(self.coef))
        if self.names is not None:
            weights.feature_names_in_ = np.asarray(self.names, dtype=object)
        return Pipeline(
            [
                *self.steps,
                ("weights", weights),
                ("intercept", pieces.scaled(one, -np.atleast_1d(self.intercept))),
            ]
        )
