"""The torch losses against the NumPy risks, in float64, in 16 bits and at the edges."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("skorch")

from pairlearn.data.pairs import Pairs  # noqa: E402
from pairlearn.engine.backends.torch.risks import tensor_phi, tensor_risk  # noqa: E402
from pairlearn.engine.coefficients import answer_coefficients  # noqa: E402
from pairlearn.engine.links import BinaryLink, ProductLink, SoftmaxLink  # noqa: E402
from pairlearn.engine.losses import LOSSES, DoubleHingeLoss, HingeLoss, LogisticLoss  # noqa: E402
from pairlearn.engine.risks import LikelihoodRisk, PointRisk, ProductRisk  # noqa: E402
from pairlearn.models.linear.unlabeled import point_coefficients, product_coefficients  # noqa: E402
from pairlearn.models.neural import (  # noqa: E402
    ContrastiveLoss,
    PairLikelihoodLoss,
    ProductLoss,
    SDLoss,
    SemiSupervisedPairLoss,
)

M = 40
RNG = np.random.default_rng(0)
LEFT, RIGHT = RNG.normal(size=(2, M)) * 2
T = np.where(RNG.random(M) < 0.4, RNG.uniform(-1, 1, M), RNG.choice([-1.0, 1.0], M))
WEIGHT = RNG.uniform(0.1, 2, M)


def tensors(*arrays, grad=True, dtype=torch.float64):
    return [torch.tensor(a, dtype=dtype, requires_grad=grad) for a in arrays]


def gradients(loss, left, right, *rest, **named):
    left, right = tensors(left, right)
    value = loss(left, right, *map(torch.from_numpy, rest), **named)
    value.backward()
    return value.item(), left.grad.numpy(), right.grad.numpy()


def assert_same(got, expected):
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_product_loss_is_the_numpy_risk(name):
    expected = ProductRisk(name).value_and_gradient(
        LEFT, RIGHT, *answer_coefficients(T, WEIGHT)
    )
    assert_same(gradients(ProductLoss(name), LEFT, RIGHT, T, WEIGHT), expected)


@pytest.mark.parametrize("rates", [None, (0.9, 0.2), 0.15, (1.0, 0.4)])
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_likelihood_loss_is_the_numpy_risk(rates, classes):
    left, right, link = LEFT, RIGHT, BinaryLink()
    if classes > 2:
        left, right = RNG.normal(size=(2, M, classes)) * 3
        link = SoftmaxLink()
    loss = PairLikelihoodLoss(rates)
    risk = LikelihoodRisk(link, loss.flip_rates)
    expected = risk.value_and_gradient(left, right, *answer_coefficients(T, WEIGHT))
    assert_same(gradients(loss, left, right, T, WEIGHT), expected)


def test_two_class_softmax_is_the_binary_likelihood():
    loss = PairLikelihoodLoss((0.9, 0.1))
    t = torch.from_numpy(T)
    one = loss(*tensors(LEFT, RIGHT), t)
    two = [torch.stack([torch.zeros_like(s), s], 1) for s in tensors(LEFT, RIGHT)]
    assert loss(*two, t).item() == pytest.approx(one.item(), rel=1e-12)


@pytest.mark.parametrize("nonnegative", [False, True])
@pytest.mark.parametrize("name", ["logistic", "squared", "hinge"])
def test_sd_loss_is_the_numpy_risk(name, nonnegative):
    pairs = Pairs(np.zeros((2 * M, 1)), np.arange(2 * M).reshape(2, M).T)
    positive, negative = point_coefficients(pairs, T, WEIGHT, (1, 0, 0), 0.7, 0)
    value, slope = PointRisk(name, nonnegative=nonnegative).value_and_gradient(
        np.concatenate([LEFT, RIGHT]), positive, negative
    )
    loss = SDLoss(0.7, name, nonnegative=nonnegative)
    got = gradients(loss, LEFT, RIGHT, T, WEIGHT)
    assert_same(got, (value, slope[:M], slope[M:]))


@pytest.mark.parametrize("nonnegative", [False, True])
def test_semi_supervised_loss_is_the_numpy_risk(nonnegative):
    gammas, same_rate = (0.5, 0.3, 0.2), 0.6
    u_left, u_right = RNG.normal(size=(2, 25))
    same, different = product_coefficients(T, WEIGHT, gammas, same_rate)
    risk = ProductRisk("logistic", nonnegative=nonnegative)
    value, d_left, d_right = risk.value_and_gradient(
        np.concatenate([LEFT, u_left]),
        np.concatenate([RIGHT, u_right]),
        np.concatenate([same, np.full(25, gammas[2] / 25)]),
        np.concatenate([different, np.full(25, gammas[1] / 25)]),
    )
    loss = SemiSupervisedPairLoss(gammas, same_rate, nonnegative=nonnegative)
    unlabeled = tensors(u_left, u_right)
    got = gradients(loss, LEFT, RIGHT, T, WEIGHT, unlabeled=unlabeled)
    assert_same(got, (value, d_left[:M], d_right[:M]))
    np.testing.assert_allclose(unlabeled[0].grad.numpy(), d_left[M:], atol=1e-12)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("form", ["chopra", "hadsell"])
def test_contrastive_loss_by_its_formula_and_differences(form, norm):
    left, right = RNG.normal(size=(2, M, 3))
    loss = ContrastiveLoss(form, scale=2.5, norm=norm)
    distance = np.linalg.norm(left - right, ord=norm, axis=1)
    if form == "chopra":
        near, far = 2 / 2.5 * distance**2, 5 * np.exp(-2.77 * distance / 2.5)
    else:
        near, far = distance**2 / 2, np.maximum(0, 2.5 - distance) ** 2 / 2
    same, different = answer_coefficients(T, WEIGHT)
    value, d_left, d_right = gradients(loss, left, right, T, WEIGHT)
    assert value == pytest.approx(same @ near + different @ far, rel=1e-12)
    np.testing.assert_allclose(d_left, -d_right, atol=1e-14)
    step = np.zeros_like(left)
    step[4, 1] = 1e-6
    up, down = (gradients(loss, left + s * step, right, T, WEIGHT)[0] for s in (1, -1))
    assert d_left[4, 1] == pytest.approx((up - down) / 2e-6, rel=1e-5)


def test_contrastive_norms_follow_the_papers():
    assert ContrastiveLoss("chopra").norm == 1
    assert ContrastiveLoss("hadsell").norm == 2


@pytest.mark.parametrize("form", ["chopra", "hadsell"])
@pytest.mark.parametrize("norm", [1, 2])
def test_equal_embeddings_have_a_finite_gradient(form, norm):
    point = torch.ones(4, 3, dtype=torch.float64, requires_grad=True)
    other = torch.ones(4, 3, dtype=torch.float64)
    t = torch.tensor([1.0, -1.0, 1.0, -1.0])
    ContrastiveLoss(form, norm=norm)(point, other, t).backward()
    assert torch.isfinite(point.grad).all()


ALL_LOSSES = {
    **{f"product-{name}": ProductLoss(name) for name in LOSSES},
    "likelihood": PairLikelihoodLoss(),
    "likelihood-noisy": PairLikelihoodLoss((0.9, 0.2)),
    "sd": SDLoss(0.7),
    "semi": SemiSupervisedPairLoss((1.0, 0.0, 0.0), 0.6),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("name", ALL_LOSSES)
def test_sixteen_bits_are_widened(name, dtype):
    # 300 * 300 leaves the range of float16; each loss must not.
    left = torch.tensor([300.0, -300.0, 0.01, 2.0], dtype=dtype)
    right = torch.tensor([300.0, 1.5, 0.02, -3.0], dtype=dtype)
    t = torch.tensor([1.0, -1.0, 1.0, -1.0])
    value = ALL_LOSSES[name](left, right, t)
    exact = ALL_LOSSES[name](left.double(), right.double(), t)
    assert value.dtype == torch.float32
    assert value.item() == pytest.approx(exact.item(), rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("name", ALL_LOSSES)
def test_autocast_gives_finite_gradients_near_the_exact_ones(name):
    torch.manual_seed(0)
    layer = torch.nn.Linear(5, 1)
    x = torch.randn(2, 64, 5)
    t = torch.where(torch.arange(64) % 2 == 0, 1.0, -1.0)
    grads = []
    for enabled in (False, True):
        layer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=enabled):
            value = ALL_LOSSES[name](layer(x[0]), layer(x[1]), t)
        value.backward()
        grads.append(layer.weight.grad.clone())
    assert torch.isfinite(grads[1]).all()
    torch.testing.assert_close(grads[0], grads[1], rtol=0.05, atol=0.02)


@pytest.mark.parametrize("name", ALL_LOSSES)
def test_huge_scores_stay_finite(name):
    left, right = tensors([1e5, -1e5, 1e5], [1e5, 1e5, -1e5], dtype=torch.float32)
    value = ALL_LOSSES[name](left, right, torch.tensor([1.0, 1.0, -1.0]))
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(left.grad).all()


@pytest.mark.parametrize("classes", [3, 10])
def test_confident_softmax_scores_stay_finite(classes):
    left = torch.zeros(2, classes)
    left[:, 1] = 500.0
    left.requires_grad_()
    right = left.detach().clone()
    value = PairLikelihoodLoss()(left, right, torch.tensor([-1.0, 1.0]))
    value.backward()
    assert value.item() == pytest.approx(
        (500 - np.log(2 * (classes - 1))) / 2, rel=1e-5
    )
    assert torch.isfinite(left.grad).all()


@pytest.mark.parametrize("name", ALL_LOSSES)
def test_inputs_are_left_alone(name):
    given = [torch.from_numpy(a.copy()) for a in (LEFT, RIGHT, T, WEIGHT)]
    before = [a.clone() for a in given]
    ALL_LOSSES[name](*given)
    for a, b in zip(given, before, strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("name", ALL_LOSSES)
def test_a_column_of_scores_and_bool_answers(name):
    left, right = tensors(LEFT, RIGHT)
    t = torch.from_numpy(T > 0)
    loss = ALL_LOSSES[name]
    plain = loss(left, right, torch.where(t, 1.0, -1.0))
    assert loss(left[:, None], right[:, None], t).item() == pytest.approx(plain.item())


def test_learned_flip_rates_find_the_noise():
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=(2, 4000))
    scores = torch.tensor(np.where(y == 1, 9.0, -9.0))
    same = y[0] == y[1]
    answer = np.where(same, rng.random(4000) < 0.8, rng.random(4000) < 0.3)
    loss = PairLikelihoodLoss("auto")
    optimizer = torch.optim.LBFGS(loss.parameters(), max_iter=50)
    t = torch.from_numpy(answer)

    def step():
        optimizer.zero_grad()
        value = loss(*scores, t)
        value.backward()
        return value

    optimizer.step(step)
    expected = answer[same].mean(), answer[~same].mean()
    assert loss.flip_rates == pytest.approx(expected, abs=2e-3)


def test_symmetric_flip_rates_have_one_parameter():
    loss = PairLikelihoodLoss("symmetric")
    assert [p.numel() for p in loss.parameters()] == [1]
    r1, r0 = loss.flip_rates
    assert r1 == pytest.approx(1 - r0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ProductLoss("cubic"), "unknown loss"),
        (lambda: SDLoss(0.5), "1/2"),
        (lambda: SemiSupervisedPairLoss((1, 1, 1), 0.5), "sum to 1"),
        (lambda: SemiSupervisedPairLoss((1, 0, 0), 1.5), "same_rate"),
        (lambda: ContrastiveLoss("triplet"), "unknown form"),
        (lambda: ContrastiveLoss(scale=0), "above 0"),
        (lambda: PairLikelihoodLoss((0.2, 0.8)), "flip_rates"),
    ],
)
def test_wrong_settings_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_wrong_shapes_and_answers_are_refused():
    four, loss = torch.ones(4), ProductLoss()
    with pytest.raises(ValueError, match=r"answers need shape \(4,\)"):
        loss(four, four, torch.ones(4, 1))
    with pytest.raises(ValueError, match="one score per point"):
        loss(torch.ones(4, 3), torch.ones(4, 3), four)
    with pytest.raises(ValueError, match="one shape"):
        loss(four, torch.ones(4, 1), four)
    with pytest.raises(ValueError, match="weights need shape"):
        loss(four, four, four, torch.ones(3))
    with pytest.raises(ValueError, match="two things"):
        ProductLoss()(four, four, torch.tensor([0, 1, 1, 0]))
    with pytest.raises(ValueError, match="from -2 to 2"):
        ProductLoss()(four, four, torch.tensor([-2.0, 2, 1, 0]))
    with pytest.raises(ValueError, match="unlabeled="):
        SemiSupervisedPairLoss((0, 1, 0), 0.6)(four, four, four)


class OwnLoss(LogisticLoss):
    """A loss of the user's own under the name of one of ours."""


def test_a_loss_of_the_users_own_is_not_taken_for_ours():
    assert tensor_phi(OwnLoss()) is None
    assert tensor_risk(ProductRisk(OwnLoss())) is None
    with pytest.raises(ValueError, match="no form in torch"):
        ProductLoss(OwnLoss())


@pytest.mark.parametrize("loss", [HingeLoss(), DoubleHingeLoss()])
def test_smoothed_losses_have_their_torch_form(loss):
    smooth = loss.smoothed(0.3)
    margin = np.linspace(-3, 3, 400)
    (u,) = tensors(margin)
    value = tensor_phi(smooth)(u)
    value.sum().backward()
    expected = smooth.value_and_derivative(margin)
    assert_same((value.detach().numpy(), u.grad.numpy()), expected)


@pytest.mark.parametrize("rates", [(1.0, 0.0), (0.8, 0.1)])
def test_the_product_link_has_its_torch_form(rates):
    risk = LikelihoodRisk(ProductLink(), rates)
    coefficients = answer_coefficients(T, WEIGHT)
    value = tensor_risk(risk)
    assert_same(
        gradients(lambda a, b, *c: value(a, b, *c), LEFT, RIGHT, *coefficients),
        risk.value_and_gradient(LEFT, RIGHT, *coefficients),
    )
