"""The JSON interface of the page in memory: a server to drive the page against.

It speaks as the real one does, with the same headers. It can be stopped and started
again on the same port, lose replies, and end sessions.
"""

import socket
import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

STATIC = Path(__file__).parents[2] / "src/pairlearn/label/web/static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


class FakeLabel:
    """Questions about a table, and answers by the ids that the page gives them."""

    def __init__(self, table, *, name="Ann", owner=True, n_questions=400, seed=0):
        self.table, self.name, self.owner = table, name, owner
        rng = np.random.default_rng(seed)
        n = len(table.ids)
        possible = n * (n - 1) // 2
        pairs = {}
        while len(pairs) < min(n_questions, possible):
            left, right = (int(row) for row in rng.choice(n, 2, replace=False))
            pairs.setdefault(frozenset((left, right)), (left, right))
        self.pairs = list(pairs.values())
        self.reset()

    def reset(self):
        self.requests = {}
        self.standing = {}
        self.comments = {}
        self.edited = set()
        self.number = 0
        self.returned = []
        self.next = 0
        self.leases = {}
        self.names = {}
        self.files = {}
        self.lose_replies = 0
        self.session = True
        self.ended = False
        self.links = []
        self.trail = []
        self.waits = 0
        self.refuse = None
        self.high = 0.083
        self.others = []
        # What is known of people, by name, and what the owner is warned of.
        self.rates, self.warnings = {}, []
        self.seen = []

    def answers_of(self, said):
        return sum(answer["said"] == said for answer in self.standing.values())

    def truth(self, number):
        left, right = self.pairs[number - 1]
        kinds = self.table.kinds
        return "same" if kinds[left] == kinds[right] else "different"

    def truth_shown(self, page):
        """The true answer about the pair that the page shows."""
        shown = page.evaluate("document.getElementById('pair').dataset.question")
        return self.truth(int(shown))

    def question(self, number):
        left, right = self.pairs[number - 1]
        return {
            "question": number,
            "left": self.table.thing(left),
            "right": self.table.thing(right),
        }

    def item(self, number):
        answer = self.standing.get(number, {"said": None, "at": None, "number": 0})
        comment = self.comments.get(number)
        return self.question(number) | answer | {
            "who": self.name,
            "comment": comment,
            "edited": number in self.edited,
        }  # fmt: skip

    def hand(self, page, have, want):
        if self.waits > 0:
            self.waits -= 1
            return {"questions": [], "done": False, "waiting": True, "mine": 0}
        mine = self.leases.setdefault(page, [])
        given = [number for number in mine if number not in have]
        while len(given) + len(have) < want:
            if self.returned:
                number = self.returned.pop(0)
            elif self.next < len(self.pairs):
                self.next += 1
                number = self.next
            else:
                break
            mine.append(number)
            given.append(number)
        done = not given and not have and self.next >= len(self.pairs)
        questions = [self.question(number) for number in given]
        count = len(self.standing)
        return {"questions": questions, "done": done, "waiting": False, "mine": count}

    def keep(self, number, said):
        self.number += 1
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        self.standing[number] = {"said": said, "at": at, "number": self.number}

    def answer(self, page, given):
        if given["id"] not in self.requests:
            if self.refuse:
                refused = {"status": "refused", "reason": self.refuse}
                return {"id": given["id"]} | refused
            self.requests[given["id"]] = given
            number = given["question"]
            self.keep(number, given["said"])
            if given.get("comment"):
                self.comments[number] = given["comment"]
            if number in self.leases.get(page, []):
                self.leases[page].remove(number)
        return {"id": given["id"], "status": "saved"}

    def undo(self, page, request, number):
        if request not in self.requests:
            if not self.standing:
                return None
            newest = max(self.standing, key=lambda one: self.standing[one]["number"])
            number = number or newest
            said = self.standing.pop(number)["said"]
            self.leases.setdefault(page, []).append(number)
            question = {"question": self.question(number), "said": said}
            self.requests[request] = question
        return self.requests[request]

    def hello(self):
        return {
            "me": {"name": self.name, "owner": self.owner, "fixed": not self.owner},
            "points": self.table.name,
            "n_points": len(self.table.ids),
            "columns": self.table.columns,
            "id_column": "id",
            "mine": len(self.standing),
            "letters": True,
            "version": "0",
            "project": "fake",
            "order": self.table.order,
        }

    def progress(self):
        said = Counter(answer["said"] for answer in self.standing.values())
        curve = [
            {
                "n_answers": n,
                "expected_error": round(0.03 + 0.3 * 0.965**n, 4),
                "n_audits": n // 5,
                "n_wrong": n // 40,
            }
            for n in range(10, max(len(self.standing), 60) + 1, 5)
        ]
        kinds = np.array(self.table.kinds)
        groups = [
            {
                "key": str(kind),
                "name": self.names.get(str(kind)),
                "share": float(np.mean(kinds == kind)),
                "typical": np.flatnonzero(kinds == kind)[:3].tolist(),
            }
            for kind in sorted(set(self.table.kinds))
        ]
        newest = sorted(self.standing)[:5]
        rows = [row for group in groups for row in group["typical"]]
        return {
            "version": len(curve),
            "curve": curve,
            "certificate": {
                "error": 0.042,
                "low": 0.014,
                "high": self.high,
                "confidence": 0.95,
                "n_audits": 48,
                "sentence": "With 95 % confidence, the model is wrong about at most "
                f"{100 * self.high:.1f} % of random pairs, whenever you look.",
                "granted": ["Every answer is taken as right."],
            },
            "no_certificate": None,
            "advice": "About 40 more answers bring the error below 5 %.",
            "groups": groups,
            "suspicious": [
                {"question": number, "why": "The model is sure of the opposite."}
                for number in newest[3:5]
            ],
            "contradictions": [newest[:3]] if len(newest) > 2 else [],
            "columns": self.table.order or [],
            "seconds": 0.1,
            "answers": {key: said[key] for key in ("same", "different", "unsure")},
            "people": [
                {"name": self.name, "n": len(self.standing)},
                *(
                    {"name": who, "n": 7} | self.rates.get(who, {})
                    for who in self.others
                ),
            ],
            "agreement": self.agreement(newest),
            "warnings": self.warnings,
            "learning": False,
            "things": {str(row): self.table.thing(row) for row in rows},
        }

    def agreement(self, newest):
        if not self.others:
            return None
        return {
            "sentences": ["Two people who answer the same pair agree in 88% of them."],
            "persons": {self.name: 0.875} | dict.fromkeys(self.others),
            "disagreements": [newest[:2]] if len(newest) > 1 else [],
        }

    def app(self):
        return Starlette(
            routes=[
                Route("/", self.on_page),
                Route("/static/{name}", self.on_static),
                Route("/media/{row:int}/{column:int}", self.on_media),
                Route("/files/{name}", self.on_file),
                Route("/api/{path:path}", self.on_api, methods=["GET", "POST"]),
            ]
        )

    async def on_page(self, _request):
        return FileResponse(STATIC / "index.html", headers=self.headers())

    async def on_static(self, request):
        return FileResponse(
            STATIC / request.path_params["name"], headers=self.headers()
        )

    async def on_media(self, request):
        place = request.path_params["row"], request.path_params["column"]
        kind, body = self.table.files[place]
        return Response(body, media_type=kind, headers=self.headers())

    async def on_file(self, request):
        rows = "\n".join(f"{point},benign" for point in self.table.ids)
        name = request.path_params["name"]
        attachment = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(f"id,class\n{rows}\n", headers=self.headers() | attachment)

    @staticmethod
    def headers():
        return {"Content-Security-Policy": POLICY, "Cache-Control": "no-store"}

    async def on_api(self, request):
        path = request.path_params["path"]
        body = await request.json() if request.method == "POST" else {}
        self.seen.append((path, body))
        if request.method == "POST" and request.headers.get("X-Pairlearn") != "1":
            return JSONResponse({"error": "The header is missing."}, 403)
        if self.ended:
            sentence = "Your invitation has been ended by an owner of this page."
            return JSONResponse({"error": sentence, "ended": True}, 401)
        if not self.session:
            return JSONResponse({"error": "Open the link again."}, 401)
        status, reply = self.reply(path, body, request.query_params)
        if path == "answers" and self.lose_replies > 0:
            self.lose_replies -= 1
            status, reply = 503, {"error": "The reply was lost."}
        return JSONResponse(reply, status, headers=self.headers())

    def reply(self, path, body, query):
        page = body.get("page")
        head, _, rest = path.partition("/")
        match head:
            case "hello":
                return 200, self.hello()
            case "me":
                self.name = body["name"]
                return 200, self.hello()
            case "questions":
                return 200, self.hand(page, body["have"], body["want"])
            case "answers":
                results = [self.answer(page, given) for given in body["answers"]]
                hand = self.hand(page, body["have"], body["want"])
                return 200, {"results": results} | hand
            case "undo":
                undone = self.undo(page, body["id"], body.get("question"))
                if undone is None:
                    return 404, {"error": "There is no answer to take back."}
                return 200, undone
            case "edit" | "comment":
                if body["id"] not in self.requests:
                    self.requests[body["id"]] = body
                    number = body["question"]
                    if head == "edit":
                        self.keep(number, body["said"])
                        self.edited.add(number)
                    else:
                        self.comments[number] = body["text"]
                return 200, {"saved": True}
            case "history":
                return 200, self.history(query)
            case "question":
                return 200, self.item(int(rest))
            case "progress":
                return 200, self.progress()
            case "names":
                self.names = {one["key"]: one["name"] for one in body["names"]}
                return 200, {"saved": True}
            case "files":
                return 200, self.made(body.get("what"))
            case "people":
                return 200, {"links": self.links[::-1], "here_only": True}
            case "invite" | "link" | "revoke" | "trail":
                return getattr(self, f"on_{head}")(body, query)
            case "cell":
                row, column = (int(part) for part in rest.split("/"))
                return 200, {"text": self.table.whole[row, column]}
        return 404, {"error": "There is no such address."}

    def note(self, text, about=None):
        self.number += 1
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = {"number": self.number, "at": at, "who": self.name, "text": text}
        self.trail.append(line | {"about": about})
        return at

    def add_link(self, name, role="annotator", by="Ann", n=0, **more):
        at = self.note(f"{by} invited {name} as {role}.", name)
        seen = at if n else None
        self.links.append(
            {"id": f"k{len(self.links)}", "name": name, "role": role, "at": at}
            | {"by": by, "ended_at": None, "ended_by": None, "stands": True}
            | {"n": n, "seen": seen, "mine": False}
            | more
        )
        return self.links[-1]

    def link_of(self, one):
        link = f"http://127.0.0.1/?token={one['name']}.{one['id']}"
        about = {"invitation": one["id"], "name": one["name"], "role": one["role"]}
        return {"link": link, "here_only": True} | about

    def on_invite(self, body, _query):
        return 200, self.link_of(self.add_link(body["name"], body["role"]))

    def on_link(self, body, _query):
        one = next(one for one in self.links if one["id"] == body["invitation"])
        self.note(f"Ann had the link of {one['name']} shown again.", one["name"])
        return 200, self.link_of(one)

    def on_revoke(self, body, _query):
        at = self.note(f"Ann revoked the link of {body['name']}.", body["name"])
        for one in self.links:
            if (one["id"], one["name"]) == (body["invitation"], body["name"]):
                one |= {"stands": False, "ended_at": at, "ended_by": "Ann"}
        return 200, {"saved": True}

    def on_trail(self, _body, query):
        who, before = query.get("who", ""), int(query.get("before", 10**9))
        found = [
            line
            for line in reversed(self.trail)
            if line["number"] < before and who in ("", line["who"], line["about"])
        ]
        limit = int(query.get("limit", 50))
        people = sorted({line["about"] for line in self.trail} - {None} | {"Ann"})
        return 200, {
            "items": found[:limit], "more": len(found) > limit, "people": people
        }  # fmt: skip

    def made(self, what):
        if what is None:
            for one in self.files:
                self.files[one] = {"state": "ready", "url": f"/files/{one}.csv"}
            return self.files
        self.files[what] = {"state": "working"}
        return self.files[what]

    def history(self, query):
        sought = query.get("search", "").lower()
        before = int(query.get("before", 10**9))
        limit = int(query.get("limit", 50))
        items = sorted(map(self.item, self.standing), key=lambda one: -one["number"])
        found = [
            one
            for one in items
            if one["number"] < before
            and sought
            in f"{one['left']['id']} {one['right']['id']} {one['comment']}".lower()
        ]
        return {"items": found[:limit], "more": len(found) > limit}


class Served:
    """A server in a thread, on a port of its own that it keeps when it starts again."""

    def __init__(self, fake):
        self.fake = fake
        self.port = 0
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/"

    def start(self):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        listener.listen(64)
        self.port = listener.getsockname()[1]
        config = uvicorn.Config(
            self.fake.app(),
            log_level="error",
            lifespan="off",
            ws="none",
            loop="asyncio",
            timeout_graceful_shutdown=1,
        )
        self.server = uvicorn.Server(config)
        self.listener = listener
        self.thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [listener]}, daemon=True
        )
        self.thread.start()

    def stop(self):
        self.server.should_exit = True
        self.thread.join(30)
        assert not self.thread.is_alive()
        self.listener.close()
