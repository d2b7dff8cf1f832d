"""Helping a run: a hint in every prompt, and policies to begin with."""

from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.cli.app import run as command_line
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.outcome import outcome
from promptpo.output.policy_file import policies_in
from promptpo.output.report.compare_page import table_rows
from promptpo.output.report.page import write_report
from promptpo.output.runs import read_line
from promptpo.run.config_file import CONFIG, load_config
from tests.promptpo.optimizing import Model, attempts_of, optimize, read_run
from tests.promptpo.policies import CRASH, GOOD, TUNABLE, WEAK


def code_of(answer: Any) -> Any:
    """The module in a scripted answer."""
    return promptpo.program.answers.extract_program(answer).source if "```" in answer else answer


@pytest.fixture
def own(tmp_path: Path) -> Any:
    """A good controller in a file."""
    path = tmp_path / "own.py"
    path.write_text(code_of(GOOD))
    return path


@pytest.mark.slow
def test_a_policy_to_begin_with_is_a_candidate_of_round_0(tmp_path: Path, own: Any) -> None:
    """It is rolled out and judged without a call, is the parent of the first round, and wins where it is the best.

    A resumed run needs the file no more, and rolls nothing of it out again.
    """
    model = Model(default=WEAK)
    run = optimize(model, tmp_path / "run", rounds=1, candidates=2, start=[own])
    assert run.data["best"]["candidate"] == "r0c1"
    assert run.data["best"]["round"] == 0
    assert run.mean_return > 90
    assert "written by its user" in run.policy_path.read_text()
    assert "The initial policy (--start);" in outcome(run.data, run.directory)
    asked = [request for request in model.requests if request.purpose == "policy"]
    assert len(asked) == 2
    assert all("0.5 * obs[3]" in request.messages[-1].content for request in asked)
    found = attempts_of(run)
    assert found["r1c1"]["parents"] == ["r0c1"]
    assert found["r0c1"]["evidence"]["episodes"] > 4
    assert not any(event.data.get("candidate") == "r0c1" for event in read_run(run.directory)["completion"])
    own.unlink()
    again = promptpo.resume(run.directory, llm=ScriptedLLM(Model(default=WEAK)), rounds=2)
    assert again.data["best"]["candidate"] == "r0c1"
    evaluations = read_run(run.directory)["evaluation"]
    assert sum(event.data["candidate"] == "r0c1" for event in evaluations) == 1


def test_a_hint_is_in_every_prompt_and_recorded(tmp_path: Path) -> None:
    """All lines of it, also where they look like code; a resumed run still has it."""
    model = Model(default=WEAK)
    optimize(model, tmp_path / "run", rounds=1, candidates=1, hint="The pole falls\nwhere obs[2] points.")
    for request in model.requests:
        assert "# The pole falls\n# where obs[2] points.\n" in request.system
    assert load_config(tmp_path / "run" / CONFIG).hint.startswith("The pole falls")
    again = Model(default=WEAK)
    promptpo.resume(tmp_path / "run", llm=ScriptedLLM(again), rounds=2)
    assert again.requests
    assert all("# The pole falls" in request.system for request in again.requests)


def test_what_takes_ids_takes_round_0(tmp_path: Path, own: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """`show`, `export`, the report and the evolutionary recipe's islands know "r0c1" and tell who gave it."""
    model = Model(default=WEAK)
    run = optimize(model, tmp_path / "run", rounds=2, candidates=2, start=[own], recipe="evolve")
    assert command_line(["show", str(run.directory)]) == 0
    assert "Before the first round" in capsys.readouterr().out
    assert command_line(["show", str(run.directory), "r0c1"]) == 0
    assert "Given by the user." in capsys.readouterr().out
    assert "0.5 * obs[3]" in promptpo.export(run.directory, candidate="r0c1")
    assert "r0c1" in write_report(run.directory, episode=False).read_text()


@pytest.mark.slow
def test_numbers_of_a_given_policy_are_tuned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A controller with PARAMS is improved like one that the model wrote, in the first round, and called so everywhere.

    The verdict advises no --start again.
    """
    path = tmp_path / "mine.py"
    path.write_text(code_of(TUNABLE))
    run = optimize(Model(default=CRASH), tmp_path / "run", rounds=1, candidates=1, repairs=0, start=[path], max_steps=6_000)  # fmt: skip
    best = run.data["best"]
    assert (best["candidate"], best["origin"]) == ("r0c1t", "user")
    assert best["tuned"]
    assert "The initial policy (--start), tuned" in outcome(run.data, run.directory)
    assert command_line(["show", str(run.directory), "r0c1t"]) == 0
    assert "Tuned from the user's." in capsys.readouterr().out
    assert "written by its user, tuned" in run.policy_path.read_text()
    assert "a controller of your own" not in run.data["verdict"]
    line = read_line(run.directory)
    assert line.facts["written_by"] == "its user, tuned"
    assert "its user, tuned" in table_rows([line], line)[0].values()
    assert "<dd>its user, tuned</dd>" in (run.directory / "report.html").read_text()
    (run.directory / "result.json").unlink()
    assert read_line(run.directory).facts["written_by"] == "its user, tuned"


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run of the good policy, whose file and directory others may begin with."""
    out = tmp_path_factory.mktemp("exported") / "run"
    return optimize(Model(default=GOOD), out, rounds=1, candidates=1, test_episodes=2)


@pytest.mark.slow
def test_an_exported_file_or_a_run_begins_another(tmp_path: Path, exported: Any) -> None:
    """What the exporter added is cut off, so last week's best goes on as it was written."""
    file, directory = policies_in([exported.policy_path, exported.directory])
    assert file == directory
    assert "argparse" not in file
    assert "def predict" not in file
    given = str(exported.policy_path)  # one path alone, as a person may give it
    second = optimize(Model(default=WEAK), tmp_path / "second", rounds=1, candidates=1, start=given)
    assert second.data["best"]["candidate"] == "r0c1"


@pytest.mark.slow
@pytest.mark.parametrize(("given", "asked"), [(GOOD, False), (WEAK, True)], ids=["solves", "was lucky"])
def test_the_model_is_asked_unless_a_given_policy_holds_the_threshold(
    tmp_path: Path, own: Any, given: str, asked: bool
) -> None:
    """One that reaches the threshold in training is validated first; if it does not hold, all rounds are still to come."""
    own.write_text(code_of(given))
    model = Model(default=GOOD)
    more = {"start": [own], "rounds": 1, "candidates": 1, "stop_at": 50.0, "seed": 98, "tune": "none"}
    run = optimize(model, tmp_path / "run", **more)
    assert attempts_of(run)["r0c1"]["mean_return"] >= 50.0
    assert ("r1.c1" in model.asked()) == asked
    assert run.data["rounds"] == int(asked)
    assert run.data["best"]["candidate"] == ("r1c1" if asked else "r0c1")
    assert run.stop_reason.startswith("solved")
    again = Model()
    promptpo.resume(run.directory, llm=ScriptedLLM(again))
    assert not again.requests


def test_a_file_without_a_policy_is_refused_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One sentence and exit status 2; no run directory is left."""
    path = tmp_path / "notes.py"
    path.write_text("print('no policy')\n")
    with pytest.raises(UsageError, match="no class Policy"):
        policies_in([path])
    broken = tmp_path / "broken.py"
    broken.write_text("class Policy:\n    def act(self, obs:\n")
    with pytest.raises(UsageError, match=r"broken.py .*: line 2"):
        policies_in([broken])
    command = [
        "optimize",
        "CartPole-v1",
        "--model",
        "search",
        "--start",
        str(path),
        "--out",
        str(tmp_path / "run"),
    ]
    assert command_line(command) == 2
    assert "no class Policy" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("env_id", "words"),
    [
        ("Acrobot-v1", "was exported for CartPole-v1, not for Acrobot-v1"),
        ("Pendulum-v1", "does not fit Pendulum-v1: on the first observation it crashed"),
    ],
)
def test_a_policy_for_another_environment_is_refused(
    tmp_path: Path, own: Any, exported: Any, env_id: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its header, or since it cannot act on the first observation: one sentence, and nothing is made."""
    given = exported.policy_path if "exported" in words else own
    out = tmp_path / "run"
    command = ["optimize", env_id, "--model", "search", "--start", str(given), "--out", str(out)]
    for more in ([], ["--seeds", "2"]):
        assert command_line([*command, *more]) == 2
        assert words in capsys.readouterr().err.splitlines()[-1]
        assert not out.exists()


def test_an_environment_that_fails_at_its_first_reset_is_one_sentence(
    tmp_path: Path, own: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before a policy of one's own is asked anything; nothing is made."""
    monkeypatch.chdir(tmp_path)
    spaces = "observation_space, action_space = gym.spaces.Box(-1, 1), gym.spaces.Discrete(2)"
    broken = "def reset(self, *, seed=None, options=None): raise KeyError('no such file')"
    code = f"import gymnasium as gym\nclass Bad(gym.Env):\n    {spaces}\n    {broken}\n    def step(self, action): ...\n"
    Path("bad.py").write_text(code)
    command = ["optimize", "./bad.py:Bad", "--model", "search", "--start", str(own), "--out", "run"]
    assert command_line(command) == 1
    assert "no such file" in capsys.readouterr().err.splitlines()[-1]
    assert not Path("run").exists()


def test_another_version_of_an_environment_is_the_same(exported: Any) -> None:
    """What was exported for CartPole-v1 may begin a run on CartPole-v0, from whatever module."""
    assert policies_in([exported.policy_path], Task("CartPole-v0"))
    assert policies_in([exported.policy_path], Task("mine:Own/CartPole-v3"))
    with pytest.raises(UsageError, match="not for Pendulum-v1"):
        policies_in([exported.policy_path], Task("Pendulum-v1"))
