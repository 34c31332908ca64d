"""One answer per pair for any estimator."""

import numpy as np

from pairlearn import MCLClassifier, Pairs, clustering_error
from pairlearn.people import weigh_answers


def test_any_estimator_learns_better_from_answers_that_are_weighed():
    """Two good people, and one who has it the wrong way round."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    index = rng.permutation(400).reshape(200, 2)
    right = Pairs(X, index).answers(y)
    accuracy = np.array([0.95, 0.9, 0.1])
    said = [right * np.where(rng.random(200) < a, 1, -1) for a in accuracy]
    # Everybody answers three of four pairs.
    kept = np.concatenate([np.flatnonzero(np.arange(200) % 4 != k) for k in range(3)])
    who = np.repeat(["ann", "bob", "eve"], 150)
    t = np.concatenate(said)[kept + 200 * np.repeat(np.arange(3), 150)]
    pairs = Pairs(X, index[kept])
    weighed = weigh_answers(pairs, t, who)
    assert len(weighed.pairs) == 200
    assert np.abs(weighed.t).max() <= 1
    assert np.mean(np.sign(weighed.t) == weighed.pairs.answers(y)) > 0.9
    assert weighed.people.named("eve").is_adversary
    clf = MCLClassifier(random_state=0).fit(weighed.pairs, weighed.t)
    assert clustering_error(y, clf.predict(X)) < 0.1
