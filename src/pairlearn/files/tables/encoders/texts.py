"""Texts to numbers: how often words, or runs of characters, occur in each.

The number of a word in a text is 1 + log(how often it occurs), times how rare the word
is over all texts (TF-IDF), and the numbers of a text are divided by their length. Words
say what a text is about; runs of characters find the same word in other forms, with
misspellings, and in languages that are written without blanks. Which of them tells more
is for held-out answers to say: :meth:`pairlearn.PairClassifier.fit` is told by `blocks`
which columns are which.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.extmath import randomized_svd
from sklearn.utils.validation import check_is_fitted

from pairlearn.data.checks import is_missing

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sklearn.compose import ColumnTransformer

    from pairlearn.data.types import Floats

__all__ = ["PARTS", "TextAxes", "TextVectors", "text_blocks", "texts_of"]
__all__ += ["without_words"]

# How each part is cut out of a text, the most features, and the characters of a cell
# that are looked at.
_WORDS = {"analyzer": "word", "ngram_range": (1, 2), "max_features": 20_000}
_RUNS = {"analyzer": "char_wb", "ngram_range": (2, 5), "max_features": 30_000}
PARTS: dict[str, dict[str, Any]] = {"words": _WORDS, "characters": _RUNS}
_LONGEST = {"words": 20_000, "characters": 5_000}
# Words are learnt from texts of so many characters in all, and from no fewer texts than
# this: evenly spaced ones, if there are more.
_LEARNT, _LEAST_TEXTS = 3_000_000, 200
# Texts at a time, so that memory does not grow with the table.
_CHUNK = 2000
# Texts by which axes are found.
_AXES_TEXTS = 5000
# Numbers that stand for a text where rows are compared.
_DIRECTIONS = 4


class _TextColumn(TransformerMixin, BaseEstimator, ABC):
    """What turns one column of texts into numbers.

    Attributes
    ----------
    feature_names_in_ : ndarray of str
        The column.
    n_features_in_ : int
        1.
    """

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn from texts.

        Parameters
        ----------
        X : DataFrame of one column
            Texts.
        y : ignored
            For the interface of scikit-learn.

        Returns
        -------
        self
        """
        self._begin(X)
        self._learn(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        """Learn from texts, and return their numbers.

        Parameters
        ----------
        X : DataFrame of one column
            Texts.
        y : ignored
            For the interface of scikit-learn.

        Returns
        -------
        table of shape (n_points, n_features)
            As :meth:`transform` returns it.
        """
        self._begin(X)
        found = self._learn(X)
        return self.transform(X) if found is None else found

    def transform(self, X: Any) -> Any:
        """Return the numbers of texts.

        Parameters
        ----------
        X : DataFrame of one column
            Texts.

        Returns
        -------
        table of shape (n_points, n_features)
            Sparse for words and characters, and full for axes.
        """
        check_is_fitted(self)
        return self._numbers(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:  # noqa: ARG002
        """Return the names of the numbers: "column: word", characters in quotes.

        Parameters
        ----------
        input_features : ignored
            For the interface of scikit-learn.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        column = self.feature_names_in_[0]
        return np.array([f"{column}: {name}" for name in self._names()], dtype=object)

    def _begin(self, X: Any) -> None:
        self.feature_names_in_ = np.asarray(X.columns, dtype=object)
        self.n_features_in_ = X.shape[1]

    @abstractmethod
    def _learn(self, X: Any) -> Any:
        """Learn, and return the numbers of all texts if they come for free."""

    @abstractmethod
    def _numbers(self, X: Any) -> Any:
        """Return the numbers of texts."""

    @abstractmethod
    def _names(self) -> list[str]:
        """Return the names of the numbers without that of the column."""


class TextVectors(_TextColumn):
    """Turn one column of texts into a sparse table of words, or of characters.

    A word that was not there when the model was made counts for nothing; an empty cell,
    or one without a known word, is a row of zeros.

    Parameters
    ----------
    part : {"words", "characters"}, default="words"
        Words and pairs of words that follow each other; or runs of two to five
        characters within words.

    Attributes
    ----------
    words_ : str
        The words, one in each line: a list would take much more room in a file.
    rarity_ : ndarray of shape (n_words,)
        How rare each word is: 1 + log((1 + n) / (1 + the texts that hold it)).

    Examples
    --------
    >>> import pandas as pd
    >>> texts = pd.DataFrame({"subject": ["refund please", "a refund", None]})
    >>> vectors = TextVectors().fit(texts)
    >>> vectors.get_feature_names_out()
    array(['subject: refund'], dtype=object)
    >>> vectors.transform(texts).toarray().ravel()
    array([1., 1., 0.])
    """

    def __init__(self, part: str = "words") -> None:
        self.part = part

    def _learn(self, X: Any) -> Any:
        """Learn which words there are, and how rare each is."""
        texts, some = self._texts(X), False
        size = sum(map(len, texts))
        if size > _LEARNT:
            n_texts = max(_LEAST_TEXTS, int(len(texts) * _LEARNT / size))
            rows = np.linspace(0, len(texts) - 1, min(len(texts), n_texts)).astype(int)
            texts, some = [texts[row] for row in rows.tolist()], True
        self.words_, self.rarity_ = "", np.zeros(0)
        # A word of one text alone tells nothing about others, unless there are few.
        for least in (2, 1):
            counter = _vectorizer(self.part, min_df=least)
            try:
                found = counter.fit_transform(texts)
            except ValueError:  # no word is left
                continue
            self.words_ = "\n".join(counter.get_feature_names_out().tolist())
            self.rarity_ = np.asarray(counter.idf_, dtype=np.float64)
            return None if some else sparse.csr_array(found)
        return None

    def _numbers(self, X: Any) -> Any:
        texts = self._texts(X)
        if not self.words_:
            # One column that tells nothing: a table of no columns is none.
            return sparse.csr_array((len(texts), 1))
        counter = _vectorizer(self.part, vocabulary=self.words_.split("\n"))
        counter.idf_ = self.rarity_
        parts = [
            counter.transform(texts[k : k + _CHUNK])
            for k in range(0, max(1, len(texts)), _CHUNK)
        ]
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    def _names(self) -> list[str]:
        if not self.words_:
            return [f"no {self.part}"]
        words = self.words_.split("\n")
        return [f"'{word}'" for word in words] if self.part == "characters" else words

    def _texts(self, X: Any) -> list[str]:
        longest = _LONGEST[self.part]
        return [text[:longest] for text in texts_of(X.iloc[:, 0])]


class TextAxes(_TextColumn):
    """Turn one column of texts into its leading principal coordinates: a few numbers.

    Words that occur together share a coordinate (latent semantic analysis). It is for
    where all points are at hand and a full table is needed: to choose what to ask, and
    to look for suspicious answers.

    Parameters
    ----------
    n_axes : int, default=30
        The most coordinates.

    Attributes
    ----------
    vectors_ : list of TextVectors
        How texts are described: by words; by characters, too, where that is quick.
    axes_ : list of ndarray of shape (n_words, n_axes)
        What their numbers are multiplied with, and added up.

    Examples
    --------
    >>> import pandas as pd
    >>> texts = pd.DataFrame({"subject": ["refund please", "a refund", "login"] * 5})
    >>> TextAxes(2).fit_transform(texts).shape
    (15, 2)
    """

    def __init__(self, n_axes: int = 30) -> None:
        self.n_axes = n_axes

    def _learn(self, X: Any) -> Any:
        """Find the axes, by some of many texts."""
        size = sum(map(len, texts_of(X.iloc[:, 0])))
        parts = list(PARTS) if size <= _LEARNT else ["words"]
        rows = np.linspace(0, len(X) - 1, min(len(X), _AXES_TEXTS)).astype(int)
        self.vectors_ = [TextVectors(part) for part in parts]
        some = X.iloc[rows]
        table = sparse.csr_array(
            sparse.hstack([each.fit_transform(some) for each in self.vectors_])
        )
        k = max(1, min(self.n_axes, *table.shape))
        axes = randomized_svd(table, k, n_iter=3, random_state=0)[2].T
        ends = np.cumsum([len(each.get_feature_names_out()) for each in self.vectors_])
        self.axes_ = np.split(axes, ends[:-1])
        return np.asarray(table @ axes) if len(some) == len(X) else None

    def _numbers(self, X: Any) -> Floats:
        parts = [
            sum(
                np.asarray(each.transform(X.iloc[k : k + _CHUNK]) @ axes)
                for each, axes in zip(self.vectors_, self.axes_, strict=True)
            )
            for k in range(0, max(1, len(X)), _CHUNK)
        ]
        return np.concatenate(parts)

    def _names(self) -> list[str]:
        return [f"axis {k}" for k in range(self.axes_[0].shape[1])]


def _vectorizer(part: str, **more: Any) -> TfidfVectorizer:
    return TfidfVectorizer(sublinear_tf=True, **(PARTS[part] | more))


def texts_of(column: Any) -> list[str]:
    """Return the cells of a column as text, empty where missing.

    Examples
    --------
    >>> import pandas as pd
    >>> texts_of(pd.Series([" one two", None, 3.0]))
    ['one two', '', '3.0']
    """
    cells = column.astype(object).tolist()
    return ["" if is_missing(cell) else str(cell).strip() for cell in cells]


def text_blocks(encoder: ColumnTransformer) -> list[tuple[str, str, int, int]]:
    """Return which columns of an encoded table are the words of which text.

    Parameters
    ----------
    encoder : ColumnTransformer
        A fitted encoder of a table.

    Returns
    -------
    list of tuple
        (column, part, start, stop), as :meth:`pairlearn.PairClassifier.fit` takes them.
    """
    found = []
    for name, transformer, columns in encoder.transformers_:
        if isinstance(transformer, TextVectors):
            where = encoder.output_indices_[name]
            found.append((str(columns[0]), transformer.part, where.start, where.stop))
    return found


def without_words(encoded: Any, encoder: ColumnTransformer) -> Floats:
    """Return an encoded table with a few numbers for each text in place of its words.

    Equal texts have equal numbers, and different ones hardly ever. It is for comparing
    rows, and not for learning.

    Parameters
    ----------
    encoded : ndarray or sparse table of shape (n_points, n_features)
        Points, as the encoder makes them.
    encoder : ColumnTransformer
        The fitted encoder.

    Returns
    -------
    ndarray of shape (n_points, n_columns)
    """
    if not sparse.issparse(encoded):
        return np.asarray(encoded, dtype=float)
    rows = sparse.csr_array(encoded)
    plain = np.ones(rows.shape[1], dtype=bool)
    told = []
    for _, _, start, stop in text_blocks(encoder):
        plain[start:stop] = False
        directions = np.random.RandomState(0).normal(size=(stop - start, _DIRECTIONS))
        told.append(np.asarray(rows[:, start:stop] @ directions))
    return np.column_stack([rows[:, np.flatnonzero(plain)].toarray(), *told])
