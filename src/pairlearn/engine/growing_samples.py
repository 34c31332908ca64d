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


def minimise_growing(
    objective: Any,
    begin: Callable[[Any], Sequence[Floats]],
    *,
    max_iter: int,
    tol: float,
    n_finish: int | None = None,
) -> tuple[Solution, Any]:
    """Minimise by L-BFGS on growing samples.

    Parameters
    ----------
    objective : LinearObjective
        The objective of all terms, more than `first_sample` needs, in any frame.
    begin : callable
        Objective -> starts; it is given the objective of the first sample.
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
        The objective in the frame of the first sample, which is that of the solution.
    """
    sizes = _sizes(objective)
    # Where it costs a pass to fetch some rows, the largest sample is fetched once.
    source = objective if objective.samples_in_place else objective.sample(sizes[-1])
    here = source.sample(sizes[0]).framed()
    source, objective = source.in_frame(here.frame), objective.in_frame(here.frame)
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
    for size in (*sizes[1:], objective.n_terms):
        here = objective if size == objective.n_terms else source.sample(size)
        limit, extra = tol, 0
        if here is not objective:
            limit = max(tol, SHARE * float(np.abs(here(solution.u)[1]).max()))
        options: Any = {"max_iter": max_iter, "tol": limit}
        if T is None:
            solution = minimise_lbfgs(here, [solution.u], **options)
        else:
            solution = minimise_rounded(here, solution.u, T, **options)
            # Curvature is learned again while that costs less than half a pass.
            if size * cost <= objective.n_terms / 2:
                T, extra = _rounded(here, solution.u)
        evaluations[size] = solution.n_evaluations + extra
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


def _sizes(objective: Any) -> list[int]:
    """Return the sizes of the samples, the largest well below all terms."""
    sizes = [objective.first_sample]
    while GROWTH * sizes[-1] <= objective.largest_sample:
        sizes.append(GROWTH * sizes[-1])
    return sizes
