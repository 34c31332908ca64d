"""Arrays and generators in model files: only such as could have been saved."""

import io
import zipfile
from collections import defaultdict
from functools import partial

import numpy as np
import pytest
import scipy
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.fixes import parse_version

from pairlearn import CIPSClassifier, ConstrainedSpectralClustering, load, save
from pairlearn.files.archive import check_sparse
from pairlearn.files.saving import ModelFileError, _first_difference
from pairlearn.files.trusted_types import TYPES
from tests.support.model_files import (
    attribute,
    forged,
    generator,
    json_node,
    members_of,
    node,
    random_state,
    refused,
    refused_by_both,
    round_trip,
    saved,
    tuple_node,
    unchecked,
    zipped,
)


def test_sparse_arrays_are_checked(blob_pairs, tmp_path):
    pairs, t = blob_pairs
    model = ConstrainedSpectralClustering(random_state=0).fit(pairs, t)
    members = members_of(saved(model, tmp_path).read_bytes())
    (name,) = [name for name in members if name.endswith(".npz")]
    inner = members_of(members[name])
    indices = np.load(io.BytesIO(inner["indices.npy"]))
    indices[7] = 10**6
    changed = io.BytesIO()
    np.save(changed, indices)

    def packed(content, kind=zipfile.ZIP_STORED):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", kind) as target:
            for key, value in content.items():
                target.writestr(key, value)
        return buffer.getvalue()

    outside = packed({**inner, "indices.npy": changed.getvalue()})
    refused(zipped({**members, name: outside}), tmp_path)
    compressed = packed(inner, zipfile.ZIP_DEFLATED)
    message = refused(zipped({**members, name: compressed}), tmp_path)
    assert "sparse arrays is compressed" in message


def with_attributes(module, name, attributes):
    """A file that asks for an object of a type, with attributes that it chooses."""
    model, inner = CIPSClassifier(), CIPSClassifier()
    vars(inner).clear()
    vars(inner).update(attributes)
    model.extra_ = inner

    def change(schema):
        attribute(schema, "extra_").update({"__module__": module, "__class__": name})

    return forged(unchecked(model), change)


def with_sparse(**arrays):
    """A file with a sparse array that is made of these arrays."""
    model = CIPSClassifier()
    model.extra_ = sparse.csr_array(np.eye(3))
    members = members_of(unchecked(model))
    (name,) = [name for name in members if name.endswith(".npz")]
    buffer = io.BytesIO()
    np.savez(buffer, _is_array=True, shape=(3, 3), **arrays)
    return zipped({**members, name: buffer.getvalue()})


@pytest.mark.parametrize(
    ("module", "name", "attributes"),
    [
        ("_coo", "coo_array", {"coords": (np.array([10**7, 0]), np.array([0, 1]))}),
        ("_coo", "coo_matrix", {"coords": (np.array([10**7, 0]), np.array([0, 1]))}),
        ("_csr", "csr_array", {"indices": np.zeros(2), "indptr": [0, 10**8, 5, 0]}),
        ("_csc", "csc_matrix", {"indices": np.zeros(2), "indptr": [0, 10**8, 5, 0]}),
    ],
)
def test_sparse_arrays_have_no_attributes_of_choice(module, name, attributes, tmp_path):
    attributes = {"_shape": (3, 3), "data": np.ones(2), "maxprint": 50, **attributes}
    data = with_attributes(f"scipy.sparse.{module}", name, attributes)
    message = refused(data, tmp_path)
    assert f"{module}.{name} as a ObjectNode, which no model needs" in message
    # Nor if a user names it: it can be in a model, but is never built so.
    path = tmp_path / "bad.skops"
    with pytest.raises(ModelFileError, match="no model needs"):
        load(path, trusted=[f"scipy.sparse.{module}.{name}"])


@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name in TYPES
        if name.split(".")[0] in ("builtins", "functools", "numpy", "scipy")
    ),
)
@pytest.mark.parametrize("loader", ["ObjectNode", "FunctionNode", "LossNode"])
def test_types_in_c_are_built_in_their_own_way_only(loader, name, model_file, tmp_path):
    def change(schema):
        module, _, kind = name.rpartition(".")
        evil = node(loader, module, kind, content=tuple_node())
        schema["content"]["content"]["alpha"] = evil

    message = refused(forged(model_file[0].read_bytes(), change), tmp_path)
    assert f"{name} as a {loader}, which no model needs" in message


def integers(*values):
    return np.array(values, dtype=np.int32)


@pytest.mark.parametrize(
    "arrays",
    [
        # Without a value SciPy does not look at the starts of the rows.
        {"data": [], "indices": [], "indptr": [0, 10**8, 5, 0]},
        {"data": [], "indices": [], "indptr": [0, -(10**8), 0, 0]},
        {"data": [], "indices": [], "indptr": [0, 2**31 - 1, -(2**31), 0]},
        {"data": [1.0], "indices": [0], "indptr": [0, 1, 0, 1]},
        {"data": [1.0], "indices": [99], "indptr": [0, 1, 1, 1]},
        {"data": [1.0], "indices": [-99], "indptr": [0, 1, 1, 1]},
        {"data": [1.0], "indices": [0], "indptr": [0, 1, 1, 10**8]},
        {"data": [1.0], "indices": [0], "indptr": [-(10**8), 1, 1, 1]},
        {"data": [1.0], "indices": [0], "indptr": [0, 1]},
        {"data": [1.0], "indices": [0, 1, 2], "indptr": [0, 1, 2, 3]},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_compressed_arrays_stay_within_themselves(kind, arrays, tmp_path):
    arrays = {
        name: np.array(value, dtype=float) if name == "data" else integers(*value)
        for name, value in arrays.items()
    }
    # SciPy finds some of this by itself, when the array is made.
    refused_by_both(with_sparse(format=kind, **arrays), tmp_path)


@pytest.mark.parametrize(
    ("row", "col", "n_values"),
    [((3, 0), (0, 1), 2), ((0, -1), (0, 1), 2), ((0,), (0, 1), 2), ((0,), (0,), 2)],
)
def test_coordinates_stay_within_the_array(row, col, n_values, tmp_path):
    coords = {"row": integers(*row), "col": integers(*col)}
    data = with_sparse(format="coo", data=np.ones(n_values), **coords)
    refused_by_both(data, tmp_path)
    table = sparse.coo_array(np.eye(3))
    table.coords, table.data = tuple(coords.values()), np.ones(n_values)
    with pytest.raises(ModelFileError, match="rows or columns outside of it"):
        check_sparse(table)


@pytest.mark.parametrize("kind", ["bsr", "dia", "lil", "x" * 99])
def test_sparse_arrays_of_other_formats(kind, tmp_path):
    arrays = {"data": np.ones((1, 3)), "offsets": integers(0)}
    message = refused_by_both(with_sparse(format=kind, **arrays), tmp_path)
    assert f"sparse array of format {kind[:20]!r}" in message


@pytest.mark.parametrize(
    "kind", [sparse.coo_array, sparse.csr_array, sparse.csc_matrix]
)
def test_any_difference_of_sparse_arrays_is_seen(kind):
    """What was written is read again and compared, down to where each number stands."""
    one = kind([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0]])
    others = {
        "a number": kind([[0.0, 1.0, 0.0], [3.0, 0.0, 0.0]]),
        "a column": kind([[0.0, 1.0, 0.0], [0.0, 2.0, 0.0]]),
        "a row": kind([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]]),
        "the width": kind([[0.0, 1.0, 0.0, 0.0], [2.0, 0.0, 0.0, 0.0]]),
        "the type": one.astype(np.float32),
    }
    assert _first_difference([one], [one.copy()]) is None
    for what, other in others.items():
        assert _first_difference([one], [other]) is not None, what


@pytest.mark.parametrize("kind", [sparse.coo_array, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("shape", [(4, 7), (7, 4), (0, 3), (3, 0), (5, 5), (6,)])
def test_sparse_arrays_of_any_shape(kind, shape, tmp_path):
    table = np.arange(np.prod(shape)).reshape(shape) % 3
    model = CIPSClassifier()
    if len(shape) == 1 and kind is not sparse.coo_array:
        pytest.skip("has two dimensions, in some versions of SciPy")
    if len(shape) == 1 and parse_version(scipy.__version__) < parse_version("1.15"):
        pytest.skip("this SciPy cannot write arrays of one dimension")
    model.extra_ = [kind(table), kind(0 * table)]
    again = round_trip(model, tmp_path)
    for before, after in zip(model.extra_, again.extra_, strict=True):
        assert type(after) is type(before)
        np.testing.assert_array_equal(after.toarray(), before.toarray())


@pytest.mark.parametrize(
    "kind",
    [
        node("FunctionNode", "numpy", "sin"),
        node("PartialNode", "functools", "partial", content={}),
        json_node("str"),
    ],
    ids=lambda kind: kind["__loader__"],
)
def test_keys_are_made_by_types_only(kind, model_file, tmp_path):
    """skops calls what makes a key while the model is built."""

    def change(schema):
        schema["content"]["key_types"]["content"][0] = kind

    message = refused(forged(model_file[0].read_bytes(), change), tmp_path)
    assert "a dict whose keys are of no type" in message


FORGED_PLACES = [
    lambda: random_state(10**9),
    lambda: random_state(625),
    lambda: random_state(-1),
    lambda: generator(np.random.MT19937, pos=10**9),
    lambda: generator(np.random.MT19937, pos=-(10**9)),
    lambda: generator(np.random.Philox, buffer_pos=-(10**6)),
    lambda: generator(np.random.Philox, buffer_pos=5),
]


@pytest.mark.parametrize("make", FORGED_PLACES)
def test_a_generator_stands_within_its_state(make, tmp_path):
    model = CIPSClassifier(solver="sgd", random_state=make())
    assert "a generator of random numbers at place" in refused(
        unchecked(model), tmp_path
    )
    with pytest.raises(TypeError, match=r"cannot be saved.*random numbers at place"):
        save(model, tmp_path / "model.skops")


def test_no_generator_is_overlooked(tmp_path):
    evil = random_state(10**9)
    inner = CIPSClassifier()
    inner.deep_ = {"a": [(1, np.array([evil, None], dtype=object))]}
    hidden = partial(rbf_kernel, gamma=evil)
    hidden.extra = evil
    factory = defaultdict(partial(rbf_kernel, evil))
    for holder in ({evil}, {(1, evil)}, inner, hidden, factory):
        model = CIPSClassifier()
        model.extra_ = holder
        message = refused(unchecked(model), tmp_path)
        assert "a generator of random numbers at place" in message


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_generators_go_on_where_they_were(name, tmp_path):
    model = CIPSClassifier()
    model.extra_ = [
        np.random.Generator(getattr(np.random, name)(3)),
        np.random.RandomState(3),
    ]
    for n_drawn in (0, 1, 5, 624, 3):
        for source in model.extra_:
            source.random(n_drawn)
        again = round_trip(model, tmp_path)
        for before, after in zip(model.extra_, again.extra_, strict=True):
            np.testing.assert_array_equal(before.random(9), after.random(9))


@pytest.mark.parametrize("size", [10**6, 0, "4", None])
def test_a_seed_is_of_the_usual_size(size, tmp_path):
    """The time to mix a seed grows as the square of its size."""
    model = CIPSClassifier(random_state=np.random.default_rng(0))

    def change(schema):
        seed = attribute(schema, "random_state")["content"]["seed_seq"]
        seed["content"]["pool_size"] = json_node(size)

    message = refused(forged(unchecked(model), change), tmp_path)
    assert "a generator of random numbers without a valid seed" in message
