"""crowd-kit's Dawid and Skene, as ``python dawid_skene.py TASK.npz OUT.json``.

The task holds the pair, the answer (-1 or +1) and the person of each answer; what comes
back is an answer for each pair, in the order of their numbers.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from crowdkit.aggregation import DawidSkene

source, target = sys.argv[1:]
with np.load(source) as file:
    given = pd.DataFrame(
        {"task": file["pair"], "worker": file["who"], "label": file["t"].astype(int)}
    )
settled = DawidSkene(n_iter=100).fit_predict(given)
t = settled.sort_index().astype(int).tolist()
Path(target).write_text(json.dumps({"t": t}))
