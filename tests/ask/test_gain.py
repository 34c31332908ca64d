"""What an answer is expected to settle: the formula against drawn answers."""

import numpy as np
import pytest
from scipy.special import expit, logit

from pairlearn.ask.gain import answer_weight, gain
from pairlearn.ask.outlook import Outlook
from pairlearn.ask.scores import Scores

PEOPLE = [(1.0, 0.0), (0.9, 0.2), (0.6, 0.35), (0.15, 0.8)]


def says_same(pi, b, rates, n_classes=2):
    """Return P(says same), written out: partner as it seems or not, point likewise."""
    alike = b * pi + (1 - b) * (1 - pi) / (n_classes - 1)
    return alike * rates[0] + (1 - alike) * rates[1]


@pytest.mark.parametrize("rates", PEOPLE)
@pytest.mark.parametrize(("pi", "b", "n_classes"), [(0.5, 1.0, 2), (0.8, 0.9, 3)])
def test_the_weight_is_fishers_information_of_drawn_answers(rates, pi, b, n_classes):
    rng = np.random.default_rng(0)
    f, step, n = float(logit(pi)), 1e-5, 40_000
    up, down, here = (
        says_same(expit(f + move), b, rates, n_classes) for move in (step, -step, 0.0)
    )
    said = rng.random(n) < here
    slope = (np.log(np.where(said, up, 1 - up))) - np.log(
        np.where(said, down, 1 - down)
    )
    score = slope / (2 * step)
    found = answer_weight(np.array([pi]), np.array([b]), rates, n_classes)[0]
    error = (score**2).std() / np.sqrt(n)
    assert abs((score**2).mean() - found) < 4 * error + 1e-6


def test_a_second_opinion_tells_what_is_left_after_the_first_answer():
    """Two answers about one point, drawn; the second one's part, given the first."""
    rng = np.random.default_rng(1)
    first, second, p, n = (0.7, 0.3), (0.95, 0.1), 0.6, 200_000
    side = rng.random(n) < p
    said = rng.random(n) < np.where(side, first[0], first[1])
    again = rng.random(n) < np.where(side, second[0], second[1])

    def log_likelihood(f):
        ends = [
            np.where(said, r, 1 - r) * np.where(again, s, 1 - s)
            for r, s in zip(first, second, strict=True)
        ]
        alone = [np.where(said, r, 1 - r) for r in first]
        q = expit(f)
        both = q * ends[0] + (1 - q) * ends[1]
        return np.log(both) - np.log(q * alone[0] + (1 - q) * alone[1])

    f, step = float(logit(p)), 1e-4
    score = (log_likelihood(f + step) - log_likelihood(f - step)) / (2 * step)
    for answer in (True, False):
        ratio = first[0] / first[1] if answer else (1 - first[0]) / (1 - first[1])
        pi = float(expit(f + np.log(ratio)))
        found = answer_weight(np.array([pi]), np.ones(1), second)[0]
        here = score[said == answer] ** 2
        assert abs(here.mean() - found) < 4 * here.std() / np.sqrt(len(here))


def test_the_gain_is_how_far_the_variance_of_all_probabilities_falls():
    """Draw scores of all points, an answer by its probability, and weigh the draws."""
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(12, 3)) * 0.15
    proba = np.full((12, 2), 0.5)
    scores = Scores.of(proba, Z, np.arange(0))
    rates, pi, place = (0.9, 0.15), 0.5, 4
    weight = answer_weight(np.array([pi]), np.ones(1), rates)
    outlook = Outlook(scores, Z)
    expected = gain(*outlook.moments(np.array([place])), weight)[0]
    theta = rng.multivariate_normal(np.zeros(3), scores.S, size=200_000)
    moved = scores.weight * (theta @ Z.T)
    p_same = says_same(expit(theta @ Z[place]), 1.0, rates)
    fall = moved.var(axis=0).sum()
    for chance in (p_same, 1 - p_same):
        share = chance / chance.sum()
        mean = share @ moved
        fall -= chance.mean() * (share @ (moved - mean) ** 2).sum()
    assert fall == pytest.approx(expected, rel=0.05)


def test_who_guesses_settles_nothing_and_what_is_known_need_not_be_asked():
    half, sure = np.array([0.5]), np.ones(1)
    assert answer_weight(half, sure, (0.4, 0.4))[0] == 0
    assert answer_weight(np.ones(1), sure, (0.9, 0.1))[0] == 0
    assert answer_weight(half, half, (0.9, 0.1))[0] == 0
    better, worse = (answer_weight(half, sure, r)[0] for r in ((0.9, 0.1), (0.8, 0.2)))
    assert better > worse
    # One who says the opposite tells as much.
    assert answer_weight(half, sure, (0.1, 0.9))[0] == pytest.approx(better)


def test_points_that_are_out_change_what_is_left_to_settle():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(40, 4))
    scores = Scores.before(Z, 2)
    outlook = Outlook(scores, Z)
    everything = np.arange(40)
    for asked in ([], [3], [3, 7, 20]):
        out = np.array(asked, dtype=int)
        outlook.best(out)
        found = gain(*outlook.moments(everything), scores.weight)
        np.testing.assert_allclose(found, scores.gains(Z, everything, out), rtol=1e-9)
