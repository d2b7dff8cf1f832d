"""``promptpo doctor``: check this machine, and say how to fix what does not work."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from promptpo.envs.task import Task
from promptpo.errors import PromptPOError
from promptpo.llm.choose import DEFAULT_MODELS, KEY_VARIABLES, LOCAL_SERVERS, choose
from promptpo.output.report import versions
from promptpo.rollouts.local import usable_cores

State = Literal["ok", "note", "problem"]

EXTRAS = {
    "box2d": "Box2D",
    "mujoco": "mujoco",
    "metaworld": "metaworld",
    "minigrid": "minigrid",
    "robotics": "gymnasium_robotics",
    "highway": "highway_env",
    "baselines": "stable_baselines3",
    "ray": "ray",
    "local": "xllamacpp",
    "video": "imageio_ffmpeg",
    "tracking": "tensorboard",
}
"""Extra to a module that it installs."""

MIN_DISK_GB = 0.5
"""Free gigabytes below which a run may not fit."""

CONSTANT_POLICY = "class Policy:\n    def act(self, obs):\n        return {action}\n"


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Attributes:
        topic: The topic in a word.
        state: "ok"; "note" if something optional is missing; "problem" if a run would fail.
        text: The result.
        cure: How to fix it; empty if nothing has to be done.
    """

    topic: str
    state: State
    text: str
    cure: str = ""


Findings = Iterator[tuple[State, str] | tuple[State, str, str]]
"""State, text and possibly cure of each finding."""


def examine() -> Iterator[Finding]:
    """Run all checks and yield their findings; takes a few seconds."""
    parts = {
        "python": _check_python,
        "packages": _check_packages,
        "extras": _check_extras,
        "model": _check_keys,
        "local server": _check_servers,
        "sandbox": _check_sandbox,
        "rendering": _check_rendering,
        "machine": _check_machine,
        "disk": _check_disk,
    }
    for topic, check in parts.items():
        yield from (Finding(topic, *found) for found in check())


def _check_python() -> Findings:
    yield "ok", f"{platform.python_version()} ({sys.executable})"


def _check_packages() -> Findings:
    found = {name: version for name, version in versions().items() if name not in {"python", "platform"}}
    yield "ok", ", ".join(f"{name} {version}" for name, version in found.items())


def _check_extras() -> Findings:
    have = [name for name, module in EXTRAS.items() if find_spec(module)]
    if have:
        yield "ok", ", ".join(have)
    if lack := [name for name in EXTRAS if name not in have]:
        yield "note", f"not installed: {', '.join(lack)}", f'pip install "promptpo[{lack[0]}]", for example'


def _check_keys() -> Findings:
    for variable, provider in KEY_VARIABLES.items():
        if os.environ.get(variable, "").strip():
            meant = f"--model {provider} means {provider}:{DEFAULT_MODELS[provider]}"
            yield "ok", f"{variable} is set; {meant}"
        else:
            yield "note", f"{variable} is not set", f"export {variable}=… to use {provider}"
    try:
        yield "ok", f"without --model: {choose(None).name}"
    except PromptPOError as error:
        yield "problem", str(error), "pass --model"


def _check_servers() -> Findings:
    found = {name: models for name, url in LOCAL_SERVERS.items() if (models := _models_at(url)) is not None}
    if not found:
        yield "note", f"none found ({', '.join(LOCAL_SERVERS)})"
    for name, models in found.items():
        text = f"{name} at {LOCAL_SERVERS[name]}: {', '.join(models) or 'no model loaded'}"
        yield "ok", text, f"--model {name}:{(models or ['NAME'])[0]}"


def _models_at(address: str) -> list[str] | None:
    """Return the names of an OpenAI-compatible server's models; None if no server answers."""
    import httpx2

    try:
        answer = httpx2.get(f"{address}/models", timeout=1.0, trust_env=False)
        return [str(model["id"]) for model in answer.json()["data"]][:8]
    except (httpx2.HTTPError, ValueError, KeyError, TypeError):
        return None


def _check_sandbox() -> Findings:
    from promptpo_sandbox import Sandbox
    from promptpo_sandbox.errors import SandboxError

    try:
        with Sandbox(allow_weaker=True) as box:
            status = box.status
    except (SandboxError, OSError) as error:
        yield "problem", str(error), "for details run: python -m promptpo_sandbox.check"
        return
    text = f"{status.level}: {', '.join(status.active)}"
    if status.level == "strong":
        yield "ok", text
    else:
        cure = "use Linux 5.13 or newer with Landlock, or accept it with --allow-weaker-sandbox"
        yield "problem", f"{text}; missing: {'; '.join(status.missing)}", cure


def _check_rendering() -> Findings:
    """Check that environments can be rendered without a screen."""
    from promptpo.output.film import film, record

    actions = {"CartPole-v1": "0"} | ({"InvertedPendulum-v5": "[0.0]"} if find_spec("mujoco") else {})
    for env_id, action in actions.items():
        try:
            task = Task(env_id, max_episode_steps=2)
            rollout = record(task, CONSTANT_POLICY.format(action=action), [0], allow_weaker=True)
            film(task, rollout.episodes[0], seconds=30.0)
        except (PromptPOError, IndexError) as error:
            yield "note", str(error), "runs work without it; report and play show no images"
        else:
            yield "ok", f"{env_id} can be rendered without a screen"


def _check_machine() -> Findings:
    yield "ok", f"{usable_cores()} cores usable, {platform.platform()}"


def _check_disk() -> Findings:
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    if not os.access(Path.cwd(), os.W_OK):
        yield "problem", f"{Path.cwd()} cannot be written", "use another directory, or pass --out"
    elif free < MIN_DISK_GB:
        yield "problem", f"{free:.2f} GB free", "free some disk space: a run takes a few MB"
    else:
        yield "ok", f"{free:.0f} GB free here"
