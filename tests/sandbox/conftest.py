"""Shared by the sandbox's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sandbox import Sandbox
from tests.sandbox.canaries import Canaries


@pytest.fixture(scope="package")
def box() -> Iterator[Sandbox]:
    """One sandbox with default limits, for policies that behave."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture(scope="package")
def canaries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Canaries]:
    """What attacks must not touch."""
    directory = tmp_path_factory.mktemp("canaries")
    for parent in directory.parents[:3]:
        parent.chmod(0o755)
    found = Canaries(directory)
    yield found
    found.close()
