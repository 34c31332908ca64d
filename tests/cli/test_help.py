"""The help is an introduction, and needs no heavy import."""

import subprocess
import sys

import pytest

from tests.support.commands import call


class TestHelp:
    def test_it_is_an_introduction(self):
        result = call("--help")
        for words in (
            "left,right,answer", "pairlearn check points.csv", "pairlearn fit",
            "pairlearn ask points.csv", "pairlearn label points.csv",
            "pairlearn predict", "certify", "explain", "plan", "demo", "reproduce",
        ):  # fmt: skip
            assert words in result.stdout

    @pytest.mark.parametrize(
        "command",
        ["ask", "label", "fit", "predict", "certify", "explain", "export", "check"],
    )
    def test_every_command_has_an_example(self, command):
        result = call(command, "--help")
        assert result.exit_code == 0
        assert f"pairlearn {command} " in result.stdout.partition("Example:")[2]

    def test_it_needs_no_heavy_import(self):
        code = (
            "import sys, pairlearn.cli.app; "
            "print([m for m in ('pandas', 'sklearn', 'scipy', 'pyarrow', 'torch', "
            "'matplotlib') if m in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"
