"""Fixtures shared by the tests of specs."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

DESCRIBE = importlib.import_module("promptpo.spec.describe")


@pytest.fixture(scope="module")
def looked_at_once() -> Iterator[None]:
    """What an environment showed is told again where it is described again: looking is most of a description's time."""
    seen: dict[int, Any] = {}
    kept, looks = [], DESCRIBE.observe  # an environment that is kept has an id of its own

    def observe(env: Any, name: str, *, most_steps: int | None = None) -> Any:
        assert most_steps is None
        if id(env) not in seen:
            kept.append(env)
            seen[id(env)] = looks(env, name)
        return seen[id(env)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DESCRIBE, "observe", observe)
        yield


@pytest.fixture(scope="module")
def looked_at_briefly() -> Iterator[None]:
    """Episodes take few steps, where a test is not about how long they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("promptpo.spec.observe.MAX_FULL_STEPS", 100)
        patch.setattr("promptpo.spec.observe.STEPS_PER_EPISODE", 20)
        yield


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A folder that packages are imported from."""
    sys.path.insert(0, str(tmp_path))
    yield tmp_path
    sys.path.remove(str(tmp_path))
