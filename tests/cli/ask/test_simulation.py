"""Rounds that answer themselves, from known classes."""

import numpy as np
import pandas as pd

from tests.support.commands import call
from tests.support.rounds import ask, fails, read


class TestSimulation:
    def test_the_curve_falls_and_is_that_of_the_rounds(
        self, world, asked, labels, tmp_path
    ):
        out = tmp_path / "curve.csv"
        words = ["-n", 30, "--rounds", 3, "--against-random", "-o", out]
        result = ask(world[0] / "points.csv", "--simulate", labels, *words)
        curve = pd.read_csv(out)
        assert curve["round"].tolist() == [1, 2, 3]
        purposes = [read(file)["purpose"] for file in asked]
        n_learn = np.cumsum([(some == "learn").sum() for some in purposes])
        assert curve["answers"].tolist() == n_learn.tolist()
        assert (curve["answers"] + curve["audits"]).tolist() == [30, 60, 90]
        assert curve["true_error"].iloc[-1] <= curve["true_error"].iloc[0]
        assert curve["true_error"].iloc[-1] < 0.12
        known = curve.dropna(subset="certificate_high")
        assert len(known)
        assert (known["true_error"] <= known["certificate_high"]).all()
        assert curve["random_error"].between(0, 0.5).all()
        lines = result.stdout.splitlines()
        assert [line.split()[0] for line in lines[-4:-1]] == ["1", "2", "3"]
        assert "random pairs" in lines[-5]

    def test_what_is_printed_before_it_is_stopped_stays(
        self, world, labels, tmp_path, monkeypatch
    ):
        from pairlearn.cli import simulating

        rows = iter([simulating.CurveRow(1, 8, 2, 0.25, 0.2)])

        def stopped(*_, **__):
            yield next(rows)
            raise KeyboardInterrupt

        monkeypatch.setattr(simulating, "simulate", stopped)
        out = tmp_path / "curve.csv"
        words = ["--simulate", labels, "-o", out]
        result = call("ask", world[0] / "points.csv", *words)
        assert result.exit_code == 130
        assert "25.0%" in result.stdout
        assert f"interrupted; written: {out}" in result.stderr
        assert len(pd.read_csv(out)) == 1

    def test_bad_labels(self, world, asked, labels, tmp_path):
        few = tmp_path / "few.csv"
        few.write_text("\n".join(labels.read_text().splitlines()[:5]))
        words = ["ask", world[0] / "points.csv", "--simulate"]
        assert "does not tell the class of 396 point(s)" in fails(*words, few)
        message = fails(*words, labels, "--blind", code=2)
        assert "--simulate answers by itself; leave out --blind" in message
        message = fails(*words[:2], asked[0], "--simulate", labels, code=2)
        assert "leave out tables of pairs" in message
