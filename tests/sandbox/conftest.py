"""Shared by the sandbox's tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from promptpo_sandbox import Sandbox
from tests.promptpo.nursery import start_with_own_interpreter
from tests.sandbox.canaries import Canaries


@pytest.fixture(scope="package")
def box() -> Iterator[Sandbox]:
    """One sandbox with default limits, for policies that behave."""
    with Sandbox() as sandbox:
        start_with_own_interpreter(sandbox)
        yield sandbox


@pytest.fixture(scope="package")
def open_directory() -> Iterator[Path]:
    """A directory that every user can enter; pytest's own lie under one that only its user can."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


@pytest.fixture(scope="package")
def canaries(open_directory: Path) -> Iterator[Canaries]:
    """What attacks must not touch."""
    directory = open_directory / "canaries"
    directory.mkdir()
    found = Canaries(directory)
    yield found
    found.close()
