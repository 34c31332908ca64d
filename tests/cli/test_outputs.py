"""Files that commands write."""

from pathlib import Path

from pairlearn.cli.outputs import check_output


class TestFiles:
    def test_a_relative_name_is_in_this_folder(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        check_output(Path("out.csv"), "--out", (".csv",))
