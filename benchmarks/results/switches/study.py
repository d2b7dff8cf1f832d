"""The worth of each switch of the default recipe, as far as that can be told without a strong model.

`python benchmarks/results/switches/study.py --recordings FOLDER [--seeds 3] [--csv FILE]` runs the loop against a local
HTTP server with the real openai client. The server plays a sloppy model: it answers with policies that a
large model once wrote (FOLDER/ENV/1.md, 2.md), their numbers disturbed by a factor of e^N(0, 0.7), and one
answer in five broken or said twice. Asked for a repair, it gives what it meant. Each row is the default
recipe with one switch changed, on the same answers.

The answers do not depend on the prompts. So the table shows what racing, duplicates, validation, tuning,
repair and the choice of the result contribute; of the switches that only change prompts it shows the price in
calls and tokens, and nothing about their use.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import random
import re
import statistics
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from answering import AnsweringServer
from promptpo.api import optimize
from promptpo.program import Program
from promptpo.program.answers import extract_program
from promptpo.core.journal import JOURNAL, read_events

SPREAD = 0.7
BROKEN, TWICE = 0.12, 0.08
FORBIDDEN = "import os\n"
CRASH = "        1 / 0\n"

FEEDBACK = """class Feedback:
    def summarize_trajectory(self, trajectory):
        rewards = trajectory["rewards"]
        return f"{len(rewards)} steps, rewards from {min(rewards):.3g} to {max(rewards):.3g}"
"""


@dataclass(frozen=True)
class Switched:
    """The default recipe with something changed."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] = field(default_factory=dict)


# Rows of switches that the loop no longer has are from version 0.1.
VARIANTS = (
    Switched("default"),
    Switched("no tuning", {"tune": False}),
    Switched("no repair", {}, {"repairs": 0}),
    Switched("no feedback class", {"feedback_class": False}),
    Switched("paper", {}, {"recipe": "paper"}),
    Switched("evolve", {}, {"recipe": "evolve"}),
)
ENVIRONMENTS = ("Acrobot-v1", "MountainCarContinuous-v0", "LunarLander-v3", "Hopper-v5", "HalfCheetah-v5")


class SloppyModel:
    """Answers as described above, the same ones for the same seed, whatever else is asked in between.

    Args:
        folder: Holds 1.md, 2.md, …: answers with a policy each.
        seed: Decides the numbers.
    """

    def __init__(self, folder: Path, seed: int) -> None:
        self._sources = [
            Program(extract_program(file.read_text(encoding="utf-8")).source).source
            for file in sorted(folder.glob("*.md"))
        ]
        self._seed = seed
        self._policies = itertools.count(1)

    def __call__(self, _: int, question: str) -> str:
        """The answer to a prompt."""
        if "summarize_trajectory" in question:
            return _fenced(FEEDBACK)
        if question.startswith("This policy "):
            return _fenced(extract_program(question).source.replace(FORBIDDEN, "").replace(CRASH, ""))
        return _fenced(self._policy(next(self._policies)))

    def _policy(self, n: int) -> str:
        dice = random.Random(f"{self._seed}/{n}")  # noqa: S311 - reproducible on purpose
        if dice.random() < TWICE and n > 1:
            return self._policy(n - 1)
        source = dice.choice(self._sources)
        numbers = {
            name: value * dice.lognormvariate(0.0, SPREAD)
            for name, (value, _, _) in Program.from_source(source).params.items()
        }
        source = Program.from_source(source).with_values(numbers).source
        if dice.random() < BROKEN:
            head = re.compile(r"(    def act\(.*\n)")
            source = dice.choice((FORBIDDEN + source, head.sub(r"\1" + CRASH, source, count=1)))
        return source


def _fenced(source: str) -> str:
    return f"```python\n{source.strip()}\n```"


@dataclass(frozen=True)
class SwitchRow:
    """One run."""

    env: str
    variant: str
    seed: int
    test_return: float
    steps: int
    calls: int
    input_tokens: int
    failed: int
    seconds: float


def measure(variant: Switched, env_id: str, recordings: Path, seed: int, steps: int) -> SwitchRow:
    """One run of one variant."""
    model = SloppyModel(recordings / env_id, seed)
    with tempfile.TemporaryDirectory() as folder, AnsweringServer(model) as server:
        run = optimize(
            env_id,
            model="openai:sloppy",
            base_url=server.url,
            out=Path(folder) / "run",
            rounds=4,
            candidates=4,
            seed=seed,
            max_steps=steps,
            stop_at=1e9,
            recipe_options=dict(variant.options),
            **variant.arguments,
        )
        attempts = [event for event in read_events(run.directory / JOURNAL) if event.kind == "attempt"]
    data = run.data
    return SwitchRow(
        env=env_id,
        variant=variant.name,
        seed=seed,
        test_return=round(run.mean_return, 2),
        steps=sum(spent for purpose, spent in data["steps"].items() if purpose not in {"test", "total"}),
        calls=data["llm"]["calls"],
        input_tokens=data["llm"]["input_tokens"],
        failed=sum(event.data["evaluation"]["outcome"] != "ok" for event in attempts),
        seconds=round(data["wall_seconds"], 1),
    )


def table(rows: Sequence[SwitchRow]) -> Iterator[str]:
    """Means over seeds, a line for each environment and variant, in Markdown."""
    yield "| environment | variant | test return | steps | calls | prompt tokens | failed |"
    yield "|---|---|--:|--:|--:|--:|--:|"
    groups: dict[tuple[str, str], list[SwitchRow]] = {}
    for row in rows:
        groups.setdefault((row.env, row.variant), []).append(row)
    for (env, variant), group in groups.items():
        means = [
            statistics.fmean(getattr(row, name) for row in group)
            for name in ("test_return", "steps", "calls", "input_tokens", "failed")
        ]
        returns, spent, calls, read, failed = means
        yield f"| {env} | {variant} | {returns:.1f} | {spent:,.0f} | {calls:.1f} | {read:,.0f} | {failed:.1f} |"


def main() -> None:
    """Measure and print; rows that the CSV file has already are not measured again."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--recordings", type=Path, required=True, help="folder with ENV/1.md, ENV/2.md, …")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=100_000, help="step budget of a run")
    parser.add_argument("--envs", nargs="+", default=list(ENVIRONMENTS))
    parser.add_argument("--csv", type=Path, help="where rows are kept")
    args = parser.parse_args()
    os.environ.setdefault("OPENAI_API_KEY", "none")
    rows = _kept(args.csv)
    known = {(row.env, row.variant, row.seed) for row in rows}
    for env_id, seed, variant in itertools.product(args.envs, range(args.seeds), VARIANTS):
        if (env_id, variant.name, seed) in known:
            continue
        row = measure(variant, env_id, args.recordings, seed, args.steps)
        rows.append(row)
        print(row, file=sys.stderr)
        if args.csv:
            _keep(args.csv, rows)
    print("\n".join(table(sorted(rows, key=lambda row: args.envs.index(row.env)))))


def _kept(path: Path | None) -> list[SwitchRow]:
    if path is None or not path.exists():
        return []
    kinds = {f.name: {"int": int, "float": float, "str": str}[str(f.type)] for f in fields(SwitchRow)}
    with path.open(newline="", encoding="utf-8") as file:
        return [
            SwitchRow(**{name: kinds[name](value) for name, value in line.items()})
            for line in csv.DictReader(file)
        ]


def _keep(path: Path, rows: Sequence[SwitchRow]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [f.name for f in fields(SwitchRow)])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)


if __name__ == "__main__":
    main()
