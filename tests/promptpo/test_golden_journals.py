"""Journals of nine runs, which refactoring must not change.

Each line of a file in ``tests/golden_journals`` is an event: its kind, its key and a digest of its data, or, where runs are
chaotic, its kind and the names in its data. Durations, versions
and paths are left out, prompts are counted (their texts are pinned elsewhere), and numbers have six digits. After a change
that is meant, write the files anew with ``UPDATE_GOLDEN=1``.
"""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.core.journal import JOURNAL, read_events
from promptpo.llm.base import ALL_PURPOSES
from promptpo.llm.scripted import ScriptedLLM
from tests.promptpo.features import test_simulator as simulated
from tests.promptpo.features.goals import test_goals as goals
from tests.promptpo.killable import EXPERIMENTS
from tests.promptpo.optimizing import Model, optimize
from tests.promptpo.policies import CRASH, GOOD, TUNABLE, WEAK, variant

FILES = Path(__file__).parents[1] / "golden_journals"

TIMES = {"seconds", "policy_seconds", "prompt", "usage", "speed"}
"""Keys whose values differ between runs or are pinned elsewhere."""

QUICK = {
    "episodes": 2,
    "validation_episodes": 2,
    "test_episodes": 3,
    "jobs": 1,
    "max_steps": 5_000,
    "max_episode_steps": None,
}

ANSWERS = {"r1.c1": CRASH, "r1.c1.repair1": variant(WEAK, 1), "r1.c2": TUNABLE, "r2.c1": GOOD}


def normalise(value: Any) -> Any:
    """Return data without values that differ between runs."""
    if isinstance(value, dict):
        left_out = TIMES | (
            {"digest"} if "agent" in value else set()
        )  # a saved agent's file contains its date
        return {key: normalise(item) for key, item in value.items() if key not in left_out}
    if isinstance(value, list):
        return [normalise(item) for item in value]
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return value


def describe_shapes(directory: Path) -> list[str]:
    """Return the kinds of events of a run, each with the names in its data."""
    lines = set()
    for event in read_events(directory / JOURNAL):
        data = event.data
        lines.add(f"{event.kind} {' '.join(sorted(data)) if isinstance(data, dict) else type(data).__name__}")
    return sorted(lines)


def describe_journal(directory: Path) -> list[str]:
    """Return one line per event, in an order independent of concurrency."""
    events = [*read_events(directory / JOURNAL)]
    lines = [f"prompts: {sum(event.kind == 'prompt' for event in events)}"]
    for event in events:
        if event.kind not in {"prompt", "session", "preflight", "spec"}:
            text = json.dumps(normalise(event.data), sort_keys=True, ensure_ascii=False)
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            lines.append(f"{event.kind} {event.key} {digest}")
    return sorted(lines)


async def do_nothing(*_: Any) -> None:
    """Replacement for filming a goal's episodes."""


def run_search(out: Path) -> None:
    """Program search, without a model."""
    promptpo.optimize(
        "CartPole-v1", model="search", out=out, rounds=2, seed=3, **{**QUICK, "max_steps": 4_000}
    )


def run_default(out: Path) -> None:
    """Two rounds with a repair and tuning."""
    optimize(Model(ANSWERS), out, rounds=2, candidates=2, **QUICK)


def run_paper(out: Path) -> None:
    """The recipe of the paper."""
    optimize(Model(ANSWERS), out, rounds=2, candidates=2, recipe="paper", **QUICK)


def run_evolve(out: Path) -> None:
    """The recipe with islands."""
    optimize(Model(ANSWERS), out, rounds=2, candidates=2, recipe="evolve", **QUICK)


def run_experiments(out: Path) -> None:
    """A model that writes experiments first."""
    promptpo.optimize(
        "CartPole-v1",
        llm=ScriptedLLM(lambda request: EXPERIMENTS[request.key], purposes=ALL_PURPOSES),
        out=out,
        rounds=2,
        candidates=1,
        stop_at=501.0,
        recipe_options={"tune": False},
        **QUICK,
    )


def run_simulator(out: Path) -> None:
    """A simulator of a pendulum, programs tuned in it, and real episodes of the best."""
    simulated.run_briefly(simulated.PendulumModel(), out, jobs=1)


def run_resumed(out: Path) -> None:
    """A run whose model fails after its first round, resumed with one that answers."""
    asked = []

    def fail(request: Any) -> str:
        asked.append(request.key)
        if request.key.startswith("r2"):
            raise KeyboardInterrupt
        return ANSWERS.get(request.key, WEAK)

    with pytest.raises(KeyboardInterrupt):
        optimize(fail, out, rounds=2, candidates=2, **QUICK)
    promptpo.resume(out, llm=ScriptedLLM(Model(ANSWERS)))


def run_goal(out: Path) -> None:
    """A reward written for a goal, judged and repaired, and a policy for it."""
    answers = {
        "goal.reward": f"```python\n{goals.CONSTANT}```",
        "goal.reward.repair1": goals.WRONG,
        "goal.rewrite": goals.FENCED,
        "goal.policy": goals.TO_THE_LEFT,
    }
    optimize(goals.JudgeModel(answers), out, **{**goals.SETTINGS, "max_episode_steps": None})


def run_teacher(out: Path) -> None:
    """A model that sees an untrained agent of stable-baselines3."""
    agents = pytest.importorskip("stable_baselines3")
    agents.PPO("MlpPolicy", "CartPole-v1", seed=0, device="cpu").save(out.parent / "agent.zip")
    optimize(Model(), out, rounds=1, candidates=1, teacher=out.parent / "agent.zip", **QUICK)


RUNS = [
    run_search,
    run_default,
    run_paper,
    run_evolve,
    run_experiments,
    run_simulator,
    run_resumed,
    run_goal,
    run_teacher,
]


SLOW = {run_search, run_simulator, run_goal, run_teacher}

CHAOTIC = {run_search, run_simulator, run_teacher}
"""Runs whose results depend on the last bit of the CPU's arithmetic; only kinds and names are pinned."""


@pytest.mark.parametrize(
    "run",
    [pytest.param(run, marks=[pytest.mark.slow] if run in SLOW else []) for run in RUNS],
    ids=[run.__name__.removeprefix("run_") for run in RUNS],
)
def test_journal_is_unchanged(
    run: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kinds, keys and data of all events."""
    monkeypatch.setattr(simulated.programs, "LONG_STEPS", 1)
    monkeypatch.setattr(simulated.programs, "GROWN_STEPS", 1)
    monkeypatch.setattr("promptpo.session.goals._film_episodes", do_nothing)
    run(tmp_path / "run")
    lines = (describe_shapes if run in CHAOTIC else describe_journal)(tmp_path / "run")
    file = FILES / f"{run.__name__.removeprefix('run_')}.txt"
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_text("\n".join(lines) + "\n")
    assert lines == file.read_text().splitlines()
