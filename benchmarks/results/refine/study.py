"""Programs with a network on top against the same trainer from scratch, at equal numbers of steps.

`python benchmarks/results/refine/study.py --programs FOLDER --seeds 3 --budgets 50000,131072,300000,1000000` refines
FOLDER/ENV_ID (a run, or an exported file FOLDER/ENV_ID.py) for every environment and trains CrossQ (or another)
from scratch, and prints one line for each environment and budget; with `--alone`, networks that act alone after episodes
of the program are trained too. All steps of the run that wrote the program
count on its side: of a budget, the network gets what is left; where nothing is left, the program stands alone.

Every run is extended from budget to budget and can be interrupted: what is complete is not run again. Rows are
in OUT/rows.jsonl, one for each run and budget.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promptpo_benchmarks.measuring.tables import aligned
from promptpo_benchmarks.measuring.telling import told
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.run.records import mean_interval

if TYPE_CHECKING:
    from promptpo_baselines.settings import TrainingSettings

COMMAND = "python benchmarks/results/refine/study.py"
ENVS = "HalfCheetah-v5,Walker2d-v5,Hopper-v5,Ant-v5,BipedalWalker-v3"
BUDGETS = "50000,131072,300000,1000000"
HEADER = (
    "environment",
    "steps",
    "trainer",
    "of them the program's",
    "program",
    "refined [95 %]",
    "alone [95 %]",
    "scratch [95 %]",
)
KINDS = ("refined", "alone", "scratch")
ROWS = "rows.jsonl"


def measured(options: argparse.Namespace, known: Container[Any]) -> Iterator[dict[str, Any]]:
    """Train every cell that is not known yet; one row for each run and budget.

    Args:
        options: Of the command.
        known: Cells as `_key` names them.
    """
    for env_id in options.envs.split(","):
        program = program_in(options.programs, env_id)
        for seed, budget in itertools.product(range(options.seeds), budgets_of(options.budgets)):
            head = {"env_id": env_id, "algorithm": options.algorithm, "budget": budget, "seed": seed}
            for kind in ("refined", "alone") if options.alone else ("refined",):
                if _key({**head, "kind": kind}) not in known:
                    yield {**head, "kind": kind, **_refined(options, program, head, alone=kind == "alone")}
            if _key({**head, "kind": "scratch"}) not in known:
                yield {**head, "kind": "scratch", **_scratch(options, head)}


def budgets_of(text: str) -> list[int]:
    """Numbers of steps, ascending, since runs are extended from one to the next.

    Raises:
        UsageError: They are no numbers.
    """
    try:
        return sorted({int(part) for part in text.split(",")})
    except ValueError as error:
        raise UsageError(f"--budgets must be whole numbers separated by commas, not {text!r}.") from error


def program_in(folder: Path, env_id: str) -> Path:
    """The run or file of an environment's program.

    Raises:
        UsageError: There is none.
    """
    for path in (folder / env_id, folder / f"{env_id}.py"):
        if path.exists():
            return path
    raise UsageError(f"there is no program for {env_id}: neither {folder / env_id} nor {folder / env_id}.py.")


def _refined(
    options: argparse.Namespace, program: Path, head: Mapping[str, Any], *, alone: bool
) -> dict[str, Any]:
    from contextlib import closing

    from promptpo_baselines.progress import Display
    from promptpo_baselines.refine.checking import check_alone
    from promptpo_baselines.refine.cli import SCALE
    from promptpo_baselines.refine.start import prior_of, refine

    source, task, given = prior_of(program, Task(head["env_id"]), scale=SCALE, allow_weaker=False)
    if alone:
        check_alone(options.algorithm, SCALE)
        given["alone"] = True
    own = head["budget"] - given["steps"]
    if own <= 0:
        return {"program_steps": given["steps"], "return": None, "program_alone": True}
    settings = replace(_settings(options, head, own), task=task, prior=given)
    folder = _folder(options, head, f"refine-{options.algorithm}{'-alone' * alone}", own)
    with closing(Display(quiet=options.quiet)) as display:
        result = refine(settings, source, folder, resume=True, display=display, command=COMMAND)
    return {
        "program_steps": given["steps"],
        "return": result["test"]["mean_return"],
        "program": result["program"]["validation"]["mean_return"],
        "share": result["residual"]["share"],
        "failures": result["program"]["failures"],
        "asking_share": result["program"]["asking_share"],
        "steps_per_second": result["steps_per_second"],
    }


def _scratch(options: argparse.Namespace, head: Mapping[str, Any]) -> dict[str, Any]:
    from contextlib import closing

    from promptpo_baselines.progress import Display
    from promptpo_baselines.training import train

    folder = _folder(options, head, options.algorithm, head["budget"])
    settings = _settings(options, head, head["budget"])
    with closing(Display(quiet=options.quiet)) as display:
        result = train(settings, folder, resume=True, display=display, command=COMMAND)
    return {"return": result["test"]["mean_return"], "steps_per_second": result["steps_per_second"]}


def _settings(options: argparse.Namespace, head: Mapping[str, Any], steps: int) -> TrainingSettings:
    from promptpo_baselines.settings import TrainingSettings

    return TrainingSettings(
        options.algorithm,
        Task(head["env_id"]),
        steps,
        head["seed"],
        hyperparameters=options.hyperparams,
        eval_every=options.eval_every,
        test_episodes=options.test_episodes,
    )


def _folder(options: argparse.Namespace, head: Mapping[str, Any], name: str, steps: int) -> Path:
    """Where a run is kept.

    Raises:
        UsageError: It has gone beyond these steps, and its best may be of later ones.
    """
    from promptpo_baselines.settings import CONFIG, load_settings

    folder: Path = options.out / head["env_id"] / name / f"seed-{head['seed']}"
    if (folder / CONFIG).exists() and load_settings(folder).steps > steps:
        raise UsageError(
            f"{folder} has been trained for more than {steps} steps already; name another --out for this budget."
        )
    return folder


def read(path: Path) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows of earlier calls, by cell."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return {_key(row): row for row in map(json.loads, lines)}


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("env_id", "algorithm", "kind", "budget", "seed"))


def table(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """One line for each environment, trainer and budget."""
    cells = sorted({(row["env_id"], row["algorithm"], row["budget"]) for row in rows})
    lines: list[tuple[str, ...]] = []
    for env_id, algorithm, budget in cells:
        mine = [r for r in rows if (r["env_id"], r["algorithm"], r["budget"]) == (env_id, algorithm, budget)]
        begun = [row for row in mine if row["kind"] != "scratch"]
        programs = [row["program"] for row in begun if row.get("program") is not None]
        lines.append(
            (
                env_id,
                f"{budget:,}",
                algorithm,
                f"{max((row['program_steps'] for row in begun), default=0):,}",
                f"{statistics.fmean(programs):.0f}" if programs else "",
                *(_summary([row for row in mine if row["kind"] == kind]) for kind in KINDS),
            )
        )
    return lines


def _summary(rows: Sequence[Mapping[str, Any]]) -> str:
    if any(row.get("program_alone") for row in rows):
        return "no step left for a network"
    values = [row["return"] for row in rows if row["return"] is not None]
    if not values:
        return ""
    low, high = mean_interval(values)
    span = f" [{low:.0f}, {high:.0f}]" if len(values) > 1 else " (1 seed)"
    return f"{statistics.fmean(values):.0f}{span}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Refined programs against the same trainer from scratch.")
    parser.add_argument("--programs", type=Path, required=True, help="folder with ENV_ID/ or ENV_ID.py")
    parser.add_argument("--envs", default=ENVS, help="separated by commas")
    parser.add_argument("--budgets", default=BUDGETS, help="environment steps in all, separated by commas")
    parser.add_argument(
        "--algorithm", default="crossq", help="ppo, trpo, sac, tqc or crossq (default: crossq)"
    )
    parser.add_argument(
        "--alone", action="store_true", help="also networks that act alone (sac, tqc, crossq)"
    )
    parser.add_argument("--hyperparams", default="ours", help="zoo, ours, default or a file (default: ours)")
    parser.add_argument("--seeds", type=int, default=3, help="from 0 on (default: 3)")
    parser.add_argument("--eval-every", type=int, default=25_000, help="steps between looks (default: 25000)")
    parser.add_argument("--test-episodes", type=int, default=100, help="held-out episodes (default: 100)")
    parser.add_argument("--out", type=Path, default=Path("runs/refine"), help="where runs are kept")
    parser.add_argument("--quiet", action="store_true", help="print the table only")
    options = parser.parse_args(arguments)
    path = options.out / ROWS
    rows = read(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    for row in measured(options, rows):
        rows[_key(row)] = row
        with path.open("a", encoding="utf-8") as file:  # on disk before the next is measured
            file.write(json.dumps(row) + "\n")
    print(aligned(HEADER, table(list(rows.values()))))


if __name__ == "__main__":
    sys.exit(told(main))
