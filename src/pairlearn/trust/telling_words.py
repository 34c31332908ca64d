r"""Which words set the texts of a group apart from the others.

A word occurs in a share p of the n texts of a group, and in a share q of the m others.
Words are ranked by how far p - q is from zero for its standard error under one common
share s,

.. math:: z = \frac{p - q}{\sqrt{s (1 - s) (1 / n + 1 / m)}} ,

so that neither the most frequent words nor those of a few texts come first by nature.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pairlearn.data.types import Ints

__all__ = ["TellingWord", "telling_words"]

# Words that are looked at, the most frequent ones, and characters of a text.
_WORDS, _LONGEST = 5000, 20_000
# Below this a word may be there by chance: some thousand words are looked at.
_LEAST = 4.0
_TEXTS = 5000


class TellingWord(NamedTuple):
    """A word that texts of a group hold more often than others.

    Attributes
    ----------
    word : str
        The word.
    inside, outside : float
        The share of the texts of the group that hold it, and of the others.
    strength : float
        z, see above.
    """

    word: str
    inside: float
    outside: float
    strength: float


def telling_words(
    texts: Sequence[str], group: Ints, n_groups: int, most: int = 10
) -> list[list[TellingWord]]:
    """Return for each group the words that its texts hold more often than others.

    Parameters
    ----------
    texts : sequence of str
        Texts, empty where there is none.
    group : ndarray of shape (n_texts,)
        The group of each.
    n_groups : int
        How many groups there are.
    most : int
        How many words to return for each.

    Returns
    -------
    list of list of TellingWord
        The most telling first.

    Examples
    --------
    >>> texts = ["the game is fun", "a game of cards", "the planet", "a planet"] * 10
    >>> found = telling_words(texts, np.array([0, 0, 1, 1] * 10), 2, most=1)
    >>> [(each.word, each.inside, each.outside) for each in found[1]]
    [('planet', 1.0, 0.0)]
    """
    nothing: list[list[TellingWord]] = [[] for _ in range(n_groups)]
    rows = np.unique(np.linspace(0, len(texts) - 1, min(len(texts), _TEXTS)))
    some = [texts[row][:_LONGEST] for row in rows.astype(int).tolist()]
    group = np.asarray(group)[rows.astype(int)]
    counter = CountVectorizer(binary=True, max_features=_WORDS, dtype=np.float64)
    try:
        has = counter.fit_transform(some)
    except ValueError:  # there is no word
        return nothing
    words = counter.get_feature_names_out()
    n_texts = len(some)
    size = np.bincount(group, minlength=n_groups)
    ones = (np.ones(n_texts), (group, np.arange(n_texts)))
    count = (sparse.csr_array(ones, (n_groups, n_texts)) @ has).toarray()
    total = count.sum(axis=0)
    share = total / n_texts
    for k in np.flatnonzero((size > 0) & (size < n_texts)).tolist():
        others = n_texts - size[k]
        inside, outside = count[k] / size[k], (total - count[k]) / others
        spread = np.sqrt(share * (1 - share) * (1 / size[k] + 1 / others))
        z = (inside - outside) / np.maximum(spread, 1e-12)
        z[spread == 0] = 0.0
        best = np.argsort(-z, kind="stable")[:most]
        nothing[k] = [
            TellingWord(str(words[j]), float(inside[j]), float(outside[j]), float(z[j]))
            for j in best.tolist()
            if z[j] > _LEAST
        ]
    return nothing
