"""Whatever is asked for, the server answers in order: no 500, and no traceback."""

import json
from functools import cache

from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from tests.support.fake_desk import HOST, Site, raw_call

PATHS = [
    "/", "/api/answers", "/api/questions", "/api/undo", "/api/edit", "/api/comment",
    "/api/hello", "/api/me", "/api/history", "/api/question/", "/api/cell/0/",
    "/media/0/", "/api/progress", "/api/names", "/api/files", "/api/invite", "/files/",
    "/static/",
]  # fmt: skip
WORDS = [
    "page", "have", "want", "answers", "id", "question", "said", "comment", "seconds",
    "rows",
    "text", "name", "names", "key", "what", "same", "different", "unsure", "model",
    "tab",
]  # fmt: skip
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(max_size=20)
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=5), inner)
    ),
    max_leaves=12,
)
# Proper bodies with one field exchanged get further than others.
PROPER = [
    {"page": "tab", "have": [], "want": 2},
    {"page": "tab", "have": [0], "want": 2,
     "answers": [{"id": "a", "question": 0, "said": "same"}]},
    {"page": "tab", "id": "u", "question": 0},
    {"id": "e", "question": 0, "said": "same"},
    {"id": "c", "question": 0, "text": "t"},
    {"id": "n", "names": [{"key": 0, "name": "x"}]},
    {"name": "Ann"}, {"what": "model"},
]  # fmt: skip
NEARLY = st.builds(
    lambda body, name, value: body | {name: value},
    st.sampled_from(PROPER),
    st.sampled_from(WORDS),
    VALUES,
)
BODIES = st.one_of(
    st.binary(max_size=200),
    VALUES.map(lambda value: json.dumps(value).encode()),
    NEARLY.map(lambda value: json.dumps(value).encode()),
    st.sampled_from(PROPER).map(lambda value: json.dumps(value).encode()),
)
HEADERS = st.lists(
    st.tuples(
        st.sampled_from(
            [b"origin", b"host", b"cookie", b"range", b"content-type", b"accept",
             b"sec-fetch-site", b"x-pairlearn", b"content-length", b"if-none-match",
             b"x-forwarded-proto", b"transfer-encoding"]
        ),
        st.binary(max_size=30) | st.sampled_from([b"bytes=0-", b"bytes=5-2", b"null"]),
    ),
    max_size=3,
)  # fmt: skip


@cache
def the_site(folder):
    return Site(folder)


@settings(
    max_examples=400,
    deadline=None,
    report_multiple_bugs=False,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    method=st.sampled_from(["GET", "POST", "HEAD", "PUT", "OPTIONS", "BREW"]),
    path=st.builds(
        str.__add__, st.sampled_from(PATHS), st.just("") | st.text(max_size=15)
    ),
    query=st.just(b"") | st.binary(max_size=60) | st.just(b"limit=5&search=%ff"),
    headers=HEADERS,
    known=st.booleans(),
    body=BODIES,
)
@example("POST", "/api/answers", b"", [], True, b'{"answers":[{"seconds":1e999}]}')
@example("GET", "/api/question/" + "9" * 5000, b"", [], True, b"")
@example("GET", "/media/" + "9" * 17 + "/0", b"", [(b"range", b"bytes=-0")], True, b"")
def test_every_request_is_answered_in_order(
    tmp_path_factory, method, path, query, headers, known, body
):
    site = the_site(tmp_path_factory.getbasetemp())
    sent_headers = list(headers)
    if known:
        usual = {"Host": HOST, "X-Pairlearn": "1", "Content-Type": "application/json"}
        usual |= site.cookie()
        given_names = {name for name, _ in headers}
        sent_headers += [
            (name.lower().encode(), value.encode())
            for name, value in usual.items()
            if name.lower().encode() not in given_names
        ]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode("utf-8", "replace"),
        "root_path": "",
        "query_string": query,
        "headers": sent_headers,
        "scheme": "http",
        "server": ("127.0.0.1", 8765),
        "client": ("127.0.0.1", 1),
        "http_version": "1.1",
    }
    sent, _ = raw_call(site.app, scope, [{"type": "http.request", "body": body}])
    start, *rest = sent
    assert 200 <= start["status"] < 500
    names = {name.lower() for name, _ in start["headers"]}
    assert b"content-security-policy" in names
    content = b"".join(message.get("body", b"") for message in rest)
    assert b"Traceback" not in content
    if start["status"] >= 400 and method != "HEAD" and path != "/":
        assert set(json.loads(content)) == {"error"}
