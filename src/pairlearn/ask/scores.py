r"""What the strategies of asking measure candidates by, computed once for each model.

**Features.** :func:`embed` turns points into features z(x) such that z(x)^T z(x') is
the prior covariance of the scores f(x) and f(x'): nine times a Laplacian kernel of the
points with their columns bent (one of those that :class:`~pairlearn.PairClassifier`
tries; by Nystroem's method), plus one for the offset. Answers do not change them.

**Variance.** With w(x) = p(x) (1 - p(x)) the curvature of the logistic loss at a point
with probability p(x), the answers about the points A leave the weights of f with the
covariance (Laplace's approximation)

.. math:: S = \Bigl(I + \sum_{a \in A} w_a z_a z_a^\top\Bigr)^{-1} ,

and the scores with c(x, x') = z(x)^T S z(x') and v(x) = c(x, x). One more answer, about
x, takes c(x, r)^2 / (v(x) + 1 / w(x)) from the variance of f(r). A probability moves by
w(r) when f(r) moves by one; so of the variance of all probabilities, summed over the
candidates r, the answer takes

.. math::

    g(x) = \frac{\sum_r w_r^2\, c(x, r)^2}{v(x) + 1 / w(x)}
         = \frac{z^\top S G S z}{z^\top S z + 1 / w(x)} ,
    \qquad G = \sum_r w_r^2 z_r z_r^\top .

That is what :class:`~pairlearn.ask.strategies.Informative` asks for. It is small where
the model is sure, where many answers are near, and where few points are.

**Late questions.** G counts how far probabilities are off, whichever side of one half
they are on. Once the model knows a hundred points, what is left to win is mostly the
side of those that are near one half, and g(x) is multiplied with w(x).

**Questions that are out.** Their answers change S whatever they are: with P these
points, A = S Z_P^T and M = (Z_P A + diag(1 / w_P))^{-1}, S becomes S - A M A^T. Then
c(x, .), v and the sum above change by products with A alone (:meth:`Scores.gains`), so
that nothing of the size of all candidates is computed again.

**Several classes.** w(x) = (1 - sum of p_c(x)^2) / 2, which is p (1 - p) for two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve, inv

from pairlearn.data.containers import take_rows
from pairlearn.models.auto.columns import ColumnView, chunks
from pairlearn.models.auto.kernels import FeatureMap, Kernel

if TYPE_CHECKING:
    from pairlearn.data.types import Floats, Ints, PointsLike

__all__ = ["Scores", "embed", "score_candidates"]

_KERNEL = Kernel("laplacian", 4.0)
# Prior standard deviation of the scores.
_SPREAD = 3.0
# Points that columns are bent by, and from which the principal axes are taken.
_SAMPLE = 4000
# No point that was answered counts as less than this, however sure the model is.
_LEAST_ANSWERED = 0.02
# No candidate is more certain than this.
_LEAST = 1e-4
# With so many points answered about, those that the model doubts are preferred, and
# with so many asked about, none is chosen at random any more.
LATE = 100


def embed(X: PointsLike, n_components: int = 200, seed: int = 0) -> Floats:
    """Return features of points whose products are prior covariances of scores.

    Parameters
    ----------
    X : array-like, sparse or data frame of shape (n, n_features)
        Points.
    n_components : int
        The most features, less one.
    seed : int
        Seed of the landmarks.

    Returns
    -------
    ndarray of shape (n, at most n_components + 1)

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> Z = embed(X)
    >>> Z.shape[0], round(float(np.mean(np.sum(Z**2, axis=1))), 6)
    (50, 10.0)
    """
    rng = np.random.RandomState(seed)
    n_points = X.shape[0]
    sample = take_rows(X, np.sort(rng.permutation(n_points)[:_SAMPLE]))
    view = ColumnView("power").fit(sample, rng)
    bent = view.transform(sample)
    if not bent.shape[1]:
        return np.ones((n_points, 1))
    features = FeatureMap(_KERNEL, n_components).fit(bent, rng)
    parts = [
        features.transform(view.transform(take_rows(X, np.arange(n_points)[rows])))
        for rows in chunks(X)
    ]
    Z = _SPREAD * np.concatenate(parts)
    return np.column_stack([Z, np.ones(n_points)])


@dataclass(frozen=True)
class Scores:
    """Scores of all candidates, for one model.

    Attributes
    ----------
    proba : ndarray of shape (n, n_classes)
        Class probabilities.
    weight : ndarray of shape (n,)
        w of each candidate.
    variance : ndarray of shape (n,)
        v of each candidate.
    influence : ndarray of shape (n,)
        z^T S G S z of each candidate.
    S, SGS : ndarray of shape (d, d)
        The matrices of the same names, for features of d columns.
    answered : ndarray of int
        Candidates that the model has learned from.
    """

    proba: Floats
    weight: Floats
    variance: Floats
    influence: Floats
    S: Floats
    SGS: Floats
    answered: Ints

    @classmethod
    def of(cls, proba: Floats, Z: Floats, answered: Ints) -> Self:
        """Compute them from class probabilities.

        Parameters
        ----------
        proba : ndarray of shape (n, n_classes)
            Class probabilities.
        Z : ndarray of shape (n, d)
            Features.
        answered : ndarray of int
            Candidates that the model has learned from.

        Returns
        -------
        Scores
        """
        weight = np.maximum((1 - np.sum(proba**2, axis=1)) / 2, _LEAST)
        known = Z[answered]
        noise = np.maximum(weight[answered], _LEAST_ANSWERED)
        S = inv(np.eye(Z.shape[1]) + (known.T * noise) @ known)
        S = (S + S.T) / 2
        weighted = Z * weight[:, None]
        SGS = S @ (weighted.T @ weighted) @ S
        variance, influence = (
            np.einsum("ij,ij->i", Z @ matrix, Z) for matrix in (S, SGS)
        )
        return cls(proba, weight, variance, influence, S, SGS, answered)

    @classmethod
    def before(cls, Z: Floats, n_classes: int) -> Self:
        """Compute them before there is a model: every class is as likely everywhere.

        Examples
        --------
        >>> Scores.before(np.eye(3), 2).variance
        array([1., 1., 1.])
        """
        proba = np.full((len(Z), n_classes), 1 / n_classes)
        return cls.of(proba, Z, np.zeros(0, dtype=np.intp))

    def gain(self, variance: Floats, influence: Floats, candidates: Ints) -> Floats:
        """Return g of some candidates, by their v and z^T S G S z; late, times w.

        Parameters
        ----------
        variance, influence : ndarray of shape (n_candidates,)
            As the attributes, perhaps with questions that are out let in.
        candidates : ndarray of int
            The candidates.

        Returns
        -------
        ndarray of shape (n_candidates,)
        """
        weight = self.weight[candidates]
        found = influence / (variance + 1 / weight)
        return np.asarray(found * weight if len(self.answered) >= LATE else found)

    def gains(self, Z: Floats, candidates: Ints, out: Ints) -> Floats:
        """Return g of some candidates, while questions are out.

        Parameters
        ----------
        Z : ndarray of shape (n, d)
            The features that the scores were computed from.
        candidates : ndarray of int
            The candidates.
        out : ndarray of int
            Points whose answers are not in the model.

        Returns
        -------
        ndarray of shape (n_candidates,)

        Examples
        --------
        Of three points at one place and two at another, it is best to ask about one of
        the three, and while two of these are out, about one of the two:

        >>> Z = np.repeat(np.eye(2), [3, 2], axis=0)
        >>> scores, everything = Scores.before(Z, 2), np.arange(5)
        >>> scores.gains(Z, everything, np.array([], dtype=int)).round(4)
        array([0.0375, 0.0375, 0.0375, 0.025 , 0.025 ])
        >>> scores.gains(Z, everything, np.array([0, 1])).round(4)
        array([0.0179, 0.0179, 0.0179, 0.025 , 0.025 ])
        """
        variance, influence = self.variance[candidates], self.influence[candidates]
        if len(out):
            here, there = Z[candidates], Z[out]
            A, B = self.S @ there.T, self.SGS @ there.T
            inner = cho_factor(there @ A + np.diag(1 / self.weight[out]))
            # C has c(x, P) in its rows; S z becomes S z - A D, with D of the row.
            C = here @ A
            D = cho_solve(inner, C.T).T
            variance = variance - np.sum(C * D, axis=1)
            influence = (
                influence
                - 2 * np.sum(D * (here @ B), axis=1)
                + np.sum((D @ (there @ B)) * D, axis=1)
            )
        return self.gain(variance, influence, candidates)


def score_candidates(model: Any, X: PointsLike, Z: Floats, answered: Ints) -> Scores:
    """Return the scores of candidates by a model.

    Parameters
    ----------
    model : fitted classifier
        Has `predict_proba`.
    X : array-like, sparse or data frame of shape (n, n_features)
        The candidates.
    Z : ndarray of shape (n, d)
        Their features, as by :func:`embed`.
    answered : ndarray of int
        Which of them the model has learned from.

    Returns
    -------
    Scores
    """
    return Scores.of(np.asarray(model.predict_proba(X)), Z, answered)
