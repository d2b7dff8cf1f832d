"""Results of a network that was trained from a run's best program, as the run's own result shows them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo.files import file_name, read_json
from promptpo.output.exporting import BEST
from promptpo.output.report.result import REFINED, RESULT, write_result

if TYPE_CHECKING:
    from promptpo.output.run_result import RunResult


def folder_of(run: RunResult) -> Path:
    """Directory of the network trained from a run's best candidate; another candidate has another directory."""
    return run.directory / f"{REFINED}-{file_name(run.candidate)}"


def add_refined(run: RunResult) -> dict[str, Any]:
    """Write what refining gave into the run's ``result.json``, and return all of it.

    Steps are those of both: ``total`` adds the run's searched steps and what training and its validation took.
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
