"""The contents that a spec needs: four forms of it on ten environments that stand in no training data (`inventions`).

`python benchmarks/results/specs/study render DIR` writes the first prompt of each environment in each form, as often as
`--answers` says, as DIR/q/NNNN.prompt in shuffled order; DIR/prompts.jsonl.xz knows which is whose and is not for whoever
answers. Each is answered by itself, as DIR/q/NNNN.answer. `python benchmarks/results/specs/study score DIR` plays the answers
on the same starts, their numbers as they are written, writes DIR/rows.jsonl, and prints the mean return by environment and
form, the rank of the forms and how often each beats the checked code, with intervals over environments.

`render --twelve` takes `TWELVE` instead, first with the spec that the recorded formaliser wrote ("named"), then with the source: two
readers answer each twice, all prompts of "named" before any of "source".
"""

from __future__ import annotations

import statistics
import sys
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from formalising import ALL, FOREIGN
from inventions import INVENTIONS
from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.core.config import Config
from promptpo.program import answers
from promptpo.spec.describe import describe_env
from promptpo.spec.formalised import formalise
from promptpo.spec.render import render as spec_text
from promptpo.prompts.prompting import render as template
from promptpo.prompts.prompting import system_prompt
from promptpo.spec import TaskSpec
from promptpo_benchmarks.measuring.answering import (
    Row,
    check_new,
    command,
    read_answers,
    report_rows,
    write_prompts,
)
from promptpo_benchmarks.measuring.commands import run_command
from promptpo_benchmarks.paired_prompts import STARTS, beats, mean_return, share
from promptpo_sandbox import Sandbox

FORMS: Mapping[str, Mapping[str, Any]] = {
    "source": {"reveal": "source"},
    "words": {},
    "shapes": {"reveal": "bare"},
    "named": {"reveal": "named"},
}
"""Form to how the spec is made: the whole source, words alone, shapes alone; recorded rows have a fourth form, lines of
rewards that were cut out of the source ("checked")."""

TWELVE = [*FOREIGN, "Kiln", "Relay"]
"""Environments in other people's style, and two inventions."""

RECORDED = Path(__file__).parents[1] / "formaliser.tar.xz"
"""Answers of a formaliser, by environment."""


def written_by_a_model(name: str, spec: TaskSpec) -> TaskSpec:
    """The spec as the recorded formaliser completes it."""
    with tarfile.open(RECORDED) as archive:
        file = archive.extractfile(f"{name}.answer")
        answer = answers.extract_program(file.read().decode() if file else "", class_name="State").source or ""
    assert spec.evidence is not None
    told = formalise(spec.evidence.parts, answer, [], spec.firsts[0], spec.action_space)
    return replace(spec, text=spec_text(told))


def first_prompt(name: str, form: str) -> str:
    """System prompt and request of a run that knows nothing yet."""
    task = Task(ALL[name])
    env = make_env(task)
    try:
        spec, _ = describe_env(env, task, **FORMS[form])
    finally:
        env.close()
    spec = written_by_a_model(name, spec) if form == "named" else spec
    request = template("first", lasting="", variant=1, where="", start="")
    config = Config(task=task, model="inbox:", reveal=FORMS[form].get("reveal", "named"))
    return f"{system_prompt(spec, config)}\n\n{request}"


def render(folder: Path, repeats: int, names: Sequence[str], forms: Sequence[str]) -> None:
    """Write the prompts, and whose they are."""
    check_new(folder)
    rows = [
        {"env": name, "form": form, "text": first_prompt(name, form)} for name in names for form in forms
    ]
    write_prompts(folder, rows * repeats)
    print(f"{len(rows) * repeats} prompts in {folder / 'q'}: {len(names)} environments, {len(forms)} forms")


def score(folder: Path) -> None:
    """Play what has been answered, and print the table."""
    with Sandbox() as box:
        rows = [
            {**row, "earned": source and mean_return({"env": ALL[row["env"]]}, source, box, STARTS)}
            for row, source in read_answers(folder)
        ]
    report_rows(folder, rows, table)


def table(rows: Sequence[Row]) -> list[str]:
    """Mean returns by environment and form, then each form beside the checked code, with intervals over environments."""
    lines = [f"{'environment':14}" + "".join(f"{form:>24}" for form in FORMS)]
    for name in dict.fromkeys(row["env"] for row in rows):
        cells = [" ".join(_earned(rows, name, form)) or "-" for form in FORMS]
        lines.append(f"{name:14}" + "".join(f"{cell:>24}" for cell in cells))
    for form in FORMS:
        mine = [row for row in rows if row["form"] == form]
        pairs = [
            (row["env"], beats(row["earned"], other["earned"]))
            for row in mine
            for other in rows
            if (other["env"], other["form"]) == (row["env"], "checked") and other is not row
        ]
        failed = sum(row["earned"] is None for row in mine)
        length = statistics.fmean(row["characters"] for row in mine) if mine else 0
        against = f"; beats checked code in {share(pairs)}" if form != "checked" else ""
        lines.append(
            f"{form}: {len(mine)} answers, {failed} fail, {length:,.0f} characters a prompt{against}"
        )
    return lines


def _earned(rows: Sequence[Row], name: str, form: str) -> list[str]:
    found = [row["earned"] for row in rows if (row["env"], row["form"]) == (name, form)]
    return ["fails" if value is None else f"{value:.4g}" for value in found]


def main() -> None:
    """Read the command line."""
    parser = command("python benchmarks/results/specs/study", __doc__.splitlines()[0])
    parser.add_argument("--answers", type=int, default=2, metavar="N", help="to each prompt")
    parser.add_argument("--twelve", choices=["named", "source"], help="of the twelve environments, in this form")
    asked = parser.parse_args()
    if asked.what == "render" and asked.twelve:
        render(asked.folder, asked.answers, TWELVE, [asked.twelve])
    elif asked.what == "render":
        render(asked.folder, asked.answers, [*INVENTIONS], ["source", "words", "shapes"])
    else:
        score(asked.folder)


if __name__ == "__main__":
    sys.exit(run_command(main))
