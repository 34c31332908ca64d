"""A page without a browser: it answers as fast as the server lets it.

A connection of its own that is kept open, and nothing but what the page needs of HTTP,
so that many clients leave the processor to the server.
"""

import asyncio
import json
import time
import uuid
from urllib.parse import urlsplit

__all__ = ["Client", "LostConnectionError"]


class LostConnectionError(ConnectionError):
    """The server went away in the middle of a request."""


class Client:
    """Somebody who answers.

    Parameters
    ----------
    link : str
        The link that this person was given.
    said : callable
        What this person says of a question, given the row numbers of its two points:
        "same", "different" or "unsure".
    ahead : int
        How many questions the page has ready; as many as that in a browser.

    Attributes
    ----------
    saved : dict
        What was said in each answer that the server has acknowledged: the question and
        the word, by the id of the answer.
    seconds : list of float
        How long it took, from each answer on, until it was acknowledged and the next
        question was there.
    errors : list of str
        What the server refused.
    n_unavailable : int
        How often it said that it could not keep anything for the moment (503).
    done : bool
        Whether nothing is left to answer.
    """

    def __init__(self, link, said, ahead=4):
        parts = urlsplit(link)
        self.host, self.port = parts.hostname, parts.port
        self.link = f"{parts.path or '/'}?{parts.query}"
        self.said, self.ahead = said, ahead
        self.page, self.cookie = uuid.uuid4().hex, None
        self.have, self.pending, self.begin = [], None, None
        self.saved, self.seconds, self.errors = {}, [], []
        self.done, self.n_unavailable = False, 0
        self.reader = self.writer = None

    async def request(self, method, path, body=None):
        """Return status, headers and content of a reply."""
        data = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}:{self.port}"]
        if self.cookie:
            lines.append(f"Cookie: {self.cookie}")
        if body is not None:
            lines += ["Content-Type: application/json", "X-Pairlearn: 1"]
            lines += [f"Origin: http://{self.host}:{self.port}"]
            lines += [f"Content-Length: {len(data)}"]
        try:
            if self.writer is None:
                self.reader, self.writer = await asyncio.open_connection(
                    self.host, self.port
                )
            self.writer.write("\r\n".join([*lines, "", ""]).encode() + data)
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            status, *rest = head.split("\r\n")
            headers = [line.partition(": ")[::2] for line in rest if line]
            headers = {name.lower(): value for name, value in headers}
            length = int(headers.get("content-length", 0))
            content = await self.reader.readexactly(length)
        except (OSError, EOFError, asyncio.LimitOverrunError) as problem:
            self.close()
            raise LostConnectionError(str(problem)) from None
        if headers.get("connection", "").lower() == "close":
            self.close()
        return int(status.split()[1]), headers, content

    def close(self):
        """Close the connection."""
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None

    def go_to(self, port):
        """Go on at another process, as a proxy leads there."""
        self.close()
        self.port = port

    async def enter(self):
        """Open the link, and keep the cookie that comes with it."""
        status, headers, _ = await self.request("GET", self.link)
        if status == 503:
            raise LostConnectionError("the database is away")
        if status != 303:
            raise RuntimeError(f"the link leads to {status}")
        self.cookie = headers["set-cookie"].partition(";")[0]

    async def _post(self, path, **body):
        """Return the reply to a request of the page; None if it was refused."""
        body |= {"page": self.page, "want": self.ahead}
        body["have"] = [question["question"] for question in self.have]
        status, _, content = await self.request("POST", path, body)
        if status == 503:
            self.n_unavailable += 1
            return None
        if status != 200:
            self.errors.append(f"{path}: {status} {content[:200]!r}")
            return None
        reply = json.loads(content)
        known = {question["question"] for question in self.have}
        self.have += [q for q in reply["questions"] if q["question"] not in known]
        self.done = reply["done"] and not self.have
        return reply

    def _look_at_clock(self):
        """Note the time since the last answer, if there is a next question."""
        if self.have and self.begin is not None:
            self.seconds.append(time.perf_counter() - self.begin)
            self.begin = None

    async def step(self):
        """Answer one question, or ask for some; try again after a lost connection.

        An answer that may not have arrived is sent again with the same id.
        """
        if self.pending is None and not self.have:
            reply = await self._post("/api/questions")
            self._look_at_clock()
            if not self.have and not self.done:
                # Questions are being chosen; the page looks again in a moment, too.
                await asyncio.sleep(0.05 if reply else 0.5)
            return
        if self.pending is None:
            question = self.have.pop(0)
            rows = question["left"]["row"], question["right"]["row"]
            self.pending = {
                "id": uuid.uuid4().hex,
                "question": question["question"],
                "said": self.said(*rows),
                "seconds": 0.5,
            }
        answer, self.begin = self.pending, time.perf_counter()
        reply = await self._post("/api/answers", answers=[answer])
        if reply is None:
            await asyncio.sleep(0.05)
            return
        self.pending = None
        self._look_at_clock()
        result = reply["results"][0]
        if result["id"] == answer["id"] and result["status"] == "saved":
            self.saved[answer["id"]] = answer["question"], answer["said"]
        else:
            self.errors.append(f"answer: {result}")
