"""Bodies of events as the back room makes them, and points to ask about."""

import os

import numpy as np


def asked_body(left, right, purpose="learn"):
    """Return the body of a question about two rows whose ids are p and the number."""
    return {
        "left": left,
        "right": right,
        "left_id": f"p{left}",
        "right_id": f"p{right}",
        "purpose": purpose,
        "target": right if purpose == "learn" else -1,
        "why": "",
    }


def two_kinds(path, n=60):
    """Write points of two kinds, far from each other; return their kinds."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(2, size=n)
    sizes = rng.normal(size=n) + 8 * kinds
    noise = rng.normal(size=n)
    lines = ["id,noise,size"]
    lines += [f"p{k},{noise[k]:.3f},{sizes[k]:.3f}" for k in range(n)]
    path.write_text("\n".join(lines) + "\n")
    return kinds


def dies(connection, task):
    """A back room that ends at once."""
    del connection, task
    os._exit(3)
