r"""Margin losses: functions of one number, the margin.

A margin loss turns a score z and an answer t in {-1, +1} into l(z, t) = phi(z t).
Here a loss is the function phi of the margin u = z t: its value, its derivative,
and the facts that theory and solvers rely on:

* the Lipschitz constant of phi, on the whole line or on [-bound, bound];
* whether phi is classification-calibrated (minimising it leads to the smallest
  error), and then its psi-transform

  .. math:: \psi(\theta) = H^-(\tfrac{1+\theta}{2}) - H(\tfrac{1+\theta}{2}),

  where H is the smallest conditional risk and H^- the smallest one with the
  wrong sign (Bartlett, Jordan and McAuliffe, 2006). psi turns an excess
  surrogate risk into an excess error: psi(excess error) <= excess risk.

A loss knows nothing of pairs or points.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.special import expit, xlog1py

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Floats

__all__ = [
    "MarginLoss",
    "LogisticLoss",
    "HingeLoss",
    "SquaredHingeLoss",
    "SquaredLoss",
    "ExponentialLoss",
    "DoubleHingeLoss",
    "UnhingedLoss",
    "LinearLoss",
    "LOSSES",
    "get_loss",
]


class MarginLoss(ABC):
    """A function phi of the margin u = z t.

    Attributes
    ----------
    name : str
        The name under which :func:`get_loss` finds the loss.
    calibrated : bool
        Whether the loss is classification-calibrated for unbounded scores.
    smooth : bool
        Whether the derivative is continuous.
    bounded_below : bool
        Whether the loss has a lower bound; without one only a constraint on the
        weights keeps a minimiser finite.
    linear_odd : bool
        Whether phi(u) - phi(-u) is linear in u; then the unbiased risks of points (SD,
        SU, DU) are convex.
    psi_max : float
        psi(1), the largest value of the psi-transform.
    """

    name: ClassVar[str]
    calibrated: ClassVar[bool] = True
    smooth: bool = True
    bounded_below: ClassVar[bool] = True
    linear_odd: ClassVar[bool] = False
    psi_max: ClassVar[float] = 1.0

    @abstractmethod
    def value_and_derivative(self, margin: Floats) -> tuple[Floats, Floats]:
        """Return phi(u) and phi'(u), elementwise."""

    def value(self, margin: ArrayLike) -> Floats:
        """Return phi(u), elementwise."""
        return self.value_and_derivative(np.asarray(margin, dtype=float))[0]

    def derivative(self, margin: ArrayLike) -> Floats:
        """Return phi'(u), elementwise; at a kink, the right-hand derivative."""
        return self.value_and_derivative(np.asarray(margin, dtype=float))[1]

    @abstractmethod
    def lipschitz(self, bound: float = math.inf) -> float:
        """Return the Lipschitz constant of phi on [-bound, bound]."""

    def psi(self, theta: ArrayLike) -> Floats:
        """Return the psi-transform at theta in [0, 1]."""
        self._require_calibrated()
        theta = np.asarray(theta, dtype=float)
        if np.any((theta < 0) | (theta > 1)):
            raise ValueError("the psi-transform is defined for theta in [0, 1]")
        return self._psi(theta)

    def psi_inverse(self, excess: ArrayLike) -> Floats:
        """Return the theta in [0, 1] with psi(theta) = excess; 1 beyond psi(1)."""
        self._require_calibrated()
        excess = np.asarray(excess, dtype=float)
        if np.any(excess < 0):
            raise ValueError("an excess risk cannot be negative")
        return self._psi_inverse(np.minimum(excess, self.psi_max))

    def smoothed(self, width: float) -> MarginLoss:  # noqa: ARG002
        """Return a smooth loss within `width` / 8 of this one."""
        return self

    def _psi(self, theta: Floats) -> Floats:  # noqa: ARG002
        raise AssertionError(f"{self.name} is not calibrated")

    def _psi_inverse(self, excess: Floats) -> Floats:  # noqa: ARG002
        raise AssertionError(f"{self.name} is not calibrated")

    def _require_calibrated(self) -> None:
        if not self.calibrated:
            raise ValueError(
                f"the {self.name} loss is unbounded below, so it is not "
                "classification-calibrated and has no psi-transform (with scores "
                "bounded by |z| <= B it would be psi(u) = B u)"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class LogisticLoss(MarginLoss):
    """phi(u) = log(1 + exp(-u)).

    Examples
    --------
    >>> loss = LogisticLoss()
    >>> loss.value([-1e4, 1e4])
    array([10000.,     0.])
    """

    name = "logistic"
    linear_odd = True
    psi_max = math.log(2)

    def value_and_derivative(self, margin: Floats) -> tuple[Floats, Floats]:  # noqa: D102
        return np.logaddexp(0.0, -margin), -expit(-margin)

    def lipschitz(self, bound: float = math.inf) -> float:  # noqa: D102
        return float(expit(bound))

    def _psi(self, theta: Floats) -> Floats:
        # log 2 minus the entropy of (1 + theta) / 2, written so that nothing cancels.
        return np.asarray((xlog1py(1 + theta, theta) + xlog1py(1 - theta, -theta)) / 2)

    def _psi_inverse(self, excess: Floats) -> Floats:
        # psi is increasing but has no inverse in closed form: halve [0, 1] 60 times.
        low, high = np.zeros_like(excess), np.ones_like(excess)
        for _ in range(60):
            middle = (low + high) / 2
            below = self._psi(middle) < excess
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return high


class HingeLoss(MarginLoss):
    """phi(u) = max(0, 1 - u).

    Examples
    --------
    >>> HingeLoss().value([-1.0, 0.5, 2.0])
    array([2. , 0.5, 0. ])
    """

    name = "hinge"
    smooth = False

    def value_and_derivative(self, margin: Floats) -> tuple[Floats, Floats]:  # noqa: D102
        return np.maximum(0.0, 1 - margin), np.where(margin < 1, -1.0, 0.0)

    def lipschitz(self, bound: float = math.inf) -> float:  # noqa: ARG002, D102
        return 1.0

    def smoothed(self, width: float) -> MarginLoss:  # noqa: D102
        return SmoothedHingeLoss(width)

    def _psi(self, theta: Floats) -> Floats:
        return theta

    def _psi_inverse(self, excess: Floats) -> Floats:
        return excess


class SmoothedHingeLoss(HingeLoss):
    """The hinge with its kink replaced by a parabola on [1 - width/2, 1 + width/2]."""

    smooth = True

    def __init__(self, width: float) -> None:
        self.width = width

    def value_and_derivative(self, margin: Floats) -> tuple[Floats, Floats]:
        slack = np.clip((1 - margin) / self.width + 0.5, 0.0, 1.0)
        value = np.where(
            slack < 1, self.width * slack**2 / 2, np.maximum(0.0, 1 - margin)
        )
        return value, -slack


class SquaredHingeLoss(MarginLoss):
    """phi(u) = max(0, 1 - u)^2.

    Examples
    --------
    >>> SquaredHingeLoss().derivative([-1.0, 2.0])
    array([-4., -0.])
    """

    name = "squared_hinge"

    def value_and_derivative(self, margin: Floats) -> tuple[Floats, Floats]:  # noqa: D102
        slack = np.maximum(0.0, 1 - margin)
        return slack**2, -2 * slack

    def lipschitz(self, bound: float = math.inf) -> float:  # noqa: D102
        return 2 * (1 + bound)

    def _psi(self, theta: Floats) -> Floats:
        return theta**2

    def _psi_inverse(self, excess: Floats) -> Floats:
        return np.sqrt(excess)


class SquaredLoss(SquaredHingeLoss):
    """phi(u) = (1 - u)^2.

    Examples
    --------
    >>> SquaredLoss().value([0.0, 3.0])
    array([1., 4.])
    """

    name = "squared"
    linear_odd = True

    def value_and_derivative(self, margin: Floats) -> tuple[Floats, Floats]:  # noqa: D102
        slack = 1 - margin
        return slack**2, -2 * slack


class ExponentialLoss(MarginLoss):
    """phi(u) = exp(-u), continued by its tangent below u = -100.

    Beyond a margin of -700 the exponential leaves the range of a double. The
    tangent keeps value and derivative finite and consistent with each other, and
    no fitted model comes near that place.

    Examples
    --------
    >>> bool(np.isfinite(ExponentialLoss().value(-1e4)))
    True
    """

    name = "exponential"
    _tangent_at: ClassVar[float] = -100.0

    def value_and_derivative(self, margin: Floats) -> tuple[Floats, Floats]:  # noqa: D102
        inside = np.maximum(margin, self._tangent_at)
        power = np.exp(-inside)
        return power * (1 + (inside - margin)), -power

    def lipschitz(self, bound: float = math.inf) -> float:  # noqa: D102
        return math.exp(min(bound, -self._tangent_at))

    def _psi(self, theta: Floats) -> Floats:
        return 1 - np.sqrt(1 - theta**2)

    def _psi_inverse(self, excess: Floats) -> Floats:
        return np.sqrt(excess * (2 - excess))


class DoubleHingeLoss(MarginLoss):
    """phi(u) = max(-u, (1 - u)/2, 0): linear-odd, phi(u) - phi(-u) = -u.

    Examples
    --------
    >>> DoubleHingeLoss().value([-2.0, 0.0, 2.0])
    array([2. , 0.5, 0. ])
    """

    name = "double_hinge"
    linear_odd = True
    smooth = False
    psi_max = 0.5

    def __init__(self, hinge: MarginLoss | None = None) -> None:
        self.hinge = HingeLoss() if hinge is None else hinge

    def value_and_derivative(self, margin: Floats) -> tuple[Floats, Floats]:  # noqa: D102
        # It is the mean of a hinge at 1 and a hinge at -1.
        near, near_slope = self.hinge.value_and_derivative(margin)
        far, far_slope = self.hinge.value_and_derivative(margin + 2)
        return (near + far) / 2, (near_slope + far_slope) / 2

    def lipschitz(self, bound: float = math.inf) -> float:  # noqa: D102
        return 1.0 if bound > 1 else 0.5

    def smoothed(self, width: float) -> MarginLoss:  # noqa: D102
        smooth = DoubleHingeLoss(self.hinge.smoothed(width))
        smooth.smooth = True
        return smooth

    def _psi(self, theta: Floats) -> Floats:
        return theta / 2

    def _psi_inverse(self, excess: Floats) -> Floats:
        return 2 * excess


class UnhingedLoss(MarginLoss):
    """phi(u) = 1 - u, the loss with a closed-form minimiser on the unit sphere.

    Examples
    --------
    >>> UnhingedLoss().value([-1.0, 3.0])
    array([ 2., -2.])
    """

    name = "unhinged"
    calibrated = False
    bounded_below = False
    _offset: ClassVar[float] = 1.0

    def value_and_derivative(self, margin: Floats) -> tuple[Floats, Floats]:  # noqa: D102
        return self._offset - margin, np.full_like(margin, -1.0)

    def lipschitz(self, bound: float = math.inf) -> float:  # noqa: ARG002, D102
        return 1.0


class LinearLoss(UnhingedLoss):
    """phi(u) = -u, the loss behind kernel alignment.

    Examples
    --------
    >>> LinearLoss().value([-1.0, 3.0])
    array([ 1., -3.])
    """

    name = "linear"
    _offset = 0.0


LOSSES: dict[str, MarginLoss] = {
    loss.name: loss
    for loss in (
        LogisticLoss(),
        HingeLoss(),
        SquaredHingeLoss(),
        SquaredLoss(),
        ExponentialLoss(),
        DoubleHingeLoss(),
        UnhingedLoss(),
        LinearLoss(),
    )
}


def get_loss(loss: str | MarginLoss) -> MarginLoss:
    """Return the loss of this name, or the loss itself.

    Parameters
    ----------
    loss : str or MarginLoss
        A name from `LOSSES`, or a loss object of your own.

    Returns
    -------
    MarginLoss

    Examples
    --------
    >>> get_loss("hinge").lipschitz()
    1.0
    """
    if isinstance(loss, MarginLoss):
        return loss
    if isinstance(loss, str) and loss in LOSSES:
        return LOSSES[loss]
    raise ValueError(f"unknown loss {loss!r}; the known ones are {sorted(LOSSES)}")
