"""
Even or odd: pairs of handwritten digits
========================================

As in the paper, the two classes are even and odd digits. Each class contains five
shapes of digits, so a straight boundary in the space of pixels does not do well. A
kernel does better, and a certificate says so before a single digit is labelled.
"""

# %%
# MNIST has images of 28 by 28 pixels, in files that ``load_mnist()`` fetches once.
# Without them, this example takes the digits of 8 by 8 pixels that come with
# scikit-learn.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem

from pairlearn import (
    MCLClassifier,
    Pairs,
    certify,
    clustering_error,
    make_pair_pipeline,
)
from pairlearn.datasets import even_odd, load_mnist

try:
    X, digit = load_mnist(subset="test", return_X_y=True, download=False)
    X, side = X / 255.0, 28
    print(f"MNIST: {len(X)} images")
except FileNotFoundError:
    X, digit = load_digits(return_X_y=True)
    X, side = X / 16.0, 8
    print("no files of MNIST (load_mnist() fetches them): smaller digits instead")
order = np.random.default_rng(0).permutation(len(X))
X, y = X[order], even_odd(digit[order])

# %%
# There are 500 pairs to learn from, and 350 pairs of other images to certify with. The
# labels of all images that were not learned from give the true error.

pairs, t = Pairs.sample(X[:1000], 500, y[:1000], random_state=0)
fresh, t_fresh = Pairs.sample(X[1000:1700], 350, y[1000:1700], random_state=0)
X_new, y_new = X[1000:], y[1000:]
pixels = PCA(30, svd_solver="covariance_eigh")  # fewer columns, faster
models = {
    "linear": make_pair_pipeline(pixels, MCLClassifier()),
    "RBF kernel": make_pair_pipeline(
        pixels,
        Nystroem(gamma=0.04, n_components=200, random_state=0),
        MCLClassifier(alpha=1e-4),
    ),
}
certificates, truths = [], []
for name, model in models.items():
    certificates.append(certify(model.fit(pairs, t), fresh, t_fresh))
    truths.append(clustering_error(y_new, model.predict(X_new)))
    low, high = certificates[-1].clustering_interval
    print(f"{name}: certified between {low:.3f} and {high:.3f}")
    print(f"clustering error, {name}: {truths[-1]:.3f}")

# %%
# The two certificates, and the truth beside them.

fig, ax = plt.subplots(figsize=(6.5, 2.4), layout="constrained")
for k, certificate in enumerate(certificates):
    ends = 100 * np.array(certificate.clustering_interval)
    ax.plot(ends, [k, k], color="#0072B2", linewidth=6, alpha=0.5,
            label=None if k else "95% certificate, 350 pairs")  # fmt: skip
ax.plot(100 * np.array(truths), [0, 1], "D", color="#D55E00", label="true error")
ax.set_yticks([0, 1], models)
ax.set(xlim=(0, 24), ylim=(1.5, -0.5), xlabel="clustering error, %")
ax.legend(frameon=False, loc="lower right")

# %%
# New images in the order of their scores: the lowest, those nearest to zero, and the
# highest. Pairs have sorted them into even and odd, but never said which is which.

scores = models["RBF kernel"].decision_function(X_new)
rows = [np.argsort(scores), np.argsort(np.abs(scores)), np.argsort(-scores)]
fig, axes = plt.subplots(3, 1, figsize=(8, 3), layout="constrained")
names = ("lowest", "near 0", "highest")
for ax, order, name in zip(axes, rows, names, strict=True):
    images = X_new[order[:12]].reshape(12, side, side)
    ax.imshow(images.swapaxes(0, 1).reshape(side, -1), cmap="gray_r")
    ax.set(xticks=[], yticks=[], ylabel=name)
fig.suptitle("New images by their scores f(x)")
# sphinx_gallery_thumbnail_number = 2
plt.show()
