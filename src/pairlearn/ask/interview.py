"""The interview: it asks, learns from the answers, and says how good the model is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pairlearn
from pairlearn.ask.asking import Asking
from pairlearn.ask.beginning import RESERVED, TooFewPointsError
from pairlearn.ask.history import Advice, LearningCurve, Version
from pairlearn.ask.judging import final_certificate, live_certificate
from pairlearn.ask.ledger import Ledger
from pairlearn.ask.state import check_state
from pairlearn.data.containers import take_rows
from pairlearn.trust.sample_checks import MoreKindsError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pairlearn.ask.strategies import Strategy
    from pairlearn.data.types import PointsLike
    from pairlearn.people.rates import PeopleRates
    from pairlearn.trust.certificate import Certificate
    from pairlearn.trust.kinds_certificate import KindsCertificate

__all__ = ["RESERVED", "Interview", "TooFewPointsError"]

FORMAT = 1
# What is stored with an interview.
PARAMETERS = (
    "n_classes", "audits", "strategy", "noise", "majority", "classes", "confidence",
    "max_candidates", "random_state", "overlap",
)  # fmt: skip
# Parameters that came later, with what they are in states that were stored before.
LATER = {"overlap": 0.0}


class Interview(Asking):
    """Questions about pairs, a model that learns from the answers, and a certificate.

    Parameters
    ----------
    points : points, as :class:`~pairlearn.Pairs` takes them
        What to ask about: array, sparse matrix, data frame, tensor or dask array.
    n_classes : int or "auto", default=2
        Number of classes. "auto": a class is opened when a point fits none.
    audits : float, default=0.2
        The share of questions that are audits: random pairs of points that were put
        aside beforehand. They never teach the model, so they can judge it. 0: none, and
        no point is put aside.
    strategy : str or Strategy, default="mixed"
        How questions are chosen: "mixed", "random", "explore", "uncertain",
        "informative", or an object with the method ``choose(view)``.
    noise : "auto", tuple, float or None, default="auto"
        How often answers are wrong, as for :class:`~pairlearn.PairClassifier`; None: no
        answer is wrong, and nothing is asked again.
    majority, classes
        As for :class:`~pairlearn.PairClassifier`.
    estimator : estimator or None, default=None
        What learns: an estimator of this package, which is cloned and fitted with pairs
        and answers each time. None: what learns best from so many answers, in the end
        :class:`~pairlearn.PairClassifier` where there are two classes.
    confidence : float, default=0.95
        Confidence of the certificates.
    names : iterable, optional
        Names of the points. Which points are put aside then depends on their names and
        the seed, and not on the order of the rows.
    max_candidates : int, default=20_000
        Of more points than this that could be asked about, so many are drawn, and only
        they are asked about.
    random_state : int or None, default=0
        Seed; None: a random one.
    overlap : float, default=0.0
        The share of questions that repeat a random pair that somebody else has
        answered, so that one can tell how far people agree; once two people or more
        have answered, who are told apart by `who`.

    Attributes
    ----------
    ledger : Ledger
        What was asked and answered, in order.
    n_candidates : int
        How many points may be asked about.

    Notes
    -----
    The same seed and the same answers give the same questions, also after
    :meth:`state` and :meth:`from_state`.

    Learning takes seconds, and happens within :meth:`next_question` when it is time. In
    a program that must not wait, say ``learn=False`` there, and learn aside, perhaps in
    another thread: :meth:`begin_lesson`, :meth:`Homework.learn
    <pairlearn.ask.homework.Homework.learn>` and :meth:`take_lesson`.

    *Guaranteed:* the live certificate holds at all looks together, if answers are as
    right, or as wrong, as `noise` says, and if the points are random ones of those the
    model is for. *Not guaranteed:* that the questions are the best ones; the forecast
    of :meth:`advice`.

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn.ask import Interview
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=300)
    >>> X = rng.normal(size=(300, 2)) + 4 * y[:, None]
    >>> interview = Interview(X, random_state=0)
    >>> for _ in range(60):
    ...     question = interview.next_question()
    ...     interview.answer(question, y[question.left] == y[question.right])
    >>> interview.certificate.n_pairs
    13
    >>> model = interview.learn()
    >>> agree = np.mean(model.predict(X) == np.where(y == 1, 1, -1))
    >>> bool(max(agree, 1 - agree) > 0.97)
    True
    """

    @property
    def certificate(self) -> Certificate | KindsCertificate | None:
        """How good the model is, valid however often one looks; None without audits.

        After :meth:`freeze`, and when all its audits are answered: the certificate from
        these.
        """
        model = self.model
        if model is None:
            return None
        options: dict[str, Any] = {
            "confidence": self.confidence,
            "flip_rates": self.noise,
            "people": self.people(),
        }
        if self.n_classes != 2:
            # Shares of the groups are counted in points that are random ones.
            options["points"] = take_rows(self.X, self._audits.reserve)
        try:
            if self.frozen:
                final = final_certificate(model, self.X, self.ledger, **options)
                if final is not None:
                    return final
            return live_certificate(model, self.X, self.ledger, **options)
        except MoreKindsError as problem:
            what = str(problem).partition("; kinds=")[0]
            raise MoreKindsError(
                f"{what}. An interview with n_classes='auto', or with their number, "
                "opens more classes; the answers can be brought along"
            ) from None

    def people(self) -> PeopleRates | None:
        """Return how often each person is right, as the last version found it.

        From the answers that teach, opinions among them, and never from audits. Its
        ``warnings`` say who seems to answer at random, and who says the opposite of
        what is right.

        Returns
        -------
        PeopleRates or None
            None while people are not told apart: with fewer than 30 answers, with
            fewer than two people, and where `noise` says how often answers are wrong.
        """
        worth = self._lesson.worth if self._lesson else None
        return None if worth is None else worth.people

    @property
    def history(self) -> LearningCurve:
        """The learning curve: what each version of the model expected and got wrong."""
        return LearningCurve(
            [
                Version(k, len(v.answers), v.expected_error, v.n_audits, v.n_wrong)
                for k, v in enumerate(self.ledger.learned, 1)
            ]
        )

    def advice(self, error: float = 0.05) -> Advice:
        """Forecast about how many more answers an error takes.

        Parameters
        ----------
        error : float, default=0.05
            The error that is wanted.

        Returns
        -------
        Advice
        """
        return self.history.advice(error)

    def state(self) -> dict[str, Any]:
        """Return all that is needed to go on later: plain values, fit for JSON.

        The points, and their names, are not among them.

        Returns
        -------
        dict
        """
        return {
            "format": FORMAT,
            "pairlearn": pairlearn.__version__,
            "points": self._points_mark,
            "put_aside": self._aside_mark,
            "parameters": {name: getattr(self, name) for name in PARAMETERS}
            | {"strategy": self.strategy.name},
            "events": [list(event) for event in self.ledger.events],
        }

    @classmethod
    def from_state(
        cls,
        points: PointsLike,
        state: dict[str, Any],
        *,
        names: Iterable[Any] | None = None,
        strategy: Strategy | None = None,
        estimator: Any = None,
        learn: bool = True,
    ) -> Interview:
        """Go on with an interview that was stored.

        Parameters
        ----------
        points : points
            The same points as before.
        state : dict
            What :meth:`state` returned, perhaps read from JSON.
        names : iterable, optional
            The same names as before, if there were any.
        strategy : Strategy, optional
            The same strategy as before, if it was an object of your own.
        estimator : estimator, optional
            The same estimator as before, if there was one.
        learn : bool, default=True
            Whether to learn the last version of the model again at once. False: later,
            by :meth:`last_lesson` and :meth:`take_lesson`.

        Returns
        -------
        Interview
            The same questions follow as if it had never been stored.
        """
        parameters = check_state(state, FORMAT, PARAMETERS, LATER)
        if strategy is not None:
            parameters["strategy"] = strategy
        self = cls(points, names=names, estimator=estimator, **parameters)
        if self._points_mark != state["points"]:
            raise ValueError(
                f"these points ({self._points_mark}) are not those of the interview "
                f"({state['points']}); give it the same rows in the same order"
            )
        aside = state.get("put_aside", self._aside_mark)
        if aside != self._aside_mark:
            raise ValueError(
                "other points would be put aside for audits than before: give "
                "from_state() the same names as before, if there were any"
            )
        self.ledger = Ledger.read(state["events"])
        self._audits.check_asked(self.ledger, self.X.shape[0])
        if learn:
            self._make_again()
        return self
