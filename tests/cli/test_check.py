"""The command `check`: what it tells of answers and columns."""

import pandas as pd
import pytest
from typer.testing import CliRunner

from pairlearn.cli.app import app
from tests.support.commands import call


class TestCheck:
    def test_contradictions_components_and_closure(self, tmp_path):
        (tmp_path / "points.csv").write_text(
            "id,x\n" + "".join(f"{c},{k * k}\n" for k, c in enumerate("abcdefgh"))
        )
        (tmp_path / "pairs.csv").write_text(
            "left,right,answer\na,b,same\nb,c,same\nc,a,different\n"
            "d,e,different\ne,f,different\nd,f,same\nb,a,same\ng,g,same\n"
        )
        tables = tmp_path / "points.csv", tmp_path / "pairs.csv"
        result = call("check", *tables)
        assert result.exit_code == 0, result.output
        text = " ".join(result.stdout.split())
        assert "points 8; 2 in no answered pair" in text
        assert "6: 3 same, 3 different" in text
        assert "2 groups of points" in text
        assert (
            "contradictions 1 between pairs if there are two kinds, 1 however many"
        ) in text
        assert "redundant 2 answers" in text
        assert "known answers 3 pairs, given or implied" in text
        for line in ("line 2: a and b are same", "line 4: c and a are different"):
            assert line in text
        assert "1 pair(s) were answered more than once (2 answers)" in text
        assert call("check", *tables, "--strict").exit_code == 1
        assert {p.name for p in tmp_path.iterdir()} == {"points.csv", "pairs.csv"}

    def test_three_kinds_explain_three_that_differ(self, tmp_path):
        """It takes more than one triangle to say that there are three kinds."""
        (tmp_path / "points.csv").write_text(
            "id,x\n" + "".join(f"{c},{k * k}\n" for k, c in enumerate("abcdef"))
        )
        (tmp_path / "pairs.csv").write_text(
            "left,right,answer\na,b,different\nb,c,different\nc,a,different\n"
            "d,e,same\ne,f,same\nd,f,same\n"
        )
        result = call("check", tmp_path / "points.csv", tmp_path / "pairs.csv")
        assert result.exit_code == 0, result.output
        text = " ".join(result.stdout.split())
        assert "1 between pairs if there are two kinds, 0 however many" in text

    def test_strange_names_are_printed_harmlessly(self, tmp_path):
        (tmp_path / "points.csv").write_text(
            "id,[red]x[/nothing],:smile:\n"
            + "".join(f"\x1b[31m{c},{k * k},{k}\n" for k, c in enumerate("abcd"))
        )
        (tmp_path / "pairs.csv").write_text(
            "left,right,answer\n"
            + "".join(
                f"\x1b[31m{a},\x1b[31m{b},{t}\n"
                for a, b, t in ("ab1", "bc1", ("a", "c", "-1"))
            )
        )
        result = call("check", tmp_path / "points.csv", tmp_path / "pairs.csv")
        assert result.exit_code == 0, result.output
        assert "[red]x[/nothing]" in result.stdout
        assert ":smile:" in result.stdout
        assert "\x1b[31m" not in result.stdout


@pytest.mark.parametrize(("yes", "no"), [("yes", "no"), ("1", "0"), ("True", "False")])
def test_yes_to_another_question_is_refused(tmp_path, yes, no):
    """In a column called `different`, yes would mean the opposite of same."""
    (tmp_path / "points.csv").write_text("id,x\na,1\nb,2\nc,3\nd,4\n")
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(f"left,right,different\na,b,{yes}\nc,d,{no}\na,c,{yes}\n")
    options = ["check", str(tmp_path / "points.csv"), str(pairs), "--answer"]
    result = CliRunner().invoke(app, [*options, "different"])
    assert result.exit_code == 1
    assert "yes would mean different there" in result.stderr
    pairs.write_text("left,right,different\na,b,same\nc,d,different\na,c,same\n")
    assert CliRunner().invoke(app, [*options, "different"]).exit_code == 0


@pytest.mark.parametrize("kind", ["timestamp", "date", "utc"])
def test_dates_with_a_type_of_their_own_are_used(tmp_path, kind):
    """A date of a Parquet file has no day or month that might come first."""
    days = pd.Series(pd.date_range("2024-01-05", periods=8, freq="9D"))
    when = {"timestamp": days, "date": days.dt.date, "utc": days.dt.tz_localize("UTC")}
    points = pd.DataFrame({"id": list("abcdefgh"), "when": when[kind]})
    points.to_parquet(tmp_path / "points.parquet")
    (tmp_path / "pairs.csv").write_text("left,right,answer\na,b,same\nc,d,different\n")
    result = CliRunner().invoke(
        app, ["check", str(tmp_path / "points.parquet"), str(tmp_path / "pairs.csv")]
    )
    assert result.exit_code == 0
    assert "dates, as days" in result.stdout
    assert "left out" not in result.stdout + result.stderr
