"""The workers of these tests are started as a user's are, but for those marked as copies."""

import pytest

from tests.promptpo.warm import SPAWNED


@pytest.fixture(autouse=True)
def spawned(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not copied from a process that has all the imports."""
    if "copied" not in request.fixturenames:
        monkeypatch.setattr("multiprocessing.get_context", SPAWNED)


@pytest.fixture
def copied() -> None:
    """Workers are copied after all: a test of what they do, not of how they start."""
