"""Nothing is lost, nothing doubled.

The connection goes, replies get lost, the server starts again, sessions end, and tabs
are closed.
"""

from tests.support.browser import expect
from tests.support.label_page import answer, go_to, press, saved, shown


def offline(page, n):
    word = "answer is" if n == 1 else "answers are"
    expect(page.locator("#state-text")).to_have_text(
        f"Offline: {n} {word} kept here and will be sent."
    )


def test_answers_while_offline_are_kept_and_sent_in_order(serve, visit):
    served = serve()
    page = visit(served.url)
    answer(page, "same")
    saved(page)
    page.context.set_offline(True)
    numbers = answer(page, "different", "unsure", "same")
    offline(page, 3)
    expect(page.get_by_text("Same · kept here")).to_be_visible()
    last = shown(page)
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("every question that this page had")).to_be_visible()
    offline(page, 4)
    page.context.set_offline(False)
    saved(page)
    shown(page)
    given = [served.fake.standing[number]["said"] for number in [*numbers, last]]
    assert given == ["different", "unsure", "same", "different"]
    order = sorted(numbers, key=lambda number: served.fake.standing[number]["number"])
    assert order == numbers
    assert served.fake.number == 5


def test_the_server_stops_and_starts_again(serve, visit):
    served = serve()
    page = visit(served.url)
    first = answer(page, "same", "different")
    saved(page)
    served.stop()
    numbers = answer(page, "same", "unsure")
    offline(page, 2)
    served.start()
    saved(page)
    numbers += answer(page, "different", "same", "same", "same")
    saved(page)
    assert sorted(served.fake.standing) == sorted(first + numbers)
    assert served.fake.number == 8


def test_a_lost_reply_does_not_double_an_answer(serve, visit):
    served = serve()
    page = visit(served.url)
    shown(page)
    served.fake.lose_replies = 3
    numbers = answer(page, "same", "different")
    saved(page)
    sent = [
        given["id"]
        for path, body in served.fake.seen
        if path == "answers"
        for given in body["answers"]
    ]
    assert len(sent) > len(set(sent)) == 2
    assert served.fake.number == 2
    assert sorted(served.fake.standing) == sorted(numbers)


def test_undo_of_what_was_never_sent_sends_nothing(serve, visit):
    served = serve()
    page = visit(served.url)
    shown(page)
    served.fake.lose_replies = 2
    first, second = answer(page, "same", "different")
    press(page, "Backspace")
    assert shown(page) == second
    press(page, "Backspace")
    assert shown(page) == first
    saved(page)
    assert served.fake.standing == {}
    assert answer(page, "unsure", "unsure") == [first, second]
    saved(page)
    assert [one["said"] for one in served.fake.standing.values()] == ["unsure"] * 2


def test_answers_outlive_a_reload_before_they_are_sent(serve, visit):
    served = serve()
    page = visit(served.url)
    shown(page)
    warned = []

    def leave(dialog):
        warned.append(dialog.type)
        dialog.accept()

    page.on("dialog", leave)
    served.fake.lose_replies = 10**6
    # What is answered is saved on the server, but the page does not know it.
    numbers = answer(page, "same", "different")
    offline(page, 2)
    page.reload()
    shown(page)
    assert warned == ["beforeunload"]
    served.fake.lose_replies = 0
    saved(page)
    assert served.fake.number == 2
    assert sorted(served.fake.standing) == sorted(numbers)
    assert shown(page) not in numbers


def test_answers_of_a_closed_tab_are_sent_by_the_next(serve, visit):
    served = serve()
    page = visit(served.url)
    shown(page)
    served.stop()
    numbers = answer(page, "same", "different")
    offline(page, 2)
    context = page.context
    page.close()
    served.start()
    later = context.new_page()
    later.goto(served.url)
    shown(later)
    saved(later)
    assert sorted(served.fake.standing) == sorted(numbers)
    (orphans,) = [body for path, body in served.fake.seen if path == "answers"]
    assert orphans["want"] == 0


def test_a_session_that_ended_keeps_the_answers(serve, visit):
    served = serve()
    page = visit(served.url)
    shown(page)
    served.fake.session = False
    answer(page, "same", "different")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Open the link from the terminal")
    expect(page.locator("#state-text")).to_have_text(
        "Session ended: 2 answers are kept here"
    )
    assert served.fake.standing == {}
    served.fake.session = True
    saved(page)
    expect(alert).to_have_count(0)
    assert len(served.fake.standing) == 2


def test_without_a_session_the_page_says_how_to_get_one(serve, visit):
    served = serve()
    served.fake.session = False
    page = visit(served.url, start=False)
    expect(page.get_by_role("alert")).to_contain_text("Open the link from the terminal")
    served.fake.session = True
    page.get_by_role("button", name="Start answering").click()
    shown(page)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_answers_of_one_person_are_not_sent_as_those_of_another(serve, visit):
    served = serve()
    page = visit(served.url)
    shown(page)
    served.stop()
    answer(page, "same")
    offline(page, 1)
    context = page.context
    page.close()
    served.fake.name = "Bo"
    served.start()
    later = context.new_page()
    later.goto(served.url)
    answer(later, "different")
    saved(later)
    assert [one["said"] for one in served.fake.standing.values()] == ["different"]
    served.fake.name = "Ann"
    later.reload()
    shown(later)
    saved(later)
    assert len(served.fake.standing) == 2


def test_a_change_in_the_history_is_sent_when_the_connection_is_back(serve, visit):
    served = serve()
    page = visit(served.url)
    (number,) = answer(page, "same")
    saved(page)
    go_to(page, "History")
    group = page.get_by_role("group", name="Answer for")
    expect(group).to_have_count(1)
    served.stop()
    group.get_by_role("button", name="Unsure").click()
    offline(page, 1)
    served.start()
    saved(page)
    assert served.fake.standing[number]["said"] == "unsure"
