"""What a person does on the page, by role and label."""

import re

from tests.support.browser import expect

KEYS = {"same": "ArrowLeft", "different": "ArrowRight", "unsure": "ArrowDown"}


def shown(page):
    """The number of the question on screen, once there is one."""
    expect(page.locator("#pair")).to_have_attribute("data-question", re.compile(r"\d+"))
    return int(page.locator("#pair").get_attribute("data-question"))


def press(page, key):
    """Press a key that changes the question, and wait until it has changed."""
    before = shown(page)
    page.keyboard.press(key)
    expect(page.locator("#pair")).not_to_have_attribute("data-question", str(before))
    return before


def answer(page, *said):
    """Answer with the keyboard; returns the numbers of the questions."""
    return [press(page, KEYS[one]) for one in said]


def saved(page):
    """Wait until the page says that all is saved."""
    expect(page.get_by_text("Saved", exact=True)).to_be_visible()


def go_to(page, view):
    page.get_by_role("navigation").get_by_role("link", name=view).click()
    expect(page.locator(f"#view-{view.lower()} h1")).to_be_focused()


def back(page):
    page.get_by_role("link", name="Back to the questions").click()
    expect(page.locator("#answers")).to_be_visible()


def entry(page, pair):
    """The line of the history about two ids."""
    return page.get_by_role("listitem").filter(
        has=page.get_by_role("group", name=f"Answer for {pair}", exact=True)
    )
