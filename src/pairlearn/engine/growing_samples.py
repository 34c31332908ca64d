r"""Minimise on samples that grow, and on all terms at the end.

An evaluation on all terms is spent only where it teaches more than one on a part. The
starts are found, and the best of them chosen, on a small sample. Then the sample
doubles. With J_k the objective on the k-th sample and u_k its minimiser,

.. math:: \nabla J_{k+1}(u_k) = \nabla J_{k+1}(u_k) - \nabla J_k(u_k)

is what the smaller sample got wrong: its statistical error, at no extra cost. To go far
below it on the larger sample, which is wrong by nearly as much, would be wasted: each
minimisation ends when the gradient is a tenth of what it began with, and only the last,
on all terms, goes down to the tolerance.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pairlearn.engine.solvers import (
    Solution,
    minimise_lbfgs,
    minimise_rounded,
    rounding,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pairlearn.data.types import Floats
    from pairlearn.engine.backends.protocol import RiskSum

__all__ = ["first_sample", "minimise_growing"]

# Terms of the first sample at least, and terms of it for each parameter.
FIRST, PER_PARAMETER = 2048, 20
GROWTH = 2
# Fewer terms than so many first samples are all taken at once.
WORTH = 4
# A sample is minimised until its gradient is this share of what it was at the start;
# the first until no entry exceeds the second number (features have unit variance).
SHARE, COARSE = 0.1, 3e-3
# Passes over all terms that the curvature on the first sample may cost, and the most
# parameters that it is learned for.
WORTH_PASSES, MOST = 25, 2000
# How much faster a product of matrices is, a number, than one with a vector.
MATRIX_PRODUCTS = 15


def first_sample(n_terms: int, size: int, most: int | None = None) -> int:
    """Return the size of the first sample, or 0 if all terms are few enough.

    Parameters
    ----------
    n_terms : int
        Pairs or points of the objective.
    size : int
        Parameters of the model.
    most : int, optional
        The most terms that a sample may have.

    Examples
    --------
    >>> first_sample(1_000_000, 101), first_sample(5_000, 101)
    (2048, 0)
    """
    first = max(FIRST, PER_PARAMETER * size)
    if most is not None:
        first = max(1, min(first, most))
    return first if n_terms >= WORTH * first else 0


def sample_sizes(risk_sum: RiskSum, size: int, n_outputs: int = 1) -> list[int]:
    """Return the sizes of the growing samples; none if all terms are few enough.

    Parameters
    ----------
    risk_sum : RiskSum
        All points or pairs.
    size : int
        Parameters of the model.
    n_outputs : int, default=1
        Scores per point.
    """
    points, n_terms = risk_sum.points, risk_sum.n_terms
    # The largest is well below all terms, and no more than can be held.
    if _in_place(risk_sum, n_outputs):
        first = first_sample(n_terms, size)
        largest = min(n_terms, points.n_points) // 2
    else:
        held = points.most_rows // 2
        first = first_sample(n_terms, size, held)
        largest = min(min(n_terms, points.n_points) // 8, held)
    sizes = [first] if first else []
    while sizes and GROWTH * sizes[-1] <= largest:
        sizes.append(GROWTH * sizes[-1])
    return sizes


def draw_sample(
    risk_sum: RiskSum, n_terms: int, size: int, n_outputs: int = 1
) -> RiskSum:
    """Return some terms drawn at random, as heavy as all; always the same ones.

    Few points are copied: side by side they are read faster, and starts of the first
    sample are made of all its points.
    """
    first = next(iter(sample_sizes(risk_sum, size, n_outputs)), 0)
    few = n_terms <= max(risk_sum.points.n_points // 32, first)
    in_place = _in_place(risk_sum, n_outputs) and not few
    return risk_sum.sample(n_terms, in_place=in_place)


def _in_place(risk_sum: RiskSum, n_outputs: int) -> bool:
    """Tell whether a sample reads just its own points, where they lie."""
    return risk_sum.samples_in_place and n_outputs == 1


def minimise_growing(
    risk_sum: RiskSum,
    make: Callable[..., Any],
    begin: Callable[[Any], Sequence[Floats]],
    *,
    size: int,
    n_outputs: int = 1,
    max_iter: int,
    tol: float,
    n_finish: int | None = None,
) -> tuple[Solution, Any]:
    """Minimise by L-BFGS on growing samples.

    Parameters
    ----------
    risk_sum : RiskSum
        All points or pairs, more than `sample_sizes` needs.
    make : callable
        (RiskSum, Scaling) -> objective; without a scaling, in that of its own points.
    begin : callable
        Objective -> starts; it is given the objective of the first sample.
    size : int
        Parameters of the model.
    n_outputs : int, default=1
        Scores per point.
    max_iter : int
        The most iterations on each sample.
    tol : float
        The largest entry of the gradient at the end.
    n_finish : int, optional
        As for `minimise_lbfgs`, on the first sample.

    Returns
    -------
    solution : Solution
        On all terms; its history is that of the last minimisation.
    objective : LinearObjective
        The objective in the scaling of the first sample, which is that of the solution.
    """
    sizes = sample_sizes(risk_sum, size, n_outputs)
    # Where it costs a pass to fetch some rows, the largest sample is fetched once.
    held = risk_sum
    if not _in_place(risk_sum, n_outputs):
        held = draw_sample(risk_sum, sizes[-1], size, n_outputs)
    here = make(draw_sample(held, sizes[0], size, n_outputs))
    objective, source = (make(terms, here.scaling) for terms in (risk_sum, held))
    solution = minimise_lbfgs(
        here, begin(here), max_iter=max_iter, tol=max(tol, COARSE), n_finish=n_finish
    )
    # What curvature costs, in evaluations of the same terms.
    cost = here.size / (MATRIX_PRODUCTS if here.knows_curvature else 1)
    cheap = sizes[0] * cost <= WORTH_PASSES * objective.n_terms
    T, extra = None, 0
    if here.smooth and cheap and here.size <= MOST:
        T, extra = _rounded(here, solution.u)
    # A loss with a kink is minimised through others, which the solution has counted.
    evaluations = {sizes[0]: solution.n_evaluations + extra}
    for n_terms in (*sizes[1:], objective.n_terms):
        whole = n_terms == objective.n_terms
        here = objective if whole else source.sample(n_terms)
        limit, extra = tol, 0
        if not whole:
            limit = max(tol, SHARE * float(np.abs(here(solution.u)[1]).max()))
        options: Any = {"max_iter": max_iter, "tol": limit}
        if T is None:
            solution = minimise_lbfgs(here, [solution.u], **options)
        else:
            solution = minimise_rounded(here, solution.u, T, **options)
            # Curvature is learned again while that costs less than half a pass.
            if n_terms * cost <= objective.n_terms / 2:
                T, extra = _rounded(here, solution.u)
        evaluations[n_terms] = solution.n_evaluations + extra
    solution = replace(
        solution,
        n_evaluations=sum(evaluations.values()),
        passes=sum(n * size for size, n in evaluations.items()) / objective.n_terms,
        samples=tuple(evaluations),
    )
    return solution, objective


def _rounded(objective: Any, u: Floats) -> tuple[Floats, int]:
    """Return `rounding`, and how many evaluations it took."""
    before = objective.n_evaluations
    return rounding(objective, u), objective.n_evaluations - before
