"""Tell two families of words apart, knowing only which pairs are related.

The words are made up: two languages with syllables of their own, and one syllable in
ten borrowed from the other, so that two words in a hundred belong to the other language
by the look of them. No word is ever labelled. The learner is told for 400 pairs whether
the two words are of the same language, and describes a word by the bigrams that it
shares with 60 others.

    python examples/strings_with_landmarks.py
"""

import random

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


def main():
    """Learn from pairs of words and test on words never seen."""
    words, languages = invent_words(500, seed=0)
    pairs, t = Pairs.sample(words, 400, languages, reuse=True, random_state=0)
    clf = make_pair_pipeline(
        LandmarkSimilarity(shared_bigrams, n_landmarks=60, random_state=0),
        CIPSClassifier(alpha=1e-3),
    )
    clf.fit(pairs, t)

    new_words, truth = invent_words(1000, seed=1)
    groups = clf.predict(new_words)
    for group in clf.classes_:
        members = [
            word for word, g in zip(new_words, groups, strict=True) if g == group
        ]
        print(f"one group: {', '.join(members[:5])}, ...")
    error = clustering_error(truth, groups)
    print(f"clustering error on {len(new_words)} new words: {error:.3f}")


if __name__ == "__main__":
    main()
