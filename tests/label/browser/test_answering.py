"""One key, one answer: what happens while somebody answers."""

import re

import pytest

from tests.support.browser import PHONE, expect
from tests.support.label_page import KEYS, answer, go_to, press, saved, shown
from tests.support.label_tables import cancer, media, stories


def test_keys_answer_and_the_page_says_what_was_saved(serve, visit):
    served = serve()
    page = visit(served.url)
    for said, word in [("same", "Same"), ("different", "Different")]:
        (number,) = answer(page, said)
        expect(page.get_by_text(f"{word} · saved")).to_be_visible()
        assert served.fake.standing[number]["said"] == said
    (number,) = answer(page, "unsure")
    expect(page.get_by_role("status").filter(has_text="Unsure, saved.")).to_have_count(
        1
    )
    assert served.fake.standing[number]["said"] == "unsure"
    _, body = next(one for one in reversed(served.fake.seen) if one[0] == "answers")
    assert body["answers"][0]["seconds"] >= 0
    # Which pair it was, as the number may be that of another one by then.
    assert len(set(body["answers"][0]["rows"])) == 2
    assert len(body["have"]) == 3
    assert body["want"] == 4


def test_undo_goes_back_as_far_as_there_are_answers(serve, visit):
    served = serve()
    page = visit(served.url)
    numbers = answer(page, *["same", "different"] * 8)
    for number in reversed(numbers):
        page.keyboard.press("Backspace")
        expect(page.locator("#pair")).to_have_attribute("data-question", str(number))
    saved(page)
    assert served.fake.standing == {}
    expect(page.get_by_text("You had said: Same")).to_be_visible()
    # The page itself remembers twelve; the server was asked about those before.
    undone = [body for path, body in served.fake.seen if path == "undo"]
    assert sum("question" not in body for body in undone) == 4
    page.keyboard.press("Backspace")
    expect(page.locator("#flash")).to_have_text("There is no answer to take back.")
    assert answer(page, "unsure") == numbers[:1]
    saved(page)
    assert list(served.fake.standing) == numbers[:1]


def test_a_reload_keeps_questions_and_the_way_back(serve, visit):
    served = serve()
    page = visit(served.url)
    numbers = answer(page, "same", "different", "same")
    saved(page)
    before = shown(page)
    page.reload()
    assert shown(page) == before
    assert page.get_by_role("dialog").count() == 0
    press(page, "Backspace")
    assert shown(page) == numbers[-1]
    saved(page)
    assert sorted(served.fake.standing) == numbers[:-1]
    pages = {body["page"] for path, body in served.fake.seen if path == "questions"}
    assert len(pages) == 1


def test_a_held_key_answers_once(serve, visit):
    served = serve()
    page = visit(served.url)
    shown(page)
    for key in ("ArrowLeft", "ArrowDown"):
        for _ in range(6):
            page.keyboard.down(key)
        page.keyboard.up(key)
    page.get_by_role("button", name="Different").focus()
    for _ in range(6):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    saved(page)
    said = [one["said"] for one in served.fake.standing.values()]
    assert said == ["same", "unsure", "different"]


def test_letter_keys_can_be_switched_off(serve, visit):
    served = serve()
    page = visit(served.url)
    shown(page)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="How it works")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Letter keys").uncheck()
    page.get_by_role("button", name="Close").click()
    page.reload()
    shown(page)
    for key in ("?", "c", "h"):
        page.keyboard.press(key)
    assert page.get_by_role("dialog").count() == 0
    assert page.locator("#view-history").is_hidden()
    expect(page.locator("#comment kbd")).to_be_hidden()
    answer(page, "same")
    saved(page)
    assert len(served.fake.standing) == 1


def test_a_comment_goes_with_its_answer(serve, visit):
    served = serve()
    page = visit(served.url)
    shown(page)
    page.keyboard.press("c")
    field = page.get_by_label("A comment on this pair")
    expect(field).to_be_focused()
    page.keyboard.type("both <b>blurred</b>")
    for key in ("ArrowLeft", "Backspace"):
        page.keyboard.press(key)
    page.get_by_role("button", name="Keep the comment").click()
    assert served.fake.standing == {}
    number, _other = answer(page, "unsure", "same")
    saved(page)
    assert served.fake.comments == {number: "both <b>blurred</>"}


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desktop", "phone"])
def test_buttons_alone_are_enough(serve, visit, options):
    served = serve()
    page = visit(served.url, **options)
    for name in ("Same", "Different", "Unsure"):
        before = shown(page)
        button = page.get_by_role("button", name=name, exact=True)
        box = button.bounding_box()
        assert min(box["width"], box["height"]) >= 48
        assert box["y"] + box["height"] <= page.viewport_size["height"]
        button.tap() if options else button.click()
        expect(page.locator("#pair")).not_to_have_attribute(
            "data-question", str(before)
        )
    page.get_by_role("button", name="Undo").click()
    saved(page)
    said = [one["said"] for one in served.fake.standing.values()]
    assert said == ["same", "different"]
    wide = page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert wide


def test_the_first_start_asks_for_a_name_and_never_again(serve, visit):
    served = serve(name=None)
    page = visit(served.url, start=False)
    dialog = page.get_by_role("dialog", name="Same kind, or different?")
    expect(
        dialog.get_by_text("What counts as the same kind is for you to decide")
    ).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_label("Your name")).to_be_focused()
    page.keyboard.type("Bo")
    page.keyboard.press("Enter")
    shown(page)
    assert served.fake.name == "Bo"
    page.reload()
    shown(page)
    assert page.get_by_role("dialog").count() == 0


def test_nothing_that_leads_the_answer_is_shown(serve, visit):
    served = serve()
    page = visit(served.url)
    answer(page, "same", "different")
    text = page.locator("body").inner_text().lower()
    for word in ("score", "probability", "audit", "error bar", "%", "model"):
        assert word not in text


def test_the_end_is_clear_and_still_lets_one_go_back(serve, visit):
    served = serve(media())
    page = visit(served.url)
    answer(page, *["same"] * 6)
    expect(page.get_by_role("heading", name="Nothing is left to ask")).to_be_visible()
    expect(page.get_by_text("you have answered 6 questions")).to_be_visible()
    expect(page.get_by_role("link", name="Open the progress")).to_be_visible()
    for key in KEYS.values():
        page.keyboard.press(key)
    page.get_by_role("button", name="Undo").click()
    shown(page)
    saved(page)
    assert len(served.fake.standing) == 5


def test_the_page_waits_for_the_first_questions(serve, visit):
    served = serve()
    served.fake.waits = 2
    page = visit(served.url)
    expect(page.get_by_text("The next questions are being chosen …")).to_be_visible()
    shown(page)
    answer(page, "same")
    saved(page)


def test_a_refused_answer_is_told(serve, visit):
    served = serve()
    page = visit(served.url)
    shown(page)
    served.fake.refuse = "This question is not yours."
    answer(page, "same")
    expect(page.get_by_role("alert")).to_contain_text(
        "An answer was not taken: This question is not yours."
    )
    saved(page)
    page.get_by_role("button", name="Close this notice").click()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_the_goal_is_told_once_and_does_not_interrupt(serve, visit):
    served = serve()
    served.fake.high = 0.04
    page = visit(served.url)
    answer(page, *["same"] * 20)
    notice = page.get_by_role("note").filter(has_text="The goal is reached")
    expect(notice).to_be_visible()
    answer(page, "different")
    notice.get_by_role("link", name="see the progress").click()
    expect(page.get_by_role("heading", name="How good is it?")).to_be_visible()


def test_differences_are_marked_by_sign_and_said(serve, visit):
    page = visit(serve().url)
    shown(page)
    rows = page.get_by_role("table").get_by_role("row")
    expect(rows).to_have_count(13)
    first = rows.nth(1).get_by_role("rowheader")
    text = first.text_content()
    assert ("≠" in text) == ("differs" in text)
    page.get_by_role("button", name="Show all 30 columns").click()
    expect(rows).to_have_count(31)
    answer(page, "same")
    expect(rows).to_have_count(31)


def test_shared_words_are_marked_and_can_be_left_plain(serve, visit):
    page = visit(serve(stories()).url)
    shown(page)
    for _ in range(6):
        if page.locator("mark").count():
            break
        answer(page, "same")
    mark = page.locator("mark").first
    line = "node => getComputedStyle(node).textDecorationLine"
    assert mark.evaluate(line) == "underline"
    toggle = page.get_by_role("button", name="Mark shared words")
    assert toggle.get_attribute("aria-pressed") == "true"
    toggle.click()
    assert toggle.get_attribute("aria-pressed") == "false"
    assert mark.evaluate(line) == "none"
    link = page.get_by_role("table").get_by_role("link").first
    assert "noopener" in link.get_attribute("rel")


def test_pictures_are_enlarged_and_sounds_have_controls(serve, visit):
    page = visit(serve(media()).url)
    shown(page)
    expect(page.locator("audio[controls]")).to_have_count(2)
    width = "node => node.naturalWidth"
    for image in page.locator(".picture img").all():
        expect(image).to_be_visible()
        image.evaluate("node => node.decode()")
        assert image.evaluate(width) == 240
    page.keyboard.press("z")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("img")).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Enlarge. Right").click()
    expect(dialog).to_be_visible()


def test_dark_by_system_and_by_choice(serve, visit):
    page = visit(serve().url, color_scheme="dark")
    shown(page)
    theme = "document.documentElement.dataset.theme"
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    assert page.evaluate(theme) == "dark"
    page.get_by_role("button", name="Settings").click()
    page.get_by_label("Light").check()
    assert page.evaluate(theme) == "light"
    assert page.evaluate(ground) != dark
    page.reload()
    shown(page)
    assert page.evaluate(theme) == "light"


def test_two_tabs_hold_different_questions(serve, visit):
    served = serve()
    first = visit(served.url)
    shown(first)
    second = first.context.new_page()
    second.goto(served.url)
    assert shown(second) != shown(first)
    numbers = answer(first, "same", "same") + answer(second, "different", "different")
    saved(first)
    saved(second)
    assert len(set(numbers)) == 4
    assert len(served.fake.standing) == 4
    pages = {body["page"] for path, body in served.fake.seen if path == "answers"}
    assert len(pages) == 2


def test_views_have_addresses_and_the_title_follows(serve, visit):
    page = visit(serve().url)
    shown(page)
    go_to(page, "History")
    expect(page).to_have_title("Your answers · points.csv · pairlearn")
    page.keyboard.press("ArrowLeft")
    page.go_back()
    expect(page.locator("#view-answer")).to_be_visible()
    expect(page).to_have_title("Same or different? · points.csv · pairlearn")


def test_a_tab_that_is_copied_is_another_page(serve, visit):
    served = serve()
    page = visit(served.url)
    answer(page, "same")
    saved(page)
    # A window opened by a page gets a copy of its sessionStorage, as a copied tab does.
    with page.expect_popup() as opened:
        page.evaluate("void window.open(location.href)")
    assert shown(opened.value) != shown(page)
    answer(opened.value, "different")
    saved(opened.value)
    pages = [body["page"] for path, body in served.fake.seen if path == "answers"]
    assert len(set(pages)) == len(pages) == 2


def test_ids_are_made_where_the_page_is_not_a_secure_one(serve, visit):
    served = serve()
    page = visit(served.url)
    page.add_init_script("delete Crypto.prototype.randomUUID")
    page.reload()
    answer(page, "same", "different")
    saved(page)
    form = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
    assert len(served.fake.requests) == 2
    assert all(re.fullmatch(form, request) for request in served.fake.requests)


def test_the_name_is_changed_in_the_settings(serve, visit):
    served = serve()
    page = visit(served.url)
    answer(page, "same")
    page.get_by_role("button", name="Settings").click()
    page.get_by_role("button", name="Change the name").click()
    page.get_by_label("Your name").fill("Bo")
    page.get_by_role("button", name="Save the name").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    shown(page)
    page.get_by_role("button", name="Settings").click()
    expect(page.get_by_text("You answer as Bo.")).to_be_visible()
    assert served.fake.name == "Bo"


def test_telling_columns_come_first_once_they_are_known(serve, visit):
    table = cancer()
    order, table.order = table.order, None
    served = serve(table, owner=False)
    page = visit(served.url)
    shown(page)
    first = page.locator("#pair tbody th bdi").first
    expect(first).to_have_text("mean radius")
    table.order = order
    answer(page, *["same"] * 20)
    saved(page)
    for _ in range(5):
        answer(page, "same")
        if first.inner_text() != "mean radius":
            break
    expect(first).to_have_text(table.columns[order[0]]["name"])
