"""Tickets: only what was signed is accepted, whatever letter of it is changed."""

import base64
import json

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from pairlearn.label.web.tickets import Ticket, Tickets

TICKETS = Tickets("5" * 64)
NAMES = st.text(min_size=1, max_size=20).filter(
    lambda name: name.encode("utf-8", "ignore").decode() == name
)
IDS = st.from_regex(r"[A-Za-z0-9_-]{1,20}", fullmatch=True)
LETTERS = st.characters(min_codepoint=1, max_codepoint=300)


def changed(text, place, letter):
    place %= len(text)
    return text[:place] + letter + text[place + 1 :]


@given(NAMES, st.none() | IDS, st.integers(0), LETTERS)
# The last letter of a name in base64 has bits that stand for nothing.
@example("Anna", None, 5, "R")
@example("Anna", "k7", 5, "R")
@example("Anna", "k7", 7, "/")
def test_no_changed_letter_of_a_token_is_accepted(name, id_, place, letter):
    token = TICKETS.invitation(id_, name)
    assert TICKETS.of_token(token) == Ticket(name, owner=False, invitation=id_)
    other = changed(token, place, letter)
    assert other == token or TICKETS.of_token(other) is None


@given(st.none() | NAMES, st.booleans(), st.none() | IDS, st.integers(0), LETTERS)
def test_no_changed_letter_of_a_cookie_is_accepted(name, owner, id_, place, letter):
    ticket = Ticket(name, owner, id_)
    cookie = TICKETS.cookie(ticket)
    assert TICKETS.of_cookie(cookie) == ticket
    other = changed(cookie, place, letter)
    assert other == cookie or TICKETS.of_cookie(other) is None


@given(st.integers(0), LETTERS)
def test_no_changed_letter_of_the_owners_token_is_accepted(place, letter):
    token = TICKETS.owner_token
    other = changed(token, place, letter)
    assert other == token or TICKETS.of_token(other) is None


@given(st.text(max_size=200))
def test_what_is_no_token_is_none(text):
    assert TICKETS.of_token(text) is None
    assert TICKETS.of_cookie(text) is None


def test_parts_of_two_tokens_make_none():
    bob, eve = TICKETS.invitation("k1", "Bob"), TICKETS.invitation("k2", "Eve")
    (name, id_, sign), (other, other_id, other_sign) = bob.split("."), eve.split(".")
    for parts in [
        (other, id_, sign), (name, other_id, sign), (name, id_, other_sign),
        (name, sign), (name, id_), (name, id_, sign, sign), (name, "", sign),
    ]:  # fmt: skip
        assert TICKETS.of_token(".".join(parts)) is None
    # An id and a name cannot lend each other a letter.
    assert TICKETS.invitation("a", "b/c").split(".")[2] not in (
        TICKETS.invitation("a-b", "c").split(".")[2],
        TICKETS.invitation(None, "a/b/c").split(".")[1],
    )


def test_a_cookie_of_an_earlier_version_is_understood():
    text = base64.urlsafe_b64encode(json.dumps(["Bob", False, 4e9]).encode())
    text = text.rstrip(b"=").decode()
    sign = base64.urlsafe_b64encode(TICKETS._sign("cookie", text)).rstrip(b"=").decode()
    assert TICKETS.of_cookie(f"{text}.{sign}") == Ticket("Bob", owner=False)


def test_a_new_secret_keeps_the_project_and_no_link():
    new = Tickets("6" * 64, project=TICKETS.project)
    assert new.project == TICKETS.project
    assert new.cookie_name == TICKETS.cookie_name
    assert new.of_token(TICKETS.owner_token) is None
    assert new.of_token(TICKETS.invitation("k1", "Bob")) is None
    assert new.of_cookie(TICKETS.cookie(Ticket("Bob", owner=False))) is None


@pytest.mark.parametrize("id_", ["a.b", "", "a/b", "ü", "a" * 65])
def test_an_id_that_was_never_made_is_none(id_):
    token = TICKETS.invitation(id_, "Bob")
    assert TICKETS.of_token(token) is None
