"""The types of scikit-learn that a model file may hold: `trusted_sklearn.toml`.

A forged file chooses every number in an object. NumPy looks at the numbers that it is
given; compiled code of scikit-learn often does not. So a type is listed only after a
look at what its methods for new points do with its attributes: `predict`,
`predict_proba`, `decision_function`, `transform`, `inverse_transform`, `score`. What is
missing, such as all that a later scikit-learn brings, is refused unless the user trusts
it. `tests/fuzz/forged.py` tries to prove this list wrong.

Learning calls compiled code in almost every estimator. `fit` begins anew, from the data
it is given; about `partial_fit` and `warm_start` of a forged model nothing is said.
"""

from __future__ import annotations

import tomllib
from importlib.resources import files

__all__ = ["REVIEWED", "why_not"]


def _full_names(modules: dict[str, str]) -> frozenset[str]:
    """Return the full names of the classes that are listed by their modules."""
    return frozenset(
        f"sklearn.{module}.{name}"
        for module, names in modules.items()
        for name in names.split()
    )


_LISTS = tomllib.loads((files(__package__) / "trusted_sklearn.toml").read_text("utf-8"))
REVIEWED: frozenset[str] = frozenset().union(*map(_full_names, _LISTS["safe"].values()))
_WHY_NOT: dict[str, str] = {
    name: refused["why"]
    for refused in _LISTS["refused"].values()
    for name in _full_names(refused["types"])
}


def why_not(name: str) -> str:
    """Return why a type is not vouched for, or an empty text.

    Parameters
    ----------
    name : str
        The full name of the type.

    Returns
    -------
    str
    """
    # A distance is a part of each search tree, one for each measure.
    is_distance = name.startswith("sklearn.metrics._dist_metrics.")
    return _WHY_NOT.get(
        "sklearn.neighbors._kd_tree.KDTree" if is_distance else name, ""
    )
