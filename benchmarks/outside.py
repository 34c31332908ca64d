"""Run a rival in its own environment."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[1]
ADAPTERS = ROOT / "benchmarks" / "rivals"


class RivalError(RuntimeError):
    """A rival has no environment, failed or took too long."""


def run_rival(
    adapter: str,
    environment: str,
    limit: float,
    variables: Mapping[str, str] | None = None,
    **task: Any,
) -> dict[str, Any]:
    """Fit a rival on a task in a process of its own; return what its adapter writes.

    Parameters
    ----------
    adapter, environment : str
        benchmarks/rivals/ADAPTER.py, and .venv-rivals-ENVIRONMENT.
    limit : float
        Seconds by the clock that it may take.
    variables : mapping, optional
        Environment variables; None: those of this process.
    **task
        X_train, index, t, X_test and seed.
    """
    # Not resolved: python finds its environment by where the link lies.
    python = ROOT / f".venv-rivals-{environment}/bin/python"
    if not python.exists():
        raise RivalError("failed: no environment; make bench builds it")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "task.npz"), Path(folder, "out.json")
        np.savez(source, **task)
        # -E: a PYTHONPATH that is meant for us must not reach the rival.
        command = [python, "-E", ADAPTERS / f"{adapter}.py", source, target]
        try:
            done = subprocess.run(  # noqa: S603 - our own script
                command,
                capture_output=True,
                text=True,
                timeout=limit,
                env=dict(os.environ if variables is None else variables),
            )
        except subprocess.TimeoutExpired:
            raise RivalError(f"timed out after {limit:g} s") from None
        if done.returncode:
            reason = (done.stderr.strip() or "no message").splitlines()[-1]
            raise RivalError(f"failed: {reason}")
        found: dict[str, Any] = json.loads(target.read_text())
        return found | {"remark": done.stdout.strip()}
