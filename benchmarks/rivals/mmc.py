"""MMC of metric-learn, then k-means under the learnt metric."""

from adapter import run
from metric_learn import MMC
from sklearn.cluster import KMeans


def fit(X, index, t, seed):
    """Fit both; the metric has no classes of its own."""
    metric = MMC(random_state=seed).fit(X[index], t)
    kmeans = KMeans(2, n_init=10, random_state=seed).fit(metric.transform(X))
    return lambda X: kmeans.predict(metric.transform(X))


run(fit)
