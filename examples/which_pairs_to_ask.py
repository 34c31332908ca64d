"""
Which pairs to ask
==================

If somebody can answer questions, it matters which ones are asked. We let an interview
choose them, and compare it with random pairs: how the error falls, which points it asks
about, and what it says about itself.
"""

# %%
# Two moons
# ---------
#
# Four hundred points to ask about and two thousand others to measure the error, which
# the interview does not see. The person who answers is a comparison of two labels.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from pairlearn import PairClassifier, Pairs, clustering_error
from pairlearn.ask import Interview

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#999999"
X, y = make_moons(400, noise=0.25, random_state=0)
X_test, y_test = make_moons(2000, noise=0.25, random_state=1)


def error_of(model):
    """Return the error on other points, up to swapping the two groups."""
    return clustering_error(np.where(y_test == 1, 1, -1), model.predict(X_test))


# %%
# The interview asks 60 questions to learn from. ``audits=0`` leaves out the questions
# that would judge the model, since here we know the truth.

interview = Interview(X, audits=0, noise=None, random_state=0)
sizes, chosen = [], []
for number in range(1, 61):
    question = interview.next_question()
    interview.answer(question, bool(y[question.left] == y[question.right]))
    if number % 20 == 0:
        sizes.append(number)
        chosen.append(error_of(interview.learn()))

# %%
# The same number of random pairs, twice.

at_random = np.empty((2, len(sizes)))
for seed in range(2):
    pairs, t = Pairs.sample(X, 60, y, random_state=seed)
    for k, m in enumerate(sizes):
        clf = PairClassifier(noise=None, random_state=0).fit(pairs[:m], t[:m])
        at_random[seed, k] = error_of(clf)
for k, m in enumerate(sizes):
    print(f"{m} answers: chosen {chosen[k]:.3f}, random {at_random[:, k].mean():.3f}")

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.plot(sizes, 100 * at_random.T, color=GREY, alpha=0.4, linewidth=1)
left.plot(sizes, 100 * at_random.mean(axis=0), "s-", color=GREY, label="random pairs")
left.plot(sizes, 100 * np.array(chosen), "o-", color=BLUE, label="interview")
left.set(xlabel="answers", ylabel="error on other points, %", ylim=(0, None))
left.set_title("Learning curves")
left.legend(frameon=False)
rows = np.array([q.target for q in interview.ledger.questions.values()])
right.scatter(*X.T, s=8, color=GREY, alpha=0.5, linewidth=0)
right.scatter(*X[rows].T, s=26, c=np.where(y[rows] == 1, ORANGE, BLUE), linewidth=0)
right.set(title="What was asked about", xticks=[], yticks=[])

# %%
# What it says about itself
# -------------------------
#
# With audits the interview can be looked at after every answer. The interval below
# holds at all looks together; the dashed line is the true error of the model at that
# time.

interview = Interview(X, audits=0.6, noise=None, random_state=1)
looks = []
for number in range(1, 91):
    question = interview.next_question()
    interview.answer(question, bool(y[question.left] == y[question.right]))
    if interview.certificate is not None and number % 5 == 0:
        low, high = interview.certificate.clustering_interval
        looks.append((number, low, high, error_of(interview.model)))
numbers, low, high, truth = np.array(looks).T
print(interview.certificate)
print(interview.history)
held = np.mean((low <= truth) & (truth <= high))
print(f"looks at which the interval holds: {held:.0%}")

fig, ax = plt.subplots(figsize=(6.5, 3.8), layout="constrained")
ax.fill_between(numbers, 100 * low, 100 * high, color=BLUE, alpha=0.2, linewidth=0)
ax.plot(numbers, 100 * high, color=BLUE, label="interval, at all looks")
ax.plot(numbers, 100 * truth, "--", color="black", label="true error")
ax.set(xlabel="questions", ylabel="error, %", ylim=(0, 50))
ax.legend(frameon=False)
plt.show()
