"""People: inviting, revoking, and who did what; for owners, against the real guard."""

import threading

import pytest

from pairlearn.label.web.addresses import Addresses
from tests.support.browser import PHONE, expect
from tests.support.fake_desk import Site
from tests.support.label_access import violations
from tests.support.label_page import answer, go_to, saved, shown


@pytest.fixture
def real(tmp_path):
    """The real server over a desk without a disk."""
    import asyncio

    from pairlearn.label.web.serving import Server, listen, new_loop

    site = Site(tmp_path)
    sock = listen("127.0.0.1", 0)
    port = sock.getsockname()[1]
    site.guard.addresses = Addresses("127.0.0.1", port)
    started = threading.Event()
    server = Server(site.app, site.guard.log, started.set)

    def run():
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(server.serve(sockets=[sock]))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(120)
    yield site
    server.stop()
    thread.join(120)
    sock.close()


def enter(visit, site, name):
    page = visit(site.guard.addresses.link(site.tickets.owner_token), start=False)
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Start answering").click()
    shown(page)
    return page


def invite(page, name, role="Annotator"):
    page.get_by_label("Name of the person").fill(name)
    page.get_by_label(role).check()
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label(f"Link for {name}", exact=True)
    expect(link).to_be_focused()
    return link.input_value()


def line(page, name):
    return page.get_by_role("region", name="Who has a link").get_by_role(
        "listitem"
    ).filter(has_text=name)  # fmt: skip


def test_an_invited_person_answers_until_the_link_is_revoked(real, visit):
    ann = enter(visit, real, "Ann")
    go_to(ann, "People")
    expect(ann.get_by_text("Nobody has been invited yet.")).to_be_visible()
    link = invite(ann, "Bob")
    ann.get_by_role("button", name="Copy the link for Bob").click()
    expect(ann.get_by_role("button", name="Copy the link for Bob")).to_have_text(
        "Copied"
    )
    expect(line(ann, "Bob")).to_contain_text("Annotator")
    expect(line(ann, "Bob")).to_contain_text("by Ann")

    bob = visit(link)
    answer(bob, "same", "different")
    saved(bob)
    assert bob.get_by_role("link", name="People").count() == 0
    bob.goto(f"{bob.url.partition('#')[0]}#people")
    expect(bob.locator("#view-answer")).to_be_visible()

    ann.get_by_role("button", name="Revoke the link of Bob").click()
    dialog = ann.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    expect(dialog).to_contain_text("stops working at once")
    dialog.get_by_role("button", name="Cancel").click()
    # Nothing has happened yet.
    answer(bob, "same")
    saved(bob)
    ann.get_by_role("button", name="Revoke the link of Bob").click()
    dialog.get_by_role("button", name="Revoke the link", exact=True).click()
    expect(ann.get_by_role("button", name="Revoke the link of Bob")).to_have_count(0)
    ann.get_by_text("Links that were revoked").click()
    expect(line(ann, "Bob")).to_contain_text("kept")

    bob.keyboard.press("ArrowLeft")
    expect(bob.get_by_role("alert")).to_contain_text(
        "Your invitation has been ended by an owner of this page."
    )
    expect(bob.get_by_role("alert")).to_contain_text("1 answer is kept")
    expect(bob.locator("#pair")).to_be_hidden()
    again = visit(link, start=False)
    expect(
        again.get_by_role("heading", name="Your invitation has ended")
    ).to_be_visible()
    trail = ann.get_by_role("region", name="Who did what").get_by_role("listitem")
    expect(trail.first).to_contain_text("Ann revoked the link of Bob.")
    assert len(real.desk.said) == 3


def test_a_new_link_takes_the_place_of_one_that_was_lost(real, visit):
    ann = enter(visit, real, "Ann")
    go_to(ann, "People")
    first = invite(ann, "Eve", "Owner")
    ann.get_by_role("button", name="Revoke the link of Eve").click()
    ann.get_by_role("button", name="Revoke, and make a new link").click()
    shown_link = ann.get_by_label("Link for Eve", exact=True)
    expect(shown_link).not_to_have_value(first)
    expect(shown_link).to_be_focused()
    expect(line(ann, "Eve").first).to_contain_text("Owner")
    second = shown_link.input_value()
    eve = visit(second)
    shown(eve)
    go_to(eve, "People")
    expect(line(eve, "Eve").first).to_contain_text("(you)")
    assert eve.get_by_role("button", name="Revoke the link of Eve").count() == 0
    eve.get_by_role("button", name="Show the link of Eve").click()
    expect(eve.get_by_label("Link for Eve", exact=True)).to_have_value(second)


def test_the_trail_comes_in_parts_and_of_one_person(serve, visit):
    served = serve()
    for k in range(35):
        served.fake.note(f"Ann downloaded file {k}.", "Bob" if k < 2 else None)
    page = visit(served.url)
    shown(page)
    go_to(page, "Progress")
    page.get_by_role("link", name="Invite somebody").click()
    lines = page.get_by_role("region", name="Who did what").get_by_role("listitem")
    expect(lines).to_have_count(30)
    expect(lines.first).to_contain_text("Ann downloaded file 34.")
    page.get_by_role("button", name="Show earlier ones").click()
    expect(lines).to_have_count(35)
    expect(lines.nth(30)).to_be_focused()
    expect(page.get_by_role("button", name="Show earlier ones")).to_be_hidden()
    page.get_by_label("Show", exact=True).select_option("Bob")
    expect(lines).to_have_count(2)


def test_names_are_shown_and_never_run(serve, visit):
    served = serve()
    name = "<img src=x onerror=alert(1)>\u202eevil"
    served.fake.add_link(name, n=2)
    page = visit(served.url)
    shown(page)
    go_to(page, "People")
    expect(line(page, "<img src=x onerror=alert(1)>")).to_contain_text("U+202E")
    trail = page.get_by_role("region", name="Who did what").get_by_role("listitem")
    expect(trail.first).to_contain_text("<img src=x onerror=alert(1)>U+202Eevil")


@pytest.mark.parametrize(
    "look", [{}, PHONE | {"color_scheme": "dark"}], ids=["light", "dark phone"]
)
def test_the_view_breaks_no_rules(serve, visit, look):
    served = serve()
    served.fake.add_link("Bob", n=12, id=None, by=None)
    served.fake.add_link("Carl", "owner")
    served.fake.on_revoke({"name": "Carl", "invitation": "k1"}, {})
    page = visit(served.url, reduced_motion="reduce", **look)
    shown(page)
    page.goto(f"{served.url}#people")
    invite(page, "Dora")
    page.get_by_text("Links that were revoked").click()
    assert violations(page) == []
    page.get_by_role("button", name="Revoke the link of Dora").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("button", name="Cancel").click()
    served.fake.ended = True
    page.goto(f"{served.url}#answer")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("alert")).to_be_visible()
    assert violations(page) == []
