"""`to_sklearn`: a model as a pipeline of scikit-learn's own classes."""

from __future__ import annotations

import io
import pickle
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logit
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pairlearn.export import pieces
from pairlearn.export.averages import averaged_steps
from pairlearn.export.parts import Parts
from pairlearn.export.refusals import refuse
from pairlearn.export.tables import is_encoder, plain_encoder
from pairlearn.models.auto.averaged import AveragedClassifier
from pairlearn.models.compose import OnPoints
from pairlearn.models.landmarks import LandmarkSimilarity
from pairlearn.models.linear.base import LinearPairClassifier
from pairlearn.models.meta import LEAST, PairMetaClassifier
from pairlearn.models.multiclass import OneVsRestPairClassifier
from pairlearn.models.probabilistic import ProbabilisticPairClassifier

if TYPE_CHECKING:
    from pairlearn.export.parts import Step

__all__ = ["to_sklearn"]


def to_sklearn(clf: Any) -> Pipeline:
    """Return a fitted model as a pipeline that needs scikit-learn alone.

    There is no class of pairlearn inside: the pipeline can be stored, loaded and used
    where pairlearn is not installed. `predict`, `decision_function` and, where the
    model has them, `predict_proba` give the same numbers up to rounding; `classes_`
    are the names that the model gives to its classes. With more than two classes the
    scores may differ by a number per point, the same for all classes.

    Parameters
    ----------
    clf : estimator
        A fitted :class:`~pairlearn.PairClassifier`, `PoolClassifier`, any linear
        classifier, :class:`~pairlearn.PairMetaClassifier` or
        :class:`~pairlearn.OneVsRestPairClassifier` of such; a pipeline that ends in
        one, such as those of ``pairlearn fit``; or a search over such.

    Returns
    -------
    sklearn.pipeline.Pipeline
        A copy; it shares nothing with `clf`.

    Raises
    ------
    ExportError
        If a part of the model has no counterpart in scikit-learn: networks,
        clusterings, similarities that are functions of your own.

    See Also
    --------
    pairlearn.export.to_onnx : For programs without Python.

    Notes
    -----
    A table is read by columns of fixed kinds: numbers, with NaN where one is missing;
    dates as datetimes or as text such as "2024-05-31"; categories as text. The model
    of ``pairlearn fit`` reads more ways of writing than that, such as "1.234,5".

    Examples
    --------
    >>> import numpy as np
    >>> from pairlearn import MCLClassifier, Pairs
    >>> from pairlearn.export import to_sklearn
    >>> pairs = Pairs([[-1.0], [-2.0], [3.0]], [[0, 1], [1, 2]])
    >>> clf = MCLClassifier(classes=("left", "right")).fit(pairs, [1, -1])
    >>> plain = to_sklearn(clf)
    >>> bool(np.allclose(plain.predict_proba(pairs.X), clf.predict_proba(pairs.X)))
    True
    >>> plain[-1]
    LogisticRegression()
    """
    pipeline = deepcopy(_parts(clf).pipeline())
    _refuse_own(pipeline)
    return pipeline


def _parts(clf: Any) -> Parts:
    if hasattr(clf, "best_estimator_"):
        return _parts(clf.best_estimator_)
    if isinstance(clf, Pipeline):
        return _of_pipeline(clf)
    if not hasattr(clf, "predict"):
        raise refuse(clf, "it is no classifier")
    # What can never be exported is told before it is fitted.
    known = AveragedClassifier, LinearPairClassifier, PairMetaClassifier
    if not isinstance(clf, (*known, OneVsRestPairClassifier)):
        if type(clf).__module__.startswith("sklearn."):
            check_is_fitted(clf)
            raise refuse(clf, "it is of scikit-learn already", "Store it as it is")
        raise refuse(clf)
    check_is_fitted(clf)
    probabilities = isinstance(clf, ProbabilisticPairClassifier)
    names = getattr(clf, "feature_names_in_", None)
    if isinstance(clf, AveragedClassifier):
        return Parts(*averaged_steps(clf), clf.classes_, probabilities)
    if isinstance(clf, LinearPairClassifier):
        return Parts([], clf.coef_, clf.intercept_, clf.classes_, probabilities, names)
    if isinstance(clf, PairMetaClassifier):
        return _of_meta(clf)
    return _of_one_vs_rest(clf)


def _of_pipeline(pipeline: Pipeline) -> Parts:
    """Return the parts of the last step, behind the transformers before it."""
    parts = _parts(pipeline[-1])
    before: list[Step] = []
    for name, step in pipeline.steps[:-1]:
        if step is not None and step != "passthrough":
            before.append((name, _transformer(step)))
    taken = {name for name, _ in parts.steps} | {"classifier"}
    named = [
        (f"{name} first" if name in taken else name, step) for name, step in before
    ]
    parts.steps = named + parts.steps
    return parts


def _transformer(step: Any) -> Any:
    if isinstance(step, OnPoints):
        check_is_fitted(step)
        return _transformer(step.transformer_)
    if isinstance(step, Pipeline):
        return Pipeline([(name, _transformer(part)) for name, part in step.steps])
    if is_encoder(step):
        return plain_encoder(step)
    if isinstance(step, LandmarkSimilarity):
        if not isinstance(step.similarity, str):
            raise refuse(
                step,
                "its similarity is a function of your own",
                "Use the name of a kernel, such as similarity='rbf'",
            )
        size = step.landmarks_.shape[0]
        plain = pieces.kernel_map(step.similarity, step.landmarks_, np.eye(size))
        if hasattr(step, "feature_names_in_"):
            plain.feature_names_in_ = step.feature_names_in_
        return plain
    return step


def _of_meta(clf: PairMetaClassifier) -> Parts:
    """Return the classifier inside, and the sign of its log-odds."""
    inner = clf.estimator_
    if len(inner.classes_) == 1:
        score = float(logit(1 - LEAST if inner.classes_[0] == 1 else LEAST))
        nothing = np.zeros((1, clf.n_features_in_))
        constant = np.array([clf._sign * score])
        return Parts([], nothing, constant, clf.classes_, probabilities=True)
    one = np.ones(2)
    steps: list[Step] = [
        ("estimator", pieces.voters([inner], 2)),
        ("limits", pieces.add_and_clip(one, 0 * one, LEAST, 1 - LEAST)),
        ("log-odds", pieces.function(logit, 2)),
    ]
    coef = np.array([[0.0, clf._sign]])
    return Parts(steps, coef, np.zeros(1), clf.classes_, probabilities=True)


def _of_one_vs_rest(clf: OneVsRestPairClassifier) -> Parts:
    """Return the scores of all classes side by side, and their calibration."""
    scores = [
        (f"class {k}", _parts(model).scores())
        for k, model in enumerate(clf.estimators_, start=1)
    ]
    slope, intercept = clf.calibration_.T
    steps: list[Step] = [("classes", pieces.joined(scores))]
    return Parts(steps, np.diag(slope), intercept, clf.classes_, probabilities=False)


class _Looking(pickle.Pickler):
    """A pickler that remembers the first thing of pairlearn that it meets."""

    own: Any = None

    def reducer_override(self, thing: Any) -> Any:
        """Look, and leave the rest to the usual way."""
        kind = thing if hasattr(thing, "__module__") else type(thing)
        module = getattr(kind, "__module__", None) or ""
        if self.own is None and module.partition(".")[0] == "pairlearn":
            self.own = thing
        return NotImplemented


def _refuse_own(pipeline: Pipeline) -> None:
    """Refuse a pipeline that would not load without pairlearn."""
    looking = _Looking(io.BytesIO())
    try:
        looking.dump(pipeline)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise refuse(pipeline, f"a part of it cannot be stored ({error})") from error
    if looking.own is not None:
        raise refuse(looking.own)
