"""
Two kinds of customers, by the baskets they resemble
====================================================

A basket is a set of goods, not a vector. Two kinds of customers, in the ratio of three
to two, have the same goods to choose from but differ in what they like. For 400 pairs
of baskets we know whether they are from the same kind of customer. A basket is
described by its Jaccard similarity to 60 others.
"""

import random

import matplotlib.pyplot as plt
import numpy as np

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


# %%
# Cooks are in the majority. Knowing that, pairs that are kept aside can tell which of
# the two groups is theirs, and ``predict`` returns the names.

baskets, kinds = fill_baskets(500, seed=0)
pairs, t = Pairs.sample(baskets, 400, kinds, reuse=True, random_state=0)
clf = make_pair_pipeline(
    LandmarkSimilarity(jaccard, n_landmarks=60, random_state=0),
    CIPSClassifier(
        alpha=1e-3, majority="cook", classes=("snacker", "cook"), random_state=0
    ),
)
clf.fit(pairs, t)
new_baskets, truth = fill_baskets(1000, seed=1)
predicted = clf.predict(new_baskets)
error = clustering_error(truth, predicted)
print(f"clustering error on {len(new_baskets)} new baskets: {error:.3f}")
print(f"customers named rightly: {np.mean(predicted == np.array(truth)):.3f}")

# %%
# What do the two groups buy? Nobody told the classifier which goods cooks prefer, but
# those that it calls cooks buy them more often.

shares = {
    kind: [
        np.mean([good in new_baskets[k] for k in np.flatnonzero(predicted == kind)])
        for good in range(N_GOODS)
    ]
    for kind in clf.classes_
}
fig, ax = plt.subplots(figsize=(5.6, 5), layout="constrained")
even = np.arange(N_GOODS) % 2 == 0
for chosen, colour, marker, label in (
    (even, "#0072B2", "o", "goods that cooks prefer"),
    (~even, "#D55E00", "^", "goods that snackers prefer"),
):
    cook, snacker = (100 * np.array(shares[k])[chosen] for k in ("cook", "snacker"))
    ax.plot(cook, snacker, marker, color=colour, label=label)
ax.plot([0, 50], [0, 50], "--", color="black", linewidth=1, label="bought alike")
ax.set(xlim=(0, 50), ylim=(0, 50), aspect="equal")
ax.set(xlabel="bought by predicted cooks, %", ylabel="bought by predicted snackers, %")
ax.legend(loc="upper right")
plt.show()
