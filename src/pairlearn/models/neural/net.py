"""PairNet: a network as a pair classifier."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from torch import Tensor

from pairlearn.data.checks import check_choice, check_integer
from pairlearn.data.containers import take_rows
from pairlearn.data.row_hashes import forget
from pairlearn.engine.components.risk_sum import LIKELIHOODS
from pairlearn.models.base import n_wanted
from pairlearn.models.neural.base import NetworkClassifier
from pairlearn.models.neural.joint import ComponentLikelihoodLoss
from pairlearn.models.neural.losses import (
    ContrastiveLoss,
    PairLikelihoodLoss,
    PairLoss,
    ProductLoss,
    SemiSupervisedPairLoss,
)
from pairlearn.models.neural.training import outputs
from pairlearn.models.probabilistic import ProbabilisticPairClassifier
from pairlearn.trust.certify import judge
from pairlearn.trust.kept_pairs import LEAST_KEPT, keep_aside
from pairlearn.trust.noise import Noise, as_noise, rates_of
from pairlearn.trust.sample_checks import MoreKindsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.random import RandomState
    from numpy.typing import ArrayLike
    from torch import nn

    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats, Ints, PairsLike, PointsLike
    from pairlearn.models.base import Answered
    from pairlearn.trust.certificate import Certificate

__all__ = ["PairNet"]

LOSSES = ("likelihood", "product")


def _is_likelihood(net: Any) -> bool:
    if isinstance(net.loss, PairLikelihoodLoss) or net.loss == "likelihood":
        return True
    raise AttributeError(
        "probabilities need loss='likelihood'; the scores of other losses are not "
        "log-odds"
    )


class PairNet(ProbabilisticPairClassifier, NetworkClassifier):
    r"""A network that maps points to scores, learned from pairs.

    With f the network, it minimises the mean of a pair loss plus the penalty of the
    optimizer's weight decay: for loss="likelihood" the negative log-likelihood of the
    answers,

    .. math::

        -\frac{1}{m} \sum_k \left[\tfrac{1 + t_k}{2} \log S_k
        + \tfrac{1 - t_k}{2} \log(1 - S_k)\right],
        \qquad S_k = \sum_c p_c(x_k) \, p_c(x'_k),

    with p the sigmoid of one score or the softmax of one per class; for loss="product"
    the logistic loss of f(x) f(x'), as in CIPS. Where pairs share points, the
    likelihood is that of all answers together (see `likelihood`). Batches are drawn
    from the pairs, and their points are gathered by number, so that the pairs are never
    copied. Training stops when the loss of held-out pairs has not improved for
    `patience` epochs, and the weights of the best epoch are kept.

    Parameters
    ----------
    module : Module, callable or None, default=None
        The network: takes points of shape (n, n_features), returns scores of shape
        (n,) or (n, 1), or (n, n_classes) for more classes. An instance is copied, and
        training begins from its weights; a class or function is called without
        arguments. It gets the points as they are, and its last layer should be linear:
        scores need both signs, so no sigmoid or softmax. None: an :class:`MLP` behind
        standardised features.
    hidden : sequence of int, default=(100, 100)
        Units of the hidden layers of that MLP.
    loss : {"likelihood", "product"} or Module, default="likelihood"
        What to minimise, or a loss of `pairlearn.models.neural`, such as
        ``ProductLoss("squared")`` or ``SDLoss(prior=0.7)``.
    n_classes : int, default=2
        Number of classes; more than two with the likelihood.
    flip_rates : tuple, float, "auto", "symmetric" or None, default=None
        How often answers are wrong, for the likelihood: (r1, r0) with
        r1 = P(answer same | same) and r0 = P(answer same | different); a single number
        for symmetric noise; "auto" or "symmetric" to learn both rates, or one, together
        with the weights.
    likelihood : {"component", "pair"}, default="component"
        * "component": with loss="likelihood", answers about points that are connected
          by answers are seen together: what they imply counts, too. The loss of a batch
          is the negative log of the joint likelihood of its answers, a sum over the
          classes of all its points (:mod:`pairlearn.engine.components.likelihood`).
          Batches are made of connected pieces of the graph of answers; components with
          more pairs than a batch are cut in a new random way each epoch. Right answers
          are taken for right in 9,999 of 10,000 cases then. Nothing changes for pairs
          that share no point.
        * "pair": every pair stands alone. So it does with other losses, with a loss
          that you made, and with distributed=True, where processes share the pairs of
          a batch.
    optimizer : {"adam", "adamw", "sgd"} or class, default="adam"
        The optimizer, or a class such as ``torch.optim.RAdam``.
    lr : float, default=1e-3
        Learning rate.
    weight_decay : float, default=1e-4
        The optimizer's penalty on the weights.
    batch_size : int, default=256
        Pairs per step.
    max_epochs : int, default=100
        The most passes over the pairs.
    patience : int or None, default=10
        Epochs without improvement after which training ends. None: never before
        `max_epochs`; the best weights are kept all the same.
    validation_size : float, default=0.1
        Share of the pairs that are held out to tell when to stop. If that is fewer than
        ten pairs, none is held out and the last weights are kept. Where answers are
        seen together, all pairs of some points are held out, at most this share, so
        that no training pair is about these points; their joint likelihood is judged.
    precision : {"float16", "bfloat16", "float64"} or None, default=None
        None: as the module is, float32 as a rule. "float16" or "bfloat16": mixed
        precision, where layers compute in 16 bits and weights and losses stay in 32.
        "float64": everything in 64 bits.
    device : str, default="auto"
        Where to train: "cpu", "cuda", ... "auto": where the points are if they are
        tensors on a GPU, else on a GPU if there is one.
    distributed : bool, default=False
        Share each batch among the processes of ``torchrun`` or ``accelerate launch``,
        one a GPU; needs accelerate. Every process must be given the same pairs and the
        same `random_state`, and ends with the same network.
    checkpoint : path or None, default=None
        Folder for the state after each epoch. If it holds an unfinished training of the
        same pairs and settings, `fit` goes on from there, and ends where it would have
        ended without the interruption; `max_epochs` and `patience` may be raised. It
        needs a `random_state`, as do several processes.
    callbacks : sequence, default=()
        skorch callbacks, such as ``LRScheduler``.
    progress : bool, default=False
        Whether to show a progress bar.
    majority : {+1, -1}, class name or None, default=None
        For two classes: the class that holds more than half of the points. None: no
        class assignment.
    assignment_size : float or int, default=0.2
        Share (or number) of pairs kept out of training for class assignment.
    certificate_size : float, int or None, default=None
        Share (or number) of pairs kept out of everything else for `certificate_`, from
        those whose answer is -1 or +1; pairs that share a point with them are left out
        of training, and fewer are kept where these would be too many. None: no
        certificate; :func:`certify` makes one from fresh pairs.
    classes : tuple or None, default=None
        Names of the classes. None: (-1, 1) for two, 0 to n_classes - 1 for more.
    random_state : int, RandomState or None, default=None
        Seed of the network's first weights, of the batches, and of what is held out.

    Attributes
    ----------
    module_ : Module
        The trained network.
    flip_rates_ : tuple of float or None
        (r1, r0), given or learned, for the likelihood.
    history_ : list of dict
        For each epoch "epoch", "train_loss", "valid_loss" and "seconds".
    n_iter_ : int
        Epochs.
    best_epoch_ : int
        The epoch whose weights were kept.
    valid_loss_ : float or None
        The loss of the held-out pairs in that epoch.
    certificate_ : Certificate or None
        The clustering error, from the pairs that were kept for it; with `flip_rates`,
        of answers without wrong ones. If the rates were learned, its interval begins at
        0, and its upper end holds for all rates below 1/2. Answers between -1 and 1
        count as unsure.
    assignment_ : Assignment or None
        Outcome of the class assignment.
    classes_ : ndarray of shape (n_classes,)
        Names of the classes.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if the points have any.

    Notes
    -----
    Ctrl-C ends the training early: the best weights so far are kept, with a warning.

    *Not guaranteed:* a global minimum. The losses are flat where the network says the
    same of all points, and a network may fail to leave that place: its pair error on
    held-out pairs tells. On a GPU the same seed gives the same network only as far as
    torch's kernels are deterministic.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import Pairs, clustering_error
    >>> from pairlearn.models.neural import PairNet
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1200, 2))
    >>> y = (X**2).sum(axis=1) > 1.4
    >>> pairs, t = Pairs.sample(X, 600, y, random_state=0)
    >>> net = PairNet(lr=0.01, max_epochs=30, random_state=0).fit(pairs, t)
    >>> clustering_error(y, net.predict(X)) < 0.05
    True
    """

    def __init__(
        self,
        module: Any = None,
        *,
        hidden: Sequence[int] = (100, 100),
        loss: Any = "likelihood",
        n_classes: int = 2,
        flip_rates: Any = None,
        likelihood: str = "component",
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
        certificate_size: float | None = None,
        classes: tuple[Any, ...] | None = None,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.module = module
        self.hidden = hidden
        self.loss = loss
        self.n_classes = n_classes
        self.flip_rates = flip_rates
        self.likelihood = likelihood
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
        self.certificate_size = certificate_size
        self.classes = classes  # type: ignore[assignment]
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
            Answers: +1 for same, -1 for different, a number in between if
            uncertain; or bool.
        sample_weight : array-like of shape (n_pairs,), optional
            Weights of the pairs.

        Returns
        -------
        self
        """
        criterion = self._criterion()
        train, kept, rng = self._prepare_fit(pairs, t, sample_weight)
        train, judged = self._keep_for_certificate(train, rng)
        # Points of pairs that do not count shall not set the scale of the features.
        train = train.part(train.weight > 0).compact()
        n_outputs = 1 if self.n_classes == 2 else self.n_classes
        criterion = self._train(train, criterion, n_outputs, rng)
        self.flip_rates_ = getattr(criterion, "flip_rates", None)
        self._sign, self._order = 1.0, np.arange(n_outputs)
        self._warn_if_nothing_learned(train.pairs)
        self._assign_from(kept)
        self.certificate_: Certificate | None = None
        if judged is not None:
            learned = isinstance(getattr(criterion, "logits", None), Tensor)
            noise = as_noise(None if learned else self.flip_rates_)
            noise = Noise("unknown", rates_of(self)) if learned else noise
            kept_aside = judged.pairs.compact()
            self._training_points = forget(self._training_points, kept_aside.X)
            try:
                # Answers between -1 and 1 may be either.
                sure = np.where(np.abs(judged.t) == 1, judged.t, 0.0)
                self.certificate_ = judge(self, kept_aside, sure, noise)
            except MoreKindsError as problem:
                warnings.warn(f"{problem}; so there is no certificate", stacklevel=2)
        return self

    predict_proba: Callable[..., Floats] = available_if(_is_likelihood)(
        ProbabilisticPairClassifier.predict_proba
    )

    def _scores(self, X: PointsLike) -> Floats:
        scores = outputs(self.module_, X)
        if self.n_classes > 2:
            return scores[:, self._order]
        return self._sign * scores.reshape(len(scores))

    def _flip(self) -> None:
        self._sign = -self._sign

    def _reorder(self, order: Ints) -> None:
        self._order = self._order[order]

    def _criterion(self) -> nn.Module:
        """Refuse wrong parameters; return the loss."""
        self._check_network()
        check_integer("n_classes", self.n_classes, minimum=2)
        check_choice("likelihood", self.likelihood, LIKELIHOODS)
        self._check_majority()
        if self.certificate_size is not None and self.n_classes > 2:
            raise ValueError(
                "certificate_size is for two classes (Theorem 1); with "
                f"n_classes={self.n_classes} leave it at None, and call certify(net, "
                "pairs, t) with fresh pairs"
            )
        loss = self.loss
        if isinstance(loss, str):
            check_choice("loss", loss, LOSSES)
            likely = loss == "likelihood"
            loss = self._likelihood_loss() if likely else ProductLoss()
        elif not isinstance(loss, PairLoss):
            raise TypeError(
                f"loss must be one of {LOSSES} or a loss of pairlearn.models.neural; "
                f"got {type(loss).__name__}"
            )
        if isinstance(loss, ContrastiveLoss):
            raise ValueError(
                "loss=ContrastiveLoss() is for embeddings, not for scores; use "
                "DeepMetricClassifier"
            )
        if isinstance(loss, SemiSupervisedPairLoss) and loss.gammas[0] < 1:
            raise ValueError(
                f"a loss with gammas={loss.gammas} needs unlabelled points, which "
                "PairNet is not given; use it in a training loop of your own"
            )
        likely = isinstance(loss, PairLikelihoodLoss)
        if self.flip_rates is not None and (loss is self.loss or not likely):
            raise ValueError(
                "flip_rates go with loss='likelihood'; with a loss of your own, give "
                "them to it: PairLikelihoodLoss(flip_rates)"
            )
        if self.n_classes > 2 and not likely:
            raise ValueError(
                f"n_classes={self.n_classes} needs loss='likelihood'; the other losses "
                "are for two classes"
            )
        criterion: nn.Module = loss
        return criterion

    def _likelihood_loss(self) -> PairLikelihoodLoss:
        """Return the likelihood of single pairs, or of all answers together."""
        # Processes that share a batch would each have a part of a component.
        if self.likelihood == "pair" or self.distributed:
            return PairLikelihoodLoss(self.flip_rates)
        return ComponentLikelihoodLoss(self.flip_rates)

    def _check_output(self, shape: tuple[int, ...], n_points: int) -> None:
        good = [(n_points,), (n_points, 1)]
        if self.n_classes > 2:
            good = [(n_points, self.n_classes)]
        if shape not in good:
            wanted = "(n,) or (n, 1)" if self.n_classes == 2 else f"(n, {good[0][1]})"
            raise ValueError(
                f"with n_classes={self.n_classes} the module must return scores of "
                f"shape {wanted}; for {n_points} points it returned {shape}"
            )

    def _warn_if_nothing_learned(self, pairs: Pairs) -> None:
        """Warn if the network puts all points into one class."""
        some = self._scores(take_rows(pairs.X, np.arange(min(1000, pairs.n_points))))
        classes = some > 0 if self.n_classes == 2 else some.argmax(axis=1)
        if len(np.unique(classes)) == 1:
            warnings.warn(
                f"the network puts all points into one class after {self.n_iter_} "
                "epochs: it has not left the flat region where training begins. Try "
                "patience=None, another lr, batch normalisation in the module, or "
                "scaled features; its last layer must be linear, without an activation",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _keep_for_certificate(
        self, train: Answered, rng: RandomState
    ) -> tuple[Answered, Answered | None]:
        """Return the pairs to train on, and those that judge the result."""
        if self.certificate_size is None:
            return train, None
        pairs, t, weight = train
        size, n_pairs = self.certificate_size, len(t)
        wanted = n_wanted(size, n_pairs)
        learn, kept = keep_aside(
            pairs,
            t,
            wanted,
            rng,
            # Some must be certain; those that are not count as unsure.
            usable=(weight > 0) & np.any(np.abs(t) == 1),
            least=max(1, min(wanted, LEAST_KEPT)),
        )
        if not len(kept):
            raise ValueError(
                f"certificate_size={size!r} of {n_pairs} pairs leaves nothing "
                "for the certificate or too little for training, which must not hold "
                "the same points. Give a share between 0 and 1, or a number of pairs; "
                "if pairs share many points, lower certificate_size, or certify(net, "
                "pairs, t) with pairs of other points"
            )
        return train.part(learn).compact(), train.part(kept).compact()
