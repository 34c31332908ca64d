r"""OVPC and SLLC: a similarity x^T A x' from pairs, then a classifier from A.

Both fit a matrix A to the answers. Reading CIPS as A = w w^T, they drop the rank-one
constraint: the fit becomes convex, but has d^2 unknowns, and a classifier has to be got
out of A in a second step. The d^2 x d^2 matrix of the problem is never built.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from pairlearn.data.checks import check_number
from pairlearn.data.containers import take_rows
from pairlearn.data.row_hashes import remember
from pairlearn.engine.losses import HingeLoss
from pairlearn.engine.points import as_points
from pairlearn.engine.solvers import SMOOTHING
from pairlearn.models.linear.base import LinearPairClassifier

if TYPE_CHECKING:
    from numpy.random import RandomState
    from numpy.typing import ArrayLike

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats, Ints, PairsLike, PointsLike
    from pairlearn.engine.losses import MarginLoss

__all__ = ["OVPCClassifier", "SLLCClassifier"]


# Up to this many pairs, a matrix with a row and a column for each is no burden.
FEW_PAIRS = 3000


class _Bilinear:
    """z^T A z' on pairs, and its pullback to A; z is x with a constant 1 appended."""

    def __init__(self, pairs: Pairs, fit_intercept: bool) -> None:
        self.left, self.right = (
            _dense_rows(pairs.X, rows, fit_intercept)
            for rows in (pairs.left, pairs.right)
        )
        self.size = self.left.shape[1]

    def similarity(self, A: Floats) -> Floats:
        """Return z^T A z' for each pair."""
        return np.asarray(np.einsum("kj,kj->k", self.left @ A, self.right))

    def pullback(self, r: Floats) -> Floats:
        """Return the sum over pairs of r_k z_k z'_k^T."""
        return np.asarray(self.left.T @ (r[:, None] * self.right))

    def gram_root(self) -> Floats:
        """Return the Cholesky factor of the inner products of all z_k z'_k^T."""
        gram = (self.left @ self.left.T) * (self.right @ self.right.T)
        # Pairs that repeat each other would leave it singular.
        gram[np.diag_indices_from(gram)] += 1e-10 * np.trace(gram) / len(gram)
        return np.asarray(cholesky(gram, lower=True))


def _dense_rows(X: PointsLike, rows: Ints, fit_intercept: bool) -> Floats:
    """Return points as dense rows: A is dense, so sparsity would not last anyway."""
    table: Any = X[rows]
    if hasattr(table, "toarray"):
        table = table.toarray()
    if fit_intercept:
        table = np.column_stack([table, np.ones(len(rows))])
    return np.asarray(table, dtype=float)


class _BilinearClassifier(LinearPairClassifier):
    """What OVPC and SLLC share: a classifier from a leading eigenvector."""

    def _take_leading(self, matrix: Floats, X: PointsLike, *, scaled: bool) -> None:
        """Store the leading eigenvector as w and b; warn if it tells nothing apart."""
        values, vectors = np.linalg.eigh(_symmetric(matrix))
        b = vectors[:, -1] * (np.sqrt(max(values[-1], 0.0)) if scaled else 1.0)
        d = X.shape[1]
        self._store(b[:d], b[d] if self.fit_intercept else np.zeros(()))
        sides = self._scores(X) > 0
        if sides.all() or not sides.any():
            warnings.warn(
                "all points of the pairs are on one side of the boundary that was "
                "found. This method depends on the mean and the scale of the features: "
                "standardise them with make_pair_pipeline(StandardScaler(), ...)",
                stacklevel=3,
            )

    def _warn_unless(self, converged: bool) -> None:
        if not converged:
            warnings.warn(
                f"stopped after max_iter={self.max_iter} iterations; raise max_iter, "
                "strengthen the penalty, or loosen tol",
                ConvergenceWarning,
                stacklevel=4,
            )


class OVPCClassifier(_BilinearClassifier):
    r"""Linear classifier by least squares on products of features (OVPC).

    *Reconstructed* from the idea of Zhang and Yan (2007): no fidelity beyond it is
    claimed. With z = (x, 1), the answer is modelled by E[t | x, x'] = (b^T z)(b^T z').
    Step 1 fits a symmetric matrix B instead of b b^T, by ridge regression,

    .. math::

        J(B) = \frac{\sum_k v_k (t_k - z_k^T B z'_k)^2}{\sum_k v_k}
               + \alpha |B|_F^2 ,

    a linear system in B that conjugate gradients solve, with one product with the
    points per iteration. Step 2 takes b = sqrt(lambda_1) u_1 from the leading eigenpair
    of B. Class assignment decides the sign of b.

    Parameters
    ----------
    alpha : float, default=1e-2
        Strength of the ridge penalty.
    fit_intercept : bool, default=True
        Whether the constant 1 is appended to x.
    max_iter : int, default=1000
        Iterations of conjugate gradients.
    tol : float, default=1e-10
        Relative residual at which they stop.
    majority : {+1, -1}, class name or None, default=None
        The class that holds more than half of the points; None: no class assignment.
    assignment_size : float or int, default=0.2
        Share (or number) of pairs kept out of training for class assignment.
    classes : tuple, default=(-1, 1)
        Names of the negative and of the positive class.
    random_state : int, RandomState or None, default=None
        Seed of the choice of pairs for class assignment.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (1, n_features) and (1,)
        b, taken apart.
    matrix_ : ndarray of shape (d, d)
        B, with d = n_features + 1 if there is an intercept.
    objective_ : float
        J at the solution.
    n_iter_ : int
        Iterations of conjugate gradients.
    assignment_ : Assignment or None
        Outcome of the class assignment.
    classes_ : ndarray of shape (2,)
        The negative and the positive class.

    Notes
    -----
    Scale the features first: the penalty includes the constant, so the result depends
    on their means. *Not guaranteed:* that B is near rank one. With few pairs for the
    d (d + 1) / 2 unknowns it is not, and the leading eigenvector is mostly noise.

    References
    ----------
    J. Zhang and R. Yan, "On the value of pairwise constraints in classification and
    consistency", ICML 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import OVPCClassifier, Pairs, clustering_error
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> X = rng.normal(size=(400, 2)) + 3 * y[:, None] - 1
    >>> pairs, t = Pairs.sample(X, 200, y, random_state=0)
    >>> clf = OVPCClassifier().fit(pairs, t)
    >>> clustering_error(y, clf.predict(X)) < 0.05
    True
    """

    def __init__(
        self,
        *,
        alpha: float = 1e-2,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-10,
        majority: Any = None,
        assignment_size: float = 0.2,
        classes: tuple[Any, Any] = (-1, 1),
        random_state: int | RandomState | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.majority = majority
        self.assignment_size = assignment_size
        self.classes = classes
        self.random_state = random_state

    def fit(
        self, pairs: PairsLike, t: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from pairs and answers.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.
        t : array-like of shape (n_pairs,)
            Answers.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        self
        """
        self._check_numbers("max_iter")
        train, kept, _ = self._prepare_fit(pairs, t, sample_weight)
        share = train.weight / train.weight.sum()
        model = _Bilinear(train.pairs, self.fit_intercept)
        self.matrix_, self.n_iter_ = self._solve(model, train.t, share)
        residual = train.t - model.similarity(self.matrix_)
        self.objective_ = float(
            share @ residual**2 + self.alpha * (self.matrix_**2).sum()
        )
        self._take_leading(self.matrix_, train.pairs.X, scaled=True)
        self._fix_sign()
        return self._assign_from(kept)

    def _solve(self, model: _Bilinear, t: Floats, share: Floats) -> tuple[Floats, int]:
        """Solve the normal equations of J for a symmetric B."""
        n_steps = 0

        def normal(B: Floats) -> Floats:
            B = _symmetric(B.reshape(model.size, model.size))
            product = model.pullback(share * model.similarity(B))
            return np.asarray((_symmetric(product) + self.alpha * B).ravel())

        def count(_: Floats) -> None:
            nonlocal n_steps
            n_steps += 1

        operator = LinearOperator((model.size**2,) * 2, matvec=normal, dtype=float)
        target = _symmetric(model.pullback(share * t)).ravel()
        B, unfinished = cg(
            operator, target, rtol=self.tol, maxiter=self.max_iter, callback=count
        )
        self._warn_unless(not unfinished)
        return _symmetric(B.reshape(model.size, model.size)), max(1, n_steps)


class SLLCClassifier(_BilinearClassifier):
    r"""Similarity learning for linear classification (SLLC).

    *Reconstructed* from the idea of Bellet, Habrard and Sebban (2012): no fidelity
    beyond it is claimed. Step 1 learns a similarity K(x, x') = z^T A z', z = (x, 1), by

    .. math::

        J(A) = \frac{\sum_k v_k [1 - t_k z_k^T A z'_k / \gamma]_+}{\sum_k v_k}
               + \beta |A|_F^2 ,

    which is CIPS with the hinge loss and A = w w^T freed of rank one. The hinge is
    minimised through smooth versions of it. Step 2 turns K into a classifier:

    * with labelled points, a linear support vector machine on the features
      [K(x, z_1), ..., K(x, z_l)] for landmarks z_j among the points of the pairs, as
      the authors do (which settles the classes, too);
    * without, the leading eigenvector of the symmetric part of A, and class assignment.

    As K is linear in x, f is linear either way.

    Parameters
    ----------
    gamma : float, default=1.0
        The margin.
    beta : float, default=1e-2
        Strength of the penalty on A.
    n_landmarks : int, default=100
        Number of landmarks, at most the number of points.
    C : float, default=1.0
        Inverse strength of the penalty of the support vector machine.
    fit_intercept : bool, default=True
        Whether the constant 1 is appended to x.
    max_iter : int, default=500
        Iterations of L-BFGS at each smoothing.
    tol : float, default=1e-5
        L-BFGS stops when no entry of the gradient exceeds this.
    majority : {+1, -1}, class name or None, default=None
        The class that holds more than half of the points; None: no class assignment.
        Not needed with labelled points.
    assignment_size : float or int, default=0.2
        Share (or number) of pairs kept out of training for class assignment.
    classes : tuple, default=(-1, 1)
        Names of the negative and of the positive class.
    random_state : int, RandomState or None, default=None
        Seed of landmarks and of the choice of pairs for class assignment.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (1, n_features) and (1,)
        The score f(x) = w^T x + b.
    matrix_ : ndarray of shape (d, d)
        A, with d = n_features + 1 if there is an intercept.
    objective_ : float
        J at the solution.
    n_iter_ : int
        Iterations of L-BFGS.
    assignment_ : Assignment or None
        Outcome of the class assignment.
    classes_ : ndarray of shape (2,)
        The negative and the positive class.

    Notes
    -----
    Scale the features first: the penalty includes the constant, so the result depends
    on their means. *Not guaranteed:* that A is near rank one; the published bounds,
    which are about the authors' own constraints.

    References
    ----------
    A. Bellet, A. Habrard and M. Sebban, "Similarity learning for provably accurate
    sparse linear classification", ICML 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import Pairs, SLLCClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.where(rng.random(400) < 0.5, 1, -1)
    >>> X = rng.normal(size=(400, 2)) + 2 * y[:, None]
    >>> pairs, t = Pairs.sample(X, 150, y, random_state=0)
    >>> clf = SLLCClassifier(random_state=0).fit(pairs, t, labeled=(X[:20], y[:20]))
    >>> round(float(np.mean(clf.predict(X) == y)), 2)
    1.0
    """

    def __init__(
        self,
        *,
        gamma: float = 1.0,
        beta: float = 1e-2,
        n_landmarks: int = 100,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 500,
        tol: float = 1e-5,
        majority: Any = None,
        assignment_size: float = 0.2,
        classes: tuple[Any, Any] = (-1, 1),
        random_state: int | RandomState | None = None,
    ) -> None:
        self.gamma = gamma
        self.beta = beta
        self.n_landmarks = n_landmarks
        self.C = C
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.majority = majority
        self.assignment_size = assignment_size
        self.classes = classes
        self.random_state = random_state

    def fit(
        self,
        pairs: PairsLike,
        t: ArrayLike,
        sample_weight: ArrayLike | None = None,
        labeled: tuple[PointsLike, ArrayLike] | None = None,
    ) -> Self:
        """Learn from pairs and answers, and from labelled points if there are any.

        Parameters
        ----------
        pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
            Pairs.
        t : array-like of shape (n_pairs,)
            Answers.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.
        labeled : tuple (X, y), optional
            Labelled points for step 2, of both classes.

        Returns
        -------
        self
        """
        self._check_numbers("max_iter", "n_landmarks")
        for name in ("gamma", "beta", "C"):
            check_number(name, getattr(self, name))
        if labeled is not None and len(labeled) != 2:
            raise ValueError("labeled must be a pair (X, y) of points and their labels")
        train, kept, rng = self._prepare_fit(
            pairs, t, sample_weight, assign=labeled is None
        )
        model = _Bilinear(train.pairs, self.fit_intercept)
        self._learn_similarity(model, train.t, train.weight / train.weight.sum())
        if labeled is not None:
            self.assignment_ = None
            return self._from_labels(train.pairs, *labeled, rng)
        self._take_leading(self.matrix_, train.pairs.X, scaled=False)
        self._fix_sign()
        return self._assign_from(kept)

    def _learn_similarity(self, model: _Bilinear, t: Floats, share: Floats) -> None:
        """Minimise J through smooth versions of the hinge.

        A is a combination of the products z_k z'_k^T of the pairs. With fewer pairs
        than entries of A it is found in coordinates v in which the similarities are L v
        and the norm of A is that of v, where L L^T is the products' Gram matrix.
        """
        shape = (model.size, model.size)
        few = len(t) < min(model.size**2, FEW_PAIRS)
        L = model.gram_root() if few else np.empty((0, 0))

        def similarity(v: Floats) -> Floats:
            return L @ v if few else model.similarity(v.reshape(shape))

        def pullback(r: Floats) -> Floats:
            return L.T @ r if few else model.pullback(r).ravel()

        def objective(v: Floats, loss: MarginLoss) -> tuple[float, Floats]:
            phi, slope = loss.value_and_derivative(t * similarity(v) / self.gamma)
            r = share * t * slope / self.gamma
            value = float(share @ phi + self.beta * v @ v)
            return value, pullback(r) + 2 * self.beta * v

        v, self.n_iter_ = np.zeros(len(t) if few else model.size**2), 0
        for width in SMOOTHING:
            result = minimize(
                objective,
                v,
                args=(HingeLoss().smoothed(width),),
                jac=True,
                method="L-BFGS-B",
                options={"maxiter": self.max_iter, "gtol": self.tol},
            )
            v, self.n_iter_ = result.x, self.n_iter_ + int(result.nit)
        self._warn_unless(result.status != 1)
        self.objective_ = objective(v, HingeLoss())[0]
        if few:
            weights = solve_triangular(L, v, lower=True, trans="T")
            self.matrix_ = model.pullback(weights)
        else:
            self.matrix_ = v.reshape(shape)

    def _from_labels(
        self, pairs: Pairs, X: PointsLike, y: ArrayLike, rng: RandomState
    ) -> Self:
        """Train a linear support vector machine on similarities to landmarks."""
        X = self._validate_points(X, reset=False)
        labels = self._check_labels(y, X.shape[0])
        numbers = np.arange(X.shape[0])
        self._training_points = remember(X, numbers, self._training_points)
        if len(np.unique(labels)) < 2:
            raise ValueError(
                "labelled points must be of both classes "
                f"{self.classes_.tolist()}; got {np.unique(labels).tolist()}"
            )
        n_landmarks = min(self.n_landmarks, pairs.n_points)
        rows = rng.permutation(pairs.n_points)[:n_landmarks]
        landmarks = as_points(take_rows(pairs.X, rows))
        # K(x, z_j) = x^T (A z_j): linear in x, so the machine's weights fold into w.
        d = pairs.n_features
        right = self.matrix_.T
        constant = right[d] if self.fit_intercept else 0.0
        directions = landmarks.scores(right[:d], constant).T
        offset = directions[d] if self.fit_intercept else np.zeros(n_landmarks)
        features = as_points(X).scores(directions[:d], offset)
        scale = features.std(axis=0) + 1e-12
        machine = LinearSVC(C=self.C, random_state=0).fit(
            features / scale, labels == self.classes_[1]
        )
        weights = machine.coef_[0] / scale
        self._store(
            directions[:d] @ weights,
            np.asarray(offset @ weights + machine.intercept_[0]),
        )
        return self


def _symmetric(matrix: Floats) -> Floats:
    return (matrix + matrix.T) / 2
