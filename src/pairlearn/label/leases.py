"""Leases: which question is on whose page, and until when.

A question on a page is nobody else's until its lease has run out; then it goes to the
next who asks. An answer that comes later still counts.

A second opinion is chosen for one person, the one who is most likely to be right. Such
a question is *kept* for that person: it has a lease with their name and no page, which
runs out after some minutes if they do not ask for questions, and ends if their
invitation is revoked. Then it goes to the next who asks, like all others.

They are rows of the database, one per question that is open or on a page. Whoever wants
some locks rows that are free and passes over those that another process has locked
(SELECT ... FOR UPDATE SKIP LOCKED), so that no question goes to two pages and nobody
waits. A file needs no such locks: one process has it, and SQLAlchemy leaves them out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, bindparam, distinct, false, func, or_, select

from pairlearn.label.tables import LEASES, WISHES
from pairlearn.label.upserts import upsert

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable

__all__ = ["Lease", "Leases"]

_T = LEASES.c
_NOW: Any = bindparam("now")
_NUMBERS: Any = bindparam("numbers", expanding=True)
_MINE = and_(_T.who == bindparam("by"), _T.page == bindparam("on"))
_FREE = and_(_T.is_open, _T.until <= _NOW)
_FREE_ONES = select(_T.question).where(_FREE).order_by(_T.question)
# What others have locked is passed over.
_TAKE = _FREE_ONES.limit(bindparam("most")).with_for_update(skip_locked=True)
_OTHERS = (
    _FREE_ONES.where(_T.question.not_in(_NUMBERS))
    .limit(bindparam("most"))
    .with_for_update(skip_locked=True)
)
_THESE = (
    select(_T.question)
    .where(_T.question.in_(_NUMBERS), or_(_FREE, _MINE))
    .order_by(_T.question)
    .with_for_update(skip_locked=True)
)
# What is kept for a person, or was and is free again: on no page so far.
_KEPT = and_(_T.is_open, _T.page == "", _T.taken.is_(None))
_KEPT_ONES = (
    select(_T.question)
    .where(_KEPT, _T.question.in_(_NUMBERS))
    .where(or_(_T.who == bindparam("by"), _T.until <= _NOW))
    .order_by(_T.question)
    .with_for_update(skip_locked=True)
)
_KEPT_FOR = select(_T.question).where(_KEPT, _T.who == bindparam("by"))
_KEPT_FOR = _KEPT_FOR.with_for_update(skip_locked=True)
_N_KEPT = select(func.count()).select_from(LEASES)
_N_KEPT = _N_KEPT.where(_KEPT, _T.who == bindparam("by"), _T.until > _NOW)
_TOO_LONG = (
    select(_T.question)
    .where(_T.until > bindparam("latest"))
    .with_for_update(skip_locked=True)
)
_UNSEEN = select(_T.question).where(_T.taken.is_(None), _T.is_open)
_UNSEEN_ONES = (
    _UNSEEN.where(_T.question.in_(_NUMBERS))
    .order_by(_T.question)
    .with_for_update(skip_locked=True)
)
_OF_PAGE = (
    select(_T.question, _T.until)
    .where(_MINE, _T.until > _NOW)
    .order_by(_T.taken, _T.question)
)
_HAS = select(_T.question).where(
    _T.question == bindparam("number"), _T.who == bindparam("by"), _T.until > _NOW
)
_OF_PERSON = select(_T.question).where(_T.who == bindparam("by"))
_N_FREE = select(func.count()).select_from(LEASES).where(_FREE)
_N_PAGES = select(func.count(distinct(_T.page))).where(_T.taken > bindparam("since"))
_PUT = (
    LEASES.update()
    .where(_T.question == bindparam("number"))
    .values(
        who=bindparam("by"),
        page=bindparam("on"),
        until=bindparam("til"),
        taken=bindparam("at"),
    )
)
_EXTEND = LEASES.update().where(_T.question.in_(_NUMBERS))
_EXTEND = _EXTEND.values(until=bindparam("til"))
_DROP = LEASES.delete().where(_T.question.in_(_NUMBERS))
_ADD = LEASES.insert()
# An answer ends the lease of whoever gave it, and one that has run out; a second person
# who has the question on the page keeps it there.
_END = LEASES.delete().where(
    _T.question == bindparam("number"),
    or_(_T.who == bindparam("by"), _T.until <= _NOW),
)
_CLOSE = LEASES.update().where(_T.question == bindparam("number"), _T.is_open)
_CLOSE = _CLOSE.values(is_open=false())
_NOTHING = WISHES.update().where(WISHES.c.who == bindparam("by"))
_NOTHING = _NOTHING.values(in_vain=bindparam("at"))


class Lease(NamedTuple):
    """A question on a page, or one that is free.

    Attributes
    ----------
    question : int
        The number of the question.
    who, page : str
        The person and the page; empty: it has been on none. With a person and no page
        it is kept for that person.
    until : float
        When it runs out, in seconds since 1970.
    taken : float or None
        When the page got it.
    is_open : bool
        Whether nobody has answered it.
    """

    question: int
    who: str
    page: str
    until: float
    taken: float | None
    is_open: bool


class Leases:
    """The leases of a store; everything within a transaction of it.

    Parameters
    ----------
    run, quick : callable
        Execute a statement with values: any, or one that is compiled once.
    dialect : str
        The kind of database.
    """

    def __init__(
        self,
        run: Callable[..., Any],
        quick: Callable[..., list[tuple[Any, ...]]],
        dialect: str,
    ) -> None:
        self._run, self._quick, self._dialect = run, quick, dialect
        self._fresh: list[dict[str, Any]] = []
        self._ended: list[dict[str, Any]] = []
        self._wishes: dict[str, float] = {}
        self._in_vain: dict[str, float] = {}

    def send(self) -> None:
        """Send what was noted: first leases, then wishes, each in order.

        Everybody in the same order, so that no two wait for each other.
        """
        self._send_leases()
        if self._wishes:
            wishes = sorted(self._wishes.items())
            rows = [{"who": who, "wished": at, "in_vain": 0.0} for who, at in wishes]
            self._run(_wish(self._dialect), rows)
        for who, at in sorted(self._in_vain.items()):
            self._run(_NOTHING, {"by": who, "at": at})

    def _send_leases(self) -> None:
        if self._fresh:
            self._run(_ADD, self._fresh)
        if self._ended:
            self._ended.sort(key=lambda row: row["number"])
            self._quick(_END, self._ended)
            self._quick(_CLOSE, [{"number": row["number"]} for row in self._ended])
        self._fresh, self._ended = [], []

    def forget(self) -> None:
        """Drop what was noted: it was sent, or the transaction has failed."""
        self._fresh, self._ended = [], []
        self._wishes, self._in_vain = {}, {}

    def all(self) -> list[Lease]:
        """Return all leases, and the questions that are free."""
        self._send_leases()
        return [Lease(*row) for row in self._run(select(LEASES).order_by(_T.question))]

    def free(self, now: float) -> list[int]:
        """Return the questions that may be given out."""
        self._send_leases()
        return list(self._run(_FREE_ONES, {"now": now}).scalars())

    def n_free(self, now: float) -> int:
        """Return how many questions may be given out."""
        ((found,),) = self._quick(_N_FREE, {"now": now})
        return int(found)

    def n_pages(self, since: float) -> int:
        """Return how many pages got questions since then."""
        return int(self._run(_N_PAGES, {"since": since}).scalar() or 0)

    def add(self, number: int, keep_for: str = "", until: float = 0.0) -> None:
        """Note a question that may be given out, up to a time to one person alone."""
        free = Lease(number, keep_for, "", until, None, is_open=True)
        self._fresh.append(free._asdict())

    def n_kept(self, who: str, now: float) -> int:
        """Return how many questions are kept for a person."""
        ((found,),) = self._quick(_N_KEPT, {"by": who, "now": now})
        return int(found)

    def take_kept(self, numbers: Iterable[int], to: Lease) -> list[int]:
        """Put questions on a page that are kept for its person; return which."""
        values = {"numbers": list(numbers), "now": to.taken, "by": to.who}
        if self._fresh:
            self._send_leases()
        found = list(self._run(_KEPT_ONES, values).scalars())
        self._put(found, to)
        return found

    def keep_no_longer(self, who: str) -> None:
        """Let anybody have what is kept for a person."""
        self._send_leases()
        found = list(self._run(_KEPT_FOR, {"by": who}).scalars())
        if found:
            self._run(_EXTEND, {"numbers": found, "til": 0.0})

    def end(self, number: int, who: str, now: float) -> None:
        """Note that somebody has answered a question."""
        self._ended.append({"number": number, "by": who, "now": now})

    def of_page(self, who: str, page: str, now: float) -> dict[int, float]:
        """Return the questions on a page as they came, and until when they stay."""
        return dict(self._quick(_OF_PAGE, {"by": who, "on": page, "now": now}))

    def has(self, who: str, number: int, now: float) -> bool:
        """Tell whether a question is on a page of a person."""
        self._send_leases()
        values = {"by": who, "number": number, "now": now}
        return self._run(_HAS, values).first() is not None

    def of_person(self, who: str) -> list[int]:
        """Return the questions on pages of a person, also if they may be taken away."""
        self._send_leases()
        return list(self._run(_OF_PERSON, {"by": who}).scalars())

    def take(self, most: int, to: Lease, suits: Callable[[int], bool]) -> list[int]:
        """Put free questions on a page.

        Parameters
        ----------
        most : int
            How many at most.
        to : Lease
            Whose page it is, from when, and until when; its question says nothing.
        suits : callable
            Tells whether a question may be on it.

        Returns
        -------
        list of int
        """
        if most <= 0:
            return []
        if self._fresh:
            self._send_leases()
        values: dict[str, Any] = {"now": to.taken, "most": most}
        seen = [number for (number,) in self._quick(_TAKE, values)]
        found = [number for number in seen if suits(number)]
        while len(found) < most and len(seen) >= most:
            # Some that come first do not suit; look behind them.
            values |= {"numbers": seen, "most": max(50, most)}
            more = list(self._run(_OTHERS, values).scalars())
            found += [number for number in more if suits(number)][: most - len(found)]
            seen += more
            if len(more) < values["most"]:
                break
        self._put(found, to)
        return found

    def take_back(self, numbers: Iterable[int], to: Lease) -> None:
        """Put certain questions on a page again, if they are free."""
        values = {"numbers": list(numbers), "now": to.taken, "by": to.who}
        if values["numbers"]:
            found = self._run(_THESE, values | {"on": to.page}).scalars()
            self._put(list(found), to)

    def extend(self, numbers: Iterable[int], to: Lease) -> None:
        """Leave questions on a page for longer."""
        values: dict[str, Any] = {"numbers": list(numbers), "now": to.taken}
        if values["numbers"]:
            values |= {"by": to.who, "on": to.page}
            found = list(self._run(_THESE, values).scalars())
            if found:
                self._run(_EXTEND, {"numbers": found, "til": to.until})

    def _put(self, numbers: list[int], to: Lease) -> None:
        lease = {"by": to.who, "on": to.page, "til": to.until, "at": to.taken}
        if numbers:
            self._quick(_PUT, [{"number": number, **lease} for number in numbers])

    def put(self, lease: Lease) -> None:
        """Put a question on a page, whoever has it; with the lock of the log."""
        self._send_leases()
        self._run(upsert(LEASES, "question", self._dialect), lease._asdict())

    def shorten(self, latest: float) -> None:
        """End leases in time that seem to last longer: the clock was put back."""
        found = list(self._run(_TOO_LONG, {"latest": latest}).scalars())
        if found:
            self._run(_EXTEND, {"numbers": found, "til": latest})

    def unseen(self) -> list[int]:
        """Return questions that have been on no page, in order."""
        self._send_leases()
        return sorted(self._run(_UNSEEN).scalars())

    def withdraw(self, numbers: list[int]) -> list[int]:
        """Take questions away that have been on no page; return which."""
        if not numbers:
            return []
        found = list(self._run(_UNSEEN_ONES, {"numbers": numbers}).scalars())
        if found:
            self._run(_DROP, {"numbers": found})
        return found

    def tidy(
        self, is_open: Container[int], open_ones: Iterable[int], now: float
    ) -> None:
        """Make rows agree with the log, with the lock of which this is done.

        Files of earlier versions, and those that were copied, lack some.

        Parameters
        ----------
        is_open : container of int
            Questions that nobody has answered.
        open_ones : iterable of int
            The same, in order.
        now : float
            The time.
        """
        rows = self.all()
        there = {row.question for row in rows}
        for number in open_ones:
            if number not in there:
                self.add(number)
        gone = [r.question for r in rows if r.question not in is_open]
        expired = [
            r.question for r in rows if r.question not in is_open and r.until <= now
        ]
        for part in range(0, len(expired), 1000):
            self._run(_DROP, {"numbers": expired[part : part + 1000]})
        if gone:
            self._run(_CLOSE, [{"number": number} for number in gone])
        self._send_leases()

    # Wishes, of processes that do not choose questions to the one that does.

    def wish(self, who: str, at: float) -> None:
        """Note that somebody waits for questions."""
        self._wishes[who] = at

    def wishes(self, since: float) -> dict[str, float]:
        """Return who waits since when, of those who were not told of nothing."""
        c = WISHES.c
        rows = self._run(
            select(c.who, c.wished).where(c.wished > c.in_vain, c.wished > since)
        )
        return dict(rows.all())

    def say_nothing(self, who: str, at: float) -> None:
        """Note that there was nothing for a wish."""
        self._in_vain[who] = at

    def was_nothing(self, who: str) -> float:
        """Return up to which wish of somebody there was nothing."""
        found = self._run(select(WISHES.c.in_vain).where(WISHES.c.who == who)).scalar()
        return float(found or 0.0)


def _wish(dialect: str) -> Any:
    from sqlalchemy.dialects import postgresql, sqlite

    insert = (sqlite if dialect == "sqlite" else postgresql).insert(WISHES)
    later = {"wished": insert.excluded.wished}
    return insert.on_conflict_do_update(
        index_elements=["who"],
        set_=later,
        where=WISHES.c.wished < insert.excluded.wished,
    )
