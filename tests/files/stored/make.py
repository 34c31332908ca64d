"""Write the stored models: python -m tests.files.stored.make

Models of one release must load in the next. So these files are written once for a
release, under its number, and stay: do not write them again to make a test pass.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import pairlearn
from pairlearn import (
    CIPSClassifier,
    MCLClassifier,
    PairClassifier,
    Pairs,
    make_pair_pipeline,
    save,
)

HERE = Path(__file__).parent
N_SHOWN = 12


def points_and_pairs():
    rng = np.random.default_rng(0)
    y = np.where(np.arange(400) % 10 < 7, 1, -1)
    X = rng.normal(size=(400, 3)) + np.outer(y, [1.0, -0.5, 0.5])
    pairs, t = Pairs.sample(X, 200, y, random_state=0)
    return X, pairs, t


def as_table(X):
    """Numbers with a gap, and words: what a table has."""
    return pd.DataFrame(
        {
            "height": np.where(np.arange(len(X)) % 11 == 5, np.nan, X[:, 0]),
            "colour": np.array(["blue", "green", "red"], dtype=object)[
                np.digitize(X[:, 1], [-0.7, 0.5])
            ],
            "weight": X[:, 2],
        }
    )


def columns_pipeline():
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    columns = make_column_transformer(
        (numbers, ["height", "weight"]),
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]),
    )
    model = PairClassifier(
        n_components=5, majority="good", classes=("bad", "good"), random_state=0
    )
    return make_pair_pipeline(columns, model)


def main():
    X, pairs, t = points_and_pairs()
    models = {
        "columns": columns_pipeline(),
        "cips": CIPSClassifier(alpha=0.1, majority=1, random_state=0),
        "mcl": MCLClassifier(alpha=0.01, random_state=0),
    }
    for name, model in models.items():
        table = as_table(X) if name == "columns" else X
        model.fit(pairs.with_points(table), t)
        shown = table[:N_SHOWN]
        expected = {
            "points": shown.replace({np.nan: None}).to_dict("list")
            if name == "columns"
            else shown.tolist(),
            "scores": model.decision_function(shown).tolist(),
            "classes": model.predict(shown).tolist(),
        }
        stem = f"{name}-{pairlearn.__version__}"
        save(model, HERE / f"{stem}.skops", about={"test": name})
        text = json.dumps(expected, indent=1)
        (HERE / f"{stem}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
