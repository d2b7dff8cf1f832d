"""Settings of all tests: the examples of property tests are the same in every run, unless new ones are wanted."""

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
# the key that signs runs is this session's own: nothing is written to the home of who runs the tests
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="promptpo-state-")
atexit.register(shutil.rmtree, os.environ["XDG_STATE_HOME"], ignore_errors=True)
# the tests start hundreds of interpreters, each of which would compile the project anew
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# several processes of tests fill the cores; threads that wait for each other by spinning take them from one another
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as workers have it
# what a power cut would lose no test can tell, so none waits for the disk: each event of each run would, and a
# busy disk takes its time; the processes that tests start keep their own
pytest.MonkeyPatch().setattr(os, "fsync", lambda _: None)

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


def pytest_xdist_auto_num_workers() -> int:
    """Three processes for two cores: tests wait for other processes, for deadlines and for the disk."""
    return max(2, 3 * len(os.sched_getaffinity(0)) // 2)


def pytest_configure(config: pytest.Config) -> None:
    """Several processes share the default tests by files, so that what a file's tests share is made once.

    A file's slow tests may take minutes: who has none left takes some of another's.
    """
    gc.disable()  # until all tests are collected: each of thousands stays, and so do the libraries
    if getattr(config.option, "dist", None) == "load":
        config.option.dist = "loadfile" if config.option.markexpr == "not slow" else "worksteal"
        config.option.loadscopereorder = False  # by number of tests, which puts the few long ones last


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs that are killed take minutes each: they go first, so that nobody is left alone with them at the end."""
    items.sort(key=lambda item: "test_kills" not in item.nodeid)


def pytest_collection_finish() -> None:
    """Garbage is collected again, and none of what was imported is looked at for it."""
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
    """What learns is one file to the processes: importing torch takes one of them seconds."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

    class ByFile(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return "learning" if nodeid.startswith(LEARNING) else super()._split_scope(nodeid)

    return ByFile(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown() -> None:
    """Standard output that a test's command kept for one document is given back, before capturing ends."""
    if "promptpo.cli.document" in sys.modules:
        sys.modules["promptpo.cli.document"].release()


@pytest.fixture(scope="session", autouse=True)
def warm_workers() -> Iterator[None]:
    """Runs on Gymnasium's own small environments are given workers, and the specs, that earlier ones have left; sandboxes are copies."""
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
