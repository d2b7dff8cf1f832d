"""How a run spends its steps: `PYTHONPATH=. python benchmarks/results/returns/spending.py [LABEL]`.

A scripted model writes made-up programs, and a made-up executor plays them (nothing is run): a return is what the program and its
parameters are worth, how easy the start is, and luck. Each case is a run of three rounds of two with 30,000 steps, episodes of
two hundred (short ones: twenty), default settings. Appends a row for each case and seed to `spending.jsonl`, with the label.
"""

import json
import re
import sys
import tempfile
from pathlib import Path

import numpy as np

import promptpo
from promptpo.llm.scripted import ScriptedLLM
from promptpo.program import Program
from promptpo.session import session
from tests.promptpo.fake_executor import FakeExecutor

HERE = Path(__file__).parent
STEPS, SEEDS = 30_000, 1
WRITTEN = '''```python
"""{name}: made up."""
WORTH = {worth}
{params}
class Policy:
    def __init__(self{argument}):
        self.name = "{name}"

    def act(self, obs):
        return 0
```
'''
PLAIN, SMOOTH = "plain", "smooth"
CASES = {
    "equal, no parameters": (5, [(450, PLAIN), (449, PLAIN)] * 3),
    "equal, both have parameters": (5, [(450, SMOOTH), (449, SMOOTH)] * 3),
    "equal, the second has parameters": (5, [(450, PLAIN), (446, SMOOTH)] * 3),
    "one far better, the other has parameters": (5, [(450, PLAIN), (200, SMOOTH)] * 3),
    "rounds gain, no parameters": (
        5,
        [(100, PLAIN), (90, PLAIN), (150, PLAIN), (80, PLAIN), (160, PLAIN), (20, PLAIN)],
    ),
    "rounds gain, all have parameters": (
        5,
        [(100, SMOOTH), (90, SMOOTH), (150, SMOOTH), (80, SMOOTH), (160, SMOOTH), (20, SMOOTH)],
    ),
    "rounds gain, the first has parameters": (
        5,
        [(115, SMOOTH), (90, PLAIN), (110, PLAIN), (80, PLAIN), (118, PLAIN), (20, PLAIN)],
    ),
    "close and scattered, no parameters": (
        40,
        [(204, PLAIN), (207, PLAIN), (201, PLAIN), (206, PLAIN), (190, PLAIN), (203, PLAIN)],
    ),
    "short episodes, both have parameters": (5, [(450, SMOOTH), (449, SMOOTH)] * 3),
}


def program(n, worth, kind):
    params = (
        ""
        if kind == PLAIN
        else f"PARAMS = {{{', '.join(f'{chr(34)}p{i}{chr(34)}: (0.3, 0.0, 1.0)' for i in range(4))}}}\n"
    )
    return WRITTEN.format(
        name=f"program {n}", worth=worth, params=params, argument="" if kind == PLAIN else ", params"
    )


def true_return(source, params):
    """Return a program's true mean return; with the best parameters it is a tenth higher than as written."""
    worth = float(re.search(r"WORTH = (\S+)", source)[1])
    if not params:
        return worth
    away = np.array([params[f"p{i}"] for i in range(4)]) - np.array([0.7, 0.6, 0.8, 0.5])
    bowl = float((away**2).sum()) / float((np.array([0.4, 0.3, 0.5, 0.2]) ** 2).sum())
    return worth * (1 + 0.1 * (1 - bowl))


def play(noise):
    def one(source, trial):
        if "WORTH" not in source:
            return 10.0
        ease = np.random.default_rng([1, trial.seed]).normal() * 20
        told = [trial.seed, *source.encode(), *(int(1e6 * v) for v in (trial.params or {}).values())]
        return true_return(source, trial.params) + ease + noise * np.random.default_rng(told).normal()

    return one


def run_case(name, seed):
    noise, programs = CASES[name]
    answers = {
        f"r{r}.c{c}": program(2 * (r - 1) + c, *programs[2 * (r - 1) + c - 1])
        for r in (1, 2, 3)
        for c in (1, 2)
    }

    def model(request):
        if request.purpose != "policy":
            return "no code"
        return answers.get(request.key, answers["r1.c1"])

    session.make_executor = lambda *_: FakeExecutor(play(noise), steps=20 if "short" in name else 200)
    with tempfile.TemporaryDirectory() as folder:
        run = promptpo.optimize(
            "Pendulum-v1", llm=ScriptedLLM(model), out=Path(folder) / "run", rounds=3, candidates=2, max_steps=STEPS,
            seed=seed, recipe_options={"feedback_class": False, "probe": False}, test_episodes=2,
        )  # fmt: skip
        steps = run.data["steps"]
        best = run.data["best"]
        chosen = true_return(run.source, Program.from_source(run.source).values)
    written = max(worth for worth, _ in programs[: 2 * run.data["rounds"]])
    return {
        "case": name, "seed": seed, "rounds": run.data["rounds"], "returned": best["candidate"], "true_return": round(chosen, 2), "best_written": written,
        **{purpose: steps.get(purpose, 0) for purpose in ("train", "validation", "tune")}, "left": STEPS - run.data["searched_steps"], "stop": run.stop_reason,
    }  # fmt: skip


if __name__ == "__main__":
    label = sys.argv[1] if sys.argv[1:] else "now"
    with (HERE / "spending.jsonl").open("a", encoding="utf-8") as rows:
        for case in CASES:
            for seed in range(SEEDS):
                row = {"label": label, **run_case(case, seed)}
                print(row, flush=True)
                rows.write(json.dumps(row) + "\n")
