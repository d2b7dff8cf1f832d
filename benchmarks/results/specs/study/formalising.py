"""A model's own words and functions for rewards and terminations where the source is withheld.

`python benchmarks/results/specs/study/formalising.py render DIR` writes DIR/NAME.prompt for each environment. `... score DIR` holds
each DIR/NAME.answer against recorded steps in the sandbox, writes DIR/NAME.again where it disagrees, and prints a row for each
environment. Rows, with those of lines that were cut out of the source by a program: ../formaliser.jsonl.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from inventions import INVENTIONS
from promptpo.envs.task import Task
from promptpo.program import answers
from promptpo.spec.describe import describe
from promptpo.spec.formalised import TARGET, check_module, check_against_steps, functions_in, check_inputs, formalise, values_in
from promptpo.spec.reading import read
from promptpo.prompts.prompting import render as template
from promptpo.spec.render import render as spec_text
from promptpo_sandbox import Sandbox

FOREIGN = {
    "Junction": "foreign.junction.env:JunctionEnv",
    "Fermenter": "foreign.vat:Fermenter",
    "Peddler": "foreign.peddler:make()",
    "Worm": "foreign.worm:Worm",
    "Lift": "foreign.elevator:Lift",
    "Dron": "foreign.dron:Dron",
    "Clinic": "foreign.clinic:Clinic",
    "Lathe": "foreign.lathe:LatheEnv",
    "Auction": "foreign.auction:Auction",
    "Thermostat": "foreign.thermostat:make_room()",
}
"""Environments in other people's style: several files, wrappers, builders, old Gym, no documentation."""

REGISTERED = {name.split("-")[0]: name for name in ("Pendulum-v1", "MountainCarContinuous-v0", "Taxi-v4", "Acrobot-v1")}

ALL = {**INVENTIONS, **FOREIGN, **REGISTERED}


def render(folder: Path) -> None:
    """Write the prompts."""
    for name, env_id in ALL.items():
        spec = describe(Task(env_id), reveal="named")
        source = spec.evidence.source if spec.evidence else ""
        (folder / f"{name}.prompt").write_text(template("formaliser", spec=spec.text, source=f"```python\n{source}\n```"))


def scored(folder: Path, box: Sandbox) -> Iterator[dict[str, Any]]:
    """A row for each answer."""
    for name, env_id in ALL.items():
        files = [folder / f"{name}.{kind}" for kind in ("answer2", "answer")]
        file = next((one for one in files if one.exists()), None)
        if file is None:
            continue
        task = Task(env_id)
        spec = describe(task, reveal="named")
        source = answers.extract_program(file.read_text(), class_name="State").source or ""
        reading = read(source)
        result = box.call(check_module(reading), TARGET, check_inputs(spec.evidence))
        wrong = check_against_steps(result.value, spec.evidence) if result.value else {"reward": str(result.failure)}
        if wrong and file.suffix == ".answer":
            (folder / f"{name}.again").write_text("\n".join(wrong.values()))
        told = values_in(result.value) if result.value else {}
        share = {part: sum(v is not None for v in values) / len(values) for part, values in told.items()}
        text = spec_text(formalise(spec.evidence.parts, source, list(wrong), spec.firsts[0], spec.action_space))
        yield {
            "env": name,
            "answers": 2 if file.suffix == ".answer2" else 1,
            "characters": len(text),
            "unnamed": text.count("self.x_"),
            "wrong": sorted(wrong),
            **{part: part in functions_in(reading) and part not in wrong for part in ("reward", "terminated")},
            "share_of_steps": {part: round(value, 3) for part, value in share.items()},
        }


def main() -> None:
    """Read the command line."""
    what, folder = sys.argv[1], Path(sys.argv[2])
    if what == "render":
        render(folder)
        return
    with Sandbox() as box:
        for row in scored(folder, box):
            print(json.dumps(row))


if __name__ == "__main__":
    main()
