r"""How soon somebody who answers at random can be noticed, and is.

``python -m benchmarks.people.spammers`` compares what `pairlearn` says of people who
have given 30, 50 or 100 answers each with the best test that there is: that of Neyman
and Pearson, for one who is right in half of the cases against one who is right in a
share a of them, by somebody who is told a, the models' probabilities and how often all
others are right. With P_k the probability that answer k is right, given the models and
what others say about the pair, one who is right with probability a gives this answer
with the probability a P_k + (1 - a) (1 - P_k), and a guesser with 1/2, so the test
rests on

.. math:: \sum_k \log \frac{1/2}{a P_k + (1 - a)(1 - P_k)} .

It calls one in twenty of those who are right in a share a of the cases guessers. Who
knows the truth has P_k = 0 or 1. No method can be better by such answers alone.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy.special import expit

from benchmarks.report import machine, publish, table
from pairlearn.people.coin_likelihood import CoinAnswers
from pairlearn.people.coins import find_coins
from pairlearn.people.crowd import Crowd
from pairlearn.people.rates import rates_of_people
from pairlearn.people.views import bent_views, blind_views

ACCURACY = np.array([0.98, 0.9, 0.75, 0.6, 0.5])
EACH, SECOND = (30, 50, 100), 0.15
RIVALS = (0.6, 0.75)
# Spread of the models' scores, with which they err about one point in ten.
SPREAD, WRONGLY = 4.0, 0.05
DRAWS = 4000


def same(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple:
    """Return probabilities of both points of pairs, and whether they are the same."""
    p = expit(rng.normal(0, SPREAD, (*shape, 2)))
    kind = rng.random(p.shape) < p
    return p, kind[..., 0] == kind[..., 1]


def chance_right(
    rng: np.random.Generator, said_same: np.ndarray, right: np.ndarray, p: np.ndarray
) -> np.ndarray:
    """Return P_k of answers, of which some are about pairs that others answered."""
    prior = (p * p[..., ::-1])[..., 0] + ((1 - p) * (1 - p[..., ::-1]))[..., 0]
    odds = np.log(prior) - np.log1p(-prior)
    # 15 of 100 answers are second opinions, so 30 of 100 are about shared pairs.
    shared = rng.random(right.shape) < 2 * SECOND
    other = ACCURACY[rng.integers(len(ACCURACY) - 1, size=right.shape)]
    is_same = said_same == right
    other_same = is_same == (rng.random(right.shape) < other)
    told = np.log(other) - np.log1p(-other)
    odds = odds + shared * np.where(other_same, told, -told)
    return np.where(said_same, expit(odds), expit(-odds))


def oracle(n: int, rival: float, knows: str, rng: np.random.Generator) -> float:
    """Return how often the best test calls a guesser one."""
    found = []
    for accuracy in (0.5, rival):
        p, is_same = same(rng, (DRAWS, n))
        if knows == "answers":
            p = np.full(p.shape, 0.5)
        right = rng.random(is_same.shape) < accuracy
        if knows == "truth":
            chance = right.astype(float)
        else:
            chance = chance_right(rng, is_same == right, right, p)
        terms = np.log(0.5) - np.log(rival * chance + (1 - rival) * (1 - chance))
        # Ties are broken at random.
        found.append(terms.sum(axis=1) + 1e-9 * rng.random(DRAWS))
    limit = np.quantile(found[1], 1 - WRONGLY)
    return float(np.mean(found[0] > limit))


def named(each: int, rng: np.random.Generator, *, blind: bool) -> np.ndarray:
    """Return who of a crowd is said to answer at random."""
    n_people = len(ACCURACY)
    n_answers = each * n_people
    n_again = int(SECOND * n_answers)
    n_new = n_answers - n_again
    p, is_same = same(rng, (n_new,))
    again = rng.permutation(n_new)[:n_again]
    pair = np.concatenate([np.arange(n_new), again])
    first = rng.permutation(np.arange(n_new) % n_people)
    second = (first[again] + rng.integers(1, n_people, n_again)) % n_people
    person = np.concatenate([first, second])
    right = rng.random(n_answers) < ACCURACY[person]
    share = (is_same[pair] == right).astype(float)
    ends = np.stack([pair, pair + n_new], axis=1)
    ones = np.ones(n_answers)
    answers = CoinAnswers(ends, share, person, n_people, ones)
    proba = np.concatenate([p[:, 0], p[:, 1]])
    views = bent_views(np.column_stack([1 - proba, proba]))
    coins = find_coins(answers, blind_views(2 * n_new) if blind else views)
    names = tuple(str(k) for k in range(n_people))
    crowd = Crowd(names, n_new, pair, person, share, ones)
    return np.array([row.is_spammer for row in rates_of_people(crowd, coins)])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser("python -m benchmarks.people.spammers")
    parser.add_argument("--trials", type=int, default=40)
    trials = parser.parse_args().trials
    rng = np.random.default_rng(0)
    words = {"truth": "the truth", "models": "models", "answers": "no model"}
    limits = []
    for knows, word in words.items():
        for rival in RIVALS:
            cells = [f"{oracle(n, rival, knows, rng):.0%}" for n in EACH]
            limits.append([word, f"{rival:.0%}", *cells])
    ours = []
    for blind, word in ((False, "models"), (True, "no model")):
        share = {
            n: np.mean([named(n, rng, blind=blind) for _ in range(trials)], axis=0)
            for n in EACH
        }
        for k in range(len(ACCURACY))[::-1]:
            cells = [f"{share[n][k]:.0%}" for n in EACH]
            ours.append([word, f"{ACCURACY[k]:.0%}", *cells])
    head = [f"{n} answers" for n in EACH]
    about = (
        "Five people who are right in "
        + ", ".join(f"{a:.0%}" for a in ACCURACY)
        + " of the cases: the last one answers at random. 15 in 100 answers are second "
        "opinions. Models err about one point in ten, and say how sure they are. Pairs "
        "share no point."
    )
    best = (
        "How often the best test calls a guesser one, if it wrongly does so of one in "
        "twenty people who are right in so many cases; it is told how often all "
        "others are right:"
    )
    said = (
        "How often `pairlearn` says that a person seems to answer at random, in "
        f"{trials} crowds, by how often the person is right; it is told nothing:"
    )
    publish(
        "spammers",
        "How soon somebody who answers at random can be noticed",
        [
            about,
            best,
            table(["it knows", "against", *head], limits),
            said,
            table(["it knows", "right", *head], ours),
            machine("numpy", "scipy"),
        ],
    )


if __name__ == "__main__":
    main()
