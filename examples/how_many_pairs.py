"""
How many pairs are enough?
==========================

Pairs are needed for three things: to find the boundary, to find out which side is
which, and to certify the result. For the last two a formula says how many. For the
first the theory has a bound that holds for all data, but a learning curve says more
about your own data.
"""

# %%
# Two classes in ten dimensions, seven to three, of which only the first dimension
# matters. For such classes the error of every line can be computed, so there is no need
# for test points, and that of the best line is known too.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from pairlearn import CIPSClassifier, Pairs, certify
from pairlearn.trust.planning import pairs_for_certificate
from pairlearn.trust.theory import clustering_excess_bound, pairs_for_assignment

PRIOR, MEAN, BLUE, ORANGE = 0.7, 1.4, "#0072B2", "#D55E00"


def draw(n_points, seed):
    """Return points and their classes."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n_points) < PRIOR, 1, -1)
    return rng.normal(size=(n_points, 10)) + MEAN * np.outer(y, np.eye(10)[0]), y


def true_error(w, b):
    """Return the clustering error of the line w^T x + b = 0."""
    reach, shift = MEAN * w[0] / np.linalg.norm(w), b / np.linalg.norm(w)
    error = PRIOR * norm.sf(reach + shift) + (1 - PRIOR) * norm.sf(reach - shift)
    return min(error, 1 - error)


best = true_error(2 * MEAN * np.eye(10)[0], np.log(PRIOR / (1 - PRIOR)))
print(f"error of the best line: {best:.3f}")

# %%
# Drawing the boundary
# --------------------
#
# We train ten classifiers for each number of pairs. In the end, the excess over the
# best line falls like one over the number of pairs, or faster. Lemma 2 holds for all
# classes, and is far more cautious: for so few pairs its bound is 1/2, which says
# nothing.

sizes = np.array([25, 50, 100, 200, 400, 800])
errors = np.empty((len(sizes), 10))
for seed in range(10):
    X, y = draw(1600, seed)
    pairs, t = Pairs.sample(X, 800, y, random_state=seed)
    for k, m in enumerate(sizes):
        clf = CIPSClassifier(alpha=0.01).fit(pairs[:m], t[:m])
        errors[k, seed] = true_error(clf.coef_[0], clf.intercept_[0])
excess = errors.mean(axis=1) - best
bound = clustering_excess_bound(800, rademacher=800**-0.5, score_bound=1.0)
print(f"excess error, 100 pairs: {excess[2]:.4f}")
print(f"excess error, 800 pairs: {excess[-1]:.4f}, at most {bound} by Lemma 2")

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.semilogx(sizes, 100 * errors, color=BLUE, alpha=0.15, linewidth=1)
left.semilogx(sizes, 100 * errors.mean(axis=1), "o-", color=BLUE, label="mean of 10")
left.axhline(100 * best, color="black", linestyle="--", label="best line")
left.set(ylabel="clustering error, %", ylim=(0, 30), title="Learning curves")
right.loglog(sizes, 100 * excess, "o-", color=BLUE, label="mean of 10")
slope = excess[-1] * sizes[-1] / sizes
right.loglog(sizes[2:], 100 * slope[2:], "--", color="black", label="1 / pairs")
right.set(ylabel="excess error, % of points", title="Excess over the best line")
right.set_yticks([0.3, 1, 3, 10], ["0.3", "1", "3", "10"])
for ax in (left, right):
    ax.set_xticks(sizes, sizes)
    ax.minorticks_off()
    ax.set_xlabel("pairs")
    ax.legend(frameon=False)

# %%
# Naming the sides, and certifying
# --------------------------------
#
# These two have formulas. The first says how many pairs make a wrong class assignment
# rarer than one in a hundred, the second how many give an interval of a given width, in
# nine of ten cases. We certify the last classifier with that many fresh pairs, and look
# at the width.

print(f"pairs to name the sides: {pairs_for_assignment(PRIOR, error=best)}")
widths = np.array([0.12, 0.08, 0.06, 0.04, 0.03, 0.02])
wanted = [pairs_for_certificate(error=best, width=w) for w in widths]
X, y = draw(2 * sum(wanted), seed=99)
pairs, t = Pairs.sample(X, sum(wanted), y, random_state=0)
parts = np.split(np.arange(sum(wanted)), np.cumsum(wanted)[:-1])
ends = [certify(clf, pairs[part], t[part]).clustering_interval for part in parts]
got = np.diff(ends)[:, 0]
print(f"pairs to certify within {widths[3]}: {wanted[3]}, which gave {got[3]:.3f}")

fig, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.loglog(wanted, 100 * widths, "--", color="black", label="pairs_for_certificate")
ax.loglog(wanted, 100 * got, "o", color=ORANGE, label="certificates")
ax.set(xlabel="fresh pairs", ylabel="width of the interval, % of points")
ax.set_yticks(100 * widths, [f"{100 * w:g}" for w in widths])
ax.set_xticks([50, 100, 200, 500, 1000, 2000], [50, 100, 200, 500, 1000, 2000])
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()
