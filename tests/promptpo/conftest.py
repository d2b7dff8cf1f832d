"""What the tests of promptpo share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.promptpo.warm import Shelf


@pytest.fixture(scope="session", autouse=True)
def warm_workers() -> Iterator[None]:
    """Runs on Gymnasium's own small environments are given workers, and the specs, that earlier ones have left."""
    shelf = Shelf()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("promptpo.session.session.make_executor", shelf.make_executor)
        patch.setattr("promptpo.output.evaluating.LocalExecutor", shelf.local)
        patch.setattr("promptpo.spec.describe.describe", shelf.describe)
        yield
    shelf.clear()
