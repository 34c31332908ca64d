"""Crowds that are made up, and what they say about pairs of real points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pairlearn import Pairs
from pairlearn.reproduce.sample import draw_table, generator

if TYPE_CHECKING:
    from pairlearn.reproduce.sample import Sample

CROWDS = (5, 20)
ANSWERS, SECOND = 1000, 150
POOL = 1000  # pairs that would use each point of the pool once
SPAMMER, ADVERSARY = 0.5, 0.1


@dataclass(frozen=True)
class Crowd:
    """Answers of people.

    Attributes
    ----------
    sample : Sample
        The points that were asked about, and others to be judged by.
    pairs : Pairs
        One per answer: 850 random pairs, and 150 of these again.
    t, right : ndarray of shape (1000,)
        What people say, and what is right.
    who : ndarray of shape (1000,)
        Who says it; second opinions are by others.
    accuracy : ndarray of shape (n_people,)
        How often each person is right: all but two are spread over .6 to .98; one
        answers at random, and one says the opposite of what is right, mostly.
    """

    sample: Sample
    pairs: Pairs
    t: np.ndarray
    right: np.ndarray
    who: np.ndarray
    accuracy: np.ndarray

    @property
    def majority(self) -> tuple[Pairs, np.ndarray]:
        """Each pair once, with the mean of its answers; without those that are tied."""
        ends = np.sort(self.pairs.index, axis=1)
        _, first, pair = np.unique(ends, axis=0, return_index=True, return_inverse=True)
        mean = np.bincount(pair.ravel(), self.t) / np.bincount(pair.ravel())
        first, mean = first[mean != 0], mean[mean != 0]
        return self.pairs[first], mean


def draw(name: str, n_people: int, seed: int) -> Crowd:
    """Draw points, pairs, and what a crowd says about them."""
    sample = draw_table(name, POOL, seed)
    rng = generator("people", name, n_people, seed)
    n_new = ANSWERS - SECOND
    new = Pairs.sample(sample.X, n_new, reuse=True, random_state=rng).index
    again = rng.permutation(n_new)[:SECOND]
    pairs = Pairs(sample.X, np.concatenate([new, new[again]]))
    accuracy = np.append(np.linspace(0.6, 0.98, n_people - 2), [SPAMMER, ADVERSARY])
    first = rng.randint(n_people, size=n_new)
    second = (first[again] + rng.randint(1, n_people, size=SECOND)) % n_people
    who = np.concatenate([first, second])
    right = pairs.answers(sample.y)
    t = np.where(rng.random_sample(ANSWERS) < accuracy[who], right, -right)
    return Crowd(sample, pairs, t, right, who, accuracy)
