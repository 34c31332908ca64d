"""Certificates of the command line: nothing that was seen counts as fresh."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pairlearn import Pairs, save
from pairlearn.cli.app import app
from pairlearn.cli.certify import certify_tables
from pairlearn.cli.fit import FitOptions, fit_tables
from pairlearn.files.tables.errors import TableError
from pairlearn.trust.kept_pairs import keep_aside
from pairlearn.trust.noise import FlipRateEstimate

N_POINTS = 240
NUMBERED = {"first_row": 1}


def write_pairs(path, index, y, names, *, t=None):
    if t is None:
        t = np.where(y[index[:, 0]] == y[index[:, 1]], 1, -1)
    pd.DataFrame(
        {
            "left": [names[k] for k in index[:, 0]],
            "right": [names[k] for k in index[:, 1]],
            "answer": np.where(t > 0, "same", "different"),
        }
    ).to_csv(path, index=False)
    return path


def two_groups(n_points, seed=0, n_columns=4, apart=1.5):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_points)
    X = rng.normal(size=(n_points, n_columns)) + apart * y[:, None]
    return pd.DataFrame(X, columns=[f"c{k}" for k in range(n_columns)]), y, rng


class Made:
    """Tables of points with or without ids, their pairs, and a model of them."""

    def __init__(self, folder: Path, *, ids: bool) -> None:
        self.folder = folder
        self.points, y, rng = two_groups(N_POINTS)
        self.y, self.columns = y, {} if ids else NUMBERED
        self.index = rng.permutation(N_POINTS).reshape(-1, 2)
        self.names = [f"p{k}" if ids else str(k + 1) for k in range(N_POINTS)]
        if ids:
            self.points.insert(0, "id", self.names)
        self.points.to_csv(folder / "points.csv", index=False)
        self.pairs = write_pairs(folder / "pairs.csv", self.index, y, self.names)
        self.summary, about = fit_tables(
            folder / "points.csv", self.pairs, self.columns, FitOptions()
        )
        self.about = json.loads(json.dumps(about))
        self.n_kept = self.summary.certificate_pairs
        self.n_trained = len(self.index) - self.n_kept

    def certify(self, points, pairs=None, **options):
        return certify_tables(
            self.summary.model,
            self.about,
            points,
            self.pairs if pairs is None else pairs,
            self.columns,
            **options,
        )


@pytest.fixture(scope="module")
def with_ids(tmp_path_factory):
    return Made(tmp_path_factory.mktemp("ids"), ids=True)


@pytest.fixture(scope="module")
def numbered(tmp_path_factory):
    return Made(tmp_path_factory.mktemp("rows"), ids=False)


def corrected(points):
    points = points.copy()
    points["c0"] += 0.5
    return points


def in_single_precision(points):
    return points.astype({name: np.float32 for name in points if name != "id"})


WRITTEN = {
    "as it was": lambda p, path: p.to_csv(path, index=False),
    "six decimals": lambda p, path: p.to_csv(path, index=False, float_format="%.6f"),
    "six digits": lambda p, path: p.to_csv(path, index=False, float_format="%.6g"),
    "float32": lambda p, path: in_single_precision(p).to_parquet(path, index=False),
    "other column order": lambda p, path: p[p.columns[::-1]].to_csv(path, index=False),
}


class TestSeenPoints:
    @pytest.mark.parametrize("written", WRITTEN)
    @pytest.mark.parametrize("which", ["with_ids", "numbered"])
    def test_a_table_written_otherwise(self, request, tmp_path, which, written):
        made = request.getfixturevalue(which)
        path = tmp_path / f"points.{'parquet' if written == 'float32' else 'csv'}"
        WRITTEN[written](made.points, path)
        found = made.certify(path)
        assert made.n_kept >= 20
        assert (found.n_seen, found.certificate.n_pairs) == (
            made.n_trained,
            made.n_kept,
        )
        assert any(f"{made.n_trained} of 120 pairs" in note for note in found.notes)

    def test_corrected_cells_are_known_by_the_id(self, with_ids, tmp_path):
        corrected(with_ids.points).to_csv(tmp_path / "p.csv", index=False)
        found = with_ids.certify(tmp_path / "p.csv")
        assert found.n_seen == with_ids.n_trained
        assert any("but other features" in note for note in found.notes)

    def test_new_ids_are_known_by_the_features(self, with_ids, tmp_path):
        named = [f"new-{name}" for name in with_ids.names]
        with_ids.points.assign(id=named).to_csv(tmp_path / "p.csv", index=False)
        pairs = write_pairs(tmp_path / "q.csv", with_ids.index, with_ids.y, named)
        found = with_ids.certify(tmp_path / "p.csv", pairs)
        assert found.n_seen == with_ids.n_trained
        told = f"{found.n_seen} of 120 pairs have a point that equals, in all features"
        assert any(told in note for note in found.notes)
        # What is claimed covers the pairs that are new beyond doubt.
        known = with_ids.certify(with_ids.folder / "points.csv").certificate
        assert known.clustering_interval[1] <= found.certificate.clustering_interval[1]

    def test_row_numbers_in_another_order(self, numbered, tmp_path):
        order = np.argsort(numbered.points["c0"].to_numpy())
        numbered.points.iloc[order].to_csv(tmp_path / "p.csv", index=False)
        place = np.empty(N_POINTS, dtype=int)
        place[order] = np.arange(N_POINTS)
        pairs = write_pairs(
            tmp_path / "q.csv", place[numbered.index], numbered.y[order], numbered.names
        )
        found = numbered.certify(tmp_path / "p.csv", pairs)
        assert found.n_seen == numbered.n_trained
        assert any("there are no ids, so points" in note for note in found.notes)

    def test_row_numbers_of_new_points_are_fresh(self, numbered, tmp_path):
        points, y, rng = two_groups(N_POINTS, seed=9)
        points.to_csv(tmp_path / "p.csv", index=False)
        index = rng.permutation(N_POINTS).reshape(-1, 2)
        pairs = write_pairs(tmp_path / "q.csv", index, y, numbered.names)
        found = numbered.certify(tmp_path / "p.csv", pairs)
        assert (found.n_seen, found.certificate.n_pairs) == (0, 120)

    def test_new_points_under_old_ids_are_told(self, with_ids, tmp_path):
        points, y, _ = two_groups(N_POINTS, seed=9)
        points.assign(id=with_ids.names).to_csv(tmp_path / "p.csv", index=False)
        trained = with_ids.summary.pairs.index[:40]
        pairs = write_pairs(tmp_path / "q.csv", trained, y, with_ids.names)
        try:
            told = " ".join(with_ids.certify(tmp_path / "p.csv", pairs).notes)
        except TableError as error:
            told = str(error)
        assert "give them different ids" in told

    def test_fingerprints_are_short(self, with_ids, numbered):
        seen = with_ids.about["seen"]
        assert (
            len(seen["ids"]) == len(seen["features"]) == 10 * with_ids.about["points"]
        )
        assert numbered.about["seen"]["ids"] is None

    def test_a_model_that_does_not_tell(self, with_ids, tmp_path):
        path = tmp_path / "p.csv"
        with_ids.points.to_csv(path, index=False)
        for seen in (None, "0123456789", {}, {"steps": [1], "features": ""}):
            found = certify_tables(
                with_ids.summary.model,
                with_ids.about | {"seen": seen},
                path,
                with_ids.pairs,
                {},
            )
            assert any("does not record which points" in note for note in found.notes)


def few_rows(folder, names, seed):
    """Points of which there are twelve kinds only; 'a' tells the class, mostly."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=len(names))
    sure = rng.random(len(names)) < 0.9
    points = pd.DataFrame(
        {
            "id": names,
            "a": np.where(sure, y, 1 - y),
            "b": rng.choice(["x", "y", "z"], len(names)),
            "c": rng.choice(["u", "v"], len(names)),
        }
    )
    points.to_csv(folder / "points.csv", index=False)
    index = rng.permutation(len(names)).reshape(-1, 2)
    return folder / "points.csv", write_pairs(folder / "pairs.csv", index, y, names)


@pytest.mark.usefixtures("quick")
class TestRowsThatRepeat:
    def test_ids_decide_and_it_is_told(self, tmp_path):
        tables = few_rows(tmp_path, [f"p{k}" for k in range(300)], 0)
        summary, about = fit_tables(*tables, {}, FitOptions())
        fresh = few_rows(tmp_path, [f"q{k}" for k in range(200)], 1)
        found = certify_tables(summary.model, about, *fresh, {})
        assert (found.n_seen, found.certificate.n_pairs) == (0, 100)
        assert not any("equals, in all features" in note for note in found.notes)

    def test_without_ids_nothing_counts_as_fresh(self, tmp_path):
        tables = few_rows(tmp_path, [str(k + 1) for k in range(300)], 0)
        points = pd.read_csv(tables[0]).drop(columns="id")
        points.to_csv(tables[0], index=False)
        summary, about = fit_tables(*tables, NUMBERED, FitOptions())
        with pytest.raises(TableError, match="a table that has an id column"):
            certify_tables(summary.model, about, *tables, NUMBERED)


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """A fifth of the answers wrong, about groups that are easy to tell apart."""
    folder = tmp_path_factory.mktemp("noisy")
    points, y, rng = two_groups(2400, n_columns=2, apart=3.5)
    names = [f"p{k}" for k in range(2400)]
    points.assign(id=names).to_csv(folder / "points.csv", index=False)
    index = rng.permutation(2400).reshape(-1, 2)
    t = np.where(y[index[:, 0]] == y[index[:, 1]], 1, -1)
    t = np.where(rng.random(1200) < 0.2, -t, t)
    pairs = write_pairs(folder / "q.csv", index, y, names, t=t)
    return folder / "points.csv", pairs, y, {}


def fit_noisy(noisy, noise):
    points, pairs, y, fitted = noisy
    if noise not in fitted:
        fitted[noise] = fit_tables(points, pairs, {}, FitOptions(noise=noise))
    summary, about = fitted[noise]
    second = summary.model.predict(summary.points) == summary.classes[1]
    error = float(np.mean(second == y))
    return summary, about, min(error, 1 - error)


@pytest.mark.usefixtures("quick")
class TestNoise:
    @pytest.mark.parametrize("noise", [0.2, (0.8, 0.2)])
    def test_given_rates_are_not_held_against_the_model(self, noisy, noise):
        summary, _, error = fit_noisy(noisy, noise)
        low, high = summary.certificate.clustering_interval
        assert low <= error <= high
        # Hard pairs may have more wrong answers; if they have not, more is known.
        assert summary.certificate.noise == "any"
        low, high = summary.certificate.bolder_interval
        assert low <= error <= high < 0.12
        assert summary.certificate.flip_rate == pytest.approx(0.2)
        assert not summary.certificate.cross_validated
        assert summary.certificate.n_pairs == 240

    def test_estimated_rates_count_for_the_lower_end_alone(self, noisy):
        summary, about, error = fit_noisy(noisy, "auto")
        certificate = summary.certificate
        r1, r0 = summary.model[-1].flip_rates_
        assert (r1, r0) != (1.0, 0.0)
        low, high = certificate.clustering_interval
        assert low <= error <= high
        assert certificate.clustering_error < 0.05
        # As if every answer were right.
        plain = certify_tables(
            summary.model, about, *noisy[:2], {}, noise=None
        ).certificate
        assert plain.clustering_error > 0.08
        assert high == plain.clustering_interval[1]
        told = [
            note
            for note in summary.notes
            if "assumes that some answers are wrong" in note
        ]
        assert len(told) == 1
        assert f"--noise {r1:.3g},{r0:.3g}" in told[0]

    def test_certify_treats_fresh_answers_alike(self, noisy):
        summary, about, _ = fit_noisy(noisy, (0.8, 0.2))
        tables = summary.model, about, *noisy[:2], {}
        auto = certify_tables(*tables)
        plain = certify_tables(*tables, noise=None)
        known = certify_tables(*tables, noise=(0.8, 0.2))
        assert auto.certificate.clustering_error < 0.05
        low, high = auto.certificate.clustering_interval
        assert low == 0.0
        assert high == plain.certificate.clustering_interval[1]
        assert auto.certificate.noise == "unknown"
        assert any("assumes that some answers are wrong" in note for note in auto.notes)
        assert known.certificate == summary.certificate
        assert not any("assumes" in note for note in known.notes + plain.notes)
        few = certify_tables(*tables, noise=(0.6, 0.4))
        assert any("--noise seems too high" in note for note in few.notes)
        assert not any("too high" in note for note in known.notes)
        some = certify_tables(*tables, noise=FlipRateEstimate(0.2, (0.15, 0.25)))
        for name in ("clustering_interval", "bolder_interval"):
            inner, outer = (getattr(c.certificate, name) for c in (known, some))
            assert outer[0] <= inner[0] <= inner[1] <= outer[1]

    def test_where_nothing_is_known_nothing_is_claimed_from_below(self, with_ids):
        points = with_ids.folder / "points.csv"
        found = with_ids.certify(points).certificate
        assert with_ids.summary.model[-1].flip_rates_ == (1.0, 0.0)
        assert found == with_ids.summary.certificate
        assert found.pair_error > 0
        assert found.clustering_interval[0] == 0.0
        sure = with_ids.certify(points, noise=None).certificate
        assert sure.clustering_interval == found.bolder_interval
        assert sure.clustering_interval[0] > 0.0

    def test_two_rates_on_the_command_line(self, noisy, tmp_path):
        points, pairs, *_ = noisy
        summary, about, _ = fit_noisy(noisy, (0.8, 0.2))
        save(summary.model, tmp_path / "m.skops", about=about)
        words = "--noise", "0.8,0.2"
        result = CliRunner().invoke(
            app,
            ["certify", *map(str, (tmp_path / "m.skops", points, pairs)), *words],
        )
        assert result.exit_code == 0, result.output
        text = " ".join(result.stdout.split())
        low, high = summary.certificate.clustering_interval
        assert f"between {low:.1%} and {high:.1%}" in text
        assert "20.0% of the answers are taken as wrong, perhaps those about" in text
        low, high = summary.certificate.bolder_interval
        told = "if hard pairs have no more wrong answers than easy ones: "
        assert f"{told}between {low:.1%} and {high:.1%}" in text


def listed_twice(folder, points, y, index):
    """Write a table that lists each point under two ids, and each pair with both."""
    twice = pd.concat([points, points], ignore_index=True)
    names = [f"{kind}{k}" for kind in "ab" for k in range(len(points))]
    twice.assign(id=names).to_csv(folder / "points.csv", index=False)
    both = np.vstack([index, index + len(points)])
    pairs = write_pairs(folder / "pairs.csv", both, np.r_[y, y], names)
    return folder / "points.csv", pairs


class TestTwins:
    def test_a_point_listed_twice_is_not_on_both_sides(self, tmp_path):
        rng = np.random.default_rng(1)
        # There is nothing to learn; what is learnt by heart would show.
        points = pd.DataFrame(rng.normal(size=(200, 40))).rename(columns="c{}".format)
        y, index = rng.integers(2, size=200), rng.permutation(200).reshape(-1, 2)
        tables = listed_twice(tmp_path, points, y, index)
        summary, about = fit_tables(*tables, {}, FitOptions(noise=None))
        assert summary.certificate_pairs == 40
        assert about["pairs"] == 160
        # Of these 40, few have no twin among the others; they alone are to be trusted.
        found = summary.certificate
        assert found.n_pairs < 20
        assert found.clustering_interval[1] == 0.5
        assert any("40 pairs have a point that equals" in n for n in summary.notes)

    def test_fresh_points_listed_twice_count_once(self, with_ids, tmp_path):
        points, y, rng = two_groups(100, seed=7)
        index = rng.permutation(100).reshape(-1, 2)
        tables = listed_twice(tmp_path, points, y, index)
        found = with_ids.certify(*tables)
        assert (found.certificate.n_pairs, found.n_seen) == (50, 50)

    @pytest.mark.usefixtures("quick")
    def test_rows_that_repeat_by_nature_are_left_to_their_ids(self, tmp_path):
        tables = few_rows(tmp_path, [f"p{k}" for k in range(300)], 0)
        summary, _ = fit_tables(*tables, {}, FitOptions())
        assert summary.certificate_pairs == summary.certificate.n_pairs == 30
        assert not any("equals, in all features" in note for note in summary.notes)

    def test_groups_of_points_are_kept_apart(self):
        rng = np.random.RandomState(0)
        index = rng.permutation(600).reshape(-1, 2)
        group = np.arange(600) % 450
        pairs = Pairs(np.zeros((600, 1)), index)
        t = rng.choice([-1.0, 1.0], 300)
        trained, kept = keep_aside(pairs, t, 0.2, rng, group)
        assert len(kept) >= 40
        learnt, told = set(group[index[trained]].flat), group[index[kept]].ravel()
        assert not learnt & set(told)
        assert len(set(told)) == len(told)


@pytest.mark.usefixtures("quick")
class TestHardPairs:
    def test_divided_and_unsure_pairs_count_against_the_model(self, with_ids, tmp_path):
        points, y, rng = two_groups(200, seed=3)
        names = [f"q{k}" for k in range(200)]
        points.assign(id=names).to_csv(tmp_path / "p.csv", index=False)
        index = rng.permutation(200).reshape(-1, 2)
        pairs = write_pairs(tmp_path / "q.csv", index, y, names)
        sure = with_ids.certify(tmp_path / "p.csv", pairs, noise=None).certificate
        table = pd.read_csv(pairs)
        swapped = {"same": "different", "different": "same"}
        divided = table[:7].assign(answer=table["answer"][:7].map(swapped))
        table.loc[[10, 11, 12], "answer"] = ["unsure", "?", None]
        pd.concat([table, divided]).to_csv(pairs, index=False)
        found = with_ids.certify(tmp_path / "p.csv", pairs, noise=None).certificate
        assert (found.n_pairs, found.n_unsure, sure.n_unsure) == (100, 10, 0)
        assert found.clustering_interval[0] <= sure.clustering_interval[0]
        assert found.clustering_interval[1] > sure.clustering_interval[1] + 0.02
        summary, about = fit_tables(tmp_path / "p.csv", pairs, {}, FitOptions())
        # They are kept aside like others, and the others train.
        assert 0 < summary.certificate.n_unsure < 10
        assert summary.certificate.n_pairs == 20
        n_unsure = 10 - summary.certificate.n_unsure
        assert about["pairs"] == 80 - n_unsure

    def test_rows_at_the_end_without_an_answer(self, with_ids, tmp_path):
        points, y, rng = two_groups(200, seed=3)
        names = [f"q{k}" for k in range(200)]
        points.assign(id=names).to_csv(tmp_path / "p.csv", index=False)
        index = rng.permutation(200).reshape(-1, 2)
        table = pd.read_csv(write_pairs(tmp_path / "q.csv", index, y, names))
        table.loc[60:, "answer"] = None
        table.loc[5, "answer"] = None
        table.to_csv(tmp_path / "q.csv", index=False)
        found = with_ids.certify(tmp_path / "p.csv", tmp_path / "q.csv")
        assert (found.certificate.n_pairs, found.certificate.n_unsure) == (60, 1)
        assert any("40 row(s) at the end have no" in note for note in found.notes)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("n_pairs", "shared", "says"),
    [
        (3, True, "the certificate is only an estimate, from cross-validation"),
        (20, False, "the certificate is only an estimate, from cross-validation"),
    ],
)
def test_few_pairs_tell_what_can_be_told(n_pairs, shared, says, tmp_path):
    points, y, rng = two_groups(2 * n_pairs)
    points.insert(0, "id", range(2 * n_pairs))
    points.to_csv(tmp_path / "points.csv", index=False)
    index = rng.permutation(2 * n_pairs).reshape(-1, 2)
    if shared:
        index[:, 0], index[:, 1] = 0, np.arange(1, n_pairs + 1)
        y[index[:, 1]] = np.arange(n_pairs) % 2
    pairs = write_pairs(tmp_path / "pairs.csv", index, y, range(2 * n_pairs))
    told = []
    summary, _ = fit_tables(
        tmp_path / "points.csv", pairs, {}, FitOptions(), told.append
    )
    notes = [note for note in summary.notes if "keep some aside" in note]
    assert len(notes) == 1
    assert says in notes[0]
    assert summary.certificate.cross_validated
    assert summary.certificate.n_points == (4 if shared else 0)
    assert f"learning from {n_pairs} pair(s)" in told
