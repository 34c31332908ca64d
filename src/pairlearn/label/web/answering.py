"""What whoever answers asks of the server: questions, answers, and their history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anyio import to_thread

import pairlearn
from pairlearn.label.values import SAID, Given, Person
from pairlearn.label.web.bodies import (
    Field,
    integer,
    listed,
    mark,
    maybe,
    number,
    one_of,
    record,
    text,
)
from pairlearn.label.web.file_replies import MediaReply
from pairlearn.label.web.guard import ticket_of
from pairlearn.label.web.queries import query_of, span
from pairlearn.label.web.refusals import NotAllowed
from pairlearn.label.web.replies import JSONReply, to_json
from pairlearn.label.web.room import body_of, number_in, person_of
from pairlearn.label.web.tickets import LONGEST_NAME, Ticket, proper_name

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from pairlearn.label.values import Hand, Item
    from pairlearn.label.web.room import Room

__all__ = ["Answering"]

LONGEST_COMMENT = 4000
_MOST_ANSWERS, _MOST_HELD, _MOST_WANTED = 100, 200, 50
_MOST_ITEMS, _LONGEST_SEARCH = 200, 200
_NUMBER_OF = {word: said for said, word in SAID.items()}
_SAID = one_of(*_NUMBER_OF)
_QUESTION = integer(0)
_HAND = {
    "page": Field(mark),
    "have": Field(listed(_QUESTION, _MOST_HELD)),
    "want": Field(integer(0, _MOST_WANTED)),
}
_ANSWER = {
    "id": Field(mark),
    "question": Field(_QUESTION),
    "said": Field(_SAID),
    "comment": Field(maybe(text(LONGEST_COMMENT)), needed=False),
    "seconds": Field(maybe(number(0, 1e7)), needed=False),
    "rows": Field(maybe(listed(_QUESTION, 2, 2)), needed=False),
}
_ANSWERS = {**_HAND, "answers": Field(listed(record(_ANSWER), _MOST_ANSWERS, 1))}
_UNDO = {
    "page": Field(mark),
    "id": Field(mark),
    "question": Field(maybe(_QUESTION), needed=False),
}
_EDIT = {"id": Field(mark), "question": Field(_QUESTION), "said": Field(_SAID)}
_COMMENT = {
    "id": Field(mark),
    "question": Field(_QUESTION),
    "text": Field(text(LONGEST_COMMENT)),
}
_ME = {"name": Field(text(4 * LONGEST_NAME))}
_SAVED = b'{"saved":true}'


class Answering:
    """Answer the requests of people who answer.

    Parameters
    ----------
    room : Room
        What to answer from.
    """

    def __init__(self, room: Room) -> None:
        self._room, self._desk = room, room.desk
        self._about = {
            "points": room.things.name,
            "n_points": len(room.things),
            "columns": [
                {
                    key: each
                    for key, each in column._asdict().items()
                    if each is not None
                }
                for column in room.things.columns
            ],
            "id_column": room.things.id_column,
            "letters": room.letters,
            # Answers that wait in a browser belong to one file of answers.
            "project": room.guard.tickets.project,
            "version": pairlearn.__version__,
        }

    async def hello(self, request: Request) -> Response:
        """Tell who somebody is, and what the points are."""
        return await self._hello(ticket_of(request.scope))

    async def _hello(self, ticket: Ticket) -> Response:
        fixed = not ticket.is_starter
        me = {"name": ticket.name, "owner": ticket.owner, "fixed": fixed}
        mine = (
            0
            if ticket.name is None
            else self._desk.n_answers(Person(ticket.name, ticket.owner))
        )
        order = (await self._desk.progress()).get("columns")
        more = {"me": me, "mine": mine, "order": order}
        return JSONReply(to_json(self._about | more))

    async def me(self, request: Request) -> Response:
        """Take the name that somebody gives."""
        ticket = ticket_of(request.scope)
        said = await body_of(request, _ME)
        if not ticket.is_starter:
            raise NotAllowed(
                "your link is for one name; ask for a link of your own if it is not "
                "yours",
                403,
            )
        name = proper_name(said["name"])
        if name is None:
            raise NotAllowed(
                f"a name has 1 to {LONGEST_NAME} characters, of which one can be seen"
            )
        named = Ticket(name, owner=True)
        response = await self._hello(named)
        guard = self._room.guard
        scheme = guard.scheme(dict(request.scope["headers"]))
        response.raw_headers.append(guard.set_cookie(named, scheme))
        return response

    async def questions(self, request: Request) -> Response:
        """Hand out questions."""
        person, said = person_of(request), await body_of(request, _HAND)
        hand = await self._desk.hand(person, said["page"], said["have"], said["want"])
        return JSONReply(b"{%b}" % self._hand(person, hand))

    async def answers(self, request: Request) -> Response:
        """Take answers, and hand out the next questions."""
        person, said = person_of(request), await body_of(request, _ANSWERS)
        given = [
            Given(
                each["id"],
                each["question"],
                _NUMBER_OF[each["said"]],
                each["comment"],
                each["seconds"],
                None if each["rows"] is None else tuple(each["rows"]),
            )
            for each in said["answers"]
        ]
        outcomes, hand = await self._desk.answer(
            person, said["page"], given, said["have"], said["want"]
        )
        results = [
            {"id": each.request, "status": each.status}
            | ({} if each.reason is None else {"reason": each.reason})
            for each in outcomes
        ]
        body = b'{"results":%b,%b}' % (to_json(results), self._hand(person, hand))
        return JSONReply(body)

    def _hand(self, person: Person, hand: Hand) -> bytes:
        things = self._room.things
        questions = b",".join(
            things.question_json(each.number, each.left, each.right)
            for each in hand.questions
        )
        rest: dict[str, Any] = {"done": hand.done, "waiting": hand.waiting}
        rest["mine"] = self._desk.n_answers(person)
        return b'"questions":[%b],%b' % (questions, to_json(rest)[1:-1])

    async def undo(self, request: Request) -> Response:
        """Take an answer back, and ask again."""
        person, said = person_of(request), await body_of(request, _UNDO)
        asked, was = await self._desk.undo(
            person, said["page"], said["id"], said["question"]
        )
        question = self._room.things.question_json(
            asked.number, asked.left, asked.right
        )
        body = b'{"question":%b,"said":%b}' % (question, to_json(SAID[was]))
        return JSONReply(body)

    async def edit(self, request: Request) -> Response:
        """Change an answer."""
        person, said = person_of(request), await body_of(request, _EDIT)
        number_said = _NUMBER_OF[said["said"]]
        await self._desk.edit(person, said["id"], said["question"], number_said)
        return JSONReply(_SAVED)

    async def comment(self, request: Request) -> Response:
        """Keep a comment."""
        person, said = person_of(request), await body_of(request, _COMMENT)
        await self._desk.comment(person, said["id"], said["question"], said["text"])
        return JSONReply(_SAVED)

    async def history(self, request: Request) -> Response:
        """List answers, the newest first."""
        person = person_of(request)
        query = query_of(request, "search", "before", "limit", "everyone")
        search = text(_LONGEST_SEARCH)(query.get("search", ""), "'search'")
        before, limit = span(query, _MOST_ITEMS)
        everyone = one_of("0", "1")(query.get("everyone", "0"), "'everyone'") == "1"
        if everyone and not person.owner:
            raise NotAllowed("only an owner sees all answers", 403)
        found = await self._desk.history(person, search, before, limit, everyone)
        items = b",".join(
            b"{%b}" % self._item(item, number=item.number) for item in found.items
        )
        body = b'{"items":[%b],"more":%b}' % (items, to_json(found.more))
        return JSONReply(body)

    async def question(self, request: Request) -> Response:
        """Show one question, and what was said about it."""
        person = person_of(request)
        item = await self._desk.question(person, number_in(request, "number"))
        return JSONReply(b"{%b}" % self._item(item))

    def _item(self, item: Item, **more: Any) -> bytes:
        things = self._room.things
        question = things.question_json(item.question, item.left, item.right)
        about = {
            "said": None if item.said is None else SAID[item.said],
            "who": item.who,
            "at": item.at,
            "comment": item.comment,
            "edited": item.edited,
            **more,
        }
        return b"%b,%b" % (question[1:-1], to_json(about)[1:-1])

    async def _place(self, request: Request) -> tuple[int, int]:
        """Return row and column of a cell that whoever asks may see."""
        row, column = number_in(request, "row"), number_in(request, "column")
        # An owner may look round before saying a name.
        allowed = ticket_of(request.scope).owner or await self._desk.may_see(
            person_of(request), row
        )
        if not allowed:
            raise NotAllowed("this point is on no page of yours", 404)
        return row, column

    async def cell(self, request: Request) -> Response:
        """Send the whole text of a cell."""
        row, column = await self._place(request)
        whole = self._room.things.whole(row, column)
        if whole is None:
            raise NotAllowed("there is no such cell", 404)
        return JSONReply(await to_thread.run_sync(to_json, {"text": whole}))

    async def media(self, request: Request) -> MediaReply:
        """Send the image or sound that a cell names."""
        row, column = await self._place(request)
        found = await to_thread.run_sync(self._room.things.open, row, column)
        if found is None:
            raise NotAllowed("this cell names no image or sound that is here", 404)
        return MediaReply(found)
