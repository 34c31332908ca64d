r"""Texts in ONNX: how often words, or runs of characters, occur.

A text is cut by `Tokenizer`, an operator of onnxruntime (domain com.microsoft, in every
build of it), and counted by the standard `TfIdfVectorizer`. Runs of characters are
looked for within words, as in scikit-learn: each word is cut into characters between a
mark for its begin and one for its end, which stand for the blanks around it. All words
of a text in a row then hold no further run, since a run across two words has marks
inside.

The count c of a word becomes min(c, 1) + log max(c, 1), which is 1 + log c, or zero for
a word that does not occur; then follow its rarity and the length of the row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pairlearn.export.onnx_kernels import normalised
from pairlearn.export.refusals import refuse

if TYPE_CHECKING:
    from sklearn.feature_extraction.text import TfidfVectorizer

    from pairlearn.export.onnx_graph import Graph

__all__ = ["add_texts"]

# What Python takes for letters, digits and blanks, in the words of RE2.
_WORD = r"[\p{L}\p{N}_][\p{L}\p{N}_]+"
_NOT_BLANK = r"[^\p{Z}\t\n\v\f\r\x{1c}-\x{1f}\x{85}]+"
_BEGIN, _END = "\x02", "\x03"
# It fills up rows, and is no word and no character.
_FILL = "\x03\x03"
_USUAL = {
    "lowercase": True,
    "strip_accents": None,
    "stop_words": None,
    "token_pattern": r"(?u)\b\w\w+\b",
    "preprocessor": None,
    "tokenizer": None,
    "binary": False,
    "norm": "l2",
}


def add_texts(graph: Graph, step: TfidfVectorizer, x: str) -> str:
    """Add a text vectoriser, and return its output.

    Parameters
    ----------
    graph : Graph
        It gets the nodes.
    step : TfidfVectorizer
        Fitted.
    x : str
        A tensor of texts in lower case.

    Returns
    -------
    str
    """
    unusual = [name for name, value in _USUAL.items() if getattr(step, name) != value]
    if unusual or step.analyzer not in ("word", "char_wb"):
        named = ", ".join(unusual or ["analyzer"])
        raise refuse(
            step,
            f"it is not drawn in ONNX with its {named}",
            "Use analyzer='word' or 'char_wb' and leave the rest as it comes, or "
            "to_sklearn",
        )
    graph.opsets["com.microsoft"] = 1
    texts = graph.op("Reshape", x, graph.integers([-1]))
    columns = _columns(step)
    if step.analyzer == "word":
        tokens = _cut(graph, texts, _WORD)
        grams = {tuple(name.split(" ")): k for name, k in columns.items()}
    else:
        words = _cut(graph, texts, _NOT_BLANK, fill="")
        each = graph.op(
            "Tokenizer", words, mark=1, mincharnum=1, pad_value=_FILL, separators=[""]
        )
        tokens = graph.op("Reshape", each, graph.integers([0, -1]))
        grams = {_marked(name): k for name, k in columns.items()}
    count = graph.double(_count(graph, tokens, grams))
    if step.sublinear_tf:
        least = graph.op("Min", count, graph.constant(1.0))
        most = graph.op("Max", count, graph.constant(1.0))
        count = graph.op("Add", least, graph.op("Log", most))
    if step.use_idf:
        count = graph.times(count, step.idf_)
    return normalised(graph, count)


def _columns(step: Any) -> dict[str, int]:
    """Return the words, each with its column."""
    given = getattr(step, "vocabulary_", None) or step.vocabulary
    if isinstance(given, dict):
        return {str(name): int(k) for name, k in given.items()}
    return {str(name): k for k, name in enumerate(given)}


def _cut(graph: Graph, texts: str, expression: str, fill: str = _FILL) -> str:
    """Return the pieces of texts, (n, most pieces); at least one for each."""
    pieces = graph.op(
        "Tokenizer", texts, mark=1, mincharnum=1, pad_value=fill, tokenexp=expression
    )
    if fill:
        return pieces
    # Marks are no words: in their place stands nothing.
    known = graph.op(
        "LabelEncoder",
        pieces,
        keys_strings=[_BEGIN, _END],
        values_int64s=[1, 1],
        default_int64=0,
    )
    mark = graph.op("Equal", known, graph.integers(1))
    return graph.op("Where", mark, graph.constant("", object), pieces)


def _marked(run: str) -> tuple[str, ...]:
    """Return the characters of a run, with marks for the blanks around a word."""
    characters = list(run)
    if characters[0] == " ":
        characters[0] = _BEGIN
    if characters[-1] == " ":
        characters[-1] = _END
    return tuple(characters)


def _count(graph: Graph, tokens: str, grams: dict[tuple[str, ...], int]) -> str:
    lengths = sorted({len(gram) for gram in grams})
    pool: list[str] = []
    begins, columns = [], []
    for length in range(1, lengths[-1] + 1):
        begins.append(len(pool))
        for gram, column in grams.items():
            if len(gram) == length:
                pool += gram
                columns.append(column)
    return graph.op(
        "TfIdfVectorizer",
        tokens,
        mode="TF",
        min_gram_length=lengths[0],
        max_gram_length=lengths[-1],
        max_skip_count=0,
        ngram_counts=begins,
        ngram_indexes=columns,
        pool_strings=pool,
    )
