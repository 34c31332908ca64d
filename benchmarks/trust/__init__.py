"""Do intervals hold what they promise? Simulations of certificates.

``python -m benchmarks.trust`` writes ``benchmarks/results/trust.md``: for each cell, in
how many runs the interval contained the truth, and how wide it was. ``--runs 100
--parts grid`` tries less and writes nothing. The cells of `NAMED` are also run, a few
times each, by the tests.

A classifier that errs at a known rate is judged by simulated answers, through the
functions that `pairlearn certify` and `pairlearn fit` call after they have read their
tables, with the noise that they assume by default ("auto"), or with the rate given
(``--noise``); cells that are about a whole fit run `pairlearn fit` on tables.
"""
