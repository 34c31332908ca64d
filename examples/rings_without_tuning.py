"""Tell rings apart that no line separates, with nothing tuned by hand.

Points lie on two rings, one within the other. The learner is told for 300 pairs whether
the two points are of the same ring, and that the outer ring holds more than half of the
points. PairClassifier finds out that straight lines are no use here, and says how good
it is before a single point is labelled.

    python examples/rings_without_tuning.py
"""

from sklearn.datasets import make_circles

from pairlearn import PairClassifier, Pairs, clustering_error


def main():
    """Learn from pairs of points and test on points never seen."""
    X, ring = make_circles((1000, 600), noise=0.12, factor=0.5, random_state=0)
    pairs, t = Pairs.sample(X[:600], 300, ring[:600], random_state=0)
    clf = PairClassifier(classes=("outer", "inner"), majority="outer", random_state=0)
    clf.fit(pairs, t)

    print(f"by its own estimate: {clf.certificate_}")
    for kernel in ("linear", "rbf 0.25"):
        best = max(
            (row for row in clf.candidates_ if row.kernel == kernel),
            key=lambda row: row.log_likelihood,
        )
        print(f"{kernel}: {best.pair_error:.1%} of held-out answers wrong")
    error = clustering_error(ring[600:], clf.predict(X[600:]))
    print(f"clustering error on {len(X) - 600} new points: {error:.3f}")


if __name__ == "__main__":
    main()
