"""A fit makes few objects before it does its work."""

import json
import subprocess
import sys

MOST = 8

# Counted is every object of a class that is defined in pairlearn, however it is made:
# by a call, by `copy`, by `dataclasses.replace` or as a named tuple. All of these go
# through `__new__` of the class, so each class gets one that counts as soon as it is
# defined. It cannot be taken back cleanly, hence a process of its own. Objects made at
# import, the classifier and the pairs are there before `fit`, and arrays are not ours.
SCRIPT = """
import builtins
import json

made = []
build = builtins.__build_class__


def build_counting(body, name, *bases, **options):
    cls = build(body, name, *bases, **options)
    new = cls.__new__
    ours = body.__module__.split(".")[0] == "pairlearn"
    if not ours or issubclass(cls, BaseException) or hasattr(new, "counts"):
        return cls

    def count(cls, *args, **kwargs):
        made.append(cls.__name__)
        return new(cls) if new is object.__new__ else new(cls, *args, **kwargs)

    count.counts = True
    cls.__new__ = staticmethod(count)
    return cls


builtins.__build_class__ = build_counting

import numpy as np
from pairlearn import CIPSClassifier, Pairs
from pairlearn.engine.objective import LinearObjective


class FirstGradient(Exception):
    pass


def stop(self, u):
    raise FirstGradient


LinearObjective.__call__ = stop
rng = np.random.default_rng(0)
y = np.where(rng.random(400) < 0.7, 1, -1)
X = rng.normal(size=(400, 2)) + 1.5 * y[:, None]
pairs, t = Pairs.sample(X, 200, y, random_state=0)
found = {}
for name, weight in {"sure": None, "weighted": y[:200] + 2.0}.items():
    classifier = CIPSClassifier()
    made.clear()
    try:
        classifier.fit(pairs, t, sample_weight=weight)
    except FirstGradient:
        found[name] = list(made)
print(json.dumps(found))
"""


def test_a_plain_fit_makes_few_objects_before_its_first_gradient():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {"sure", "weighted"}
    for made in found.values():
        assert len(made) <= MOST, made
        # The count does count: without these there is nothing to minimise.
        assert {"PairObjective", "Scaling", "ProductRisk"} <= set(made)
        assert made.count("PairObjective") == made.count("Scaling") == 1
