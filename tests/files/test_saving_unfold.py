"""Small model files stay small in memory, and are read in a short time."""

import io
import json
import sys
import zipfile
from collections import OrderedDict, defaultdict

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from pairlearn import CIPSClassifier, load
from pairlearn.files.archive import HEADER, SCHEMA
from tests.support.model_files import (
    json_node,
    members_of,
    node,
    random_state,
    saved,
    unchecked,
    zipped,
)

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits of memory are those of Linux"
)
# What pairlearn.files.archive promises: for any file, and for each byte of it.
ANY, EACH = 64_000_000, 60
# Modulo this number Python takes the hash of a number.
PRIME = 2**61 - 1
HERE = "HERE"
LOSSES, LINEAR = "pairlearn.engine.losses", "pairlearn.models.linear"


def listed(*nodes):
    return node("ListNode", "builtins", "list", content=list(nodes))


def text_of(thing):
    return json.dumps(thing, separators=(",", ":"))


def dict_of(keys, value, kind="int", module="builtins"):
    one = text_of(node("TypeNode", module, kind))
    content = ",".join(f'"{key}":{value}' for key in keys)
    kinds = ",".join([one] * len(keys))
    return (
        '{"__loader__":"DictNode","__module__":"builtins","__class__":"dict",'
        f'"content":{{{content}}},"key_types":{{"__loader__":"ListNode",'
        f'"__module__":"builtins","__class__":"list","content":[{kinds}]}}}}'
    )


def many(loader, items, module="builtins", name=None):
    name = name or loader.removesuffix("Node").lower()
    text = text_of(node(loader, module, name, content=[HERE]))
    return text.replace(f'"{HERE}"', ",".join(items))


def repeated(item, size):
    """As many of an item as fit into so many bytes."""
    return [item] * (size // (len(item) + 1))


EMPTY = text_of(listed())
ESTIMATOR = {
    "content": node("DictNode", "builtins", "dict", content={}, key_types=listed())
}
COLLIDING = [PRIME * k for k in range(1, 40_000)]
# Each makes the text of a node of about so many bytes.
SHAPES = {
    "empty lists": lambda n: many("ListNode", repeated("[]", n)),
    "empty dicts": lambda n: many("ListNode", repeated("{}", n)),
    "dicts of one": lambda n: many("ListNode", repeated('{"":0}', n)),
    "numbers": lambda n: many("ListNode", repeated("1.5", n)),
    "lists in text": lambda n: text_of(json_node([[]] * (n // 4))),
    "dicts in text": lambda n: text_of(json_node([{}] * (n // 4))),
    "numbers in text": lambda n: text_of(json_node([999] * (n // 5))),
    "words in text": lambda n: text_of(json_node(["ab"] * (n // 8))),
    "text in text": lambda n: text_of(json_node(json.dumps([[]] * (n // 4)))),
    "keys in text": lambda n: text_of(json_node({f"{k}": 1 for k in range(n // 13)})),
    "empty nodes": lambda n: many("ListNode", repeated(EMPTY, n)),
    "empty nodes with numbers": lambda n: many(
        "ListNode",
        [f'{EMPTY[:-1]},"__id__":{k}}}' for k in range(10, 10 + n // 95)],
    ),
    "copies of a node": lambda n: many(
        "ListNode", repeated(text_of({**listed(json_node(1)), "__id__": 10**6}), n)
    ),
    "copies in copies": lambda n: copies(n),
    "empty dict nodes": lambda n: many(
        "ListNode", repeated(text_of(ESTIMATOR["content"]), n)
    ),
    "types": lambda n: many(
        "ListNode", repeated(text_of(node("TypeNode", "numpy", "int8")), n)
    ),
    "functions": lambda n: many(
        "ListNode", repeated(text_of(node("FunctionNode", "numpy", "sin")), n)
    ),
    "losses": lambda n: many(
        "ListNode",
        repeated(text_of(node("ObjectNode", LOSSES, "SquaredLoss")), n),
    ),
    "estimators": lambda n: many(
        "ListNode",
        repeated(
            text_of(
                node(
                    "ObjectNode",
                    "pairlearn.models.auto.classifier",
                    "PairClassifier",
                    **ESTIMATOR,
                )
            ),
            n,
        ),
    ),
    "estimators without attributes": lambda n: many(
        "ListNode",
        repeated(
            text_of(
                node("ObjectNode", "sklearn.svm._classes", "SVC"),
            ),
            n,
        ),
    ),
    "attributes": lambda n: text_of(
        node("ObjectNode", f"{LINEAR}.cips", "CIPSClassifier", content=HERE)
    ).replace(
        f'"{HERE}"',
        dict_of([f"a{k}" for k in range(n // 140)], EMPTY, "str"),
    ),
    "keys": lambda n: dict_of([f"{k}" for k in range(n // 140)], EMPTY, "str"),
    "keys alike": lambda n: dict_of(COLLIDING[: n // 160], EMPTY),
    "keys alike of numpy": lambda n: dict_of(
        [PRIME * k for k in (0, 1, 2, 3, 4)] + ["0.5"] * (n // 160),
        EMPTY,
        "float64",
        "numpy",
    ),
    "a set alike": lambda n: many(
        "SetNode", [text_of(json_node(k)) for k in COLLIDING[: n // 120]]
    ),
    "a set of floats": lambda n: many(
        "SetNode", [text_of(json_node(float(2**61 * k))) for k in range(n // 120)]
    ),
    "a set of tuples alike": lambda n: many(
        "SetNode",
        [
            text_of(
                node(
                    "TupleNode",
                    "builtins",
                    "tuple",
                    content=[
                        node("TupleNode", "builtins", "tuple", content=[json_node(k)])
                    ],
                )
            )
            for k in COLLIDING[: n // 250]
        ],
    ),
    "a slice": lambda n: text_of(
        node(
            "SliceNode",
            "builtins",
            "slice",
            content={"start": [[]] * (n // 4), "stop": None, "step": None},
        )
    ),
    "an array that says so": lambda _: objects([10**9]),
    "a row that says so": lambda _: objects([1, 10**9]),
    "rows of nothing": lambda _: objects([10**9, 0]),
    "an array of objects": lambda n: text_of(
        node(
            "NdArrayNode", "numpy", "ndarray", type="json", content=[HERE],
            shape=node("TupleNode", "builtins", "tuple", content=[json_node(n // 94)]),
        )
    ).replace(f'"{HERE}"', ",".join([text_of(json_node(999))] * (n // 94))),
    "deep lists": lambda n: "[" * (n // 2) + "]" * (n // 2),
    "deep dicts": lambda n: '{"":' * (n // 5) + "0" + "}" * (n // 5),
    "deep nodes": lambda n: deep(n // 100),
    "deep text": lambda n: text_of(json_node("[" * (n // 2) + "]" * (n // 2))),
    "a long number": lambda n: text_of({**json_node(0), "content": "9" * n}),
    "a long key": lambda n: dict_of(["9" * n], EMPTY),
    "wide letters": lambda n: text_of(json_node(0)).replace(
        '"content":"0"', '"content":"\\"' + "\\ud83d\\ude00" * (n // 12) + '\\""'
    ),
}  # fmt: skip


def objects(shape):
    shape = node("TupleNode", "builtins", "tuple", content=[*map(json_node, shape)])
    row = listed(json_node(1))
    return text_of(
        node("NdArrayNode", "numpy", "ndarray", type="json", content=[row], shape=shape)
    )


def deep(n_levels):
    text = '{"__loader__":"TupleNode","__module__":"builtins","__class__":"tuple",'
    return (text + '"content":[') * n_levels + "]}" * n_levels


def copies(size):
    """Nodes that hold the one before twice, each time written out."""
    text, k = text_of({**listed(), "__id__": 10**6}), 0
    while 2 * len(text) < size:
        k += 1
        text = many("ListNode", [text, text])[:-1] + f',"__id__":{10**6 + k}}}'
    return text


def with_text(text, *, compress):
    """The file of a model of which one part has this text."""
    members = members_of(unchecked(CIPSClassifier()))
    schema = json.loads(members[SCHEMA])
    schema["content"]["content"]["alpha"] = HERE
    members[SCHEMA] = text_of(schema).replace(f'"{HERE}"', text).encode()
    return zipped(members, compress=compress)


def kept_promise(limited, path, *, part=1.0):
    """Load a file within the limits, and return what came of it.

    A smaller file tells as much in a part of the memory that any file may take, and in
    the square of that part of the time.
    """
    memory = part * ANY + EACH * path.stat().st_size
    found = limited.load(path, memory=memory, seconds=int(20 * part**2))
    assert found["end"] in ("loaded", "refused"), found
    assert "MemoryError" not in found["error"]
    assert "Traceback" not in found["error"]
    return found


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_small_unfolds(shape, compress, limited, tmp_path):
    # Without compression, 3 MB would do as well in all of the memory.
    size, part = (700_000, 1.0) if compress else (1_200_000, 0.4)
    path = tmp_path / "small.skops"
    path.write_bytes(with_text(SHAPES[shape](size), compress=compress))
    found = kept_promise(limited, path, part=part)
    loads = ("a dict", "empty nodes", "copies of a node", "types", "keys", "losses")
    if shape in loads:
        assert found["end"] == "loaded", found["error"]


@pytest.mark.parametrize("inside", ["[]", "{}", '{"":0}', "999", "1.5", '"ab"'])
@pytest.mark.parametrize("compress", [False, True])
def test_what_is_said_about_a_model_does_not_unfold(
    inside, compress, limited, tmp_path
):
    members = members_of(unchecked(CIPSClassifier()))
    values = ",".join(repeated(inside, 900_000))
    header = json.loads(members[HEADER])
    header["about"] = {"x": HERE}
    text = json.dumps(header).replace(f'"{HERE}"', f"[{values}]")
    path = tmp_path / "about.skops"
    kind = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", kind) as target:
        target.writestr(HEADER, text)
        target.writestr(SCHEMA, members[SCHEMA])
    assert kept_promise(limited, path)["end"] == "loaded"


def test_many_small_arrays_and_generators(limited, tmp_path):
    path = tmp_path / "many.skops"
    model = CIPSClassifier()
    source = random_state(3)
    for extra in (
        [np.zeros(0) for _ in range(3000)],
        [np.random.RandomState(k) for k in range(300)],
        [np.random.default_rng(k) for k in range(300)],
        [source] * 300,
        [np.zeros(1, dtype=[(f"f{k}", "i1") for k in range(400)]) for _ in range(30)],
        [np.ma.MaskedArray(np.zeros(9), np.False_) for _ in range(500)],
        defaultdict(int, {f"{k}": defaultdict(int) for k in range(2000)}),
        OrderedDict((k, {}) for k in range(5000)),
    ):
        model.extra_ = extra
        path.write_bytes(unchecked(model))
        assert kept_promise(limited, path)["end"] == "loaded"


def test_things_alike_are_named_in_the_error(limited, tmp_path):
    for shape in ("a set alike", "a set of tuples alike", "keys alike"):
        path = tmp_path / "alike.skops"
        path.write_bytes(with_text(SHAPES[shape](1_200_000), compress=False))
        found = kept_promise(limited, path, part=0.4)
        assert "made to take forever" in found["error"], shape


def test_sets_and_dicts_of_numbers_are_as_they_were(tmp_path):
    model = CIPSClassifier()
    model.extra_ = {
        "a": set(range(-1000, 1000)),
        "b": {k: k for k in range(1500)},
        "c": {float(k) / 7: k for k in range(1500)},
        "d": {(k, -k) for k in range(1000)},
    }
    assert load(saved(model, tmp_path)).extra_ == model.extra_


@pytest.mark.parametrize("n", [8_000, pytest.param(200_000, marks=pytest.mark.slow)])
def test_large_vocabularies_are_read(n, limited, tmp_path):
    """Many words, and as many categories."""
    words = [f"{k * 7919 % 1_000_003:06x}é" for k in range(n)]
    vectorizer = TfidfVectorizer(analyzer="word").fit([" ".join(words)])
    encoder = OneHotEncoder().fit(np.array(words, dtype=object)[:, None])
    path = saved(make_pipeline(vectorizer, encoder), tmp_path)
    assert path.stat().st_size < 60 * n
    assert kept_promise(limited, path)["end"] == "loaded"
    again = load(path)
    assert again[0].vocabulary_ == vectorizer.vocabulary_
    assert again[1].categories_[0].tolist() == encoder.categories_[0].tolist()


def test_the_limits_are_felt(limited, tmp_path):
    """The process that measures would notice a file that takes more."""
    model = CIPSClassifier()
    model.extra_ = np.zeros(5_000_000)
    path = saved(model, tmp_path)
    found = limited.load(path, memory=20_000_000)
    assert found["end"] == "refused"
    assert "MemoryError" in found["error"]
    found = limited.load(path, memory=ANY + EACH * path.stat().st_size)
    assert found["end"] == "loaded"
    assert found["bytes"] > 80_000_000


def test_small_files_of_many_members(limited, tmp_path):
    members = members_of(unchecked(CIPSClassifier()))
    array = io.BytesIO()
    np.save(array, np.zeros(0))
    members |= {f"{k}.npy": array.getvalue() for k in range(5000)}
    path = tmp_path / "members.skops"
    path.write_bytes(zipped(members))
    kept_promise(limited, path)
