"""
The certificate against the truth
=================================

How can we know how good a classifier is without a single labelled point? Answers about
fresh pairs tell. This example compares what they tell with the truth, which we know
here.
"""

# %%
# Some classifiers
# ----------------
#
# Two classes of points, and lines through the plane that separate them well or badly.
# With 200,000 points the true error of each line is known to the third digit.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from pairlearn import CIPSClassifier, Pairs, certify, clustering_error
from pairlearn.trust.metrics import pair_error
from pairlearn.trust.theory import pair_error_from_error

rng = np.random.default_rng(0)
y = np.where(rng.random(200_400) < 0.6, 1, -1)
X = rng.normal(size=(200_400, 2)) + np.outer(y, [1.4, 0.0])
pairs, t = Pairs.sample(X, 100_200, y, random_state=0)

# %%
# Theorem 1
# ---------
#
# Let e be the clustering error: the share of points on the wrong side, up to swapping
# the classes. A pair is misjudged if just one of its two points is on the wrong side,
# so the pair error is 2 e (1 - e). To measure the pair error we need only answers, and
# for e from 0 to 1/2 it determines e: this is what makes a certificate possible.

turns = np.deg2rad(np.arange(0, 95, 10))
points, measured = [], []
for turn in turns:
    scores = X @ [np.cos(turn), np.sin(turn)] + 0.2
    points.append(clustering_error(y, np.where(scores > 0, 1, -1)))
    measured.append(pair_error(t, scores[pairs.left] * scores[pairs.right]))
gap = np.max(np.abs(measured - pair_error_from_error(points)))
print(f"largest gap between Theorem 1 and 100,200 pairs: {gap:.4f}")

fig, ax = plt.subplots(figsize=(5.5, 4), layout="constrained")
line = np.linspace(0, 0.5, 200)
ax.plot(line, pair_error_from_error(line), color="black", label="2 e (1 − e)")
ax.plot(points, measured, "o", color="#0072B2", label="lines, turned by 0° to 90°")
ax.set(xlabel="clustering error e, from labels", ylabel="pair error, from answers")
ax.set_title("Theorem 1: the pair error is the error in disguise")
ax.legend(frameon=False)

# %%
# Does the interval keep its promise?
# -----------------------------------
#
# A classifier learns from 200 pairs. Then 200 fresh pairs certify it. The truth lies
# within the interval in 95 of 100 cases or more; so we do it 500 times, each time with
# other fresh pairs.

# One in a thousand random samples looks as if it were not random, and warns.
warnings.filterwarnings("ignore", "the pairs do not look random")
clf = CIPSClassifier(alpha=0.01).fit(pairs[:200], t[:200])
truth = clustering_error(y, clf.predict(X))
certificates = [
    certify(clf, pairs[start : start + 200], t[start : start + 200])
    for start in range(200, 100_200, 200)
]
print(certificates[0])
low, high = np.array([c.clustering_interval for c in certificates]).T
holds = (low <= truth) & (truth <= high)
print(f"true error: {truth:.3f}")
print(f"intervals that contain the true error: {holds.sum()} of {len(holds)}")

# %%
# The first sixty. Those that miss the truth are drawn in orange, with a cross.

fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
for k, certificate in enumerate(certificates[:60]):
    colour, marker = ("#0072B2", "o") if holds[k] else ("#D55E00", "x")
    ax.plot([k, k], [100 * low[k], 100 * high[k]], color=colour, linewidth=1.5)
    ax.plot(k, 100 * certificate.clustering_error, marker, color=colour, markersize=4)
ax.axhline(100 * truth, color="black", linestyle="--", label="true error")
ax.set(xlabel="certificate, each from 200 fresh pairs", ylabel="error, %")
ax.set(xlim=(-1, 60), ylim=(0, None))
ax.set_title("Certificates at 95% confidence, without one class label")
ax.legend(frameon=False, loc="lower right")
# sphinx_gallery_thumbnail_number = 2
plt.show()
