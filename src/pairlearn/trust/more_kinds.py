r"""Whether answers speak against two kinds, from the answers alone.

*The share of "same".* If pairs are drawn at random from n points of two kinds, the
probability of "same" is at least (n - 2) / (2 (n - 1)): one half for many points. Wrong
answers of both sorts alike bring the share closer to one half, not below it. An exact
binomial test tells how likely as few answers "same" are.

*Cycles of three.* Among three points of two kinds, either no answer is "different" or
two are. One "different" is wrong however many kinds there are; three can be right if
there are three kinds. With two kinds, three come about from two by one wrong answer to
a pair that is the same, and one from none by a wrong answer to any of three such pairs,
or from two by one to either of two that are different. So with few wrong answers,

.. math:: E\,n_3 = (1 - r_1) \, n_2, \qquad
          E\,n_1 = 3 (1 - r_1) \, n_0 + 2 r_0 \, n_2 ,

where n_0 and n_2 count triangles by how many pairs are truly different. If wrong
answers are alike for both sorts, n_3 is at most a third of n_1 + n_3; and for random
pairs of two kinds, where n_0 is at least a third of n_2, it is at most half of them
whatever the rates. An exact binomial test of one half, on triangles that share no
answer, tells whether noise explains them.

Both are tests of two kinds *and* of how pairs were drawn: about one point that is
compared with all others, the share of "same" is that of its kind, which may be small.
So a small p-value is a reason to try more kinds, not a proof that there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom

from pairlearn.data.checks import check_answers
from pairlearn.data.pairs import as_pairs
from pairlearn.trust.flip_rates import disjoint_triangles

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from pairlearn.data.types import Ints, PairsLike

__all__ = ["DOUBTFUL", "KindsEvidence", "two_kinds_evidence"]

# Below this p-value two kinds are refuted, and below the other doubtful.
REFUTED, DOUBTFUL = 1e-3, 0.05


@dataclass(frozen=True)
class KindsEvidence:
    """What answers say about there being two kinds.

    Attributes
    ----------
    n_same, n_pairs : int
        Answers "same", and all answers that are certain.
    share_p_value : float
        How likely as few "same" are, for random pairs of two kinds.
    n_one, n_three : int
        Triangles with one and with three answers "different".
    cycle_p_value : float
        How likely as many with three are among these, for two kinds and some answers
        wrong.
    """

    n_same: int
    n_pairs: int
    share_p_value: float
    n_one: int
    n_three: int
    cycle_p_value: float

    @property
    def p_value(self) -> float:
        """The smaller of both p-values, doubled, since there are two tests."""
        return min(1.0, 2 * min(self.share_p_value, self.cycle_p_value))

    @property
    def refuted(self) -> bool:
        """Whether two kinds can hardly be."""
        return self.p_value < REFUTED

    @property
    def doubtful(self) -> bool:
        """Whether it is worth while to try more than two."""
        return self.p_value < DOUBTFUL

    def in_words(self) -> str:
        """Return what speaks against two kinds, or that nothing does.

        Returns
        -------
        str
        """
        found = []
        if self.share_p_value < DOUBTFUL:
            found.append(
                f"{self.n_pairs - self.n_same:,} of {self.n_pairs:,} answers are "
                "'different', but random pairs of two kinds are different at most half "
                "of the time"
            )
        if self.cycle_p_value < DOUBTFUL:
            found.append(
                f"in {self.n_three:,} triangles all three answers are 'different', "
                "which two kinds cannot give"
                f", and in only {self.n_one:,} is one answer surely wrong"
            )
        return "; ".join(found) or "no answers speak against two kinds"


def two_kinds_evidence(
    pairs: PairsLike,
    t: ArrayLike,
    rates: tuple[float, float] = (1.0, 0.0),
    things: Ints | None = None,
) -> KindsEvidence:
    """Test whether answers can be about random pairs of two kinds.

    Parameters
    ----------
    pairs : Pairs or array-like of shape (n_pairs, 2, n_features)
        Pairs.
    t : array-like of shape (n_pairs,)
        Answers; those other than -1 and +1 are left out.
    rates : tuple of float, default=(1.0, 0.0)
        (r1, r0), if it is known how often answers are wrong: with r1 below 1 - r0 there
        are fewer answers "same".
    things : ndarray of shape (n_pairs, 2), optional
        Numbers of the things that the points of each pair are rows of. Two rows of one
        thing are as a rule not asked about, so that with few things fewer answers are
        "same".

    Returns
    -------
    KindsEvidence

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import Pairs
    >>> X = np.zeros((300, 1))
    >>> y = np.arange(300) % 3
    >>> found = two_kinds_evidence(*Pairs.sample(X, 400, y, reuse=True, random_state=0))
    >>> found.refuted
    True
    >>> found = two_kinds_evidence(
    ...     *Pairs.sample(X, 400, y > 0, reuse=True, random_state=0)
    ... )
    >>> found.doubtful
    False
    """
    pairs = as_pairs(pairs)
    answers = check_answers(t, len(pairs))
    kept = (np.abs(answers) == 1) & (pairs.index[:, 0] != pairs.index[:, 1])
    index, answers = pairs.index[kept], answers[kept]
    n_points = len(np.unique(index if things is None else things[kept]))
    least = (n_points - 2) / (2 * (n_points - 1)) if n_points > 2 else 0.0
    r1, r0 = rates
    # Wrong answers of both sorts alike do not take the share below one half.
    least = min(least, r0 + (r1 - r0) * least)
    n_same = int(np.sum(answers > 0))
    different = np.sum(answers[disjoint_triangles(index)] < 0, axis=1)
    n_one, n_three = int(np.sum(different == 1)), int(np.sum(different == 3))
    return KindsEvidence(
        n_same,
        len(answers),
        float(binom.cdf(n_same, len(answers), least)),
        n_one,
        n_three,
        float(binom.sf(n_three - 1, n_one + n_three, 0.5)),
    )
