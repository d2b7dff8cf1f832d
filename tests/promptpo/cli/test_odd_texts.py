"""A model and an environment whose texts contain control sequences: every command prints them harmlessly, on a real terminal too."""

import json
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from promptpo.cli.app import run
from promptpo.core.journal import JOURNAL
from promptpo.output.exporting import MARKER
from tests.promptpo.cli.test_border import FORGED, NASTY, has_control_sequences
from tests.promptpo.cli.test_command_line import SHORT
from tests.promptpo.display.test_terminal import on_terminal

HUGE = "0x" + "f" * 6000
POLICIES = {
    "sound": "class Policy:\n    def act(self, obs):\n        return int(obs[2] > 0)\n",
    "raises": f"class Policy:\n    def act(self, obs):\n        raise ValueError({NASTY!r} + '\\ud800')\n",
    "prints": f"# {NASTY.replace(chr(10), ' ')}\nclass Policy:\n    '''{NASTY}'''\n    def act(self, obs):\n        print({NASTY!r} + '\\udfff')\n        return 0\n",
    "huge": f"X = {HUGE}\nPARAMS = {{'a': ({HUGE}, 0, {HUGE})}}\nclass Policy:\n    def act(self, obs):\n        return {HUGE}\n",
    "base": f"class Policy(x[{HUGE}]):\n    def act(self, obs):\n        return 0\n",
    "says": f"class Policy:\n    def act(self, obs):\n        raise ValueError({HUGE})\n",
    "marker": f"'''before\n{MARKER}\nafter'''\nclass Policy:\n    def act(self, obs):\n        return 0\n\n\n{MARKER}\n# [assistant]\n",
}
MODEL = """
import pathlib, sys
answers = {answers!r}
for n in range(len(answers)):  # several ask at once: each takes its own
    try:
        pathlib.Path(f"{counter}{{n}}").touch(exist_ok=False)
        break
    except FileExistsError:
        pass
sys.stdout.buffer.write(answers[n].encode("utf-8", "surrogatepass"))
"""


@pytest.fixture(scope="module")
def odd_run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The folder of a run, made on a terminal, with one candidate for each odd policy."""
    home = tmp_path_factory.mktemp("odd")
    outputs = [f"{NASTY}\ud800\n```python\n{source}```\n{NASTY}" for source in POLICIES.values()]
    (home / "model.py").write_text(MODEL.format(answers=outputs, counter=str(home / "counter")))
    shown, code = on_terminal(
        "optimize", "CartPole-v1", *SHORT, "--rounds", "1", "-n", str(len(outputs)), "--tune", "none", "--repairs", "0",
        "--option", "feedback_class=false", "--option", "probe=false", "--jobs", "1", "--model", f"exec:{sys.executable} model.py", "--out", "run",
        "--no-film", columns=200, cwd=home,
    )  # fmt: skip
    assert_harmless(shown)
    assert "owned" in shown
    assert code == 0
    return home


def assert_harmless(shown: Any) -> None:
    """Check for control sequences, tracebacks of promptpo, and forged result lines."""
    assert not has_control_sequences(shown), shown
    assert not re.search(r"(?m)^Traceback", shown)
    assert not re.search(r"(?m)^Held-out return 500", shown)


Answers = dict[str, tuple[str, int]]
RUN_EACH = """
import sys
from promptpo.cli.app import run
if __name__ == "__main__":
    sys.path.insert(0, "")
    for words in sys.argv[1:]:
        code = run(words.split())
        sys.stderr.flush()
        print(f"<<ended with {code}>>", flush=True)
"""


def run_each_on_terminal(commands: Iterable[str], *, columns: int, cwd: Any) -> Answers:
    """Return what each command shows on a real terminal, and its exit code; one process runs them all."""
    commands = list(commands)
    shown, _ = on_terminal(*commands, columns=columns, cwd=cwd, code=RUN_EACH)
    parts = re.split(r"<<ended with (\d+)>>", shown)
    assert len(parts) == 2 * len(commands) + 1, shown
    return {words: (parts[2 * n], int(parts[2 * n + 1])) for n, words in enumerate(commands)}


@pytest.fixture(scope="module")
def on_terminal_of_200_columns(odd_run: Any) -> Answers:
    """Commands that have tables, colours or a live view."""
    commands = ("show run", "show run r1c2", "list .", "resume run --no-film")
    return run_each_on_terminal(commands, columns=200, cwd=odd_run)


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "run"],
        *(["show", "run", f"r1c{n + 1}"] for n in range(len(POLICIES))),
        ["list", "."],
        ["compare", "run", "run", "-o", "compare.html"],
        ["report", "run", "--no-film"],
        ["export", "run", "-o", "policy.py"],
        ["export", "run"],
        ["resume", "run", "--no-film"],
    ],
    ids=" ".join,
)
def test_commands_print_odd_texts_harmlessly(
    odd_run: Any,
    on_terminal_of_200_columns: Answers,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: Any,
) -> None:
    """Commands with tables, colours or a live view run on a terminal."""
    if " ".join(arguments) in on_terminal_of_200_columns:
        shown, code = on_terminal_of_200_columns[" ".join(arguments)]
    else:
        monkeypatch.chdir(odd_run)
        code = run(arguments)
        shown = "".join(capsys.readouterr())
    if (arguments[:1] == ["show"] and len(arguments) > 2) or arguments == [
        "export",
        "run",
    ]:  # prints the model's text, which may contain forged results
        assert not has_control_sequences(shown)
        assert not re.search(r"(?m)^Traceback", shown)
    else:
        assert_harmless(shown)
    assert code == 0, shown


def test_journal_keeps_control_characters_as_escapes(odd_run: Any) -> None:
    """Escapes are Python's, so that nothing is lost."""
    text = (odd_run / "run" / JOURNAL).read_text()
    outputs = [json.loads(line) for line in text.splitlines() if '"completion"' in line]
    assert len(outputs) == len(POLICIES)
    for event in outputs:
        assert "\\x1b]0;owned\\x07" in event["data"]["text"]
        assert "\\xed\\xa0\\x80" in event["data"]["text"]  # a lone surrogate, as bytes


@pytest.mark.parametrize(
    ("command", "name"),
    [*(("evaluate", name) for name in POLICIES), ("play", "prints"), ("play", "raises"), ("play", "huge")],
)
def test_odd_policies_in_files(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    name: Any,
) -> None:
    """A failed policy gives exit code 1 and a sentence; a comment that looks like the marker of exported files cuts nothing off."""
    (tmp_path / "policy.py").write_text(POLICIES[name])
    extra = ["--video", "x.gif"] if command == "play" else []
    arguments = [command, "policy.py", "--env", "CartPole-v1", "--episodes", "1", *extra]
    if name == "raises":
        shown, code = on_terminal(*arguments, columns=200, cwd=tmp_path)
    else:
        monkeypatch.chdir(tmp_path)
        code = run(arguments)
        shown = "".join(capsys.readouterr())
    assert_harmless(shown)
    assert code == (0 if name in {"sound", "prints", "marker"} else 1), shown


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("result.json", "5"),
        ("result.json", "[" * 100_000),
        ("result.json", '{"best": 5}'),
        ("result.json", '{"env_id": "a", "stop_reason": "b", "best": {"candidate": "\\ud800"}, "test": {"returns": 3}}'),
        ("config.toml", "x = " + "[" * 100_000),
        ("config.toml", "seed = " + "9" * 6000),
        (JOURNAL, '{"n": 0, "t": 0, "kind": "attempt", "key": "\\ud800", "data": 5}\n{}\n'),
        (JOURNAL, "[" * 100_000 + "\n{}\n"),
        (JOURNAL, '{"n": 0, "t": 0, "kind": "spec", "key": "spec", "data": {"text": ' + "9" * 6000 + "}}\n{}\n"),
    ],
)  # fmt: skip
def test_malformed_run_file_gets_one_sentence(
    odd_run: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    file: Any,
    content: Any,
) -> None:
    """From every command that reads the run."""
    shutil.copytree(odd_run / "run", tmp_path / "run")
    (tmp_path / "run" / file).write_text(content)
    monkeypatch.chdir(tmp_path)
    for arguments in (["show", "run"], ["report", "run"], ["export", "run"], ["compare", "run", "run"]):
        assert run(arguments) == 1, arguments
        captured = capsys.readouterr()
        assert captured.err.count("\n") == 1
        assert captured.err.startswith("promptpo: ")
    assert run(["list", "."]) == 0
    assert "run" in capsys.readouterr().err


def test_odd_texts_in_a_result_are_escaped(
    odd_run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lone surrogates and escapes reach neither the terminal nor a page."""
    shutil.copytree(odd_run / "run", tmp_path / "run")
    path = tmp_path / "run" / "result.json"
    result = json.loads(path.read_text())
    result["stop_reason"] = f"\ud800{NASTY}"
    result["model"] = f"\ud800{NASTY}"
    path.write_text(json.dumps(result))
    monkeypatch.chdir(tmp_path)
    for arguments in (
        ["show", "run"],
        ["report", "run", "--no-film"],
        ["list", "."],
        ["compare", "run", "run"],
    ):
        assert run(arguments) == 0
        captured = capsys.readouterr()
        assert not has_control_sequences(captured.out + captured.err)
        assert not any(line.startswith(FORGED.strip()) for line in captured.out.splitlines())


ODD_TASK = '''
import gymnasium
import numpy as np
from gymnasium import spaces

E = {nasty!r}


class Odd(gymnasium.Env):
    """The task.

    ## Description
    It is @ a thing.

    ## Action Space
    | Num | Action |
    |-----|--------|
    | 0   | left@  |
    | 1   | right@ |

    ## Observation Space
    | Num | Observation | Min | Max |
    |-----|-------------|-----|-----|
    | 0   | where@ it is| -1  | 1   |
    | 1   | its speed@  | -1  | 1   |

    ## Rewards
    One@ for each step.

    ## Episode Termination
    After@ ten steps.
    """

    metadata = {{"render_modes": ["rgb_array", f"m{{E}}"]}}
    observation_space = spaces.Dict({{f"place{{E}}": spaces.Box(-1, 1, (2,)), "says": spaces.Text(9)}})
    action_space = spaces.Discrete(2)

    def __init__(self, render_mode=None, broken=""):
        if broken == "built":
            raise ValueError(E)
        self.broken = broken

    def _told(self):
        return {{f"place{{E}}": np.zeros(2, np.float32), "says": E[:9]}}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self._told(), {{f"info{{E}}": 1.0}}

    def step(self, action):
        self.t += 1
        if self.broken == "stepped":
            raise RuntimeError(E)
        info = {{f"info{{E}}": 2.0, f"reward_{{E}}": 1.0, f"why{{E}}": f"v{{E}}", "is_success": True}}
        return self._told(), float(action == 1), self.t >= 10, False, info


Odd.__doc__ = Odd.__doc__.replace("@", E.replace("\\n", " "))
gymnasium.register("Odd-v0", "odd_texts_task:Odd", max_episode_steps=20)
'''


@pytest.fixture(scope="module")
def odd_task(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A folder with an environment whose texts are odd throughout, and a run on it."""
    home = tmp_path_factory.mktemp("task")
    (home / "odd_texts_task.py").write_text(ODD_TASK.format(nasty=NASTY))
    answer = "```python\nclass Policy:\n    def act(self, obs):\n        return 1\n```\n"
    (home / "answer.jsonl").write_text(json.dumps({"text": answer, "purpose": "policy"}))
    shown, code = on_terminal(
        "optimize", "odd_texts_task:Odd-v0", *SHORT, "--rounds", "1", "-n", "1", "--tune", "none", "--jobs", "1",
        "--model", "replay:answer.jsonl", "--out", "run", "--no-film", columns=120, cwd=home,
    )  # fmt: skip
    assert_harmless(shown)
    assert code == 0, shown
    return home


BROKEN = "odd_texts_task:Odd-v0 --env-kwargs"
EXIT_CODES = {
    "spec odd_texts_task:Odd-v0": 0,
    "spec odd_texts_task:Odd-v0 --reveal source": 0,
    "spec odd_texts_task:Odd-v0 -o spec.py": 0,
    f'spec {BROKEN} {{"broken":"built"}}': 1,
    f'spec {BROKEN} {{"broken":"stepped"}}': 1,
    "show run": 0,
    "show run r1c1": 0,
    "list .": 0,
    "evaluate run --episodes 1": 0,
    "play run --video film.gif --episodes 1": 1,
    f'evaluate run/best.py --env {BROKEN} {{"broken":"stepped"}} --episodes 1': 1,
}


@pytest.fixture(scope="module")
def outputs(odd_task: Any) -> Answers:
    """What each command shows, and its exit code."""
    return run_each_on_terminal(EXIT_CODES, columns=120, cwd=odd_task)


@pytest.mark.parametrize("words", EXIT_CODES)
def test_odd_texts_of_an_environment_are_escaped(odd_task: Any, outputs: Answers, words: str) -> None:
    """Docstrings, names of fields and of info, values and exceptions, on a real terminal."""
    shown, code = outputs[words]
    assert_harmless(shown)
    assert code == EXIT_CODES[words], shown
    if words.endswith("spec.py"):
        assert not has_control_sequences((odd_task / "spec.py").read_text())
