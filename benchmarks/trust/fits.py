"""Cells that are about a whole fit: `pairlearn fit` on tables."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.trust.worlds import Outcome, outcome

if TYPE_CHECKING:
    from pairlearn.trust.certificate import Certificate


def equal_rows(rng: np.random.Generator) -> Outcome:
    """Let a fifth of all points be one blank row, of either kind: `pairlearn fit`."""
    n = 400
    blank = rng.random(n) < 0.2
    y = np.where(rng.random(n) < 0.5, 1, -1)
    X = rng.normal(size=(n, 3)) + 3.0 * y[:, None]
    X[blank] = 0.0
    model, certificate = fitted(X, y, rng)
    # On new points: all others are told apart, and blanks are a toss.
    test = np.where(rng.random(4000) < 0.5, 1, -1)
    Z = rng.normal(size=(4000, 3)) + 3.0 * test[:, None]
    Z[rng.random(4000) < 0.2] = 0.0
    return outcome(certificate, error_of(model, Z, test))


def groups(rng: np.random.Generator, *, told: bool = True) -> Outcome:
    """Let things have sixteen near-equal rows: `pairlearn fit --group thing`."""
    n_things, n_rows = 300, 16
    y = np.where(rng.random(n_things) < 0.5, 1, -1)
    centres = rng.normal(size=(n_things, 8)) + 0.4 * y[:, None]
    thing = np.repeat(np.arange(n_things), n_rows)
    X = centres[thing] + 0.05 * rng.normal(size=(len(thing), 8))
    known = thing if told else None
    model, certificate = fitted(X, y[thing], rng, groups=known, n_pairs=300)
    test = np.where(rng.random(4000) < 0.5, 1, -1)
    Z = rng.normal(size=(4000, 8)) + 0.4 * test[:, None]
    return outcome(certificate, error_of(model, Z, test))


def fitted(
    X: Any,
    y: Any,
    rng: np.random.Generator,
    groups: Any = None,
    n_pairs: int | None = None,
) -> tuple[Any, Certificate | None]:
    """Return what `pairlearn fit` makes of tables, with its defaults."""
    import pandas as pd

    from pairlearn.cli.fit import FitOptions, fit_tables

    names = [f"p{k}" for k in range(len(X))]
    points = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    points.insert(0, "id", names)
    reading: dict[str, Any] = {}
    if groups is not None:
        points["thing"] = [f"t{k}" for k in groups]
        reading["group"] = "thing"
    index = rng.permutation(len(X)).reshape(-1, 2)[:n_pairs]
    answer = np.where(y[index[:, 0]] == y[index[:, 1]], "same", "different")
    pairs = pd.DataFrame(np.array(names)[index], columns=["left", "right"])
    pairs["answer"] = answer
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder) / "points.csv", Path(folder) / "pairs.csv"
        points.to_csv(files[0], index=False)
        pairs.to_csv(files[1], index=False)
        seed = int(rng.integers(2**31))
        summary, _ = fit_tables(*files, reading, FitOptions(seed=seed))
    return summary.model, summary.certificate


def error_of(model: Any, X: Any, y: Any) -> float:
    """Return the clustering error of a model of tables on points."""
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    wrong = float(np.mean((model.predict(frame) == model.classes_[1]) == (y > 0)))
    return min(wrong, 1 - wrong)
