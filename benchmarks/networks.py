"""When a network is worth it: even and odd digits, from pairs of images.

``python -m benchmarks.networks``: scikit-learn's digits as they are, 8 by 8 pixels, and
the same digits at a random place of a frame of 14 by 14, where no pixel means anything
by itself. Points are drawn anew for each draw; points may be in several pairs. The
networks have the defaults of `PairNet` but for smaller batches and
``likelihood="pair"``. The second network of convolutions was added when the first had
failed here: of batch normalisation, standardised pixels and three learning rates, batch
normalisation left ln 2 behind most often, by the loss of the answers on 500 pairs of
the same digits.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from torch import nn

from benchmarks.report import machine, publish, table
from pairlearn import PairClassifier, Pairs, clustering_error
from pairlearn.models.neural import PairNet

N_PAIRS, DRAWS, N_TRAIN = (100, 300, 2000), 3, 1200


def in_a_frame(images: Any, size: int, rng: np.random.Generator) -> Any:
    """Return each image at a random place of a larger, empty one."""
    side = images.shape[1]
    framed = np.zeros((len(images), size, size))
    for image, frame in zip(images, framed, strict=True):
        down, right = rng.integers(size - side + 1, size=2)
        frame[down : down + side, right : right + side] = image
    return framed


def convolutions(size: int, *, norm: bool) -> nn.Module:
    """Return a small network of two convolutions."""
    left = size // 2 // 2
    return nn.Sequential(
        nn.Unflatten(1, (1, size, size)),
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8) if norm else nn.Identity(),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.BatchNorm2d(16) if norm else nn.Identity(),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * left**2, 32),
        nn.ReLU(),
        nn.Linear(32, 1),
    )


def measure(size: int, n_pairs: int, seed: int) -> list[tuple[float, float]]:
    """Return error in per cent and seconds of each model."""
    rng = np.random.default_rng(seed)
    digits = load_digits()
    odd = digits.target % 2
    X = in_a_frame(digits.images / 16, size, rng).reshape(len(odd), -1)
    order = rng.permutation(len(odd))
    train, test = order[:N_TRAIN], order[N_TRAIN:]
    drawn = {"reuse": True, "random_state": seed}
    pairs, t = Pairs.sample(X[train], n_pairs, odd[train], **drawn)
    models = [
        PairClassifier(random_state=seed),
        *(
            PairNet(
                module,
                likelihood="pair",
                batch_size=32,
                device="cpu",
                random_state=seed,
            )
            for module in (
                None,
                partial(convolutions, size, norm=False),
                partial(convolutions, size, norm=True),
            )
        ),
    ]
    found = []
    for model in models:
        began = time.perf_counter()
        model.fit(pairs, t)
        seconds = time.perf_counter() - began
        error = 100 * clustering_error(odd[test], model.predict(X[test]))
        found.append((error, seconds))
    return found


def main() -> None:
    """Fit all models to both kinds of image, and publish the table."""
    rows = []
    for size in (8, 14):
        for n_pairs in N_PAIRS:
            found = np.array([measure(size, n_pairs, k) for k in range(DRAWS)])
            cells = [
                f"{' / '.join(f'{error:.1f}' for error in errors)} ({seconds:.0f} s)"
                for errors, seconds in zip(
                    found[:, :, 0].T, found[:, :, 1].mean(axis=0), strict=True
                )
            ]
            rows.append([f"{size} x {size}", str(n_pairs), *cells])
            print(" ".join(rows[-1]), flush=True)
    what = (
        f"Even or odd? Clustering error in per cent of each of {DRAWS} draws, on "
        f"{len(load_digits().target) - N_TRAIN} new images, and the mean time of a "
        "fit. Near 50 means that a network has learned nothing. The last column was "
        "added when the one before it had failed, so it is somewhat flattered."
    )
    header = ["image", "pairs", "PairClassifier", "PairNet()", "convolutions"]
    header.append("with batch norm")
    publish(
        "networks",
        "Networks beside PairClassifier",
        [
            machine("numpy", "scikit-learn", "torch", "skorch"),
            what,
            table(header, rows),
        ],
    )


if __name__ == "__main__":
    main()
