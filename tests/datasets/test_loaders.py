"""Loaders, on small files that the tests write and on the real ones."""

import doctest
import gzip
import io
import lzma
import os
import pickle
import struct
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from pairlearn import Pairs, datasets
from pairlearn.datasets import (
    DataFileError,
    DataUnavailableError,
    dataset_names,
    load_adult,
    load_dataset,
    load_fashion_mnist,
    load_kuzushiji_mnist,
    load_magic,
    load_mnist,
    load_phishing,
    load_pubmed,
    load_spambase,
    load_waveform,
)

REAL = pytest.mark.skipif(
    not os.environ.get("PAIRLEARN_DATA"),
    reason="needs the data files: set PAIRLEARN_DATA to their folder",
)
LOADERS = [getattr(datasets, name) for name in datasets.__all__ if "load_" in name]


def idx(array):
    array = np.asarray(array, dtype=np.uint8)
    shape = struct.pack(f">{array.ndim}I", *array.shape)
    return bytes([0, 0, 8, array.ndim]) + shape + array.tobytes()


def small_files():
    """One small file for each real one."""
    arff = "".join(f"@attribute a{k} {{-1,0,1}}\r\n" for k in range(30))
    arff += "@attribute Result {-1,1}\r\n@data\r\n"
    arff += "1,0," + "1," * 28 + "1\r\n" + "-1," * 30 + "-1\r\n"
    files = {
        "adult/a9a": b"-1 3:1 123:1 \n+1 1:1 \n-1 2:1 \n",
        "adult/a9a.t": b"+1 122:1 \n",
        "banana/banana.dat": b"1.14,-0.114,-1.0\n-1.52,-1.15,1.0\n",
        "cod-rna/cod-rna": b"-1 1:-766 8:0.5\n1 1:3 2:0\n",
        "ijcnn1/ijcnn1": b"-1 6:1 22:0.1\n1 7:1 13:0\n",
        "magic/magic04.data": b"1,2,3,4,5,6,7,8,9,10,g\n" * 2 + b"0," * 10 + b"h\n",
        "phishing/phishing": b"0 1:0.18257 68:0.18257\n1 2:0.18257\n",
        "phishing/Training_Dataset.arff": arff.encode(),
        "phoneme/phoneme.dat": b"1,2,3,4,5,0\n1,2,3,4,6,1\n",
        "spambase/spambase.data": b"0," * 57 + b"1\n" + b"1," * 57 + b"0\n",
        "w8a/w8a": b"-1 300:1\n-1\n+1 1:1\n",
        "waveform/waveform.data": b"".join(b"1," * 21 + b"%d\n" % k for k in range(3)),
    }
    for folder in ("mnist", "fashion-mnist", "kuzushiji-mnist"):
        for part, n_images in (("train", 3), ("t10k", 2)):
            images = np.full((n_images, 28, 28), n_images)
            files[f"{folder}/{part}-images-idx3-ubyte"] = idx(images)
            files[f"{folder}/{part}-labels-idx1-ubyte"] = idx(range(n_images))
    return files


@pytest.fixture
def small(tmp_path):
    for name, content in small_files().items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return {"data_home": tmp_path, "verify": False, "download": False}


@pytest.mark.parametrize(
    ("name", "shape", "target"),
    [
        ("adult", (3, 123), [-1, 1, -1]),
        ("banana", (2, 2), [-1, 1]),
        ("codrna", (2, 8), [-1, 1]),
        ("ijcnn1", (2, 22), [-1, 1]),
        ("magic", (3, 10), [-1, -1, 1]),
        ("phishing", (2, 68), [1, -1]),
        ("phoneme", (2, 5), [1, -1]),
        ("spambase", (2, 57), [1, -1]),
        ("w8a", (3, 300), [-1, -1, 1]),
        ("waveform", (3, 21), [1, -1, -1]),
    ],
)
def test_tables(small, name, shape, target):
    bunch = load_dataset(name, **small)
    assert bunch.data.shape == shape
    assert bunch.data.dtype == float
    assert sparse.issparse(bunch.data) == (name in ("adult", "phishing", "w8a"))
    assert bunch.target.tolist() == target
    assert bunch.target.dtype.kind == "i"
    assert bunch.prior == np.mean(np.array(target) == 1)
    assert "Licence" in bunch.DESCR
    assert "Source" in bunch.DESCR
    X, y = load_dataset(name, return_X_y=True, **small)
    assert X.shape == shape
    assert y.tolist() == target


@pytest.mark.parametrize("load", [load_mnist, load_fashion_mnist, load_kuzushiji_mnist])
def test_images(small, load):
    for subset, n_images in (("train", 3), ("test", 2), ("all", 5)):
        bunch = load(subset=subset, **small)
        assert bunch.data.shape == (n_images, 784)
        assert bunch.data.dtype == np.uint8
        assert bunch.target.dtype.kind == "i"
    assert bunch.target.tolist() == [0, 1, 2, 0, 1]
    assert bunch.data[:, 0].tolist() == [3, 3, 3, 2, 2]
    bunch.data[0] = 0  # a copy of one's own, not the bytes of the file
    default = 2 if load is load_kuzushiji_mnist else 3
    assert len(load(return_X_y=True, **small)[0]) == default


def test_images_and_labels_that_do_not_belong_together(small):
    path = small["data_home"] / "mnist" / "train-labels-idx1-ubyte"
    path.write_bytes(idx(range(7)))
    with pytest.raises(DataFileError, match="do not belong together"):
        load_mnist(**small)


def test_adult_has_a_test_part(small):
    assert load_adult(subset="test", **small).target.tolist() == [1]
    both = load_adult(subset="all", **small)
    assert both.data.shape == (4, 123)
    assert both.data[3, 121] == 1


def test_phishing_as_it_was(small):
    bunch = load_phishing(version="original", **small)
    assert bunch.data.shape == (2, 30)
    assert bunch.data[0, :3].tolist() == [1, 0, 1]
    assert bunch.target.tolist() == [-1, 1]
    assert bunch.feature_names[:2] == ["a0", "a1"]


def test_waveform_classes(small):
    assert load_waveform(positive=2, **small).target.tolist() == [-1, -1, 1]
    three = load_waveform(positive=None, **small)
    assert three.target.tolist() == [0, 1, 2]
    assert "prior" not in three
    assert load_waveform(positive=None, return_X_y=True, **small)[1].tolist() == [
        0,
        1,
        2,
    ]


def test_feature_names(small):
    for load in (load_magic, load_spambase):
        bunch = load(**small)
        assert len(set(bunch.feature_names)) == bunch.data.shape[1]


@pytest.mark.parametrize(
    ("load", "wrong"),
    [
        (load_adult, {"subset": "valid"}),
        (load_mnist, {"subset": "training"}),
        (load_phishing, {"version": "libsvm"}),
        (load_waveform, {"positive": 3}),
    ],
)
def test_unknown_choices_are_refused(small, load, wrong):
    with pytest.raises(ValueError, match="the known ones are"):
        load(**wrong, **small)


@pytest.mark.parametrize("name", [n for n in dataset_names() if n != "pubmed"])
def test_another_version_of_a_file_is_refused(small, name):
    with pytest.raises(DataFileError, match="checksum"):
        load_dataset(name, **small | {"verify": True})


NEIGHBOURS = {0: [1, 1, 5], 1: [0, 0], 2: [2, 2, 3], 3: [2], 4: [], 5: [0]}
LINKS = [[0, 1], [0, 1], [0, 5], [2, 2], [2, 3]]
EDGES = [[0, 1], [0, 5], [2, 3]]


class TestPubmed:
    # Six points, of which 4 and 5 are for testing and stand in the files as 5, 4.
    X = np.diag([1.0, 2, 3, 4, 5, 6])
    y = np.array([0, 1, 2, 0, 1, 2])

    def planetoid(self, folder):
        def matrix(rows):
            return sparse.csr_matrix(self.X[rows].astype(np.float32))

        def onehot(rows):
            return np.eye(3, dtype=np.int32)[self.y[rows]]

        objects = {
            "x": matrix([0]),
            "y": onehot([0]),
            "tx": matrix([5, 4]),
            "ty": onehot([5, 4]),
            "allx": matrix([0, 1, 2, 3]),
            "ally": onehot([0, 1, 2, 3]),
            "graph": defaultdict(list, NEIGHBOURS),
        }
        folder = folder / "pubmed" / "planetoid"
        folder.mkdir(parents=True)
        for key, value in objects.items():
            content = pickle.dumps(value, protocol=3)
            if key in ("allx", "graph"):
                (folder / f"ind.pubmed.{key}.xz").write_bytes(lzma.compress(content))
            else:
                (folder / f"ind.pubmed.{key}").write_bytes(content)
        (folder / "ind.pubmed.test.index").write_bytes(b"5\n4\n")
        return folder

    def npz(self, folder, **other):
        X = sparse.csr_matrix(self.X)
        arrays = {
            "x_data": X.data.astype(np.float32),
            "x_indices": X.indices.astype(np.int16),
            "x_indptr": X.indptr,
            "x_shape": np.array(X.shape),
            "labels": self.y.astype(np.int8),
            "links": np.array(LINKS, dtype=np.int32),
        }
        (folder / "pubmed").mkdir(exist_ok=True)
        np.savez(folder / "pubmed" / "pubmed.npz", **arrays | other)

    @pytest.mark.parametrize("form", ["npz", "planetoid"])
    def test_both_forms(self, tmp_path, form):
        getattr(self, form)(tmp_path)
        bunch = load_pubmed(data_home=tmp_path, verify=False, download=False)
        np.testing.assert_array_equal(bunch.data.toarray(), self.X)
        np.testing.assert_array_equal(bunch.target, self.y)
        assert bunch.links.tolist() == LINKS
        assert bunch.edges.tolist() == EDGES
        with pytest.raises(DataFileError, match="checksum"):
            load_pubmed(data_home=tmp_path, download=False)

    def test_missing(self, tmp_path):
        folder = self.planetoid(tmp_path)
        (folder / "ind.pubmed.ty").unlink()
        with pytest.raises(DataUnavailableError, match=r"ind\.pubmed\.ty") as caught:
            load_pubmed(data_home=tmp_path, download=False)
        assert "ind.pubmed.tx" not in str(caught.value)

    @pytest.mark.parametrize(
        ("key", "content"),
        [
            ("test.index", b"5\n7\n"),
            ("test.index", b"five\n"),
            ("ty", pickle.dumps([1, 2], protocol=2)),
            ("graph", pickle.dumps({0: [99]}, protocol=2)),
            ("graph", pickle.dumps({0: [[1]], 1: 2}, protocol=2)),
        ],
    )
    def test_damaged(self, tmp_path, key, content):
        folder = self.planetoid(tmp_path)
        (folder / f"ind.pubmed.{key}").write_bytes(content)
        with pytest.raises(DataFileError, match=rf"ind\.pubmed\.{key}.*Delete"):
            load_pubmed(data_home=tmp_path, verify=False)

    def test_damaged_npz(self, tmp_path):
        self.npz(tmp_path, x_indptr=np.arange(3))
        with pytest.raises(DataFileError, match=r"pubmed\.npz.*Delete"):
            load_pubmed(data_home=tmp_path, verify=False)


class TestNames:
    @pytest.mark.parametrize("name", ["cod-rna", "codrna", "COD_RNA", "Cod RNA"])
    def test_spelling(self, small, name):
        assert load_dataset(name, **small).data.shape == (2, 8)

    @pytest.mark.parametrize(
        "name", ["Fashion-MNIST", "fashion_mnist", "KMNIST", "Kuzushiji-MNIST", "a9a"]
    )
    def test_images(self, small, name):
        assert len(load_dataset(name, **small).target)

    def test_unknown(self):
        with pytest.raises(ValueError, match="Did you mean 'banana'") as caught:
            load_dataset("bananas")
        assert all(name in str(caught.value) for name in dataset_names())
        with pytest.raises(ValueError, match="there is no data set 'zzz'"):
            load_dataset("zzz")

    def test_every_loader_has_a_name(self):
        names = {name.replace("-", "_") for name in dataset_names()}
        loaders = {load.__name__.removeprefix("load_") for load in LOADERS}
        assert loaders == names | {"dataset"}


@REAL
class TestRealFiles:
    @pytest.mark.parametrize(
        ("name", "options", "shape", "n_positive", "prior"),
        [
            ("adult", {}, (32561, 123), 7841, 0.2408),
            ("adult", {"subset": "test"}, (16281, 123), 3846, 0.2362),
            ("adult", {"subset": "all"}, (48842, 123), 11687, 0.2393),
            ("banana", {}, (5300, 2), 2376, 0.4483),
            ("codrna", {}, (59535, 8), 19845, 0.3333),
            ("ijcnn1", {}, (49990, 22), 4853, 0.0971),
            ("magic", {}, (19020, 10), 6688, 0.3516),
            ("phishing", {}, (11055, 68), 4898, 0.4431),
            ("phishing", {"version": "original"}, (11055, 30), 4898, 0.4431),
            ("phoneme", {}, (5404, 5), 3818, 0.7065),
            ("spambase", {}, (4601, 57), 1813, 0.3940),
            ("w8a", {}, (49749, 300), 1479, 0.0297),
            ("waveform", {}, (5000, 21), 1657, 0.3314),
            ("waveform", {"positive": 1}, (5000, 21), 1647, 0.3294),
            ("waveform", {"positive": 2}, (5000, 21), 1696, 0.3392),
        ],
    )
    def test_tables(self, name, options, shape, n_positive, prior):
        bunch = load_dataset(name, download=False, **options)
        assert bunch.data.shape == shape
        assert (bunch.target == 1).sum() == n_positive
        assert (bunch.target == -1).sum() == shape[0] - n_positive
        assert bunch.prior == pytest.approx(prior, abs=5e-5)
        values = bunch.data.data if sparse.issparse(bunch.data) else bunch.data
        assert np.isfinite(values).all()

    def test_both_forms_of_phishing_have_the_same_rows(self):
        onehot, original = load_phishing(), load_phishing(version="original")
        np.testing.assert_array_equal(onehot.target, original.target)
        np.testing.assert_allclose(onehot.data.data, 1 / np.sqrt(30), rtol=1e-4)
        assert "having_IP_Address" in original.feature_names

    @pytest.mark.parametrize(
        ("name", "subset", "n_images", "smallest", "largest"),
        [
            ("mnist", "train", 60000, 5421, 6742),
            ("mnist", "test", 10000, 892, 1135),
            ("mnist", "all", 70000, 6313, 7877),
            ("fashion-mnist", "train", 60000, 6000, 6000),
            ("fashion-mnist", "test", 10000, 1000, 1000),
            ("kuzushiji-mnist", "test", 10000, 1000, 1000),
        ],
    )
    def test_images(self, name, subset, n_images, smallest, largest):
        bunch = load_dataset(name, subset=subset, download=False)
        assert bunch.data.shape == (n_images, 784)
        counts = np.bincount(bunch.target)
        assert (len(counts), counts.min(), counts.max()) == (10, smallest, largest)

    def test_pubmed(self):
        bunch = load_pubmed(download=False)
        assert bunch.data.shape == (19717, 500)
        assert bunch.data.nnz == 988031
        assert np.bincount(bunch.target).tolist() == [4103, 7739, 7875]
        assert bunch.links.shape == (44338, 2)
        assert bunch.edges.shape == (44324, 2)
        # Citations join papers on the same kind of diabetes more often than not.
        same = Pairs(bunch.data, bunch.edges).answers(bunch.target)
        assert np.mean(same == 1) > 0.75

    def test_planetoid_equals_the_npz(self, tmp_path):
        (tmp_path / "pubmed").mkdir()
        real = Path(os.environ["PAIRLEARN_DATA"]).resolve() / "pubmed" / "planetoid"
        (tmp_path / "pubmed" / "planetoid").symlink_to(real)
        one, other = load_pubmed(), load_pubmed(data_home=tmp_path, download=False)
        assert (one.data != other.data).nnz == 0
        for key in ("target", "links", "edges"):
            np.testing.assert_array_equal(one[key], other[key])

    @pytest.mark.parametrize("load", LOADERS, ids=lambda load: load.__name__)
    def test_examples_of_the_documentation(self, load):
        text = load.__doc__.replace("# doctest: +SKIP", "")
        test = doctest.DocTestParser().get_doctest(text, {}, load.__name__, None, 0)
        out = io.StringIO()
        result = doctest.DocTestRunner(verbose=False).run(test, out=out.write)
        assert result.attempted >= 2
        assert result.failed == 0, out.getvalue()

    def test_a_damaged_copy_is_noticed(self, tmp_path):
        real = Path(os.environ["PAIRLEARN_DATA"]) / "banana" / "banana.dat"
        content = real.read_bytes()
        (tmp_path / "banana").mkdir()
        path = tmp_path / "banana" / "banana.dat.gz"
        path.write_bytes(gzip.compress(content.replace(b"\n", b"\r\n")))
        load_dataset("banana", data_home=tmp_path)
        path.write_bytes(gzip.compress(content.replace(b"1.14", b"1.15", 1)))
        with pytest.raises(DataFileError, match="checksum"):
            load_dataset("banana", data_home=tmp_path)
        path.write_bytes(gzip.compress(content)[:-100])
        with pytest.raises(DataFileError, match="Delete"):
            load_dataset("banana", data_home=tmp_path)
