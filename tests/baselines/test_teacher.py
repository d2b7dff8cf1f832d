"""A trained agent as a teacher: the mark to beat, in the first prompt, and fitted where nobody is asked."""

import asyncio
import base64
import json
import pickle
import shutil
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import promptpo
from promptpo.cli.app import run as command_line
from promptpo.envs.task import Task
from promptpo.errors import UsageError
from promptpo.features.teacher import feature
from promptpo.llm.scripted import ScriptedLLM
from promptpo.output.report.page import write_report
from promptpo.prompts.feedback import number
from promptpo.rollouts import Job
from promptpo_sandbox import Episode, Trial
from tests.baselines.late import Late
from tests.promptpo.optimizing import Model, optimize, read_run
from tests.promptpo.policies import FEEDBACK, WEAK

agents = Late("stable_baselines3")


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An agent for CartPole-v1 that has learnt nothing yet."""
    path = tmp_path_factory.mktemp("agents") / "agent.zip"
    agents.PPO("MlpPolicy", "CartPole-v1", seed=0, device="cpu").save(path)
    return path


@pytest.fixture(scope="module")
def taught(agent: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """A run with a language model and a teacher: (model, result)."""
    model = Model({"feedback": FEEDBACK}, default=WEAK)
    return model, optimize(
        model, tmp_path_factory.mktemp("taught") / "run", rounds=2, candidates=1, teacher=agent
    )


def test_the_teacher_is_in_the_first_prompt_and_among_the_marks(taught: tuple[Any, Any]) -> None:
    """Its return, an episode by the model's own feedback class, and steps with what it saw and did."""
    model, _ = taught
    first, second = (
        request.messages[-1].content for request in model.requests if request.purpose == "policy"
    )
    assert "# A trained agent to learn from" in first
    assert "the largest lean was" in first
    assert "step|cart_position|" in first
    assert "Write a first policy." in first
    assert "A trained agent to learn from" not in second
    assert "the trained agent returns" in second


def test_its_held_out_return_is_the_mark(taught: tuple[Any, Any], capsys: pytest.CaptureFixture[str]) -> None:
    """On the test seeds of the run, in the verdict, the header, the report and `show`; steps are a reference's."""
    _, result = taught
    mark = result.data["references"]["teacher"]
    assert mark["episodes"] == result.data["test"]["episodes"]
    assert f"the teacher: {number(result.mean_return)} against " in result.data["verdict"]
    assert "the teacher " in result.policy_path.read_text()
    events = read_run(result.directory)
    played = [*events["reference"], *(one for one in events["teacher"] if one.key == "episodes")]
    steps = {event.key: event.data["spent"]["reference"] for event in played}
    assert steps["teacher.test"] == sum(mark["returns"])
    assert result.data["steps"]["reference"] == sum(steps.values())
    outside = sum(taken for key, taken in steps.items() if key.endswith(".test"))
    assert (
        result.data["searched_steps"]
        == result.data["steps"]["total"] - result.data["steps"]["test"] - outside
    )
    assert "acts as the teacher does in" in write_report(result.directory, episode=False).read_text()
    assert command_line(["show", str(result.directory)]) == 0
    shown = capsys.readouterr().out
    assert "Reference, the teacher:" in shown
    assert "acts as the teacher does in" in shown


def test_the_best_is_compared_with_it_on_its_own_states(taught: tuple[Any, Any]) -> None:
    """A share of equal actions over the steps that the teacher came through in training."""
    _, result = taught
    assert result.data["teacher"]["agent"] == "agent.zip"
    fidelity = result.data["teacher"]["fidelity"]
    assert fidelity["measure"] == "equal actions"
    assert 0 < fidelity["values"][0] < 1
    trained = next(e for e in read_run(result.directory)["teacher"] if e.key == "episodes")
    assert fidelity["steps"] == trained.data["spent"]["reference"]


@pytest.mark.slow
def test_a_resumed_run_needs_no_agent(agent: Path, tmp_path: Path) -> None:
    """What it did is in the journal; only a longer test would need it again."""
    path = tmp_path / "agent.zip"
    path.write_bytes(agent.read_bytes())
    first = optimize(Model(default=WEAK), tmp_path / "run", rounds=1, candidates=1, teacher=path)
    path.unlink()
    again = promptpo.resume(tmp_path / "run", llm=ScriptedLLM(Model(default=WEAK)), rounds=2)
    assert again.data["references"]["teacher"] == first.data["references"]["teacher"]


@pytest.mark.slow
def test_another_agent_under_its_name_is_no_mark(agent: Path, tmp_path: Path) -> None:
    """The mark would be of another agent than the prompt told of: it is left out, and the result stands."""
    path = tmp_path / "agent.zip"
    path.write_bytes(agent.read_bytes())

    class Swap(Model):
        def __call__(self, request: Any) -> Any:
            if request.purpose == "policy":  # the agent has played by then
                agents.PPO("MlpPolicy", "CartPole-v1", seed=1, device="cpu").save(path)
            return super().__call__(request)

    result = optimize(Swap(default=WEAK), tmp_path / "run", rounds=1, candidates=1, teacher=path)
    assert set(result.data["references"]) == {"random", "zero"}
    assert result.mean_return > 20


@pytest.mark.slow
def test_continuous_actions(tmp_path: Path) -> None:
    """R² by dimension, through the command line."""
    agents.SAC("MlpPolicy", "Pendulum-v1", seed=0, buffer_size=10, device="cpu").save(tmp_path / "agent.zip")
    flags = [
        "--rounds",
        "1",
        "-n",
        "1",
        "--episodes",
        "2",
        "--validation-episodes",
        "2",
        "--test-episodes",
        "3",
    ]
    asked = ["optimize", "Pendulum-v1", "--model", "search", "--teacher", str(tmp_path / "agent.zip"), *flags]
    assert (
        command_line([*asked, "--max-steps", "5000", "--out", str(tmp_path / "run"), "--quiet", "--no-film"])
        == 0
    )
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["teacher"]["fidelity"]["measure"] == "r2"
    assert len(result["teacher"]["fidelity"]["values"]) == 1
    assert result["references"]["teacher"]["episodes"] == 3


def test_what_is_no_teacher_is_refused_before_anything_is_asked(agent: Path, tmp_path: Path) -> None:
    """A missing file, a file of another kind, and an agent for other spaces: a sentence each."""
    model = Model(default=WEAK)
    with pytest.raises(UsageError, match=r"there is no agent .*none\.zip"):
        optimize(model, tmp_path / "a", teacher=tmp_path / "none.zip")
    (tmp_path / "policy.py").write_text(WEAK)
    with pytest.raises(UsageError, match="can play"):
        optimize(model, tmp_path / "b", teacher=tmp_path / "policy.py")
    with pytest.raises(UsageError, match="was it trained on it"):
        promptpo.optimize("Pendulum-v1", llm=ScriptedLLM(model), teacher=agent, out=tmp_path / "c", rounds=1)
    with pytest.raises(UsageError, match="was it trained on it"):  # as many numbers in, other actions
        promptpo.optimize(
            "MountainCar-v0", llm=ScriptedLLM(model), teacher=agent, out=tmp_path / "c", rounds=1
        )
    (tmp_path / "junk.zip").write_bytes(b"no agent")
    with pytest.raises(UsageError, match=r"junk\.zip"):
        optimize(model, tmp_path / "d", teacher=tmp_path / "junk.zip")
    assert command_line(["optimize", "Pendulum-v1", "--model", "search", "--teacher", str(agent), "--seeds", "2", "--out", str(tmp_path / "e")]) == 2  # fmt: skip
    assert not model.requests
    assert not [one for one in "abcde" if (tmp_path / one).exists()]


class _Runs:
    """What runs code when it is unpickled, as an agent's author may wish."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __reduce__(self) -> Any:
        return exec, (self.code,)


@pytest.fixture(scope="module")
def parts(agent: Path) -> dict[str, bytes]:
    """The files in a saved agent."""
    with zipfile.ZipFile(agent) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def forged(path: Path, parts: dict[str, bytes], code: str = "", **other: bytes) -> Path:
    """An agent's file that runs code when it is loaded, or has other content."""
    data = json.loads(parts["data"])
    if code:
        pickled = base64.b64encode(pickle.dumps(_Runs(code))).decode()
        data["lr_schedule"] = {":type:": "x", ":serialized:": pickled}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**parts, "data": json.dumps(data).encode(), **other}.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("code", "other"),
    [
        ("raise ValueError('\\x1b]0;owned\\x07')", {}),
        ("raise EOFError('\\x1b]0;owned\\x07')", {}),
        ("raise StopIteration", {}),
        ("", {"policy.pth": b""}),
        ("", {"policy.pth": b"junk"}),
        ("", {"data": b"[" * 10**6}),
        ("", {"data": b'{"policy_class": {"__module__": "x"}, "x": [' + b"[]," * (1 << 24) + b"[]]}"}),
    ],
)
def test_an_agent_that_cannot_be_loaded_is_a_sentence(
    code: str,
    other: dict[str, bytes],
    parts: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever loading it raises, whatever it holds: exit code 2, one clean line, in no time."""
    monkeypatch.chdir(tmp_path)
    path = forged(tmp_path / "agent.zip", parts, code, **other)
    began = time.process_time()
    assert command_line(["evaluate", path.name, "--env", "CartPole-v1", "--episodes", "1"]) == 2
    assert time.process_time() - began < 20
    said = capsys.readouterr().err
    assert said.startswith("promptpo: agent.zip ")
    assert said.count("\n") == 1
    assert "\x1b" not in said


@pytest.mark.slow
def test_nothing_but_the_users_word_loads_an_agent(
    parts: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A stranger's run that names a teacher, or a baseline's with an agent and statistics in it, is looked at unloaded."""
    monkeypatch.chdir(tmp_path)
    mark = f"open({str(tmp_path / 'LOADED')!r}, 'w').close()"
    theirs = tmp_path / "theirs"
    shutil.copytree(Path(__file__).parents[1] / "promptpo" / "core" / "recorded" / "model", theirs)
    agent = forged(tmp_path / "teacher.zip", parts, mark)
    config = (theirs / "config.toml").read_text()
    (theirs / "config.toml").write_text(f'teacher = "{agent}"\n{config}')
    trained = tmp_path / "trained"
    for folder in (trained, trained / "checkpoints" / "steps-000000000100"):
        folder.mkdir(parents=True)
        for name in ("best_model.zip", "model.zip"):
            forged(folder / name, parts, mark)
        (folder / "vecnormalize.pkl").write_bytes(pickle.dumps(_Runs(mark)))
        (folder / "record.json").write_text('{"steps": 100, "episodes": []}')
    (trained / "config.json").write_text('{"task": {"env_id": "CartPole-v1"}, "algorithm": "ppo"}')
    (trained / "result.json").write_text('{"env_id": "CartPole-v1", "method": "ppo"}')
    for run in ("theirs", "trained"):
        for words in (
            f"show {run}", "list .", f"compare {run} {run}", f"report {run} --no-film --out {run}.html",
            f"export {run} -o {run}.py", f"track {run} --to monitor:{run}.csv", f"evaluate {run} --episodes 1",
            f"play {run} --video {run}.gif", f"resume {run}", f"refine {run} --steps 10 --out refined",
        ):  # fmt: skip
            command_line(words.split())
            assert not (tmp_path / "LOADED").exists(), words
            assert "Traceback" not in capsys.readouterr().err
    monkeypatch.undo()
    assert "loads the trained agent" in refusal(theirs, capsys)


def refusal(run: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What resuming a stranger's run says that it would do."""
    assert command_line(["resume", str(run)]) == 2
    return capsys.readouterr().err


def test_a_test_that_is_given_up_ends_with_its_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no trajectories are recorded: the thread would play all episodes, and the process wait for it."""
    ended: list[int] = []

    def play(_path: Path, _task: Task, seeds: Sequence[int], *, watch: Any) -> None:
        for seed in seeds:
            time.sleep(0.05)
            ended.append(seed)
            if not watch(
                Episode(
                    seed,
                    1.0,
                    5,
                    terminated=True,
                    truncated=False,
                    success=None,
                    clipped=0,
                    policy_seconds=0.0,
                )
            ):
                return

    monkeypatch.setattr(feature, "play_agent", play)
    job = Job("", tuple(Trial(seed, None, 10) for seed in range(100)))

    async def give_up() -> None:
        await asyncio.wait_for(feature._Agent(Path("agent.zip"), Task("CartPole-v1")).run(job), 0.2)

    with pytest.raises(TimeoutError):
        asyncio.run(give_up())  # which waits for its threads
    assert 0 < len(ended) < 20
