"""Rounds of `pairlearn ask` in this process: asking, answering, and what goes wrong."""

import numpy as np
import pandas as pd

from tests.support.commands import call


def ask(*words):
    result = call("ask", *words)
    assert result.exit_code == 0, result.output
    return result


def read(file):
    return pd.read_csv(file, dtype=str, keep_default_na=False)


def answer(file, truth, rows=slice(None)):
    """Fill in the answers to some of the questions."""
    table = read(file)
    right = [
        "same" if truth[a] == truth[b] else "different"
        for a, b in zip(table["left"], table["right"], strict=True)
    ]
    column = np.full(len(table), "", dtype=object)
    column[rows] = np.array(right, dtype=object)[rows]
    table["answer"] = column
    table.to_csv(file, index=False)
    return table


def fails(*words, code=1):
    """Return what a command says that ends with an error."""
    result = call(*words)
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.stderr


def edited(file, folder, **columns):
    """Return a copy of a table with other columns."""
    path = folder / f"edited-{file.name}"
    read(file).assign(**columns).to_csv(path, index=False)
    return path
