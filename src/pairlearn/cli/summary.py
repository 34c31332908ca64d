"""What a fit found: all that is printed, and all that the page shows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pairlearn.cli.several_kinds import AnswerError
    from pairlearn.data.pairs import Pairs
    from pairlearn.data.types import Floats
    from pairlearn.people import PeopleReport
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.kinds_certificate import KindsCertificate

__all__ = ["FitSummary"]


@dataclass
class FitSummary:
    """The outcome of `pairlearn fit`.

    Attributes
    ----------
    model : Pipeline
        The fitted model: a ColumnTransformer and a PairClassifier.
    points : pandas.DataFrame
        The points without their ids: numbers as floats, dates as days since 1970,
        categories as text; columns that were left out are not among them.
    ids : sequence of str
        The ids of the points.
    pairs : Pairs
        The pairs, over `points`; all of them, those kept for the certificate too.
    t : ndarray of shape (n_pairs,)
        Their answers.
    certificate : Certificate or None
        The error, from pairs kept aside, or else cross-validated.
    kinds_certificate : KindsCertificate or None
        The error and the purity of each group, for more than two kinds.
    certificate_pairs : int
        How many pairs were kept aside for it; 0 if it is cross-validated.
    candidates : Candidates or None
        What PairClassifier tried.
    suspicious : SuspiciousAnswers or None
        Which answers may be wrong.
    notes : list of str
        Sentences about what was found in the data.
    columns : list of tuple
        (name, how it was encoded) for each column of the table.
    source : dict
        Names of the files: "points" and "pairs".
    seconds : float
        How long it took.
    classes : tuple of str
        The names of the classes.
    importance : list of tuple or None
        (column, share of points that change sides when it is shuffled), the largest
        first.
    words : dict
        By group, the words that texts of the group hold more often than others:
        ("column: word", share of its texts, share of the others).
    version : str
        Version of pairlearn.
    majority : str or None
        The name of the class that the user says is the larger one.
    shares : dict
        The share of the points in each group, from some of them.
    one_group_error : float or None
        The error of putting all points into one group, as the answers tell; None if
        they do not look like answers about two kinds.
    kinds : Kinds or None
        How the number of classes was found; None if it was given.
    answer_error : AnswerError or None
        For more than two classes, how often the model contradicts answers that were
        kept aside.
    named : bool
        Whether somebody has named the classes.
    chosen : bool
        Whether some answers are about pairs that were chosen to learn from, so that
        only audits tell the error.
    n_audits : int
        Answers that were left out of learning, to judge by; all, and those of them
        that are unsure.
    digest : str
        SHA-256 digest of the model file; empty if it is not written.
    people : PeopleReport or None
        Those who answered, and how far they agree; None if nobody is named.
    """

    model: Any
    points: Any
    ids: Sequence[str]
    pairs: Pairs
    t: Floats
    certificate: Certificate | None = None
    kinds_certificate: KindsCertificate | None = None
    certificate_pairs: int = 0
    candidates: Any = None
    suspicious: Any = None
    notes: list[str] = field(default_factory=list)
    columns: list[tuple[str, str]] = field(default_factory=list)
    source: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    classes: tuple[str, ...] = ("A", "B")
    importance: list[tuple[str, float]] | None = None
    words: dict[str, list[tuple[str, float, float]]] = field(default_factory=dict)
    version: str = ""
    majority: str | None = None
    shares: dict[str, float] = field(default_factory=dict)
    one_group_error: float | None = None
    kinds: Any = None
    answer_error: AnswerError | None = None
    named: bool = False
    chosen: bool = False
    n_audits: int = 0
    digest: str = ""
    people: PeopleReport | None = None
