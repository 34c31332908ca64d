"""Those who answer: how far they agree, and what each of them is worth.

:func:`compare_people` tells from plain sequences of answers how far people agree with
each other and with themselves, and lists the pairs to settle. :func:`weigh_answers`
makes one answer of all that they say about a pair, by how often each is right;
``PairClassifier.fit(pairs, t, annotators=...)`` finds that together with its models.
"""

from pairlearn.people.agreement import cohen_kappa, krippendorff_alpha
from pairlearn.people.couples import Couple, Couples
from pairlearn.people.disagreements import Disagreement, Disagreements, Said
from pairlearn.people.persons import Person, Persons
from pairlearn.people.rates import PeopleRates, PersonRates
from pairlearn.people.report import Estimate, PeopleReport, compare_people
from pairlearn.people.weighing import Weighed, weigh_answers

__all__ = [
    "compare_people",
    "weigh_answers",
    "Weighed",
    "PersonRates",
    "PeopleRates",
    "cohen_kappa",
    "krippendorff_alpha",
    "PeopleReport",
    "Estimate",
    "Person",
    "Persons",
    "Couple",
    "Couples",
    "Disagreement",
    "Disagreements",
    "Said",
]
