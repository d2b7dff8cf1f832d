"""The commands as a person types them: real processes, real signals."""

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
from tests.promptpo.commands import Command, ended
from tests.waiting import says, wait_until

ROOT = Path(__file__).parents[3]
SHORT = ["--episodes", "3", "--validation-episodes", "4", "--test-episodes", "5", "--no-film"]
QUICK = [*SHORT, "--rounds", "1", "--candidates", "1", "--tune", "none", "--jobs", "1"]


def environment(**more: Any) -> Any:
    """The environment of a new user: no keys, and the tests' own modules importable."""
    kept = {
        k: v for k, v in os.environ.items() if not k.endswith("_API_KEY") and not k.startswith("PROMPTPO")
    }
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**kept, "PYTHONPATH": path, "COLUMNS": "100", **more}


def promptpo(*arguments: Any, cwd: Any, fresh: bool = False, **more: Any) -> Any:
    """Run one command to its end; a fresh interpreter has imported nothing yet."""
    if not fresh:
        return ended(arguments, cwd=cwd, environment=environment(**more))
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
def newcomer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """An empty current directory and no keys, for commands that run in this process."""
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


def test_without_a_key_the_main_job_works_and_says_what_it_is(solved: Any) -> None:
    """No key, no model: program search, named as such, and a policy that solves CartPole."""
    folder, done = solved
    assert "no language model" in done.stderr.splitlines()[0]
    assert "choose another" in done.stderr.splitlines()[0]
    assert "Warning" not in done.stderr
    result = json.loads((folder / "run" / "result.json").read_text())
    assert result["test"]["mean_return"] >= 475
    assert result["language_model"] is False
    assert "program search" in (folder / "run" / "best.py").read_text()[:200]


def test_the_exported_file_gives_the_same_in_plain_python(solved: Any) -> None:
    """Played on the test seeds by plain Python it returns what result.json says."""
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
    """Keys, values and exit code 0."""
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
def test_evaluate_names_what_a_bad_policy_does(
    newcomer: Any, capsys: pytest.CaptureFixture[str], body: str, outcome: str
) -> None:
    """Exit code 1, the outcome and one sentence in the JSON."""
    (newcomer / "bad.py").write_text(f"class Policy:\n    def act(self, obs):\n{body}\n")
    code = run(["evaluate", "bad.py", "--env", "CartPole-v1", "--episodes", "1", "--json"])
    value = json.loads(capsys.readouterr().out)
    assert (code, value["outcome"]) == (1, outcome)
    assert value["error"]
    assert value["mean_return"] is None


def test_show_and_json(solved: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The overview names the candidates; its JSON parses."""
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
def test_every_command_has_json(
    solved: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: Any,
    keys: Any,
) -> None:
    """One JSON object; the files that it names are there."""
    folder, _ = solved
    monkeypatch.chdir(folder)
    assert run([*arguments, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert keys <= set(value)
    if "output" in value:
        assert (folder / value["output"]).stat().st_size > 0


def test_a_wrong_spec_is_told_as_json(newcomer: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """The problems are a list, the exit code is 1."""
    assert run(["spec", "CartPole-v1", "-o", "wrong.py"]) == 0
    right = (newcomer / "wrong.py").read_text()
    (newcomer / "wrong.py").write_text(right.replace("500", "700"))
    capsys.readouterr()
    assert run(["spec", "CartPole-v1", "--check", "wrong.py", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problems"]


@pytest.mark.usefixtures("newcomer")
def test_json_is_alone_on_standard_output(capfd: pytest.CaptureFixture[str]) -> None:
    """`--json` prints one JSON value and nothing else anywhere, by workers included."""
    assert run(["optimize", "CartPole-v1", *QUICK, "--json", "--model", "search"]) == 0
    printed = capfd.readouterr()
    assert json.loads(printed.out)["test"]["episodes"] == 5
    assert printed.err == ""


@pytest.mark.usefixtures("newcomer")
def test_quiet_is_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    """`--quiet` prints nothing."""
    assert run(["optimize", "CartPole-v1", *QUICK, "--quiet", "--out", "r"]) == 0
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "env_id",
    [
        pytest.param("FetchReach-v4", marks=pytest.mark.slow),
        "MiniGrid-FourRooms-v0",
    ],
)
def test_what_other_packages_print_is_not_for_the_user(tmp_path: Path, env_id: str) -> None:
    """gymnasium-robotics says on import what changed in environments nobody asked for, in each process."""
    for module in ("gymnasium_robotics", "highway_env", "minigrid"):
        pytest.importorskip(module)
    few = ("--episodes", "1", "--test-episodes", "2", "--max-steps", "500", "--max-episode-steps", "50")
    fresh = "MiniGrid" not in env_id  # which takes seconds; a copy that has not imported it does as well
    done = promptpo("optimize", env_id, *QUICK, *few, "--quiet", "--out", "r", cwd=tmp_path, fresh=fresh)
    said = [line for line in done.stderr.splitlines() if "takes a while" not in line]  # on a busy machine
    assert (done.stdout, said, done.returncode) == ("", [], 0)


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
    newcomer: Any, capsys: pytest.CaptureFixture[str], arguments: Any, words: Any, code: int | None
) -> None:
    """A sentence that names the mistake, a non-zero exit, nothing left behind; an exception would fail this."""
    given = run(arguments)
    said = capsys.readouterr().err
    assert given == code if code else given in {1, 2}
    for word in words:
        assert word in said
    assert len(said.strip().splitlines()) <= 2
    assert not (newcomer / "runs").exists()


def test_a_mistake_in_a_real_process(tmp_path: Path) -> None:
    """The exit code and the sentence arrive outside; there is no traceback."""
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
"""The command, which has time for its last test however busy the machine is."""


def start_slow_run(folder: Any) -> Any:
    """A run that is in the middle of its rounds when this returns."""
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
    """The best policy is tested and written, the exit code says that it was stopped, and the run can be resumed."""
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
    """No result, exit code 130, no traceback; what is in the journal is kept."""
    process = start_slow_run(tmp_path)
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    code, _, errors = process.communicate(timeout=300)
    assert code in {0, 130}
    assert "Traceback" not in errors
    assert (tmp_path / "run" / "journal.jsonl").stat().st_size > 0


def test_help_is_quick() -> None:
    """`--help` does not load the heavy packages."""
    code = "import sys; from promptpo.cli.app import run; run(['--help']); print(sorted({'torch','numpy','gymnasium','openai','anthropic','pydantic','jinja2'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True
    )
    assert "benchmark" in done.stdout  # the commands above promptpo in the import order are listed too
    assert done.stdout.splitlines()[-1] == "[]"


def test_output_to_a_closed_pipe_is_no_traceback(solved: Any) -> None:
    """`promptpo export RUN | head -1` ends quietly."""
    folder, _ = solved
    command = f"{sys.executable} -m promptpo export run | head -1"
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment(), capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith('"""Policy for CartPole-v1')


@pytest.mark.slow
def test_nothing_but_our_own_words_is_printed(tmp_path: Path) -> None:
    """No library's warning reaches the user, in the base install either (matplotlib is no part of it)."""
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


@pytest.mark.usefixtures("newcomer")
def test_a_resumed_run_says_where_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    """What was found before is told in one line, and only what is new after it."""
    assert run(["optimize", "CartPole-v1", *QUICK, "--model", "search", "--out", "run"]) == 0
    capsys.readouterr()
    assert run(["resume", "run", "--rounds", "2", "--no-film"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith("so far: 1 policy tried; best r1c1: return ") for line in lines)
    assert not any(line.startswith("  r1c1") for line in lines)
    assert any(line.startswith("  r2c1") for line in lines)


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """As lines, as with ``--help``."""
    run([])
    bare = capsys.readouterr()
    run(["--help"])
    assert bare == capsys.readouterr()
    assert bare.out.count("\n") > 20


@pytest.mark.parametrize("steps", ["abc", "1.5", "50q"])
def test_counts_of_steps_name_their_spellings(steps: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is no count is refused with spellings that are."""
    assert run(["optimize", "CartPole-v1", "--max-steps", steps]) == 2
    assert "50k or 1e5" in capsys.readouterr().err
