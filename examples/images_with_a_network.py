"""Tell even from odd digits with a network of convolutions, from pairs of images.

The learner sees 8 by 8 pixels of handwritten digits, and is told for 600 pairs of them
whether both are even or both odd, or one of each. No image has a label. Some of the
pairs are kept aside, and say how good the network is.

    python examples/images_with_a_network.py

It needs torch and skorch: pip install 'pairlearn[neural]'.
"""

from sklearn.datasets import load_digits
from torch import nn

from pairlearn import Pairs, clustering_error
from pairlearn.neural import PairNet


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


def main():
    """Learn from pairs of images and test on images never seen."""
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

    for epoch in net.history_[::5]:
        print(f"epoch {epoch['epoch']}: held-out loss {epoch['valid_loss']:.3f}")
    print(f"by pairs it was not trained on: {net.certificate_}")
    error = clustering_error(odd[1200:], net.predict(X[1200:]))
    print(f"clustering error on {len(X) - 1200} new images: {error:.3f}")


if __name__ == "__main__":
    main()
