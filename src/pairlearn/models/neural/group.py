"""The processes that train one network together, from their meeting to their parting.

A process group has threads of its own. If a process leaves while they run, they may
look for an interpreter that is gone, and the process is aborted. So a group that a fit
made ends with it; one that was there before is its maker's.
"""

from __future__ import annotations

import atexit
import gc
import os
import traceback
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any

import torch.distributed as dist
from torch.distributed import PrefixStore  # type: ignore[attr-defined]
from torch.distributed.rendezvous import register_rendezvous_handler, rendezvous

if TYPE_CHECKING:
    from collections.abc import Iterator

    # torch does not say so itself.
    Store = Any

__all__ = ["accelerated"]

# How long a process that is done waits for the others, which are done, too, but for
# what a callback does at the end. It is safe to leave earlier.
PARTING = timedelta(seconds=60)
# How long one that has failed waits for others to fail of the same, such as a file that
# none can read: closed connections would be their error else.
GRACE = timedelta(seconds=2)
SCHEME = "pairlearn"

_numbers = count()
# Where the groups of this process have met, by their number.
_places: dict[str, Store] = {}


@contextmanager
def accelerated(mixed_precision: str, *, cpu: bool, batch_size: int) -> Iterator[Any]:
    """Give an `Accelerator`; the group that it made ends with the context.

    So does what accelerate knows of it. A group, or an `Accelerator`, that was there
    before stays as it was.

    Parameters
    ----------
    mixed_precision : {"no", "fp16", "bf16"}
        As for `Accelerator`.
    cpu : bool
        Whether to stay off the GPUs.
    batch_size : int
        What the processes are to share evenly.

    Yields
    ------
    Accelerator
    """
    try:
        from accelerate import Accelerator
        from accelerate.state import AcceleratorState, GradientState, PartialState
        from accelerate.utils import DataLoaderConfiguration, InitProcessGroupKwargs
    except ImportError:
        raise ImportError(
            "distributed=True needs accelerate, which is not installed: "
            "pip install accelerate"
        ) from None
    # It takes the group of the moment for the default of its arguments, for ever.
    import torch.distributed.nn.functional  # noqa: F401

    states = (AcceleratorState, PartialState, GradientState)
    known = [dict(state._shared_state) for state in states]
    is_theirs = dist.is_initialized()
    number = str(next(_numbers))
    failed: BaseException | None = None
    all_fail = False
    made: list[Any] = []
    try:
        accelerator = Accelerator(
            mixed_precision=mixed_precision,
            # Without it, processes without a GPU would not know each other.
            cpu=cpu,
            # A batch is shared out, so that its size means the same on any number of
            # machines, and so does the result.
            dataloader_config=DataLoaderConfiguration(split_batches=True),
            kwargs_handlers=[
                InitProcessGroupKwargs(init_method=f"{SCHEME}://{number}")
            ],
        )
        made.append(accelerator)
        if batch_size % accelerator.num_processes:
            all_fail = True
            raise ValueError(
                f"batch_size={batch_size} cannot be shared evenly by "
                f"{accelerator.num_processes} processes; make it a multiple of that"
            )
        yield accelerator
    except BaseException as error:
        failed = error
        raise
    finally:
        place = _places.pop(number, None)
        try:
            if not is_theirs and dist.is_initialized():
                _part(place, None if all_fail else failed)
        finally:
            for accelerator in made:
                accelerator.free_memory()
            for state, before in zip(states, known, strict=True):
                state._shared_state.clear()
                state._shared_state.update(before)
            if failed is not None:
                _forget(failed)
            # Threads end with the last reference to the group, and some are in cycles.
            gc.collect()


def _part(place: Store | None, failed: BaseException | None) -> None:
    """End the group of this process in agreement with the others."""
    rank, size = dist.get_rank(), dist.get_world_size()
    # What cannot be agreed on, since others are gone, is no reason to stay.
    with suppress(RuntimeError):
        if place is not None:
            why = "" if failed is None else f"{type(failed).__name__}: {failed}"
            place.set(f"left/{rank}", why)
            others = [f"left/{other}" for other in range(size) if other != rank]
            if failed is not None:
                _name_the_first(place, others, failed)
            # Nobody closes a connection that another still uses.
            place.wait(others, PARTING if failed is None else GRACE)
    if failed is not None:
        # Those who wait for this process get an error now.
        world: Any = dist.group.WORLD
        with suppress(RuntimeError):
            world.abort()
        del world
    dist.destroy_process_group()


def _name_the_first(place: Store, others: list[str], failed: BaseException) -> None:
    """Add to an error what other processes failed of before."""
    for other in others:
        why = place.get(other).decode() if place.check([other]) else ""
        if why:
            failed.add_note(f"process {other.removeprefix('left/')} had failed: {why}")


def _forget(error: BaseException) -> None:
    """Let go of what the calls that failed held, the group and networks among it."""
    todo: list[BaseException | None] = [error]
    seen: set[int] = set()
    while todo:
        one = todo.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            traceback.clear_frames(one.__traceback__)
            todo += [one.__cause__, one.__context__]


def _meet(url: str, **kwargs: Any) -> Iterator[tuple[Store, int, int]]:
    """Let processes meet as those of torchrun do, at a place for each group.

    What the processes of an earlier group told each other would mislead them.
    """
    name, _, query = url.removeprefix(f"{SCHEME}://").partition("?")
    address = os.environ.get("MASTER_ADDR"), os.environ.get("MASTER_PORT")
    store, rank, size = _meeting_point(os.getpid(), address, query, **kwargs)
    place = PrefixStore(f"{SCHEME}/{name}", store)
    _places[name] = place
    yield place, rank, size


@cache
def _meeting_point(
    _process: int, _address: tuple[str | None, ...], query: str, **kwargs: Any
) -> tuple[Store, int, int]:
    """Return where all groups of this process meet.

    It stays open. In processes that were started by hand the first one holds it: were
    it closed and opened again, another might come to the old one in between.
    """
    store, rank, size = next(rendezvous(f"env://?{query}", **kwargs))
    return store, rank, size


register_rendezvous_handler(SCHEME, _meet)  # type: ignore[no-untyped-call]
# It has a thread, too, in the process that holds it.
atexit.register(_meeting_point.cache_clear)
