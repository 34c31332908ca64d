"""One browser for these tests; for every test a server and a context of its own."""

import pytest

from tests.support.fake_label import FakeLabel, Served
from tests.support.label_tables import cancer

DESKTOP = {"width": 1280, "height": 800}


# Not for the whole session: until playwright ends its event loop counts as running, and
# tests in the same process that run one of their own would fail.
@pytest.fixture(scope="package")
def browser():
    from tests.support.browser import launched

    with launched() as chromium:
        yield chromium


@pytest.fixture
def serve():
    """Start a fake server for a table; it is stopped at the end."""
    started = []

    def go(table=None, **options):
        served = Served(FakeLabel(table or cancer(), **options))
        started.append(served)
        return served

    yield go
    for served in started:
        served.stop()


@pytest.fixture
def visit(browser):
    """Open an address in a context of its own; what goes wrong there fails the test."""
    contexts, trouble = [], []

    def go(url, *, start=True, **options):
        options.setdefault("viewport", DESKTOP)
        context = browser.new_context(**options)
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("request", lambda request: watch(request.url, url, trouble))
        page.on("console", lambda message: heed(message.text, trouble))
        page.goto(url)
        if start:
            page.get_by_role("button", name="Start answering").click()
        return page

    yield go
    for context in contexts:
        context.close()
    assert not trouble


def watch(asked, url, trouble):
    """No request may go to another host than the page's own."""
    if not asked.startswith((url.partition("?")[0], "data:", "blob:")):
        trouble.append(f"a request to {asked}")


def heed(text, trouble):
    if "Content Security Policy" in text:
        trouble.append(text)
