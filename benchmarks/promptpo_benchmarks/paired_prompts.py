"""Compare the prompts of two revisions on the same recorded states, answered by the same model.

`python -m promptpo_benchmarks.paired_prompts render DIR --old REVISION` replays recorded runs with the code of the
revision and of the checkout, both untuned, so that both see the same programs with the same returns and write their
own requests. The prompts of later rounds become DIR/q/NNNN.prompt, system prompt and request in one text, in shuffled
order; DIR/prompts.jsonl.xz says which is whose, and is not for whoever answers. Each is answered by itself, as
DIR/q/NNNN.answer. `python -m promptpo_benchmarks.paired_prompts score DIR` plays answers and parent programs in the
same fresh episodes, writes DIR/rows.jsonl and prints how often an answer beats its parent, and new beats old.
"""

from __future__ import annotations

import io
import json
import lzma
import os
import random
import re
import statistics
import subprocess
import sys
import tarfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from promptpo.core.candidate import Seeds
from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.program import Program
from promptpo_benchmarks.measuring.answering import (
    Row,
    check_new,
    command,
    read_answers,
    report_rows,
    write_prompts,
)
from promptpo_benchmarks.measuring.commands import run_command
from promptpo_sandbox import Sandbox, Trial

ROOT = Path(__file__).resolve().parents[2]
RECORDINGS = ROOT / "benchmarks/results/proof/recordings"
SUITE = ROOT / "benchmarks/promptpo_benchmarks/suites/proof.toml"

VERSIONS = ("old", "new")

STARTS, FIRST = 10, 5000
"""Number of fresh validation episodes in which answers are played, and the first of their seeds: no run uses that many."""

DRAWS = 2000


def tasks() -> dict[str, Mapping[str, Any]]:
    """Return the recorded tasks by the names of their recordings."""
    listed = tomllib.loads(SUITE.read_text(encoding="utf-8"))["tasks"]
    whole = [task if isinstance(task, dict) else {"env": task} for task in listed]
    return {task["env"].rpartition("/")[2].rpartition(":")[2]: task for task in whole}


def export_revision(revision: str, folder: Path) -> Path:
    """Export the code of a revision to a folder of its own.

    Raises:
        UsageError: There is no such revision.
    """
    found = subprocess.run(
        ["git", "-C", str(ROOT), "archive", revision, "promptpo", "sandbox", "baselines", "benchmarks"],
        capture_output=True,
        check=False,
    )
    if found.returncode:
        raise UsageError(f"git knows no revision {revision} in {ROOT}; name one that has these folders.")
    with tarfile.open(fileobj=io.BytesIO(found.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def replay(code: Path, task: Mapping[str, Any], recording: Path, out: Path) -> Path:
    """Replay a recording with some code, without tuning and to its last round; return the run directory."""
    if not (out / "result.json").exists():
        command = [
            sys.executable,
            "-m",
            "promptpo",
            "optimize",
            task["env"],
            "--model",
            f"replay:{recording}",
        ]
        command += [
            "--rounds",
            "3",
            "-n",
            "2",
            "--seed",
            "0",
            "--max-steps",
            "50000",
            "--tune",
            "none",
            "--jobs",
            "1",
        ]
        command += ["--test-episodes", "1", "--out", str(out)]
        command += ["--env-kwargs", json.dumps(task["kwargs"])] if "kwargs" in task else []
        knows = any(
            "early_stop" in path.read_text(encoding="utf-8") for path in code.glob("promptpo/[cr]*/*.py")
        )
        command += ["--option", "early_stop=false"] if knows else []
        out.parent.mkdir(parents=True, exist_ok=True)
        places = [
            code,
            *(path.parent for path in code.glob("*/promptpo_*")),
        ]  # where the revision keeps its packages
        place = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, places))}
        done = subprocess.run(command, cwd=out.parent, env=place, capture_output=True, text=True, check=False)
        if not (out / "journal.jsonl").exists():
            raise UsageError(f"{recording.name} could not be replayed: {done.stderr.strip()[-300:]}")
    return out


def cut_recording(recording: Path, rounds: int, out: Path) -> Path:
    """Write a recording's answers up to a round; the next round is then the last with a prompt."""
    with lzma.open(recording, "rt", encoding="utf-8") as lines:
        kept = [line for line in lines if _round_of(json.loads(line)) in range(rounds + 1)]
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(kept), encoding="utf-8")
    return out


def _round_of(event: Mapping[str, Any]) -> int | None:
    """Return the round of a recorded answer, 0 before the first; None if the event is not an answer."""
    named = re.match(r"[rp](\d+)\.", event["key"])
    return None if event["kind"] != "completion" else int(named[1]) if named else 0


def states(run: Path) -> dict[str, Row]:
    """Return, by call, the prompt of a later round, answered or not, and the program that was best at that time."""
    with (run / "journal.jsonl").open(encoding="utf-8") as lines:
        events = [json.loads(line) for line in lines]
    prompts = {e["key"]: e["data"] for e in events if e["kind"] == "prompt"}
    attempts = {e["key"]: e["data"]["candidate"] for e in events if e["kind"] == "attempt"}
    calls = {e["key"]: prompts[e["data"]["prompt"]] for e in events if e["kind"] == "completion"}
    calls = {key: asked for key, asked in calls.items() if re.fullmatch(r"r\d+\.c\d+", key)}
    system = calls["r1.c1"]["system"]
    best = {e["key"]: e["data"]["best"] for e in events if e["kind"] == "round"}
    # Calls after the last recorded answer have no name in the journal: their prompts are in the order of candidates.
    answered = [asked["messages"] for asked in calls.values()]
    left = [
        p
        for p in prompts.values()
        if p["system"] == system and len(p["messages"]) == 1 and p["messages"] not in answered
    ]
    calls |= {f"r{len(best) + 1}.c{n}": asked for n, asked in enumerate(left, start=1)}
    described: dict[str, Row] = {}
    for key, asked in calls.items():
        parent = attempts.get(best.get(f"r{int(key[1 : key.index('.')]) - 1}", ""))
        if parent is not None:
            text = f"{system}\n\n{asked['messages'][0]['content']}"
            described[key] = {"text": text, "parent": parent["id"], "source": parent["source"]}
    return described


def render(folder: Path, old: str, names: Sequence[str], rounds: int, most: int) -> None:
    """Write the prompts of both versions in a limited number of states of each task, with an index of their versions."""
    check_new(folder)
    code = {"old": export_revision(old, folder / "old"), "new": ROOT}
    rows: list[Row] = []
    for name, task in tasks().items():
        recording = RECORDINGS / f"{name}--promptpo--seed-0.jsonl.xz"
        if (names and name not in names) or not recording.exists():
            continue
        recording = cut_recording(recording, rounds, folder / "recordings" / f"{name}.jsonl")
        try:
            runs = {
                v: states(replay(code[v], task, recording, folder / "runs" / f"{name}-{v}")) for v in VERSIONS
            }
        except UsageError as error:
            print(error, file=sys.stderr)
            continue
        both = [
            key for key in runs["old"] if key in runs["new"] and _differ(*(runs[v][key] for v in VERSIONS))
        ]
        both = random.Random(name).sample(both, min(most, len(both)))  # noqa: S311 - a choice, no secret
        rows += [
            {"env": name, "state": f"{name} {key}", "version": v, **runs[v][key]}
            for key in both
            for v in VERSIONS
        ]
        print(f"{name}: {len(both)} states", flush=True)
    write_prompts(folder, rows)
    print(
        f"{len(rows)} prompts in {folder / 'q'}, {len(rows) // 2} states of {len({r['env'] for r in rows})} environments"
    )


def _differ(old: Row, new: Row) -> bool:
    """Whether two prompts of one state are about the same program and differ by more than whitespace."""
    return bool(old["source"] == new["source"] and old["text"].split() != new["text"].split())


def mean_return(task: Mapping[str, Any], source: str, box: Sandbox, starts: int) -> float | None:
    """Return a program's mean return in the fresh episodes, with its numbers as written; None if it fails."""
    env = make_env(Task(task["env"], env_kwargs=dict(task.get("kwargs", {}))))
    try:
        trials = [
            Trial(seed, Program.from_source(source).values)
            for seed in Seeds(0).validation(starts, start=FIRST)
        ]
        rollout = box.rollout(source, [env], trials, clip_actions=True)
    finally:
        env.close()
    if rollout.failure is not None or any(episode.failure is not None for episode in rollout.episodes):
        return None
    return statistics.fmean(episode.return_ for episode in rollout.episodes)


def score(folder: Path, names: Sequence[str], starts: int) -> None:
    """Play new answers, and print the table of all."""
    kept = folder / "rows.jsonl"
    rows: list[Row] = (
        [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()] if kept.exists() else []
    )
    played = {row["n"] for row in rows}
    parents = {(row["env"], row["parent"], row["starts"]): row["parent_earned"] for row in rows}
    known = tasks()
    with Sandbox() as box, kept.open("a", encoding="utf-8") as file:
        for row, answer in read_answers(folder):
            task, source = known[row["env"]], row.pop("source")
            if row["n"] in played or (names and row["env"] not in names):
                continue
            key = (row["env"], row["parent"], starts)
            if key not in parents:
                parents[key] = mean_return(task, source, box, starts)
            earned = answer and mean_return(task, answer, box, starts)
            rows.append({**row, "starts": starts, "earned": earned, "parent_earned": parents[key]})
            print(json.dumps(rows[-1]), file=file, flush=True)
            print(rows[-1], flush=True)
    report_rows(folder, sorted(rows, key=lambda row: row["n"]), render_table)


def beats(score: float | None, other: float | None) -> float:
    """Return 1 if the first score is higher, a half if both are equal, else 0; a failure is the lowest score."""
    low = float("-inf")
    mine, theirs = (low if value is None else value for value in (score, other))
    return 0.5 if mine == theirs else float(mine > theirs)


def render_table(rows: Iterable[Row]) -> list[str]:
    """Return how often an answer beats its parent, by version, and new beats old, with intervals over environments."""
    every = list(rows)
    pairs: dict[str, dict[str, Row]] = {}
    for row in every:
        pairs.setdefault(row["state"], {})[row["version"]] = row
    both = [pair for pair in pairs.values() if len(pair) == len(VERSIONS)]
    lines = [
        f"{len(every)} answers; {len(both)} states of {len({p['old']['env'] for p in both})} environments answered twice"
    ]
    for version in VERSIONS:
        mine = [row for row in every if row["version"] == version]
        length = statistics.fmean(row["characters"] for row in mine) if mine else 0
        wins = [(row["env"], beats(row["earned"], row["parent_earned"])) for row in mine]
        lines.append(
            f"{version}: beats its parent in {share(wins)}; fails in {sum(r['earned'] is None for r in mine)}; {length:,.0f} characters a prompt"
        )
    wins = [(pair["old"]["env"], beats(pair["new"]["earned"], pair["old"]["earned"])) for pair in both]
    lines.append(f"new beats old in {share(wins)}")
    return lines


def share(wins: Sequence[tuple[str, float]]) -> str:
    """Format a share with its 95 % interval; environments are resampled, since states of one are alike."""
    groups: dict[str, list[float]] = {}
    for env, win in wins:
        groups.setdefault(env, []).append(win)
    if not groups:
        return "none of 0"
    rng, means = random.Random(0), []  # noqa: S311 - repeats, no secret
    for _ in range(DRAWS):
        drawn = [win for env in rng.choices(list(groups), k=len(groups)) for win in groups[env]]
        means.append(statistics.fmean(drawn))
    means.sort()
    low, high = means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS)]
    return f"{statistics.fmean(win for _, win in wins):.0%} [{low:.0%}, {high:.0%}] of {len(wins)}"


def main() -> None:
    """Read the command line."""
    parser = command("python -m promptpo_benchmarks.paired_prompts", __doc__.splitlines()[0])
    parser.add_argument("--old", default="98581980", help="the revision to compare with the checkout")
    parser.add_argument(
        "--only",
        nargs="*",
        default=[],
        metavar="NAME",
        help="recorded tasks to render or to score, all by default",
    )
    parser.add_argument(
        "--rounds", type=int, default=3, help="recorded rounds to replay, all three by default"
    )
    parser.add_argument(
        "--states", type=int, default=9, help="maximum number of states of a task, drawn at random"
    )
    parser.add_argument("--starts", type=int, default=STARTS, help="episodes in which an answer is scored")
    asked = parser.parse_args()
    if asked.what == "render":
        render(asked.folder, asked.old, asked.only, asked.rounds, asked.states)
    else:
        score(asked.folder, asked.only, asked.starts)


if __name__ == "__main__":
    sys.exit(run_command(main))
