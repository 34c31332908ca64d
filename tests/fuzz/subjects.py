"""What is damaged: a file or more of each kind, and how one is read.

A subject makes whole files, and reads a file to something that can be compared. Reading
may raise `Refused`; anything else that it raises is a fault of ours.
"""

import datetime as dt
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np

__all__ = ["SUBJECTS", "TABLES", "Refused"]

N_POINTS = 60


class Refused(Exception):  # noqa: N818 - it is what should happen
    """A file was refused with a message for its user."""


def skops_files(folder):
    """A linear classifier, and a default one of the command line."""
    from pairlearn import CIPSClassifier, Pairs, save
    from pairlearn.cli.quick_imports import import_skops

    import_skops()
    X = np.random.default_rng(0).normal(size=(N_POINTS, 2))
    pairs, t = Pairs.sample(X, 30, X[:, 0] > 0, random_state=0)
    model = CIPSClassifier(classes=("no", "yes"), random_state=0).fit(pairs, t)
    save(model, folder / "linear.skops", about={"who": "me"})
    csv_files(folder)
    command(
        "fit", folder / "points.csv", folder / "pairs.csv", "-o", folder / "fit.skops"
    )
    return [folder / "linear.skops", folder / "fit.skops"]


def read_skops(path):
    """The scores of some points, what the model is and what was kept with it."""
    from pairlearn import load
    from pairlearn.files.saving import ModelFileError, describe

    explained = command("explain", path, refused=(1,))
    try:
        model, about = load(path), describe(path)
    except ModelFileError as error:
        raise Refused(str(error)) from None
    if explained is None:
        raise AssertionError("load reads a file that pairlearn explain refuses")
    # The date of a member may be flipped without harm, but gives another digest.
    explained = explained.partition("SHA-256 of the model file")[0]
    shape = (5, model.n_features_in_)
    points = np.random.default_rng(1).normal(size=shape)
    if hasattr(model, "feature_names_in_"):
        return [str(model.get_params()), str(about), explained]
    return [model.decision_function(points).tolist(), str(about), explained]


def columns():
    """Columns of every kind that tables have."""
    rng = np.random.default_rng(0)
    rows = range(N_POINTS)
    first = dt.datetime(2024, 1, 1)  # noqa: DTZ001 - as tables have them
    return {
        "id": [f"p{k}" for k in rows],
        "x": rng.normal(size=N_POINTS).round(3).tolist(),
        "count": rng.integers(0, 1000, N_POINTS).tolist(),
        "colour": [("red", "blue", None)[k % 3] for k in rows],
        "day": [first.date() + dt.timedelta(days=k) for k in rows],
        "when": [first + dt.timedelta(hours=k) for k in rows],
        "price": [Decimal(k) / 4 for k in rows],
        "open": [k % 2 == 0 for k in rows],
        "raw": [(b"ab", b"c", b"")[k % 3] for k in rows],
    }


def arrow_table():
    """The columns as an Arrow table, one of them twice, as a dictionary."""
    import pyarrow as pa

    table = pa.table(columns())
    return table.append_column("kind", table["colour"].dictionary_encode())


def csv_files(folder):
    """Points as a plain table and with everything in quotes; and pairs."""
    some = {k: v for k, v in columns().items() if k not in ("when", "raw")}
    rows = ["" if c is None else str(c) for row in zip(*some.values()) for c in row]  # noqa: B905
    rows = [rows[k : k + len(some)] for k in range(0, len(rows), len(some))]
    lines = [list(some), *rows]
    plain, quoted = folder / "points.csv", folder / "quoted.csv"
    plain.write_text("".join(",".join(line) + "\n" for line in lines))
    quoted.write_text(
        "".join(";".join(f'"{cell}"' for cell in line) + "\r\n" for line in lines)
    )
    (folder / "pairs.csv").write_text(
        "left,right,answer\n"
        + "".join(
            f"p{k},p{(k * 7 + 1) % N_POINTS},{('same', 'different')[k % 2]}\n"
            for k in range(N_POINTS)
        )
    )
    return [plain, quoted]


def feather_files(folder):
    """Feather with each of its compressions."""
    import pyarrow.feather as feather

    paths = []
    for kind in ("lz4", "zstd", "uncompressed"):
        paths.append(folder / f"{kind}.feather")
        feather.write_feather(arrow_table(), paths[-1], compression=kind, chunksize=25)
    return paths


def arrow_files(folder):
    """The two formats of Arrow, and a file of Polars."""
    import polars as pl
    import pyarrow as pa

    table = arrow_table()
    paths = [folder / "file.arrow", folder / "stream.arrow", folder / "polars.arrow"]
    for path, new in zip(paths[:2], (pa.ipc.new_file, pa.ipc.new_stream), strict=True):
        with pa.OSFile(str(path), "wb") as target, new(target, table.schema) as writer:
            writer.write_table(table, max_chunksize=25)
    pl.from_arrow(table.drop(["raw"])).write_ipc(paths[2])
    return paths


def parquet_files(folder):
    """Parquet with several compressions and encodings, once with checksums."""
    import pyarrow.parquet as pq

    table = arrow_table()
    ways = {
        "snappy": {"row_group_size": 25},
        "zstd": {"compression": "zstd", "data_page_version": "2.0"},
        "plain": {"compression": "none", "use_dictionary": False},
        "checked": {"write_page_checksum": True},
    }
    for name, options in ways.items():
        pq.write_table(table, folder / f"{name}.parquet", **options)
    return [folder / f"{name}.parquet" for name in ways]


def excel_files(folder):
    """A workbook of two sheets."""
    import openpyxl

    book = openpyxl.Workbook()
    some = {k: v for k, v in columns().items() if k != "raw"}
    book.active.append(list(some))
    for row in zip(*some.values(), strict=True):
        book.active.append(row)
    book.create_sheet("other").append(["a", 1])
    book.save(folder / "points.xlsx")
    return [folder / "points.xlsx"]


def array_files(folder):
    """Vectors with ids, packed and not."""
    made = {"id": np.array(columns()["id"]), "X": np.random.RandomState(0).rand(60, 4)}
    np.savez(folder / "plain.npz", **made)
    np.savez_compressed(folder / "packed.npz", **made)
    return [folder / "plain.npz", folder / "packed.npz"]


def sqlite_files(folder):
    """Answers that people gave on the page."""
    from tests.support.stored import make_store

    csv_files(folder)
    path = folder / "answers.sqlite"
    make_store(path, {f"p{k}": k % 2 for k in range(N_POINTS)}, 40, 8, learn_every=9)
    return [path]


def read_table(path):
    """The cells of a table by column; a command on it must end well too."""
    from pairlearn.files.tables.reading import TableError, read_table

    points, pairs = path, path.with_name("pairs.csv")
    if path.suffix == ".sqlite":
        points, pairs = path.with_name("points.csv"), path
    # Ids that were changed are none of the points, which is no fault of the file.
    options = ["--skip-unknown"] if pairs == path else []
    checked = command("check", points, pairs, *options, refused=(1, 2))
    try:
        table = read_table(path)
    except TableError as error:
        if checked is not None:
            raise AssertionError("check reads a table that is refused") from None
        raise Refused(str(error)) from None
    return {
        name: [(type(cell).__name__, repr(cell)) for cell in table.columns[name]]
        for name in table.columns
    }


def checkpoint_files(folder):
    """The checkpoint of a training that was stopped after two epochs."""
    fit_net(folder, max_epochs=2)
    (path,) = [path for path in folder.iterdir() if path.is_file()]
    return [path]


def read_checkpoint(path):
    """The weights and losses of a training that goes on from a checkpoint."""
    try:
        net = fit_net(path.parent, max_epochs=3)
    except ValueError as error:
        raise Refused(str(error)) from None
    weights = [value.tolist() for value in net.module_.state_dict().values()]
    losses = [{k: v for k, v in h.items() if k != "seconds"} for h in net.history_]
    return [weights, losses, net.best_epoch_]


def fit_net(folder, max_epochs):
    """Train a small network, or go on with it."""
    from pairlearn import Pairs
    from pairlearn.models.neural import PairNet

    X = np.random.default_rng(0).normal(size=(N_POINTS, 2))
    pairs, t = Pairs.sample(X, 30, X[:, 0] > 0, random_state=0)
    net = PairNet(hidden=(4,), max_epochs=max_epochs, checkpoint=folder, random_state=0)
    return net.fit(pairs, t)


def command(*words, refused=()):
    """What a command prints; None if it refuses, with a message, as it may."""
    from typer.testing import CliRunner

    from pairlearn.cli.app import app

    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code in refused:
        if not result.stderr.strip() or "Traceback" in result.output:
            raise AssertionError(f"no message, but {result.output[:200]!r}")
        return None
    if result.exit_code:
        raise AssertionError(f"exit code {result.exit_code}: {result.output[:200]!r}")
    return result.stdout


def with_pairs(make, folder: Path):
    """The files of a kind of table, with pairs beside them for the commands."""
    csv_files(folder)
    return make(folder)


# For each kind of file: what makes some, and what reads one.
TABLES = ("csv", "arrow", "feather", "parquet", "xlsx", "npz", "sqlite")
SUBJECTS = {
    "skops": (skops_files, read_skops),
    "csv": (csv_files, read_table),
    "arrow": (partial(with_pairs, arrow_files), read_table),
    "feather": (partial(with_pairs, feather_files), read_table),
    "parquet": (partial(with_pairs, parquet_files), read_table),
    "xlsx": (partial(with_pairs, excel_files), read_table),
    "npz": (partial(with_pairs, array_files), read_table),
    "sqlite": (sqlite_files, read_table),
    "checkpoint": (checkpoint_files, read_checkpoint),
}
