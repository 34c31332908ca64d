"""The addresses of the page: what they give, and what they refuse."""

import json

import pytest

from pairlearn.label.values import Given, Person
from pairlearn.label.web.bodies import LARGEST_BODY
from pairlearn.label.web.static_files import StaticFiles
from tests.support.fake_desk import HOST, Site, raw_call

HAND = {"page": "tab", "have": [], "want": 2}
ANSWER = {"id": "a1", "question": 0, "said": "different"}


class TestAnswering:
    def test_hello_tells_what_the_page_needs(self, site):
        told = site.get("/api/hello").json()
        assert told["me"] == {"name": "Ann", "owner": True, "fixed": False}
        assert told["points"] == "points.csv"
        assert told["n_points"] == 30
        assert told["id_column"] == "id"
        size, colour = told["columns"]
        assert (size["name"], size["kind"]) == ("size", "number")
        assert size["range"][0] < size["range"][1]
        assert colour == {"name": "colour", "kind": "category"}
        assert told["order"] == [1, 0]
        assert told["letters"] is True
        assert told["project"]

    def test_questions_show_both_points(self, site):
        told = site.post("/api/questions", HAND).json()
        assert told["questions"][0] == {
            "question": 0,
            "left": {"row": 0, "id": "p0", "cells": ["0.5", "red"]},
            "right": {"row": 1, "id": "p1", "cells": ["1.5", "blue"]},
        }
        assert (told["done"], told["waiting"], told["mine"]) == (False, False, 0)

    def test_answers_reach_the_desk_as_plain_values(self, site):
        site.post("/api/questions", HAND)
        given = ANSWER | {"comment": "a\0b\ud800", "seconds": 2, "rows": [1, 0]}
        body = HAND | {"answers": [given], "have": [1], "want": 3}
        told = site.post("/api/answers", body).json()
        assert told["results"] == [{"id": "a1", "status": "saved"}]
        assert [each["question"] for each in told["questions"]] == [2, 3]
        assert told["mine"] == 1
        (call,) = [call for call in site.desk.calls if call[0] == "answer"]
        assert call[1:3] == (Person("Ann", owner=True), "tab")
        assert call[3] == [Given("a1", 0, -1, "a\ufffdb\ufffd", 2.0, (1, 0))]

    def test_a_replay_is_saved_once(self, site):
        site.post("/api/questions", HAND)
        for _ in range(3):
            told = site.post("/api/answers", HAND | {"answers": [ANSWER]}).json()
            assert told["results"] == [{"id": "a1", "status": "saved"}]
            assert told["mine"] == 1
        assert site.desk.said == {0: (-1, "Ann")}

    def test_what_the_desk_refuses_is_told(self, site):
        answers = [ANSWER | {"question": 999}]
        told = site.post("/api/answers", HAND | {"answers": answers, "want": 0}).json()
        assert told["results"][0]["status"] == "refused"
        assert told["results"][0]["reason"] == "There is no such question."
        undone = site.post("/api/undo", {"page": "tab", "id": "u"})
        assert undone.status_code == 409
        assert undone.json() == {"error": "There is no answer to take back."}

    def test_undo_edit_comment_history_and_question(self, site):
        site.post("/api/questions", HAND)
        site.post("/api/answers", HAND | {"answers": [ANSWER]})
        edit = {"id": "e", "question": 0, "said": "unsure"}
        assert site.post("/api/edit", edit).json() == {"saved": True}
        comment = {"id": "c", "question": 0, "text": "hm"}
        assert site.post("/api/comment", comment).json() == {"saved": True}
        told = site.get("/api/history?search=x&before=9&limit=5&everyone=1").json()
        assert told["more"] is False
        (item,) = told["items"]
        assert (item["said"], item["who"], item["number"]) == ("unsure", "Ann", 0)
        assert item["left"]["id"] == "p0"
        assert site.desk.calls[-1][2:] == ("x", 9, 5, True)
        one = site.get("/api/question/0").json()
        assert (one["question"], one["said"]) == (0, "unsure")
        undone = site.post("/api/undo", {"page": "tab", "id": "u", "question": None})
        assert undone.json()["said"] == "unsure"
        assert undone.json()["question"]["question"] == 0

    def test_a_single_question_is_for_its_person_and_the_owner(self, site):
        site.post("/api/questions", HAND)
        site.post("/api/answers", HAND | {"answers": [ANSWER]})
        bob = site.cookie("Bob", owner=False)
        assert site.get("/api/question/0", cookie=bob).status_code == 404
        for path in ("-1", "x", "9" * 5000, "1.5", "%D9%A1", ""):
            assert site.get(f"/api/question/{path}").status_code == 404


class TestOwning:
    def test_progress_brings_the_things_it_names(self, site):
        site.desk.panel = {
            "groups": [{"key": 0, "name": None, "share": 0.5, "typical": [3, 4]}],
            "certificate": {"error": float("nan")},
            "curve": [{"n_answers": 3, "expected_error": float("inf")}],
        }
        told = site.get("/api/progress").json()
        assert set(told["things"]) == {"3", "4"}
        assert told["things"]["3"]["id"] == "p3"
        assert told["certificate"] == {"error": None}
        assert told["curve"][0]["expected_error"] is None

    def test_names_of_groups(self, site):
        names = [{"key": 0, "name": "  good   ones "}, {"key": "b", "name": ""}]
        assert site.post("/api/names", {"id": "n", "names": names}).json()["saved"]
        assert site.desk.calls[-1][3] == [
            {"key": 0, "name": "good ones"},
            {"key": "b", "name": ""},
        ]

    def test_files(self, site):
        assert site.post("/api/files", {"what": "model"}).json() == {"state": "working"}
        assert site.get("/api/files").json() == {"model": {"state": "none"}}
        assert site.get("/files/model.skops").status_code == 404
        for name in ("answers.sqlite", "..%2Fpoints.csv", "points.csv", "%2e%2e"):
            assert site.get(f"/files/{name}").status_code == 404
        pairs = site.get("/files/pairs.csv")
        assert pairs.text == "left,right,answer\n"
        assert 'filename="pairs.csv"' in pairs.headers["content-disposition"]

    def test_an_invitation_lets_that_person_in(self, site):
        told = site.post("/api/invite", {"name": " Zoë  B "}).json()
        link = told["link"]
        assert told["here_only"] is True
        assert link.startswith(f"http://{HOST}/?token=")
        response = site.get(link.removeprefix(f"http://{HOST}"), cookie={})
        cookie = {"Cookie": response.headers["set-cookie"].partition(";")[0]}
        assert site.get("/api/hello", cookie=cookie).json()["me"]["name"] == "Zoë B"

    @pytest.mark.parametrize("name", ["", "  ", "a" * 81, "a\0", "\ud800", "\u200b"])
    def test_a_name_that_is_none_is_refused(self, site, name):
        sent = json.dumps({"name": name})
        for path in ("/api/me", "/api/invite"):
            response = site.call(
                "POST", path, content=sent, headers={"Content-Type": "application/json"}
            )
            # What cannot be stored becomes a sign that can be seen.
            proper = name in ("a\0", "\ud800")
            assert response.status_code == (200 if proper else 400), path


BAD_BODIES = [
    b"", b"{", b"[]", b"null", b'"x"', b"{}", b"\xff\xfe", b'{"page":"a"}',
    b'{"page":"a","page":"b","have":[],"want":1}',
    b'{"page":"a","have":[],"want":1,"more":1}',
    b'{"page":"a","have":[],"want":NaN}', b'{"page":"a","have":[],"want":Infinity}',
    b'{"page":"a","have":[],"want":1e400}', b'{"page":"a","have":[],"want":1.0}',
    b'{"page":"a","have":[],"want":true}', b'{"page":"a","have":[],"want":-1}',
    b'{"page":"a","have":[],"want":51}', b'{"page":"a","have":[],"want":"1"}',
    b'{"page":"a","have":[],"want":' + b"9" * 4000 + b"}",
    b'{"page":"a","have":[],"want":' + b"9" * 5000 + b"}",
    b'{"page":"a","have":{},"want":1}', b'{"page":"a","have":["x"],"want":1}',
    b'{"page":"a","have":[' + b"1," * 300 + b'1],"want":1}',
    b'{"page":"","have":[],"want":1}', b'{"page":5,"have":[],"want":1}',
    b'{"page":"a/b","have":[],"want":1}', b'{"page":"a\\u0000","have":[],"want":1}',
    b'{"page":"' + b"a" * 65 + b'","have":[],"want":1}',
    b"[" * 30_000, b"[" * 30_000 + b"]" * 30_000, b'{"a":' * 10_000,
    b'{"page":"a","have":[],"want":1}x',
]  # fmt: skip


class TestBodies:
    @pytest.mark.parametrize("body", BAD_BODIES, ids=lambda body: repr(body[:40]))
    def test_a_body_that_is_not_proper_is_told_and_changes_nothing(self, site, body):
        response = site.call(
            "POST",
            "/api/questions",
            content=body,
            headers={"Content-Type": "application/json"},
        )
        assert response.status_code == 400
        assert len(response.json()["error"]) < 300
        assert site.desk.calls == []
        assert len(site.log.lines) == 1

    @pytest.mark.parametrize(
        "change",
        [
            {"id": ""}, {"id": "a/1"}, {"id": "x" * 65}, {"id": None}, {"said": 1},
            {"said": "Same"}, {"said": None}, {"question": -1}, {"question": "0"},
            {"question": 2**60}, {"question": 0.5}, {"seconds": -1}, {"seconds": 1e9},
            {"seconds": 10**400}, {"seconds": "1"}, {"comment": 5},
            {"rows": [1]}, {"rows": [1, -2]}, {"rows": "12"},
            {"comment": "x" * 4001}, {"strange": 1},
        ],
        ids=str,
    )  # fmt: skip
    def test_an_answer_that_is_not_proper_is_told(self, site, change):
        answers = [ANSWER, ANSWER | change]
        response = site.post("/api/answers", HAND | {"answers": answers})
        assert response.status_code == 400
        assert site.desk.calls == []

    @pytest.mark.parametrize("answers", [[], [ANSWER] * 101, {}, [1], [[]], "x"])
    def test_answers_are_a_list(self, site, answers):
        response = site.post("/api/answers", HAND | {"answers": answers})
        assert response.status_code == 400
        assert site.desk.calls == []

    @pytest.mark.parametrize(
        "kind",
        [None, "", "text/plain", "application/x-www-form-urlencoded",
         "multipart/form-data; boundary=x", "application/jsonx"],
    )  # fmt: skip
    def test_a_form_of_another_site_is_no_json(self, site, kind):
        body = json.dumps(HAND).encode()
        headers = {} if kind is None else {"Content-Type": kind}
        response = site.call("POST", "/api/questions", content=body, headers=headers)
        assert response.status_code == 415
        assert site.desk.calls == []

    def test_a_body_that_says_it_is_too_large_is_not_read(self, site):
        scope = self.scope(site, [(b"content-length", b"%d" % (LARGEST_BODY + 1))])
        unread = [{"type": "http.request", "body": b"{}", "more_body": False}]
        sent, left = raw_call(site.app, scope, unread)
        assert sent[0]["status"] == 413
        assert left == unread
        assert site.desk.calls == []

    def test_a_body_that_grows_too_large_is_not_read_to_its_end(self, site):
        piece = {"type": "http.request", "body": b" " * 10_000, "more_body": True}
        sent, left = raw_call(site.app, self.scope(site), [piece] * 100)
        assert sent[0]["status"] == 413
        assert b"64 KB" in sent[1]["body"]
        assert len(left) == 100 - 7
        assert site.desk.calls == []

    def test_a_body_that_breaks_off_changes_nothing(self, site):
        body = json.dumps(HAND).encode()
        piece = {"type": "http.request", "body": body, "more_body": True}
        sent, _ = raw_call(site.app, self.scope(site), [piece])
        assert sent[0]["status"] == 400
        assert site.desk.calls == []

    def test_the_largest_body_is_taken(self, site):
        body = json.dumps(HAND).encode().ljust(LARGEST_BODY)
        response = site.call(
            "POST",
            "/api/questions",
            content=body,
            headers={"Content-Type": "application/json; charset=utf-8"},
        )
        assert response.status_code == 200

    def scope(self, site, more=()):
        headers = {"Host": HOST, "X-Pairlearn": "1", "Content-Type": "application/json"}
        headers |= site.cookie()
        sent = [(n.lower().encode(), v.encode()) for n, v in headers.items()]
        return {
            "type": "http",
            "method": "POST",
            "path": "/api/questions",
            "query_string": b"",
            "headers": [*sent, *more],
        }

    @pytest.mark.parametrize(
        "query",
        ["limit=0", "limit=201", "limit=x", "limit=-1", "before=x", "everyone=2",
         "strange=1", "before=" + "9" * 5000, "search=" + "x" * 201, "limit=%D9%A1"],
    )  # fmt: skip
    def test_a_query_that_is_not_proper_is_told(self, site, query):
        assert site.get(f"/api/history?{query}").status_code == 400
        assert site.desk.calls == []


class TestStatic:
    def test_files_have_types_and_are_asked_for_again(self, tmp_path):
        static = tmp_path / "static"
        static.mkdir()
        (static / "index.html").write_text("<!doctype html>")
        (static / "app.js").write_text("1")
        (static / "secret.txt").write_text("no")
        site = Site(tmp_path, static=static)
        page = site.get("/")
        assert page.text == "<!doctype html>"
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.headers["cache-control"] == "no-store"
        script = site.get("/static/app.js", cookie={})
        assert script.headers["content-type"] == "text/javascript; charset=utf-8"
        assert script.headers["cache-control"] == "no-cache"
        known = {"If-None-Match": script.headers["etag"]}
        assert site.get("/static/app.js", headers=known).status_code == 304
        assert site.get("/static/secret.txt").status_code == 404

    @pytest.mark.parametrize(
        "path",
        ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "....//app.py", "..%5capp.py",
         "%2fetc%2fpasswd", "/etc/passwd", "app.js%00.png", "..%252fapp.py", "",
         "index.html/"],
    )  # fmt: skip
    def test_no_path_leads_out(self, site, path):
        response = site.get(f"/static/{path}")
        assert response.status_code == 404
        assert "import" not in response.text

    def test_nothing_that_is_served_names_another_host(self):
        files = StaticFiles()._files
        for name, (content, kind, _) in files.items():
            if kind.startswith("image/") and not kind.startswith("image/svg"):
                continue
            text = content.decode().replace("http://www.w3.org/", "")
            for sign in ("http://", "https://", "ws://", "wss://", 'src="//'):
                assert sign not in text, (name, sign)
