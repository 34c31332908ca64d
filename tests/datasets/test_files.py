"""Finding data files: the folders, their order, checksums and fingerprints."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from pairlearn.datasets import DataFileError, DataUnavailableError, load_adult
from pairlearn.datasets.files import cache_folder, fingerprint, load_part
from tests.support.data_files import COMPRESS, CSV, table

pytestmark = pytest.mark.usefixtures("no_folders")


def test_fingerprints_do_not_depend_on_the_form():
    matrix = sparse.csr_matrix([[0, 1.5], [2, 0]])
    wide = sparse.csr_matrix(
        (matrix.data.astype(">f8"), matrix.indices.astype(np.int64), matrix.indptr),
        shape=matrix.shape,
    )
    assert fingerprint([matrix]) == fingerprint([wide])
    assert fingerprint([np.array([0.0, 1])]) == fingerprint([np.array([-0.0, 1])])
    assert fingerprint([np.arange(3, dtype=np.int32)]) == fingerprint([np.arange(3)])
    different = [
        [np.arange(4.0)],
        [np.arange(4.0).reshape(2, 2)],
        [np.arange(4.0)[::-1]],
        [np.arange(2.0), np.arange(2.0, 4.0)],
        [np.array(["a", "b"])],
        [np.array(["ab"])],
    ]
    assert len({fingerprint(arrays) for arrays in different}) == len(different)


class TestFinding:
    def put(self, folder, suffix=""):
        (folder / "set").mkdir(parents=True)
        path = folder / "set" / f"table{suffix}"
        path.write_bytes(COMPRESS[suffix](CSV))
        return path

    @pytest.mark.parametrize("suffix", COMPRESS)
    def test_with_and_without_a_suffix(self, tmp_path, suffix):
        self.put(tmp_path, suffix)
        X, y = load_part(table(), data_home=tmp_path)
        assert X.shape == (2, 2)
        assert y.tolist() == ["a", "b"]

    def test_order_of_folders(self, tmp_path, monkeypatch):
        named, cache = tmp_path / "named", cache_folder()
        monkeypatch.setenv("PAIRLEARN_DATA", str(named))
        path = self.put(cache)
        assert len(load_part(table(), download=False)) == 2
        path = self.put(named)
        path.write_bytes(b"damaged")
        with pytest.raises(DataFileError, match="named"):
            load_part(table())
        # A folder that is passed is the only one looked at.
        with pytest.raises(DataUnavailableError):
            load_part(table(), data_home=tmp_path / "other", download=False)

    def test_an_empty_variable_counts_as_unset(self, monkeypatch):
        monkeypatch.setenv("PAIRLEARN_DATA", "")
        self.put(cache_folder())
        assert len(load_part(table(), download=False)) == 2

    @pytest.mark.parametrize(
        ("platform", "variable", "part"),
        [("win32", "LOCALAPPDATA", "here"), ("darwin", "HOME", "Caches"),
         ("linux", "XDG_CACHE_HOME", "here")],
    )  # fmt: skip
    def test_cache_of_each_system(self, monkeypatch, platform, variable, part):
        monkeypatch.setattr("pairlearn.datasets.files.sys.platform", platform)
        monkeypatch.setenv(variable, "here")
        assert cache_folder().parts[-2:] == (part, "pairlearn")

    def test_wrong_checksum(self, tmp_path):
        path = self.put(tmp_path)
        with pytest.raises(DataFileError, match=r"checksum.*Delete.*verify=False") as e:
            load_part(table(right=False), data_home=tmp_path)
        assert str(path) in str(e.value)
        assert len(load_part(table(right=False), data_home=tmp_path, verify=False)) == 2

    def test_rows_in_another_order_have_another_checksum(self, tmp_path):
        self.put(tmp_path).write_bytes(b"-2,30,b\n0.5,1,a\n")
        with pytest.raises(DataFileError, match="checksum"):
            load_part(table(), data_home=tmp_path)

    def test_missing_file_says_what_to_put_where(self, tmp_path):
        with pytest.raises(DataUnavailableError) as caught:
            load_adult(data_home=tmp_path, download=False)
        message = str(caught.value)
        assert "libsvmtools/datasets/binary/a9a" in message
        assert str(tmp_path / "adult" / "a9a") in message
        assert "PAIRLEARN_DATA" in message
        assert "data_home=" in message


def test_importing_pairlearn_does_not_import_the_data_sets():
    program = "import pairlearn, sys; print('pairlearn.datasets' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert done.stdout.strip() == b"False"
