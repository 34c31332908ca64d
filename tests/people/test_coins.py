"""Two coins for each person: against enumeration, and on crowds that are made up."""

from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logit

from pairlearn.engine.components.likelihood import Components
from pairlearn.people.coin_likelihood import CoinAnswers, Look
from pairlearn.people.coin_priors import RATES, posteriors, quantiles, shared_priors
from pairlearn.people.coins import find_coins, interval, likelihood_table
from pairlearn.people.views import bent_views, blind_views


def small_crowd(n_points=7, n_answers=14, n_people=3, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.integers(n_points, size=n_answers)
    second = (first + rng.integers(1, n_points, size=n_answers)) % n_points
    answers = CoinAnswers(
        np.stack([first, second], axis=1),
        rng.integers(2, size=n_answers).astype(float),
        rng.integers(n_people, size=n_answers),
        n_people,
        np.ones(n_answers),
    )
    p = rng.dirichlet(np.ones(n_classes), size=n_points)
    r1, r0 = rng.uniform(0.05, 0.95, size=(2, n_people))
    return answers, p, r1, r0


def psi(answers, same, r1, r0):
    rate = np.where(same, r1[answers.person], r0[answers.person])
    return np.where(answers.share == 1, rate, 1 - rate)


def enumerated(answers, p, r1, r0):
    """Sum over the classes of all points: Z, and P_k without each answer."""
    n_points, n_classes = p.shape
    total, without = 0.0, np.zeros((len(answers.share), 2))
    for classes in product(range(n_classes), repeat=n_points):
        c = np.array(classes)
        same = c[answers.ends[:, 0]] == c[answers.ends[:, 1]]
        weight = p[np.arange(n_points), c].prod()
        each = psi(answers, same, r1, r0)
        total += weight * each.prod()
        for k in range(len(each)):
            without[k, int(same[k])] += weight * np.delete(each, k).prod()
    return total, without[:, 1] / without.sum(axis=1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_likelihood_is_the_sum_over_all_classes(n_classes):
    answers, p, r1, r0 = small_crowd(n_classes=n_classes)
    graph = Components(answers.ends, len(p), n_classes)
    log_z, odds = Look(answers, p, graph)(r1[:, None], r0[:, None])
    total, without = enumerated(answers, p, r1, r0)
    np.testing.assert_allclose(log_z[0], np.log(total), rtol=1e-9)
    np.testing.assert_allclose(expit(odds[:, 0]), without, rtol=1e-7)


def test_the_slopes_are_those_of_the_likelihood():
    answers, p, r1, r0 = small_crowd(seed=1)
    look = Look(answers, p, Components(answers.ends, len(p), 2))
    _, odds = look(r1[:, None], r0[:, None])
    slopes = look.slopes(r1[:, None], r0[:, None], odds)[:, :, 0]
    step = 1e-5
    coins = logit(np.stack([r1, 1 - r0]))
    for which, person in product(range(2), range(3)):
        ends = []
        for turn in (step, -step):
            moved = coins.copy()
            moved[which, person] += turn
            one, other = expit(moved)
            ends.append(look(one[:, None], 1 - other[:, None])[0][0])
        numeric = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(slopes[which, person], numeric, rtol=1e-4, atol=1e-7)


def test_one_persons_evidence_is_the_integral():
    """With one person and pairs apart, L is the likelihood: nothing is approximate."""
    rng = np.random.default_rng(0)
    index = np.arange(40).reshape(20, 2)
    share = rng.integers(2, size=20).astype(float)
    answers = CoinAnswers(index, share, np.zeros(20, int), 1, np.ones(20))
    p1 = rng.uniform(size=40)
    p = np.stack([1 - p1, p1], axis=1)
    found = find_coins(answers, bent_views(p)[:1])
    same = (p[index[:, 0]] * p[index[:, 1]]).sum(axis=1)
    tables = shared_priors()
    prior = np.tensordot(np.exp(tables.log_weight), tables.tables, axes=1)
    prior /= prior.sum()
    r1, q0 = np.meshgrid(RATES, RATES, indexing="ij")
    likelihood = np.ones_like(r1)
    for chance, said in zip(same, share, strict=True):
        yes = chance * r1 + (1 - chance) * (1 - q0)
        likelihood *= yes if said else 1 - yes
    posterior = prior * likelihood
    np.testing.assert_allclose(found.evidence, np.log(posterior.sum()), rtol=1e-6)
    posterior /= posterior.sum()
    np.testing.assert_allclose(found.cells[0], posterior, atol=1e-9)
    np.testing.assert_allclose(found.r1[0], (posterior * r1).sum(), rtol=1e-6)


def test_people_share_a_prior_and_one_who_differs_is_left_as_is():
    """Nine people right nine times of ten draw a tenth with little data to them."""
    r1, q0 = np.meshgrid(RATES, RATES, indexing="ij")

    def log_likelihood(right, wrong):
        return right * np.log(r1 * q0) + wrong * np.log((1 - r1) * (1 - q0))

    many = [log_likelihood(90, 10)] * 9
    little = [log_likelihood(1, 1)]
    coins, _ = posteriors(np.array(many + little))
    mean = coins[-1].sum(axis=1) @ RATES
    alone = posteriors(np.array(little))[0][0].sum(axis=1) @ RATES
    assert mean > alone + 0.1
    coins, _ = posteriors(np.array([*many, log_likelihood(10, 90)]))
    np.testing.assert_allclose(coins[-1].sum(axis=1) @ RATES, 0.1, atol=0.02)


def test_few_answers_make_one_coin_and_many_make_two():
    r1, q0 = np.meshgrid(RATES, RATES, indexing="ij")
    apart = []
    for n in (5, 50, 2000):
        table = n * (
            0.9 * np.log(r1) + 0.1 * np.log(1 - r1)
            + 0.6 * np.log(q0) + 0.4 * np.log(1 - q0)
        )  # fmt: skip
        coins, _ = posteriors(table[None])
        apart.append(coins[0].sum(axis=1) @ RATES - coins[0].sum(axis=0) @ RATES)
    assert apart[0] < 0.1 < apart[1] < apart[2]
    np.testing.assert_allclose(apart[2], 0.3, atol=0.02)


def test_quantiles_lie_between_the_edges_of_cells():
    cells = np.zeros(len(RATES))
    cells[0] = 1.0
    low, high = quantiles(cells, (0.025, 0.975))
    assert 0 < low < high < 0.01
    assert np.allclose(interval(cells, 1.0), [low, high])
    wide = interval(cells, 3.0)
    assert wide[0] < low
    assert wide[1] > high


def made_up(seed, accuracy, n_points=800, n_new=340, n_again=60, sharp=0.3):
    """Random pairs with second opinions, and the points' true probabilities."""
    rng = np.random.default_rng(seed)
    n_people = len(accuracy)
    p1 = rng.beta(sharp, sharp, n_points)
    y = rng.random(n_points) < p1
    first = rng.integers(n_points, size=n_new)
    new = np.stack([first, (first + rng.integers(1, n_points, n_new)) % n_points], 1)
    again = rng.permutation(n_new)[:n_again]
    who = rng.integers(n_people, size=n_new)
    other = (who[again] + rng.integers(1, n_people, n_again)) % n_people
    index, who = np.concatenate([new, new[again]]), np.concatenate([who, other])
    same = y[index[:, 0]] == y[index[:, 1]]
    says = same == (rng.random(len(who)) < accuracy[who])
    answers = CoinAnswers(index, says.astype(float), who, n_people, np.ones(len(who)))
    return answers, np.stack([1 - p1, p1], axis=1)


def test_rates_lie_in_their_intervals():
    """Good people, a spammer and an adversary; 95 % intervals, by 60 rates."""
    accuracy = np.array([0.6, 0.8, 0.98, 0.5, 0.1])
    held = []
    for seed in range(6):
        answers, p = made_up(seed, accuracy)
        found = find_coins(answers, bent_views(p))
        for a in range(5):
            for axis in (1, 0):
                low, high = interval(found.cells[a].sum(axis=axis), found.stretch[a])
                held.append(low <= accuracy[a] <= high)
    assert np.mean(held) >= 0.93


def test_without_models_second_opinions_tell_who_is_right():
    accuracy = np.array([0.95, 0.9, 0.9, 0.1])
    answers, _ = made_up(0, accuracy, n_new=100, n_again=100)
    found = find_coins(answers, blind_views(800))
    assert found.adverse.tolist() == [False, False, False, True]
    assert (found.r1[:3] > 0.75).all()
    assert found.r1[3] < 0.3


def test_all_the_other_way_round_has_the_likelihood_that_it_should():
    """Same and different are exchanged where a class has half of the points."""
    answers, _ = made_up(1, np.array([0.9, 0.8, 0.7]))
    answers = answers._replace(ends=np.arange(800).reshape(400, 2))
    found = find_coins(answers, blind_views(800)[:1])
    assert np.array_equal(found.mirrored[0], found.r0)
    look = Look(answers, np.full((800, 2), 0.5), Components(answers.ends, 800, 2))
    one = look(found.r1[:, None], found.r0[:, None])[0]
    other = look(*(rate[:, None] for rate in found.mirrored))[0]
    np.testing.assert_allclose(one, other)


def test_spammers_are_noticed_and_good_people_are_not():
    accuracy = np.array([0.9, 0.85, 0.95, 0.5])
    answers, p = made_up(3, accuracy, n_new=700, n_again=100)
    found = find_coins(answers, bent_views(p))
    assert found.at_chance.tolist() == [False, False, False, True]
    assert not found.adverse.any()


def test_a_point_and_itself_say_nothing_of_pairs_but_something_of_people():
    index = np.zeros((30, 2), dtype=int)
    answers = CoinAnswers(index, np.ones(30), np.zeros(30, int), 1, np.ones(30))
    found = find_coins(answers, blind_views(1))
    assert found.r1[0] > 0.9


@pytest.mark.parametrize(
    ("n", "weight"), [(0, 1.0), (7, 0.3), (61, 1.0), (500, 1.0), (40, 9.0)]
)
def test_the_table_of_a_person_is_the_sum_of_logarithms(n, weight):
    """Also of so many answers, or such heavy ones, that their product would vanish."""
    rng = np.random.default_rng(n)
    share = rng.integers(0, 2, n).astype(float)
    who = rng.integers(0, 2, n)
    answers = CoinAnswers(np.zeros((n, 2), int), share, who, 2, np.full(n, weight))
    odds = rng.normal(0, 6, n)
    expected = np.zeros((len(RATES), len(RATES)))
    for s, p in zip(share[who == 1], expit(odds[who == 1]), strict=True):
        same = p * (RATES if s else 1 - RATES) ** weight
        different = (1 - p) * (1 - RATES if s else RATES) ** weight
        expected += np.log(same[:, None] + different)
    table = likelihood_table(answers, odds, 1)
    np.testing.assert_allclose(table, expected, rtol=1e-10, atol=1e-10)
