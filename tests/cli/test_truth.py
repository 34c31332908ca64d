"""Ways to a confident wrong number on the command line, each of them closed."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from pairlearn import Pairs, certify, save
from pairlearn.cli.app import app
from pairlearn.cli.certify import certify_tables
from pairlearn.cli.fit import FitOptions, fit_tables
from pairlearn.cli.near_duplicates import share_with_near_duplicates
from pairlearn.cli.options import noise_rates
from pairlearn.files.tables.errors import OptionError
from pairlearn.files.tables.points import read_points
from pairlearn.trust.noise import FlipRateEstimate

pytestmark = pytest.mark.usefixtures("quick")


def write(folder, X, index, same, **columns):
    """Write the two tables; return their paths."""
    points = pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    points.insert(0, "id", [f"p{k}" for k in range(len(X))])
    points.assign(**columns).to_csv(folder / "points.csv", index=False)
    pairs = pd.DataFrame(points["id"].to_numpy()[index], columns=["left", "right"])
    pairs["answer"] = same
    pairs.to_csv(folder / "pairs.csv", index=False)
    return folder / "points.csv", folder / "pairs.csv"


def words(flags):
    return np.where(flags, "same", "different")


def run(*arguments):
    result = CliRunner().invoke(app, [str(word) for word in arguments])
    return result.exit_code, " ".join(result.output.split())


@pytest.fixture
def three_kinds(tmp_path):
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=400)
    X = 0.5 * rng.normal(size=(400, 2)) + np.array([[0, 0], [4, 0], [0, 4]])[kind]
    index = rng.permutation(400).reshape(-1, 2)
    return write(tmp_path, X, index, words(kind[index[:, 0]] == kind[index[:, 1]]))


def test_three_kinds_get_no_certificate(three_kinds, tmp_path):
    told = "there seem to be more than two kinds"
    model = tmp_path / "m.skops"
    code, said = run("fit", *three_kinds, "-o", model, "--kinds", "2")
    assert code == 0
    assert told in said
    assert "error unknown, see the notes" in said
    assert "between" not in said
    code, said = run("check", *three_kinds)
    assert told in said
    code, said = run("certify", model, *three_kinds, "--noise", "none")
    assert code != 0
    # One who says that "same" is often missed is believed.
    summary, _ = fit_tables(*three_kinds, {}, FitOptions(noise=(0.5, 0.0)))
    assert not any(told in note for note in summary.notes)


@pytest.fixture
def two_groups(tmp_path):
    """Two groups that are easy to tell apart; each point in about five pairs."""
    rng = np.random.default_rng(0)
    y = rng.random(160) < 0.6
    X = rng.normal(size=(160, 2)) + 4.0 * y[:, None]
    left = rng.integers(160, size=400)
    index = np.stack([left, (left + rng.integers(1, 160, 400)) % 160], axis=1)
    return tmp_path, X, index, y[index[:, 0]] == y[index[:, 1]]


def test_answers_that_must_agree_tell_how_many_are_wrong(two_groups):
    folder, X, index, same = two_groups
    rng = np.random.default_rng(1)
    twice = np.concatenate([index, index])
    wrong = rng.random(len(twice)) < 0.15
    tables = write(folder, X, twice, words(np.tile(same, 2) ^ wrong))
    code, said = run("check", *tables)
    assert code == 0
    assert "wrong answers about 1" in said
    assert "400 comparisons of answers that must agree" in said
    summary, _ = fit_tables(*tables, {}, FitOptions(holdout=0.0))
    told = [note for note in summary.notes if "of the answers seem to be wrong" in note]
    assert len(told) == 1
    r1, r0 = summary.model[-1].flip_rates_
    assert r0 == pytest.approx(0.15, abs=0.04)
    assert 1 - r1 == pytest.approx(r0)


def test_certificates_take_measured_rates_into_account(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(1200) < 0.6
    X = rng.normal(size=(1200, 2)) + 5.0 * y[:, None]
    index = rng.permutation(1200).reshape(-1, 2)
    same = y[index[:, 0]] == y[index[:, 1]]
    wrong = rng.random(1000) < 0.15
    # The first 400 pairs are answered twice; those that disagree count as unsure.
    asked = np.concatenate([index, index[:400]])
    answers = np.concatenate([same, same[:400]]) ^ wrong
    tables = write(tmp_path, X, asked, words(answers))
    summary, _ = fit_tables(*tables, {}, FitOptions())
    found = summary.certificate
    assert found.noise == "any"
    # Two answers that agree are wrong less often than one.
    assert found.flip_rate == pytest.approx(0.08, abs=0.03)
    assert found.n_unsure > 0
    error = np.mean((summary.model.predict(summary.points) == "B") != y)
    error = min(error, 1 - error)
    assert found.clustering_interval[0] <= error <= found.clustering_interval[1]


def test_near_duplicates_are_told(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(100) < 0.5
    thing = np.repeat(np.arange(100), 8)
    X = (rng.normal(size=(100, 4)) + y[:, None])[thing]
    X = X + 0.001 * rng.normal(size=X.shape)
    index = rng.permutation(800).reshape(-1, 2)
    same = y[thing][index[:, 0]] == y[thing][index[:, 1]]
    tables = write(tmp_path, X, index, words(same), patient=[f"t{k}" for k in thing])
    points = pd.read_csv(tables[0])
    points.drop(columns="patient").to_csv(tmp_path / "alone.csv", index=False)
    code, said = run("check", tmp_path / "alone.csv", tables[1])
    assert "of the rows have near-duplicates" in said
    assert "--group COLUMN" in said
    code, said = run("check", *tables, "--group", "patient")
    assert code == 0
    assert "near-duplicates" not in said


@pytest.mark.parametrize("n_columns", [1, 2, 10])
def test_points_of_all_dimensions_are_no_near_duplicates(n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, n_columns))
    assert share_with_near_duplicates(X, np.arange(1000)) < 0.2
    rounded = X.round(1)
    assert share_with_near_duplicates(rounded, np.arange(1000)) < 0.2


def many_rows(folder, n_things, n_rows, n_pairs, seed=0):
    """Tables with several near-equal rows of each thing, and the things."""
    rng = np.random.default_rng(seed)
    y = rng.random(n_things) < 0.5
    thing = np.repeat(np.arange(n_things), n_rows)
    X = (rng.normal(size=(n_things, 6)) + 0.3 * y[:, None])[thing]
    X = X + 0.01 * rng.normal(size=X.shape)
    index = rng.permutation(len(X)).reshape(-1, 2)[:n_pairs]
    same = y[thing][index[:, 0]] == y[thing][index[:, 1]]
    return write(folder, X, index, words(same), patient=[f"t{k}" for k in thing])


def test_what_is_learned_of_a_group_by_heart_does_not_count(tmp_path):
    tables = many_rows(tmp_path, 100, 10, 500)
    options = FitOptions(noise=None, holdout=0.0)
    aware, _ = fit_tables(*tables, {"group": "patient"}, options)
    assert "patient" not in aware.points.columns
    points = pd.read_csv(tables[0]).drop(columns="patient")
    points.to_csv(tmp_path / "alone.csv", index=False)
    blind, _ = fit_tables(tmp_path / "alone.csv", tables[1], {}, options)
    gap = aware.certificate.clustering_error - blind.certificate.clustering_error
    assert gap > 0.1


def test_groups_are_known_again(tmp_path):
    tables = many_rows(tmp_path, 250, 4, 300)
    model = tmp_path / "m.skops"
    code, said = run("fit", *tables, "--group", "patient", "-o", model)
    assert code == 0
    assert "from pairs that the model has not seen" in said
    code, said = run("certify", model, *tables)
    assert code == 0
    assert "(recognised by an id or a group), and were left out" in said
    # New rows of the same patients, whose numbers came back as 7.0.
    (tmp_path / "new").mkdir()
    new = many_rows(tmp_path / "new", 250, 4, 300, seed=1)
    for table in new:
        text = table.read_text().replace("p", "q").replace("qatient", "patient")
        table.write_text(text)
    code, said = run("certify", model, *new)
    assert (
        "all 300 pairs have points" in said or "recognised by an id or a group" in said
    )
    # Who trained without groups is told.
    run("fit", *tables, "-o", model)
    code, said = run("certify", model, *new, "--group", "patient")
    assert code == 0
    assert "the model was trained without --group" in said
    assert "has not seen" not in said
    for group, says in [("nobody", "no such column"), ("id", "the column of the ids")]:
        code, said = run("fit", *tables, "--group", group, "-o", model)
        assert code != 0
        assert says in said


def test_unsure_pairs_have_their_turn_among_the_others(two_groups):
    """With --anytime pairs count as they were answered, not the sure ones first."""
    folder, X, index, same = two_groups
    fitted, about = fit_tables(*write(folder, X, index, words(same)), {}, FitOptions())
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(100, 2)) + 4.0 * (np.arange(100) % 2)[:, None]
    # Every pair twice over: an unsure one comes first, a sure one shares its point.
    first, second = np.arange(50), 50 + np.arange(50)
    asked = np.stack([first, second], axis=1)
    other = np.stack([first, np.roll(second, 2)], axis=1)
    both = np.concatenate([asked, other])
    answers = np.concatenate([["unsure"] * 50, words((other.sum(axis=1)) % 2 == 0)])
    (folder / "new").mkdir()
    new = write(folder / "new", Z, both, answers)
    points = pd.read_csv(new[0])
    points.assign(id="q" + points["id"]).to_csv(new[0], index=False)
    pairs = pd.read_csv(new[1])
    named = {side: "q" + pairs[side] for side in ("left", "right")}
    pairs.assign(**named).to_csv(new[1], index=False)
    found = certify_tables(fitted.model, about, *new, {}, anytime=True)
    assert (found.certificate.n_pairs, found.certificate.n_unsure) == (50, 50)


def test_uneven_groups_are_told(tmp_path):
    rng = np.random.default_rng(0)
    thing = np.concatenate([np.arange(500), np.repeat(np.arange(500, 510), 10)])
    y = rng.random(510) < 0.5
    X = rng.normal(size=(600, 2)) + 3.0 * y[thing][:, None]
    index = rng.permutation(600).reshape(-1, 2)
    same = y[thing][index[:, 0]] == y[thing][index[:, 1]]
    names = [f"t{k}" for k in thing]
    tables = write(tmp_path, X, index, words(same), patient=names)
    told = "some groups are in many more pairs than others"
    summary, _ = fit_tables(*tables, {"group": "patient"}, FitOptions())
    assert any(told in note for note in summary.notes)
    even = many_rows(tmp_path, 250, 4, 300)
    summary, _ = fit_tables(*even, {"group": "patient"}, FitOptions())
    assert not any(told in note for note in summary.notes)


def test_whole_numbers_name_groups_with_or_without_a_point(tmp_path):
    for cell in ("7", "7.0"):
        path = tmp_path / f"{cell}.csv"
        path.write_text(f"id,a,who\np1,1,{cell}\np2,2,8\np3,3,\np4,4,\n")
        points = read_points(path, "id", group="who")
        assert points.group_names == ["7", "8", "", ""]
        # Two that name nobody are not one.
        assert len(set(points.groups.tolist())) == 4


def test_majorities_are_wrong_less_often_than_answers(tmp_path):
    """Five answers about each pair, some of them wrong, and a perfect model."""
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.6
    X = rng.normal(size=(600, 2)) + 8.0 * y[:, None]
    index = rng.permutation(600).reshape(-1, 2)
    same = np.repeat(y[index[:, 0]] == y[index[:, 1]], 5)
    tables = write(
        tmp_path,
        X,
        np.repeat(index, 5, axis=0),
        words(same ^ (rng.random(1500) < 0.15)),
    )
    for noise in ("auto", 0.15):
        summary, _ = fit_tables(*tables, {}, FitOptions(noise=noise))
        assert summary.certificate.clustering_interval[0] == 0.0
        assert summary.certificate.bolder_interval is None
        assert not any("seems too high" in note for note in summary.notes)


def test_soft_answers_are_not_taken_for_certain(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.6
    X = rng.normal(size=(400, 2)) + 6.0 * y[:, None]
    index = rng.permutation(400).reshape(-1, 2)
    t = np.where(y[index[:, 0]] == y[index[:, 1]], 1.0, -1.0)
    t[:60] *= 0.1
    tables = write(tmp_path, X, index, t)
    summary, about = fit_tables(*tables, {"soft": True}, FitOptions(noise=None))
    assert summary.certificate.n_unsure > 5
    # They teach something all the same.
    assert about["pairs"] == 160


def test_no_second_group_leads(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.04
    X = rng.normal(size=(400, 2))
    index = rng.permutation(400).reshape(-1, 2)
    same = y[index[:, 0]] == y[index[:, 1]]
    tables = write(tmp_path, X, index, words(same))
    page = tmp_path / "page.html"
    code, said = run("fit", *tables, "-o", tmp_path / "m.skops", "--report", page)
    assert code == 0
    assert said.startswith("No second group was found: the model puts")
    assert "one group for all points would err on about" in said
    html = page.read_text()
    assert "No second group was found" in html
    # Answers are not held against a model that tells nothing apart.
    assert "not searched for mistakes" in html
    assert "Guessing" not in html


def test_one_group_is_beside_the_error(two_groups):
    folder, X, index, same = two_groups
    tables = write(folder, X, index, words(same))
    options = "-o", folder / "m.skops", "--majority", "ok"
    _, said = run("fit", *tables, *options)
    assert "always saying ok would err on about" in said
    _, said = run("fit", *tables, "-o", folder / "m.skops")
    assert "one group for all points would err on about" in said


def test_refits_keep_the_names_of_the_groups(two_groups):
    """A and B are arbitrary, but not from one day to the next."""
    folder, X, index, same = two_groups
    tables = write(folder, X, index, words(same))
    first, _ = fit_tables(*tables, {}, FitOptions())
    turned, _ = fit_tables(*tables, {}, FitOptions(classes=("B", "A")))
    model, points = folder / "m.skops", first.points
    save(turned.model, model)
    again, _ = fit_tables(*tables, {}, FitOptions(before=model))
    before, now = (each.model.predict(points) for each in (turned, again))
    np.testing.assert_array_equal(before, now)
    assert np.mean(now == first.model.predict(points)) < 0.1
    # Names that were asked for stay, and it is told.
    told = []
    for majority in ("A", "B"):
        named = FitOptions(classes=("B", "A"), majority=majority, before=model)
        asked, _ = fit_tables(*tables, {}, named)
        agree = np.mean(asked.model.predict(points) == before)
        told.append(any("two groups are swapped" in note for note in asked.notes))
        assert told[-1] == (agree < 0.5)
    assert sorted(told) == [False, True]
    # What is no model has no names.
    model.write_text("nothing")
    fit_tables(*tables, {}, FitOptions(before=model))


def test_an_interval_for_all_looks(two_groups):
    folder, X, index, same = two_groups
    rng = np.random.default_rng(2)
    tables = write(folder, X, index, words(same))
    run("fit", *tables, "-o", folder / "m.skops", "--holdout", "0")
    Z = rng.normal(size=(200, 2)) + 4.0 * (np.arange(200) % 2)[:, None]
    fresh = rng.permutation(200).reshape(-1, 2)
    (folder / "new").mkdir()
    new = write(folder / "new", Z, fresh, words((fresh[:, 0] - fresh[:, 1]) % 2 == 0))
    points = pd.read_csv(new[0])
    points.assign(id="q" + points["id"]).to_csv(new[0], index=False)
    pairs = pd.read_csv(new[1])
    pairs.assign(left="q" + pairs["left"], right="q" + pairs["right"]).to_csv(
        new[1], index=False
    )
    _, once = run("certify", folder / "m.skops", *new)
    code, always = run("certify", folder / "m.skops", *new, "--anytime")
    assert code == 0
    assert "at all looks together" in always
    assert float(once.split("at most ")[1].split("%")[0]) < float(
        always.split("at most ")[1].split("%")[0]
    )


@pytest.mark.parametrize(
    ("said", "means"),
    [
        ("auto", "auto"),
        ("none", None),
        ("0", None),
        ("0.1", 0.1),
        ("1e-3", 0.001),
        ("0.05-0.15", FlipRateEstimate(0.1, (0.05, 0.15))),
        ("0.9,0.2", (0.9, 0.2)),
        ("0.8-0.9,0.1-0.2", ((0.8, 0.9), (0.1, 0.2))),
        ("0.9,0.1-0.2", ((0.9, 0.9), (0.1, 0.2))),
    ],
)
def test_noise_in_words(said, means):
    assert noise_rates(said) == means


@pytest.mark.parametrize(
    "said", ["0.5", "-0.1", "0.1-0.6", "0.2,0.9", "1,2,3", "x", "0.1-0.2-0.3"]
)
def test_noise_that_is_none(said):
    with pytest.raises(OptionError, match="must be auto, none, a rate below"):
        noise_rates(said)


class TestMajorities:
    """Where a pair was answered three times, rates are still those of one answer."""

    @pytest.fixture
    def thrice(self, tmp_path):
        rng = np.random.default_rng(0)
        y = rng.random(600) < 0.6
        X = rng.normal(size=(600, 2)) + 5.0 * y[:, None]
        index = rng.permutation(600).reshape(-1, 2)
        same = np.repeat(y[index[:, 0]] == y[index[:, 1]], 3)
        wrong = rng.random(len(same)) < 0.1
        return write(tmp_path, X, np.repeat(index, 3, axis=0), words(same ^ wrong))

    @pytest.mark.parametrize("holdout", [0.0, 0.2])
    def test_the_estimate_uses_the_rate_of_majorities(self, thrice, holdout):
        summary, _ = fit_tables(*thrice, {}, FitOptions(noise=0.1, holdout=holdout))
        found = summary.certificate
        assert found.noise == "any"
        assert found.flip_rate == pytest.approx(0.028, abs=1e-6)
        assert any("of which the majority counts: about 2.8%" in note
                   for note in summary.notes)  # fmt: skip
        # With 10 % for wrong, nothing would be left of the error.
        assert found.cross_validated == (holdout == 0)
        assert found.pair_interval[1] >= found.pair_error + 0.1

    def test_confidence_of_measured_rates_follows_that_of_the_certificate(self, thrice):
        summary, about = fit_tables(*thrice, {}, FitOptions(forget=True))
        found = [
            certify_tables(summary.model, about, *thrice, {}, confidence=share)
            for share in (0.95, 0.9999)
        ]
        for each in found:
            assert each.certificate.noise == "any"
        highs = [each.certificate.pair_interval[1] for each in found]
        assert highs[0] < highs[1]


class TestGroupsOfModels:
    @pytest.fixture
    def grouped(self, tmp_path):
        rng = np.random.default_rng(0)
        who = np.repeat(np.arange(150), 2)
        y = (rng.random(150) < 0.6)[who]
        X = rng.normal(size=(300, 2)) + 4.0 * y[:, None]
        index = rng.permutation(300).reshape(-1, 2)
        same = y[index[:, 0]] == y[index[:, 1]]
        tables = write(tmp_path, X, index, words(same), who=[f"w{k}" for k in who])
        options = FitOptions(holdout=0.0)
        return (*fit_tables(*tables, {"group": "who"}, options), tables, index, same)

    def test_python_knows_the_groups_of_a_model_of_tables(self, grouped):
        summary, _, tables, index, same = grouped
        points = pd.read_csv(tables[0])
        pairs = Pairs(points[["c0", "c1"]] + 0.5, index)
        with pytest.raises(ValueError, match="of the groups of all pairs"):
            certify(summary.model, pairs, np.where(same, 1, -1), groups=points["who"])

    def test_points_without_groups_are_not_said_to_be_new(self, grouped, tmp_path):
        """Other ids, and features that differ a little: rows of the same people."""
        summary, about, tables, index, same = grouped
        X = pd.read_csv(tables[0])[["c0", "c1"]].to_numpy() + 0.5
        (tmp_path / "new").mkdir()
        files = write(tmp_path / "new", X, index, words(same))
        for file in files:
            file.write_text(file.read_text().replace("p", "q"))
        found = certify_tables(summary.model, about, *files, {})
        assert found.certificate.unseen is None
        assert any("trained with --group, but these points" in n for n in found.notes)


def test_models_without_a_memory_still_count_equal_rows_once(tmp_path):
    """Thirty rows that are there ten times each, under other ids."""
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.6
    X = rng.normal(size=(300, 2)) + 2.0 * y[:, None]
    index = rng.permutation(300).reshape(-1, 2)
    tables = write(tmp_path, X, index, words(y[index[:, 0]] == y[index[:, 1]]))
    summary, about = fit_tables(*tables, {}, FitOptions(forget=True))
    who = np.concatenate([np.repeat(np.arange(30), 4), np.arange(30, 150)])
    index = rng.permutation(len(who)).reshape(-1, 2)
    same = y[who][index[:, 0]] == y[who][index[:, 1]]
    found = certify_tables(summary.model, about, *write(tmp_path, X[who], index,
                           words(same)), {})  # fmt: skip
    assert found.certificate.n_doubtful > 30
    assert found.certificate.unseen is None


def test_few_groups_are_not_taken_for_many_kinds(tmp_path):
    """Pairs of four people, of two kinds: a third are the same."""
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(4), 150)
    y = who % 2 == 0
    X = rng.normal(size=(600, 2)) + 4.0 * y[:, None]
    index = rng.integers(600, size=(900, 2))
    index = index[who[index[:, 0]] != who[index[:, 1]]]
    tables = write(tmp_path, X, index, words(y[index[:, 0]] == y[index[:, 1]]), who=who)
    code, said = run("check", *tables, "--group", "who")
    assert code == 0
    assert "more than two kinds" not in said
