"""What is drawn: lines, points, areas and words."""

import subprocess
import sys
import warnings

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_rgba
from matplotlib.contour import ContourSet
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from pairlearn import (
    CIPSClassifier,
    OneVsRestPairClassifier,
    Pairs,
    answers_per_class,
    make_pair_pipeline,
)
from pairlearn.plot import (
    COLOURS,
    DIFFERENT,
    SAME,
    plot_certificate,
    plot_decision_boundary,
    plot_pairs,
    plot_scores,
)
from pairlearn.trust.certificate import certificate_from_counts
from pairlearn.trust.kinds_counts import kinds_certificate_from_counts


@pytest.fixture(autouse=True)
def clean_figures():
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
    plt.close("all")


@pytest.fixture
def plane():
    """Points of the plane, split by the line x = 0.2, and a classifier of them."""
    X = np.random.default_rng(0).normal(size=(100, 2))
    y = np.where(X[:, 0] > 0.2, "right", "left")
    pairs, t = Pairs.sample(X, 50, y, random_state=0)
    clf = CIPSClassifier(classes=("left", "right"), alpha=1e-3, random_state=0)
    clf.fit(pairs, t).assign_from_points(X, y)
    return clf, X, y, pairs, t


def words(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def of_kind(ax, kind, label=None):
    return [
        item
        for item in ax.collections
        if isinstance(item, kind) and label in (None, item.get_label())
    ]


def offsets(ax, label):
    (found,) = of_kind(ax, PathCollection, label)
    return np.asarray(found.get_offsets())


def segments(ax, label):
    (found,) = of_kind(ax, LineCollection, label)
    return np.array(found.get_segments())


def test_a_figure_is_made_only_without_axes(plane):
    clf, X, y, pairs, t = plane
    draw = [
        lambda ax: plot_decision_boundary(clf, X, ax=ax),
        lambda ax: plot_scores(clf, X, y=y, ax=ax),
        lambda ax: plot_pairs(pairs, t, ax=ax),
        lambda ax: plot_certificate(certificate_from_counts(3, 50), ax=ax),
    ]
    plt.close("all")
    for function in draw:
        figure = plt.figure()
        given = figure.subplots()
        assert function(given) is given
        assert plt.get_fignums() == [figure.number]
        fresh = function(None)
        assert fresh.figure is not figure
        fresh.figure.canvas.draw()
        plt.close("all")
        with pytest.raises(TypeError, match="ax must be matplotlib axes; got Figure"):
            function(figure)


# The boundary.


def test_the_boundary_is_where_the_score_is_zero(plane):
    clf, X, y, pairs, t = plane
    ax = plot_decision_boundary(clf, X, pairs=pairs, t=t, y=y)
    line = [c for c in of_kind(ax, ContourSet) if not c.filled]
    assert len(line) == 1
    (path,) = line[0].get_paths()
    np.testing.assert_allclose(clf.decision_function(path.vertices), 0, atol=1e-6)
    # It goes through the picture from edge to edge.
    low, high = ax.get_ylim()
    assert np.ptp(path.vertices[:, 1]) > 0.9 * (high - low)
    areas = [c for c in of_kind(ax, ContourSet) if c.filled]
    assert [to_rgba(c.get_facecolor()[0])[:3] for c in areas] == [
        to_rgba(colour)[:3] for colour in COLOURS[:2]
    ]


def test_points_and_pairs_of_the_boundary(plane):
    clf, X, y, pairs, t = plane
    ax = plot_decision_boundary(clf, X, pairs=pairs, t=t, y=y)
    assert words(ax) == ["boundary", "same", "different", "class left", "class right"]
    for name in ("left", "right"):
        np.testing.assert_array_equal(offsets(ax, f"class {name}"), X[y == name])
    for label, kind in (("same", 1), ("different", -1)):
        expected = X[pairs.index[t == kind]]
        np.testing.assert_array_equal(segments(ax, label), expected)
    np.testing.assert_array_less(ax.get_xlim()[0], X[:, 0].min())
    alone = plot_decision_boundary(clf, X)
    assert words(alone) == ["boundary", "predicted left", "predicted right"]
    np.testing.assert_array_equal(
        offsets(alone, "predicted left"), X[clf.predict(X) == "left"]
    )
    assert not of_kind(alone, LineCollection)


def test_colours_follow_the_classes_not_the_order_of_y(plane):
    clf, X, y, _, _ = plane
    right = plot_decision_boundary(clf, X[y == "right"], y=y[y == "right"])
    (found,) = [c for c in of_kind(right, PathCollection) if len(c.get_offsets())]
    assert found.get_label() == "class right"
    assert to_rgba(found.get_facecolor()[0]) == to_rgba(COLOURS[1])


def test_a_pipeline_of_named_columns(plane):
    _, X, y, _, _ = plane
    frame = pd.DataFrame(X, columns=["width", "height"])
    pairs, t = Pairs.sample(frame, 50, y, random_state=0)
    model = make_pair_pipeline(StandardScaler(), CIPSClassifier()).fit(pairs, t)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ax = plot_decision_boundary(model, frame, pairs=pairs, t=t)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")


def test_several_classes_and_classifiers_without_scores(plane):
    _, X, _, _, _ = plane
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])]
    pairs = Pairs.sample(X, 150, reuse=True, random_state=0)
    ovr = OneVsRestPairClassifier(CIPSClassifier(alpha=0.01), classes=["a", "b", "c"])
    ovr.fit(pairs, answers_per_class(pairs, y))
    ax = plot_decision_boundary(ovr, X, y=y)
    assert words(ax) == ["boundary", "class a", "class b", "class c"]
    line = [c for c in of_kind(ax, ContourSet) if not c.filled]
    for path in line[0].get_paths():
        leading = np.sort(ovr.decision_function(path.vertices), axis=1)
        assert np.median(leading[:, -1] - leading[:, -2]) < 0.05
    neighbours = KNeighborsClassifier(3).fit(X, y)
    assert not hasattr(neighbours, "decision_function")
    ax = plot_decision_boundary(neighbours, X)
    assert len([c for c in of_kind(ax, ContourSet) if c.filled]) == 3


def test_one_class_in_sight_has_no_boundary(plane):
    clf, X, _, _, _ = plane
    ax = plot_decision_boundary(clf, X[clf.predict(X) == "left"] - 5)
    assert "boundary" not in words(ax)
    point = plot_decision_boundary(clf, X[:1])
    assert np.ptp(point.get_xlim()) > 0.5


def test_what_has_no_place_in_the_plane(plane):
    clf, X, y, pairs, t = plane
    wide = np.zeros((5, 3))
    with pytest.raises(ValueError, match=r"3 features; for these draw plot_scores"):
        plot_decision_boundary(clf, wide)
    with pytest.raises(ValueError, match="pairs and t go together"):
        plot_decision_boundary(clf, X, pairs=pairs)
    with pytest.raises(ValueError, match="pairs and t go together"):
        plot_decision_boundary(clf, X, t=t)
    with pytest.raises(ValueError, match="pairs have 3 features"):
        plot_decision_boundary(clf, X, pairs=Pairs(wide, [[0, 1]]), t=[1])
    with pytest.raises(ValueError, match="100 points, but classes of shape"):
        plot_decision_boundary(clf, X, y=y[:5])
    with pytest.raises(ValueError, match="more than colours"):
        plot_decision_boundary(clf, X, y=np.arange(100))
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    with pytest.raises(ValueError, match="columns that hold text"):
        plot_decision_boundary(clf, frame)
    with pytest.raises(ValueError, match="50 pairs but 2 answers"):
        plot_decision_boundary(clf, X, pairs=pairs, t=[1, -1])
    # No empty figure is left behind.
    assert plt.get_fignums() == []


# Pairs.


def test_pairs_are_solid_or_dashed(plane):
    _, X, y, pairs, t = plane
    ax = plot_pairs(pairs, t, y=y)
    assert words(ax) == ["same", "different", "class left", "class right"]
    (same,) = of_kind(ax, LineCollection, "same")
    (different,) = of_kind(ax, LineCollection, "different")
    assert same.get_linestyle()[0][1] is None
    assert different.get_linestyle()[0][1] is not None
    assert to_rgba(same.get_color()[0])[:3] == to_rgba(SAME)[:3]
    assert to_rgba(different.get_color()[0])[:3] == to_rgba(DIFFERENT)[:3]
    np.testing.assert_array_equal(segments(ax, "same"), X[pairs.index[t > 0]])
    assert len(segments(ax, "same")) + len(segments(ax, "different")) == len(pairs)
    assert ax.get_title(loc="left") == ""


def test_of_many_pairs_some_are_drawn_and_the_title_says_so(plane):
    _, _, _, pairs, t = plane
    drawn = [plot_pairs(pairs, t, max_pairs=20) for _ in range(2)]
    for ax in drawn:
        assert ax.get_title(loc="left") == "20 of 50 pairs"
        assert len(segments(ax, "same")) + len(segments(ax, "different")) == 20
    np.testing.assert_array_equal(*(segments(ax, "same") for ax in drawn))


def test_soft_answers_are_fainter_and_unsure_ones_not_drawn():
    X = np.arange(8.0).reshape(4, 2) ** 2
    ax = plot_pairs(Pairs(X, [[0, 1], [1, 2], [2, 3], [0, 3]]), [1, 0.5, -0.2, 0.0])
    (same,) = of_kind(ax, LineCollection, "same")
    assert same.get_alpha()[1] == pytest.approx(same.get_alpha()[0] / 2)
    assert len(segments(ax, "different")) == 1
    # In the legend a line is as dark as a sure one.
    assert {handle.get_alpha() for handle in ax.get_legend().legend_handles} == {1.0}
    only = plot_pairs(Pairs(X, [[0, 1]]), [True])
    assert words(only) == ["same"]


def test_more_features_are_drawn_by_principal_components():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * [9, 1, 4, 1, 1]
    pairs = Pairs.sample(X, 30, random_state=0)
    for points in (X, sparse.csr_array(X)):
        ax = plot_pairs(pairs.with_points(points), np.ones(30))
        plane = np.concatenate(segments(ax, "same"))
        share = np.var(X[:, 0]) / np.var(X, axis=0).sum()
        assert (
            abs(np.corrcoef(plane[:, 0], X[pairs.index].reshape(-1, 5)[:, 0])[0, 1])
            > 0.99
        )
        assert ax.get_xlabel() == f"principal component 1 ({share:.0%} of the variance)"


def test_points_that_are_in_no_pair_are_not_drawn():
    X = np.random.default_rng(0).normal(size=(30, 2))
    ax = plot_pairs(Pairs(X, [[3, 4], [4, 9]]), [1, -1])
    (points,) = of_kind(ax, PathCollection)
    np.testing.assert_array_equal(points.get_offsets(), X[[3, 4, 9]])


@pytest.mark.parametrize("most", [0, -3, 2.5, True, None])
def test_bad_numbers_of_pairs(most):
    with pytest.raises(ValueError, match="max_pairs must be a whole number"):
        plot_pairs(Pairs(np.zeros((2, 2)), [[0, 1]]), [1], max_pairs=most)


def test_bad_pairs():
    with pytest.raises(ValueError, match="two features"):
        plot_pairs(Pairs([[0.0], [1.0]], [[0, 1]]), [1])
    with pytest.raises(ValueError, match="NaN or infinity"):
        plot_pairs(Pairs([[0.0, np.nan], [1.0, 2.0]], [[0, 1]]), [1])
    with pytest.raises(ValueError, match="only points of numbers"):
        plot_pairs(Pairs(pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), [[0, 1]]), [1])


# Scores.


def test_scores_are_counted_on_both_sides_of_zero(plane):
    clf, X, y, _, _ = plane
    ax = plot_scores(clf, X, y=y)
    assert words(ax) == ["class left", "class right", "boundary"]
    boundary = ax.lines[0]
    assert list(boundary.get_xdata()) == [0, 0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("score f(x)", "points")
    alone = plot_scores(clf, X)
    assert words(alone) == ["predicted left", "predicted right", "boundary"]
    left, right = alone.patches
    assert left.get_xy()[:, 0][left.get_xy()[:, 1] > 0].max() <= 1e-9
    assert right.get_xy()[:, 0][right.get_xy()[:, 1] > 0].min() >= -1e-9


def test_every_point_is_in_one_bar(plane):
    clf, X, y, _, _ = plane
    # Far out: it must not stretch the picture, nor be lost.
    X = np.vstack([X, [[1e6, 0.0]]])
    ax = plot_scores(clf, X, y=[*y, "right"])
    high = ax.get_xlim()[1]
    assert high < np.abs(clf.decision_function(X)).max() / 10
    for patch, name in zip(ax.patches, ("left", "right"), strict=True):
        x, height = patch.get_xy().T
        width = np.diff(np.unique(x)).min()
        area = abs(np.sum(x * np.roll(height, -1) - np.roll(x, -1) * height)) / 2
        n_points = np.sum(np.array([*y, "right"]) == name)
        assert area / width == pytest.approx(n_points)
        assert patch.get_label() == f"class {name}"


def test_scores_of_constant_and_several_outputs(plane):
    _, X, _, pairs, t = plane

    class Flat:
        classes_ = np.array([0, 1])

        def decision_function(self, X):
            return np.zeros(len(X))

        def predict(self, X):
            return np.zeros(len(X), dtype=int)

    assert words(plot_scores(Flat(), X))[0] == "predicted 0"
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    ovr = OneVsRestPairClassifier(CIPSClassifier()).fit(
        pairs, answers_per_class(pairs, y)
    )
    with pytest.raises(ValueError, match="3 classes do not lie on one line"):
        plot_scores(ovr, X)
    assert len(t) == len(pairs)


# Certificates.


def test_certificates_are_intervals_with_the_truth_marked():
    found = [certificate_from_counts(5, 50), certificate_from_counts(40, 500)]
    ax = plot_certificate(found, truth=[0.04, 0.06], labels=["first", "second"])
    intervals = np.array(
        of_kind(ax, LineCollection, "interval, 95% confidence")[0].get_segments()
    )
    for k, certificate in enumerate(found):
        np.testing.assert_allclose(
            intervals[k, :, 0], 100 * np.array(certificate.clustering_interval)
        )
        np.testing.assert_array_equal(intervals[k, :, 1], k)
    (estimates,) = ax.lines
    np.testing.assert_allclose(
        estimates.get_xdata(), [100 * c.clustering_error for c in found]
    )
    marks = np.array(of_kind(ax, LineCollection, "true error")[0].get_segments())
    np.testing.assert_allclose(marks[:, 0, 0], [4, 6])
    assert [text.get_text() for text in ax.get_yticklabels()] == ["first", "second"]
    # The first is on top.
    assert ax.get_ylim()[0] > ax.get_ylim()[1]
    assert words(ax) == ["interval, 95% confidence", "estimate", "true error"]


def test_estimates_are_hollow_and_confidences_named():
    found = [
        certificate_from_counts(5, 50, confidence=0.9),
        certificate_from_counts(5, 50, cross_validated=True),
    ]
    ax = plot_certificate(found, truth=0.1)
    sure, guess = ax.lines
    assert sure.get_markerfacecolor() == COLOURS[1]
    assert guess.get_markerfacecolor() == "white"
    assert words(ax)[:3] == [
        "interval, 90% or 95% confidence", "estimate", "estimate, cross-validated",
    ]  # fmt: skip
    marks = np.array(of_kind(ax, LineCollection, "true error")[0].get_segments())
    np.testing.assert_allclose(marks[:, 0, 0], [10, 10])


def test_one_certificate_and_all_of_the_truth_in_sight():
    certificate = certificate_from_counts(1, 1000)
    ax = plot_certificate(certificate, truth=0.3)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["1000 pairs"]
    assert ax.get_xlim()[0] == 0
    assert 30 < ax.get_xlim()[1] < 50
    assert plot_certificate(certificate).get_xlim()[1] == 5


def test_bad_certificates():
    certificate = certificate_from_counts(1, 10)
    with pytest.raises(TypeError, match=r"what certify\(clf, pairs, t\) returns"):
        plot_certificate(0.3)
    with pytest.raises(TypeError, match="got CIPSClassifier"):
        plot_certificate([CIPSClassifier()])
    with pytest.raises(ValueError, match="no certificate to draw"):
        plot_certificate([])
    with pytest.raises(ValueError, match="1 certificates, 2 labels"):
        plot_certificate(certificate, labels=["a", "b"])
    with pytest.raises(ValueError, match="true errors of shape"):
        plot_certificate(certificate, truth=[0.1, 0.2])
    with pytest.raises(ValueError, match="between 0 and 1"):
        plot_certificate(certificate, truth=7.5)


def test_without_matplotlib_the_error_names_the_extra(tmp_path):
    (tmp_path / "matplotlib.py").write_text(
        "raise ModuleNotFoundError(name='matplotlib')"
    )
    code = """
import sys; sys.path.insert(0, sys.argv[1])
from pairlearn import Pairs
from pairlearn.plot import plot_pairs
try:
    plot_pairs(Pairs([[0.0, 1.0], [1.0, 0.0]], [[0, 1]]), [1])
except ModuleNotFoundError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "pip install 'pairlearn[cli]'" in done.stdout


def test_sides_that_nobody_has_named_take_the_colours_of_the_classes():
    """Whatever sign the classifier has, a good model looks good."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.where(X[:, 0] > 0, 1, -1)
    X[:, 0] += 2 * y
    pairs, t = Pairs.sample(X, 100, y, random_state=0)
    clf = CIPSClassifier().fit(pairs, t)
    pictures = []
    for _ in range(2):
        ax = plot_decision_boundary(clf, X, y=y)
        ax.figure.canvas.draw()
        pictures.append(np.asarray(ax.figure.canvas.buffer_rgba()).copy())
        plt.close("all")
        clf._flip()
    np.testing.assert_array_equal(*pictures)


def test_certificates_of_several_kinds_are_drawn_too():
    several = kinds_certificate_from_counts([3, 5], [50, 50], [0.5, 0.5])
    ax = plot_certificate([certificate_from_counts(3, 50), several])
    drawn = segments(ax, "interval, 95% confidence")
    assert drawn[1][:, 0] == pytest.approx(100 * np.array(several.interval))
    # With several kinds nothing is swapped, and an error may be above one half.
    assert ax.get_xlabel() == "error, %"
    bad = kinds_certificate_from_counts([30, 30], [50, 50], [0.5, 0.5])
    assert plot_certificate(bad).get_xlim()[1] > 100 * bad.interval[1] > 52
