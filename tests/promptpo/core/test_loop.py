"""The search loop end to end, with real sandboxed rollouts and a scripted model."""

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.cli.show import candidate_in_full, overview
from promptpo.errors import RunError, UsageError
from promptpo.llm.base import Completion
from promptpo.output.run_result import load_run
from promptpo.run.state import read_state
from tests.promptpo.optimizing import QUICK, Model, attempts_of, optimize, read_run
from tests.promptpo.policies import (
    CRASH,
    FEEDBACK,
    FORBIDDEN,
    GOOD,
    INFINITE_LOOP,
    MEMORY,
    NAN_ACTION,
    PRINTS,
    SYNTAX_ERROR,
    TUNABLE,
    WEAK,
    variant,
)


@pytest.fixture(scope="module")
def mixed_run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Three rounds of four candidates: every kind of broken policy and one good policy."""
    bad = [
        SYNTAX_ERROR, INFINITE_LOOP, NAN_ACTION, CRASH, MEMORY, FORBIDDEN,
        PRINTS.replace("+ 0.5 * obs[3]", ""),
    ]  # fmt: skip
    answers = {f"r{1 + i // 4}.c{1 + i % 4}": text for i, text in enumerate(bad)}
    answers["r2.c4"] = GOOD
    model = Model(answers)
    run = optimize(model, tmp_path_factory.mktemp("runs") / "mixed", rounds=3, repairs=0)
    return model, run


def test_good_candidate_wins(mixed_run: Any) -> None:
    """It is tested on held-out seeds."""
    _, run = mixed_run
    assert run.data["best"]["candidate"] == "r2c4"
    assert run.mean_return > 90
    assert run.data["test"]["episodes"] == QUICK["test_episodes"]
    assert "0.5 * obs[3]" in run.source


def test_each_kind_of_failure_has_its_outcome(mixed_run: Any) -> None:
    _, run = mixed_run
    outcomes = {id_: candidate["outcome"] for id_, candidate in attempts_of(run).items()}
    assert outcomes["r1c1"] == "rejected"
    assert outcomes["r1c2"] == "timeout"
    assert outcomes["r1c3"] == "invalid_action"
    assert outcomes["r1c4"] == "crashed"
    assert outcomes["r2c1"] in {"memory", "crashed"}
    assert outcomes["r2c2"] == "rejected"
    assert outcomes["r2c3"] == "ok"


def test_show_lists_every_candidate(mixed_run: Any) -> None:
    """A single candidate is shown with its source."""
    _, run = mixed_run
    text = overview(run.directory)
    for id_, candidate in attempts_of(run).items():
        line = next(line for line in text.splitlines() if line.strip().startswith(id_))
        if candidate["outcome"] != "ok":
            assert candidate["error"].split(".")[0] in line
    assert "class Policy" in candidate_in_full(run.directory, "r2c4")
    with pytest.raises(RunError, match="r9c9"):
        candidate_in_full(run.directory, "r9c9")


def test_failures_reach_the_next_prompt(mixed_run: Any) -> None:
    """Failed candidates appear as one line with their outcome, without code."""
    model, _ = mixed_run
    prompt = next(r for r in model.requests if r.key == "r2.c1").messages[-1].content
    assert "r1c2: took too long" in prompt
    assert "r1c3: returned an invalid action" in prompt
    assert "while True" not in prompt


def test_result_steps_match_the_journal(mixed_run: Any) -> None:
    _, run = mixed_run
    events = read_run(run.directory)
    for purpose, kind in {"train": "evaluation", "validation": "validation", "test": "test"}.items():
        steps = sum(event.data["spent"].get(purpose, 0) for event in events[kind])
        assert run.data["steps"][purpose] == steps
    assert run.data["steps"]["test"] >= run.mean_return * QUICK["test_episodes"]


def test_policy_requests_share_their_system_prompt(mixed_run: Any) -> None:
    """Identical prefixes make prompt caching effective; the feedback class has its own."""
    model, _ = mixed_run
    systems = {request.system for request in model.requests if request.purpose != "feedback"}
    assert len(systems) == 1
    assert "CartPole" in systems.pop()
    assert "class Policy" not in model.requests[0].system


def test_training_validation_and_test_seeds_are_disjoint(mixed_run: Any) -> None:
    """Testing begins when no call can follow."""
    _, run = mixed_run
    events = read_run(run.directory)
    seen = {
        kind: {e["seed"] for event in events[kind] for e in event.data["evaluation"]["episodes"]}
        for kind in ("evaluation", "validation", "test")
    }
    assert all(seen.values())
    assert not seen["evaluation"] & seen["validation"]
    assert not seen["test"] & (seen["evaluation"] | seen["validation"])
    assert events["test"][0].n > max(event.n for event in events["completion"])


@pytest.fixture(scope="module")
def broken_run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A round of broken policies and answers without code."""
    answers = {
        "r1.c1": SYNTAX_ERROR,
        "r1.c1.repair1": CRASH,
        "r1.c1.repair2": GOOD,
        "r1.c2": variant(CRASH, 2),
        "r1.c2.repair1": variant(CRASH, 2),
        "r1.c3": Completion(variant(GOOD, 3)[:80], "m", finish="length"),
        "r1.c3.again": variant(GOOD, 3),
        "r1.c4": "",
        "r1.c5": Completion("I cannot.", "m", finish="refusal"),
        "r1.c5.again": Completion("I will not.", "m", finish="refusal"),
    }
    model = Model(answers)
    return model, optimize(
        model, tmp_path_factory.mktemp("broken") / "run", rounds=1, candidates=5, repairs=5
    )


def test_broken_candidates_are_repaired(broken_run: Any) -> None:
    """The repair prompt contains the source and the error."""
    model, run = broken_run
    assert run.mean_return > 90
    assert run.data["best"]["candidate"] in {"r1c1", "r1c3"}
    assert attempts_of(run)["r1c1"]["repairs"] == 2
    assert [key for key in model.asked() if key.startswith("r1.c1")] == [
        "r1.c1",
        "r1.c1.repair1",
        "r1.c1.repair2",
    ]
    first, second = (
        next(r for r in model.requests if r.key == f"r1.c1.repair{n}").messages[0].content for n in (1, 2)
    )
    assert "def act(self, obs)\n" in first
    assert "line 2" in first
    assert "IndexError" in second


def test_repair_without_changes_ends_repairs(broken_run: Any) -> None:
    """The candidate loses and the run continues."""
    model, run = broken_run
    assert attempts_of(run)["r1c2"]["outcome"] == "crashed"
    assert "r1.c2.repair1" in model.asked()
    assert "r1.c2.repair2" not in model.asked()


def test_truncated_answers_and_refusals_are_retried_once(broken_run: Any) -> None:
    """The retry states the reason."""
    model, run = broken_run
    asked = {r.key: r.messages[-1].content for r in model.requests}
    assert "cut off" in asked["r1.c3.again"]
    assert "refusal" in asked["r1.c5.again"]
    assert "refusal" in attempts_of(run)["r1c5"]["error"]


@pytest.fixture(scope="module")
def duplicate_run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A good policy, its reformatted duplicate in the next round, and weak ones."""
    duplicate = GOOD.replace("obs", "observation").replace("    def", "    # a comment\n    def")
    model = Model({"r1.c1": GOOD, "r1.c2": variant(WEAK, 1), "r2.c1": duplicate})
    return optimize(model, tmp_path_factory.mktemp("twin") / "run", rounds=2, candidates=2, episodes=6)


def test_duplicates_are_not_rolled_out_again(duplicate_run: Any) -> None:
    """Reformatting the same program costs no steps."""
    assert attempts_of(duplicate_run)["r2c1"]["duplicate_of"] == "r1c1"
    played = {event.data["candidate"] for event in read_run(duplicate_run.directory)["evaluation"]}
    assert played == {"r1c1", "r1c2", "r2c2"}


def test_racing_drops_hopeless_candidates(duplicate_run: Any) -> None:
    """The best of three episodes is below the leader's worst."""
    assert len(attempts_of(duplicate_run)["r1c1"]["returns"]) == 6
    assert len(attempts_of(duplicate_run)["r2c2"]["returns"]) == 3


def test_requests_are_limited_to_affordable_rollouts(tmp_path: Path) -> None:
    """At least one policy is requested."""
    answers = {f"r1.c{n}": variant(WEAK, n) for n in range(1, 4)}
    first = optimize(
        Model(answers, default=variant(WEAK, 9)), tmp_path / "a", rounds=1, candidates=3, tune="none"
    )
    steps = first.data["searched_steps"]
    run = optimize(
        Model(answers, default=variant(WEAK, 9)), tmp_path / "b", rounds=2, candidates=3, tune="none",
        max_steps=steps + steps // 4,
    )  # fmt: skip
    asked = [key for key in read_state(run.directory).payloads["completion"] if key.startswith("r2.c")]
    assert 1 <= len(asked) < 3


def test_run_stops_when_solved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The threshold counts on validation seeds. The command is recorded in a form that can be retyped."""
    typed = ["promptpo", "optimize", "CartPole-v1", "--hint", "the pole's angle is all"]
    monkeypatch.setattr("sys.argv", typed)
    run = optimize(Model(default=GOOD), tmp_path / "run", rounds=4, candidates=1, stop_at=90.0)
    assert run.data["rounds"] == 1
    assert run.stop_reason.startswith("solved")
    assert shlex.split(run.data["command"]) == typed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rival", "tuned"), [(variant(WEAK, 2), True), (GOOD, False)], ids=["as good", "better"]
)
def test_misled_leader_does_not_prevent_tuning(tmp_path: Path, rival: str, tuned: bool) -> None:
    """Training reached the threshold, fresh seeds did not; only a candidate that trains better postpones tuning."""
    answers = {"r2.c1": rival, "r2.c2": TUNABLE}
    run = optimize(
        Model(answers), tmp_path / "run", rounds=2, candidates=2, max_steps=4_000, stop_at=50.0, seed=98
    )
    misled = attempts_of(run)["r1c1"]
    assert misled["mean_return"] >= 50.0 > misled["evidence"]["mean_return"]
    assert (run.data["steps"]["tune"] > 0) == tuned


def test_feedback_class_is_used_and_repaired(tmp_path: Path) -> None:
    """Its text is in the next prompt; a crash is repaired in the same run."""
    broken = FEEDBACK.replace("angles =", "nothing = 1 / 0\n        angles =")
    model = Model({"feedback": broken, "feedback.repair1": FEEDBACK, "r1.c1": WEAK})
    optimize(model, tmp_path / "run", rounds=2, candidates=1)
    repair = next(r for r in model.requests if r.key == "feedback.repair1").messages[0].content
    assert "ZeroDivisionError" in repair
    assert '"observations" (a list of T+1' in repair, "what the class is given"
    assert "the largest lean was" in next(r for r in model.requests if r.key == "r2.c1").messages[-1].content


def test_broken_feedback_class_is_replaced(tmp_path: Path) -> None:
    """A built-in table of steps takes over."""
    model = Model({"feedback": "no code here"})
    optimize(model, tmp_path / "run", rounds=2, candidates=1)
    prompt = next(r for r in model.requests if r.key == "r2.c1").messages[-1].content
    table = prompt[prompt.index("step|") :].splitlines()
    assert table[1].startswith("0|")


def test_results_can_be_loaded_and_exported(mixed_run: Any, tmp_path: Path) -> None:
    """The run directory suffices."""
    _, run = mixed_run
    assert load_run(run.directory).mean_return == run.mean_return
    assert "class Policy" in promptpo.export(run.directory)
    assert "obs[7]" not in promptpo.export(run.directory, candidate="r2c3")
    with pytest.raises(RunError, match="is not a run"):
        promptpo.export(tmp_path)
    result = json.loads((run.directory / "result.json").read_text())
    assert result["versions"]["gymnasium"]
    assert set(result["steps"]) >= {"train", "validation", "test", "tune"}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rounds": 0}, "rounds must be greater than or equal to 1"),
        ({"max_steps": -5}, "steps must be greater than 0"),
        ({"seed": -1}, "seed"),
        ({"recipe_options": {"bests": 2}}, "no switch 'bests'"),
        ({"recipe_options": {"probe_steps": 0}}, "probe_steps must be greater than or equal to 1"),
        ({"recipe": "papr"}, "'default', 'paper'"),
        ({"no_such_setting": 1}, "no_such_setting"),
    ],
)
def test_invalid_settings_are_rejected_first(tmp_path: Path, settings: Any, words: str) -> None:
    """No run directory is created and no call made."""
    model = Model()
    with pytest.raises(UsageError, match=words):
        optimize(model, tmp_path / "run", **settings)
    assert not model.requests
    assert not (tmp_path / "run").exists()


def test_existing_run_is_not_overwritten(mixed_run: Any) -> None:
    """The error suggests resuming."""
    _, run = mixed_run
    with pytest.raises(RunError, match="promptpo resume"):
        optimize(Model(), run.directory)


def test_equal_seeds_give_equal_runs(tmp_path: Path) -> None:
    few: Any = {"rounds": 1, "candidates": 2, "episodes": 2, "validation_episodes": 2, "test_episodes": 2}
    runs = [optimize(Model({"r1.c2": GOOD}), tmp_path / name, **few) for name in ("a", "b")]
    first, second = (attempts_of(run) for run in runs)
    assert first == second
    other = optimize(Model({"r1.c2": GOOD}), tmp_path / "c", **few, seed=1)
    assert attempts_of(other)["r1c1"]["returns"] != first["r1c1"]["returns"]
    assert replace(other, directory=runs[0].directory).source == runs[0].source
