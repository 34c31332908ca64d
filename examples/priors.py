"""
How large are the classes? The prior from answers
=================================================

Two random points are the same with probability p² + (1 - p)², where p is the prior of
one class. So the share of answers "same" tells the prior of the majority, before any
classifier is trained. It cannot tell which class that is.
"""

# %%
# The share of "same" against the prior. It is lowest for equal classes, and there
# the curve is flat: a small error of the share is a large error of the prior.

import matplotlib.pyplot as plt
import numpy as np

from pairlearn import Pairs, SDClassifier, prior_from_answers
from pairlearn.datasets import make_gaussians
from pairlearn.trust.theory import same_rate_from_prior

BLUE, ORANGE, GREEN = "#0072B2", "#D55E00", "#009E73"
fig, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
line = np.linspace(0.01, 0.99, 99)
ax.plot(line, [same_rate_from_prior(p) for p in line], color="black")
ax.annotate("flat: p is hard to tell", (0.5, 0.5), (0.5, 0.68), ha="center",
            arrowprops={"arrowstyle": "->"})  # fmt: skip
ax.annotate("steep: p is easy to tell", (0.9, 0.82), (0.5, 0.88), ha="center",
            arrowprops={"arrowstyle": "->"})  # fmt: skip
ax.set(xlabel="prior p of class +1", ylabel="P(answer is same)", ylim=(0.45, 1.02))
ax.set_title("What random pairs say about the prior")

# %%
# ``prior_from_answers`` inverts the curve, and gives an interval. We draw answers at
# several priors, and compare.

rng = np.random.default_rng(0)
truths = np.array([0.5, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95])
fig, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
ax.plot([0.5, 1], [0.5, 1], "--", color="black", linewidth=1, label="truth")
for m, colour, shift in ((100, ORANGE, -0.004), (2000, BLUE, 0.004)):
    for k, p in enumerate(truths):
        y = rng.random((m, 2)) < p
        estimate = prior_from_answers(np.where(y[:, 0] == y[:, 1], 1, -1))
        ends = estimate.interval
        ax.plot([p + shift] * 2, ends, color=colour, linewidth=2)
        ax.plot(p + shift, estimate.majority_prior, "o", color=colour,
                label=f"{m} answers" if not k else None)  # fmt: skip
        if p in (0.5, 0.9):
            print(f"prior {p}, {m} answers: between {ends[0]:.3f} and {ends[1]:.3f}")
ax.set(xlabel="true prior of the majority", ylabel="estimate and 95% interval")
ax.set_title("Wide near 1/2, narrow far from it")
ax.legend(frameon=False, loc="lower right")

# %%
# Does the interval keep its promise? We draw 300 answers a thousand times, at prior
# 0.7:

hits = 0
for _ in range(1000):
    y = rng.random((300, 2)) < 0.7
    low, high = prior_from_answers(np.where(y[:, 0] == y[:, 1], 1, -1)).interval
    hits += low <= 0.7 <= high
print(f"intervals that contain the true prior: {hits} of 1000")

# %%
# Some methods need the prior: ``SDClassifier`` has a convex problem to solve if the
# prior is known and far from 1/2. The estimate is good enough.

X, y = make_gaussians(6000, prior=0.8, random_state=0)
pairs, t = Pairs.sample(X[:2000], 1000, y[:2000], random_state=0)
guess = prior_from_answers(t).majority_prior
print(f"estimated prior: {guess:.3f}; in truth {np.mean(y > 0):.3f}")
for name, prior in (("estimated", guess), ("true", 0.8)):
    clf = SDClassifier(prior=prior).fit(pairs, t)
    error = np.mean(clf.predict(X[2000:]) != y[2000:])
    print(f"error with the {name} prior: {error:.3f}")
# sphinx_gallery_thumbnail_number = 2
plt.show()
