"""Settings of all tests; property tests use the same examples in every run unless new ones are requested."""

import atexit
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("steady", max_examples=40, derandomize=True, deadline=None)
settings.register_profile("explore", max_examples=2000, deadline=None)
# runs are signed with a key of this session, so that nothing is written to the developer's home
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="promptpo-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
# the tests start hundreds of interpreters, each of which would compile the project again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# several test processes fill the cores, and spinning threads would take them from each other
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in workers
# no test can observe what a power cut would lose, so none waits for the disk, which every event of every run
# would; processes started by tests still do
pytest.MonkeyPatch().setattr(os, "fsync", lambda _: None)

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


def pytest_xdist_auto_num_workers() -> int:
    """Use three processes for two cores, since tests wait for other processes, deadlines and the disk."""
    return max(2, 3 * len(os.sched_getaffinity(0)) // 2)


def pytest_configure(config: pytest.Config) -> None:
    """Distribute default tests by file, so that module fixtures are made once, and slow tests individually."""
    gc.disable()  # during collection, which creates thousands of lasting objects
    if getattr(config.option, "dist", None) == "load":
        config.option.dist = "loadfile" if config.option.markexpr == "not slow" else "worksteal"
        config.option.loadscopereorder = False  # sorting by number of tests would put the few long ones last


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests with killed runs first: they take minutes each, and should not run alone at the end."""
    items.sort(key=lambda item: "test_kills" not in item.nodeid)


def pytest_collection_finish() -> None:
    """Resume garbage collection, without scanning the objects of imports and collection."""
    gc.freeze()
    gc.enable()


LEARNING = (
    *(
        "tests/baselines/llm_policy/",
        "tests/baselines/refine/",
        "tests/baselines/test_",
        "tests/benchmarks/test_frozen",
    ),
    *(f"tests/promptpo/output/test_{name}.py" for name in ("every_space", "policy", "tracking")),
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Schedule all tests that use torch as one file, since importing it takes each process seconds."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

    class ByFile(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return "learning" if nodeid.startswith(LEARNING) else super()._split_scope(nodeid)

    return ByFile(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """Release standard output that a command reserved for JSON, before capturing ends."""
    if "promptpo.cli.document" in sys.modules:
        sys.modules["promptpo.cli.document"].release()


@pytest.fixture(scope="session", autouse=True)
def warm_workers() -> Iterator[None]:
    """Reuse workers and specs for Gymnasium's small environments, and fork sandboxes."""
    from tests.promptpo.nursery import Nursery, start_copy
    from tests.promptpo.warm import Shelf, forked, one_core

    shelf, nursery = Shelf(), Nursery()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("promptpo.session.session.make_executor", shelf.make_executor)
        patch.setattr("promptpo.output.evaluating.LocalExecutor", shelf.local)
        patch.setattr("promptpo.spec.describe.describe", shelf.describe)
        patch.setattr("promptpo.rollouts.local.usable_cores", one_core)
        patch.setattr("multiprocessing.get_context", forked)
        patch.setattr("promptpo_sandbox.process._start_interpreter", start_copy)
        yield
    shelf.clear()
    nursery.close()
