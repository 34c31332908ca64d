"""
Citations as answers: articles on diabetes
==========================================

Nobody answered a question here. An article cites others, mostly of its own kind, so a
citation can serve as "same". For "different" we can only draw two articles at random,
and about half of these pairs are of the same kind after all. This example compares a
method that takes every random pair as "different" with one that does not.
"""

# %%
# PubMed-Diabetes has articles on three kinds of diabetes, as frequencies of 500 words,
# and who cites whom. We take two kinds, and a part of the articles, for speed. The file
# is fetched once by ``load_pubmed()``; without it the example makes up articles that
# cite each other.

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from pairlearn import LinkClassifier, MCLClassifier, clustering_error
from pairlearn.datasets import link_pairs, load_pubmed

rng = np.random.default_rng(0)
try:
    data = load_pubmed(download=False)
    X, kind, links = data.data, data.target, data.edges
    print(f"PubMed: {X.shape[0]} articles")
except FileNotFoundError:
    print("no file of PubMed (load_pubmed() fetches it): made-up articles instead")
    kind = (rng.random(8000) < 0.6).astype(int)
    habits = rng.dirichlet(np.ones(100), size=2)
    X = sparse.csr_array(rng.poisson(30 * (0.5 * habits[kind] + 0.5 / 100)) / 30)
    links = rng.integers(8000, size=(40_000, 2))
    alike = kind[links[:, 0]] == kind[links[:, 1]]
    links = links[rng.random(40_000) < np.where(alike, 0.6, 0.12)]

two = rng.permutation(np.flatnonzero(kind < 2))
train, test = two[:4000], two[-2000:]
pairs, t = link_pairs(X, links, nodes=train, random_state=0)
same = kind[pairs.left] == kind[pairs.right]
print(f"{int(np.sum(t > 0))} citations, and as many random couples")
print(f"citations that join one kind: {np.mean(same[t > 0]):.1%}")
print(f"random couples that do, too: {np.mean(same[t < 0]):.1%}")

# %%
# ``MCLClassifier`` takes every random couple as "different". ``LinkClassifier`` takes
# it for what it is: a random pair. Both have the same model and the same penalty,
# fixed here for speed (``LinkClassifier(alpha="auto")`` finds one by itself). The
# dotted line is a model that had the labels of all 4,000 articles.

methods = {
    "couples are different": MCLClassifier(alpha=3e-5, likelihood="pair"),
    "couples are random": LinkClassifier(alpha=3e-5),
}
n_links, errors = [], {name: [] for name in methods}
for n_train in (1500, 2500, 4000):
    pairs, t = link_pairs(X, links, nodes=train[:n_train], random_state=0)
    n_links.append(int(np.sum(t > 0)))
    for name, clf in methods.items():
        predicted = clf.fit(pairs, t).predict(X[test])
        errors[name].append(clustering_error(kind[test], predicted))
labels = LogisticRegression(C=30, max_iter=1000).fit(X[train], kind[train])
floor = clustering_error(kind[test], labels.predict(X[test]))

fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for (name, error), style in zip(errors.items(), ("s--", "o-"), strict=True):
    colour = {"s--": "#D55E00", "o-": "#0072B2"}[style]
    ax.plot(n_links, 100 * np.array(error), style, color=colour, label=name)
    print(f"clustering error, {name}: {error[-1]:.3f}")
ax.axhline(100 * floor, color="black", linestyle=":", label="from 4,000 labels")
ax.set(xlabel="citations", ylabel="clustering error on 2,000 articles, %")
ax.set(ylim=(0, None), title="Learned from citations, without one label")
ax.legend(frameon=False)
plt.show()
