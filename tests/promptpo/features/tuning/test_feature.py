"""Tuning within a run: its programs, seeds, duration and records."""

import asyncio
import re
from pathlib import Path
from typing import Any, cast

import pytest

import promptpo
from promptpo.core.budget import Ledger
from promptpo.core.candidate import Attempt, Candidate, Remark, Sensitivity
from promptpo.core.config import Budget, Config
from promptpo.core.feature import SearchContext
from promptpo.core.history import History
from promptpo.core.journal import Journal, from_json
from promptpo.core.work import RecordedWork
from promptpo.envs.task import Task
from promptpo.features.tuning.batches import Batch, Start
from promptpo.features.tuning.feature import Tuner
from promptpo.features.tuning.outcome import NO_NUMBERS, SPARED, TuningResult
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.run_result import RunResult
from promptpo.program import Program, answers
from promptpo.rollouts import Job
from promptpo.rollouts.evaluation import EpisodeRecord, Evaluation
from promptpo.run.state import read_state
from promptpo_sandbox import Rollout, Trial
from tests.promptpo.optimizing import Model, attempts_of, optimize, read_run
from tests.promptpo.policies import GOOD, IDLE, TUNABLE


@pytest.mark.slow
def test_batches_are_recorded_with_candidates_and_returns(tmp_path: Path) -> None:
    """The sensitivities are kept with the candidate."""
    run = optimize(Model(default=TUNABLE), tmp_path / "run", rounds=1, candidates=1, max_steps=8_000)
    events = read_run(run.directory)
    batches = [event.data for event in events["tuning"]]
    assert all(batch["candidates"] == ["r1c1"] for batch in batches)
    assert all(batch["earned"] == [1.0, 1.0] for batch in batches)
    tuned = from_json(Attempt, events["attempt"][-1].data).candidate
    assert tuned.id == "r1c1t"
    assert set(tuned.sensitivity) == {"angle", "rate"}


@pytest.fixture(scope="module")
def idle_run(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """One round of two equal programs whose parameters have no effect; tests that resume it change it."""
    model, out = Model(default=IDLE), tmp_path_factory.mktemp("idle") / "run"
    return optimize(model, out, rounds=1, candidates=2, max_steps=10_000)


def test_ineffective_parameters_save_steps(idle_run: RunResult) -> None:
    """A fraction of the allotment is spent, and nothing counts as better."""
    events = read_run(idle_run.directory)
    planned = {event.key: event.data for event in events["decision"]}["r1.tuning_steps"]
    spent = sum(sum(e.data["spent"].values()) for e in events["tuning"] if e.key.startswith("r1."))
    assert 0 < spent < 0.35 * planned
    assert {event.key for event in events["attempt"]} == {"r1c1", "r1c2"}


def test_notes_of_tuning_without_gain_are_recorded(idle_run: RunResult) -> None:
    """Duplicates refer to the original's notes."""
    remarks = {event.key: from_json(Remark, event.data) for event in read_run(idle_run.directory)["remark"]}
    assert set(remarks) == {"r1c2.duplicate", "r1c1.tuned"}
    assert remarks["r1c2.duplicate"].duplicate_of == "r1c1"
    assert remarks["r1c1.tuned"].notes
    shown = read_state(idle_run.directory).candidate("r1c1")
    assert shown is not None
    assert set(remarks["r1c1.tuned"].notes) <= set(shown.attempt.notes)


@pytest.mark.slow
def test_leftover_steps_go_to_a_last_tuning(idle_run: RunResult) -> None:
    """It runs to its end, because no later round needs the steps. Resuming adds rounds without recording it again."""
    events = read_run(idle_run.directory)
    keys = [event.key for event in events["tuning"]]
    decided = {event.key: event.data for event in events["decision"]}
    (planned,) = (decided[key] for key in decided if re.fullmatch(r"last1\.\d+\.\w+\.tuning_steps", key))
    spent = sum(sum(e.data["spent"].values()) for e in events["tuning"] if e.key.startswith("last1."))
    assert spent > 0.6 * planned, (
        "all but the choice between finalists; a tuning before other rounds ends at 0.35"
    )
    assert idle_run.stop_reason.startswith("the one round is done")
    assert "another round" not in idle_run.stop_reason
    more = promptpo.resume(idle_run.directory, llm=ScriptedLLM(Model(default=IDLE)), rounds=2)
    after = read_run(more.directory)
    assert [key for key in keys if key.startswith("last1.")] == [
        event.key for event in after["tuning"] if event.key.startswith("last1.")
    ]
    assert [event.key for event in after["remark"] if event.key.startswith("r1")] == [
        event.key for event in events["remark"]
    ]
    assert more.data["rounds"] == 2


@pytest.mark.parametrize("tunable", [1, 2])
def test_last_tuning_takes_the_best_program_with_parameters(
    tunable: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The leader itself may have none."""
    nobody: Any = None
    asked: list[str] = []
    config = Config(Task("Pendulum-v1"), budget=Budget(steps=10_000), stop_at=500.0)
    history = History()
    for n in (1, 2):
        text = TUNABLE.replace("-0.5", f"-0.{n}") if n >= tunable else GOOD
        program = Program.from_source(answers.extract_program(text).source)
        played = Evaluation("ok", tuple(EpisodeRecord(seed, 9.0 - n + seed, 10) for seed in range(4)), 40)
        history.attempts.append(Attempt(Candidate(f"r1c{n}", program.source, 1, program.digest), played))

    async def search(_: Any, starts: Any, *__: Any) -> tuple[TuningResult, ...]:
        asked.extend(start.id for start in starts)
        return (TuningResult(starts[0].id, starts[0].program),)

    monkeypatch.setattr(Tuner, "_search", lambda _, *given, **__: search(*given))
    with Journal(tmp_path) as journal:
        work = RecordedWork(ScriptedLLM([]), None, config, journal, Ledger(config.budget))
        tuner = Tuner(SearchContext(nobody, config, work, 10), nobody)
        assert "nothing better" in asyncio.run(tuner.spend_rest(history))
        assert "no program" in asyncio.run(tuner.spend_rest(History()))
    best = history.best()
    assert best is not None
    assert (best.id, asked) == ("r1c1", [f"r1c{tunable}"])


def test_tunings_are_recorded_under_distinct_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round's name depends on its programs, the last also on the step limit; equal tunings are found again."""
    nobody: Any = None
    names: list[str] = []

    def attempt(id_: str, value: float) -> Attempt:
        program = Program.from_source(
            answers.extract_program(TUNABLE.replace("-0.5", f"-0.{value:.0f}")).source
        )
        played = Evaluation("ok", tuple(EpisodeRecord(seed, value + seed, 10) for seed in range(4)), 40)
        return Attempt(Candidate(id_, program.source, 1, program.digest), played)

    async def search(_: Any, starts: Any, __: Any, name: str) -> tuple[TuningResult, ...]:
        names.append(name)
        return tuple(TuningResult(start.id, start.program) for start in starts)

    monkeypatch.setattr(Tuner, "_search", lambda _, *given, **__: search(*given))
    one, other = attempt("r1c1", 5.0), attempt("r1c2", 7.0)
    with Journal(tmp_path) as journal:
        journal.add("tuning", "r1.t1", {"candidates": ["r1c1"]})
        for steps, known in [(10_000, [one]), (10_000, [one, other]), (20_000, [one]), (10_000, [one])]:
            config = Config(Task("Pendulum-v1"), budget=Budget(steps=steps), stop_at=500.0)
            work = RecordedWork(ScriptedLLM([]), None, config, journal, Ledger(config.budget))
            tuner = Tuner(SearchContext(nobody, config, work, 10), nobody)
            asyncio.run(tuner.improve(History(known), known))
            asyncio.run(tuner.spend_rest(History(known)))
    rounds, last = names[::2], names[1::2]
    assert rounds[0] == rounds[2] == rounds[3] == "r1" != rounds[1]
    assert rounds[1].startswith("r1.")
    assert last[0] == last[3]
    assert len({*last}) == 3


@pytest.mark.parametrize(("horizon", "kept"), [(10, 300), (20, 600), (500, 5_000)])
def test_last_tuning_leaves_steps_to_evaluate_longer_episodes(
    horizon: int, kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A policy that fell after 10 steps may stand for all of them once tuned; a quarter of the steps is enough."""
    nobody: Any = None
    granted: list[int] = []
    config = Config(Task("Pendulum-v1"), budget=Budget(steps=20_000), stop_at=500.0)
    program = Program.from_source(answers.extract_program(TUNABLE).source)
    played = Evaluation("ok", tuple(EpisodeRecord(seed, 1.0 + seed, 10) for seed in range(4)), 40)
    history = History([Attempt(Candidate("r1c1", program.source, 1, program.digest), played)])

    async def search(_: int, starts: Any, steps: int, *__: Any) -> tuple[TuningResult, ...]:
        granted.append(steps)
        return (TuningResult(starts[0].id, starts[0].program),)

    monkeypatch.setattr(Tuner, "_search", lambda _, *given, **__: search(*given))
    with Journal(tmp_path) as journal:
        work = RecordedWork(ScriptedLLM([]), None, config, journal, Ledger(config.budget))
        asyncio.run(Tuner(SearchContext(nobody, config, work, horizon), nobody).spend_rest(history))
    assert granted == [20_000 - kept]


def test_too_few_steps_are_named_as_the_reason(tmp_path: Path) -> None:
    """It must not claim that tuning found nothing better."""
    nobody: Any = None
    config = Config(Task("Pendulum-v1"), budget=Budget(steps=9_000), stop_at=500.0)
    program = Program.from_source(answers.extract_program(TUNABLE).source)
    played = Evaluation("ok", tuple(EpisodeRecord(seed, seed, 200) for seed in range(4)), 800)
    history = History([Attempt(Candidate("r1c1", program.source, 1, program.digest), played)])
    with Journal(tmp_path) as journal:
        work = RecordedWork(ScriptedLLM([]), None, config, journal, Ledger(config.budget))
        tuner = Tuner(SearchContext(nobody, config, work, 200), nobody)
        assert asyncio.run(tuner.spend_rest(history)).startswith("too few")


def test_sensitivities_are_kept_without_improvement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config, nobody = Config(Task("CartPole-v1"), stop_at=500.0), cast("Any", None)
    known = {"angle": Sensitivity(0.7), "rate": Sensitivity(0.0, "upper")}
    program = Program.from_source(answers.extract_program(TUNABLE).source)
    attempt = Attempt(
        Candidate("r1c1", program.source, 1, program.digest),
        Evaluation("ok", (EpisodeRecord(1, 5.0, 10),), 10),
    )
    in_vain = TuningResult("r1c1", program, sensitivity=known, evaluations=2)

    async def search(*_: Any) -> tuple[TuningResult, ...]:
        return (in_vain,)

    monkeypatch.setattr(Tuner, "_search", search)
    history = History([attempt])
    with Journal(tmp_path) as journal:
        journal.follow(history.add)
        work = RecordedWork(ScriptedLLM([]), None, config, journal, Ledger(config.budget))
        tuner = Tuner(SearchContext(cast("Any", None), config, work, 10), nobody)
        assert asyncio.run(tuner.improve(history, [attempt])) == []
        written = from_json(Remark, journal.find("remark", "r1c1.tuned"))
    assert history.attempts[0].candidate.sensitivity == known
    said = tuner.remarks()["r1c1"]
    assert written == Remark("r1c1", sensitivity=known, notes=(said,))
    assert said.startswith("Tuning its 2 numbers over 2 episodes of 0 steps on average: no")


def test_tuning_ends_at_recorded_batches_of_another_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    async def recorded(_: Tuner, key: str, *__: Any) -> list[Rollout]:
        asked.append(key)
        return [Rollout((), None, 0, "", 0.0)] * (1 if len(asked) < 3 else 7)

    monkeypatch.setattr(Tuner, "_roll_out", recorded)
    config, nobody = Config(Task("CartPole-v1"), stop_at=500.0), cast("Any", None)
    program = Program.from_source(answers.extract_program(TUNABLE).source)
    with Journal(tmp_path) as journal:
        work = RecordedWork(ScriptedLLM([]), None, config, journal, Ledger(config.budget))
        tuner = Tuner(SearchContext(nobody, config, work, 10), nobody)
        (found,) = asyncio.run(tuner._search(1, [Start("r1c1", program)], 1_000, "r1"))
    assert asked == ["r1.t1", "r1.t2", "r1.t3"]
    assert found.id == "r1c1"


class StuckExecutor:
    """Finishes its first job and never another."""

    jobs = 2

    def __init__(self) -> None:
        self.asked = 0
        self.waiting = asyncio.Event()

    async def run(self, job: Job) -> Rollout:
        """Return thirty steps once, then block."""
        self.asked += 1
        if self.asked > 1:
            self.waiting.set()
            await asyncio.Event().wait()
        return Rollout((), None, 30, "", 0.0)


def test_interrupted_batch_counts_its_steps(tmp_path: Path) -> None:
    """The resumed run repeats the whole batch."""
    config = Config(Task("CartPole-v1"))
    program = Program.from_source(answers.extract_program(TUNABLE).source)
    batch = Batch(program, (Trial(0, program.values, 10),))

    async def cut() -> None:
        executor: Any = StuckExecutor()
        work = RecordedWork(ScriptedLLM([]), executor, config, journal, Ledger(config.budget))
        nobody: Any = None
        tuning = asyncio.ensure_future(
            Tuner(SearchContext(cast("Any", None), config, work, 10), nobody)._roll_out(
                "r1.t1", [batch, batch], []
            )
        )
        await executor.waiting.wait()
        await asyncio.sleep(0)
        tuning.cancel()
        with pytest.raises(asyncio.CancelledError):
            await tuning

    with Journal(tmp_path) as journal:
        asyncio.run(cut())
        assert journal.find("tuning", "r1.t1") is None
        assert Ledger(config.budget, journal.events).steps["tune"] == 30


@pytest.mark.slow
def test_program_at_the_threshold_is_not_tuned(tmp_path: Path) -> None:
    """The round states the reason."""
    solved = TUNABLE.replace("-1.0, -2.0", "1.0, -2.0").replace("-0.5, -2.0", "0.5, -2.0")
    run = optimize(
        Model(default=solved), tmp_path / "run", rounds=1, candidates=1, max_steps=8_000, stop_at=100.0
    )
    assert run.data["steps"]["tune"] == 0
    assert "reached the threshold in training" in read_run(run.directory)["round"][0].data["untuned"]


def test_untuned_programs_have_a_reason(tmp_path: Path) -> None:
    """People read it in the round, the model in a remark on each program."""
    tuner, history = Tuner.__new__(Tuner), History([], leader_id="")
    tuner._config, tuner._remarks, tuner._no_gain = Config(Task("CartPole-v1")), {}, ""
    played = (EpisodeRecord(1, 5.0, 10),)
    idle = "class Policy:\n    def act(self, obs):\n        return 0\n"
    numbers = "PARAMS = {'a': (1.0, 0.0, 2.0)}\n\n\nclass Policy:\n    def __init__(self, params):\n        self.a = params['a']\n\n"
    for id_, source in (("r1c1", f"{numbers}    def act(self, obs):\n        return 0\n"), ("r1c2", idle)):
        candidate = Candidate(id_, Program.from_source(source).source, 1, digest=id_)
        history.attempts.append(Attempt(candidate, Evaluation("ok", played, 10)))
    reason = tuner.summarize_round(history)["untuned"]
    assert reason.startswith("not tuned: a policy reached the threshold")
    assert tuner.remarks() == {"r1c1": SPARED, "r1c2": NO_NUMBERS}
    tuner._remarks = {"r1c1": NO_NUMBERS, "r1c2": NO_NUMBERS}
    assert tuner.summarize_round(history) == {"untuned": "not tuned: no policy declares PARAMS as literals"}
    tuner._remarks["r1c1"] = "Tuning its 2 numbers over 9 episodes: no gain"
    assert tuner.summarize_round(history) == {}


@pytest.mark.slow
def test_round_reports_tuning_of_the_leader(tmp_path: Path) -> None:
    """The round's own policy may have no parameters."""
    alike = "PARAMS = {'a': (1.0, 0.0, 2.0)}\n\n\nclass Policy:\n    def __init__(self, params):\n        self.a = params['a']\n\n    def act(self, obs):\n        return int(obs[2] > 0)\n"
    idle = "class Policy:\n    def act(self, obs):\n        return 0\n"
    run = optimize(
        Model({"r1.c1": alike, "r2.c1": idle}),
        tmp_path / "run",
        rounds=2,
        candidates=1,
        max_steps=8_000,
        stop_at=400.0,
    )
    rounds = [event.data["untuned"] for event in read_run(run.directory)["round"]]
    assert len(rounds) == 2
    assert all(words.startswith("r1c1: Tuning its 1 number over") for words in rounds)


@pytest.mark.slow
def test_unconfirmed_threshold_leads_to_tuning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lucky training seeds postponed it; fresh seeds did not confirm them."""
    monkeypatch.setattr(History, "reaches_in_training", lambda _, __, attempts: bool(attempts))
    run = optimize(
        Model(default=TUNABLE), tmp_path / "run", rounds=1, candidates=1, max_steps=5_000, stop_at=100.0
    )
    best = run.data["best"]
    assert run.data["steps"]["tune"] > 0
    assert (best["candidate"], best["parents"]) == ("r1c1t", ["r1c1"])
    assert set(best["tuned"]) <= {"angle", "rate"}
    assert run.mean_return > 90
    assert '"angle": (-1.0' not in run.source


@pytest.mark.slow
def test_tuned_program_is_not_raced(tmp_path: Path) -> None:
    """Its parameters were selected on more episodes than racing examines."""
    weak = TUNABLE.replace("(-0.5, -2.0, 2.0)", "(-0.5, -2.0, 0.0)")
    assert weak != TUNABLE
    model = Model({"r1.c1": GOOD}, default=weak)
    run = optimize(model, tmp_path / "run", rounds=2, candidates=1, episodes=6, max_steps=60_000)
    attempts = attempts_of(run)
    assert len(attempts["r2c1"]["returns"]) == 3
    assert max(attempts["r2c1t"]["returns"]) < min(attempts["r1c1"]["returns"])
    assert len(attempts["r2c1t"]["returns"]) == 6


@pytest.mark.parametrize(("parents", "tuned_again"), [(("r0c1",), True), ((), False)])
def test_own_policy_is_tuned_again_but_not_one_tuned_before_the_run(
    parents: tuple[str, ...], tuned_again: bool
) -> None:
    """Only the latter was tuned on steps that are free; both are of round 0."""
    tuner = Tuner.__new__(Tuner)
    tuner._learns = True
    source = "PARAMS = {'a': (1.0, 0.0, 2.0)}\n\n\nclass Policy:\n    def __init__(self, params):\n        pass\n\n    def act(self, obs):\n        return 0\n"
    candidate = Candidate("x", source, 0, digest="x", parents=parents, tuned={"a": (0.5, 1.0)})
    attempt = Attempt(candidate, Evaluation("ok", (EpisodeRecord(1, 5.0, 10),), 10))
    starts = tuner._starts(History([attempt], leader_id=""), [attempt], None)
    assert [start.id for start in starts] == ["x"] * tuned_again
