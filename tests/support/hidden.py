"""A process in which some packages are not installed."""

import subprocess
import sys

# A package that no folder of the path has: find_spec says None, an import fails.
HIDE = """
import sys
hidden = sys.argv[1].split(",")

def wrap(finder):
    find = finder.find_spec
    finder.find_spec = lambda name, target=None: (
        None if name.partition(".")[0] in hidden else find(name, target)
    )
    return finder

hooks = list(sys.path_hooks)
sys.path_hooks[:] = [lambda path, hook=hook: wrap(hook(path)) for hook in hooks]
sys.path_importer_cache.clear()
"""


def without(package, code, timeout=600):
    """Run code in a process that has not these packages."""
    return subprocess.run(
        [sys.executable, "-c", HIDE + code, package],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
