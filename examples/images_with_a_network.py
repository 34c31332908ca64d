"""
Even or odd: a convolutional network, trained from pairs of images
==================================================================

The learner sees handwritten digits of 8 by 8 pixels. For 600 pairs of them it is told
whether they are the same (both even or both odd) or different. No image has a label.
Some of the pairs are kept aside, to measure how good the network is.

It needs torch and skorch: ``pip install 'pairlearn[neural]'``.
"""

# %%
# ``PairNet`` takes any network that returns one score per image.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from torch import nn

from pairlearn import Pairs, clustering_error
from pairlearn.models.neural import PairNet


def network():
    """Return convolutions that end in one score."""
    return nn.Sequential(
        nn.Unflatten(1, (1, 8, 8)),  # a point is a row of 64 pixels
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),  # without it, the first epochs may lead nowhere
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(256, 1),
    )


X, digit = load_digits(return_X_y=True)
X, odd = X / 16, digit % 2
pairs, t = Pairs.sample(X[:1200], 600, odd[:1200], random_state=0)
net = PairNet(
    network,
    batch_size=32,
    max_epochs=20,
    certificate_size=150,
    device="cpu",
    random_state=0,
)
net.fit(pairs, t)

# %%
# 150 of the pairs were not used for training; they certify the network without a single
# label. The labels of new images show how good it really is.

print(f"by pairs it was not trained on: {net.certificate_}")
error = clustering_error(odd[1200:], net.predict(X[1200:]))
print(f"clustering error on {len(X) - 1200} new images: {error:.3f}")

# %%
# How the training went, and the new images of which the network is least sure.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
epochs = [row["epoch"] for row in net.history_]
for key, style, label in (
    ("train_loss", {"color": "#0072B2"}, "pairs trained on"),
    ("valid_loss", {"color": "#D55E00", "linestyle": "--"}, "pairs held out"),
):
    left.plot(epochs, [row[key] for row in net.history_], label=label, **style)
left.set(xlabel="epoch", ylabel="loss", ylim=(0, None), title="Training")
left.set_xticks(epochs[4::5])
left.legend(frameon=False)
unsure = 1200 + np.argsort(np.abs(net.decision_function(X[1200:])))[:24]
tiles = np.pad(X[unsure].reshape(3, 8, 8, 8), ((0, 0), (0, 0), (1, 1), (1, 1)))
right.imshow(tiles.swapaxes(1, 2).reshape(30, 80), cmap="gray_r")
right.set(xticks=[], yticks=[], title="New images nearest to the boundary")
plt.show()
