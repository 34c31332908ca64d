"""Images: a folder of files, the scale of the pixels, and SGD's start.

``python -m benchmarks.images`` (needs PAIRLEARN_DATA; some minutes) writes
``benchmarks/results/images.md``.
"""

from __future__ import annotations

import csv
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
from PIL import Image

from benchmarks.report import table
from benchmarks.reproduction import answer, error, summary
from pairlearn import PairClassifier, make_pair_pipeline
from pairlearn.datasets import even_odd
from pairlearn.files.tables import read_answers
from pairlearn.reproduce.sample import (
    draw_images,
    draw_images_with_prior,
    generator,
    load_images,
)
from pairlearn.trust.metrics import clustering_error

TRIALS = 5
SETS = ("mnist", "fashion-mnist", "kuzushiji-mnist")
# Of a folder: images, answers about random pairs that share no image, and trials.
IMAGES, ANSWERS, FOLDERS = 4000, 1000, 3


def folders_of_files() -> str:
    """PairClassifier on a folder of PNG files, by our own descriptors of images."""
    rows = []
    for dataset in SETS[:2]:
        errors = [_folder_trial(dataset, seed) for seed in range(FOLDERS)]
        rows.append([dataset, summary(errors), f"{100 * max(errors):.1f}"])
    header = [f"{IMAGES:,} PNG files, {ANSWERS:,} answers", "error", "largest"]
    return table(header, rows)


def _folder_trial(dataset: str, seed: int) -> float:
    """Return the error on the images that are in no pair."""
    part, *_ = load_images(dataset, None)
    rng = generator(dataset, "folder", seed)
    rows = rng.permutation(len(part.target))[:IMAGES]
    pixels = part.data[rows].reshape(-1, 28, 28).astype(np.uint8)
    y = even_odd(part.target[rows])
    index = rng.permutation(IMAGES)[: 2 * ANSWERS].reshape(-1, 2)
    free = np.setdiff1d(np.arange(IMAGES), index)
    with tempfile.TemporaryDirectory() as where:
        photos, pairs = Path(where, "photos"), Path(where, "pairs.csv")
        photos.mkdir()
        for k, image in enumerate(pixels):
            Image.fromarray(image).save(photos / f"{k:05d}.png")
        with pairs.open("w", newline="") as file:
            lines = csv.writer(file)
            lines.writerow(["left", "right", "answer"])
            for i, j in index.tolist():
                said = "same" if y[i] == y[j] else "different"
                lines.writerow([f"{i:05d}", f"{j:05d}", said])
        read = read_answers(photos, pairs)
        frame = read.points.frame
    encoder = read.points.make_encoder()
    model = make_pair_pipeline(encoder, PairClassifier(random_state=seed))
    model.fit(read.pairs, read.t)
    return clustering_error(y[free], model.predict(frame.iloc[free]))


def scale_of_pixels() -> str:
    """CIPS on pixels from 0 to 1, and on standardised ones."""
    rows = []
    for dataset in SETS:
        for pixels in ("0 to 1", "standardised"):
            cells = []
            for m in (1000, 2000, 4000):
                samples = (
                    draw_images(dataset, m, k, pixels=pixels) for k in range(TRIALS)
                )
                errors = [error(s, "CIPS", seed) for seed, s in enumerate(samples)]
                cells.append(summary(errors))
            rows.append([dataset, pixels, *cells])
    header = ["CIPS on", "pixels", "m = 1000", "m = 2000", "m = 4000"]
    return table(header, rows)


def starts_of_sgd() -> str:
    """CIPS on images from one start of SGD, as in the paper, and the best of five."""
    rows = []
    for share in ("1/7", "5/7", "6/7"):
        prior, dataset = float(Fraction(share)), "kuzushiji-mnist"
        cells: dict[int, list[float]] = {1: [], 5: []}
        for seed in range(TRIALS):
            sample = draw_images_with_prior(dataset, 2000, prior, seed, n_test=1800)
            for n_init, errors in cells.items():
                errors.append(error(sample, "CIPS", seed, n_init=n_init))
        rows.append([f"prior {share}", *map(summary, cells.values())])
    return table(["CIPS on Kuzushiji-MNIST", "one start", "best of five"], rows)


CHECKS = {
    "A folder of files, by our own descriptors": folders_of_files,
    "Pixels from 0 to 1, or standardised?": scale_of_pixels,
    "CIPS is not convex: how much hangs on the start?": starts_of_sgd,
}


def main() -> None:
    """Write the tables."""
    about = (
        f"Clustering error in percent, mean (standard error) over {TRIALS} trials; for "
        f"folders of files {FOLDERS}, on the {IMAGES - 2 * ANSWERS:,} images that are "
        "in no pair, with the default of PairClassifier. The two kinds are the even "
        "and the odd numbers of classes."
    )
    answer(CHECKS, "images", "Images", about)


if __name__ == "__main__":
    main()
