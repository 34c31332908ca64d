"""What the figures on images hang on: the scale of the pixels, and SGD's start.

``python -m benchmarks.images`` (needs PAIRLEARN_DATA; some minutes) writes
``benchmarks/results/images.md``.
"""

from __future__ import annotations

from fractions import Fraction

from benchmarks.report import table
from benchmarks.reproduction import answer, error, summary
from pairlearn.reproduce.sample import draw_images, draw_images_with_prior

TRIALS = 5
SETS = ("mnist", "fashion-mnist", "kuzushiji-mnist")


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
    "Pixels from 0 to 1, or standardised?": scale_of_pixels,
    "CIPS is not convex: how much hangs on the start?": starts_of_sgd,
}


def main() -> None:
    """Write the tables."""
    about = f"Clustering error in percent, mean (standard error) over {TRIALS} trials."
    answer(CHECKS, "images", "What the figures on images hang on", about)


if __name__ == "__main__":
    main()
