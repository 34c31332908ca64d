"""axe-core finds nothing of levels A and AA, in light and dark, large and small."""

import pytest

from tests.support.browser import PHONE, expect
from tests.support.label_access import violations
from tests.support.label_page import answer, go_to, saved, shown
from tests.support.label_tables import cancer, media, stories


# Both schemes and both sizes are seen with two of the four.
@pytest.mark.parametrize(
    ("device", "scheme"),
    [
        pytest.param({}, "light", id="desktop-light"),
        pytest.param({}, "dark", id="desktop-dark", marks=pytest.mark.slow),
        pytest.param(PHONE, "light", id="phone-light", marks=pytest.mark.slow),
        pytest.param(PHONE, "dark", id="phone-dark"),
    ],
)
def test_no_view_breaks_the_rules(serve, visit, scheme, device):
    # Motion is off: axe would measure colours in the middle of a change.
    look = {"color_scheme": scheme, "reduced_motion": "reduce", **device}
    served = serve(cancer(), name=None)
    page = visit(served.url, start=False, **look)
    expect(page.get_by_label("Your name")).to_be_focused()
    assert violations(page) == []
    page.get_by_label("Your name").fill("Ann")
    page.get_by_role("button", name="Start answering").click()
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    answer(page, *["same", "different", "unsure"] * 2)
    saved(page)
    assert violations(page) == []
    page.get_by_role("button", name="Help").click()
    assert violations(page) == []
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Settings").click()
    assert violations(page) == []
    page.get_by_role("button", name="Close").click()
    go_to(page, "History")
    page.get_by_role("button", name="Show the pair").first.click()
    expect(page.get_by_role("table")).to_be_visible()
    assert violations(page) == []
    go_to(page, "Progress")
    expect(page.get_by_role("group", name="Answer for")).to_have_count(5)
    page.get_by_text("The curve as a table").click()
    page.get_by_role("button", name="Make predictions.csv").click()
    expect(page.get_by_role("link", name="Download predictions.csv")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_media_texts_troubles_and_the_end_break_no_rules(serve, visit, scheme):
    look = {"color_scheme": scheme, "reduced_motion": "reduce"}
    page = visit(serve(stories()).url, **look)
    shown(page)
    assert violations(page) == []
    served = serve(media())
    page = visit(served.url, **look)
    shown(page)
    assert violations(page) == []
    page.keyboard.press("z")
    assert violations(page) == []
    page.keyboard.press("Escape")
    served.fake.session = False
    answer(page, "same")
    expect(page.get_by_role("alert")).to_be_visible()
    assert violations(page) == []
    served.fake.session = True
    answer(page, *["same"] * 5)
    expect(page.get_by_role("heading", name="Nothing is left to ask")).to_be_visible()
    assert violations(page) == []
