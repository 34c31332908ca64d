"""Embeddings by name: what is loaded, what is kept, and what a file may not do."""

import sys

import numpy as np
import pandas as pd
import pytest

from pairlearn.cli.describing import ForModel
from pairlearn.files.tables import OptionError, TableError, read_points
from pairlearn.files.tables.cell_error import CellError
from pairlearn.files.tables.encoders.cache import VectorCache, key_of
from pairlearn.files.tables.encoders.embedders import load_embedder, what_it_takes
from pairlearn.files.tables.encoders.embedding import EmbeddedColumn, Embedding
from pairlearn.files.tables.reading import read_table
from tests.support.photos import make_photos
from tests.support.tiny_networks import make_sentence_network, make_timm_network

FUNCTIONS = """
import numpy as np
calls = []
def lengths(items):
    calls.append(len(items))
    return np.array([[len(text), text.count(" ")] for text in items])
def sizes(images):
    return [[image.width, image.height, np.asarray(image).mean()] for image in images]
def wrong(items):
    return np.zeros((1, 1, 1))
def fails(items):
    raise RuntimeError("no memory")
def stops(items):
    calls.append(len(items))
    if len(calls) == 3:
        raise KeyboardInterrupt
    return np.ones((len(items), 2))
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A module of the user's own in the current folder, and an empty cache."""
    name = f"mine_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(FUNCTIONS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAIRLEARN_CACHE", str(tmp_path / "cache"))
    yield name
    sys.modules.pop(name, None)


def write_texts(folder, n=40):
    lines = [f"t{k},word {'more ' * (k % 7)}and {k}" for k in range(n)]
    path = folder / "texts.csv"
    path.write_text("\n".join(["id,story", *lines]) + "\n")
    return path


class TestNames:
    def test_what_they_are_for(self):
        assert what_it_takes("timm:a/b") == "images"
        assert what_it_takes("sentence-transformers:x") == "texts"
        assert what_it_takes("package.module:name") == "either"

    @pytest.mark.parametrize(
        "name", ["", "timm:", "x", "a b:c", "os;x:y", "m:f()", "a:b:c"]
    )
    def test_others_are_refused(self, name):
        with pytest.raises(OptionError, match="must be timm:NAME"):
            what_it_takes(name)


class TestFunctions:
    def test_texts_are_embedded_and_kept(self, mine, tmp_path):
        path = write_texts(tmp_path)
        seen = []
        points = read_points(
            path, embed=f"{mine}:lengths", step=lambda *far: seen.append(far)
        )
        (column,) = points.columns
        assert (column.kind, column.form) == ("embedded texts", f"{mine}:lengths")
        assert mine not in sys.modules  # nothing is called before it is needed
        vectors = np.stack(points.frame["story"].tolist())
        texts = list(points.table.columns["story"])
        assert vectors[:, 0].tolist() == [len(text) for text in texts]
        assert seen[-1] == (40, 40)
        calls = sys.modules[mine].calls
        assert calls == [32, 8]
        again = read_points(path, embed=f"{mine}:lengths").frame
        assert np.array_equal(np.stack(again["story"].tolist()), vectors)
        assert calls == [32, 8]

    def test_other_code_is_another_version(self, mine, tmp_path):
        cells = ["a b", "c"]
        first = Embedding(f"{mine}:lengths")(cells)
        sys.modules.pop(mine)
        changed = FUNCTIONS.replace("len(text), ", "-len(text), ")
        (tmp_path / f"{mine}.py").write_text(changed + "# changed\n")
        assert np.array_equal(Embedding(f"{mine}:lengths")(cells)[:, 0], -first[:, 0])

    def test_short_texts_are_embedded_if_there_are_no_others(self, mine, tmp_path):
        lines = [f"{k},word{k},{k % 2}" for k in range(9)]
        (tmp_path / "p.csv").write_text("\n".join(["id,product,n", *lines]) + "\n")
        points = read_points(tmp_path / "p.csv", embed=f"{mine}:lengths")
        kinds = {column.name: column.kind for column in points.columns}
        assert kinds == {"product": "embedded texts", "n": "numbers"}

    def test_images_are_given_as_images(self, mine, tmp_path):
        make_photos(tmp_path, 4)
        points = read_points(tmp_path / "photos", embed=f"{mine}:sizes")
        assert points.frame["image"][0][:2].tolist() == [24, 20]
        encoder = points.make_encoder().fit(points.frame)
        assert encoder.get_feature_names_out().tolist()[0] == "image[0]"

    def test_it_goes_on_where_it_was_stopped(self, mine):
        cells = [f"text {k}" for k in range(200)]
        with pytest.raises(KeyboardInterrupt):
            Embedding(f"{mine}:stops")(cells)
        made = Embedding(f"{mine}:stops")(cells)
        assert np.all(made == 1)
        # Two parts were made before, and one more was begun.
        assert sys.modules[mine].calls == [32] * 7 + [8]

    @pytest.mark.parametrize(
        ("called", "message"),
        [
            ("wrong", "must return an array with one row for each"),
            ("nothing", "has no function nothing"),
            ("fails", r"failed with RuntimeError: no memory \(mine_.*py, line \d+\)"),
        ],
    )
    def test_functions_that_do_not_fit_are_refused(self, mine, called, message):
        with pytest.raises(TableError, match=message):
            Embedding(f"{mine}:{called}")(["a", "b"])

    def test_a_module_that_is_not_there_is_named(self, mine):  # noqa: ARG002
        with pytest.raises(TableError, match="no_such_module cannot be imported"):
            load_embedder("no_such_module:f", named_by_user=True)

    def test_a_module_that_cannot_be_loaded_is_named(self, mine, tmp_path):  # noqa: ARG002
        (tmp_path / "broken_module.py").write_text("1 / 0")
        why = r"cannot be .* \(broken_module.py, line 1"
        with pytest.raises(TableError, match=why):
            load_embedder("broken_module:f", named_by_user=True)

    def test_a_table_without_texts_is_refused(self, mine, tmp_path):
        (tmp_path / "p.csv").write_text("id,x\na,1\nb,2\n")
        with pytest.raises(
            OptionError, match=r"p\.csv has no column of images or texts"
        ):
            read_points(tmp_path / "p.csv", embed=f"{mine}:lengths").columns  # noqa: B018


class TestModelFiles:
    def test_a_file_gets_no_function_called(self, mine, tmp_path):
        table = read_table(write_texts(tmp_path))
        about = {"columns": [["story", "embedded texts", f"{mine}:lengths"]]}
        with pytest.raises(TableError, match=f"say so with --embed {mine}:lengths"):
            ForModel(about)(table)
        assert mine not in sys.modules
        with pytest.raises(OptionError, match="is not what the model was made with"):
            ForModel(about, "other:function")
        made = ForModel(about, f"{mine}:lengths")(table)
        assert made.columns["story"].array.shape == (40, 2)

    def test_a_file_gets_nothing_downloaded(self, monkeypatch):
        pytest.importorskip("huggingface_hub")
        from tests.support.tiny_networks import import_timm

        import_timm()
        import socket

        def refuse(*_):
            raise AssertionError("something asks the network")

        monkeypatch.setattr(socket.socket, "connect", refuse)
        for name in ("timm:resnet18", "timm:hf-hub:someone/something"):
            with pytest.raises(
                TableError, match=r"not on this machine|cannot be loaded"
            ):
                load_embedder(name, named_by_user=False)

    def test_a_column_of_raw_cells_says_what_to_do(self):
        frame = pd.DataFrame({"story": [np.ones(2), np.zeros(2)]})
        encoder = EmbeddedColumn("a:b").fit(frame)
        with pytest.raises(CellError, match=r"read_points\(path, embed='a:b'\)"):
            encoder.transform(pd.DataFrame({"story": ["text"]}))


class TestCache:
    def test_damaged_files_are_passed_over(self, tmp_path):
        cache = VectorCache("m", tmp_path)
        for k in range(3):
            cache.add([key_of(b"%d" % k)], np.full((1, 4), k))
        files = sorted(tmp_path.glob("*/*.npy"))
        files[0].write_bytes(files[0].read_bytes()[:-3] + b"xyz")
        files[1].write_bytes(b"")
        again = VectorCache("m", tmp_path)
        assert len(again) == 1

    def test_methods_do_not_share(self, tmp_path):
        VectorCache("m 1", tmp_path).add([key_of(b"x")], np.ones((1, 2)))
        assert VectorCache("m 2", tmp_path).get(key_of(b"x")) is None


def test_timm_networks(mine, tmp_path):  # noqa: ARG001 - for its cache
    make_photos(tmp_path, 6)
    name = make_timm_network(tmp_path / "network")
    points = read_points(tmp_path / "photos", embed=name)
    vectors = np.stack(points.frame["image"].tolist())
    assert vectors.shape[0] == 6
    assert len(np.unique(vectors, axis=0)) == 6
    # The model alone names it, which is enough for what is on this machine.
    about = {"columns": [[c.name, c.kind, c.form] for c in points.columns]}
    again = ForModel(about)(read_table(tmp_path / "photos"))
    assert np.array_equal(again.columns["image"].array, vectors)
    # Other weights under the same name are noticed.
    first = load_embedder(name, named_by_user=True).version
    make_timm_network(tmp_path / "network", seed=1)
    assert load_embedder(name, named_by_user=True).version != first
    (tmp_path / "network" / "model.safetensors").unlink()
    with pytest.raises(TableError, match="no weights that are safe to read"):
        load_embedder(name, named_by_user=True)


@pytest.mark.slow
def test_sentence_networks(mine, tmp_path):  # noqa: ARG001 - for its cache
    name = make_sentence_network(tmp_path / "made", ["word", "more", "and"])
    points = read_points(write_texts(tmp_path, 8), embed=name)
    vectors = np.stack(points.frame["story"].tolist())
    assert vectors.shape == (8, 16)
    assert len(np.unique(vectors.round(4), axis=0)) > 3
