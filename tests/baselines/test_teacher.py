"""A trained agent as a teacher: a reference, a part of the first prompt, and a target for program search."""

import asyncio
import base64
import json
import pickle
import shutil
import threading
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
    """An untrained agent for CartPole-v1."""
    path = tmp_path_factory.mktemp("agents") / "agent.zip"
    agents.PPO("MlpPolicy", "CartPole-v1", seed=0, device="cpu").save(path)
    return path


@pytest.fixture(scope="module")
def taught(agent: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    """The model and the result of a run with a teacher."""
    model = Model({"feedback": FEEDBACK}, default=WEAK)
    return model, optimize(
        model, tmp_path_factory.mktemp("taught") / "run", rounds=2, candidates=1, teacher=agent
    )


def test_teacher_is_in_the_first_prompt_and_the_references(taught: tuple[Any, Any]) -> None:
    """The prompt has its return, an episode summarised by the feedback class, and a table of steps."""
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


def test_teachers_test_return_is_a_reference(
    taught: tuple[Any, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """The verdict, the file's header, the report and `show` have it; its steps count as a reference's."""
    _, result = taught
    reference = result.data["references"]["teacher"]
    assert reference["episodes"] == result.data["test"]["episodes"]
    assert f"the teacher: {number(result.mean_return)} against " in result.data["verdict"]
    assert "the teacher " in result.policy_path.read_text()
    events = read_run(result.directory)
    played = [*events["reference"], *(one for one in events["teacher"] if one.key == "episodes")]
    steps = {event.key: event.data["spent"]["reference"] for event in played}
    assert steps["teacher.test"] == sum(reference["returns"])
    assert result.data["steps"]["reference"] == sum(steps.values())
    outside = sum(taken for key, taken in steps.items() if key.endswith(".test"))
    assert (
        result.data["searched_steps"]
        == result.data["steps"]["total"] - result.data["steps"]["test"] - outside
    )
    assert "acts as the teacher does in" in write_report(result.directory, episode=False).read_text()
    assert command_line(["show", str(result.directory)]) == 0
    out = capsys.readouterr().out
    assert "Reference, the teacher:" in out
    assert "acts as the teacher does in" in out


def test_fidelity_is_measured_on_the_teachers_states(taught: tuple[Any, Any]) -> None:
    """It is the share of equal actions."""
    _, result = taught
    assert result.data["teacher"]["agent"] == "agent.zip"
    fidelity = result.data["teacher"]["fidelity"]
    assert fidelity["measure"] == "equal actions"
    assert 0 < fidelity["values"][0] < 1
    trained = next(e for e in read_run(result.directory)["teacher"] if e.key == "episodes")
    assert fidelity["steps"] == trained.data["spent"]["reference"]


@pytest.mark.slow
def test_resumed_run_needs_no_agent(agent: Path, tmp_path: Path) -> None:
    """Its episodes are in the journal; only a longer test would need the agent."""
    path = tmp_path / "agent.zip"
    path.write_bytes(agent.read_bytes())
    first = optimize(Model(default=WEAK), tmp_path / "run", rounds=1, candidates=1, teacher=path)
    path.unlink()
    again = promptpo.resume(tmp_path / "run", llm=ScriptedLLM(Model(default=WEAK)), rounds=2)
    assert again.data["references"]["teacher"] == first.data["references"]["teacher"]


@pytest.mark.slow
def test_replaced_agent_is_no_reference(agent: Path, tmp_path: Path) -> None:
    """It is not the one that the prompt showed."""
    path = tmp_path / "agent.zip"
    path.write_bytes(agent.read_bytes())

    class Swap(Model):
        def __call__(self, request: Any) -> Any:
            if request.purpose == "policy":  # the agent has already played
                agents.PPO("MlpPolicy", "CartPole-v1", seed=1, device="cpu").save(path)
            return super().__call__(request)

    result = optimize(Swap(default=WEAK), tmp_path / "run", rounds=1, candidates=1, teacher=path)
    assert set(result.data["references"]) == {"random", "zero"}
    assert result.mean_return > 20


@pytest.mark.slow
def test_fidelity_of_continuous_actions_is_r2(tmp_path: Path) -> None:
    """One value per dimension."""
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
    arguments = [
        "optimize",
        "Pendulum-v1",
        "--model",
        "search",
        "--teacher",
        str(tmp_path / "agent.zip"),
        *flags,
    ]
    assert (
        command_line(
            [*arguments, "--max-steps", "5000", "--out", str(tmp_path / "run"), "--quiet", "--no-film"]
        )
        == 0
    )
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result["teacher"]["fidelity"]["measure"] == "r2"
    assert len(result["teacher"]["fidelity"]["values"]) == 1
    assert result["references"]["teacher"]["episodes"] == 3


def test_unusable_teacher_is_refused_before_any_request(agent: Path, tmp_path: Path) -> None:
    """A missing file, another kind of file, and an agent for other spaces."""
    model = Model(default=WEAK)
    with pytest.raises(UsageError, match=r"there is no agent .*none\.zip"):
        optimize(model, tmp_path / "a", teacher=tmp_path / "none.zip")
    (tmp_path / "policy.py").write_text(WEAK)
    with pytest.raises(UsageError, match="can play"):
        optimize(model, tmp_path / "b", teacher=tmp_path / "policy.py")
    with pytest.raises(UsageError, match="was it trained on it"):
        promptpo.optimize("Pendulum-v1", llm=ScriptedLLM(model), teacher=agent, out=tmp_path / "c", rounds=1)
    with pytest.raises(
        UsageError, match="was it trained on it"
    ):  # the same number of observations, but other actions
        promptpo.optimize(
            "MountainCar-v0", llm=ScriptedLLM(model), teacher=agent, out=tmp_path / "c", rounds=1
        )
    (tmp_path / "junk.zip").write_bytes(b"no agent")
    with pytest.raises(UsageError, match=r"junk\.zip"):
        optimize(model, tmp_path / "d", teacher=tmp_path / "junk.zip")
    assert command_line(["optimize", "Pendulum-v1", "--model", "search", "--teacher", str(agent), "--seeds", "2", "--out", str(tmp_path / "e")]) == 2  # fmt: skip
    assert not model.requests
    assert not [one for one in "abcde" if (tmp_path / one).exists()]


class _RunsCode:
    """Runs code when it is unpickled, as a malicious agent may."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __reduce__(self) -> Any:
        return exec, (self.code,)


@pytest.fixture(scope="module")
def parts(agent: Path) -> dict[str, bytes]:
    """The files in a saved agent."""
    with zipfile.ZipFile(agent) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def forge_agent(path: Path, parts: dict[str, bytes], code: str = "", **other: bytes) -> Path:
    """Write an agent's file that runs code when loaded, or has other content."""
    data = json.loads(parts["data"])
    if code:
        pickled = base64.b64encode(pickle.dumps(_RunsCode(code))).decode()
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
def test_unloadable_agent_gets_one_sentence(
    code: str,
    other: dict[str, bytes],
    parts: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Quickly, whatever it contains and whatever loading it raises."""
    monkeypatch.chdir(tmp_path)
    path = forge_agent(tmp_path / "agent.zip", parts, code, **other)
    began = time.process_time()
    assert command_line(["evaluate", path.name, "--env", "CartPole-v1", "--episodes", "1"]) == 2
    assert time.process_time() - began < 20
    err = capsys.readouterr().err
    assert err.startswith("promptpo: agent.zip ")
    assert err.count("\n") == 1
    assert "\x1b" not in err


@pytest.mark.slow
def test_inspecting_a_foreign_run_loads_no_agent(
    parts: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Neither the teacher that it names, nor agents and statistics inside it."""
    monkeypatch.chdir(tmp_path)
    code = f"open({str(tmp_path / 'LOADED')!r}, 'w').close()"
    theirs = tmp_path / "theirs"
    shutil.copytree(Path(__file__).parents[1] / "promptpo" / "core" / "recorded" / "model", theirs)
    agent = forge_agent(tmp_path / "teacher.zip", parts, code)
    config = (theirs / "config.toml").read_text()
    (theirs / "config.toml").write_text(f'teacher = "{agent}"\n{config}')
    trained = tmp_path / "trained"
    for folder in (trained, trained / "checkpoints" / "steps-000000000100"):
        folder.mkdir(parents=True)
        for name in ("best_model.zip", "model.zip"):
            forge_agent(folder / name, parts, code)
        (folder / "vecnormalize.pkl").write_bytes(pickle.dumps(_RunsCode(code)))
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
    """Return the message on resuming a foreign run."""
    assert command_line(["resume", str(run)]) == 2
    return capsys.readouterr().err


def test_cancelled_test_ends_after_the_current_episode(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if no trajectories are recorded; otherwise the process would wait for all episodes."""
    ended: list[int] = []
    begun = threading.Event()

    def play(_path: Path, _task: Task, seeds: Sequence[int], *, watch: Any) -> None:
        for seed in seeds:
            time.sleep(0.05)
            ended.append(seed)
            begun.set()
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
        playing = asyncio.ensure_future(feature._Agent(Path("agent.zip"), Task("CartPole-v1")).run(job))
        await asyncio.to_thread(begun.wait, 100)
        playing.cancel()
        await playing

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(give_up())  # which waits for its threads
    assert 0 < len(ended) < 100
