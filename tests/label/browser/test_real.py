"""The page and the real server together, on the practice data."""

import re
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from PIL import Image

from tests.support.browser import PHONE, expect
from tests.support.label_page import KEYS, back, go_to, press, saved, shown
from tests.support.real_label import RealLabel, write_cancer

# The model is made meanwhile, perhaps beside other work.
PATIENCE = 240_000


@pytest.fixture
def cancer(tmp_path):
    return write_cancer(tmp_path)


@pytest.fixture
def started():
    """Start the command; it is ended at the end."""
    running = []

    def go(points, *words):
        running.append(RealLabel(points, *words))
        return running[-1]

    yield go
    for server in running:
        server.stop()


def truth(page, kinds):
    """The true answer about the pair on screen."""
    shown(page)
    heads = page.locator("#pair thead th bdi").all_inner_texts()
    left, right = (kinds[name] for name in heads)
    return "same" if left == right else "different"


def standing(server):
    with closing(sqlite3.connect(server.answers)) as store:
        return store.execute(
            "SELECT question, answer, annotator FROM answers"
        ).fetchall()


def events(server, kind):
    with closing(sqlite3.connect(server.answers)) as store:
        ask = "SELECT COUNT(*) FROM events WHERE kind = ?"
        return store.execute(ask, (kind,)).fetchone()[0]


def test_from_points_to_predictions_with_the_keyboard(started, visit, cancer):
    points, kinds = cancer
    server = started(points)
    page = visit(server.link, start=False)
    expect(page.get_by_label("Your name")).to_be_focused()
    page.keyboard.type("Ann")
    page.keyboard.press("Enter")
    for place in range(60):
        unsure = place in (7, 21, 40)
        press(page, KEYS["unsure" if unsure else truth(page, kinds)])
        if place == 30:
            saved(page)
            here = shown(page)
            page.reload()
            assert shown(page) == here
    saved(page)
    assert len(standing(server)) == 60
    for _ in range(5):
        press(page, "Backspace")
    saved(page)
    assert len(standing(server)) == 55
    for _ in range(5):
        press(page, KEYS[truth(page, kinds)])
    saved(page)

    page.keyboard.press("h")
    lines = page.get_by_role("group", name="Answer for")
    expect(lines).to_have_count(50)
    lines.nth(3).get_by_role("button", name="Unsure").click()
    saved(page)
    assert events(server, "undo") == 6
    lines.nth(3).get_by_role("button", name="Same").click()
    saved(page)
    page.keyboard.press("Escape")
    shown(page)

    rows = standing(server)
    assert len(rows) == len({question for question, _, _ in rows}) == 60
    assert [answer for _, answer, _ in rows].count("unsure") == 3
    assert {who for _, _, who in rows} == {"Ann"}

    go_to(page, "Progress")
    expect(page.locator(".numbers")).to_contain_text("Answers60")
    first = page.get_by_label("Name of group 1")
    expect(first).to_be_visible(timeout=PATIENCE)
    first.fill("one kind")
    page.get_by_label("Name of group 2").fill("the other kind")
    page.get_by_role("button", name="Save the names").click()
    expect(page.get_by_text("The names are saved.").first).to_be_visible()
    page.get_by_role("button", name="Make predictions.csv").click()
    link = page.get_by_role("link", name="Download predictions.csv")
    expect(link).to_be_visible(timeout=PATIENCE)
    with page.expect_download() as waiting:
        link.click()
    lines = waiting.value.path().read_text().splitlines()
    assert len(lines) == 1 + len(kinds)
    assert {"one kind", "the other kind"} <= set(",".join(lines).split(","))
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Download pairs.csv").click()
    assert len(waiting.value.path().read_text().splitlines()) == 61
    back(page)


def test_the_page_goes_on_by_itself_after_a_kill(started, visit, cancer):
    points, kinds = cancer
    server = started(points, "--name", "Ann")
    page = visit(server.link)
    for _ in range(3):
        press(page, KEYS[truth(page, kinds)])
    saved(page)
    server.kill()
    page.keyboard.press(KEYS["unsure"])
    page.keyboard.press(KEYS["same"])
    expect(page.locator("#state-text")).to_have_text(
        "Offline: 2 answers are kept here and will be sent."
    )
    server.start()
    saved(page)
    for _ in range(3):
        press(page, KEYS[truth(page, kinds)])
    saved(page)
    rows = standing(server)
    assert len(rows) == len({question for question, _, _ in rows}) == 8
    assert [answer for _, answer, _ in rows].count("unsure") == 1


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for k in range(12):
        pixels = rng.integers(0, 128, (28, 28)) + 100 * (k % 2)
        Image.fromarray(pixels.astype(np.uint8)).save(folder / f"p{k:02}.png")
    return folder


@pytest.mark.parametrize("size", [{}, PHONE], ids=["wide", "narrow"])
def test_photos_of_a_folder_are_large_and_named(started, visit, photos, size):
    server = started(photos, "--name", "Ann")
    page = visit(server.link, **size)
    shown(page)
    pictures = page.locator("#pair img")
    expect(pictures).to_have_count(2)
    for side, picture in zip(("Left", "Right"), pictures.all(), strict=True):
        expect(picture).to_have_js_property("complete", value=True)
        assert picture.evaluate("image => image.naturalWidth") == 28
        box = picture.bounding_box()
        assert box["width"] >= 160
        assert box["height"] >= 160
        name = re.compile(rf"{side}: p\d\d\.png")
        expect(page.get_by_role("button", name=name)).to_be_visible()
    press(page, KEYS["different"])
    saved(page)
    assert len(standing(server)) == 1
