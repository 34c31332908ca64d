"""Leases: which question is on whose page, and until when.

A question on a page is nobody else's until its lease has run out; then it goes to the
next who asks. An answer that comes later still counts.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Lease", "Leases"]


class Lease(NamedTuple):
    """A question on a page.

    Attributes
    ----------
    who : str
        The person.
    page : str
        The page.
    until : float
        When it runs out, in seconds since 1970.
    """

    who: str
    page: str
    until: float


class Leases:
    """The leases, and the questions that are free.

    Attributes
    ----------
    free : list of int
        Questions that may be given out, in order.
    handed_out : set of int
        Those of them that have been on a page before.

    Examples
    --------
    >>> leases = Leases()
    >>> leases.add_free(4)
    >>> leases.lease(4, Lease("Ada", "page1", 600.0))
    >>> leases.free, leases.of_page("Ada", "page1")
    ([], [4])
    >>> leases.sweep(601.0, lambda number: True)
    >>> leases.free
    [4]
    """

    def __init__(self) -> None:
        self.free: list[int] = []
        self.handed_out: set[int] = set()
        self._leases: dict[int, Lease] = {}
        self._pages: dict[tuple[str, str], dict[int, None]] = {}
        # When the first lease runs out, and the last one.
        self._earliest, self._last = float("inf"), -float("inf")

    @classmethod
    def read(
        cls,
        rows: Iterable[tuple[int, str, str, float]],
        is_open: Iterable[int],
        now: float,
        may_wait: Callable[[int, str], bool],
    ) -> Leases:
        """Return the leases of a store.

        Parameters
        ----------
        rows : iterable of tuple
            Question, person, page, and until when.
        is_open : iterable of int
            Questions that nobody has answered.
        now : float
            The time.
        may_wait : callable
            Tells whether a question may be on a person's page.

        Returns
        -------
        Leases
        """
        found = cls()
        for number in is_open:
            found.add_free(number)
        for number, who, page, until in rows:
            if until > now and may_wait(number, who):
                found.lease(number, Lease(who, page, until))
            elif found.is_free(number):
                found.handed_out.add(number)
        return found

    def of(self, number: int) -> Lease | None:
        """Return the lease of a question, if there is one."""
        return self._leases.get(number)

    def is_free(self, number: int) -> bool:
        """Tell whether a question may be given out."""
        place = bisect_left(self.free, number)
        return place < len(self.free) and self.free[place] == number

    def add_free(self, number: int) -> None:
        """Note a question that may be given out."""
        if not self.is_free(number):
            insort(self.free, number)

    def of_page(self, who: str, page: str) -> list[int]:
        """Return the questions on a page, in the order in which they came."""
        return list(self._pages.get((who, page), ()))

    def lease(self, number: int, lease: Lease) -> None:
        """Put a question on a page, or leave it there for longer."""
        before = self._leases.get(number)
        if before is not None and before[:2] != lease[:2]:
            self._off_page(number, before)
        self._leases[number] = lease
        self._pages.setdefault((lease.who, lease.page), {})[number] = None
        self._earliest = min(self._earliest, lease.until)
        self._last = max(self._last, lease.until)
        self.handed_out.add(number)
        self._not_free(number)

    def end(self, number: int) -> None:
        """Take a question from where it is: it is answered, or withdrawn."""
        lease = self._leases.pop(number, None)
        if lease is not None:
            self._off_page(number, lease)
        self.handed_out.discard(number)
        self._not_free(number)

    def sweep(
        self,
        now: float,
        is_open: Callable[[int], bool],
        latest: float = float("inf"),
    ) -> None:
        """Take questions back whose leases have run out.

        Parameters
        ----------
        now : float
            The time.
        is_open : callable
            Tells whether nobody has answered a question.
        latest : float
            When a lease that begins now runs out. If one seems to last longer, the
            clock was put back, and it ends then, too.
        """
        if self._last > latest:
            for number, lease in self._leases.items():
                self._leases[number] = lease._replace(until=min(lease.until, latest))
            self._earliest, self._last = min(self._earliest, latest), latest
        if now < self._earliest:
            return
        for number, lease in list(self._leases.items()):
            if lease.until <= now:
                del self._leases[number]
                self._off_page(number, lease)
                if is_open(number):
                    self.add_free(number)
        untils = (lease.until for lease in self._leases.values())
        self._earliest = min(untils, default=float("inf"))

    def _off_page(self, number: int, lease: Lease) -> None:
        key = lease.who, lease.page
        self._pages[key].pop(number, None)
        if not self._pages[key]:
            del self._pages[key]

    def _not_free(self, number: int) -> None:
        place = bisect_left(self.free, number)
        if place < len(self.free) and self.free[place] == number:
            del self.free[place]
