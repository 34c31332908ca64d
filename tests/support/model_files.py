"""Model files, and how to forge them."""

import io
import json
import zipfile

import numpy as np
import pytest

import pairlearn
from pairlearn import load, save
from pairlearn.files.archive import HEADER, SCHEMA, pack
from pairlearn.files.saving import ModelFileError, describe


def saved(model, folder, **kwargs):
    path = folder / "model.skops"
    save(model, path, **kwargs)
    return path


def round_trip(model, folder, **kwargs):
    return load(saved(model, folder), **kwargs)


def assert_same(model, again, X):
    """Exactly the same, in everything that can be asked of points."""
    assert type(again) is type(model)
    for method in ("decision_function", "predict", "predict_proba"):
        if hasattr(model, method):
            before, after = getattr(model, method)(X), getattr(again, method)(X)
            assert before.dtype == after.dtype
            np.testing.assert_array_equal(before, after)


def members_of(data):
    with zipfile.ZipFile(io.BytesIO(data)) as source:
        return {name: source.read(name) for name in source.namelist()}


def forged(data, change=None, *, header=None, sign=True):
    """The file after a change of its schema, with checksums that fit again."""
    members = members_of(data)
    schema = json.loads(members[SCHEMA])
    if change is not None:
        schema = change(schema) or schema
    members[SCHEMA] = json.dumps(schema).encode()
    return zipped(members, header=header, sign=sign)


def zipped(members, *, header=None, sign=True, compress=False):
    import hashlib

    about = json.loads(members[HEADER])
    if sign:
        about["sha256"] = {
            name: hashlib.sha256(content).hexdigest()
            for name, content in members.items()
            if name != HEADER
        }
    about.update(header or {})
    members = {**members, HEADER: json.dumps(about).encode()}
    buffer = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w", kind) as target:
        for name, content in members.items():
            target.writestr(name, content)
    return buffer.getvalue()


def attribute(schema, name):
    return schema["content"]["content"][name]


def node(loader, module, name, **content):
    return {"__loader__": loader, "__module__": module, "__class__": name, **content}


def json_node(value):
    return node("JsonNode", "builtins", "str", content=json.dumps(value), is_json=True)


def tuple_node(*nodes):
    return node("TupleNode", "builtins", "tuple", content=list(nodes))


# Damage.


def refused(data, folder):
    path = folder / "bad.skops"
    path.write_bytes(data)
    with pytest.raises(ModelFileError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path} cannot be loaded: ")
    assert "\n" not in message
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
    return message


def unchecked(model):
    """The file of a model as a forger would write it: without a look at the model."""
    import skops.io

    versions = {"pairlearn": pairlearn.__version__}
    header = {"kind": "x", "versions": versions, "about": {}}
    return pack(skops.io.dumps(model), header)


def refused_by_both(data, folder):
    """Also by `describe`, which builds nothing."""
    message = refused(data, folder)
    with pytest.raises(ModelFileError) as caught:
        describe(folder / "bad.skops")
    assert str(caught.value) == message
    return message


def generator(kind, **changed):
    bits = kind(0)
    state = bits.state
    inner = state["state"] if "pos" in changed else state
    inner.update(changed)
    bits.state = state
    return np.random.Generator(bits)


def random_state(place):
    source = np.random.RandomState(0)
    name, key, _, *rest = source.get_state()
    source.set_state((name, key, place, *rest))
    return source
