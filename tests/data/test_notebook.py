"""What a notebook shows of pairs, certificates and fitted models."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from pairlearn import (
    CIPSClassifier,
    ConstrainedKMeans,
    MCLClassifier,
    OneVsRestPairClassifier,
    PairClassifier,
    Pairs,
    answers_per_class,
    make_pair_pipeline,
)
from pairlearn.data.notebook import learned, learned_html
from tests.support.estimators import ESTIMATORS


class Tables(HTMLParser):
    """The texts of all tables, cell by cell; every tag must be closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.rows, self.caption, self.tags = [], [], "", []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.tags.append(tag)
        if tag not in ("rect", "circle", "br", "input", "meta", "link"):
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_startendtag(self, tag, attrs):  # noqa: ARG002
        self.tags.append(tag)

    def handle_endtag(self, tag):
        if self.open:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "caption" in self.open:
            self.caption += data
        elif self.rows and ("td" in self.open or "th" in self.open):
            self.rows[-1][-1] += data


def facts(model):
    return dict(learned(model))


# Pairs.


def test_pairs_show_how_many_and_the_first():
    X = np.arange(12.0).reshape(6, 2) / 7
    table = Tables(Pairs(X, [[0, 1], [2, 3], [4, 5], [0, 5], [1, 2]])._repr_html_())
    assert table.caption == (
        "5 pairs of 6 points with 2 features (NumPy array of float64)"
    )
    assert table.rows[0] == ["pair", "point", "0", "1"]
    assert table.rows[1] == ["0", "0", "0", "0.1429"]
    assert table.rows[2] == ["1", "0.2857", "0.4286"]
    assert table.rows[7] == ["3", "0", "0", "0.1429"]
    # Four pairs of two rows each, and a last row that says there are more.
    assert len(table.rows) == 1 + 8 + 1
    assert table.rows[-1] == ["…"]


def test_pairs_of_a_frame_show_names_and_text_as_text():
    frame = pd.DataFrame({"<b>": [1, 2], "word": ["<script>x</script>", "y" * 99]})
    html = Pairs(frame, [[0, 1]])._repr_html_()
    assert "<script" not in html
    table = Tables(html)
    assert table.caption.startswith("1 pair of 2 points")
    assert "(pandas DataFrame)" in table.caption
    assert table.rows[0] == ["pair", "point", "<b>", "word"]
    assert table.rows[1] == ["0", "0", "1", "<script>x</script>"]
    assert table.rows[2][-1] == "y" * 27 + "…"


def test_pairs_of_many_features_and_other_kinds():
    many = Tables(Pairs(np.zeros((3, 50), dtype="f4"), [[0, 1]])._repr_html_())
    assert many.rows[0] == ["pair", "point", *map(str, range(6)), "…"]
    assert "float32" in many.caption
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        table = Tables(Pairs(kind(np.eye(4)), [[0, 1]])._repr_html_())
        assert "25.0% filled" in table.caption
        assert table.rows[2] == ["1", "0", "1", "0", "0"]
    words = Tables(Pairs(["a", "b"], [[0, 1]])._repr_html_())
    assert words.rows[1:] == [["0", "0", "a"], ["1", "b"]]
    empty = Tables(Pairs(np.zeros((3, 2)), np.zeros((0, 2), dtype=int))._repr_html_())
    assert empty.caption.startswith("0 pairs of 3 points")
    assert len(empty.rows) == 1


def test_pairs_of_tensors_and_frames_of_polars():
    torch, polars = pytest.importorskip("torch"), pytest.importorskip("polars")
    table = Tables(Pairs(torch.ones(3, 2), [[0, 2]])._repr_html_())
    assert "torch tensor of float32 on cpu" in table.caption
    assert table.rows[2] == ["2", "1", "1"]
    frame = polars.DataFrame({"a": [1.5, 2.5], "b": ["x", None]})
    table = Tables(Pairs(frame, [[0, 1]])._repr_html_())
    assert "polars DataFrame" in table.caption
    assert table.rows[1:] == [["0", "0", "1.5", "x"], ["1", "2.5", "None"]]


def test_blocks_are_not_computed_to_be_shown():
    array = pytest.importorskip("dask.array")

    def fail(block):  # noqa: ARG001
        raise AssertionError("computed")

    X = array.zeros((8, 3), chunks=4).map_blocks(
        fail, dtype=float, meta=np.zeros((0, 0))
    )
    table = Tables(Pairs(X, [[0, 5]])._repr_html_())
    assert "dask Array" in table.caption
    assert table.rows == [["pair", "point", "…"], ["0", "0", "…"], ["5", "…"]]


# Models.


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_fitted_estimator_shows_what_it_learned(name, blob_pairs):
    model = clone(ESTIMATORS[name])
    assert "What was learned" not in model._repr_html_()
    assert learned(model) == []
    assert learned_html(model) == ""
    model.fit(*blob_pairs)
    bundle = model._repr_mimebundle_()
    assert bundle["text/plain"] == repr(model)
    # Once, in both ways to ask for it, below scikit-learn's own diagram.
    for html in (bundle["text/html"], model._repr_html_()):
        assert html.count("What was learned") == 1
        assert html.index("sk-container") < html.index("What was learned")
    table = Tables(learned_html(model))
    shown = dict(table.rows)
    assert shown == facts(model)
    assert shown["classes"] == "-1, 1"
    assert shown["pairs"] == "120"
    assert shown["features"] == "4"
    assert "may be swapped" in shown["class assignment"]


def test_plain_text_is_left_alone(blob_pairs):
    model = CIPSClassifier().fit(*blob_pairs)
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_assignment_certificate_and_candidates(blobs, blob_pairs):
    model = PairClassifier(majority="good", classes=("bad", "good"), random_state=0)
    shown = facts(model.fit(*blob_pairs))
    assert shown["classes"] == "bad, good"
    assert shown["certificate"] == str(model.certificate_)
    assert "by 120 pairs and the majority (p-value" in shown["class assignment"]
    best = model.candidates_[0]
    assert shown["candidates"].startswith(f"{best.kernel} on {best.columns} columns")
    assert shown["candidates"].endswith(f"of {len(model.candidates_)} tried")
    assert "wrong answers" not in shown
    X, y = blobs
    model.assign_from_points(X[:30], np.where(y[:30] > 0, "good", "bad"))
    assert facts(model)["class assignment"] == "by 30 labelled points"


def test_flip_rates_and_dropped_answers(blobs, blob_pairs):
    noisy = MCLClassifier(flip_rates=(0.9, 0.2)).fit(*blob_pairs)
    assert facts(noisy)["wrong answers"] == (
        "of pairs that are the same 10.0%, of pairs that are different 20.0%"
    )
    pairs = Pairs(blobs[0], [[0, 1], [1, 2], [0, 2], [3, 4]])
    model = ConstrainedKMeans(on_contradiction="drop", random_state=0)
    model.fit(pairs, [1, 1, -1, -1])
    assert len(model.dropped_) == 1
    assert facts(model)["answers not followed"] == "1"


def test_several_classes(blobs):
    X, _ = blobs
    pairs = Pairs.sample(X, 200, reuse=True, random_state=0)
    y = np.array(["a", "<b>", "c"])[np.digitize(X[:, 0], [-0.5, 1.0])]
    model = OneVsRestPairClassifier(CIPSClassifier())
    assert "What was learned" not in model._repr_html_()
    model.set_params(classes=["a", "<b>", "c"]).fit(pairs, answers_per_class(pairs, y))
    html = model._repr_html_()
    assert html.count("What was learned") == 1
    assert "a, &lt;b&gt;, c" in html
    shown = facts(model)
    assert shown["pairs"] == "200"
    assert shown["class assignment"] == "by exclusion: each point is of one class"


def test_names_are_escaped_and_pairs_add_up(blob_pairs):
    pairs, t = blob_pairs
    model = CIPSClassifier(classes=("<script>", "&"), solver="sgd", random_state=0)
    model.partial_fit(pairs[:50], t[:50]).partial_fit(pairs[50:], t[50:])
    html = learned_html(model)
    assert "<script>" not in html
    assert "&lt;script&gt;, &amp;" in html
    assert facts(model)["pairs"] == "120"


def test_a_pipeline_keeps_its_diagram(blob_pairs):
    model = make_pair_pipeline(StandardScaler(), CIPSClassifier()).fit(*blob_pairs)
    assert "What was learned" not in model._repr_html_()
    assert "What was learned" in model[-1]._repr_html_()


# Certificates.


def test_a_certificate_is_a_well_formed_table(blob_pairs):
    model = PairClassifier(random_state=0).fit(*blob_pairs)
    table = Tables(model.certificate_._repr_html_())
    assert "no class labels used" in table.caption
    assert table.rows[1][:2] == [
        "clustering error",
        f"{model.certificate_.clustering_error:.1%}",
    ]
    assert table.tags.count("svg") == 2
