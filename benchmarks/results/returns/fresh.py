"""Did a run return its best program? `python benchmarks/results/returns/fresh.py RUN... [--starts 200]`

Plays every program of a run on the same fresh starts, which no run comes to, and appends a row for each run to `fresh.jsonl`:
the mean of each program, and the return of the best that was written over that of the returned one, with its standard
error over starts. The best is picked by these same starts, so the difference is at least nought and a little too large.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from promptpo.envs.building import make_env
from promptpo.program.program import Program
from promptpo.core.candidate import Seeds
from promptpo.run.config_file import CONFIG, load_config
from promptpo.run.state import read_state
from promptpo_sandbox import Sandbox, Trial

FIRST_START = 5000


def returns(source, config, starts, box):
    env = make_env(config.task)
    try:
        seeds = Seeds(config.seed).validation(starts, start=FIRST_START)
        rollout = box.rollout(
            source,
            [env],
            [Trial(s, Program.from_source(source).values) for s in seeds],
            clip_actions=config.clip_actions,
            stop_on_failure=False,
        )
    finally:
        env.close()
    values = np.array([e.return_ if e.failure is None else np.nan for e in rollout.episodes])
    return np.where(
        np.isnan(values), np.nanmin(values), values
    )  # a failure counts like the worst, as in a run's test


def row(run, starts, box):
    state, result = read_state(run), json.loads((run / "result.json").read_text(encoding="utf-8"))
    config = load_config(run / CONFIG)
    running = [attempt for attempt in state.history.attempts if state.history.runs(attempt)]
    played = {attempt.id: returns(attempt.candidate.source, config, starts, box) for attempt in running}
    means = {name: float(np.mean(r)) for name, r in played.items()}
    best, chosen = max(means, key=means.get), result["best"]["candidate"]
    over = played[best] - played[chosen]
    return {
        "run": run.parent.name if run.name == "run" else run.name,
        "task": Path(str(result["env_id"])).name,
        "starts": starts,
        "programs": {name: round(mean, 4) for name, mean in means.items()},
        "returned": chosen,
        "best": best,
        "best_over_returned": round(float(over.mean()), 4),
        "error": round(float(over.std(ddof=1) / len(over) ** 0.5), 4) if best != chosen else 0.0,
        "steps": result["searched_steps"],
        "steps_left": (config.budget.steps or 0) - result["searched_steps"],
        "stop": str(result["stop_reason"])[:200],
    }


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("runs", nargs="+", type=Path)
parser.add_argument("--starts", type=int, default=200)
asked = parser.parse_args()
with Sandbox() as box, (Path(__file__).parent / "fresh.jsonl").open("a", 1, encoding="utf-8") as rows:
    for run in asked.runs:
        line = row(run, asked.starts, box)
        print(line, flush=True)
        rows.write(json.dumps(line) + "\n")
