"""Cells, ids and names of columns are text, whatever they contain."""

from tests.support.browser import expect
from tests.support.label_page import answer, go_to, shown
from tests.support.label_tables import LONG, MARKUP, hostile

HURT = "typeof window.hurt"


def see_all(page):
    """Go through all pairs, and yield at each."""
    for _ in range(3):
        shown(page)
        yield page.locator("#pair")
        answer(page, "same")


def test_markup_is_shown_and_never_run(serve, visit):
    page = visit(serve(hostile()).url)
    seen = []
    for pair in see_all(page):
        seen.append(pair.inner_text())
        assert pair.locator("script, h1, b").count() == 0
        assert pair.locator("img").count() == 0
        assert page.evaluate(HURT) == "undefined"
        assert pair.locator("a[href^='javascript']").count() == 0
    text = "\n".join(seen)
    assert MARKUP in text.replace("\n", "")
    for part in (
        "<b>bold</b>",
        "</td><h1>big</h1>",
        "javascript:alert(1)",
        "__proto__",
    ):
        assert part in text
    for view in ("History", "Progress"):
        go_to(page, view)
        section = page.locator(f"#view-{view.lower()}")
        expect(section.get_by_text("window.hurt").first).to_be_visible()
        assert page.evaluate(HURT) == "undefined"


def test_hidden_characters_are_shown_and_turn_nothing(serve, visit):
    page = visit(serve(hostile()).url)
    boxes = set()
    for pair in see_all(page):
        boxes |= set(pair.locator(".control").all_inner_texts())
        text = pair.text_content()
        assert not set(text) & set("\u202e\u2066\u0007\u0000\u200f")
    assert boxes == {"U+202E", "U+0007", "U+2066", "U+0000"}


def test_a_text_of_a_megabyte_is_shown_on_demand(serve, visit):
    page = visit(serve(hostile()).url)
    more = page.get_by_role("button", name="Show the whole text")
    for _ in see_all(page):
        if more.count():
            more.click()
            expect(more).to_have_count(0)
            lengths = page.locator(".long").evaluate_all(
                "nodes => nodes.map((node) => node.textContent.length)"
            )
            assert max(lengths) == len(LONG)
            return
    raise AssertionError("no pair had the long text")
