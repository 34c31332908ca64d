import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from pairlearn.engine.losses import LOSSES, get_loss

ALL = sorted(LOSSES)
CALIBRATED = [name for name in ALL if LOSSES[name].calibrated]


@pytest.mark.parametrize("name", ALL)
def test_derivative_agrees_with_finite_differences(name):
    loss = LOSSES[name]
    u = np.linspace(-5, 5, 101) + 0.003  # away from the hinge's kink
    h = 1e-6
    numeric = (loss.value(u + h) - loss.value(u - h)) / (2 * h)
    np.testing.assert_allclose(loss.derivative(u), numeric, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("logistic", lambda u: math.log1p(math.exp(-u))),
        ("hinge", lambda u: max(0.0, 1 - u)),
        ("squared_hinge", lambda u: max(0.0, 1 - u) ** 2),
        ("squared", lambda u: (1 - u) ** 2),
        ("exponential", lambda u: math.exp(-u)),
        ("double_hinge", lambda u: max(-u, (1 - u) / 2, 0)),
        ("unhinged", lambda u: 1 - u),
        ("linear", lambda u: -u),
    ],
)
def test_value_is_the_formula(name, formula):
    u = np.array([-3.0, -1.0, 0.0, 0.5, 1.0, 4.0])
    np.testing.assert_allclose(LOSSES[name].value(u), [formula(v) for v in u])


@pytest.mark.parametrize("name", ALL)
def test_huge_margins_stay_finite_and_ordered(name):
    u = np.array([-1e4, -200.0, 0.0, 200.0, 1e4])
    with np.errstate(all="raise", under="ignore"):
        value, slope = LOSSES[name].value_and_derivative(u)
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()
    if name != "squared":
        assert (np.diff(value) <= 0).all()
    assert LOSSES[name].value(np.array([1e4]))[0] == {
        "squared": (1e4 - 1) ** 2,
        "unhinged": 1 - 1e4,
        "linear": -1e4,
    }.get(name, 0.0)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("bound", [0.5, 3.0])
def test_lipschitz_constant_is_the_steepest_slope(name, bound):
    slopes = np.abs(LOSSES[name].derivative(np.linspace(-bound, bound, 4001)))
    assert LOSSES[name].lipschitz(bound) == pytest.approx(slopes.max(), rel=1e-6)


def test_lipschitz_constants_on_the_line():
    finite = {name: LOSSES[name].lipschitz() for name in ALL}
    assert finite["logistic"] == finite["hinge"] == 1
    assert finite["unhinged"] == finite["linear"] == 1
    assert finite["squared"] == finite["squared_hinge"] == math.inf
    assert finite["exponential"] > 1e40


@pytest.mark.parametrize("name", CALIBRATED)
@pytest.mark.parametrize("theta", [0.05, 0.3, 0.7, 0.95])
def test_psi_agrees_with_its_definition(name, theta):
    """H^-(eta) - H(eta) by numerical minimisation, eta = (1 + theta) / 2."""
    loss, eta = LOSSES[name], (1 + theta) / 2

    def risk(a):
        return float(eta * loss.value(a) + (1 - eta) * loss.value(-a))

    best = minimize_scalar(risk, bounds=(-30, 30), method="bounded").fun
    best = min(best, risk(1.0))  # the hinge's minimum is at its kink
    worst = minimize_scalar(risk, bounds=(-30, 0), method="bounded").fun
    worst = min(worst, risk(0.0))
    assert float(loss.psi(theta)) == pytest.approx(worst - best, abs=2e-5)


@pytest.mark.parametrize("name", CALIBRATED)
def test_psi_inverse(name):
    loss, theta = LOSSES[name], np.linspace(0, 1, 21)
    psi = loss.psi(theta)
    np.testing.assert_allclose(loss.psi_inverse(psi), theta, atol=1e-7)
    assert (np.diff(psi) > 0).all()
    assert psi[0] == 0
    assert loss.psi_inverse(10.0) == 1
    with pytest.raises(ValueError, match="negative"):
        loss.psi_inverse(-0.1)
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        loss.psi(1.5)


def test_unbounded_losses_have_no_psi():
    assert set(ALL) - set(CALIBRATED) == {"linear", "unhinged"}
    with pytest.raises(ValueError, match="unbounded below"):
        get_loss("unhinged").psi(0.5)


@pytest.mark.parametrize("width", [0.5, 0.01])
def test_smoothed_hinge_is_close_and_smooth(width):
    hinge = get_loss("hinge")
    smooth = hinge.smoothed(width)
    u = np.linspace(-2, 3, 2001)
    gap = smooth.value(u) - hinge.value(u)
    assert gap.min() >= -1e-15
    assert gap.max() == pytest.approx(width / 8, rel=1e-2)
    h = 1e-7
    numeric = (smooth.value(u + h) - smooth.value(u - h)) / (2 * h)
    np.testing.assert_allclose(smooth.derivative(u), numeric, atol=1e-4)


def test_unknown_loss_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"unknown loss 'log'.*'logistic'"):
        get_loss("log")
    assert get_loss(LOSSES["hinge"]) is LOSSES["hinge"]


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_linear_odd_is_what_it_says(name):
    loss = LOSSES[name]
    u = np.linspace(0.1, 5, 50)
    ratio = (loss.value(u) - loss.value(-u)) / u
    is_linear = np.allclose(ratio, ratio[0])
    # Unhinged and linear are linear altogether, but have no bottom.
    assert is_linear == (loss.linear_odd or not loss.bounded_below)
