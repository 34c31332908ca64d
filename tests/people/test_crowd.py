"""Answers gathered by pair, and which of them may count in a certificate."""

import numpy as np
import pytest

from pairlearn.people.coin_likelihood import CoinAnswers, log_ratio
from pairlearn.people.coin_priors import RATES
from pairlearn.people.coins import Coins
from pairlearn.people.crowd import UNNAMED, check_annotators, gather
from pairlearn.people.rates import PeopleRates, PersonRates, rates_of_people


def coins_of(r1, r0):
    cells = np.zeros((len(r1), len(RATES), len(RATES)))
    for a, (one, other) in enumerate(zip(r1, r0, strict=True)):
        cells[a, np.abs(RATES - one).argmin(), np.abs(RATES - 1 + other).argmin()] = 1
    return Coins(np.array(r1), np.array(r0), cells, np.ones(len(r1)), 0.0)


def crowd_of(index, t, who):
    names, person = check_annotators(who, len(t))
    return gather(np.array(index), np.array(t, float), names, person, np.ones(len(t)))


def test_names_may_be_numbers_and_nobody():
    names, person = check_annotators(np.array([3, 1, 3]), 3)
    assert names == ("1", "3")
    assert person.tolist() == [1, 0, 1]
    names, _ = check_annotators([" ann", "", None, float("nan"), "ann "], 5)
    assert names == (UNNAMED, "ann")


@pytest.mark.parametrize("wrong", [["ann"], [["ann", "bob"]], "annbob"])
def test_one_name_per_answer(wrong):
    with pytest.raises(ValueError, match="one name per answer"):
        check_annotators(wrong, 2)


def test_a_person_has_one_answer_about_a_pair():
    index = [[0, 1], [1, 0], [0, 1], [2, 3]]
    first, crowd = crowd_of(index, [1, -1, 1, -1], ["ann", "ann", "bob", "ann"])
    assert first.tolist() == [0, 3]
    assert crowd.share.tolist() == [0.5, 1.0, 0.0]
    assert crowd.n_answers.tolist() == [2, 1]
    assert crowd.n_overlaps.tolist() == [1, 1]


def test_together_they_say_what_bayes_says():
    index = [[0, 1], [0, 1], [2, 3]]
    _, crowd = crowd_of(index, [1, -1, -1], ["ann", "bob", "bob"])
    t, wrong = crowd.told(coins_of([0.9, 0.7], [0.2, 0.4]))
    ratio = 0.9 / 0.2 * (0.3 / 0.6)
    np.testing.assert_allclose(wrong, [1 / (1 + ratio), 0.3 / 0.9])
    assert t.tolist() == [1, -1]


def test_some_of_the_pairs():
    index = [[0, 1], [2, 3], [4, 5], [2, 3]]
    _, crowd = crowd_of(index, [1, 1, -1, -1], ["ann", "ann", "bob", "bob"])
    part = crowd.part(np.array([2, 1]))
    assert part.n_pairs == 2
    assert sorted(zip(part.pair, part.person, part.share, strict=True)) == [
        (0, 1, 0.0),
        (1, 0, 1.0),
        (1, 1, 0.0),
    ]


def test_who_counts_depends_on_people_and_not_on_what_they_say():
    index = [[0, 1], [0, 1], [2, 3], [4, 5], [6, 7]]
    who = ["good", "better", "at random", "adverse", "good"]
    coins = coins_of([0.1, 0.5, 0.95, 0.7], [0.9, 0.5, 0.05, 0.3])
    for said in (1.0, -1.0):
        _, crowd = crowd_of(index, [said, -said, said, said, said], who)
        assert crowd.names == ("adverse", "at random", "better", "good")
        t, countable, rates = crowd.to_count(
            *coins.rates, coins.at_chance, coins.adverse
        )
        assert t.tolist() == [-said, 0.0, -said, said]
        assert countable.tolist() == [True, False, True, True]
        np.testing.assert_allclose(rates, ((0.95 + 0.9 + 0.7) / 3, 0.45 / 3))


def test_where_nobody_counts():
    _, crowd = crowd_of([[0, 1]], [1], ["ann"])
    coins = coins_of([0.5], [0.5])
    t, countable, _ = crowd.to_count(*coins.rates, coins.at_chance, coins.adverse)
    assert not countable.any()
    assert t.tolist() == [0.0]


def test_the_table_of_people():
    index = [[0, 1], [2, 3], [0, 1]]
    _, crowd = crowd_of(index, [1, 1, -1], ["ann", "ann", "bob"])
    people = rates_of_people(crowd, coins_of([0.95, 0.5], [0.05, 0.5]))
    assert [person.name for person in people] == ["ann", "bob"]
    assert people.named("bob").is_spammer
    assert not people.named("ann").is_spammer
    assert people.named("ann").tells > 0.7
    assert people.named("bob").tells == pytest.approx(0)
    assert people.mean_rates == pytest.approx(((2 * 0.95 + 0.5) / 3, 0.6 / 3))
    assert "seems to answer at random" in repr(people)
    assert people.to_frame()["n_overlaps"].tolist() == [1, 1]
    with pytest.raises(KeyError, match="nobody is called 'cy'"):
        people.named("cy")


def test_names_are_shown_as_text_in_notebooks():
    row = PersonRates("<b>", 1, 0, 0.9, 0.1, (0.8, 1.0), (0.0, 0.2), 0.5, "adverse")
    assert "<b>" not in PeopleRates((row,))._repr_html_()
    assert row.is_adversary


def test_soft_answers_are_taken_as_they_are():
    answers = CoinAnswers(
        np.array([[0, 1]]), np.array([0.75]), np.array([0]), 1, np.ones(1)
    )
    found = log_ratio(answers, np.array([0.9]), np.array([0.2]))
    same, different = 0.75 * 0.9 + 0.25 * 0.1, 0.75 * 0.2 + 0.25 * 0.8
    np.testing.assert_allclose(found, np.log(same / different))
