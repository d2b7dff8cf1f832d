"""The workers of these tests are started as a user's are."""

import pytest

from tests.promptpo.warm import SPAWNED


@pytest.fixture(autouse=True)
def spawned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not copied from a process that has all the imports."""
    monkeypatch.setattr("multiprocessing.get_context", SPAWNED)
