"""The encoder of a table's columns in the classes of scikit-learn.

`pairlearn fit` makes an encoder that reads cells in many ways of writing
(:mod:`pairlearn.files.tables.encoder`). What is exported wants columns of fixed kinds:
numbers, dates and text. A category is understood in all forms in which a program hands
it over: 3 as well as 3.0, True as well as "true", and every way to say "missing".

One-hot columns of all these forms are put together by a matrix A and an offset:
the column of a category is the sum of those of its forms, and the column of rare
categories is one minus the sum of all that are not rare, so that a category which the
model has never seen is a rare one, too.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from pairlearn.export import pieces
from pairlearn.export.refusals import refuse
from pairlearn.files.tables.cells import MISSING_WORDS, text_of
from pairlearn.files.tables.encoder import ReadDates, ReadNumbers, ReadText
from pairlearn.files.tables.encoders.texts import PARTS, TextVectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn.data.types import Floats

__all__ = ["MICROSECONDS", "NO_DATE", "is_encoder", "plain_encoder"]

# Of a day; and what NumPy makes of a date that is missing.
MICROSECONDS = 86400e6
NO_DATE = -(2.0**63)
# No cell reads like this: blanks at the ends are taken off.
_UNKNOWN = " never seen "
_NAMES_OF_NOTHING = ("nan", "NaN", "NaT", "None", "<NA>", "null", "NULL", "NA", "N/A")


def is_encoder(step: Any) -> bool:
    """Tell whether a transformer is one that treats columns by their kinds."""
    return isinstance(step, ColumnTransformer)


def plain_encoder(encoder: ColumnTransformer) -> ColumnTransformer:
    """Return a transformer of columns without the readers of pairlearn.

    Parameters
    ----------
    encoder : ColumnTransformer
        Fitted; such as :func:`~pairlearn.files.tables.encoder.make_encoder` makes it.

    Returns
    -------
    ColumnTransformer
    """
    plain = deepcopy(encoder)
    plain.transformers_ = [
        (name, _plain(step), columns) for name, step, columns in encoder.transformers_
    ]
    # What it would be fitted with anew; the readers of pairlearn must not stay inside.
    plain.transformers = [
        (name, step, columns)
        for name, step, columns in plain.transformers_
        if name != "remainder"
    ]
    return plain


def _plain(step: Any) -> Any:
    reader = step[0] if isinstance(step, Pipeline) else step
    rest = [part for _, part in step.steps[1:]] if isinstance(step, Pipeline) else []
    if isinstance(reader, ReadNumbers):
        return _plain_numbers(reader, rest)
    if isinstance(reader, ReadDates):
        return _plain_dates(reader, rest)
    if isinstance(reader, ReadText):
        return _plain_categories(reader, rest)
    if isinstance(reader, TextVectors):
        return _plain_texts(reader)
    if type(reader).__module__.startswith("pairlearn."):
        raise refuse(
            reader,
            "columns of this kind are read by pairlearn itself",
            "Leave such columns out of the table, or encode them by a transformer of "
            "scikit-learn in a pipeline of your own (make_pair_pipeline)",
        )
    return step


def _plain_numbers(reader: ReadNumbers, rest: list[Any]) -> Pipeline:
    imputer = deepcopy(rest[0])
    # The columns come as a table with names, as they came to the reader.
    imputer.feature_names_in_ = reader.feature_names_in_
    return Pipeline([("missing", imputer)])


def _plain_dates(reader: ReadDates, rest: list[Any]) -> Pipeline:
    """Return steps from datetimes, or text such as 2024-05-31, to days."""
    n = reader.n_features_in_
    imputer = deepcopy(rest[0])
    # A date that is missing becomes a number that no date has.
    imputer.missing_values = NO_DATE
    imputer.statistics_ = imputer.statistics_ * MICROSECONDS
    unit = np.full(n, MICROSECONDS)
    if imputer.indicator_ is not None:
        imputer.indicator_.missing_values = NO_DATE
        unit = np.append(unit, np.ones(len(imputer.indicator_.features_)))
    missing = [
        (f"not {old}", pieces.function(np.char.replace, 0, old=old, new="NaT"))
        for old in ("nan", "None", "<NA>")
    ]
    return Pipeline(
        [
            ("text", pieces.function(np.asarray, n, dtype="str")),
            *missing,
            ("dates", pieces.function(np.asarray, n, dtype="datetime64[us]")),
            ("microseconds", pieces.function(np.asarray, n, dtype="float64")),
            ("missing", imputer),
            ("days", pieces.scaled(unit)),
            *_within(reader, len(unit)),
        ]
    )


def _within(reader: ReadDates, n_columns: int) -> list[tuple[str, Any]]:
    """Return steps that put days before the first one known, or after the last, there.

    What tells which are missing follows the days, and lies between 0 and 1.
    """
    first, last = (
        np.append(ends, np.full(n_columns - len(ends), end))
        for ends, end in ((reader.first_, 0.0), (reader.last_, 1.0))
    )
    width = np.where(last > first, last - first, 1e-9)
    return [
        ("part", pieces.add_and_clip(1 / width, -first / width, 0.0, 1.0)),
        ("between", pieces.scaled(1 / width, -first / width)),
    ]


def _plain_categories(reader: ReadText, rest: list[Any]) -> Pipeline:
    n = reader.n_features_in_
    encoder = rest[0]
    forms = [_forms(known) for known in encoder.categories_]
    table = np.empty((max(map(len, forms)), n), dtype=object)
    for k, column in enumerate(forms):
        table[:, k] = np.resize(np.array(sorted(column), dtype=object), len(table))
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(table)
    matrix, offset = _put_together(encoder, one_hot.categories_, forms)
    one = np.ones(len(matrix))
    return Pipeline(
        [
            ("text", pieces.function(np.asarray, n, dtype="str")),
            ("blanks", pieces.function(np.char.strip, 0)),
            ("forms", one_hot),
            ("together", pieces.linear_map(matrix)),
            ("rare", pieces.add_and_clip(one, offset, 0.0, 1.0)),
        ]
    )


def _plain_texts(reader: TextVectors) -> Pipeline:
    """Return the vectoriser of a column of texts, empty where one is missing."""
    filled = []
    for name, nothing in (("nan", np.nan), ("none", None)):
        fill = SimpleImputer(
            missing_values=nothing, strategy="constant", fill_value=""
        ).fit(np.array([["text"]], dtype=object))
        filled.append((name, fill))
    filled[0][1].feature_names_in_ = reader.feature_names_in_
    words = reader.words_.split("\n")
    if not reader.words_:
        # One column of zeros, whatever the text is.
        never = OneHotEncoder(handle_unknown="ignore").fit([[_UNKNOWN]])
        return Pipeline([*filled, ("no words", never)])
    counter = TfidfVectorizer(sublinear_tf=True, **PARTS[reader.part], vocabulary=words)
    counter.idf_ = reader.rarity_
    texts = pieces.function(np.ravel, 1)
    return Pipeline([*filled, ("texts", texts), ("vectors", counter)])


def _forms(known: NDArray[Any]) -> dict[str, str]:
    """Return the texts that programs make of categories, each with its category."""
    texts = {""} | set(_NAMES_OF_NOTHING)
    texts |= {f(word) for word in MISSING_WORDS for f in (str, str.upper, str.title)}
    for name in known:
        texts |= {name, f"{name}.0", name.title(), name.upper()}
    # Only what the model's own reader takes for a category that it knows, or for
    # nothing, is another form of it.
    forms = {text: text_of(text) for text in texts}
    return {
        text: name for text, name in forms.items() if name in known or not name
    }  # fmt: skip


def _put_together(
    encoder: OneHotEncoder, columns: list[NDArray[Any]], forms: list[dict[str, str]]
) -> tuple[Floats, Floats]:
    """Return the matrix and the offset from forms to the columns of an encoder."""
    # What the encoder makes of each form, one column at a time.
    rows = [text for column in columns for text in column]
    n_in, n_columns = len(rows), len(columns)
    cells: NDArray[Any] = np.empty((1, n_columns), dtype=object)
    cells[0] = _UNKNOWN
    unknown = encoder.transform(cells)[0]
    matrix = np.zeros((len(unknown), n_in))
    place = 0
    for k, (texts, known) in enumerate(zip(columns, forms, strict=True)):
        table = np.repeat(cells, len(texts), axis=0)
        table[:, k] = [known[text] for text in texts]
        # The other columns cancel: there is always the same in them.
        matrix[:, place : place + len(texts)] = (encoder.transform(table) - unknown).T
        place += len(texts)
    return matrix, unknown
