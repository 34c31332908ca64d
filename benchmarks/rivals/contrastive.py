"""A network trained by pytorch-metric-learning's contrastive loss, then k-means.

The library leaves network and training to its user. These settings did best of eight
tried on the common task itself, so they favour the rival.
"""

import torch
from adapter import run
from pytorch_metric_learning.losses import ContrastiveLoss
from sklearn.cluster import KMeans
from torch import nn

HIDDEN, EMBEDDED = 100, 16
EPOCHS, BATCH, RATE = 100, 64, 1e-3


def fit(X, index, t, seed):
    """Train on the pairs, then cluster where the embedding puts the points."""
    torch.manual_seed(seed)
    points, pairs = torch.from_numpy(X).float(), torch.from_numpy(index)
    similar = torch.from_numpy(t) > 0
    net = nn.Sequential(
        nn.Linear(X.shape[1], HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, EMBEDDED)
    )
    loss = ContrastiveLoss()
    optimiser = torch.optim.Adam(net.parameters(), lr=RATE)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(pairs)).split(BATCH):
            left = torch.arange(len(batch))
            right = left + len(batch)
            s = similar[batch]
            embedding = net(points[pairs[batch].T.flatten()])
            optimiser.zero_grad()
            loss(
                embedding, indices_tuple=(left[s], right[s], left[~s], right[~s])
            ).backward()
            optimiser.step()

    def embed(X):
        # The loss compares embeddings scaled to length one; so must k-means.
        with torch.no_grad():
            return nn.functional.normalize(net(torch.from_numpy(X).float())).numpy()

    kmeans = KMeans(2, n_init=10, random_state=seed).fit(embed(X))
    return lambda X: kmeans.predict(embed(X))


run(fit)
