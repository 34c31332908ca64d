"""The networks of the experiments, PubMed, and our rows beside the paper's."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

from pairlearn.reproduce import pubmed
from pairlearn.reproduce.experiment import Options
from pairlearn.reproduce.images import NETWORK_SETTINGS, SAMPLE_SIZE, SIZES
from pairlearn.reproduce.networks import chosen_by_folds, citation_net, image_net
from pairlearn.reproduce.pubmed import PUBMED, draw
from pairlearn.reproduce.runner import execute, plan
from pairlearn.reproduce.sample import load_cached
from pairlearn.reproduce.store import FILE_NAME, Store, Trial
from tests.support.hidden import without

needs_data = pytest.mark.skipif(
    not os.environ.get("PAIRLEARN_DATA"),
    reason="set PAIRLEARN_DATA to the folder with the data files",
)
NETWORKS = ("CIPS", "MCL", "DML", "SV")


# -- architectures ---------------------------------------------------------------------


@pytest.mark.parametrize("embed", [False, True])
def test_the_network_of_citations_is_the_papers(embed):
    torch = pytest.importorskip("torch")
    net = citation_net(embed=embed)
    shapes = [tuple(p.shape) for p in net.parameters()]
    expected = [(8, 500), (8,), (8, 8), (8,), (8, 8), (8,), (1, 8), (1,)]
    assert shapes == (expected[:-2] if embed else expected)
    kinds = [type(layer).__name__ for layer in net]
    assert kinds == ["Linear", "Softplus"] * 3 + ["Linear"] * (not embed)
    assert net(torch.zeros(7, 500)).shape == (7, 8 if embed else 1)


def test_the_network_of_images_is_small():
    torch = pytest.importorskip("torch")
    net = image_net()
    assert net(torch.zeros(7, 784)).shape == (7, 1)
    assert sum(p.numel() for p in net.parameters()) < 250_000
    # It sees rows and columns: the same pixels in another order are another image.
    net.eval()
    image = torch.rand(1, 784, generator=torch.Generator().manual_seed(0))
    turned = image.reshape(28, 28).T.reshape(1, 784)
    assert not torch.allclose(net(image), net(turned))


# -- the plan --------------------------------------------------------------------------


def test_the_networks_are_trained_by_the_papers_protocol():
    trials = plan(["table-pubmed"], Options())
    assert {t.method for t in trials} == set(PUBMED.methods)
    assert len(trials) == 20 * len(PUBMED.methods)
    for method in PUBMED.methods:
        assert [t.seed for t in trials if t.method == method] == list(range(20))
    for trial in trials:
        if trial.method in NETWORKS:
            settings = dict(trial.settings)
            decays = [float(v) for v in settings.pop("weight_decay").split(",")]
            assert decays == [1e-2, 1e-4, 1e-6]
            assert settings == {
                "lr": 1e-3, "batch_size": 4096, "max_epochs": 100, "patience": 10,
                "validation_size": 0.1, "folds": 5,
            }  # fmt: skip
    (ours,) = {str(t.settings) for t in trials if t.method == "Noise-aware"}
    assert ours == "{'similarity': 'cosine'}"


def test_a_quick_run_chooses_nothing_and_takes_less():
    full, quick = (plan(["table-pubmed"], Options(quick=q)) for q in (False, True))
    assert {t.seed for t in quick} == {0, 1}
    for trial in quick:
        work = PUBMED.work(trial)
        (same,) = (t for t in full if (t.method, t.seed) == (trial.method, trial.seed))
        if trial.method in NETWORKS:
            assert float(trial.settings["weight_decay"]) == 1e-4
        if "linear" in trial.method:
            assert PUBMED.work(same) == work
        else:
            assert PUBMED.work(same) > 5 * work


def test_our_network_is_run_on_mnist_alone_with_all_numbers_of_pairs():
    trials = plan(["fig-sample-size"], Options())
    ours = [t for t in trials if t.method == "PairNet"]
    assert {t.dataset for t in ours} == {"mnist"}
    assert {(t.m, t.seed) for t in ours} == {(m, s) for m in SIZES for s in range(20)}
    assert len(ours) == 20 * 7
    assert max(SIZES) == 20_000
    for trial in ours:
        expected = {**NETWORK_SETTINGS, "pixels": "0 to 1"}
        assert trial.settings == expected
    assert {t.dataset for t in trials if t.method == "CIPS"} == set(
        SAMPLE_SIZE.datasets
    )
    prior = plan(["fig-prior"], Options())
    assert "PairNet" not in {t.method for t in prior}
    quick = plan(["fig-sample-size"], Options(quick=True, methods=["PairNet"]))
    assert {t.settings["max_epochs"] for t in quick} == {5}
    assert all("max_iter" not in t.settings for t in quick)
    # Work is in proportion to pairs and epochs.
    one, other = (Trial("e", "mnist", "PairNet", m, 0, {"max_epochs": e})
                  for m, e in ((1000, 10), (2000, 30)))  # fmt: skip
    assert SAMPLE_SIZE.work(other) == pytest.approx(6 * SAMPLE_SIZE.work(one))


# -- what is drawn ---------------------------------------------------------------------


@needs_data
@pytest.mark.parametrize("seed", [0, 1])
def test_the_articles_to_test_on_are_in_no_pair(seed):
    data, drawn = load_cached("pubmed", None, None), draw(seed)
    nodes = np.flatnonzero(data.target != 2)
    assert len(drawn.test) == len(nodes) // 5
    assert np.isin(drawn.test, nodes).all()
    assert len(np.unique(drawn.test)) == len(drawn.test)
    assert set(drawn.y) == {-1, 1}
    np.testing.assert_array_equal(drawn.y[nodes] > 0, data.target[nodes] == 1)
    index = drawn.pairs.index
    assert not np.isin(index, drawn.test).any()
    assert np.isin(index, drawn.train).all()
    assert not np.intersect1d(drawn.train, drawn.test).size
    known = {frozenset(link) for link in data.links.tolist()}
    linked = np.array([frozenset(pair) in known for pair in index.tolist()])
    np.testing.assert_array_equal(linked, drawn.t > 0)
    assert np.sum(drawn.t > 0) == np.sum(drawn.t < 0)
    # All links among the articles to train on, each once, and each of these has one.
    rest = set(np.setdiff1d(nodes, drawn.test).tolist())
    inside = {link for link in known if len(link) == 2 and link <= rest}
    assert len(inside) == np.sum(drawn.t > 0)
    assert set().union(*inside) == set(drawn.train.tolist())
    # The paper counts 7,889 of them.
    assert len(drawn.train) == pytest.approx(7889, rel=0.03)


@needs_data
def test_the_seed_decides_what_is_drawn():
    first, again, other = draw(0), draw(0), draw(1)
    np.testing.assert_array_equal(first.test, again.test)
    np.testing.assert_array_equal(first.pairs.index, again.pairs.index)
    assert not np.array_equal(np.sort(first.test), np.sort(other.test))


# -- choosing --------------------------------------------------------------------------


class Fake(ClassifierMixin, BaseEstimator):
    """Its score is best at a value of 2; it counts how often it was fitted."""

    fits = 0

    def __init__(self, value=0.0):
        self.value = value

    def fit(self, X, y):
        type(self).fits += 1
        self.n_, self.classes_ = len(X), np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.value)

    def score(self, X, y):  # noqa: ARG002
        return -abs(self.value - 2)


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setattr(Fake, "fits", 0)
    return Fake()


def test_the_best_of_the_folds_is_chosen(fake):
    data = np.zeros((20, 1)), np.arange(20) % 2
    fitted = chosen_by_folds(
        fake, data, "value", values=[1.0, 2.0, 4.0], n_folds=5, seed=0
    )
    assert fitted.best_params_ == {"value": 2.0}
    assert fitted.predict(np.zeros((1, 1))) == 2
    assert fitted.n_splits_ == 5
    assert fitted.best_estimator_.n_ == 20
    assert Fake.fits == 3 * 5 + 1
    assert fitted.cv.random_state == 0
    assert fitted.cv.shuffle


def test_a_single_value_is_fitted_without_folds(fake):
    data = np.zeros((20, 1)), np.arange(20) % 2
    fitted = chosen_by_folds(fake, data, "value", values=[4.0], n_folds=5, seed=0)
    assert (Fake.fits, fitted.value, fitted.n_) == (1, 4.0, 20)


# -- trials ----------------------------------------------------------------------------


@needs_data
@pytest.mark.parametrize(("method", "limit"), [("Noise-aware", 0.085), ("MCL", 0.2)])
def test_quick_trials_learn(method, limit):
    if method in NETWORKS:
        pytest.importorskip("skorch")
    (trial,) = plan(
        ["table-pubmed"], Options(trials=1, quick=True, methods=[method])
    )  # fmt: skip
    done = execute(trial)
    assert done.problem is None
    assert 0.04 < done.results["error"] < limit
    assert done.results["n_pairs"] == 27_458
    assert done.results["n_points"] == 7844


def test_a_row_is_given_its_settings_and_seed(monkeypatch):
    """And is judged on the articles that are in no pair."""
    seen = []

    def predict(drawn, settings, seed):
        seen.append((settings, seed))
        return -drawn.y[drawn.test]

    rng = np.random.default_rng(0)
    articles = pubmed.Articles(
        np.zeros((9, 1)), rng.choice([-1, 1], 9), np.arange(5), np.arange(5, 9),
        None, np.ones(6),
    )  # fmt: skip
    monkeypatch.setattr(pubmed, "draw", lambda *_: articles)
    row = pubmed.Row(predict, {}, {}, 1.0)
    monkeypatch.setitem(pubmed.METHODS, "Toy", row)
    trial = Trial("table-pubmed", "pubmed", "Toy", 0, 3, {"alpha": 1})
    assert PUBMED.run(trial, None) == {"error": 0, "n_pairs": 6, "n_points": 5}
    assert seen == [({"alpha": 1}, 3)]


WITHOUT = """
import numpy as np
from sklearn.utils import Bunch
from pairlearn.reproduce import pubmed
from pairlearn.reproduce import runner
from pairlearn.reproduce import sample
from pairlearn.reproduce.experiment import Options
from scipy import sparse

rng = np.random.default_rng(0)
y = rng.integers(2, size=300)
X = rng.random((300, 500)) * 0.1
X[:, 0] += y
couples = rng.integers(300, size=(8000, 2))
links = couples[(y[couples[:, 0]] == y[couples[:, 1]]) & (rng.random(8000) < 0.3)]
data = Bunch(data=sparse.csr_matrix(X), target=y, links=links)
pubmed.load_cached = lambda *_: data
for trial in runner.plan(["table-pubmed"], Options(trials=1, quick=True)):
    done = runner.execute(trial)
    print(trial.method, done.problem or sorted(done.results), sep="|")
y = np.repeat([1, -1], 20)
images = sample.Sample(rng.random((40, 784)), y, rng.random((40, 784)), y, 0.5)
from pairlearn.reproduce.images import _network_error
try:
    _network_error({}, images, 0)
except ImportError as error:
    print("PairNet", "ImportError: " + str(error), sep="|")
"""


def test_without_torch_the_linear_rows_run_and_the_others_name_the_extra():
    done = without("torch,skorch", WITHOUT, timeout=600)
    assert done.returncode == 0, done.stderr
    rows = dict(line.split("|") for line in done.stdout.splitlines())
    assert set(rows) == {*PUBMED.methods, "PairNet"}
    for method, outcome in rows.items():
        if method in (*NETWORKS, "PairNet"):
            assert outcome.startswith(
                "ImportError: pairlearn.models.neural needs torch"
            )
            assert "pip install 'pairlearn[neural]'" in outcome
        else:
            assert outcome == "['error', 'n_pairs', 'n_points']", method


# -- the committed run -----------------------------------------------------------------


@pytest.fixture(scope="module")
def committed(tmp_path_factory):
    """The frames of the full run; the store is copied: opening one may write to it."""
    source = Path(__file__).parents[2] / "docs" / "reproduction" / FILE_NAME
    if not source.exists():
        pytest.skip("the full run is a part of the repository, not of the package")
    folder = tmp_path_factory.mktemp("committed")
    shutil.copy(source, folder)
    with Store(folder) as store:
        return {name: store.frame(name) for name in ("table-pubmed", "fig-sample-size")}


@pytest.mark.parametrize(
    ("method", "floor"),
    [("CIPS", 85.4), ("MCL", 85.1), ("DML", 83.1), ("SV", 93.7), ("Noise-aware", 91.5)],
)
def test_the_committed_means_on_pubmed_are_above_the_floors(committed, method, floor):
    frame = committed["table-pubmed"]
    rows = frame[frame["method"] == method]
    assert sorted(rows["seed"]) == list(range(20))
    assert 100 * (1 - rows["error"].mean()) >= floor


def test_the_committed_mean_of_our_network_on_mnist_is_below_two_percent(committed):
    frame = committed["fig-sample-size"]
    rows = frame[(frame["method"] == "PairNet") & (frame["m"] == 20_000)]
    assert set(rows["dataset"]) == {"mnist"}
    assert sorted(rows["seed"]) == list(range(20))
    assert 100 * rows["error"].mean() <= 2.0
