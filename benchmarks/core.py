"""The core: our L-BFGS against the paper's SGD protocol, and the common task.

``make bench`` runs this. Both solvers minimise the same objective on the same pairs, in
one process with pinned threads; times are medians of repeats, and compared as a ratio.
"""

from __future__ import annotations

import time
from statistics import median

import numpy as np
import torch

from benchmarks.report import machine, publish, table
from pairlearn import CIPSClassifier, Pairs, clustering_error
from pairlearn.engine.coefficients import answer_coefficients
from pairlearn.engine.objective import PairObjective
from pairlearn.engine.points import as_points
from pairlearn.engine.risks import ProductRisk
from pairlearn.engine.scaling import Scaling
from pairlearn.engine.solvers import best_length, eigenvectors, minimise_lbfgs
from tests.conftest import common_task
from tests.support.random_problems import random_problem

ALPHA = 1e-4
BATCH, RATE, EPOCHS = 64, 0.01, 500


def torch_sgd(pairs: Pairs, t: np.ndarray, seed: int) -> torch.nn.Linear:
    """Train as the paper does: a plain PyTorch loop over shuffled batches."""
    torch.manual_seed(seed)
    left = torch.from_numpy(pairs.X[pairs.left]).float()
    right = torch.from_numpy(pairs.X[pairs.right]).float()
    answers = torch.from_numpy(t).float()
    model = torch.nn.Linear(left.shape[1], 1)
    optimiser = torch.optim.SGD(
        [
            {"params": [model.weight], "weight_decay": ALPHA},
            {"params": [model.bias], "weight_decay": 0.0},
        ],
        lr=RATE,
    )
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(answers)).split(BATCH):
            optimiser.zero_grad()
            z = (model(left[batch]) * model(right[batch])).squeeze(1)
            loss = torch.nn.functional.softplus(-z * answers[batch]).mean()
            loss.backward()
            optimiser.step()
    return model


def objective(pairs: Pairs, t: np.ndarray, w: np.ndarray, b: float) -> float:
    """Evaluate the objective by its definition, for both solvers alike."""
    f = pairs.X @ w + b
    margin = f[pairs.left] * f[pairs.right] * t
    return float(np.logaddexp(0, -margin).mean() + ALPHA / 2 * w @ w)


def timed(run, repeats: int):
    """Return the last result and the median time of several runs."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        seconds.append(time.perf_counter() - start)
    return result, median(seconds)


def compare_with_sgd() -> str:
    """Time both solvers at two numbers of pairs."""
    rows = []
    X, y, X_test, y_test = common_task()
    for n_pairs in (1_000, 10_000):
        pairs, t = Pairs.sample(X, n_pairs, y, reuse=n_pairs > 1000, random_state=0)
        ours, our_seconds = timed(
            lambda pairs=pairs, t=t: CIPSClassifier(alpha=ALPHA).fit(pairs, t), 11
        )
        theirs, their_seconds = timed(
            lambda pairs=pairs, t=t: torch_sgd(pairs, t, seed=0), 3
        )
        w = theirs.weight.detach().numpy()[0].astype(float)
        b = float(theirs.bias.detach()[0])
        their_error = clustering_error(y_test, X_test @ w + b > 0)
        our_error = clustering_error(y_test, ours.predict(X_test))
        rows.append(
            [
                f"{n_pairs:,}",
                f"{our_seconds:.4f}",
                f"{their_seconds:.2f}",
                f"{their_seconds / our_seconds:.0f}",
                f"{objective(pairs, t, ours.coef_[0], ours.intercept_[0]):.6f}",
                f"{objective(pairs, t, w, b):.6f}",
                f"{our_error:.1%}",
                f"{their_error:.1%}",
            ]
        )
    header = [
        "pairs", "L-BFGS s", "SGD s", "times faster", "L-BFGS objective",
        "SGD objective", "L-BFGS error", "SGD error",
    ]  # fmt: skip
    return table(header, rows)


def common_task_accuracy() -> str:
    """Fit the common task on ten draws of pairs."""
    X, y, X_test, y_test = common_task()
    accuracy, seconds = [], []
    for seed in range(10):
        pairs, t = Pairs.sample(X, 999, y, random_state=seed)
        clf, second = timed(lambda p=pairs, t=t: CIPSClassifier().fit(p, t), 5)
        accuracy.append(1 - clustering_error(y_test, clf.predict(X_test)))
        seconds.append(second)
    header = ["draws of pairs", "accuracy, mean", "least", "fit s, median", "most"]
    row = [
        "10",
        f"{np.mean(accuracy):.4f}",
        f"{min(accuracy):.4f}",
        f"{median(seconds):.4f}",
        f"{max(seconds):.4f}",
    ]
    return table(header, [row])


def compare_starts(n_problems: int = 200) -> str:
    """Compare ways to choose five starts, on noisy problems with few pairs."""
    gaps: dict[str, list[float]] = {}
    for seed in range(n_problems):
        pairs, t = random_problem(seed)
        rng = np.random.RandomState(seed)
        points = as_points(pairs.X)
        scaling = Scaling.of(points, ALPHA, fit_intercept=True)
        answers = answer_coefficients(t, np.ones(len(t)))
        risk_sum, risk = points.coupled(pairs.index, answers), ProductRisk("logistic")
        objective = PairObjective(risk_sum, risk, ALPHA, scaling)

        def reach(direction, objective=objective):
            start = best_length(objective, direction) * direction
            return minimise_lbfgs(objective, [start], max_iter=500, tol=1e-6).value

        def unit(rng=rng, size=scaling.size):
            direction = rng.standard_normal(size)
            return direction / np.linalg.norm(direction)

        spectral = [reach(v) for v in eigenvectors(objective, 5).T]
        random = [reach(unit()) for _ in range(60)]
        found = {
            "first eigenvector": spectral[:1],
            "two eigenvectors": spectral[:2],
            "five eigenvectors": spectral,
            "five random directions": random[:5],
            "two eigenvectors, three random": spectral[:2] + random[:3],
        }
        for name, values in found.items():
            gaps.setdefault(name, []).append(min(values) - min(spectral + random))
    header = ["starts", "best minimum missed", "mean gap"]
    rows = [
        [name, f"{np.sum(np.array(gap) > 1e-6)} of {n_problems}", f"{np.mean(gap):.5f}"]
        for name, gap in gaps.items()
    ]
    return table(header, rows)


if __name__ == "__main__":
    publish(
        "core",
        "Core",
        [
            machine("numpy", "scipy", "scikit-learn", "torch"),
            (
                "Against the paper's protocol (SGD in PyTorch, batch "
                f"{BATCH}, rate {RATE}, {EPOCHS} epochs, alpha {ALPHA:g}) on the same "
                "pairs of the common task:"
            ),
            compare_with_sgd(),
            "The common task, 999 random pairs, tested on 1,000 other points:",
            common_task_accuracy(),
            (
                "Starts of L-BFGS on noisy problems, 2 to 24 features and 40 to 200 "
                "pairs; a minimum is missed if 65 starts find one lower by 1e-6:"
            ),
            compare_starts(),
        ],
    )
