"""Some of the damaged files of `make fuzz`: none hurts."""

import pytest

from tests.fuzz.flips import MOST_MEMORY, fuzz, is_fault
from tests.fuzz.subjects import SUBJECTS

N_CASES = {"arrow": 60, "feather": 60, "parquet": 60, "csv": 40}


@pytest.mark.parametrize("kind", SUBJECTS)
def test_flipped_bits(kind):
    # Others than those of `make fuzz`, which begins at 0.
    results = fuzz(kind, N_CASES.get(kind, 30), first=100_000)
    assert len(results) == N_CASES.get(kind, 30)
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
