"""
Two rings, with nothing tuned by hand
=====================================

Points lie on two rings, one inside the other. The learner is told for 300 pairs whether
the two points are of the same ring, and that the outer ring has more than half of the
points. PairClassifier finds out that straight lines do not help here, and says how good
it is before a single point is labelled.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from sklearn.datasets import make_circles

from pairlearn import PairClassifier, Pairs, clustering_error

X, ring = make_circles((1000, 600), noise=0.12, factor=0.5, random_state=0)
pairs, t = Pairs.sample(X[:600], 300, ring[:600], random_state=0)
clf = PairClassifier(
    classes=("outer", "inner"), majority="outer", n_components=100, random_state=0
)
clf.fit(pairs, t)

# %%
# Its own estimate, the truth, and what it tried. ``candidates_`` lists every model with
# the pair error on answers that the model had not seen.

print(f"by its own estimate: {clf.certificate_}")
error = clustering_error(ring[600:], clf.predict(X[600:]))
print(f"clustering error on {len(X) - 600} new points: {error:.3f}")

best = {}
for row in clf.candidates_:
    known = best.get(row.kernel)
    if known is None or row.log_likelihood > known.log_likelihood:
        best[row.kernel] = row
for kernel in ("linear", "rbf 0.25"):
    print(f"{kernel}: {best[kernel].pair_error:.1%} of held-out answers wrong")

# %%
# On the left are new points, and how sure the classifier is that a place belongs to the
# inner ring. On the right is the best model of each kernel: the linear one is no better
# than "constant", which ignores the point.

BLUE, ORANGE = "#0072B2", "#D55E00"
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
axis = np.linspace(-1.6, 1.6, 120)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
inner = clf.predict_proba(grid)[:, 1].reshape(120, 120)
colours = LinearSegmentedColormap.from_list("", ["#f6cfb5", "white", "#b5d5ea"])
shades = left.contourf(axis, axis, inner, np.linspace(0, 1, 11), cmap=colours)
left.contour(axis, axis, inner, levels=[0.5], colors="black", linewidths=2)
for k, name, colour, marker in ((0, "outer", ORANGE, "^"), (1, "inner", BLUE, "o")):
    some = X[600:1100][ring[600:1100] == k]
    left.scatter(*some.T, s=12, color=colour, marker=marker, linewidth=0, label=name)
left.set(xlabel="first feature", ylabel="second feature", aspect="equal")
left.set_title("New points, and the boundary")
left.legend(title="true ring", loc="upper left")
fig.colorbar(shades, ax=left, label="P(inner)", ticks=[0, 0.5, 1])

names = sorted(best, key=lambda name: best[name].pair_error)
right.barh(names, [100 * best[name].pair_error for name in names], color=BLUE)
right.invert_yaxis()
right.set(xlabel="pair error on held-out answers, %", title="Each kernel's best model")
plt.show()
