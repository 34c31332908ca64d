"""
Which side is which? Class assignment, and when it fails
========================================================

Pairs find the boundary, but "same" and "different" do not say which side is which
class. If we know which class is the majority, pairs can tell (Theorem 2). This example
shows how many pairs that takes, why it fails near prior 1/2, and why a simpler rule
does not work.
"""

# %%
# The points are those of the paper: on a line, class +1 around 1 and class -1 around
# -1, the latter spread more widely. Let the classifier say +1 right of a threshold.
#
# The rule: count how often the class of a point differs from the answer of its pair. On
# average that is Q = (2p - 1) R + 1 - p, with the prior p and the error R. If class +1
# is the majority, Q is below 1/2 exactly if the classifier is the right way round.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from pairlearn import CIPSClassifier, Pairs
from pairlearn.datasets import make_gaussians
from pairlearn.trust.assignment import naive_assignment
from pairlearn.trust.metrics import q_statistic
from pairlearn.trust.theory import assignment_error_bound, pairs_for_assignment

COLOURS = ("#CC79A7", "#0072B2", "#009E73")


def share_wrong(prior, n_pairs, threshold=0.0, repeats=200):
    """Return how often the pairs choose the wrong sign, and the error to go by."""
    X, y = make_gaussians(2 * n_pairs * repeats, prior, random_state=0)
    scores = X[:, 0] - threshold
    left, right = scores.reshape(repeats, 2, n_pairs).swapaxes(0, 1)
    t = y.reshape(repeats, 2, n_pairs).prod(axis=1)
    q = np.array([q_statistic(*each) for each in zip(t, left, right, strict=True)])
    return np.mean(q >= 0.5), np.mean(np.where(scores > 0, 1, -1) != y)


# %%
# The nearer the prior is to 1/2, the less the pairs say. At 1/2 itself they say
# nothing: both signs agree equally well with all answers, however many there are.
# Dashed lines are the guarantee of Lemma 3; the simulation stays well below it.

priors = np.linspace(0.5, 0.9, 9)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for m, colour in zip((20, 100, 500), COLOURS, strict=True):
    wrong, error = np.transpose([share_wrong(p, m) for p in priors])
    bound = [1, *map(assignment_error_bound, [m] * 8, priors[1:], error[1:])]
    ax.plot(priors, 100 * wrong, "o-", color=colour, label=f"{m} pairs")
    ax.plot(priors, 100 * np.array(bound), "--", color=colour, linewidth=1)
ax.plot([], [], "--", color="black", linewidth=1, label="bound of Lemma 3")
ax.set(xlabel="prior of class +1, the majority", ylabel="wrong assignments, %")
ax.set_title("Pairs name the classes, unless these are equally large")
ax.legend(frameon=False)
for p in (0.5, 0.7):
    print(f"wrong assignments at prior {p}, 500 pairs: {share_wrong(p, 500)[0]:.3f}")
enough = pairs_for_assignment(prior=0.7, error=0.2, failure=0.01)
print(f"pairs for one mistake in 100, guaranteed, at prior 0.7: {enough}")

# %%
# It is tempting to do without pairs: put the points on their sides, and call the larger
# side the majority. A classifier that misses one class more often than the other makes
# the wrong side larger, and then more points only make the mistake more certain. Here
# the threshold lies too far to the right.

sizes = [30, 100, 300, 1000, 3000]
pair_rule = [share_wrong(0.6, m, threshold=0.8)[0] for m in sizes]
naive_rule = []
for m in sizes:
    X, _ = make_gaussians(200 * m, 0.6, random_state=0)
    signs = [naive_assignment(x, majority=+1).sign for x in X.reshape(200, m) - 0.8]
    naive_rule.append(np.mean(np.array(signs) < 0))
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(sizes, 100 * np.array(pair_rule), "o-", color=COLOURS[1], label="by pairs")
ax.plot(sizes, 100 * np.array(naive_rule), "s--", color="#D55E00", label="naive rule")
ax.set(xscale="log", xlabel="pairs, or points", ylabel="wrong assignments, %")
ax.set_xticks(sizes, sizes)
ax.set_title("Prior 0.6, and a classifier that misses many of class +1")
ax.legend(frameon=False)
print(f"wrong assignments of the naive rule, 3000 points: {naive_rule[-1]:.3f}")
print(f"wrong assignments by 3000 pairs: {pair_rule[-1]:.3f}")

# %%
# So the library warns when the pairs that it kept aside are too unclear to decide. Then
# a few labelled points decide, at any prior.

X, y = make_gaussians(2000, 0.5, random_state=0)
pairs, t = Pairs.sample(X[:400], 200, y[:400], random_state=0)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    clf = CIPSClassifier(majority=+1, random_state=0).fit(pairs, t)
print(str(caught[0].message).split(". ")[0])
clf.assign_from_points(X[400:410], y[400:410])
print(f"right with ten labels: {np.mean(clf.predict(X[410:]) == y[410:]):.2f}")
plt.show()
