"""Results of a network trained from a run's best program, as part of the run's own result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.files import file_name, read_json
from promptpo.output.exporting import BEST
from promptpo.output.report.result import REFINED, RESULT, write_result

if TYPE_CHECKING:
    from promptpo.output.run_result import RunResult


def folder_of(run: RunResult) -> Path:
    """Return the directory of the network trained from a run's best candidate; each candidate has its own."""
    return run.directory / f"{REFINED}-{file_name(run.candidate)}"


def add_refined(run: RunResult) -> dict[str, Any]:
    """Add the results of refining to the run's ``result.json`` and return its content.

    Steps cover both: ``total`` is the run's searched steps plus those of training and its validation.
    """
    folder = folder_of(run)
    refined = read_json(folder / RESULT)
    steps = refined["steps"]
    content = dict(run.data) | {
        REFINED: {
            "candidate": run.candidate,
            "policy": str(folder.relative_to(run.directory) / BEST),
            "algorithm": refined["algorithm"],
            "better": refined["residual"]["kept"],
            "alone": refined["residual"]["alone"],
            "steps": {**steps, "total": steps["program"] + steps["total"] - steps.get("test", 0)},
            "program": refined["program"]["validation"],
            "validation": {key: refined["validation"][key] for key in ("outcome", "mean_return")},
            "test": refined["test"],
        }
    }
    return write_result(run.directory, content)
