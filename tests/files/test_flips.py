"""Some of the damaged files of `make fuzz`: none hurts."""

import pytest

from tests.fuzz.flips import MOST_MEMORY, Worker, fuzz, is_fault
from tests.fuzz.subjects import SUBJECTS, TABLES


@pytest.fixture(scope="module")
def worker():
    with Worker() as process:
        yield process


@pytest.mark.parametrize("kind", SUBJECTS)
def test_flipped_bits(kind, worker):
    # Others than those of `make fuzz`, which begins at 0. A model takes longest.
    n_cases = 20 if kind in TABLES else 15
    results = fuzz(kind, n_cases, first=100_020, worker=worker)
    assert len(results) == n_cases
    assert not [result for result in results if is_fault(kind, result)]
    refused = [result for result in results if result["outcome"] == "refused"]
    assert len(refused) > len(results) / 5


@pytest.mark.parametrize(
    ("outcome", "kind", "peak", "fault"),
    [
        ("refused", "skops", 0, False),
        ("refused", "skops", MOST_MEMORY + 1, True),
        ("values", "csv", 0, False),
        ("values", "checkpoint", 0, True),
        ("crash", "arrow", 0, True),
        ("hang", "arrow", 0, True),
        ("traceback", "arrow", 0, True),
        ("checksum", "arrow", 0, True),
        ("vague", "csv", 0, True),
    ],
)
def test_faults(outcome, kind, peak, fault):
    assert is_fault(kind, {"outcome": outcome, "peak": peak}) is fault
