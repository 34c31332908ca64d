"""Commands on folders of images, on vectors, and with embeddings."""

import sys

import numpy as np
import pandas as pd
import pytest

from pairlearn.files.tables.points import read_points
from pairlearn.label.settings import settled
from pairlearn.label.things import Things
from tests.support.commands import call
from tests.support.photos import make_photos


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    names, kinds = make_photos(folder)
    result = call(
        "fit", folder / "photos", folder / "pairs.csv", "-o", folder / "m.skops",
        "--report", folder / "r.html",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return folder, names, kinds


def agree(predictions, names, kinds):
    """The share of points that are predicted right, whatever the groups are called."""
    found = pd.read_csv(predictions).set_index("id")["class"][names] == "A"
    share = np.mean(found.to_numpy() == (kinds == 1))
    return max(share, 1 - share)


def test_a_folder_is_predicted(photos):
    folder, names, kinds = photos
    out = folder / "p.csv"
    result = call("predict", folder / "m.skops", folder / "photos", "-o", out)
    assert result.exit_code == 0, result.output
    assert agree(out, names, kinds) == 1
    assert "images, described by size" in (folder / "r.html").read_text()


def test_a_table_of_paths_is_predicted_by_the_same_model(photos):
    folder, names, kinds = photos
    table = pd.DataFrame({"id": names, "image": [f"photos/{name}" for name in names]})
    table.to_csv(folder / "points.csv", index=False)
    out = folder / "q.csv"
    result = call("predict", folder / "m.skops", folder / "points.csv", "-o", out)
    assert result.exit_code == 0, result.output
    assert agree(out, names, kinds) == 1


def test_a_damaged_image_is_named_and_nothing_written(photos, tmp_path):
    folder, _, _ = photos
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    out = tmp_path / "p.csv"
    result = call("predict", folder / "m.skops", tmp_path / "new", "-o", out)
    assert result.exit_code == 1
    assert "'bad.png' cannot be read as PNG" in result.stderr
    assert not out.exists()


def test_the_page_shows_the_images_of_a_folder(photos):
    folder, names, _ = photos
    things = Things(read_points(folder / "photos"), folder / "photos")
    (column,) = things.columns
    assert (column.kind, column.unlearned) == ("image", None)
    assert b'"media":"image"' in things.json(0)
    with things.open(0, 0).file as file:
        assert file.read() == (folder / "photos" / min(names)).read_bytes()


def test_vectors_are_not_shown(tmp_path):
    np.savez(tmp_path / "x.npz", id=np.array(["a", "b"]), v=np.eye(2))
    things = Things(read_points(tmp_path / "x.npz"), tmp_path / "x.npz")
    assert things.columns == []
    assert b'"cells":[]' in things.json(0)


def test_a_function_is_called_only_if_it_is_named(photos, tmp_path, monkeypatch):
    folder, names, kinds = photos
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAIRLEARN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "of_my_own.py").write_text(
        "import numpy as np\n"
        "def edges(images):\n"
        "    all = [np.asarray(image.convert('L'), float) for image in images]\n"
        "    return [[abs(np.diff(a, axis=k)).mean() for k in (0, 1)] for a in all]\n"
    )
    try:
        model, option = tmp_path / "m.skops", ("--embed", "of_my_own:edges")
        files = (folder / "photos", folder / "pairs.csv")
        result = call("fit", *files, "-o", model, *option)
        assert result.exit_code == 0, result.output
        sys.modules.pop("of_my_own")
        again = ("predict", model, folder / "photos", "-o", tmp_path / "p.csv")
        result = call(*again)
        assert result.exit_code == 1
        assert "say so with --embed of_my_own:edges" in result.stderr
        assert "of_my_own" not in sys.modules
        result = call(*again, *option)
        assert result.exit_code == 0, result.output
        assert agree(tmp_path / "p.csv", names, kinds) == 1
        result = call(*again, "--embed", "os.path:join")
        assert result.exit_code == 2
    finally:
        sys.modules.pop("of_my_own", None)


def test_an_answers_file_gets_no_function_called_by_its_word():
    with pytest.raises(ValueError, match="begun with --embed os:system; say so again"):
        settled({}, {"embed": "os:system"}, "answers.sqlite")
    kept = settled({"embed": "a:b"}, {"embed": "a:b"}, "answers.sqlite")
    assert kept["embed"] == "a:b"


def test_sheets_of_one_workbook(tmp_path):
    rng = np.random.RandomState(0)
    kinds = np.arange(60) % 2
    points = pd.DataFrame({"id": range(60), "x": 4 * kinds + rng.normal(size=60)})
    index = rng.permutation(60).reshape(-1, 2)
    said = np.where(kinds[index[:, 0]] == kinds[index[:, 1]], "same", "different")
    pairs = pd.DataFrame({"left": index[:, 0], "right": index[:, 1], "answer": said})
    book = tmp_path / "book.xlsx"
    with pd.ExcelWriter(book) as writer:
        points.to_excel(writer, sheet_name="points", index=False)
        pairs.to_excel(writer, sheet_name="pairs", index=False)
    result = call("check", f"{book}:points", f"{book}:pairs")
    assert result.exit_code == 0, result.output
    assert "30" in result.output
    for wrong in (f"{book}:no", f"{tmp_path}/none.xlsx:points"):
        result = call("check", wrong, f"{book}:pairs")
        assert result.exit_code in (1, 2)
