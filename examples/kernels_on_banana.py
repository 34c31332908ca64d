"""
Curved boundaries: kernels on banana
====================================

The two classes of the banana data are bent round each other, and no straight line
separates them. A kernel makes the boundary curved. Which kernel is best? The pairs
themselves tell: no labelled point is needed to choose.
"""

# %%
# The data come from a file that ``load_banana()`` fetches once. Without it, this
# example uses two moons, which are bent in the same way.

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap
from sklearn.datasets import make_moons
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

from pairlearn import MCLClassifier, Pairs, clustering_error, make_pair_pipeline
from pairlearn.datasets import load_banana

try:
    X, y = load_banana(return_X_y=True, download=False)
    print(f"banana: {len(X)} points")
except FileNotFoundError:
    X, y = make_moons(5300, noise=0.3, random_state=0)
    print("no file of banana (load_banana() fetches it): two moons instead")
order = np.random.default_rng(0).permutation(len(X))
X, y = X[order], np.where(y[order] > 0, 1, -1)
pairs, t = Pairs.sample(X[:1200], 600, y[:1200], random_state=0)
X_new, y_new = X[1200:], y[1200:]

# %%
# A linear model, and Gaussian kernels of three widths. A large gamma is a narrow kernel
# with much freedom. Each is judged by cross-validation on the pairs: ``score`` is one
# minus the pair error, so scikit-learn's tools work as they are.

candidates = {"linear": make_pair_pipeline(StandardScaler(), MCLClassifier())}
for gamma in (0.1, 1, 30):
    candidates[f"RBF kernel, gamma {gamma}"] = make_pair_pipeline(
        StandardScaler(),
        Nystroem(gamma=gamma, n_components=100, random_state=0),
        MCLClassifier(alpha=1e-3),
    )
held_out = {
    name: 1 - cross_val_score(model, pairs, t, cv=5).mean()
    for name, model in candidates.items()
}
chosen = min(held_out, key=held_out.get)
print(f"the pairs choose: {chosen}")

# %%
# The boundaries. Above each is the pair error, by which the kernel was chosen, and the
# clustering error e on new points. By Theorem 1 the former is about 2 e (1 - e).

BLUE, ORANGE = "#0072B2", "#D55E00"
fig, axes = plt.subplots(2, 2, figsize=(8, 8.2), layout="constrained")
low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
xs, ys = (np.linspace(low[k], high[k], 150) for k in (0, 1))
grid = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
errors = {}
for ax, (name, model) in zip(axes.flat, candidates.items(), strict=True):
    # For the colours alone: 25 labelled points say which group is which.
    model.fit(pairs, t)
    model[-1].assign_from_points(model[:-1].transform(X_new[:25]), y_new[:25])
    scores = model.decision_function(grid).reshape(150, 150)
    ax.contourf(xs, ys, scores > 0, cmap=ListedColormap([ORANGE, BLUE]), alpha=0.18)
    ax.contour(xs, ys, scores, levels=[0], colors="black", linewidths=2)
    ax.set(xlabel="first feature", ylabel="second feature")
    for label, colour, marker in ((1, BLUE, "o"), (-1, ORANGE, "^")):
        some = X_new[:700][y_new[:700] == label]
        ax.scatter(*some.T, s=9, c=colour, marker=marker, label=f"class {label:+d}")
    errors[name] = clustering_error(y_new, model.predict(X_new))
    star = ", chosen" * (name == chosen)
    ax.set_title(f"{name}{star}\npair error {held_out[name]:.1%}, "
                 f"clustering error {errors[name]:.1%}", fontsize=10)  # fmt: skip
axes[0, 0].legend(loc="upper left")
print(f"clustering error of the linear model: {errors['linear']:.3f}")
print(f"clustering error of the kernel that pairs chose: {errors[chosen]:.3f}")
plt.show()
