"""Partners: near, known, of the likeliest class, and in turn."""

import numpy as np

from pairlearn.ask.partners import choose_partner, class_chances, point_to_ask_again
from pairlearn.trust.beliefs import believe

Z = np.arange(30.0)[:, None]


def three_classes():
    index = np.array([(0, 10), (0, 20), (10, 20), (1, 0), (11, 10), (21, 20)])
    return index, believe(index, [-1, -1, -1, 1, 1, 1], n_classes=3)


def test_the_likeliest_class_comes_first_and_ruled_out_ones_never():
    index, found = three_classes()
    p = np.array([0.1, 0.2, 0.7])
    assert choose_partner(25, found, Z, index, probability=p) in (20, 21)
    index = np.r_[index, [(25, 21)]]
    found = believe(index, [-1, -1, -1, 1, 1, 1, -1], n_classes=3)
    assert choose_partner(25, found, Z, index) in (0, 1, 10, 11)
    index = np.r_[index, [(25, 0)]]
    found = believe(index, [-1, -1, -1, 1, 1, 1, -1, -1], n_classes=3)
    assert choose_partner(25, found, Z, index) is None
    assert choose_partner(25, found, Z, index, again=True) in (10, 11)


def test_partners_take_turns_among_those_near():
    index, used = np.array([(k, 0) for k in range(1, 12)]), []
    t = np.ones(11)
    for target in range(20, 26):
        found = believe(index, t, n_classes=2)
        partner = choose_partner(target, found, Z, index)
        used.append(partner)
        index, t = np.r_[index, [(target, partner)]], np.append(t, -1.0)
    assert len(set(used)) >= 5
    assert min(used) >= 7


def test_unknown_number_of_classes_is_asked_until_none_is_left():
    index = np.array([(0, 1)])
    found = believe(index, [-1])
    assert choose_partner(2, found, Z, index) in (0, 1)
    index = np.array([(0, 1), (2, 0), (2, 1)])
    found = believe(index, [-1, -1, -1])
    assert choose_partner(2, found, Z, index) is None
    chances = class_chances(9, found, np.array([0.8, 0.1, 0.1]))
    assert chances.argmax() == 0
    assert chances[3] > 0


def test_no_partner_without_answers_or_without_a_free_anchor():
    nothing = believe(np.empty((0, 2)), [], n_classes=2)
    assert choose_partner(3, nothing, Z, np.empty((0, 2))) is None
    index = np.array([(0, 1)])
    found = believe(index, [1], n_classes=2)
    assert choose_partner(0, found, Z, index, again=True) is None


def test_doubtful_points_are_asked_again_but_not_for_ever():
    index = [(0, 1), (0, 1), (0, 2), (1, 2), (0, 3), (1, 3)]
    found = believe(index, [1, 1, 1, -1, -1, -1], n_classes=2, noise=0.1)
    assert point_to_ask_again(found, index) == 2
    assert point_to_ask_again(found, index, most_questions=2) is None
    sure = believe(index, [1, 1, 1, 1, -1, -1], n_classes=2, noise=0.01)
    assert point_to_ask_again(sure, index) is None
