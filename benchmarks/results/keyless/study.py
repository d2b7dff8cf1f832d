"""Measure program search: `python benchmarks/results/keyless/study.py LABEL [TASK...] [--seeds 721 722 723]`

Each row that `rows.jsonl` lacks under the label is one run of `promptpo optimize TASK --model search --max-steps STEPS --seed SEED
--test-episodes 20 --jobs 1`; it is appended when the run ends. Without names all tasks are played.
"""

import argparse
import json
import tempfile
from pathlib import Path

import promptpo
from promptpo.program import Program

HERE = Path(__file__).parent
ROWS = HERE / "rows.jsonl"
SPECS = HERE.parent / "specs" / "study"
STEPS = {
    "HalfCheetah-v5": 131_072,
    "Lift": 40_000,
    "CartPole-v1": 100_000,
    "Pendulum-v1": 100_000,
    "Acrobot-v1": 60_000,
    "MountainCar-v0": 60_000,
    "MountainCarContinuous-v0": 60_000,
    "LunarLander-v3": 100_000,
    "InvertedPendulum-v5": 30_000,
    "Swimmer-v5": 60_000,
    "Hopper-v5": 60_000,
    "Reacher-v5": 30_000,
    "Kiln": 30_000,
    "Relay": 30_000,
    "Frost": 30_000,
    "FrozenLake-v1": 60_000,
    "Taxi-v4": 60_000,
}
FILES = {
    "Lift": SPECS / "foreign" / "elevator.py",
    "Kiln": SPECS / "inventions" / "goods.py",
    "Relay": SPECS / "inventions" / "goods.py",
    "Frost": SPECS / "inventions" / "nature.py",
}


def row(label: str, task: str, seed: int) -> dict[str, object]:
    """One run as a row."""
    with tempfile.TemporaryDirectory() as folder:
        result = promptpo.optimize(
            f"{FILES[task]}:{task}" if task in FILES else task,
            model="search", max_steps=STEPS[task], seed=seed, test_episodes=20, jobs=1, out=Path(folder) / "run", progress=False,
        )  # fmt: skip
        marks = result.data["references"]
        return {
            "label": label, "task": task, "steps": STEPS[task], "seed": seed, "return": round(result.mean_return, 2),
            **{name: round(marks[name]["mean_return"], 2) for name in ("random", "zero") if name in marks},
            "searched_steps": result.data["searched_steps"], "best": result.data["best"]["candidate"],
            "stop": result.data["stop_kind"], "seconds": round(result.data["wall_seconds"]),
            "numbers": len(Program.from_source(result.source).params),
        }  # fmt: skip


def main() -> None:
    """Play what lacks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("label")
    parser.add_argument("tasks", nargs="*", default=list(STEPS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[721, 722, 723])
    given = parser.parse_args()
    known = {
        (r["label"], r["task"], r["seed"])
        for r in map(json.loads, ROWS.read_text(encoding="utf-8").splitlines())
    }
    for seed in given.seeds:
        for task in given.tasks:
            if (given.label, task, seed) not in known:
                with ROWS.open("a", encoding="utf-8") as out:
                    print(json.dumps(row(given.label, task, seed)), file=out, flush=True)


if __name__ == "__main__":
    main()
