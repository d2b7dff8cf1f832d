"""Fixtures of the sandbox's tests."""

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
    """One sandbox with default limits, for well-behaved policies."""
    with Sandbox() as sandbox:
        start_with_own_interpreter(sandbox)
        yield sandbox


@pytest.fixture(scope="package")
def open_directory() -> Iterator[Path]:
    """A directory that every user can enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        path.chmod(0o755)
        yield path


@pytest.fixture(scope="package")
def canaries(open_directory: Path) -> Iterator[Canaries]:
    """Files and values that attacks must not touch."""
    directory = open_directory / "canaries"
    directory.mkdir()
    canaries = Canaries(directory)
    yield canaries
    canaries.close()
