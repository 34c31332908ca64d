"""
Two families of words, by the words they resemble
=================================================

Points need not be vectors: a similarity is enough. The words here are made up, in two
languages with their own syllables. One syllable in ten is borrowed from the other
language, so two words in a hundred look as if they belonged to it. No word is ever
labelled. The learner is told for 400 pairs whether the two words are of the same
language.
"""

import random

import matplotlib.pyplot as plt
import numpy as np

from pairlearn import (
    CIPSClassifier,
    LandmarkSimilarity,
    Pairs,
    clustering_error,
    make_pair_pipeline,
)

SYLLABLES = {
    "northern": ["sk", "jor", "vik", "heim", "und", "garth", "ulf", "stad", "ness"],
    "southern": ["la", "mira", "oro", "bella", "ssi", "ano", "tello", "uva", "zia"],
}
BORROWED = 0.1


def invent_words(n_words, seed):
    """Return words and their languages."""
    rng = random.Random(seed)
    languages = [rng.choice(list(SYLLABLES)) for _ in range(n_words)]
    words = []
    for language in languages:
        (other,) = set(SYLLABLES) - {language}
        sources = [
            other if rng.random() < BORROWED else language
            for _ in range(rng.randint(3, 5))
        ]
        words.append("".join(rng.choice(SYLLABLES[source]) for source in sources))
    return words, languages


def shared_bigrams(a, b):
    """Return the share of letter pairs that two words have in common."""
    in_a, in_b = ({w[i : i + 2] for i in range(len(w) - 1)} for w in (a, b))
    return 2 * len(in_a & in_b) / (len(in_a) + len(in_b))


words, languages = invent_words(500, seed=0)
pairs, t = Pairs.sample(words, 400, languages, reuse=True, random_state=0)
for (i, j), answer in zip(pairs.index[:4], t[:4], strict=True):
    print(f"{words[i]} and {words[j]}: {'same' if answer > 0 else 'different'}")

# %%
# ``LandmarkSimilarity`` picks 60 of the words, the landmarks, and describes every word
# by the bigrams that it shares with each of them. From there on a word is a vector, and
# any classifier will do.

clf = make_pair_pipeline(
    LandmarkSimilarity(shared_bigrams, n_landmarks=60, random_state=0),
    CIPSClassifier(alpha=1e-3),
)
clf.fit(pairs, t)
new_words, truth = invent_words(1000, seed=1)
groups = clf.predict(new_words)
for group in clf.classes_:
    members = [word for word, g in zip(new_words, groups, strict=True) if g == group]
    print(f"one group: {', '.join(members[:5])}, ...")
error = clustering_error(truth, groups)
print(f"clustering error on {len(new_words)} new words: {error:.3f}")

# %%
# The scores of the new words, and the landmarks that count most on either side.

BLUE, ORANGE = "#0072B2", "#D55E00"
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
scores, truth = clf.decision_function(new_words), np.array(truth)
left.hist(
    [scores[truth == language] for language in SYLLABLES],
    bins=40, stacked=True, color=[BLUE, ORANGE], label=list(SYLLABLES),
)  # fmt: skip
left.axvline(0, color="black", linestyle="--")
left.set(xlabel="score f(x) of new words", ylabel="words, stacked", ylim=(0, 75))
left.legend(title="true language", frameon=False, loc="upper left")

landmarks, weights = clf[0].transformer_.landmarks_, clf[-1].coef_[0]
order = np.argsort(weights)[[*range(7), *range(-7, 0)]]
colours = np.where(weights[order] > 0, "#595959", "#b3b3b3")
right.barh([landmarks[k] for k in order], weights[order], color=colours)
right.set(xlabel="weight of the landmark", title="Landmarks with the largest weights")
plt.show()
