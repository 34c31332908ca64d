"""Deep metric learning: an embedding in which the classes are clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.cluster import KMeans

from pairlearn.data.checks import check_integer
from pairlearn.models.cluster.base import PairClusterer, order_clusters
from pairlearn.models.neural.base import NetworkClassifier
from pairlearn.models.neural.losses import ContrastiveLoss
from pairlearn.models.neural.training import outputs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.random import RandomState

    from pairlearn.data.types import Floats, Ints, PointsLike
    from pairlearn.models.base import Answered

__all__ = ["DeepMetricClassifier"]


class DeepMetricClassifier(PairClusterer, NetworkClassifier):
    r"""k-means on an embedding that a network has learned from pairs (DML).

    The network G minimises a :class:`ContrastiveLoss`: points of one class are drawn
    together, points of different classes are pushed apart. k-means on the embeddings of
    the training points then finds the classes, and new points go to the nearest
    centre. With two clusters the score is ``f(x) = |G(x) - c_0|^2 - |G(x) - c_1|^2``.

    Parameters
    ----------
    module : Module, callable or None, default=None
        The embedding: takes points of shape (n, n_features), returns (n, k). An
        instance is copied, a class or function is called without arguments. None: an
        :class:`MLP` behind standardised features.
    hidden : sequence of int, default=(100, 100)
        Units of the hidden layers of that MLP.
    n_dimensions : int, default=8
        Dimensions of its embedding.
    form : {"chopra", "hadsell"}, default="chopra"
        The contrastive loss.
    scale : float, default=1.0
        Its scale: the bound Q or the margin m.
    norm : {1, 2} or None, default=None
        The norm of its distances. None: 1 for "chopra", 2 for "hadsell".
    n_clusters : int, default=2
        Number of clusters. Scores and class assignment are for two.
    n_init : int, default=10
        Starts of k-means.
    optimizer, lr, weight_decay, batch_size, max_epochs, patience, validation_size
        As for :class:`PairNet`.
    precision, device, distributed, checkpoint, callbacks, progress
        As for :class:`PairNet`.
    majority : {+1, -1} or None, default=None
        The class that holds more than half of the points. None: no class assignment.
    assignment_size : float or int, default=0.2
        Share (or number) of pairs kept out of training for class assignment.
    classes : tuple, default=(-1, 1)
        Names of the negative and of the positive class; for two clusters.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    module_ : Module
        The trained embedding.
    cluster_centers_ : ndarray of shape (n_clusters, n_dimensions)
        The centres, in the order of `classes_`.
    labels_ : ndarray of shape (n_fitted_points,)
        Class of each fitted point: first the points of the pairs, in the order of
        `rows_`, then the unlabeled ones.
    rows_ : ndarray
        Row numbers of the points of the pairs that were fitted.
    history_, n_iter_, best_epoch_, valid_loss_
        As for :class:`PairNet`.
    assignment_ : Assignment or None
        Outcome of the class assignment.
    classes_ : ndarray of shape (n_clusters,)
        The negative and the positive class; 0 to n_clusters - 1 for more than two.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if the points have any.

    References
    ----------
    S. Chopra, R. Hadsell and Y. LeCun, "Learning a similarity metric discriminatively,
    with application to face verification", CVPR 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import Pairs, clustering_error
    >>> from pairlearn.models.neural import DeepMetricClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1200, 2))
    >>> y = (X**2).sum(axis=1) > 1.4
    >>> pairs, t = Pairs.sample(X, 600, y, random_state=0)
    >>> clf = DeepMetricClassifier(lr=0.01, max_epochs=30, random_state=0)
    >>> clustering_error(y, clf.fit(pairs, t).predict(X)) < 0.05
    True
    """

    def __init__(
        self,
        module: Any = None,
        *,
        hidden: Sequence[int] = (100, 100),
        n_dimensions: int = 8,
        form: str = "chopra",
        scale: float = 1.0,
        norm: int | None = None,
        n_clusters: int = 2,
        n_init: int = 10,
        optimizer: Any = "adam",
        lr: float = 1e-3,
        weight_decay: float = 1e-4,
        batch_size: int = 256,
        max_epochs: int = 100,
        patience: int | None = 10,
        validation_size: float = 0.1,
        precision: str | None = None,
        device: str = "auto",
        distributed: bool = False,
        checkpoint: str | Path | None = None,
        callbacks: Sequence[Any] = (),
        progress: bool = False,
        majority: Any = None,
        assignment_size: float = 0.2,
        classes: tuple[Any, Any] = (-1, 1),
        random_state: int | RandomState | None = None,
    ) -> None:
        self.module = module
        self.hidden = hidden
        self.n_dimensions = n_dimensions
        self.form = form
        self.scale = scale
        self.norm = norm
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.optimizer = optimizer
        self.lr = lr
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_size = validation_size
        self.precision = precision
        self.device = device
        self.distributed = distributed
        self.checkpoint = checkpoint
        self.callbacks = callbacks
        self.progress = progress
        self.majority = majority
        self.assignment_size = assignment_size
        self.classes = classes
        self.random_state = random_state

    def _cluster(self, given: Answered, numbers: Ints, rng: RandomState) -> Ints:  # noqa: ARG002
        self._train(given, self._criterion(), self.n_dimensions, rng)
        embedded = outputs(self.module_, given.pairs.X)
        means = KMeans(
            self.n_clusters, n_init=self.n_init, random_state=rng.randint(2**31 - 1)
        ).fit(embedded)
        order = order_clusters(means.cluster_centers_)
        self.cluster_centers_ = means.cluster_centers_[order]
        clusters: Ints = np.argsort(order)[means.labels_]
        return clusters

    def _affinities(self, X: PointsLike) -> Floats:
        centres = self.cluster_centers_
        embedded = outputs(self.module_, X)
        affinities: Floats = 2 * embedded @ centres.T - (centres**2).sum(axis=1)
        return affinities

    def _flip(self) -> None:
        super()._flip()
        self.cluster_centers_ = self.cluster_centers_[::-1]

    def _criterion(self) -> ContrastiveLoss:
        return ContrastiveLoss(self.form, scale=self.scale, norm=self.norm)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_network()
        self._criterion()
        check_integer("n_dimensions", self.n_dimensions)

    def _check_output(self, shape: tuple[int, ...], n_points: int) -> None:
        if len(shape) != 2 or shape[0] != n_points:
            raise ValueError(
                "the module must return embeddings of shape (n, k); for "
                f"{n_points} points it returned {shape}"
            )
