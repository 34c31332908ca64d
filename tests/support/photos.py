"""Folders of small pictures of two kinds, and answers about pairs of them."""

import csv

import numpy as np
from PIL import Image

__all__ = ["make_photos", "picture"]


def picture(kind, seed, shape=(20, 24)):
    """Stripes from top to bottom, or from left to right, in noise."""
    values = np.zeros(shape)
    if kind:
        values[:, ::4] = 255
    else:
        values[::4] = 255
    noise = np.random.RandomState(seed).normal(0, 40, shape)
    return Image.fromarray(np.clip(values + noise, 0, 255).astype(np.uint8))


def make_photos(folder, n_photos=60):
    """Write `photos` and `pairs.csv` below a folder; return names and kinds."""
    names, kinds = [], []
    (folder / "photos" / "sub").mkdir(parents=True)
    for k in range(n_photos):
        names.append(f"sub/p{k}.png" if k % 5 == 0 else f"p{k}.png")
        kinds.append(k % 2)
        picture(k % 2, k).save(folder / "photos" / names[-1])
    rng = np.random.RandomState(0)
    with (folder / "pairs.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["left", "right", "answer"])
        for i, j in rng.permutation(n_photos).reshape(-1, 2).tolist():
            said = "same" if kinds[i] == kinds[j] else "different"
            # Names without their ending mean the same.
            rows.writerow([names[i].removesuffix(".png"), names[j], said])
    return names, np.array(kinds)
