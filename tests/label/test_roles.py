"""Every address by role: strangers, annotators, those who were revoked, and owners."""

import asyncio

import pytest

from pairlearn.label.values import Refused
from pairlearn.label.web.places import ANYBODY, EVERYBODY, OWNER, Place, place
from pairlearn.label.web.tickets import Tickets
from tests.support.fake_desk import Site
from tests.support.label_routes import routes

ROUTES = routes()
IDS = [f"{method} {path}" for method, path, _ in ROUTES]
# What is for those who answer; all else is for owners. To add an address here is a
# decision, and a new one that is in neither list fails.
FOR_ANNOTATORS = {
    "POST /api/answers", "POST /api/questions", "POST /api/undo", "POST /api/edit",
    "POST /api/comment", "GET /api/hello", "POST /api/me", "GET /api/history",
    "GET /api/question/{number}", "GET /api/cell/{row}/{column}",
    "GET /media/{row}/{column}", "GET /",
}  # fmt: skip
FOR_OWNERS = {
    "GET /api/progress", "POST /api/names", "POST /api/files", "GET /api/files",
    "GET /files/{name}", "GET /api/people", "POST /api/invite", "POST /api/link",
    "POST /api/revoke", "GET /api/trail",
}  # fmt: skip
QUESTIONS = {"page": "tab", "have": [], "want": 3}


def ask(site, method, path, cookie):
    for part in ("{number}", "{row}", "{column}"):
        path = path.replace(part, "0")
    path = path.replace("{name}", "pairs.csv").replace("{name:path}", "app.js")
    body = {"json": {}} if method == "POST" else {}
    return site.call(method, path, cookie=cookie, **body)


def untouched(site):
    return site.desk.calls == [] and site.files.made == []


def test_every_address_says_whom_it_is_for(site):
    assert ROUTES
    assert all(isinstance(each, Place) for each in site.app.app.routes)
    by_role = {role: set() for role in (EVERYBODY, ANYBODY, OWNER)}
    for method, path, role in ROUTES:
        by_role[role].add(f"{method} {path}")
    assert by_role[EVERYBODY] == {"GET /static/{name:path}"}
    assert by_role[ANYBODY] == FOR_ANNOTATORS
    assert by_role[OWNER] == FOR_OWNERS
    with pytest.raises(ValueError, match="no role"):
        place("GET", "/new", None, "")


@pytest.mark.parametrize(("method", "path", "role"), ROUTES, ids=IDS)
def test_strangers_get_the_files_of_the_page_alone(site, method, path, role):
    status = ask(site, method, path, {}).status_code
    assert status == (200 if role == EVERYBODY else 401)
    assert untouched(site)


@pytest.mark.parametrize(("method", "path", "role"), ROUTES, ids=IDS)
def test_annotators_get_what_is_theirs(site, method, path, role):
    made, bob = site.invited("Bob")
    # Signed by us, as if the role had been another one when the cookie was made.
    claims = site.cookie("Bob", owner=True, invitation=made.id)
    for cookie in (bob, claims):
        response = ask(site, method, path, cookie)
        if role == OWNER:
            assert response.status_code == 403
            assert "for the owners" in response.json()["error"]
            assert untouched(site)
            assert site.desk.noted() == ["invite"]
        else:
            assert is_let_in(response, path)


@pytest.mark.parametrize(("method", "path", "role"), ROUTES, ids=IDS)
@pytest.mark.parametrize("invited_as", ["annotator", "owner"])
def test_those_who_were_revoked_get_nothing(site, method, path, role, invited_as):
    made, bob = site.invited("Bob", invited_as)
    if invited_as == "owner":
        assert is_let_in(ask(site, method, path, bob), path)
        site.desk.calls.clear()
        site.files.made.clear()
    revoke(site, made)
    response = ask(site, method, path, bob)
    if role == EVERYBODY:
        assert response.status_code == 200
        return
    assert response.status_code == 401
    assert "has been ended by an owner" in response.text
    assert path == "/" or response.json()["ended"] is True
    assert untouched(site)


def is_let_in(response, path):
    # To take another name is refused by the address itself.
    refused = (401, 405) if path == "/api/me" else (401, 403, 405)
    return response.status_code not in refused


def revoke(site, invitation, by="Ann"):
    asyncio.run(site.desk.members.revoke(by, invitation.id, invitation.name, "r1"))


class TestLinks:
    def enter(self, site, link):
        response = site.get(link.partition(":8765")[2], cookie={})
        cookie = response.headers.get("set-cookie", "").partition(";")[0]
        return response, {"Cookie": cookie}

    def test_from_the_invitation_to_its_end(self, site):
        made = site.post("/api/invite", {"name": " Bob ", "role": "annotator"}).json()
        assert (made["name"], made["role"]) == ("Bob", "annotator")
        again = site.post("/api/link", {"invitation": made["invitation"]}).json()
        assert again["link"] == made["link"]
        _, bob = self.enter(site, made["link"])
        me = site.get("/api/hello", cookie=bob).json()["me"]
        assert me == {"name": "Bob", "owner": False, "fixed": True}
        assert site.post("/api/questions", QUESTIONS, cookie=bob).status_code == 200
        assert site.desk.calls[0][1].invitation == made["invitation"]

        (listed,) = site.get("/api/people").json()["links"]
        assert listed["stands"]
        assert (listed["name"], listed["by"]) == ("Bob", "Ann")

        end = {"id": "r1", "invitation": made["invitation"], "name": "Bob"}
        assert site.post("/api/revoke", end).json() == {"saved": True}
        refused = site.post("/api/questions", QUESTIONS, cookie=bob)
        assert refused.status_code == 401
        assert refused.json()["ended"] is True
        page, _ = self.enter(site, made["link"])
        assert page.status_code == 401
        assert "Your invitation has ended" in page.text
        assert "set-cookie" not in page.headers
        assert site.get("/", cookie=bob).status_code == 401
        (listed,) = site.get("/api/people").json()["links"]
        assert not listed["stands"]
        assert listed["ended_by"] == "Ann"
        link = site.post("/api/link", {"invitation": made["invitation"]})
        assert link.status_code == 404

        lines = site.get("/api/trail").json()["items"]
        assert [line["text"] for line in lines] == [
            "Ann revoked the link of Bob.",
            "Ann had the link of Bob shown again.",
            "Ann invited Bob as annotator.",
        ]
        # A new link for the same name is another one.
        second = site.post("/api/invite", {"name": "Bob"}).json()
        assert second["link"] != made["link"]
        assert self.enter(site, second["link"])[0].status_code == 303
        assert self.enter(site, made["link"])[0].status_code == 401

    def test_a_link_of_an_earlier_version_holds_until_the_name_is_revoked(self, site):
        link = f"/?token={site.tickets.invitation(None, 'Bob')}"
        cookie = site.get(link, cookie={}).headers["set-cookie"].partition(";")[0]
        bob = {"Cookie": cookie}
        assert site.post("/api/questions", QUESTIONS, cookie=bob).status_code == 200
        other = site.cookie("Carl", owner=False)
        end = {"id": "r1", "invitation": None, "name": "Bob"}
        assert site.post("/api/revoke", end).status_code == 200
        assert site.post("/api/questions", QUESTIONS, cookie=bob).status_code == 401
        assert site.get(link, cookie={}).status_code == 401
        assert site.post("/api/questions", QUESTIONS, cookie=other).status_code == 200

    def test_an_id_that_nobody_made_is_worth_nothing(self, site):
        site.invited("Bob")
        for name, id_ in [("Bob", "unknown"), ("Eve", site.invited("Bob")[0].id)]:
            # Properly signed: as if the log had been put back to an older copy.
            link = f"/?token={site.tickets.invitation(id_, name)}"
            assert site.get(link, cookie={}).status_code == 403
            cookie = site.cookie(name, owner=True, invitation=id_)
            assert site.get("/api/progress", cookie=cookie).status_code == 401

    def test_another_owner_may_not_end_the_own_link_nor_take_another_name(self, site):
        made, eve = site.invited("Eve", "owner")
        end = {"id": "r1", "invitation": made.id, "name": "Eve"}
        refused = site.post("/api/revoke", end, cookie=eve)
        assert refused.status_code == 409
        assert site.get("/api/people", cookie=eve).json()["links"][0]["mine"] is True
        assert site.post("/api/me", {"name": "Ann"}, cookie=eve).status_code == 403
        assert site.post("/api/revoke", end).status_code == 200

    @pytest.mark.parametrize(
        "end",
        [
            {"invitation": "nobody", "name": "Bob"},
            {"invitation": "right", "name": "Eve"},
        ],
    )
    def test_what_is_not_there_cannot_be_revoked(self, site, end):
        made, bob = site.invited("Bob")
        if end["invitation"] == "right":
            end = end | {"invitation": made.id}
        assert site.post("/api/revoke", end | {"id": "r1"}).status_code == 404
        assert site.get("/api/hello", cookie=bob).status_code == 200

    def test_revoking_twice_is_revoking_once(self, site):
        made, _ = site.invited("Bob")
        end = {"id": "r1", "invitation": made.id, "name": "Bob"}
        for request in ("r1", "r2"):
            assert site.post("/api/revoke", end | {"id": request}).status_code == 200
        assert site.desk.noted() == ["invite", "revoke"]

    def test_new_links_of_another_server_hold_here_too(self, tmp_path):
        async def renewed():
            return Tickets("7" * 64, project=site.tickets.project)

        site = Site(tmp_path, renewed=renewed)
        _, bob = site.invited("Bob")
        assert site.get("/api/hello", cookie=bob).status_code == 200
        owner = site.cookie()
        site.desk.clerk.note(None, "new_links", {}, None)
        for cookie in (bob, owner):
            assert site.get("/api/hello", cookie=cookie).status_code == 401
        old = site.tickets.owner_token
        assert site.get(f"/?token={old}", cookie={}).status_code == 403
        new = site.guard.tickets.owner_token
        assert site.get(f"/?token={new}", cookie={}).status_code == 303


def test_if_the_log_cannot_be_read_nobody_is_let_in(tmp_path):
    async def away():
        raise Refused("The database cannot be reached at the moment.", 503)

    site = Site(tmp_path)
    _, bob = site.invited("Bob")
    site.guard._invitations = away
    for path in ("/api/hello", "/", f"/?token={site.tickets.invitation('k1', 'Bob')}"):
        response = site.get(path, cookie=bob)
        assert response.status_code == 503
        assert "cannot be reached" in response.json()["error"]
    assert untouched(site)


def test_texts_and_pictures_of_other_points_are_not_shown(site):
    _, bob = site.invited("Bob")
    assert site.get("/api/cell/0/0", cookie=bob).status_code == 404
    assert site.get("/api/cell/0/0").status_code == 200
    site.post("/api/questions", QUESTIONS, cookie=bob)
    assert site.get("/api/cell/0/0", cookie=bob).status_code == 200
    for path in ("/api/cell/20/0", "/media/20/0"):
        refused = site.get(path, cookie=bob)
        assert refused.status_code == 404
        assert "on no page of yours" in refused.json()["error"]


class TestTrail:
    def test_downloads_are_noted_with_who_and_what(self, site):
        assert site.get("/files/pairs.csv").status_code == 200
        assert site.get("/files/report.html", cookie=site.cookie(None)).is_success
        assert site.get("/files/model.skops").status_code == 404
        assert site.call("HEAD", "/files/pairs.csv").status_code == 200
        texts = [line["text"] for line in site.get("/api/trail").json()["items"]]
        assert texts == [
            "The owner downloaded report.html.", "Ann downloaded pairs.csv."
        ]  # fmt: skip

    def test_it_comes_in_parts_and_of_one_person(self, site):
        for k in range(7):
            site.invited(f"P{k % 2}")
        first = site.get("/api/trail?limit=5").json()
        assert len(first["items"]) == 5
        assert first["more"]
        assert first["people"] == ["Ann", "P0", "P1"]
        last = first["items"][-1]["number"]
        rest = site.get(f"/api/trail?limit=5&before={last}").json()
        assert [line["number"] for line in rest["items"]] == [2, 1]
        assert not rest["more"]
        one = site.get("/api/trail?who=P1").json()
        assert len(one["items"]) == 3
        for query in ("limit=0", "limit=x", "before=-1", "other=1"):
            assert site.get(f"/api/trail?{query}").status_code == 400
