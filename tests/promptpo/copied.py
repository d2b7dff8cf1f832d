"""Imported last by the server that workers and commands are forked from, so that common setup is done once; sandboxes of forks are forks too."""

import contextlib
import gc
import io
import os
import tempfile
from pathlib import Path

from promptpo import cma_es
from promptpo.cli.app import run
from promptpo.envs.task import Task
from promptpo.output.report.page import write_report
from promptpo.spec.describe import describe
from promptpo_sandbox import process
from promptpo_sandbox.reader import reader
from tests.promptpo import nursery

RECORDED = Path(__file__).parent / "core" / "recorded" / "model"


def warm_up() -> None:
    """Read a run, render its report, build the commands and describe the most common environment."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        write_report(RECORDED, out=Path(folder) / "page.html", episode=False)
        assert run(["show", str(RECORDED)]) == 0
    describe(Task("CartPole-v1"), reveal="source")
    reader.close()
    cma_es._cma()


process._start_interpreter = nursery.start_copy
setattr(os, "fsync", lambda _: None)  # noqa: B010 - tests need no durable files
warm_up()
gc.collect()
gc.freeze()
