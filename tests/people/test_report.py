"""What is told of people: who agrees, who does not, and what cannot be known."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from pairlearn.people import compare_people, krippendorff_alpha


def compare(rows, **more):
    """Compare people by rows such as "a b same ann"."""
    left, right, answers, who = zip(*(row.split() for row in rows), strict=True)
    return compare_people(left, right, answers, who, **more)


def crowd(n_pairs, accuracies, seed=0, share=0.3):
    """Return columns of answers of a crowd, and who said what about which pair."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n_pairs) < 0.5
    rows, said = [], {}
    for name, accuracy in accuracies.items():
        for pair in np.flatnonzero(rng.random(n_pairs) < share).tolist():
            same = bool(truth[pair] == (rng.random() < accuracy))
            said[name, pair] = same
            swap = rng.random() < 0.5
            ids = (f"l{pair}", f"r{pair}")[:: -1 if swap else 1]
            rows.append((*ids, 1 if same else -1, name))
    order = rng.permutation(len(rows))
    return list(zip(*(rows[k] for k in order), strict=True)), said


class TestFigures:
    def test_couples_and_alpha_are_those_of_others(self):
        names = {"ann": 0.9, "bob": 0.8, "eve": 0.7, "dan": 0.5}
        columns, said = crowd(200, names)
        report = compare_people(*columns)
        assert len(report.couples) == 6
        for couple in report.couples:
            both = [
                pair
                for pair in range(200)
                if (couple.one, pair) in said and (couple.other, pair) in said
            ]
            one = [said[couple.one, pair] for pair in both]
            other = [said[couple.other, pair] for pair in both]
            assert couple.n_pairs == len(both)
            assert couple.agreement == pytest.approx(np.mean(np.equal(one, other)))
            wanted = cohen_kappa_score(one, other)
            assert couple.kappa == pytest.approx(wanted, abs=1e-9)
            low, high = couple.kappa_interval
            assert low < couple.kappa < high
        table = [[said.get((name, pair)) for pair in range(200)] for name in names]
        assert report.alpha.value == pytest.approx(krippendorff_alpha(table), abs=1e-9)
        n_agreed = sum(couple.n_agreed for couple in report.couples)
        n_compared = sum(couple.n_pairs for couple in report.couples)
        assert report.agreement.value == pytest.approx(n_agreed / n_compared)
        assert sum(person.n_compared for person in report.persons) == 2 * n_compared

    def test_who_guesses_is_told(self):
        columns, _ = crowd(300, {"ann": 0.95, "bob": 0.9, "eve": 0.92, "dan": 0.5})
        report = compare_people(*columns)
        assert len(report.notes) == 1
        assert report.notes[0].startswith("dan agrees with others hardly more often")

    def test_of_two_nobody_is_blamed(self):
        columns, _ = crowd(300, {"ann": 0.95, "dan": 0.5})
        assert compare_people(*columns).notes == ()

    def test_unsure_answers_are_counted_and_compared_with_nothing(self):
        rows = ["a b same ann", "b a unsure bob", "c d same ann", "c d different bob"]
        report = compare(rows)
        assert report.n_compared == 1
        assert report.agreement.value == 0
        assert {p.name: p.n_unsure for p in report.persons} == {"ann": 0, "bob": 1}
        assert report.headline[0].endswith("; 1 answer is unsure.")

    def test_of_a_person_who_answers_twice_the_first_answer_counts(self):
        rows = ["a b same ann", "a b same bob", "b a different ann"]
        report = compare(rows)
        assert report.agreement.value == 1
        ann, _ = report.persons
        assert (ann.n_repeated, ann.n_consistent, ann.consistency) == (1, 0, 0.0)
        # By the times, the last row is the first answer.
        report = compare(rows, times=[3, 2, 1])
        assert report.agreement.value == 0

    def test_self_consistency(self):
        rows = ["a b same ann", "b a same ann", "a b same ann", "c d same ann"]
        rows += ["d c unsure ann", "e f same ann", "e f different ann"]
        (ann,) = compare(rows).persons
        assert (ann.n_repeated, ann.n_consistent) == (2, 1)

    def test_answers_per_hour_leave_pauses_out(self):
        start = datetime(2026, 5, 1, 9, tzinfo=UTC)
        seconds = [0, 10, 20, 30, 40, 50, 5000, 5010]
        rows = [f"p{k} q same ann" for k in range(8)]
        times = [start + timedelta(seconds=s) for s in seconds]
        (ann,) = compare(rows, times=times).persons
        assert ann.per_hour == pytest.approx(360)
        texts = [moment.isoformat() for moment in times]
        assert compare(rows, times=texts).persons[0].per_hour == pytest.approx(360)
        stamps = np.array(seconds, dtype="datetime64[s]")
        assert compare(rows, times=stamps).persons[0].per_hour == pytest.approx(360)
        days = [date(2026, 5, 1)] * 8
        assert compare(rows, times=days).persons[0].per_hour is None
        few = [None, *times[:4], None, None, None]
        assert compare(rows, times=few).persons[0].per_hour is None


class TestRandomOverlap:
    ROWS = (
        "a b same ann",
        "c d different ann",
        "e f same ann",
        "a b different bob",  # since somebody was in doubt
        "c d different bob",  # at random
        "a b different eve",  # at random
    )
    RANDOM = (False, False, False, False, True, True)

    def test_opinions_for_other_reasons_do_not_count(self):
        report = compare(self.ROWS, random=self.RANDOM)
        assert report.random
        assert (report.n_compared, report.n_repeated) == (2, 2)
        assert [(c.one, c.other) for c in report.couples] == [
            ("ann", "bob"),
            ("ann", "eve"),
        ]
        assert report.agreement.value == 0.5
        assert "drawn at random for a second opinion" in report.headline[3]
        # Those for other reasons are to be settled all the same.
        assert [len(one.said) for one in report.disagreements] == [3]

    def test_without_a_mask_all_count_and_it_is_said(self):
        report = compare(self.ROWS)
        assert not report.random
        assert report.agreement.value == 0.5
        assert len(report.couples) == 3
        assert "all that two people or more answered" in report.headline[3]

    def test_a_mask_without_random_repeats(self):
        report = compare(self.ROWS, random=[False] * 6)
        assert report.agreement.value is None
        assert report.n_repeated == 2
        assert "none was drawn at random" in report.headline[1]
        assert len(report.disagreements) == 1

    def test_it_matters(self):
        """Pairs that are asked again since they are hard make people look worse."""
        rng = np.random.default_rng(0)
        rows, random = [], []
        for pair in range(2000):
            hard = rng.random() < 0.3
            right = 0.6 if hard else 0.97
            at_random = rng.random() < 0.1
            n_answers = 2 if hard or at_random else 1
            for who in ("ann", "bob")[:n_answers]:
                said = "same" if rng.random() < right else "different"
                rows.append(f"l{pair} r{pair} {said} {who}")
                random.append(at_random and who == "bob")
        known, unknown = compare(rows, random=random), compare(rows)
        truth = 0.3 * (0.6**2 + 0.4**2) + 0.7 * (0.97**2 + 0.03**2)
        low, high = known.agreement.interval
        assert low < truth < high
        assert unknown.agreement.interval[1] < truth


class TestEdges:
    def test_one_person(self):
        report = compare(["a b same ann", "c d different ann"])
        (told,) = report.headline
        assert told.startswith("1 person gave 2 answers about 2 pairs. How far people")
        assert report.alpha.value is None
        assert "ann" in str(report)

    def test_nobody_overlaps(self):
        report = compare(["a b same ann", "c d different bob"])
        assert len(report.headline) == 2
        assert "let a second person answer" in report.headline[1]
        assert str(report.couples) == "No two people have answered the same pair."

    def test_nothing(self):
        report = compare_people([], [], [], [])
        assert report.n_answers == 0
        assert "0 people gave 0 answers" in report.headline[0]
        assert str(report.persons) == "Nobody is named."

    def test_all_answers_the_same(self):
        rows = [f"p{k} q{k} same {who}" for k in range(30) for who in ("ann", "bob")]
        report = compare(rows)
        assert report.agreement.value == 1
        assert report.agreement.interval[0] < 0.97
        assert report.alpha.value is None
        assert report.alpha.interval is None
        assert "alpha is undefined: everybody said 'same'" in report.headline[2]
        (couple,) = report.couples
        assert couple.kappa is None
        assert "said 'same' every time, so kappa is undefined" in couple.warning
        assert "nan" not in str(report)
        assert str(report.alpha) == "undefined"

    def test_one_answer_dominates(self):
        rows = [f"p{k} q{k} same {who}" for k in range(28) for who in ("ann", "bob")]
        rows += ["p28 q28 same ann", "p28 q28 different bob"]
        rows += ["p29 q29 different ann", "p29 q29 same bob"]
        (couple,) = compare(rows).couples
        assert couple.agreement == pytest.approx(28 / 30)
        assert couple.kappa < 0
        assert couple.warning == (
            "ann and bob: 97% of their answers are 'same', so kappa hangs on a few "
            "pairs and is unstable; they agree about 28 of 30 pairs (93%)"
        )
        assert couple.warning in str(couple)

    def test_few_pairs_are_told_once(self):
        rows = [f"p q same {who}" for who in "abcd"]
        rows += [f"r s different {who}" for who in "abcd"]
        text = str(compare(rows).couples)
        assert text.count("may be anything") == 1

    def test_answers_that_name_nobody(self):
        columns = ["a", "a", "a"], ["b", "b", "b"], [1, -1, 0], ["ann", None, ""]
        report = compare_people(*columns)
        assert report.n_nobody == 2
        assert report.n_compared == 0
        assert "2 answers name nobody" in report.notes[0]
        assert "somebody says different" in str(report.disagreements)

    def test_names_that_differ_by_their_case(self):
        report = compare(["a b same Ann", "a b same ann"])
        assert "'Ann' and 'ann' count as different people" in report.notes[0]

    def test_many_people(self):
        rng = np.random.default_rng(0)
        who = rng.integers(300, size=5000)
        pair = rng.integers(800, size=5000)
        report = compare_people(pair, pair + 1000, rng.choice([-1, 1], 5000), who)
        assert len(report.persons) == 300
        assert len(str(report).splitlines()) < 100
        assert "and 280 more people" in str(report)
        assert abs(report.alpha.value) < 0.05

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ((["a"], ["b"], ["same", "same"], ["ann"]), "answers 2"),
            ((["a"], ["b"], ["perhaps"], ["ann"]), "same, different or unsure"),
            ((["a"], ["b"], [2], ["ann"]), "as a number it is 1"),
            ((["a"], [None], [1], ["ann"]), "has no id"),
        ],
    )
    def test_what_is_wrong_is_said(self, columns, message):
        with pytest.raises(ValueError, match=message):
            compare_people(*columns)

    def test_wrong_masks_and_times_are_refused(self):
        with pytest.raises(ValueError, match="random says True"):
            compare(["a b same ann"], random=[2])
        with pytest.raises(ValueError, match="such as 2026-05-01"):
            compare(["a b same ann"], times=["yesterday"])


class TestResults:
    def report(self):
        rows = ["a b same ann", "b a different bob", "c d same ann", "c d same bob"]
        rows += ["e f same ann", "e f same bob", "e f different eve"]
        times = [datetime(2026, 5, 1, 9, k, tzinfo=UTC) for k in range(7)]
        return compare(rows, times=times, comments=["", "blurred\nleft", *[None] * 5])

    def test_disagreements_tell_who_said_what_when(self):
        report = self.report()
        even, uneven = report.disagreements
        assert (even.left, even.right) == ("a", "b")
        assert (even.n_same, even.n_different) == (1, 1)
        assert (uneven.n_same, uneven.n_different) == (2, 1)
        assert str(even) == (
            "a and b\n  ann says same, 2026-05-01 09:00\n"
            "  bob says different, 2026-05-01 09:01: “blurred left”"
        )

    def test_frames(self):
        report = self.report()
        people = report.to_frame()
        assert people["name"].tolist() == ["ann", "bob", "eve"]
        assert people["n_answers"].tolist() == [3, 3, 1]
        couples = report.couples.to_frame()
        assert couples["n_pairs"].tolist() == [3, 1, 1]
        told = report.disagreements.to_frame()
        assert told["annotator"].tolist() == ["ann", "bob", "ann", "bob", "eve"]
        assert told["row"].tolist() == [0, 1, 4, 5, 6]

    def test_columns_stand_below_each_other(self):
        lines = str(self.report().persons).splitlines()
        assert len({len(line) for line in lines}) == 1
