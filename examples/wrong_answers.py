"""
Wrong answers, and how to find them
===================================

People make mistakes when they answer. Some of their answers contradict what all the
others say about similar points. ``suspicious_answers`` ranks the answers: the first
ones are worth asking again. Here one answer in eight is wrong, and we know which, so we
can check the ranking.
"""

# %%
# The points are tissue samples of two kinds. There are 500 answers, in which points
# occur several times, and one answer in eight is reversed.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from pairlearn import (
    MCLClassifier,
    Pairs,
    clustering_error,
    make_pair_pipeline,
    suspicious_answers,
)

X, y = load_breast_cancer(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, random_state=0)
pairs, truth = Pairs.sample(X, 500, y, reuse=True, random_state=0)
rng = np.random.default_rng(0)
is_wrong = rng.random(500) < 1 / 8
told = np.where(is_wrong, -truth, truth)
print(f"wrong answers: {is_wrong.sum()} of {len(told)}")

# %%
# Each answer is judged by a classifier that has not seen its points, and by the other
# answers about them. ``head()`` lists the most suspicious, with row numbers of the
# points.

clf = make_pair_pipeline(StandardScaler(), MCLClassifier(alpha=0.01))
found = suspicious_answers(clf, pairs, told, random_state=0)
print(found)

# %%
# How good is the ranking? Going down the list, nearly every answer is a wrong one at
# first. To find as many by chance, you would have to ask several times as often.

hits = np.cumsum(is_wrong[found.order])
n_wrong = is_wrong.sum()
print(f"wrong among the 30 most suspicious: {hits[29]}")
print(f"estimated share of wrong answers: {found.noise_rate:.3f}")

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
checked = np.arange(1, 501)
left.plot(checked, hits, color="#0072B2", linewidth=2, label="by suspicion")
left.plot([0, n_wrong, 500], [0, n_wrong, n_wrong], ":", color="black", label="ideal")
left.plot([0, 500], [0, n_wrong], "--", color="#D55E00", label="by chance")
left.set(xlabel="answers checked", ylabel="wrong answers found", xlim=(0, 500))
left.set(ylim=(0, None), title=f"{n_wrong} wrong answers among 500")
left.legend(frameon=False, loc="lower right")
bins = np.linspace(0, 1, 21)
right.hist([found.suspicion[is_wrong], found.suspicion[~is_wrong]], bins,
           color=["#D55E00", "#0072B2"], label=["wrong", "right"])  # fmt: skip
right.set(xlabel="suspicion", ylabel="answers", yscale="log", ylim=(0.8, None))
right.set_title("Suspicion is the probability of being wrong")
right.legend(title="the answer is", frameon=False)

# %%
# What is it worth? We ask the 60 most suspicious questions again, get the right answer
# this time, and train again. We compare this with all answers as given, and with a
# model that knows that some are wrong and estimates how many, without asking again.

asked_again = told.copy()
asked_again[found.order[:60]] = truth[found.order[:60]]
aware = make_pair_pipeline(
    StandardScaler(), MCLClassifier(alpha=0.01, flip_rates="symmetric")
)
for name, model, answers in (
    ("as told", clf, told),
    ("with estimated flip rates", aware, told),
    ("60 asked again", clf, asked_again),
    ("all answers right", clf, truth),
):
    error = clustering_error(y_new, model.fit(pairs, answers).predict(X_new))
    print(f"clustering error, {name}: {error:.3f}")
plt.show()
