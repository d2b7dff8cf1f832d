"""Workers in these tests start as for users, except in tests marked as `copied`."""

import pytest

from tests.promptpo.warm import SPAWNED


@pytest.fixture(autouse=True)
def spawn_workers(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not fork workers from a process that has done all imports."""
    if "copied" not in request.fixturenames:
        monkeypatch.setattr("multiprocessing.get_context", SPAWNED)


@pytest.fixture
def copied() -> None:
    """Fork workers after all, for a test that is not about how they start."""
