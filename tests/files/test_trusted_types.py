"""What is vouched for in a model file exists, and does nothing but compute."""

import pytest
from sklearn.base import BaseEstimator

import pairlearn
from pairlearn.files.trusted_types import FUNCTIONS, TYPES


@pytest.mark.parametrize("name", sorted(TYPES | FUNCTIONS))
def test_what_is_vouched_for_exists(name):
    from importlib import import_module

    module, _, thing = name.rpartition(".")
    if thing == "_RemainderColsList":
        pytest.skip("a list of columns in scikit-learn 1.6, not later")
    found = getattr(import_module(module), thing)
    assert callable(found)
    assert isinstance(found, type) == (name in TYPES)


def test_every_public_estimator_is_vouched_for():
    for name in pairlearn.__all__:
        thing = getattr(pairlearn, name)
        if isinstance(thing, type) and issubclass(thing, BaseEstimator):
            assert f"{thing.__module__}.{thing.__name__}" in TYPES


def test_nothing_vouched_for_writes_reads_or_calls():
    """No names of input and output are on the list, whatever is added to it."""
    roots = {name.split(".")[0] for name in TYPES | FUNCTIONS}
    assert roots == {"pairlearn", "sklearn", "scipy", "builtins", "functools"}
    for word in ("load", "open", "memory", "fetch", "exec", "eval", "save", "path"):
        assert not {name for name in TYPES | FUNCTIONS if word in name.lower()}
    assert not {name for name in TYPES if name.startswith("pairlearn.models.neural")}
