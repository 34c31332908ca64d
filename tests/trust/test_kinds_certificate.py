"""Certificates for any number of kinds: bounds that are reached, and that hold."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from pairlearn import KindsCertificate, Pairs, certify, pairs_within_groups
from pairlearn.trust.certificate import certificate_from_counts
from pairlearn.trust.intervals import clopper_pearson, mean_of_unequal
from pairlearn.trust.kinds import judge_kinds
from pairlearn.trust.kinds_counts import kinds_certificate_from_counts
from pairlearn.trust.noise import FlipRateEstimate, Noise, as_noise
from pairlearn.trust.purity import (
    Within,
    error_interval,
    greatest_purity,
    least_purity,
    truly_different,
)
from pairlearn.trust.sample_checks import MoreKindsError


class FirstColumn:
    """A classifier that says what the first column says."""

    classes_ = np.arange(3)

    def predict(self, X):
        return np.asarray(X)[:, 0].astype(int)


def world(n_points, rng, error=0.1, n_kinds=3):
    """Return points whose first column is a guess at their kind, and the kinds."""
    y = rng.integers(n_kinds, size=n_points)
    wrong = rng.random(n_points) < error
    said = np.where(wrong, (y + rng.integers(1, n_kinds, n_points)) % n_kinds, y)
    return np.stack([said.astype(float), rng.random(n_points)], axis=1), y


class TestPurity:
    @pytest.mark.parametrize("n_kinds", [2, 3, 5, 12])
    def test_random_shares_lie_between(self, n_kinds):
        rng = np.random.default_rng(0)
        for concentration in (0.1, 0.5, 2.0):
            s = rng.dirichlet(np.full(n_kinds, concentration), size=3000)
            q, m = (s**2).sum(axis=1), s.max(axis=1)
            assert np.all(least_purity(q) <= m + 1e-7)
            assert np.all(greatest_purity(q, n_kinds) >= m - 1e-7)
            assert np.all(greatest_purity(q) >= greatest_purity(q, n_kinds) - 1e-12)

    @pytest.mark.parametrize("m", [0.22, 1 / 3, 0.4, 0.5, 0.61, 0.95, 1.0])
    def test_the_least_is_reached_by_equal_shares_and_a_rest(self, m):
        j = int(1 / m)
        q = j * m**2 + (1 - j * m) ** 2
        assert least_purity(q) == pytest.approx(m, abs=1e-7)

    @pytest.mark.parametrize("n_kinds", [2, 3, 10, 10**6])
    @pytest.mark.parametrize("m", [0.51, 0.8, 1.0])
    def test_the_greatest_is_reached_by_an_even_rest(self, n_kinds, m):
        q = m**2 + (1 - m) ** 2 / (n_kinds - 1)
        assert greatest_purity(q, n_kinds) == pytest.approx(m)
        if n_kinds == 10**6:
            assert greatest_purity(q) == pytest.approx(m, abs=1e-4)

    def test_closed_forms(self):
        q = np.linspace(0.5, 1, 101)
        assert least_purity(q) == pytest.approx((1 + np.sqrt(2 * q - 1)) / 2)
        assert greatest_purity(q, 2) == pytest.approx(least_purity(q))
        assert np.all(least_purity(np.linspace(0, 1, 999)) >= np.linspace(0, 1, 999))
        assert least_purity(0.0) == 0

    def test_the_chord_is_above_the_curve(self):
        p = np.linspace(0, 1, 2001)
        error = 1 - least_purity(1 - p)
        assert np.all(np.diff(error) >= -1e-12)
        for u in (0.03, 0.2, 0.499, 0.5, 0.7, 1.0):
            most = 1 - least_purity(1 - u)
            slope = most / u if u < 0.5 else 1.0
            assert np.all(error[p <= u] <= slope * p[p <= u] + 1e-9)


class TestMeanOfUnequal:
    @pytest.mark.parametrize("n", [5, 12])
    def test_it_holds_whatever_the_probabilities(self, n):
        """Exact coverage of the mean, for probabilities that differ much."""
        rng = np.random.default_rng(0)
        ends = np.array([mean_of_unequal(k, n, 0.9) for k in range(n + 1)])
        worlds = [rng.beta(a, a, size=n) for a in (0.05, 0.2, 1.0) for _ in range(200)]
        worlds += [np.full(n, p) for p in np.linspace(0.001, 0.999, 50)]
        worlds += [np.eye(n)[0] * p for p in (0.01, 0.05, 0.06, 1.0)]
        worlds += [1 - np.eye(n)[0] * p for p in (0.01, 0.05, 0.06, 1.0)]
        for p in worlds:
            chance = np.ones(1)
            for each in p:
                chance = np.convolve(chance, [1 - each, each])
            for missed in (ends[:, 0] > p.mean(), ends[:, 1] < p.mean()):
                assert chance[missed].sum() <= 0.05 + 1e-12

    def test_it_is_that_of_clopper_and_pearson_but_for_one_hit_or_miss(self):
        for k in (0, 2, 7, 18, 20):
            assert mean_of_unequal(k, 20) == pytest.approx(clopper_pearson(k, 20))
        assert mean_of_unequal(1, 20)[0] < clopper_pearson(1, 20)[0]
        assert mean_of_unequal(19, 20)[1] > clopper_pearson(19, 20)[1]


def exact_misses(n, p, shares, error, **options):
    """Return the probabilities of both ends missing, over all counts of two groups."""
    low = high = 0.0
    for i in range(n[0] + 1):
        for j in range(n[1] + 1):
            counts = Within(np.array(n), np.array([i, j]), np.zeros(2, int))
            ends = error_interval(counts, np.array(shares), Noise(), 0.1, **options)
            chance = binom.pmf(i, n[0], p[0]) * binom.pmf(j, n[1], p[1])
            low += chance * (ends[0] > error + 1e-12)
            high += chance * (ends[1] < error - 1e-12)
    return low, high


class TestErrorInterval:
    @pytest.mark.parametrize("n", [(12, 12), (18, 4), (9, 0)])
    @pytest.mark.parametrize(
        "s",
        [[(0.9, 0.1), (0.9, 0.1)], [(1.0,), (0.5, 0.5)], [(0.7, 0.3), (1 / 3,) * 3]],
    )
    def test_exact_coverage_for_two_groups(self, n, s):
        """All counts are enumerated: worst share vectors, equal and unequal groups."""
        shares = (0.6, 0.4)
        p = [1 - sum(x**2 for x in each) for each in s]
        error = sum(w * (1 - max(each)) for w, each in zip(shares, s, strict=True))
        assert sum(exact_misses(n, p, shares, error)) <= 0.1

    def test_a_group_without_pairs_may_be_anything(self):
        found = kinds_certificate_from_counts([0, 0], [400, 0], [0.9, 0.1])
        empty = found.groups[1]
        assert empty.interval == (0.0, 1.0)
        assert np.isnan(empty.purity)
        assert found.interval[0] == 0
        assert 0.1 <= found.interval[1] < 0.12
        assert "unknown" in str(found)
        nothing = kinds_certificate_from_counts([0, 0], [0, 0], [0.9, 0.1])
        assert nothing.interval == (0.0, 1.0)

    def test_extremes(self):
        pure = kinds_certificate_from_counts([0, 0, 0], [200] * 3, [0.2, 0.3, 0.5])
        assert pure.error == pure.interval[0] == 0
        assert all(group.interval[1] == 1 for group in pure.groups)
        mixed = kinds_certificate_from_counts([200] * 3, [200] * 3, [0.2, 0.3, 0.5])
        assert mixed.interval[1] == 1
        limited = kinds_certificate_from_counts(
            [130] * 3, [200] * 3, [0.2, 0.3, 0.5], kinds=3
        )
        assert limited.interval[1] <= 2 / 3 + 1e-12

    def test_names_and_order_do_not_matter(self):
        counts, n, w = np.array([3, 0, 9]), np.array([40, 60, 20]), [0.3, 0.5, 0.2]
        one = kinds_certificate_from_counts(counts, n, w, names=["a", "b", "c"])
        turn = [2, 0, 1]
        other = kinds_certificate_from_counts(
            counts[turn], n[turn], np.array(w)[turn], names=["c", "a", "b"]
        )
        assert one.interval == pytest.approx(other.interval)
        assert one.error == pytest.approx(other.error)
        by_name = {group.name: group.interval for group in other.groups}
        for group in one.groups:
            assert by_name[group.name] == pytest.approx(group.interval)

    def test_two_kinds_are_near_theorem_1(self):
        """Pairs within groups alone, 400 of them, say as much as 400 of Theorem 1."""
        theorem = certificate_from_counts(40, 400).clustering_interval
        found = kinds_certificate_from_counts([20, 20], [200, 200], [0.5, 0.5], kinds=2)
        width = found.interval[1] - found.interval[0]
        assert width < 1.25 * (theorem[1] - theorem[0])
        assert found.error == pytest.approx(0.0528, abs=0.001)

    def test_estimated_shares_widen_it(self):
        args = [9, 0, 21], [90, 120, 90], [0.3, 0.4, 0.3]
        known = kinds_certificate_from_counts(*args)
        many = kinds_certificate_from_counts(*args, n_points=10**6)
        few = kinds_certificate_from_counts(*args, n_points=600)
        assert few.interval[0] < many.interval[0] <= known.interval[0]
        assert few.interval[1] > many.interval[1] >= known.interval[1]
        assert many.interval == pytest.approx(known.interval, abs=0.005)

    def test_unsure_answers_count_both_ways(self):
        w, n = [0.5, 0.5], [100, 100]
        less, some, more = (
            kinds_certificate_from_counts([a, 5], n, w, n_unsure=[b, 0])
            for a, b in [(5, 0), (5, 10), (15, 0)]
        )
        assert some.interval == (less.interval[0], more.interval[1])
        assert some.groups[0].interval[0] == more.groups[0].interval[0]
        assert some.groups[0].interval[1] == less.groups[0].interval[1]
        assert less.error < some.error < more.error

    def test_bad_counts_are_refused(self):
        with pytest.raises(ValueError, match="one number for each group"):
            kinds_certificate_from_counts([1], [5, 5], [0.5, 0.5])
        with pytest.raises(ValueError, match="more answers than pairs"):
            kinds_certificate_from_counts([6, 0], [5, 5], [0.5, 0.5])
        with pytest.raises(ValueError, match="add up to 1"):
            kinds_certificate_from_counts([1, 1], [5, 5], [0.5, 0.6])
        with pytest.raises(ValueError, match="kinds must be"):
            kinds_certificate_from_counts([1, 1], [5, 5], [0.5, 0.5], kinds=1)


class TestWrongAnswers:
    @pytest.mark.parametrize("rates", [(0.9, 0.1), (0.8, 0.0), (1.0, 0.3)])
    def test_known_rates_are_turned_back(self, rates):
        r1, r0 = rates
        p = np.array([0.0, 0.1, 0.7])
        told = 1 - r1 + (r1 - r0) * p
        for low in truly_different(as_noise(rates), told, told):
            assert low == pytest.approx(p)

    def test_every_assumption_holds_its_worlds(self):
        """Rates of all kinds below 1/2, and correlated ones, stay inside."""
        p = np.linspace(0, 1, 21)
        for r1 in (0.5, 0.7, 1.0):
            for r0 in (0.0, 0.2, 0.5):
                told = 1 - r1 + (r1 - r0) * p
                assert np.all(
                    truly_different(Noise("unknown"), told, told)[1] >= p - 1e-12
                )
        low, high = truly_different(as_noise(0.1, cautious=True), p, p)
        assert np.all(
            (low <= np.maximum(p - 0.1, 0)) & (high >= np.minimum(p + 0.1, 1))
        )

    def test_coverage_with_known_rates(self):
        rng = np.random.default_rng(0)
        w, n = np.array([0.5, 0.3, 0.2]), np.array([100, 60, 40])
        s = np.array([[0.9, 0.1, 0], [0.05, 0.9, 0.05], [0.2, 0, 0.8]])
        p, error = 1 - (s**2).sum(axis=1), w @ (1 - s.max(axis=1))
        held = 0
        for _ in range(300):
            different = rng.binomial(n, 0.1 + 0.8 * p)
            found = kinds_certificate_from_counts(different, n, w, 0.95, 0.1)
            held += found.interval[0] <= error <= found.interval[1]
        assert held >= 300 * 0.95 - 3 * np.sqrt(300 * 0.95 * 0.05)
        assert "10.0% wrong answers" in str(found)

    def test_rates_that_are_not_known_well_enough(self):
        rough = FlipRateEstimate(0.1, (0.05, 0.15), 100, 0.9)
        with pytest.raises(ValueError, match="not enough for a certificate"):
            kinds_certificate_from_counts([1, 1], [50, 50], [0.5, 0.5], 0.95, rough)
        fine = kinds_certificate_from_counts([9, 9], [50, 50], [0.5, 0.5], 0.8, rough)
        assert fine.interval[0] == 0

    def test_unknown_rates_have_no_lower_end(self):
        found = kinds_certificate_from_counts(
            [9, 9], [50, 50], [0.5, 0.5], 0.95, "auto"
        )
        right = kinds_certificate_from_counts([9, 9], [50, 50], [0.5, 0.5])
        assert found.interval[0] == 0
        assert found.bolder_interval == right.interval
        assert "at most" in str(found)


class TestCertify:
    def test_several_groups_get_a_certificate_that_holds(self):
        rng = np.random.default_rng(0)
        X, y = world(4000, rng)
        pairs, t = Pairs.sample(X[:2000], 1000, y[:2000], random_state=0)
        found = certify(FirstColumn(), pairs, t)
        assert isinstance(found, KindsCertificate)
        assert found.interval[0] < 0.1 < found.interval[1]
        assert all(
            group.interval[0] < 0.9 < group.interval[1] for group in found.groups
        )
        assert found.n_pairs == 1000
        assert found.same_kind == ()
        # Pairs within groups say more.
        asked = pairs_within_groups(FirstColumn(), X, 1000, random_state=0)
        within = certify(FirstColumn(), asked, asked.answers(y), points=X)
        assert within.interval[0] < 0.1 < within.interval[1]
        assert np.diff(within.interval) < 0.5 * np.diff(found.interval)
        assert [group.name for group in within.groups] == [0, 1, 2]

    def test_other_names_change_nothing_but_names(self):
        class Named(FirstColumn):
            classes_ = np.array(["z", "x", "y"])

            def predict(self, X):
                return self.classes_[super().predict(X)]

        X, y = world(800, np.random.default_rng(1))
        pairs, t = Pairs.sample(X, 400, y, random_state=0)
        one, other = certify(FirstColumn(), pairs, t), certify(Named(), pairs, t)
        assert one.interval == other.interval
        assert [group.name for group in other.groups] == ["z", "x", "y"]
        swapped = certify(FirstColumn(), pairs, pairs.answers((y + 1) % 3))
        assert swapped.interval == one.interval

    def test_two_groups(self):
        class Two(FirstColumn):
            classes_ = np.arange(2)

        X, y = world(1600, np.random.default_rng(1), n_kinds=2)
        pairs, t = Pairs.sample(X, 800, y, random_state=0)
        assert not isinstance(certify(Two(), pairs, t), KindsCertificate)
        assert not isinstance(certify(Two(), pairs, t, kinds=2), KindsCertificate)
        for options in ({"kinds": "any"}, {"kinds": 3}, {"points": X}):
            found = certify(Two(), pairs, t, **options)
            assert isinstance(found, KindsCertificate)
            assert found.interval[0] < 0.1 < found.interval[1]
        assert found.kinds == 2

    def test_three_kinds_in_two_groups(self):
        rng = np.random.default_rng(0)
        X, y = world(1600, rng, error=0.0)
        X[:, 0] = np.minimum(X[:, 0], 1)
        Two = type("Two", (FirstColumn,), {"classes_": np.arange(2)})
        pairs, t = Pairs.sample(X, 800, y, random_state=0)
        with pytest.raises(MoreKindsError, match="kinds='any'"):
            certify(Two(), pairs, t)
        found = certify(Two(), pairs, t, kinds="any")
        assert found.groups[0].purity == 1
        assert found.groups[1].interval[0] < 0.5 < found.groups[1].interval[1]
        assert found.interval[0] < 1 / 3 < found.interval[1]
        within = pairs_within_groups(Two(), X, 400, random_state=0)
        with pytest.raises(MoreKindsError, match="more than 2 kinds"):
            certify(Two(), within, -np.ones(400), points=X)

    def test_two_groups_that_are_one_kind(self):
        rng = np.random.default_rng(0)
        X, y = world(1200, rng, error=0.02)
        one = np.where(y == 2, 1, y)
        pairs, t = Pairs.sample(X, 600, one, random_state=0)
        found = certify(FirstColumn(), pairs, t)
        assert found.same_kind == ((1, 2),)
        assert "groups 1 and 2 are one kind" in str(found)
        asked = pairs_within_groups(FirstColumn(), X, 200, n_between=12, random_state=0)
        within = certify(FirstColumn(), asked, asked.answers(one), points=X)
        assert within.same_kind == ((1, 2),)
        assert sum(couple.n_pairs for couple in within.couples) == 36

    def test_members_of_groups_of_different_kinds_are_seldom_the_same(self):
        """Above 1/2 the largest classes are one: brute force over shares."""
        rng = np.random.default_rng(0)
        for a in (0.1, 0.5, 2.0):
            s, r = rng.dirichlet(np.full(4, a), size=(2, 5000))
            differ = s.argmax(axis=1) != r.argmax(axis=1)
            assert np.all((s * r).sum(axis=1)[differ] <= 0.5 + 1e-12)

    def test_unsure_shared_and_repeated_pairs(self):
        X, y = world(600, np.random.default_rng(3))
        pairs, t = Pairs.sample(X, 300, y, random_state=0)
        some = t.copy()
        some[:30] = 0
        found = certify(FirstColumn(), pairs, some)
        assert found.n_unsure == 30
        assert found.interval[1] > certify(FirstColumn(), pairs, t).interval[1]
        shared, t = Pairs.sample(X, 500, y, reuse=True, random_state=0)
        with pytest.warns(UserWarning, match="share a point"):
            found = certify(FirstColumn(), shared, t)
        assert found.n_pairs < 300
        assert found.interval[0] < 0.1 < found.interval[1]

    def test_training_points(self):
        from pairlearn import MCLClassifier

        rng = np.random.default_rng(0)
        y = rng.integers(3, size=900)
        X = rng.normal(size=(900, 2)) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[y]
        pairs, t = Pairs.sample(X, 450, y, random_state=0)
        clf = MCLClassifier(n_classes=3, random_state=0).fit(pairs[:200], t[:200])
        with pytest.raises(ValueError, match="trained on"):
            certify(clf, pairs[:200], t[:200])
        found = certify(clf, pairs[200:], t[200:])
        assert found.unseen
        mixed = certify(clf, pairs[150:], t[150:])
        assert not mixed.unseen
        assert mixed.n_doubtful == 50
        assert mixed.interval[1] >= found.interval[1]

    def test_anytime(self):
        X, y = world(2000, np.random.default_rng(3))
        pairs = pairs_within_groups(FirstColumn(), X, 300, random_state=0)
        t = pairs.answers(y)
        once = certify(FirstColumn(), pairs, t, points=X)
        always = certify(FirstColumn(), pairs, t, points=X, anytime=True)
        assert always.interval[0] < once.interval[0]
        assert always.interval[1] > once.interval[1]
        assert "at all looks" in str(always)
        random, t_random = Pairs.sample(X, 300, y, random_state=0)
        with pytest.raises(ValueError, match="points=X"):
            certify(FirstColumn(), random, t_random, anytime=True)
        nameless = type("Nameless", (), {"predict": FirstColumn.predict})
        with pytest.raises(ValueError, match="classes_"):
            certify(nameless(), pairs, t, points=X, anytime=True)

    def test_pairs_within_groups_need_to_be_told(self):
        X, y = world(2000, np.random.default_rng(3))
        pairs = pairs_within_groups(FirstColumn(), X, 300, random_state=0)
        with pytest.warns(UserWarning, match="points=X"):
            certify(FirstColumn(), pairs, pairs.answers(y))

    def test_wrong_parameters(self):
        X, y = world(200, np.random.default_rng(3))
        pairs, t = Pairs.sample(X, 100, y, random_state=0)
        with pytest.raises(ValueError, match="kinds must be"):
            certify(FirstColumn(), pairs, t, kinds=1)
        with pytest.raises(ValueError, match="kinds must be"):
            certify(FirstColumn(), pairs, t, kinds="many")

    def test_all_groups_of_the_classifier_are_listed(self):
        X, y = world(400, np.random.default_rng(3), n_kinds=2)
        pairs, t = Pairs.sample(X, 200, y, random_state=0)
        found = judge_kinds(FirstColumn(), pairs, t, Noise())
        assert [group.n_pairs for group in found.groups][2] == 0
        assert found.groups[2].interval == (0.0, 1.0)


class TestPairsWithinGroups:
    @pytest.mark.parametrize("n_pairs", [3, 50, 199])
    def test_they_share_no_point_and_follow_the_shares(self, n_pairs):
        rng = np.random.default_rng(0)
        said = rng.choice(3, p=[0.7, 0.25, 0.05], size=400)
        X = np.stack([said, rng.random(400)], axis=1)
        pairs = pairs_within_groups(FirstColumn(), X, n_pairs, random_state=0)
        assert len(pairs) == n_pairs
        assert pairs.is_disjoint()
        group = said[pairs.index]
        assert np.all(group[:, 0] == group[:, 1])
        count = np.bincount(group[:, 0], minlength=3)
        assert np.all(count >= 1)
        assert np.all(np.abs(count - n_pairs * np.bincount(said) / 400) <= 1.01)

    def test_too_few_points(self):
        X = np.stack([np.arange(10) % 3, np.arange(10)], axis=1)
        with pytest.raises(ValueError, match="draw fewer pairs"):
            pairs_within_groups(FirstColumn(), X, 6)
        with pytest.raises(ValueError, match="points of group"):
            pairs_within_groups(FirstColumn(), X, 3, n_between=2)


def test_coverage_in_small():
    """Purities of all groups together, and the error, hold in random pairs."""
    rng = np.random.default_rng(5)
    held = {"error": 0, "purity": 0}
    for _ in range(150):
        X, y = world(200, rng, error=0.2)
        pairs = Pairs(X, np.arange(200).reshape(-1, 2))
        found = certify(FirstColumn(), pairs, pairs.answers(y))
        held["error"] += found.interval[0] <= 0.2 <= found.interval[1]
        held["purity"] += all(
            group.interval[0] <= 0.8 <= group.interval[1] for group in found.groups
        )
    assert min(held.values()) >= 150 * 0.95 - 3 * np.sqrt(150 * 0.95 * 0.05)


def test_it_is_shown_group_by_group():
    found = kinds_certificate_from_counts(
        [9, 0, 21], [90, 120, 90], [0.3, 0.4, 0.3], names=["<a>", "b", "c"]
    )
    text, page = str(found), found._repr_html_()
    assert text.count("\n") == 4
    assert "if each group bears the name of its largest kind" in repr(found)
    assert "&lt;a&gt;" in page
    assert "<a>" not in page
    assert sum(group.error for group in found.groups) == pytest.approx(found.error)


class TestBenchmark:
    """A few runs of corners of benchmarks/kinds_certificate.py."""

    @pytest.mark.parametrize("audit", ["random", "within groups"])
    @pytest.mark.parametrize(
        "cell",
        [
            (2, "unequal", "one group", 0.2, 100),
            (3, "equal", "worst", 0.05, 300),
            (5, "unequal", "one group", 0.05, 100),
            (10, "equal", "even", 0.2, 300),
        ],
    )
    def test_corners_hold(self, cell, audit):
        bench = pytest.importorskip("benchmarks.kinds_certificate")
        world = bench.World.of(*cell[:-1])
        assert world.error == pytest.approx(cell[3])
        assert np.allclose(world.matrix.sum(axis=1), 1)
        found = bench.simulate(cell, audit, 200, seed=7)
        for held in ([each.error for each in found], [each.purities for each in found]):
            assert np.mean(held) >= bench.floor(200)


def test_majorities_may_be_wrong_more_often_than_single_answers():
    low, high = np.array([0.1]), np.array([0.2])
    single = Noise("any", (0.9, 0.1), ((0.9, 0.1),))
    several = replace(single, majorities=9 / 8)
    assert truly_different(single, low, high)[1][0] == pytest.approx(0.3)
    assert truly_different(several, low, high)[1][0] == pytest.approx(0.2 + 0.1 * 9 / 8)
    assert truly_different(several, low, high)[0][0] == pytest.approx(0.0)
