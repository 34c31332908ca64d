"""Who may come in, under which names, and from which pages."""

import pytest

from pairlearn.files.tables.errors import OptionError
from pairlearn.label.web.addresses import Addresses, is_loopback
from pairlearn.label.web.guard import CONTENT_POLICY
from pairlearn.label.web.refusals import RefusalLog
from pairlearn.label.web.tickets import Ticket, Tickets
from tests.support.fake_desk import HOST, SECRET, Lines, Site

QUESTIONS = {"page": "tab", "have": [], "want": 3}
# One address of each kind, and what it takes to ask for it.
EVERY_KIND = [
    ("GET", "/api/hello", None),
    ("GET", "/api/history", None),
    ("GET", "/api/question/0", None),
    ("GET", "/api/cell/0/0", None),
    ("GET", "/media/0/0", None),
    ("GET", "/api/progress", None),
    ("GET", "/api/files", None),
    ("GET", "/files/pairs.csv", None),
    ("GET", "/files/report.html", None),
    ("POST", "/api/me", {"name": "Bob"}),
    ("POST", "/api/questions", QUESTIONS),
    (
        "POST",
        "/api/answers",
        QUESTIONS | {"answers": [{"id": "a", "question": 0, "said": "same"}]},
    ),
    ("POST", "/api/undo", {"page": "tab", "id": "u"}),
    ("POST", "/api/edit", {"id": "e", "question": 0, "said": "same"}),
    ("POST", "/api/comment", {"id": "c", "question": 0, "text": "why"}),
    ("POST", "/api/names", {"id": "n", "names": []}),
    ("POST", "/api/files", {"what": "model"}),
    ("POST", "/api/invite", {"name": "Bob"}),
]
POSTS = [each for each in EVERY_KIND if each[0] == "POST"]


def ask(site, method, path, body, **more):
    return site.call(method, path, **({} if body is None else {"json": body}), **more)


def assert_untouched(site):
    assert site.desk.calls == []
    assert site.files.made == []


class TestTokens:
    def test_a_token_becomes_a_cookie_and_leaves_the_address(self, site):
        link = f"/?token={site.tickets.owner_token}"
        response = site.get(link, cookie={})
        assert response.status_code == 303
        assert response.headers["location"] == "/"
        cookie = response.headers["set-cookie"]
        for words in ("HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="):
            assert words in cookie
        assert "Secure" not in cookie
        assert site.tickets.owner_token not in str(response.headers)
        kept = {"Cookie": cookie.partition(";")[0]}
        me = site.get("/api/hello", cookie=kept).json()["me"]
        assert me == {"name": None, "owner": True, "fixed": False}

    def test_an_invitation_is_for_one_name_and_not_for_the_owner(self, site):
        link = f"/?token={site.tickets.invitation(None, 'Bob')}"
        cookie = site.get(link, cookie={}).headers["set-cookie"].partition(";")[0]
        bob = {"Cookie": cookie}
        me = site.get("/api/hello", cookie=bob).json()["me"]
        assert me == {"name": "Bob", "owner": False, "fixed": True}
        refused = site.post("/api/me", {"name": "Ann"}, cookie=bob)
        assert refused.status_code == 403
        assert "set-cookie" not in refused.headers

    def test_an_invitation_is_worth_nothing_under_another_name(self, site):
        bob, ann = (site.tickets.invitation(None, name) for name in ("Bob", "Ann"))
        forged = ann.partition(".")[0] + "." + bob.partition(".")[2]
        assert site.tickets.of_token(forged) is None
        response = site.get(f"/?token={forged}", cookie={})
        assert response.status_code == 403
        assert "set-cookie" not in response.headers

    @pytest.mark.parametrize(
        "token", ["", "x", ".", "%00", "ÿ", "a" * 5000, "e30.e30", "A.B.C", "%F0%9F"]
    )
    def test_a_wrong_token_is_told_in_plain_words_and_slowed_down(self, site, token):
        response = site.get(f"/?token={token}&x=1", cookie={})
        assert response.status_code in (401, 403)
        assert "set-cookie" not in response.headers
        assert "ink" in response.text
        assert "<script" not in response.text
        assert len(site.log.lines) == 1

    def test_the_more_wrong_ones_the_longer_the_wait_but_right_ones_wait_for_none(
        self, site
    ):
        for _ in range(30):
            assert site.get("/?token=wrong", cookie={}).status_code == 403
        assert site.pauses == sorted(site.pauses)
        assert site.pauses[0] > 0
        assert site.pauses[-1] > site.pauses[0]
        n = len(site.pauses)
        right = f"/?token={site.tickets.owner_token}"
        assert site.get(right, cookie={}).status_code == 303
        assert len(site.pauses) == n

    def test_a_token_for_once_works_once(self, site):
        link = f"/?token={site.guard.token_for_once()}"
        assert site.get(link, cookie={}).status_code == 303
        assert site.get(link, cookie={}).status_code == 403

    def test_whoever_comes_without_a_link_is_told_what_to_do(self, site):
        response = site.get("/", cookie={})
        assert response.status_code == 401
        assert "printed in the terminal" in response.text
        assert "text/html" in response.headers["content-type"]
        policy = response.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")

    def test_a_link_in_a_mail_gets_a_step_of_our_own(self, site):
        # Over a redirect that began elsewhere the browser would hold the cookie back.
        elsewhere = {"Sec-Fetch-Site": "cross-site"}
        link = f"/?token={site.tickets.owner_token}"
        response = site.get(link, cookie={}, headers=elsewhere)
        assert response.status_code == 200
        assert "set-cookie" in response.headers
        assert 'http-equiv="refresh" content="0; url=/"' in response.text
        assert site.tickets.owner_token not in response.text
        again = site.get("/", cookie={}, headers=elsewhere)
        assert again.status_code == 200
        assert "refresh" in again.text
        assert "set-cookie" not in again.headers

    def test_tokens_are_not_in_the_log(self, site):
        token = site.tickets.invitation(None, "Bob")
        site.get(f"/?token={token}x", cookie={})
        site.get(f"/api/hello?token={token}", cookie={})
        assert len(site.log.lines) == 2
        assert not any(token[:20] in line for line in site.log.lines)


class TestCookies:
    def forged(self):
        real = Tickets(SECRET).cookie(Ticket("Ann", owner=True))
        said, _, signature = real.partition(".")
        other = Tickets("6" * 64).cookie(Ticket("Ann", owner=True))
        bob = Tickets(SECRET).cookie(Ticket("Bob", owner=False))
        return [
            "", ".", said, f"{said}.", f"{said}.{signature[:-2]}", f"{said}.AAAA",
            other,
            f"{said}.{bob.partition('.')[2]}", f"{bob.partition('.')[0]}.{signature}",
            "é.é", "a" * 3000, Tickets(SECRET).owner_token,
            Tickets(SECRET).invitation(None, "Ann"),
        ]  # fmt: skip

    @pytest.mark.parametrize(("method", "path", "body"), EVERY_KIND)
    def test_nothing_is_done_for_those_who_are_not_known(
        self, site, method, path, body
    ):
        for headers in ({}, {"Cookie": "other=1"}):
            response = ask(site, method, path, body, cookie=headers)
            assert response.status_code == 401
            assert "link" in response.json()["error"]
        assert_untouched(site)

    def test_a_forged_cookie_is_none(self, site):
        name = site.tickets.cookie_name
        for value in self.forged():
            cookie = {"Cookie": f"{name}={value}".encode()}
            response = site.post("/api/questions", QUESTIONS, cookie=cookie)
            assert response.status_code == 401, value
        assert_untouched(site)

    def test_it_runs_out(self):
        now = [1e9]
        tickets = Tickets(SECRET, now=lambda: now[0])
        cookie = tickets.cookie(Ticket("Ann", owner=False))
        assert tickets.of_cookie(cookie) == Ticket("Ann", owner=False)
        now[0] += 61 * 86_400
        assert tickets.of_cookie(cookie) is None

    def test_two_files_of_answers_have_cookies_of_their_own(self):
        one, other = Tickets("1" * 64), Tickets("2" * 64)
        assert one.cookie_name != other.cookie_name
        assert other.of_cookie(one.cookie(Ticket("Ann", owner=True))) is None
        assert other.of_token(one.owner_token) is None
        assert one.project not in (one.owner_token, SECRET)

    def test_the_right_one_is_found_among_others(self, site):
        cookie = site.cookie()["Cookie"]
        beside = {"Cookie": f"a=1; {cookie}; pairlearn-0=x"}
        assert site.get("/api/hello", cookie=beside).status_code == 200

    def test_only_the_owner_gets_what_is_the_owners(self, site):
        bob = site.cookie("Bob", owner=False)
        for method, path, body in EVERY_KIND:
            owners = any(
                word in path for word in ("progress", "names", "files", "invite")
            )
            if owners:
                response = ask(site, method, path, body, cookie=bob)
                assert response.status_code == 403, path
        everyone = site.get("/api/history?everyone=1", cookie=bob)
        assert everyone.status_code == 403
        assert_untouched(site)

    def test_without_a_name_nobody_is_asked(self, site):
        nameless = site.cookie(None)
        response = site.post("/api/questions", QUESTIONS, cookie=nameless)
        assert response.status_code == 409
        assert_untouched(site)
        named = site.post("/api/me", {"name": "  Ann  Lee "}, cookie=nameless)
        assert named.json()["me"]["name"] == "Ann Lee"
        cookie = {"Cookie": named.headers["set-cookie"].partition(";")[0]}
        assert site.post("/api/questions", QUESTIONS, cookie=cookie).status_code == 200
        assert site.desk.calls[0][1].name == "Ann Lee"


class TestHosts:
    @pytest.mark.parametrize(
        "host",
        [
            "evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:80",
            "127.0.0.1:8765.evil.example", "localhost:8766", "127.0.0.1:8765@evil",
            "", ":8765", "127.0.0.1:", "[::1", "192.168.0.9:8765", "0.0.0.0:8765",
            "127.0.0.1:٨٧٦٥", "localhost:8765:8765", "x" * 1000, "2130706433:8765",
        ],
    )  # fmt: skip
    def test_another_name_is_refused_everywhere(self, site, host):
        headers = {"Host": host.encode()}
        for method, path, body in [*EVERY_KIND, ("GET", "/", None)]:
            response = ask(site, method, path, body, headers=headers)
            assert response.status_code == 403
            assert "--allow-host" in response.json()["error"]
        assert site.get("/static/x.js", headers=headers).status_code == 403
        assert_untouched(site)

    @pytest.mark.parametrize(
        "host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"]
    )
    def test_own_names_are_allowed(self, site, host):
        assert site.get("/api/hello", headers={"Host": host}).status_code == 200

    def test_names_that_were_given_are_allowed(self, tmp_path):
        site = Site(tmp_path, more_hosts=["label.example.org", "other.example:8443"])
        for host, status in {
            "label.example.org": 200, "label.example.org:8765": 200,
            "label.example.org:1": 403, "other.example:8443": 200, "other.example": 403,
        }.items():  # fmt: skip
            response = site.get("/api/hello", headers={"Host": host})
            assert response.status_code == status, host

    def test_a_host_header_must_be_there_once(self, site):
        twice = [("Host", HOST), ("Host", "evil.example"), *site.cookie().items()]
        response = ask_raw(site, twice)
        assert response == 400

    def test_on_a_network_addresses_in_numbers_are_allowed(self):
        everywhere = Addresses("0.0.0.0", 8765)  # noqa: S104
        assert everywhere.allows("192.168.0.9:8765")
        assert everywhere.allows("[fe80::1]:8765")
        assert not everywhere.allows("192.168.0.9:80")
        assert not everywhere.allows("evil.example:8765")
        assert everywhere.base.endswith(":8765")
        assert "0.0.0.0" not in everywhere.base  # noqa: S104

    def test_loopback(self):
        assert is_loopback("::1")
        assert is_loopback("127.8.8.8")
        assert not is_loopback("example.org")

    @pytest.mark.parametrize("name", ["http://a.b", "a b", "", "*.example", "a:b", "@"])
    def test_a_name_that_is_none_is_told(self, name):
        with pytest.raises(OptionError, match="--allow-host"):
            Addresses("127.0.0.1", 1, (name,))


def ask_raw(site, headers):
    from tests.support.fake_desk import raw_call

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/api/hello",
        "query_string": b"",
        "headers": [(n.lower().encode(), v.encode()) for n, v in headers],
    }
    sent, _ = raw_call(site.app, scope, [{"type": "http.request", "body": b""}])
    return sent[0]["status"]


class TestOtherSites:
    @pytest.mark.parametrize(("method", "path", "body"), EVERY_KIND)
    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": f"https://{HOST}"},
            {"Origin": "http://127.0.0.1:9999"},
            {"Origin": f"http://{HOST}.evil.example"},
            {"Origin": ""},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ],
        ids=str,
    )
    def test_a_page_of_another_site_gets_nothing(
        self, site, method, path, body, headers
    ):
        response = ask(site, method, path, body, headers=headers)
        assert response.status_code == 403
        assert "another site" in response.json()["error"]
        assert_untouched(site)

    @pytest.mark.parametrize(("method", "path", "body"), POSTS)
    def test_a_post_needs_the_header(self, site, method, path, body):
        for value in (None, "0", "true"):
            response = ask(site, method, path, body, headers={"X-Pairlearn": value})
            assert response.status_code == 403
            assert "X-Pairlearn" in response.json()["error"]
        assert_untouched(site)

    def test_our_own_page_is_let_through(self, site):
        headers = {"Origin": f"http://{HOST}", "Sec-Fetch-Site": "same-origin"}
        response = site.post("/api/questions", QUESTIONS, headers=headers)
        assert response.status_code == 200
        typed = site.get("/files/pairs.csv", headers={"Sec-Fetch-Site": "none"})
        assert typed.status_code == 200

    @pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
    def test_other_methods_are_refused(self, site, method):
        for path in ("/", "/api/answers", "/static/app.js"):
            assert site.call(method, path).status_code == 405
        assert_untouched(site)


class TestProxy:
    def test_behind_a_proxy_that_encrypts_the_cookie_is_secure(self, tmp_path):
        site = Site(tmp_path, more_hosts=["label.example.org"], behind_proxy=True)
        proxied = {"Host": "label.example.org", "X-Forwarded-Proto": "https"}
        link = f"/?token={site.tickets.owner_token}"
        cookie = site.get(link, cookie={}, headers=proxied).headers["set-cookie"]
        assert cookie.startswith("__Host-pairlearn-")
        assert "; Secure" in cookie
        kept = {"Cookie": cookie.partition(";")[0]}
        origin = {"Origin": "https://label.example.org"}
        assert site.get("/api/hello", cookie=kept, headers=proxied).status_code == 200
        assert (
            site.post("/api/me", {"name": "A"}, cookie=kept, headers=proxied | origin)
        ).status_code == 200
        # The cookie of the plain connection does not do on the other one.
        plain = site.cookie()
        assert site.get("/api/hello", cookie=plain, headers=proxied).status_code == 401

    def test_without_being_told_the_header_counts_for_nothing(self, site):
        link = f"/?token={site.tickets.owner_token}"
        headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example"}
        cookie = site.get(link, cookie={}, headers=headers).headers["set-cookie"]
        assert "Secure" not in cookie

    def test_links_of_a_proxied_server_are_https(self):
        ours = Addresses("127.0.0.1", 8765, ("label.example.org",), "https")
        assert ours.link("t") == "https://label.example.org/?token=t"
        plain = Addresses("127.0.0.1", 8765, ("box.local",))
        assert plain.link("t") == "http://box.local:8765/?token=t"


class TestHeaders:
    def test_they_are_on_every_kind_of_response(self, site):
        responses = [ask(site, *each) for each in EVERY_KIND]
        responses += [
            site.get("/"), site.get("/", cookie={}), site.get("/static/none.js"),
            site.get("/nowhere"), site.get("/api/hello", cookie={}),
            site.get("/api/hello", headers={"Host": "evil.example"}),
            site.get(f"/?token={site.tickets.owner_token}"),
            site.call("PUT", "/"), site.call("HEAD", "/"),
        ]  # fmt: skip
        for response in responses:
            headers = response.headers
            where = response.request.url
            assert headers["x-content-type-options"] == "nosniff", where
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["x-frame-options"] == "DENY"
            assert headers["cross-origin-opener-policy"] == "same-origin"
            assert headers["cross-origin-resource-policy"] == "same-origin"
            policy = headers["content-security-policy"]
            assert policy.startswith("default-src 'none'"), where
            assert "unsafe" not in policy
            assert headers["cache-control"] == "no-store", where
            assert "access-control-allow-origin" not in headers

    def test_the_policy_names_no_other_host(self):
        assert "http" not in CONTENT_POLICY
        assert "unsafe" not in CONTENT_POLICY
        for words in ("frame-ancestors 'none'", "base-uri 'none'", "script-src 'self'"):
            assert words in CONTENT_POLICY

    def test_a_report_is_never_shown_within_our_site(self, site):
        response = site.get("/files/report.html")
        assert response.headers["content-disposition"].startswith("attachment")
        assert "sandbox" in response.headers["content-security-policy"]


class TestLog:
    def test_one_line_each_whatever_is_asked_for(self, site):
        site.get("/a%0Ab%1b[31m%E2%80%AE", cookie={})
        (line,) = site.log.lines
        assert line.isascii()
        assert line.isprintable()
        assert line.startswith("refused (401): GET /a\\nb\\x1b[31m\\u202e: ")

    def test_not_too_many_lines(self):
        now, lines = [0.0], Lines()
        log = RefusalLog(lines, most=3, now=lambda: now[0])
        for _ in range(10):
            log.write("GET", "/" + "x" * 1000, 401, "no")
        assert len(lines.lines) == 3
        assert len(lines.lines[0]) < 300
        now[0] = 61
        log.write("GET", "/", 401, "no")
        assert lines.lines[3:] == [
            "refused 7 more requests",
            "refused (401): GET /: no",
        ]
