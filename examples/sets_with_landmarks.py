"""Find two kinds of customers from their baskets, knowing only who shops alike.

A basket is a set of goods, not a vector. Two kinds of customers, three to two, have the
same goods to choose from but differ in what they like. For 400 pairs of baskets we know
whether they are of the same kind of customer. A basket is described by its Jaccard
similarity to 60 others.

    python examples/sets_with_landmarks.py
"""

import random

from pairlearn import (
    CIPSClassifier,
    LandmarkSimilarity,
    Pairs,
    clustering_error,
    make_pair_pipeline,
)

N_GOODS = 60
KINDS = ["cook", "cook", "cook", "snacker", "snacker"]


def fill_baskets(n_baskets, seed):
    """Return baskets and the kinds of customers they belong to."""
    rng = random.Random(seed)
    kinds = [rng.choice(KINDS) for _ in range(n_baskets)]
    baskets = []
    for kind in kinds:
        # Cooks prefer goods with an even number, and everyone buys some of the others.
        likes = {
            good: 0.35 if (good % 2 == 0) == (kind == "cook") else 0.12
            for good in range(N_GOODS)
        }
        baskets.append({good for good, p in likes.items() if rng.random() < p})
    return baskets, kinds


def jaccard(a, b):
    """Return the share of goods in either basket that are in both."""
    return len(a & b) / len(a | b) if a or b else 1.0


def main():
    """Learn from pairs of baskets and test on baskets never seen."""
    baskets, kinds = fill_baskets(500, seed=0)
    pairs, t = Pairs.sample(baskets, 400, kinds, reuse=True, random_state=0)
    clf = make_pair_pipeline(
        LandmarkSimilarity(jaccard, n_landmarks=60, random_state=0),
        CIPSClassifier(
            alpha=1e-3, majority=+1, classes=("snacker", "cook"), random_state=0
        ),
    )
    clf.fit(pairs, t)

    new_baskets, truth = fill_baskets(1000, seed=1)
    predicted = clf.predict(new_baskets)
    error = clustering_error(truth, predicted)
    right = sum(p == k for p, k in zip(predicted, truth, strict=True))
    print(f"clustering error on {len(new_baskets)} new baskets: {error:.3f}")
    print(f"the kind of customer was named rightly {right} times")


if __name__ == "__main__":
    main()
