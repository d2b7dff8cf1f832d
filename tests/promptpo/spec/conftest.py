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
def cached_observation() -> Iterator[None]:
    """Observe each environment once per module, because observing dominates the time of `describe`."""
    seen: dict[int, Any] = {}
    kept, real_observe = [], DESCRIBE.observe  # keeping environments alive keeps their ids unique

    def observe(env: Any, name: str, *, most_steps: int | None = None) -> Any:
        assert most_steps is None
        if id(env) not in seen:
            kept.append(env)
            seen[id(env)] = real_observe(env, name)
        return seen[id(env)]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DESCRIBE, "observe", observe)
        yield


@pytest.fixture(scope="module")
def short_observation() -> Iterator[None]:
    """Observe few steps, for tests that do not depend on episode length."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("promptpo.spec.observe.MAX_FULL_STEPS", 100)
        patch.setattr("promptpo.spec.observe.STEPS_PER_EPISODE", 20)
        yield


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A temporary folder on `sys.path`."""
    sys.path.insert(0, str(tmp_path))
    yield tmp_path
    sys.path.remove(str(tmp_path))
