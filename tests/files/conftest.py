"""What several tests of files share."""

import pytest

from tests.support.limited import Limited


@pytest.fixture(scope="session")
def limited():
    """A process that loads model files within limits."""
    with Limited() as process:
        yield process
