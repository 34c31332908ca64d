"""Commands called in this process, and tables for them."""

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from pairlearn.cli.app import app

N_POINTS = 400
COLOURS = ("red", "green")


def call(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def make_tables(folder, *, n_pairs=170, seed=0):
    """Two groups that numbers and a category tell apart; most are 'large'.

    There is a date, too, which tells nothing.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(N_POINTS) % 10 < 7
    x = rng.normal(size=(N_POINTS, 3)) + 1.6 * y[:, None] * [1, 1, 0]
    colour = np.where(rng.random(N_POINTS) < 0.9, y, ~y).astype(int)
    points = pd.DataFrame(
        {
            "id": [f"p{k:03}" for k in range(N_POINTS)],
            "width": x[:, 0].round(4),
            "height": x[:, 1].round(4),
            "luck": x[:, 2].round(4),
            "colour": [COLOURS[k] for k in colour],
            "born": [f"2024-0{k % 9 + 1}-11" for k in range(N_POINTS)],
            "name": [f"Person {k}" for k in range(N_POINTS)],
        }
    )
    points.loc[5, "width"] = np.nan
    points.loc[7, "colour"] = None
    points.to_csv(folder / "points.csv", index=False)
    order = rng.permutation(N_POINTS)[: 2 * n_pairs].reshape(-1, 2)
    answers = ["same" if y[a] == y[b] else "different" for a, b in order]
    answers[3] = "unsure"
    rows = [
        (f"p{a:03}", f"p{b:03}", t) for (a, b), t in zip(order, answers, strict=True)
    ]
    pairs = pd.DataFrame(rows, columns=["left", "right", "answer"])
    pairs.to_csv(folder / "pairs.csv", index=False)
    return points, pairs, y
