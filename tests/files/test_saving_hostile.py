"""Model files made to do harm: nothing that they name is called."""

import json
import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from pairlearn import load
from pairlearn.files.archive import SCHEMA
from pairlearn.files.saving import ModelFileError
from tests.support.model_files import (
    attribute,
    forged,
    json_node,
    members_of,
    node,
    refused,
    saved,
    tuple_node,
    zipped,
)

# Hostile schemas.


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "marker"


def call(loader, module, name, *arguments):
    """A node by which a careless reader would call a function."""
    return node(
        loader,
        module,
        name,
        content=tuple_node(*map(json_node, arguments)),
        __reduce__={"args": tuple_node(*map(json_node, arguments))},
        attrs=tuple_node(*map(json_node, arguments)),
        type="json",
        shape=json_node([1]),
    )


@pytest.mark.parametrize(
    "loader",
    [
        "ConstructorFromReduceNode", "ObjectNode", "FunctionNode", "TypeNode",
        "ListNode", "SetNode", "TupleNode", "DictNode", "LossNode", "TreeNode",
        "NdArrayNode", "OperatorFuncNode", "MethodNode", "PartialNode", "CachedNode",
        "RandomStateNode", "RandomGeneratorNode", "MaskedArrayNode",
        "SparseMatrixNode", "BytesNode", "JsonNode", "NoSuchNode",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("module", "name"),
    [("os", "system"), ("posix", "system"), ("builtins", "eval"), ("pathlib", "Path")],
)
def test_hostile_nodes_run_nothing(loader, module, name, model_file, marker, tmp_path):
    evil = call(loader, module, name, f"touch {marker}")

    def whole(_):
        return {**evil, "protocol": 2, "_skops_version": "0.16.0"}

    def part(schema):
        schema["content"]["content"]["alpha"] = evil

    def key(schema):
        schema["content"]["key_types"]["content"][0] = evil

    for change in (whole, part, key):
        for protocol in (0, 1, 2):
            data = forged(
                model_file[0].read_bytes(),
                lambda schema, change=change, protocol=protocol: {
                    **(change(schema) or schema),
                    "protocol": protocol,
                },
            )
            refused(data, tmp_path)
    assert not marker.exists()


def test_the_error_names_what_a_file_asks_for(model_file, tmp_path):
    def change(schema):
        evil = node("FunctionNode", "posix", "system")
        schema["content"]["content"]["alpha"] = evil

    message = refused(forged(model_file[0].read_bytes(), change), tmp_path)
    assert "it asks for posix.system" in message
    assert "only if you know who made the file" in message


def test_no_function_is_called_that_a_generator_names(model_file, tmp_path):
    state = {"bit_generator": json_node("seed")}
    text = node("TypeNode", "builtins", "str")
    content = node(
        "DictNode", "builtins", "dict", content=state,
        key_types=node("ListNode", "builtins", "list", content=[text]),
    )  # fmt: skip
    evil = node(
        "RandomGeneratorNode", "numpy.random._generator", "Generator",
        content={"bit_generator": content, "seed_seq": content},
    )  # fmt: skip

    def change(schema):
        schema["content"]["content"]["random_state"] = evil

    assert "generator" in refused(forged(model_file[0].read_bytes(), change), tmp_path)


def test_one_number_for_two_things_is_refused(model_file, tmp_path):
    """skops takes the first node of a number: a second must not pass unread."""

    def change(schema):
        first = attribute(schema, "alpha")
        schema["content"]["content"]["loss"] = {
            **json_node("hinge"),
            "__id__": first["__id__"],
        }

    message = refused(forged(model_file[0].read_bytes(), change), tmp_path)
    assert "two things the same number" in message

    def circle(schema):
        schema["content"]["content"]["alpha"] = tuple_node()
        schema["content"]["content"]["alpha"]["__id__"] = schema["__id__"]

    refused(forged(model_file[0].read_bytes(), circle), tmp_path)


def test_deep_and_odd_schemas(model_file, tmp_path):
    data = model_file[0].read_bytes()

    def deep(schema):
        inner = json_node(1)
        for _ in range(60):
            inner = tuple_node(inner)
        schema["content"]["content"]["alpha"] = inner

    path = tmp_path / "deep.skops"
    path.write_bytes(forged(data, deep))
    assert isinstance(load(path).alpha, tuple)

    members = members_of(data)
    text = '{"__loader__":"TupleNode","__module__":"builtins","__class__":"tuple",'
    text = (text + '"content":[') * 5000 + "]}" * 5000
    schema = members[SCHEMA].decode()
    start = schema.index('"alpha":') + len('"alpha":')
    schema = schema[:start] + text + "," + '"beta":' + schema[start:]
    refused(zipped({**members, SCHEMA: schema.encode()}), tmp_path)
    for odd in (b"[]", b"3", b"{}", b"null", b"{", b"[" * 10**6, b'{"protocol": true}'):
        refused(zipped({**members, SCHEMA: odd}), tmp_path)


def test_random_changes_of_the_schema_give_one_kind_of_error(model_file, tmp_path):
    """Forged files whose checksums fit: any error but ours would be a leak."""
    data = model_file[0].read_bytes()
    text = members_of(data)[SCHEMA].decode()
    rng = np.random.default_rng(0)
    values = ["null", "3", '"x"', "[]", "{}", "true", "-1"]
    members, path, n_refused = members_of(data), tmp_path / "bad.skops", 0
    starts = [k for k, letter in enumerate(text) if letter == ":"]
    for place in rng.choice(starts, 150, replace=False):
        # Put something else in place of one value of the schema.
        _, end = (
            json.JSONDecoder().raw_decode(text, place + 1)
            if (text[place + 1] in '"{[0123456789tfn-')
            else (None, place + 1)
        )
        changed = text[: place + 1] + str(rng.choice(values)) + text[end:]
        path.write_bytes(zipped({**members, SCHEMA: changed.encode()}))
        try:
            load(path)
        except ModelFileError:
            n_refused += 1
    assert n_refused > 75


def test_a_file_must_hold_a_model(model_file, tmp_path):
    def whole(_):
        return {**tuple_node(json_node(1)), "protocol": 2, "_skops_version": "0.16.0"}

    message = refused(forged(model_file[0].read_bytes(), whole), tmp_path)
    assert "it holds a tuple, which is not a model" in message


class Elsewhere(ClassifierMixin, BaseEstimator):
    """A class that will be gone."""


def test_a_class_that_is_gone(tmp_path, monkeypatch):
    path = saved(Elsewhere(), tmp_path)
    name = f"{__name__}.Elsewhere"
    monkeypatch.delattr(sys.modules[__name__], "Elsewhere")
    with pytest.raises(ModelFileError, match="Elsewhere"):
        load(path, trusted=[name])
    missing = forged(
        path.read_bytes(), lambda schema: {**schema, "__module__": "no_such_module"}
    )
    (tmp_path / "missing.skops").write_bytes(missing)
    with pytest.raises(ModelFileError, match="needs the module no_such_module"):
        load(tmp_path / "missing.skops", trusted=["no_such_module.Elsewhere"])
