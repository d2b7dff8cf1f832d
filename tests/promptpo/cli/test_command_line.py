"""The commands as a user runs them, with real processes and signals."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run
from tests.promptpo.commands import Command, run_command
from tests.waiting import says, wait_until

ROOT = Path(__file__).parents[3]
SHORT = ["--episodes", "3", "--validation-episodes", "4", "--test-episodes", "5", "--no-film"]
QUICK = [*SHORT, "--rounds", "1", "--candidates", "1", "--tune", "none", "--jobs", "1"]


def environment(**more: Any) -> Any:
    """Return a new user's environment variables: no API keys, and the tests importable."""
    kept = {
        k: v for k, v in os.environ.items() if not k.endswith("_API_KEY") and not k.startswith("PROMPTPO")
    }
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**kept, "PYTHONPATH": path, "COLUMNS": "100", **more}


def promptpo(*arguments: Any, cwd: Any, fresh: bool = False, **more: Any) -> Any:
    """Run one command to its end; with `fresh`, in an interpreter that has imported nothing yet."""
    if not fresh:
        return run_command(arguments, cwd=cwd, environment=environment(**more))
    return subprocess.run(
        [sys.executable, "-m", "promptpo", *arguments],
        cwd=cwd,
        env=environment(**more),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.fixture
def new_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """An empty current directory and no API keys, for commands that run in this process."""
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.startswith("PROMPTPO"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """CartPole-v1 solved by the embedded default, with the run in ``run``."""
    folder = tmp_path_factory.mktemp("cli")
    few = ("--test-episodes", "10", "--no-film")  # of its 100,000 steps it takes a quarter
    done = promptpo("optimize", "CartPole-v1", "--out", "run", *few, cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_without_a_key_program_search_solves_cartpole(solved: Any) -> None:
    """The first line says that no language model is used."""
    folder, done = solved
    assert "no language model" in done.stderr.splitlines()[0]
    assert "choose another" in done.stderr.splitlines()[0]
    assert "Warning" not in done.stderr
    result = json.loads((folder / "run" / "result.json").read_text())
    assert result["test"]["mean_return"] >= 475
    assert result["language_model"] is False
    assert "program search" in (folder / "run" / "best.py").read_text()[:200]


def test_exported_file_reproduces_the_test_returns(solved: Any) -> None:
    """Plain Python on the test seeds returns what result.json reports."""
    folder, _ = solved
    done = promptpo("export", "run", "-o", "policy.py", cwd=folder)
    assert done.stdout == "wrote policy.py\n"
    played = subprocess.run(
        [sys.executable, "policy.py", "--episodes", "10", "--seed", "20000000"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    result = json.loads((folder / "run" / "result.json").read_text())
    returns = [
        float(line.rsplit(" ", 1)[1]) for line in played.stdout.splitlines() if line.startswith("episode")
    ]
    assert returns == result["test"]["returns"]


def test_evaluate_prints_the_documented_json(solved: Any, capsys: pytest.CaptureFixture[str]) -> None:
    policy = str(solved[0] / "run" / "best.py")
    assert run(["evaluate", policy, "--env", "CartPole-v1", "--episodes", "3", "--seed", "5", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert set(value) >= {"env", "episodes", "returns", "mean_return", "steps", "seconds", "outcome", "error"}
    assert [value[key] for key in ("env", "episodes", "outcome", "error")] == ["CartPole-v1", 3, "ok", None]
    assert value["steps"] == sum(value["returns"])


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("        return 1 / 0", "crashed"),
        ("        return float('nan')", "invalid_action"),
        ("        return 7", "invalid_action"),
        ("        import os\n        return os.getpid()", "rejected"),
        ("        return", "invalid_action"),
    ],
)
def test_evaluate_reports_the_outcome_of_a_bad_policy(
    new_user: Any, capsys: pytest.CaptureFixture[str], body: str, outcome: str
) -> None:
    """Exit code 1, with the outcome and one sentence in the JSON."""
    (new_user / "bad.py").write_text(f"class Policy:\n    def act(self, obs):\n{body}\n")
    code = run(["evaluate", "bad.py", "--env", "CartPole-v1", "--episodes", "1", "--json"])
    value = json.loads(capsys.readouterr().out)
    assert (code, value["outcome"]) == (1, outcome)
    assert value["error"]
    assert value["mean_return"] is None


def test_show_lists_candidates_as_text_and_json(solved: Any, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(solved[0] / "run")
    assert run(["show", folder]) == 0
    assert "r1c1" in capsys.readouterr().out
    assert run(["show", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["candidates"]


@pytest.mark.parametrize(
    ("arguments", "keys"),
    [
        (["show", "run", "r1c1"], {"id", "outcome", "feedback", "source", "mean_return"}),
        (["export", "run"], {"run", "candidate", "text"}),
        (["export", "run", "-o", "policy.json.py"], {"run", "candidate", "output"}),
        (["report", "run", "--no-film"], {"run", "output"}),
        (["track", "run", "--to", "monitor:monitor.csv"], {"run", "sent_to"}),
        (["spec", "CartPole-v1"], {"env", "text"}),
        (["spec", "CartPole-v1", "-o", "spec.py"], {"env", "output"}),
        (["spec", "CartPole-v1", "--check", "spec.py"], {"env", "spec", "problems"}),
    ],
)
def test_json_has_the_documented_keys(
    solved: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: Any,
    keys: Any,
) -> None:
    """The output is one JSON object, and the files that it names exist."""
    folder, _ = solved
    monkeypatch.chdir(folder)
    assert run([*arguments, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert keys <= set(value)
    if "output" in value:
        assert (folder / value["output"]).stat().st_size > 0


def test_spec_check_reports_problems_as_json(new_user: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["spec", "CartPole-v1", "-o", "wrong.py"]) == 0
    right = (new_user / "wrong.py").read_text()
    (new_user / "wrong.py").write_text(right.replace("500", "700"))
    capsys.readouterr()
    assert run(["spec", "CartPole-v1", "--check", "wrong.py", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problems"]


@pytest.mark.usefixtures("new_user")
def test_json_is_alone_on_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    """Worker processes print nothing either."""
    assert run(["optimize", "CartPole-v1", *QUICK, "--json", "--model", "search"]) == 0
    printed = capfd.readouterr()
    assert json.loads(printed.out)["test"]["episodes"] == 5
    assert printed.err == ""


@pytest.mark.usefixtures("new_user")
def test_quiet_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["optimize", "CartPole-v1", *QUICK, "--quiet", "--out", "r"]) == 0
    assert capfd.readouterr() == ("", "")


def test_quiet_tells_of_a_failure(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A run in which no policy ran ends with code 1 and says why on standard error."""
    command = ["optimize", "CartPole-v1", *QUICK, "--quiet", "--out", str(tmp_path / "r")]
    assert run([*command, "--model", "exec:echo nothing", "--repairs", "0"]) == 1
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "no policy ran" in printed.err.lower()


@pytest.mark.slow
@pytest.mark.parametrize(
    "env_id",
    [
        pytest.param("FetchReach-v4", marks=pytest.mark.slow),
        "MiniGrid-FourRooms-v0",
    ],
)
def test_output_of_other_packages_is_hidden(tmp_path: Path, env_id: str) -> None:
    """In every process, gymnasium-robotics prints changes of environments that nobody asked for when it is imported."""
    for module in ("gymnasium_robotics", "highway_env", "minigrid"):
        pytest.importorskip(module)
    few = ("--episodes", "1", "--test-episodes", "2", "--max-steps", "500", "--max-episode-steps", "50")
    fresh = (
        "MiniGrid" not in env_id
    )  # a fresh import of robotics takes seconds; for MiniGrid a forked process is enough
    done = promptpo("optimize", env_id, *QUICK, *few, "--quiet", "--out", "r", cwd=tmp_path, fresh=fresh)
    lines = [line for line in done.stderr.splitlines() if "takes a while" not in line]  # on a busy machine
    assert (done.stdout, lines, done.returncode) == ("", [], 0)


@pytest.mark.parametrize(
    ("arguments", "words", "code"),
    [
        (["optimize", "CartPol-v1"], ["CartPol-v1", "CartPole-v1"], 2),
        (["optimize", "no_such_module:My/Env-v0"], ["no_such_module"], 2),
        (["optimize", "CartPole-v1", "--rounds", "0"], ["rounds", "at least 1"], 2),
        (["optimize", "CartPole-v1", "--rounds", "many"], ["--rounds", "whole number"], 2),
        (["optimize", "CartPole-v1", "--no-such-flag"], ["--no-such-flag"], 2),
        (["optimize", "CartPole-v1", "--env-kwargs", "{oops"], ["--env-kwargs", "JSON"], 2),
        (["optimize", "CartPole-v1", "--env-kwargs", "[1]"], ["--env-kwargs", "object"], 2),
        (["optimize", "CartPole-v1", "--env-kwargs", "[" * 10**5], ["--env-kwargs", "JSON"], 2),
        (["optimize", "CartPole-v1", "--wrapper", 'X{"a": ' + "[" * 10**5], ["wrapper", "JSON"], 2),
        (
            ["optimize", "CartPole-v1", "--max-steps", "9" * 400, "--estimate"],
            ["steps", "less than or equal"],
            2,
        ),
        (["optimize", "./my_env:Mine"], ["./my_env", "ending"], 2),
        (["optimize", "CartPole-v1", "--env-kwargs", '{"oops": 1}'], ["oops"], None),
        (["optimize", "CartPole-v1", "--recipe", "papre"], ["--recipe", "paper"], 2),
        (["optimize", "CartPole-v1", "--option", "x"], ["NAME=VALUE"], 2),
        (["optimize", "CartPole-v1", "--model", "anthropic"], ["ANTHROPIC_API_KEY"], 1),
        (["optimize", "CartPole-v1", "--model", "openai"], ["OPENAI_API_KEY"], 1),
        (["optimize", "CartPole-v1", "--model", "antropic:x"], ["anthropic"], 2),
        (["optimize", "CartPole-v1", "--model", "replay:nowhere"], ["nowhere"], None),
        (["optimize", "CartPole-v1", "--spec", "nowhere.py"], ["nowhere.py"], None),
        (["resume", "nowhere"], ["nowhere", "not a run"], 2),
        (["show", "nowhere"], ["nowhere", "not a run"], 2),
        (["export", "nowhere"], ["nowhere", "not a run"], 2),
        (["evaluate", "nowhere.py", "--env", "CartPole-v1"], ["nowhere.py"], 2),
        (["evaluate", __file__, "--env", "CartPol-v1"], ["CartPole-v1"], 2),
        (["evaluate", __file__, "--env", "CartPole-v1", "--episodes", "0"], ["episodes"], 2),
        (["spec", "CartPol-v1"], ["CartPole-v1"], 2),
        (["optimise"], ["optimize"], 2),
        (["optimize"], ["ENV_ID"], 2),
    ],
)
def test_mistakes_get_one_sentence(
    new_user: Any, capsys: pytest.CaptureFixture[str], arguments: Any, words: Any, code: int | None
) -> None:
    """The sentence names the mistake, the exit code is not zero, and no run folder is left."""
    exit_code = run(arguments)
    err = capsys.readouterr().err
    assert exit_code == code if code else exit_code in {1, 2}
    for word in words:
        assert word in err
    assert len(err.strip().splitlines()) <= 2
    assert not (new_user / "runs").exists()


def test_mistake_in_a_real_process(tmp_path: Path) -> None:
    """The exit code and the sentence reach the caller, without a traceback."""
    done = promptpo("optimize", "CartPole-v1", "--rounds", "0", cwd=tmp_path, fresh=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("promptpo: ")
    assert len(done.stderr.splitlines()) == 1


PATIENT = """
from promptpo.__main__ import main
from promptpo.core import control
control.GRACE_SECONDS = 60.0
main()
"""
"""The command, with enough grace for its final test even on a busy machine."""


def start_slow_run(folder: Any) -> Any:
    """Start a run and return it once it is in the middle of its rounds."""
    process = Command(
        [
            "optimize",
            "Pendulum-v1",
            "--out",
            "run",
            "--max-steps",
            "50000000",
            "--max-episode-steps",
            "50",
            "-n",
            "1",
            "--jobs",
            "1",
            *SHORT,
        ],
        cwd=folder,
        environment=environment(),
        code=PATIENT,
    )
    journal = folder / "run" / "journal.jsonl"
    wait_until(lambda: says(journal, '"kind": "tuning"'), process)
    return process


def test_ctrl_c_once_ends_with_the_best_so_far(tmp_path: Path) -> None:
    """The best policy is tested and written, the exit code is 130, and the run can be resumed."""
    process = start_slow_run(tmp_path)
    process.send_signal(signal.SIGINT)
    code, out, errors = process.communicate(timeout=300)
    assert code == 130, errors
    assert "interrupted by Ctrl-C" in out
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["test"]["episodes"] == 5
    assert "Not finished" not in promptpo("show", "run", cwd=tmp_path).stdout


@pytest.mark.slow
def test_ctrl_c_twice_stops_at_once(tmp_path: Path) -> None:
    """There is no result and no traceback, and the journal is kept."""
    process = start_slow_run(tmp_path)
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    code, _, errors = process.communicate(timeout=300)
    assert code in {0, 130}
    assert "Traceback" not in errors
    assert (tmp_path / "run" / "journal.jsonl").stat().st_size > 0


def test_help_loads_no_heavy_packages() -> None:
    code = "import sys; from promptpo.cli.app import run; run(['--help']); print(sorted({'torch','numpy','gymnasium','openai','anthropic','pydantic','jinja2'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert "benchmark" in done.stdout  # commands of other packages are listed too
    assert done.stdout.splitlines()[-1] == "[]"


def test_closed_pipe_causes_no_traceback(solved: Any) -> None:
    """`promptpo export RUN | head -1` ends quietly."""
    folder, _ = solved
    command = f"{sys.executable} -m promptpo export run | head -1"
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith('"""Policy for CartPole-v1')


@pytest.mark.slow
def test_library_warnings_are_hidden(tmp_path: Path) -> None:
    """Also in the base install, which has no matplotlib."""
    block = (
        "import sys; sys.modules['matplotlib'] = None; from promptpo.cli.app import run; run(sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", block, "optimize", "CartPole-v1", "--out", "run", *QUICK, "--film"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr
    assert "Warning" not in done.stderr


@pytest.mark.usefixtures("new_user")
def test_resumed_run_prints_its_progress_so_far(capsys: pytest.CaptureFixture[str]) -> None:
    """Earlier rounds take one line, and only new candidates are listed after it."""
    assert run(["optimize", "CartPole-v1", *QUICK, "--model", "search", "--out", "run"]) == 0
    capsys.readouterr()
    assert run(["resume", "run", "--rounds", "2", "--no-film"]) == 0
    lines = capsys.readouterr().err.splitlines()
    # Without a step of tuning, random actions return more than what program search writes.
    assert any(line.startswith("so far: 2 policies tried; best random: return ") for line in lines)
    assert not any(line.startswith("  r1c1") for line in lines)
    assert any(line.startswith("  r2c1") for line in lines)


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    run([])
    bare = capsys.readouterr()
    run(["--help"])
    assert bare == capsys.readouterr()
    assert bare.out.count("\n") > 20


@pytest.mark.parametrize("steps", ["abc", "1.5", "50q"])
def test_malformed_step_count_names_valid_spellings(steps: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["optimize", "CartPole-v1", "--max-steps", steps]) == 2
    assert "50k or 1e5" in capsys.readouterr().err
