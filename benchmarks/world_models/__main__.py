"""`python -m benchmarks.world_models steps|cwmb|cost`; each says with --help what it measures."""

from __future__ import annotations

import argparse
import asyncio
import resource
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring.tables import markdown
from benchmarks.world_models import cost, cwmb, steps
from benchmarks.world_models.rows import read_rows, write_rows

HEADER = (
    "environment", "planner", "steps known", "accuracy", "random", "in the model", "in the true environment",
    "planning score", "seconds an action",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.world_models", description=__doc__)
    kinds = parser.add_subparsers(dest="what", required=True)
    first = kinds.add_parser("steps", description=steps.__doc__, formatter_class=plain)
    steps.add_arguments(first)
    second = kinds.add_parser("cwmb", description=cwmb.__doc__, formatter_class=plain)
    second.add_argument("envs", nargs="*", metavar="ENV", help=f"default: {' '.join(cwmb.ENVIRONMENTS)}")
    second.add_argument("--episodes", type=int, default=2, help="for each return, at least")
    second.add_argument("--model", default="", help="a language model that writes the world models")
    second.add_argument(
        "--out", type=Path, help="a CSV file for the rows, where it goes on; a table goes beside it"
    )
    kinds.add_parser("cost", description=cost.__doc__, formatter_class=plain)
    given = parser.parse_args(arguments)
    if given.what == "steps":
        steps.run(given)
    elif given.what == "cwmb":
        unknown = [env for env in given.envs if env not in cwmb.ENVIRONMENTS]
        if unknown:
            parser.error(f"{unknown[0]} is none of: {', '.join(cwmb.ENVIRONMENTS)}")
        command = shlex.join(["python", "-m", "benchmarks.world_models", *(arguments or sys.argv[1:])])
        _cwmb(given, command)
    else:
        print(cost.in_words(cost.measure_cost()))


def _cwmb(given: argparse.Namespace, command: str) -> None:
    rows = read_rows(given.out, cwmb.CwmbRow)
    before = _cpu()
    for env in given.envs or cwmb.ENVIRONMENTS:
        if any(row.env == env for row in rows):
            continue
        rows.append(asyncio.run(cwmb.measure(env, cwmb.ENVIRONMENTS[env], given.episodes, given.model)))
        print(rows[-1], file=sys.stderr, flush=True)
        if given.out is not None:
            write_rows(given.out, rows)
    text = markdown(HEADER, [_line(row) for row in rows])
    if given.out is not None:
        about = (
            f"`{command}`: {given.episodes} episodes at least for each return of a planner, {cwmb.HORIZON} steps at "
            f"most; {_cpu() - before:.0f} s of computing time beside the sandbox's.\n\n"
        )
        given.out.with_suffix(".md").write_text(about + text, encoding="utf-8")
    print(text)


def _cpu() -> float:
    """Seconds of computing time of this process and of its workers, without their sandboxes."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(use.ru_utime + use.ru_stime for use in map(resource.getrusage, kinds))


def _line(row: cwmb.CwmbRow) -> list[str]:
    def told(value: float, form: str = "") -> str:
        form = form or (".1f" if abs(value) >= 10 else ".2f")
        return "-" if value != value else format(value, form)  # noqa: PLR0124 - NaN

    return [
        row.env, row.planner, f"{row.steps:,}", told(row.accuracy, ".3f"), told(row.random),
        told(row.model), told(row.true), told(row.score, ".2f"), told(row.act, ".3f"),
    ]  # fmt: skip


if __name__ == "__main__":
    main()
