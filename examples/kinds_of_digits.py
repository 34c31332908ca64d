"""
How many kinds, and how pure is each group?
===========================================

The answers "same" and "different" are about images of ten digits, but nobody says that
there are ten. The answers tell; and answers about pairs within the groups tell how pure
each group is, before a single image is labelled.
"""

# %%
# How many kinds?
# ---------------
#
# Half of the images are learned from, by 1,500 answers. Of these nine in ten are
# "different", which two kinds cannot give, so more are tried. The smallest number is
# chosen that explains the answers about as well as any.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from pairlearn import PairClassifier, Pairs, certify, pairs_within_groups

X, digit = load_digits(return_X_y=True)
X = X / 16
order = np.random.default_rng(0).permutation(len(X))
X, digit = X[order], digit[order]
pairs, t = Pairs.sample(X[:900], 1500, digit[:900], reuse=True, random_state=0)
clf = PairClassifier(n_classes="auto", n_components=30, random_state=0).fit(pairs, t)
print(f"answers that are different: {np.mean(t < 0):.0%}")
print(f"kinds that the answers speak for: {clf.n_classes_}")

fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
tried = list(clf.kinds_)
ax.plot(
    [row.n_classes for row in tried],
    [row.log_likelihood for row in tried],
    "o-",
    color="#0072B2",
)
best = next(row for row in tried if row.chosen)
ax.plot(best.n_classes, best.log_likelihood, "o", color="#D55E00", markersize=10)
ax.annotate(
    "chosen", (best.n_classes, best.log_likelihood), (8, -30),
    textcoords="offset points", color="#D55E00",
)  # fmt: skip
ax.set(xlabel="kinds that were tried", ylabel="log-likelihood of an unseen answer")
ax.set_title("The answers say how many kinds there are")

# %%
# How pure is each group?
# -----------------------
#
# From the other images, pairs are drawn within the groups, and answered. If two members
# of a group are often different, it is not pure. The labels, which nobody needs for
# this, show that the truth lies within.

fresh, truth = X[900:], digit[900:]
asked = pairs_within_groups(clf, fresh, 400, random_state=0)
found = certify(clf, asked, asked.answers(truth), points=fresh)
group = clf.predict(fresh)
counts = np.array(
    [np.bincount(truth[group == each.name], minlength=10) for each in found.groups]
)
purity = counts.max(axis=1) / counts.sum(axis=1)
wrong = 1 - counts.max(axis=1).sum() / len(fresh)
low, high = found.interval
print(f"certified error: between {low:.3f} and {high:.3f}")
print(f"points not of the largest kind of their group: {wrong:.3f}")
ends = np.array([each.interval for each in found.groups])
inside = (ends[:, 0] <= purity) & (purity <= ends[:, 1])
print(f"intervals that contain the true purity: {inside.sum()} of {len(inside)}")

# %%
# The groups and the digits, in numbers of new images, and the purity of each group.

fig, (left, right) = plt.subplots(
    1, 2, figsize=(9, 4.2), layout="constrained", width_ratios=(1.2, 1)
)
left.imshow(counts, cmap="Blues", aspect="auto")
for (row, column), n in np.ndenumerate(counts):
    if n:
        colour = "white" if n > counts.max() / 2 else "black"
        left.text(column, row, n, ha="center", va="center", color=colour, fontsize=8)
rows = np.arange(len(found.groups))
left.set(xlabel="digit, from labels", ylabel="group, from pairs alone")
left.set(xticks=range(10), yticks=rows)
right.hlines(rows, *100 * ends.T, color="#0072B2", linewidth=7, alpha=0.4,
             label="95% certificate, all groups together")  # fmt: skip
right.plot(100 * purity, rows, "D", color="#D55E00", label="true purity")
right.set(xlabel="purity, %", ylabel="group", yticks=rows)
right.set(xlim=(0, 102), ylim=(len(rows) - 0.5, -0.5))
right.legend(frameon=False, loc="lower left")
fig.suptitle("Groups that 1,500 answers found")
# sphinx_gallery_thumbnail_number = 2
plt.show()
