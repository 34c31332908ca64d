"""Pictures of the page for the documentation, docs/images/label-*.png.

`python -m tests.label.browser.screenshots` makes them. PAIRLEARN_SCREENSHOTS names
another folder, which then gets more of them, to look at when the page changes.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.browser import PHONE as SMALL
from tests.support.browser import expect, launched
from tests.support.fake_label import FakeLabel, Served
from tests.support.label_page import back, go_to, press, saved, shown
from tests.support.label_tables import cancer, hostile, media, stories
from tests.support.real_label import RealLabel, write_cancer

DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = SMALL | {"device_scale_factor": 2}
DARK = {"color_scheme": "dark"}
# Answers before the picture of the progress is taken.
ANSWERS = 250


def answer(page, fake, n):
    """Give true answers with the keyboard, two of them unsure."""
    for place in range(n):
        expect(page.get_by_role("button", name="Same", exact=True)).to_be_enabled()
        keys = {"same": "ArrowLeft", "different": "ArrowRight"}
        truth = keys[fake.truth_shown(page)]
        page.keyboard.press("ArrowDown" if place in (3, 9) else truth)
    expect(page.locator("#state-text")).to_have_text("Saved")


class Studio:
    """A browser, and a folder for its pictures."""

    def __init__(self, browser, folder):
        self.browser, self.folder = browser, folder

    def shoot(self, name, table, *, n=0, view=None, whole=False, act=None, **options):
        served = Served(FakeLabel(table))
        context = self.browser.new_context(**options)
        try:
            page = context.new_page()
            page.goto(served.url)
            start = page.get_by_role("button", name="Start answering")
            start.wait_for()
            if view != "start":
                start.click()
                page.locator(".both").first.wait_for()
                answer(page, served.fake, n)
            if view in ("history", "progress"):
                page.get_by_role("link", name=view.title()).click()
                page.locator(".entry-line").first.wait_for()
            if act:
                act(page)
            self.take(name, page, whole=whole)
        finally:
            context.close()
            served.stop()

    def take(self, name, page, *, whole=False):
        page.evaluate("document.activeElement?.blur()")
        page.mouse.move(0, 0)
        page.wait_for_load_state("networkidle")
        path = self.folder / f"label-{name}.png"
        page.screenshot(path=path, full_page=whole, animations="disabled")


def for_the_guide(studio, points, kinds):
    """The pictures that the documentation shows: the real server and true answers.

    What they say of the model is what the practice data gave.
    """
    server = RealLabel(points, "--name", "Ann")
    context = studio.browser.new_context(**DESKTOP)
    try:
        page = context.new_page()
        page.goto(server.link)
        page.get_by_role("button", name="Start answering").click()
        answer_truly(page, kinds, 60)
        studio.take("desktop", page)
        page.emulate_media(color_scheme="dark")
        studio.take("dark", page)
        page.emulate_media(color_scheme="light")
        go_to(page, "History")
        page.get_by_role("group", name="Answer for").first.wait_for()
        studio.take("history", page)
        back(page)
        state = context.storage_state()
        small = studio.browser.new_context(storage_state=state, **PHONE).new_page()
        small.goto(server.site)
        shown(small)
        studio.take("phone", small)
        small.context.close()
        answer_truly(page, kinds, ANSWERS - 60)
        go_to(page, "Progress")
        # The model is up to date when the last answers have been learned from.
        page.get_by_label("Name of group 1").wait_for()
        expect(page.locator(".numbers")).to_contain_text("up to date")
        studio.take("progress", page, whole=True)
    finally:
        context.close()
        server.stop()
    studio.shoot("texts", stories(), **DESKTOP)


def answer_truly(page, kinds, n):
    """Answer about the real server's pairs by the true kinds of their ids."""
    for _ in range(n):
        shown(page)
        left, right = page.locator("#pair thead th bdi").all_inner_texts()
        same = kinds[left] == kinds[right]
        press(page, "ArrowLeft" if same else "ArrowRight")
    saved(page)


def for_our_eyes(studio):
    """Further ones to look at when the page changes."""
    studio.shoot("start", cancer(), view="start", **DESKTOP)
    studio.shoot("start-phone", cancer(), view="start", **PHONE)
    studio.shoot("pictures", media(), **DESKTOP)
    studio.shoot("pictures-phone", media(), **PHONE, **DARK)
    studio.shoot("texts-phone", stories(), **PHONE)
    studio.shoot("hostile", hostile(), **DESKTOP)
    studio.shoot("hostile-phone", hostile(), **PHONE)
    studio.shoot("end", media(), n=6, **DESKTOP)
    studio.shoot("history-phone", cancer(), n=8, view="history", **PHONE)
    progress = {"view": "progress", "whole": True, "n": 30}
    studio.shoot("progress-phone", cancer(), **progress, **PHONE, **DARK)
    studio.shoot("progress-dark", cancer(), **progress, **DESKTOP, **DARK)

    def settings(page):
        page.get_by_role("button", name="Settings").click()

    def show_pair(page):
        page.get_by_role("button", name="Show the pair").first.click()

    def invite(page):
        page.goto(f"{page.url.partition('#')[0]}#people")
        for name in ("Bob", "Zoë"):
            page.get_by_label("Name of the person").fill(name)
            page.get_by_role("button", name="Make a link").click()
            page.get_by_label(f"Link for {name}", exact=True).wait_for()

    people = {"act": invite, "whole": True}
    studio.shoot("people", cancer(), **people, **DESKTOP)
    studio.shoot("people-phone", cancer(), **people, **PHONE, **DARK)
    studio.shoot("settings", cancer(), act=settings, **DESKTOP, **DARK)
    studio.shoot("pair", cancer(), n=4, view="history", act=show_pair, **DESKTOP)


def main():
    """Take them all; those for our eyes only where the folder was named."""
    named = os.environ.get("PAIRLEARN_SCREENSHOTS")
    folder = Path(named) if named else Path(__file__).parents[3] / "docs/images"
    folder.mkdir(parents=True, exist_ok=True)
    with launched() as browser:
        studio = Studio(browser, folder)
        with TemporaryDirectory() as made:
            for_the_guide(studio, *write_cancer(Path(made)))
        if named:
            for_our_eyes(studio)


if __name__ == "__main__":
    main()
