"""The two figures on images: error against the number of pairs, and the prior."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from pairlearn.reproduce.experiment import Experiment, Options
from pairlearn.reproduce.methods import METHODS, test_error
from pairlearn.reproduce.networks import image_net
from pairlearn.reproduce.sample import (
    SMALL,
    Sample,
    draw_images,
    draw_images_with_prior,
    load_images,
)
from pairlearn.reproduce.store import Trial
from pairlearn.trust.metrics import clustering_error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["PRIOR", "SAMPLE_SIZE"]

DATASETS = ("mnist", "fashion-mnist", "kuzushiji-mnist")
SIZES = (1000, 2000, 4000, 8000, 12000, 16000, 20000)
PRIORS = ("1/7", "2/7", "3/7", "4/7", "5/7", "6/7")
# Ours, on the first data set alone: a network in place of the linear model.
NETWORK = "PairNet"
NETWORK_SETTINGS = {
    "optimizer": "adamw",
    "lr": 1e-3,
    "weight_decay": 1e-4,
    "batch_size": 128,
    "max_epochs": 30,
    "patience": 5,
}


def _settings(method: str, *, quick: bool) -> dict[str, Any]:
    if method == NETWORK:
        return NETWORK_SETTINGS | ({"max_epochs": 5} if quick else {})
    return dict(METHODS[method].settings) | ({"max_iter": 50} if quick else {})


def _work(trial: Trial) -> float:
    if trial.method == NETWORK:
        return 5e-4 * trial.m * float(trial.settings["max_epochs"])
    return 1.6e-6 * trial.m * float(trial.settings["max_iter"])


def _plan_sizes(
    options: Options, datasets: Sequence[str], methods: Sequence[str]
) -> Iterator[Trial]:
    sizes = (1000, 4000) if options.quick else SIZES
    seeds = range(options.n_trials(20, 2))
    for seed, dataset, m, method in product(seeds, datasets, sizes, methods):
        if dataset == SMALL and m > 4000:
            continue
        if method == NETWORK and dataset != DATASETS[0]:
            continue
        settings = _settings(method, quick=options.quick) | {"pixels": "0 to 1"}
        yield Trial("fig-sample-size", dataset, method, m, seed, settings)


def _run_sizes(trial: Trial, data_home: Any) -> dict[str, Any]:
    settings = dict(trial.settings)
    sample = draw_images(
        trial.dataset,
        trial.m,
        trial.seed,
        pixels=settings.pop("pixels"),
        data_home=data_home,
    )
    if trial.method == NETWORK:
        return {"error": _network_error(settings, sample, trial.seed)}
    return {"error": test_error(trial.method, settings, sample, trial.seed)}


def _network_error(settings: dict[str, Any], sample: Sample, seed: int) -> float:
    """Train a small convolutional network on the images of the pairs."""
    from pairlearn.models.neural import PairNet

    net = PairNet(image_net, **settings, random_state=seed)
    predicted = net.fit(sample.pairs, sample.t).predict(sample.X_test)
    return clustering_error(sample.y_test, predicted)


def _plan_priors(
    options: Options, datasets: Sequence[str], methods: Sequence[str]
) -> Iterator[Trial]:
    priors = PRIORS[::2] if options.quick else PRIORS
    seeds = range(options.n_trials(10, 2))
    for seed, dataset, prior, method in product(seeds, datasets, priors, methods):
        m = 2000 if dataset == SMALL or options.quick else 10000
        settings = _settings(method, quick=options.quick)
        settings |= {"prior": prior, "n_test": 1800 if dataset == SMALL else 10000}
        yield Trial("fig-prior", dataset, method, m, seed, settings)


def _run_priors(trial: Trial, data_home: Any) -> dict[str, Any]:
    settings = dict(trial.settings)
    prior, n_test = float(Fraction(settings.pop("prior"))), settings.pop("n_test")
    sample = draw_images_with_prior(
        trial.dataset, trial.m, prior, trial.seed, n_test=n_test, data_home=data_home
    )
    return {"error": test_error(trial.method, settings, sample, trial.seed)}


SAMPLE_SIZE = Experiment(
    name="fig-sample-size",
    title="Clustering error against the number of pairs, on images",
    datasets=DATASETS,
    methods=("CIPS", "SV", NETWORK),
    plan=_plan_sizes,
    run=_run_sizes,
    work=_work,
    load=load_images,
    quick_datasets=DATASETS[:1],
)

PRIOR = Experiment(
    name="fig-prior",
    title="Clustering error against the class prior, on images",
    datasets=DATASETS,
    methods=("CIPS", "SD", "SV"),
    plan=_plan_priors,
    run=_run_priors,
    work=_work,
    load=load_images,
    quick_datasets=DATASETS[:1],
)
