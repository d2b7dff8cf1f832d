"""Simulators written by a model: fitted, searched in, verified by real episodes and resumed without repetition."""

import signal
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.cli.show import overview
from promptpo.core import control, final_test
from promptpo.core.journal import JOURNAL, read_events
from promptpo.errors import ProviderError
from promptpo.features.simulator import networks, programs
from promptpo.llm.base import ALL_PURPOSES, Request
from promptpo.llm.scripted import ScriptedLLM
from promptpo.program.reference_policies import REFERENCE_POLICIES
from promptpo.rollouts.local import LocalExecutor
from promptpo.simulator.play import Play
from promptpo_sandbox import Limits, Sandbox
from promptpo_sandbox import simulators as guests
from tests.promptpo.features.pendulums import ANSWERS, ENERGY, LINEAR, SIMULATOR
from tests.promptpo.optimizing import read_run

BROKEN = "```python\nclass Simulator:\n    def reset(self, n):\n        return undefined\n```"
PURPOSES = ALL_PURPOSES - {"probe", "feedback"}


QUICK: dict[str, Any] = {
    "max_steps": 3_000,
    "max_episode_steps": 100,
    "recipe_options": {"simulated_steps": 1_000},
}
"""Settings for tests that only examine requests."""

UNWRITTEN = "No idea."
"""An answer without a policy, so that none is tuned."""


class PendulumModel:
    """Answers by the key of the request; the default policy is a linear law."""

    def __init__(self, policy: str = LINEAR, **answers: str) -> None:
        self.answers, self.requests = {**ANSWERS, **answers}, list[Request]()
        self.policy = policy

    def __call__(self, request: Request) -> str:
        """Answer."""
        self.requests.append(request)
        return self.answers.get(request.key, self.policy)

    @property
    def keys(self) -> list[str]:
        """Keys of the requests in order."""
        return [request.key for request in self.requests]


@pytest.fixture(autouse=True)
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten searches to seconds."""
    monkeypatch.setattr(programs, "LONG_STEPS", 1)
    monkeypatch.setattr(programs, "GROWN_STEPS", 1)


def run_briefly(model: Any, out: Path, env: str = "Pendulum-v1", **more: Any) -> Any:
    """Run briefly on a pendulum."""
    few = {
        "rounds": 1,
        "candidates": 1,
        "episodes": 2,
        "validation_episodes": 2,
        "test_episodes": 3,
        "jobs": 1,
    }
    return promptpo.optimize(
        env,
        llm=ScriptedLLM(model, purposes=PURPOSES),
        out=out,
        **{
            "simulate": True,
            "recipe_options": {"simulated_steps": 15_000},
            "max_steps": 12_000,
            "tune": "none",
            "policy": "program",
            **few,
            **more,
        },
    )


@pytest.mark.slow
def test_program_tuned_in_the_simulator_wins(tmp_path: Path) -> None:
    """The mass is fitted and real episodes confirm the program."""
    model = PendulumModel()
    found = run_briefly(model, tmp_path / "run", recipe_options={"simulated_steps": 6_000})
    # the simulator explains everything, so that no correction is requested
    assert model.keys[:3] == ["s.write1", "s.structures", "s.grow1"]
    later = next(request for request in model.requests if request.key == "r1.c1")
    assert "# A simulator of this task" in later.messages[-1].content
    for note in found.data["simulator"]["notes"]:
        assert (f"\n- {note}" in later.messages[-1].content) == (
            ": simulated return " in note and ", real " in note
        )
    events = read_run(found.directory)
    numbers = {number["name"]: number for number in events["simulator"][0].data["numbers"]}
    assert numbers["mass"]["value"] == pytest.approx(1.0, rel=0.05)
    assert numbers["unused"]["value"] == pytest.approx(1.0, rel=0.05)
    assert found.data["best"]["candidate"] == "s1"
    assert found.mean_return > -400
    simulated = found.data["simulator"]
    assert simulated["steps"]["real"] <= 500 + (3 + 1 + 1) * 2 * 200
    assert simulated["steps"]["simulated"] > 15_000
    assert {"p1", "r1c1"} <= {
        event.key for event in events["simulated"]
    }  # later programs are tuned there, too
    assert all(abs(policy["earned"] - policy["promised"]) < 500 for policy in simulated["policies"])
    assert "--policy program" in overview(found.directory)
    assert "class SimulatedEnv" in (found.directory / "simulator.py").read_text()
    assert "Simulated and real returns" in (found.directory / "report.html").read_text()


@pytest.mark.slow
def test_interrupted_search_returns_the_best_program(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tested and exported, and resuming continues from there; tunings are announced before they begin."""
    monkeypatch.setattr(control, "GRACE_SECONDS", 100.0)  # for a busy machine
    model = PendulumModel(**{"s.structures": f"{ENERGY}\n\n{LINEAR}"})

    def interrupted(request: Request) -> str:
        if request.key == "s.grow1":
            signal.raise_signal(signal.SIGINT)
        return model(request)

    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        run_briefly(
            interrupted,
            folder,
            recipe_options={"simulated_steps": 1_000},
            max_episode_steps=100,
            progress=True,
        )
    first, log = promptpo.load_run(folder), capsys.readouterr().err
    tuned = {e.key: e.data["value"] for e in read_run(folder)["simulated"] if e.key in ("p1", "p2", "p1.on")}
    assert set(tuned) == {"p1", "p2", "p1.on"}
    for key in ("p1", "p2"):
        assert log.index(f"tuning {key} in the simulator, for up to ") < log.index(f"  {key}: ")
    assert log.index("tuning p1.on ") < log.index("After more steps, p1: ")
    assert first.data["best"]["candidate"] == "s1.3"
    assert first.mean_return == pytest.approx(max(tuned.values()), abs=500)
    again = PendulumModel(UNWRITTEN)
    found = promptpo.resume(folder, llm=ScriptedLLM(again, purposes=PURPOSES))
    assert not {"s.write1", "s.structures"} & set(again.keys)
    assert {"s1.3", "s1"} <= {event.key for event in read_run(found.directory)["attempt"]}
    assert found.data["stop_kind"] != "interrupted"


@pytest.mark.slow
def test_interrupted_search_tests_its_best_before_it_compares_references(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the grace period, four training and ten test episodes of half a second each."""
    for module in (control, final_test):
        monkeypatch.setattr(module, "GRACE_SECONDS", 8.0)
    model = PendulumModel(**{"s.structures": LINEAR})

    def interrupted(request: Request) -> str:
        if request.key == "s.grow1":
            signal.raise_signal(signal.SIGINT)
        return model(request)

    slow = "tests.environments:Test/SlowPendulum-v0"
    short = {"max_episode_steps": 50, "episodes": 4, "test_episodes": 10}
    with pytest.raises(KeyboardInterrupt):
        run_briefly(interrupted, tmp_path / "run", slow, **QUICK | short)
    found = promptpo.load_run(tmp_path / "run")
    assert found.data["best"]["candidate"] == "s1.2"
    assert found.data["test"]["episodes"] == 10
    events = [(event.kind, event.key) for event in read_events(tmp_path / "run" / JOURNAL)]
    first_test = next(n for n, (kind, _) in enumerate(events) if kind == "test")
    assert not [key for kind, key in events[:first_test] if kind == "reference" and "compared" in key]


@pytest.mark.slow
def test_interrupted_search_prefers_a_better_reference_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both played training episodes before the search, so that neither need play in the grace period."""
    monkeypatch.setattr(control, "GRACE_SECONDS", 100.0)
    spinning = (
        '```python\n"""Spins ever faster."""\nPARAMS = {"size": (1.9, 1.8, 2.0)}\n\n\nclass Policy:\n    def __init__(self, params):\n'
        '        self.size = params["size"]\n\n    def act(self, obs):\n        return [self.size * (2.0 * (obs[2] > 0) - 1.0)]\n```'
    )
    model = PendulumModel(**{"s.structures": spinning})

    def interrupted(request: Request) -> str:
        if request.key == "s.grow1":
            signal.raise_signal(signal.SIGINT)
        return model(request)

    with pytest.raises(KeyboardInterrupt):
        run_briefly(
            interrupted,
            tmp_path / "run",
            recipe_options={"simulated_steps": 1_000},
            max_steps=200_000,
            episodes=4,
        )
    found = promptpo.load_run(tmp_path / "run")
    assert "s1.2" in {event.key for event in read_run(tmp_path / "run")["attempt"]}
    assert found.data["best"]["candidate"] in REFERENCE_POLICIES


@pytest.mark.slow
def test_resumed_run_repeats_no_simulation(tmp_path: Path) -> None:
    """Another round requests only its own policy."""
    first_model = PendulumModel()
    first = run_briefly(first_model, tmp_path / "run", **QUICK)
    before = [(event.kind, event.key) for event in read_events(first.directory / JOURNAL)]
    again = PendulumModel(UNWRITTEN)
    promptpo.resume(first.directory, llm=ScriptedLLM(again, purposes=PURPOSES), rounds=2)
    after = [(event.kind, event.key) for event in read_events(first.directory / JOURNAL)]
    assert not [key for key in again.keys if key.startswith("s.")]
    assert "\n- r1c1: simulated return " in again.requests[0].messages[-1].content
    assert "simulator of this task" not in last_message(first_model, "s.structures")
    assert " more steps of tuning took p1 from " in last_message(first_model, "s.grow1")
    kinds = {"real", "simulator", "simulated", "verified", "note"}
    old = [
        event for event in after if event[0] in kinds and not event[1].removeprefix("begun.").startswith("r2")
    ]
    assert old == [event for event in before if event[0] in kinds]


@pytest.mark.slow
def test_model_may_decline_to_write_a_simulator(tmp_path: Path) -> None:
    """The reason is shown."""
    model = PendulumModel(**{"s.write1": "NONE: the rules are secret"})
    found = run_briefly(model, tmp_path / "run", max_steps=4_000)
    assert "the rules are secret" in overview(found.directory)
    assert model.keys[1:] == ["r1.c1"]
    assert found.data["best"]["candidate"] == "r1c1"


@pytest.mark.slow
def test_failed_request_is_noted(tmp_path: Path) -> None:
    """The search continues without it. An exact simulator is not corrected again."""
    model = PendulumModel(**{"s.write1": BROKEN, "s.write2": ANSWERS["s.write1"]})

    def silent(request: Request) -> str:
        if request.key == "s.structures":
            raise ProviderError("the line is dead")
        return model(request)

    found = run_briefly(silent, tmp_path / "run", **QUICK)
    assert model.keys[:3] == ["s.write1", "s.write2", "r1.c1"]
    assert "the line is dead" in overview(found.directory)
    assert found.data["best"]["candidate"] == "r1c1"
    later = PendulumModel(UNWRITTEN)
    promptpo.resume(found.directory, llm=ScriptedLLM(later, purposes=PURPOSES), rounds=2)
    assert later.keys == ["r2.c1", "r2.c1.again"], "rounds were decided without it"


def last_message(model: PendulumModel, key: str) -> str:
    """Return the last message of a request."""
    return next(request for request in model.requests if request.key == key).messages[-1].content


CHEAP = SIMULATOR.replace("angle**2 +", "0.5 * angle**2 +")
"""A simulator with wrong rewards, which has to be corrected."""


@pytest.mark.slow
def test_correction_request_repeats_the_recorded_steps(tmp_path: Path) -> None:
    """The error of a broken simulator suffices without them."""
    model = PendulumModel(
        UNWRITTEN,
        **{"s.write1": BROKEN, "s.write2": CHEAP, "s.write3": "KEEP: well", "s.structures": "None."},
    )
    run_briefly(model, tmp_path / "run", **QUICK)
    first, broken, wrong = (last_message(model, f"s.write{n}") for n in (1, 2, 3))
    table = next(part for part in first.split("\n\n") if part.startswith("step|"))
    assert table in wrong
    assert table not in broken
    assert "causes that explain most of the remaining error" in wrong


@pytest.mark.parametrize("exact", [True, False])
def test_only_an_inexact_simulator_is_sent_back(exact: bool, tmp_path: Path) -> None:
    written = {"s.write1": SIMULATOR if exact else CHEAP, "s.write2": "KEEP: well"}
    model = PendulumModel(UNWRITTEN, **written, **{"s.structures": "None."})
    run_briefly(model, tmp_path / "run", **QUICK)
    assert ("s.write2" in model.keys) == (not exact)


@pytest.mark.parametrize("simulate", [True, False])
def test_policy_requests_say_where_numbers_are_tuned(simulate: bool, tmp_path: Path) -> None:
    """Programs tuned in a simulator are tuned on real steps as well, if there are enough."""
    model = PendulumModel(UNWRITTEN, **{"s.structures": "None."})
    run_briefly(
        model,
        tmp_path / "run",
        **QUICK,
        tune="cma",
        simulate=simulate,
        policy="program" if simulate else None,
    )
    prompt = last_message(model, "r1.c1")
    assert "too small to tune PARAMS on rollouts" in prompt
    assert ("# A simulator of this task" in prompt) == simulate


@pytest.mark.slow
def test_broken_simulator_is_dropped_after_three_corrections(tmp_path: Path) -> None:
    answers = {f"s.write{n}": BROKEN.replace("undefined", f"undefined{n}") for n in range(1, 5)}
    model = PendulumModel(**answers)
    found = run_briefly(model, tmp_path / "run", max_steps=4_000)
    assert model.keys[:4] == ["s.write1", "s.write2", "s.write3", "s.write4"]
    assert "undefined1" in model.requests[1].messages[-1].content
    assert found.data["best"]["candidate"] == "r1c1"


@pytest.mark.slow
def test_network_is_a_second_product(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are tested and saved; --policy decides which is best.py."""
    monkeypatch.setattr(networks, "SEEDS", 1)
    found = run_briefly(PendulumModel(), tmp_path / "run", policy="network")
    products = found.data["products"]
    assert set(products) == {"program", "network"}
    assert products["network"]["best"]
    assert found.data["best"]["candidate"] == "s2"
    for name in products:
        assert products[name]["test"]["episodes"] == 3
        assert (found.directory / f"{name}.py").exists()
    page = (found.directory / "report.html").read_text()
    assert page.index("The readable program: s1") < page.index("Best policy: s2")
    assert page.index("The readable program, <code>program.py</code>") < page.index("Returns")


@pytest.mark.slow
def test_program_search_learns_formulas(tmp_path: Path) -> None:
    """A few hundred real steps suffice to balance a pole."""
    found = promptpo.optimize(
        "CartPole-v1",
        model="search",
        out=tmp_path / "run",
        simulate=True,
        policy="program",
        recipe_options={"simulated_steps": 60_000},
        max_steps=6_000,
        rounds=1,
        candidates=1,
        test_episodes=5,
        jobs=2,
    )
    assert found.data["best"]["candidate"] == "s1"
    assert found.mean_return > 400
    assert found.data["searched_steps"] < 6_000


@pytest.mark.slow
def test_uniform_rewards_teach_no_formulas(tmp_path: Path) -> None:
    """Random actions never swing an acrobot up; the steps go to program search."""
    found = promptpo.optimize(
        "Acrobot-v1",
        model="search",
        out=tmp_path / "run",
        simulate=True,
        max_steps=6_000,
        rounds=1,
        candidates=1,
        episodes=1,
        test_episodes=2,
    )
    assert "learned from them would not help" in overview(found.directory)


@pytest.mark.slow
def test_simulator_contradicted_by_real_episodes_is_corrected(tmp_path: Path) -> None:
    """A bonus exists only in the simulator; the search continues in the corrected one."""
    wrong = SIMULATOR.replace("-cost,", "-cost + 10.0 * ((np.abs(angle) < 0.1) & (np.abs(self.rate) < 0.5)),")
    model = PendulumModel(**{"s.write1": wrong, "s.write2": SIMULATOR})
    found = run_briefly(model, tmp_path / "run")
    events = read_run(found.directory)
    correction = next(request for request in model.requests if request.key == "s.write2")
    assert "a policy found in a simulator: real" in correction.messages[-1].content
    verified = {event.key: event.data for event in events["verified"]}
    first, second = verified["s.0.p1"], verified["s.1.p1"]
    assert first["promised"] > 0 > first["earned"]
    assert abs(second["promised"] - second["earned"]) < 300
    assert found.data["best"]["candidate"] == "s1"


HANGS = "```python\nclass Policy:\n    def act(self, obs):\n        while True:\n            pass\n```"


@pytest.mark.slow
def test_program_that_hangs_in_the_simulator_is_sent_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its trial has a second here; its repair is tuned like any other program."""
    run = LocalExecutor.run

    async def run_trials_here(executor: Any, work: Any) -> Any:
        if isinstance(work, Play) and "while True" in work.source:
            with Sandbox(Limits(call_seconds=1.0)) as box:
                return work.run(box)
        return await run(executor, work)

    monkeypatch.setattr(LocalExecutor, "run", run_trials_here)
    monkeypatch.setattr(guests, "CALL_SECONDS", 1.0)
    model = PendulumModel(
        UNWRITTEN, **{"s.structures": HANGS, "s.p1.repair": LINEAR, "s.grow1": "KEEP: well"}
    )
    found = run_briefly(model, tmp_path / "run", **QUICK)
    assert "took longer than" in last_message(model, "s.p1.repair")
    assert found.data["best"]["candidate"] == "s1"


@pytest.mark.slow
def test_program_that_cannot_be_batched_is_tuned_lane_by_lane(tmp_path: Path) -> None:
    """A rewrite is requested once; a failing program is dropped. Both are noted."""
    branching = (
        '```python\n"""A branch."""\nPARAMS = {"size": (1.0, 0.0, 2.0)}\n\n\nclass Policy:\n    def __init__(self, params):\n'
        '        self.size = params["size"]\n\n    def act(self, obs):\n'
        "        return [self.size if float(obs[2]) > 0 else -self.size]\n```"
    )
    failing = branching.replace("return [self.size if", "return [nothing if")
    kept = {f"s.p{n}.repair": "KEEP: it branches" for n in (1, 2)}
    model = PendulumModel(
        UNWRITTEN, **kept, **{"s.structures": f"{branching}\n\n{failing}", "s.grow1": "KEEP: well"}
    )
    found = run_briefly(
        model,
        tmp_path / "run",
        max_steps=4_000,
        max_episode_steps=100,
        recipe_options={"simulated_steps": 1_000},
    )
    (sent,) = [request for request in model.requests if request.key == "s.p1.repair"]
    assert "may stay as it is" in sent.messages[-1].content
    assert "\nKEEP: the reason\n" in sent.messages[-1].content
    (tuned,) = [event for event in read_run(found.directory)["simulated"] if event.key == "p1"]
    assert tuned.data["why_alone"]
    assert tuned.data["simulated_steps"] > 3 * 1_000
    notes = found.data["simulator"]["notes"]
    for key in ("p1", "p2"):
        assert any(note.startswith(key) and "asked to rewrite it" in note for note in notes)
    assert any(note.startswith("p2 is dropped") for note in notes)
