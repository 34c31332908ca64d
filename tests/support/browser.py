"""The browser that tests drive: Debian's chromium, by playwright.

Where one of them is missing, tests are skipped with the reason; with
PAIRLEARN_NEED_BROWSER=1, as in CI, they fail.
"""

import os
import shutil
from contextlib import contextmanager

import pytest

NEEDED = os.environ.get("PAIRLEARN_NEED_BROWSER") == "1"
try:
    from axe_playwright_python.base import AXE_SCRIPT
    from playwright.sync_api import expect, sync_playwright
except ImportError:
    if NEEDED:
        raise
    pytest.skip(
        "playwright or axe-playwright-python is not installed", allow_module_level=True
    )

__all__ = ["AXE_SCRIPT", "PHONE", "expect", "launched"]

# As long as it takes on a machine that is busy.
expect.set_options(timeout=60_000)
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}


@contextmanager
def launched():
    """A browser without a window."""
    program = shutil.which("chromium")
    if program is None:
        missing = "there is no program `chromium` on the path"
        if NEEDED:
            pytest.fail(f"PAIRLEARN_NEED_BROWSER=1, but {missing}")
        pytest.skip(missing)
    with sync_playwright() as playwright:
        # In a container there is no sandbox; we open pages of our own only.
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"]
        )
        yield browser
        browser.close()
