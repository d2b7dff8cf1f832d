"""The loop end to end, with real sandboxed rollouts and a scripted model."""

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
    """Three rounds of four candidates with every kind of bad one among them and one good one."""
    bad = [
        SYNTAX_ERROR,
        INFINITE_LOOP,
        NAN_ACTION,
        CRASH,
        MEMORY,
        FORBIDDEN,
        PRINTS.replace("+ 0.5 * obs[3]", ""),
    ]
    answers = {f"r{1 + i // 4}.c{1 + i % 4}": text for i, text in enumerate(bad)}
    answers["r2.c4"] = GOOD
    model = Model(answers)
    run = optimize(model, tmp_path_factory.mktemp("runs") / "mixed", rounds=3, repairs=0)
    return model, run


def test_the_good_candidate_wins(mixed_run: Any) -> None:
    """Whatever the others do, the run ends with the good policy, tested on held-out seeds."""
    _, run = mixed_run
    assert run.data["best"]["candidate"] == "r2c4"
    assert run.mean_return > 90
    assert run.data["test"]["episodes"] == QUICK["test_episodes"]
    assert "0.5 * obs[3]" in run.source


def test_every_bad_candidate_is_an_outcome_of_its_own(mixed_run: Any) -> None:
    """A syntax error, a loop, NaN, a crash, a memory bomb and a forbidden import each get their name."""
    _, run = mixed_run
    outcomes = {id_: candidate["outcome"] for id_, candidate in attempts_of(run).items()}
    assert outcomes["r1c1"] == "rejected"
    assert outcomes["r1c2"] == "timeout"
    assert outcomes["r1c3"] == "invalid_action"
    assert outcomes["r1c4"] == "crashed"
    assert outcomes["r2c1"] in {"memory", "crashed"}
    assert outcomes["r2c2"] == "rejected"
    assert outcomes["r2c3"] == "ok"


def test_show_tells_what_happened_to_each(mixed_run: Any) -> None:
    """The overview has a line for every candidate; a single one is shown with its source."""
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
    """Losers appear as one line with their outcome, not as code."""
    model, _ = mixed_run
    prompt = next(r for r in model.requests if r.key == "r2.c1").messages[-1].content
    assert "r1c2: took too long" in prompt
    assert "r1c3: returned an invalid action" in prompt
    assert "while True" not in prompt


def test_steps_are_counted_by_purpose(mixed_run: Any) -> None:
    """Train, validation and test steps in result.json are those of the journal."""
    _, run = mixed_run
    events = read_run(run.directory)
    for purpose, kind in {"train": "evaluation", "validation": "validation", "test": "test"}.items():
        steps = sum(event.data["spent"].get(purpose, 0) for event in events[kind])
        assert run.data["steps"][purpose] == steps
    assert run.data["steps"]["test"] >= run.mean_return * QUICK["test_episodes"]


def test_all_calls_of_a_round_share_one_long_prefix(mixed_run: Any) -> None:
    """System prompts of all policies are identical, so that prompt caching works; the tool has its own."""
    model, _ = mixed_run
    systems = {request.system for request in model.requests if request.purpose != "feedback"}
    assert len(systems) == 1
    assert "CartPole" in systems.pop()
    assert "class Policy" not in model.requests[0].system


def test_seeds_are_kept_apart(mixed_run: Any) -> None:
    """No validation or test seed is ever trained on, and testing begins when no call can follow."""
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
    """A round of broken policies and of answers that hold none: the model and the run."""
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
    """The repair prompt holds the source and the error; the repaired policy takes its place."""
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


def test_a_candidate_that_stays_broken_loses_and_the_run_goes_on(broken_run: Any) -> None:
    """Repairs are bounded; a repair that changes nothing ends them."""
    model, run = broken_run
    assert attempts_of(run)["r1c2"]["outcome"] == "crashed"
    assert "r1.c2.repair1" in model.asked()
    assert "r1.c2.repair2" not in model.asked()


def test_an_empty_or_cut_answer_is_asked_for_again(broken_run: Any) -> None:
    """Cut-off answers and refusals are retried with the reason, and only once."""
    model, run = broken_run
    asked = {r.key: r.messages[-1].content for r in model.requests}
    assert "cut off" in asked["r1.c3.again"]
    assert "refusal" in asked["r1.c5.again"]
    assert "refusal" in attempts_of(run)["r1c5"]["error"]


@pytest.fixture(scope="module")
def twin_run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A good policy, in the next round the same in another layout, and weak ones."""
    twin = GOOD.replace("obs", "observation").replace("    def", "    # a comment\n    def")
    model = Model({"r1.c1": GOOD, "r1.c2": variant(WEAK, 1), "r2.c1": twin})
    return optimize(model, tmp_path_factory.mktemp("twin") / "run", rounds=2, candidates=2, episodes=6)


def test_duplicates_are_not_rolled_out_again(twin_run: Any) -> None:
    """The same program in another layout costs no steps and is named as a duplicate."""
    assert attempts_of(twin_run)["r2c1"]["duplicate_of"] == "r1c1"
    played = {event.data["candidate"] for event in read_run(twin_run.directory)["evaluation"]}
    assert played == {"r1c1", "r1c2", "r2c2"}


def test_racing_gives_up_on_hopeless_candidates(twin_run: Any) -> None:
    """A candidate whose best of three episodes is below the worst of the best is not rolled out further."""
    assert len(attempts_of(twin_run)["r1c1"]["returns"]) == 6
    assert len(attempts_of(twin_run)["r2c2"]["returns"]) == 3


def test_no_answer_is_paid_for_that_no_steps_are_left_to_play(tmp_path: Path) -> None:
    """A round asks for as many policies as the steps that are left can play, one at least."""
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


def test_the_run_stops_when_it_is_solved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The registered threshold, on validation seeds, ends the run; its command is kept so that it can be typed again."""
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
def test_a_leader_that_missed_the_threshold_does_not_keep_others_from_being_tuned(
    tmp_path: Path, rival: str, tuned: bool
) -> None:
    """Its training reached it and fresh seeds did not; what trains no better is no reason to leave numbers as they are."""
    answers = {"r2.c1": rival, "r2.c2": TUNABLE}
    run = optimize(
        Model(answers), tmp_path / "run", rounds=2, candidates=2, max_steps=4_000, stop_at=50.0, seed=98
    )
    misled = attempts_of(run)["r1c1"]
    assert misled["mean_return"] >= 50.0 > misled["evidence"]["mean_return"]
    assert (run.data["steps"]["tune"] > 0) == tuned


def test_the_feedback_class_is_used_and_repaired(tmp_path: Path) -> None:
    """What the class says is in the next prompt; when it crashes it is repaired in the same run."""
    broken = FEEDBACK.replace("angles =", "nothing = 1 / 0\n        angles =")
    model = Model({"feedback": broken, "feedback.repair1": FEEDBACK, "r1.c1": WEAK})
    optimize(model, tmp_path / "run", rounds=2, candidates=1)
    repair = next(r for r in model.requests if r.key == "feedback.repair1").messages[0].content
    assert "ZeroDivisionError" in repair
    assert '"observations" (a list of T+1' in repair, "what the class is given"
    assert "the largest lean was" in next(r for r in model.requests if r.key == "r2.c1").messages[-1].content


def test_a_feedback_class_that_stays_broken_is_replaced(tmp_path: Path) -> None:
    """A built-in table of steps takes over; the run does not end."""
    model = Model({"feedback": "no code here"})
    optimize(model, tmp_path / "run", rounds=2, candidates=1)
    told = next(r for r in model.requests if r.key == "r2.c1").messages[-1].content
    table = told[told.index("step|") :].splitlines()
    assert table[1].startswith("0|")


def test_results_can_be_loaded_and_exported(mixed_run: Any, tmp_path: Path) -> None:
    """The run directory alone is enough to export the best or any other candidate."""
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
        ({"no_such_setting": 1}, "no_such_setting"),
    ],
)
def test_values_that_cannot_work_are_refused_before_anything_is_written(
    tmp_path: Path, settings: Any, words: str
) -> None:
    """One sentence, no run directory, no call."""
    model = Model()
    with pytest.raises(UsageError, match=words):
        optimize(model, tmp_path / "run", **settings)
    assert not model.requests
    assert not (tmp_path / "run").exists()


def test_a_directory_with_a_run_is_not_overwritten(mixed_run: Any) -> None:
    """`--out` of an existing run says how to resume it."""
    _, run = mixed_run
    with pytest.raises(RunError, match="promptpo resume"):
        optimize(Model(), run.directory)


def test_the_same_seed_gives_the_same_run(tmp_path: Path) -> None:
    """Two runs with the same answers and seed agree in every return."""
    few: Any = {"rounds": 1, "candidates": 2, "episodes": 2, "validation_episodes": 2, "test_episodes": 2}
    runs = [optimize(Model({"r1.c2": GOOD}), tmp_path / name, **few) for name in ("a", "b")]
    first, second = (attempts_of(run) for run in runs)
    assert first == second
    other = optimize(Model({"r1.c2": GOOD}), tmp_path / "c", **few, seed=1)
    assert attempts_of(other)["r1c1"]["returns"] != first["r1c1"]["returns"]
    assert replace(other, directory=runs[0].directory).source == runs[0].source
