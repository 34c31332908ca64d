"""
A boundary, drawn answer by answer
==================================

Points lie in the plane, and nobody knows their classes. But we may ask: are these two
points of the same class, or of different classes? This example gives a classifier more
and more answers, and shows how it finds the line between the classes.
"""

# %%
# The points are of two classes that overlap. The classes are used to answer the
# questions, and at the end to measure how good the line is. The classifier never sees
# them.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from sklearn.linear_model import LogisticRegression

from pairlearn import CIPSClassifier, Pairs, clustering_error

rng = np.random.default_rng(0)
y = np.where(rng.random(12_000) < 0.65, 1, -1)
X = rng.normal(size=(12_000, 2)) @ [[1, 0.5], [0, 0.8]] + np.outer(y, [0.6, -0.7])
pairs, t = Pairs.sample(X[:2000], 400, y[:2000], random_state=0)
X_new, y_new = X[2000:], y[2000:]
print(f"the first answers: {t[:8].astype(int)}")

# %%
# The classifier sees the first 10 answers, then 20, then 80. A solid stroke joins two
# points of the same class, a dashed stroke two points of different classes.
#
# With 10 answers the line is a guess. It turns as more come in, until most dashed
# strokes cross it and most solid ones do not. The last panel shows new points in the
# colours of their true classes, and the line learned from 400 answers.

GREY, BLUE, ORANGE = "#8c959f", "#0072B2", "#D55E00"
axis = np.linspace(-3.8, 3.8, 80)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
models = {
    m: CIPSClassifier(alpha=0.01).fit(pairs[:m], t[:m])
    for m in (10, 20, 40, 80, 160, 400)
}

fig, axes = plt.subplots(2, 2, figsize=(8, 8.4), layout="constrained")
for ax, m in zip(axes.flat, (10, 20, 80, 400), strict=True):
    scores = models[m].decision_function(grid).reshape(80, 80)
    ax.contour(axis, axis, scores, levels=[0], colors="black", linewidths=2.5)
    ax.set(xlabel="first feature", ylabel="second feature", aspect="equal")
    ax.set(xlim=(-3.8, 3.8), ylim=(-3.8, 3.8), title=f"{m} answers")
for ax, m in zip(axes.flat, (10, 20, 80), strict=False):
    ax.scatter(*X[:500].T, s=6, color=GREY, alpha=0.4, linewidth=0)
    for pair, answer in zip(pairs.index[:m], t[:m], strict=True):
        style = {"color": BLUE} if answer > 0 else {"color": ORANGE, "linestyle": "--"}
        ax.plot(*X[pair].T, marker="o", markersize=3.5, linewidth=0.9, **style)
for label, colour, marker in ((1, "#009E73", "o"), (-1, "#CC79A7", "^")):
    some = X_new[:600][y_new[:600] == label]
    axes[1, 1].scatter(*some.T, s=9, c=colour, marker=marker, label=f"class {label:+d}")
axes[1, 1].legend(loc="upper left")
axes[1, 1].set_title("400 answers, and new points")
handles = [
    Line2D([], [], color=BLUE, label="same"),
    Line2D([], [], color=ORANGE, linestyle="--", label="different"),
    Line2D([], [], color="black", linewidth=2.5, label="boundary f(x) = 0"),
]
fig.legend(handles=handles, loc="outside upper center", ncols=3, frameon=False)

# %%
# How far is it from the best line? We count errors on 10,000 new points, up to swapping
# the two classes. The dashed line is a classifier that was trained on labelled points,
# all 2,000 of them.

best = LogisticRegression().fit(X[:2000], y[:2000])
floor = clustering_error(y_new, best.predict(X_new))
sizes = list(models)
errors = [clustering_error(y_new, clf.predict(X_new)) for clf in models.values()]
fig, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
ax.plot(sizes, 100 * np.array(errors), "o-", color=BLUE, label="learned from pairs")
ax.axhline(100 * floor, color="black", linestyle="--", label="from 2,000 labels")
ax.set(xscale="log", xlabel="answers", ylabel="clustering error, %", ylim=(0, None))
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend(frameon=False)
print(f"clustering error after {sizes[0]} answers: {errors[0]:.3f}")
print(f"clustering error after {sizes[-1]} answers: {errors[-1]:.3f}")
print(f"with 2,000 labels: {floor:.3f}")
plt.show()
