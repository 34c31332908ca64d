"""Krippendorff's alpha by the package krippendorff, of many small tables of answers.

The tables lie one after the other in `answers` (NaN: no answer); `shapes` tells how
many people and things each has.
"""

import json
import sys
from pathlib import Path

import krippendorff
import numpy as np

source, target = sys.argv[1:]
with np.load(source) as task:
    answers, shapes = task["answers"], task["shapes"].tolist()
alphas, place = [], 0
for n_people, n_things in shapes:
    table = answers[place : place + n_people * n_things].reshape(n_people, n_things)
    place += table.size
    alpha = krippendorff.alpha(table, level_of_measurement="nominal")
    alphas.append(float(alpha))
Path(target).write_text(json.dumps({"alphas": alphas}))
