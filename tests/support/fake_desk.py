"""A desk without a store and a back room, and all that a page needs around it."""

import asyncio
import json

import httpx

from pairlearn.files.tables.points import read_points
from pairlearn.label.members import Members
from pairlearn.label.records import Records
from pairlearn.label.store import Event
from pairlearn.label.things import Things
from pairlearn.label.values import Asked, Hand, History, Item, Outcome, Refused
from pairlearn.label.web.addresses import Addresses
from pairlearn.label.web.app import make_app
from pairlearn.label.web.guard import Guard
from pairlearn.label.web.refusals import RefusalLog
from pairlearn.label.web.static_files import StaticFiles
from pairlearn.label.web.tickets import Ticket, Tickets

SECRET = "5" * 64
HOST = "127.0.0.1:8765"
POINTS = "id,size,colour\n" + "".join(
    f"p{k},{k}.5,{['red', 'blue'][k % 2]}\n" for k in range(30)
)


class FakeClerk:
    """Takes down what is noted, in memory alone."""

    def __init__(self):
        self.records = Records()
        self.events = []

    def note(self, who, kind, body, request):
        at = f"2024-05-31T12:00:{len(self.events):02}.000Z"
        event = Event(len(self.events) + 1, at, who, kind, None, request, body)
        self.events.append(event)
        self.records.apply(event)
        return event


class FakeDesk:
    """Hands out pairs in order, and remembers what it was asked."""

    def __init__(self, n_points=30):
        self.n_points = n_points
        self.calls = []
        self.said = {}
        self.requests = set()
        self.next = 0
        self.panel = {"groups": [], "columns": [1, 0]}
        self.clerk = FakeClerk()

        async def do(work, *, log=True):
            del log
            return work(self.clerk)

        self.members = Members(do)

    async def invitations(self):
        return self.clerk.records.invitations

    def noted(self):
        """The kinds of what was noted, in order."""
        return [event.kind for event in self.clerk.events]

    def _asked(self, number):
        n = self.n_points
        return Asked(number, number % n, (number + 1 + number // n) % n)

    def n_answers(self, person):
        return sum(who == person.name for _, who in self.said.values())

    async def hand(self, person, page, have, want):
        self.calls.append(("hand", person, page, have, want))
        first = self.next
        self.next += max(want - len(have), 0)
        return Hand([self._asked(k) for k in range(first, self.next)])

    async def answer(self, person, page, answers, have, want):
        self.calls.append(("answer", person, page, answers))
        outcomes = []
        for given in answers:
            if given.question >= max(self.next, 1):
                reason = "There is no such question."
                outcomes.append(Outcome(given.request, "refused", reason))
                continue
            if given.request not in self.requests:
                self.requests.add(given.request)
                self.said[given.question] = (given.said, person.name)
            outcomes.append(Outcome(given.request, "saved"))
        return outcomes, await self.hand(person, page, have, want)

    async def undo(self, person, page, request, question):
        self.calls.append(("undo", person, page, request, question))
        mine = [k for k, (_, who) in self.said.items() if who == person.name]
        if not mine or question not in (None, *mine):
            raise Refused("There is no answer to take back.", 409)
        number = mine[-1] if question is None else question
        return self._asked(number), self.said.pop(number)[0]

    async def edit(self, person, request, question, said):
        self.calls.append(("edit", person, request, question, said))
        self._own(person, question)
        self.said[question] = (said, person.name)

    async def comment(self, person, request, question, text):
        self.calls.append(("comment", person, request, question, text))
        self._own(person, question)

    def _own(self, person, question):
        if question not in self.said or (
            self.said[question][1] != person.name and not person.owner
        ):
            raise Refused("There is no such answer of yours.", 404)

    def _item(self, number):
        asked = self._asked(number)
        said, who = self.said[number]
        at = "2024-05-31T12:00:00.000Z"
        return Item(number, number, asked.left, asked.right, said, who, at)

    async def question(self, person, number):
        self._own(person, number)
        return self._item(number)

    async def may_see(self, person, row):
        del person
        shown = map(self._asked, range(self.next))
        return any(row in (asked.left, asked.right) for asked in shown)

    async def history(self, person, search, before, limit, everyone):
        self.calls.append(("history", person, search, before, limit, everyone))
        return History([self._item(k) for k in list(self.said)[:limit]], more=False)

    async def progress(self):
        return dict(self.panel)

    async def name_groups(self, person, request, names):
        self.calls.append(("names", person, request, names))


class FakeFiles:
    """Files that are there at once."""

    def __init__(self):
        self.made = []

    async def make(self, what):
        self.made.append(what)
        return {"state": "working"}

    def states(self):
        return {"model": {"state": "none"}}

    async def content(self, name):
        return b"<script>alert(1)</script>" if name == "report.html" else None

    async def pairs_csv(self):
        return b"left,right,answer\n"


class Lines:
    """A log that keeps its lines."""

    def __init__(self):
        self.lines = []

    def warning(self, text, *values):
        self.lines.append(text % values)


class Site:
    """The application with a desk, and clients of it.

    Parameters
    ----------
    folder : Path
        Where the points are.
    points : str or None
        The table; None: it is there.
    name : str
        The name of its file.
    **options
        Of `Guard`.
    """

    def __init__(
        self,
        folder,
        points=POINTS,
        name="points.csv",
        more_hosts=(),
        static=None,
        **options,
    ):
        path = folder / name
        if points is not None:
            path.write_text(points, encoding="utf-8")
        self.things = Things(read_points(path), path)
        self.desk, self.files = FakeDesk(len(self.things)), FakeFiles()
        self.tickets = Tickets(SECRET, owner_name=None)
        self.log, self.pauses = Lines(), []

        async def sleep(seconds):
            self.pauses.append(seconds)

        self.guard = Guard(
            self.tickets,
            Addresses("127.0.0.1", 8765, tuple(more_hosts)),
            log=RefusalLog(self.log),
            sleep=sleep,
            invitations=self.desk.invitations,
            **options,
        )
        pages = StaticFiles() if static is None else StaticFiles(static)
        self.app = make_app(
            self.desk, self.things, self.guard, self.files, static=pages
        )

    def invited(self, name, role="annotator"):
        """Invite somebody; returns their invitation and their cookie."""
        made = asyncio.run(self.desk.members.invite("Ann", name, role))
        return made, self.cookie(name, owner=role == "owner", invitation=made.id)

    def cookie(self, name="Ann", *, owner=True, scheme="http", invitation=None):
        value = self.tickets.cookie(Ticket(name, owner, invitation))
        return {"Cookie": f"{self.guard.cookie_name(scheme)}={value}"}

    def call(self, method, path, *, cookie=None, host=HOST, headers=None, **more):
        """Make a request as the page does: by its owner, unless a cookie is given."""
        sent = dict(self.cookie() if cookie is None else cookie)
        if method == "POST":
            sent |= {"X-Pairlearn": "1"}
        sent |= headers or {}
        sent = {name: value for name, value in sent.items() if value is not None}

        async def run():
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(
                transport=transport, base_url=f"http://{host}"
            ) as client:
                return await client.request(method, path, headers=sent, **more)

        return asyncio.run(run())

    def get(self, path, **more):
        return self.call("GET", path, **more)

    def post(self, path, body, **more):
        headers = {"Content-Type": "application/json"} | more.pop("headers", {})
        content = json.dumps(body).encode()  # in ASCII, also halves of a character
        return self.call("POST", path, content=content, headers=headers, **more)


def raw_call(app, scope, messages):
    """Call an application with the messages of a request; return what it sent."""
    sent = []

    async def run():
        waiting = list(messages)

        async def receive():
            return waiting.pop(0) if waiting else {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)

        await app(scope, receive, send)
        return waiting

    return sent, asyncio.run(run())
