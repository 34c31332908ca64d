"""The figures equal their definitions, and their intervals hold what they promise."""

import warnings
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from benchmarks.agreement import World, agreement, coverage, ours, percentile
from pairlearn.people import agreement as figures
from pairlearn.people import cohen_kappa, krippendorff_alpha
from pairlearn.people.agreement import agreement_of, alpha_of, interval


def alpha_by_definition(answers):
    """Alpha from its coincidence matrix, one couple of answers at a time."""
    matrix = {}
    for things in zip(*answers, strict=True):
        said = [one for one in things if one is not None]
        if len(said) < 2:
            continue
        for one, other in permutations(range(len(said)), 2):
            key = said[one], said[other]
            matrix[key] = matrix.get(key, 0.0) + 1 / (len(said) - 1)
    totals = {}
    for (one, _), often in matrix.items():
        totals[one] = totals.get(one, 0.0) + often
    n = sum(totals.values())
    seen = sum(often for (one, other), often in matrix.items() if one != other)
    chance = sum(
        totals[one] * totals[other]
        for one in totals
        for other in totals
        if one != other
    )
    return 1 - (n - 1) * seen / chance if chance else None


tables = st.integers(2, 6).flatmap(
    lambda n_things: st.lists(
        st.lists(
            st.sampled_from(["same", "different", "other", None]),
            min_size=n_things,
            max_size=n_things,
        ),
        min_size=1,
        max_size=5,
    )
)


class TestAlpha:
    @settings(max_examples=300, deadline=None)
    @given(tables)
    def test_equals_the_coincidence_matrix(self, answers):
        found, wanted = krippendorff_alpha(answers), alpha_by_definition(answers)
        assert (
            np.isnan(found)
            if wanted is None
            else found == pytest.approx(wanted, abs=1e-9)
        )

    def test_equals_it_for_many_people_and_things(self):
        rng = np.random.default_rng(0)
        for _ in range(20):
            truth = rng.integers(3, size=80)
            answers = np.where(
                rng.random((7, 80)) < 0.6, truth, rng.integers(3, size=80)
            )
            gaps = rng.random((7, 80)) < 0.5
            table = [
                [None if gap else int(one) for one, gap in zip(row, gone, strict=True)]
                for row, gone in zip(answers, gaps, strict=True)
            ]
            wanted = alpha_by_definition(table)
            assert krippendorff_alpha(table) == pytest.approx(wanted, abs=1e-9)

    def test_neither_the_order_of_people_nor_unpaired_answers_matter(self):
        ann, bob, eve = [1, 1, 2, None], [1, 2, 2, None], [None, None, 2, 1]
        alone = [1, 1, 2], [1, 2, 2], [None, None, 2]
        wanted = krippendorff_alpha(alone)
        assert krippendorff_alpha([ann, bob, eve]) == pytest.approx(wanted)
        assert krippendorff_alpha([eve, ann, bob]) == pytest.approx(wanted)

    def test_people_of_different_length_are_refused(self):
        with pytest.raises(ValueError, match="the people have 2, 3"):
            krippendorff_alpha([[1, 2], [1, 2, 3]])

    @pytest.mark.parametrize("answers", [[], [[]], [[1, 2]], [[1, None], [None, 1]]])
    def test_nothing_to_compare_is_nan(self, answers):
        assert np.isnan(krippendorff_alpha(answers))


class TestKappa:
    def test_equals_scikit_learn(self):
        rng = np.random.default_rng(1)
        n_defined = 0
        for _ in range(200):
            size, kinds = rng.integers(1, 50), rng.integers(1, 5)
            one, other = rng.integers(kinds, size=(2, size)).tolist()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                wanted = cohen_kappa_score(one, other)
            found = cohen_kappa(one, other)
            assert found == pytest.approx(wanted, abs=1e-9, nan_ok=True)
            n_defined += not np.isnan(found)
        assert n_defined > 100

    @pytest.mark.parametrize("other", [[], [1]])
    def test_unequal_or_no_answers_are_refused(self, other):
        with pytest.raises(ValueError, match="one answer of each about each thing"):
            cohen_kappa([] if not other else [1, 2], other)


def test_agreement_counts_comparisons():
    """Three who agree are three comparisons, as many as three couples elsewhere."""
    assert agreement_of(np.array([[3, 0], [1, 1]])) == 3 / 4
    assert agreement_of(np.array([[2, 1], [2, 0]])) == 2 / 4


class TestIntervals:
    @pytest.fixture(autouse=True)
    def _few_draws(self, monkeypatch):
        """The quantiles of a thousand draws will do; all take twice as long."""
        monkeypatch.setattr(figures, "N_DRAWS", 1000)

    @pytest.mark.parametrize(
        ("world", "n_pairs"),
        [
            (World((0.9, 0.9)), 60),
            (World((0.97, 0.97)), 200),
            (World((0.99, 0.99), same=0.8), 60),
            (World((0.99, 0.99), same=0.8), 200),
            (World((0.95, 0.9, 0.85, 0.5), n_each=3), 60),
        ],
    )
    def test_they_hold_the_truth(self, world, n_pairs):
        for method in (ours, agreement):
            held, _, undefined = coverage(world, n_pairs, method, 500, seed=3)
            assert held >= 0.92
            assert not undefined

    def test_the_plain_bootstrap_would_not(self):
        held, _, _ = coverage(World((0.99, 0.99)), 60, percentile, 500, seed=3)
        assert held < 0.8

    def test_no_disagreement_is_no_certainty(self):
        low, high = interval(np.array([[2, 0]] * 30 + [[0, 2]] * 30), agreement_of)
        assert 0.92 < low < 0.97
        assert high == pytest.approx(1.0, abs=1e-3)

    def test_the_seed_decides_and_confidence_widens(self):
        counts = np.array([[2, 0]] * 20 + [[0, 2]] * 15 + [[1, 1]] * 5)
        ends = interval(counts, alpha_of, 0.95, random_state=1)
        assert ends == interval(counts, alpha_of, 0.95, random_state=1)
        assert ends != interval(counts, alpha_of, 0.95, random_state=2)
        wide = interval(counts, alpha_of, 0.99, random_state=1)
        assert wide[0] < ends[0] < ends[1] < wide[1]

    def test_confidence_is_a_share(self):
        with pytest.raises(ValueError, match="confidence"):
            interval(np.array([[2, 0], [1, 1]]), alpha_of, 95)
