"""Help from the user: a hint in every prompt, and initial policies."""

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
    """Return the module in a scripted answer."""
    return promptpo.program.answers.extract_program(answer).source if "```" in answer else answer


@pytest.fixture
def own_policy(tmp_path: Path) -> Any:
    """A good controller in a file."""
    path = tmp_path / "own.py"
    path.write_text(code_of(GOOD))
    return path


@pytest.mark.slow
def test_initial_policy_is_a_candidate_of_round_0(tmp_path: Path, own_policy: Any) -> None:
    """It costs no call, is the parent in the first round, and may win.

    A resumed run needs the file no more, and rolls nothing of it out again.
    """
    model = Model(default=WEAK)
    run = optimize(model, tmp_path / "run", rounds=1, candidates=2, start=[own_policy])
    assert run.data["best"]["candidate"] == "r0c1"
    assert run.data["best"]["round"] == 0
    assert run.mean_return > 90
    assert "written by its user" in run.policy_path.read_text()
    assert "The initial policy (--start);" in outcome(run.data, run.directory)
    requests = [request for request in model.requests if request.purpose == "policy"]
    assert len(requests) == 2
    assert all("0.5 * obs[3]" in request.messages[-1].content for request in requests)
    attempts = attempts_of(run)
    assert attempts["r1c1"]["parents"] == ["r0c1"]
    assert attempts["r0c1"]["evidence"]["episodes"] > 4
    assert not any(event.data.get("candidate") == "r0c1" for event in read_run(run.directory)["completion"])
    own_policy.unlink()
    again = promptpo.resume(run.directory, llm=ScriptedLLM(Model(default=WEAK)), rounds=2)
    assert again.data["best"]["candidate"] == "r0c1"
    evaluations = read_run(run.directory)["evaluation"]
    assert sum(event.data["candidate"] == "r0c1" for event in evaluations) == 1


def test_hint_is_in_every_prompt_and_recorded(tmp_path: Path) -> None:
    """A resumed run keeps it."""
    model = Model(default=WEAK)
    optimize(model, tmp_path / "run", rounds=1, candidates=1, hint="The pole falls\nwhere obs[2] points.")
    for request in model.requests:
        assert "# The pole falls\n# where obs[2] points.\n" in request.system
    assert load_config(tmp_path / "run" / CONFIG).hint.startswith("The pole falls")
    again = Model(default=WEAK)
    promptpo.resume(tmp_path / "run", llm=ScriptedLLM(again), rounds=2)
    assert again.requests
    assert all("# The pole falls" in request.system for request in again.requests)


def test_commands_accept_candidates_of_round_0(
    tmp_path: Path, own_policy: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """`show`, `export`, the report and the islands of the evolutionary recipe."""
    model = Model(default=WEAK)
    run = optimize(model, tmp_path / "run", rounds=2, candidates=2, start=[own_policy], recipe="evolve")
    assert command_line(["show", str(run.directory)]) == 0
    assert "Before the first round" in capsys.readouterr().out
    assert command_line(["show", str(run.directory), "r0c1"]) == 0
    assert "Given by the user." in capsys.readouterr().out
    assert "0.5 * obs[3]" in promptpo.export(run.directory, candidate="r0c1")
    assert "r0c1" in write_report(run.directory, episode=False).read_text()


@pytest.mark.slow
def test_parameters_of_an_initial_policy_are_tuned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """This happens in the first round; its author is called the user everywhere, and the verdict does not suggest --start again."""
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
    """A run of the good policy, from whose file or directory another run may start."""
    out = tmp_path_factory.mktemp("exported") / "run"
    return optimize(Model(default=GOOD), out, rounds=1, candidates=1, test_episodes=2)


@pytest.mark.slow
def test_exported_file_or_run_is_an_initial_policy(tmp_path: Path, exported: Any) -> None:
    """Code added by the exporter is removed."""
    file, directory = policies_in([exported.policy_path, exported.directory])
    assert file == directory
    assert "argparse" not in file
    assert "def predict" not in file
    given = str(exported.policy_path)  # a single path, as a user may pass it
    second = optimize(Model(default=WEAK), tmp_path / "second", rounds=1, candidates=1, start=given)
    assert second.data["best"]["candidate"] == "r0c1"


@pytest.mark.slow
@pytest.mark.parametrize(("given", "asked"), [(GOOD, False), (WEAK, True)], ids=["solves", "was lucky"])
def test_model_is_asked_unless_an_initial_policy_solves_the_task(
    tmp_path: Path, own_policy: Any, given: str, asked: bool
) -> None:
    """A policy that reaches the threshold in training is validated first."""
    own_policy.write_text(code_of(given))
    model = Model(default=GOOD)
    more = {"start": [own_policy], "rounds": 1, "candidates": 1, "stop_at": 50.0, "seed": 98, "tune": "none"}
    run = optimize(model, tmp_path / "run", **more)
    assert attempts_of(run)["r0c1"]["mean_return"] >= 50.0
    assert ("r1.c1" in model.asked()) == asked
    assert run.data["rounds"] == int(asked)
    assert run.data["best"]["candidate"] == ("r1c1" if asked else "r0c1")
    assert run.stop_reason.startswith("solved")
    again = Model()
    promptpo.resume(run.directory, llm=ScriptedLLM(again))
    assert not again.requests


def test_file_without_a_policy_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused before a run directory is made."""
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
def test_policy_for_another_environment_is_refused(
    tmp_path: Path,
    own_policy: Any,
    exported: Any,
    env_id: str,
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its header names another one, or it fails on the first observation."""
    given = exported.policy_path if "exported" in words else own_policy
    out = tmp_path / "run"
    command = ["optimize", env_id, "--model", "search", "--start", str(given), "--out", str(out)]
    for more in ([], ["--seeds", "2"]):
        assert command_line([*command, *more]) == 2
        assert words in capsys.readouterr().err.splitlines()[-1]
        assert not out.exists()


def test_environment_that_fails_at_its_first_reset_gets_one_sentence(
    tmp_path: Path, own_policy: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The initial policy is never called."""
    monkeypatch.chdir(tmp_path)
    spaces = "observation_space, action_space = gym.spaces.Box(-1, 1), gym.spaces.Discrete(2)"
    broken = "def reset(self, *, seed=None, options=None): raise KeyError('no such file')"
    code = f"import gymnasium as gym\nclass Bad(gym.Env):\n    {spaces}\n    {broken}\n    def step(self, action): ...\n"
    Path("bad.py").write_text(code)
    command = ["optimize", "./bad.py:Bad", "--model", "search", "--start", str(own_policy), "--out", "run"]
    assert command_line(command) == 1
    assert "no such file" in capsys.readouterr().err.splitlines()[-1]
    assert not Path("run").exists()


def test_initial_policy_may_be_of_another_version_or_module(exported: Any) -> None:
    """Such as CartPole-v0 for CartPole-v1."""
    assert policies_in([exported.policy_path], Task("CartPole-v0"))
    assert policies_in([exported.policy_path], Task("mine:Own/CartPole-v3"))
    with pytest.raises(UsageError, match="not for Pendulum-v1"):
        policies_in([exported.policy_path], Task("Pendulum-v1"))
