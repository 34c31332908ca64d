"""How an interview begins: what it is told, and which points are put aside."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.ask.audits import Audits, coins, put_aside
from pairlearn.ask.choosing import Chooser
from pairlearn.ask.given import check_numbers, is_number, plain
from pairlearn.ask.ledger import Ledger
from pairlearn.ask.lessons import Teacher
from pairlearn.ask.state import mark_of_points, mark_of_rows
from pairlearn.ask.strategies import as_strategy
from pairlearn.data.checks import check_flip_rates, check_integer, check_share
from pairlearn.data.containers import check_table
from pairlearn.trust.assignment import majority_sign

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pairlearn.ask.lessons import Lesson
    from pairlearn.ask.strategies import Strategy
    from pairlearn.data.types import Ints, PointsLike

__all__ = ["RESERVED", "Beginning", "TooFewPointsError"]

# The share of points that are put aside for audits.
RESERVED = 0.3


class TooFewPointsError(ValueError):
    """Without the points put aside for audits, too few are left to ask about."""


class Beginning:
    """What an interview knows before the first question.

    The parameters are those of :class:`~pairlearn.ask.Interview`.
    """

    def __init__(
        self,
        points: PointsLike,
        *,
        n_classes: int | str = 2,
        audits: float = 0.2,
        strategy: str | Strategy = "mixed",
        noise: Any = "auto",
        majority: Any = None,
        classes: tuple[Any, ...] | None = None,
        estimator: Any = None,
        confidence: float = 0.95,
        names: Iterable[Any] | None = None,
        max_candidates: int = 20_000,
        random_state: int | None = 0,
        overlap: float = 0.0,
    ) -> None:
        self.X: PointsLike = check_numbers(check_table(points))
        n_points = self.X.shape[0]
        if n_points < 2:
            raise ValueError(f"an interview needs two points at least; got {n_points}")
        if n_classes != "auto":
            check_integer("n_classes", n_classes, minimum=2)
        if not (is_number(audits) and 0 <= audits < 1):
            raise ValueError(
                f"audits must be a share from 0 to below 1; got {audits!r}"
            )
        if not (is_number(overlap) and 0 <= overlap < 1):
            raise ValueError(
                f"overlap must be a share from 0 to below 1; got {overlap!r}"
            )
        check_share("confidence", confidence)
        rates = check_flip_rates(noise, "noise", ("auto",))
        check_integer("max_candidates", max_candidates, minimum=2)
        if random_state is None:
            random_state = int(np.random.default_rng().integers(2**31))
        self.random_state = check_integer("random_state", random_state, minimum=0)
        # As plain values, which JSON can keep.
        self.n_classes: int | str = (
            n_classes if isinstance(n_classes, str) else int(n_classes)
        )
        self.audits, self.overlap = float(audits), float(overlap)
        self.strategy = as_strategy(strategy)
        self.noise: Any = float(noise) if is_number(noise) else rates
        self.majority = plain(majority)
        self.classes: tuple[Any, ...] | None = (
            None if classes is None else tuple(plain(name) for name in classes)
        )
        self.estimator = estimator
        self.confidence = float(confidence)
        self.max_candidates = int(max_candidates)
        wanted = self.n_classes
        if self.classes is not None and wanted not in ("auto", len(self.classes)):
            raise ValueError(
                f"classes must name {wanted} classes, as n_classes says; got "
                f"{self.classes!r}"
            )
        if majority is not None and self.n_classes == 2:
            majority_sign(self.majority, self.classes or (-1, 1))
        self.ledger = Ledger()
        values = coins(n_points, self.random_state, names)
        self._audits = Audits(put_aside(values, RESERVED if audits else 0.0))
        free = np.ones(n_points, dtype=bool)
        free[self._audits.reserve] = False
        # Points with the largest numbers, so that appended rows may come to them.
        rows = np.flatnonzero(free)
        if len(rows) > max_candidates:
            rows = np.sort(rows[np.argsort(-values[rows])[:max_candidates]])
        if len(rows) < 2:
            raise TooFewPointsError(
                f"of {n_points} points {len(rows)} are left to ask about, the others "
                "are put aside for audits; give more points, or say audits=0"
            )
        self._candidates: Ints = rows
        self._lesson: Lesson | None = None

    @cached_property
    def _points_mark(self) -> str:
        return mark_of_points(self.X)

    @cached_property
    def _aside_mark(self) -> str:
        return mark_of_rows(self._audits.reserve)

    @property
    def n_candidates(self) -> int:
        """How many points may be asked about."""
        return len(self._candidates)

    @cached_property
    def _teacher(self) -> Teacher:
        return Teacher(
            self.X,
            self._candidates,
            n_classes=self.n_classes,
            noise=self.noise,
            majority=self.majority,
            classes=self.classes,
            estimator=self.estimator,
            random_state=self.random_state,
        )

    @cached_property
    def _chooser(self) -> Chooser:
        return Chooser(
            self._candidates, self._teacher.features, self.strategy, self.n_classes
        )
