"""Whether an exported model says the same as the model that it was made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from pairlearn.export.onnx_model import TEXTS, column_kinds
from pairlearn.export.refusals import ExportError
from pairlearn.files.tables.encoder import ReadDates, ReadNumbers, ReadText
from pairlearn.files.tables.encoders.texts import TextVectors
from pairlearn.models.auto.averaged import AveragedClassifier
from pairlearn.models.compose import OnPoints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pairlearn.data.types import Floats

__all__ = ["check_onnx", "check_sklearn", "made_up_points", "onnx_inputs", "typed"]

SKLEARN_DIGITS, ONNX_DIGITS = 1e-9, 1e-5


def check_sklearn(clf: Any, pipeline: Pipeline, points: Any) -> float:
    """Refuse a pipeline that differs from its model by more than 1e-9.

    Parameters
    ----------
    clf : estimator
        The model.
    pipeline : Pipeline
        What :func:`~pairlearn.export.to_sklearn` made of it.
    points : points, as both take them
        What is compared, such as from `made_up_points` or `typed`.

    Returns
    -------
    float
        The largest difference of a probability, or of a score.
    """
    given = _values(pipeline, points)
    return _compare(clf, points, pipeline.predict(points), given, SKLEARN_DIGITS)


def check_onnx(clf: Any, model: Any, pipeline: Pipeline, points: Any) -> float:
    """Refuse a model of ONNX that differs from its model by more than 1e-5.

    It runs in onnxruntime, or, where that is not installed, in the evaluator that comes
    with onnx.

    Parameters
    ----------
    clf : estimator
        The model.
    model : onnx.ModelProto
        What :func:`~pairlearn.export.to_onnx` made of it.
    pipeline : Pipeline
        What :func:`~pairlearn.export.to_sklearn` made of it.
    points : points, as the first and the last take them
        What is compared.

    Returns
    -------
    float
        The largest difference of a probability, or of a score.
    """
    inputs = onnx_inputs(pipeline, points)
    try:
        from onnxruntime import InferenceSession
    except ImportError:
        if any(item.domain == "com.microsoft" for item in model.opset_import):
            raise ExportError(
                "a model of texts is compared in onnxruntime, which is not installed: "
                "pip install onnxruntime"
            ) from None
        from onnx.reference import ReferenceEvaluator

        label, given = ReferenceEvaluator(model).run(None, inputs)
    else:
        session = InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        label, given = session.run(None, inputs)
    return _compare(clf, points, np.asarray(label), np.asarray(given), ONNX_DIGITS)


def onnx_inputs(pipeline: Pipeline, points: Any) -> dict[str, NDArray[Any]]:
    """Return points as the inputs of a model of ONNX with float64 numbers.

    Parameters
    ----------
    pipeline : Pipeline
        What :func:`~pairlearn.export.to_sklearn` made of the model.
    points : points
        A frame of typed columns if the model wants several, else a table.

    Returns
    -------
    dict
    """
    kinds = column_kinds(pipeline)
    if not kinds:
        filled = points.toarray() if hasattr(points, "toarray") else points
        return {"points": np.asarray(filled, dtype=np.float64)}
    inputs = {}
    for name, kind in kinds.items():
        column = points[name]
        if kind in TEXTS:
            text = column.astype(object).where(column.notna(), "").astype(str)
            text = text.str.lower() if kind == "lower" else text
            values = text.to_numpy(dtype=object)
        elif kind == "days":
            moments = column.to_numpy(dtype="datetime64[us]")
            days = (moments - np.datetime64(0, "us")) / np.timedelta64(1, "D")
            values = np.asarray(days, dtype=np.float64)
        else:
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        inputs[name] = values[:, None]
    return inputs


def typed(clf: Any, frame: Any) -> Any:
    """Return a table of cells with columns of numbers, datetimes and text.

    Parameters
    ----------
    clf : Pipeline
        A model of ``pairlearn fit``.
    frame : pandas.DataFrame
        Cells, as a file holds them.

    Returns
    -------
    pandas.DataFrame
    """
    import pandas as pd

    made: dict[str, Any] = {}
    for _, step, columns in _encoder(clf).transformers_:
        reader = step[0] if isinstance(step, Pipeline) else step
        if not isinstance(reader, ReadNumbers | ReadDates | ReadText):
            made |= {name: frame[name] for name in columns}
            continue
        values = reader.transform(frame[list(columns)])
        for k, name in enumerate(columns):
            made[name] = values[:, k]
            if isinstance(reader, ReadDates):
                made[name] = _moments(values[:, k])
    return pd.DataFrame(made)


def made_up_points(clf: Any, pipeline: Pipeline, n_points: int = 300) -> Any:
    """Return points like those that a model may have learned from, and others.

    Parameters
    ----------
    clf : estimator
        The model.
    pipeline : Pipeline
        What :func:`~pairlearn.export.to_sklearn` made of it.
    n_points : int
        How many.

    Returns
    -------
    ndarray or pandas.DataFrame
    """
    rng = np.random.RandomState(0)
    if not column_kinds(pipeline):
        centre, scale = _spread(clf, int(pipeline.n_features_in_))
        # Some far out, so that limits count, too.
        size = rng.choice([1.0, 1.0, 5.0], n_points)[:, None]
        return centre + scale * size * rng.normal(size=(n_points, len(centre)))
    import pandas as pd

    encoder = _encoder(clf)
    made = {}
    for label, step, columns in encoder.transformers_:
        if isinstance(step, str):
            continue
        begin = encoder.output_indices_[label].start
        for k, name in enumerate(np.atleast_1d(columns)):
            cells = _made_up_column(clf, step, begin, k, n_points, rng)
            made[str(name)] = cells
    return pd.DataFrame({name: made[name] for name in column_kinds(pipeline)})


def _made_up_column(
    clf: Any, step: Any, begin: int, k: int, n_points: int, rng: Any
) -> Any:
    """Return cells of column k of those that a step encodes."""
    reader = step[0] if isinstance(step, Pipeline) else step
    last = step[-1] if isinstance(step, Pipeline) else step
    gaps = rng.random_sample(n_points) < 0.1
    if isinstance(reader, ReadText) or hasattr(last, "categories_"):
        known = [*last.categories_[k].tolist(), "never seen before"]
        cells = np.array(known, dtype=object)[rng.randint(len(known), size=n_points)]
        cells[gaps] = None
        return cells
    words = getattr(last, "vocabulary_", ())
    if isinstance(reader, TextVectors):
        words = reader.words_.split("\n")
    if len(words):
        drawn = rng.choice([*sorted(words), "never-seen"], (n_points, 8))
        cells = np.array([" ".join(row) for row in drawn], dtype=object)
        cells[gaps] = None
        return cells
    centre, scale = _spread(clf[-1], begin + k + 1)
    values = centre[begin + k] + scale[begin + k] * rng.normal(size=n_points)
    values[gaps] = np.nan
    return _moments(values) if isinstance(reader, ReadDates) else values


def _moments(days: Floats) -> NDArray[Any]:
    """Return days since 1970 as datetimes."""
    micro = np.where(np.isnan(days), 0.0, np.round(days * 86400e6)).astype(np.int64)
    moments = micro.astype("datetime64[us]")
    moments[np.isnan(days)] = np.datetime64("NaT")
    return moments


def _spread(clf: Any, n_features: int) -> tuple[Floats, Floats]:
    """Return the centre and the scale of columns, as far as a model knows them."""
    clf = getattr(clf, "best_estimator_", clf)
    centre, scale = np.zeros(n_features), np.ones(n_features)
    if isinstance(clf, Pipeline):
        first = clf[0].transformer_ if isinstance(clf[0], OnPoints) else clf[0]
        if isinstance(first, StandardScaler) and first.with_mean and first.with_std:
            return first.mean_, first.scale_
        return centre, scale
    if isinstance(clf, AveragedClassifier):
        centre, scale = np.zeros(clf.n_features_in_), np.ones(clf.n_features_in_)
        for member in clf._ensemble.members:
            view: Any = member.view
            columns = getattr(view, "others", np.arange(clf.n_features_in_))
            view = getattr(view, "view", view)
            if hasattr(view, "centre"):
                centre[columns[view.kept]] = view.centre
                scale[columns[view.kept]] = view.scale
    return centre, scale


def _encoder(clf: Any) -> Any:
    model = getattr(clf, "best_estimator_", clf)
    first = model[0]
    return first.transformer_ if isinstance(first, OnPoints) else first


def _values(model: Any, points: Any) -> Floats:
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(points))
    scores = np.asarray(model.decision_function(points))
    return scores if scores.ndim > 1 else scores[:, None]


def _compare(
    clf: Any, points: Any, label: NDArray[Any], given: Floats, most: float
) -> float:
    """Refuse what differs, and return by how much the rest does."""
    wanted = _values(clf, points)
    size = np.maximum(1.0, np.abs(wanted))
    difference = float((np.abs(given - wanted) / size).max(initial=0.0))
    # Where two classes are as likely, rounding decides.
    ordered = np.sort(wanted, axis=1)
    two = wanted.shape[1] > 1
    margin = ordered[:, -1] - ordered[:, -2] if two else np.abs(wanted[:, 0])
    clear = margin > 2 * most * size.max(axis=1)
    same = np.array([str(name) for name in label]) == np.array(
        [str(name) for name in clf.predict(points)]
    )
    n_others = int((~same & clear).sum())
    if not difference <= most or n_others:
        raise ExportError(
            f"what was exported differs from the model: by {difference:.2g} where "
            f"{most:g} is allowed, and in the class of {n_others} of {len(same)} "
            "points. Nothing was written. This is a defect of pairlearn; please report "
            "it, and use the model with pairlearn meanwhile"
        )
    return difference
