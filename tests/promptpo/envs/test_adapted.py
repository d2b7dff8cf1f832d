"""Environments with every signature of ``reset`` and ``step`` found in the wild, and every source of random numbers."""

import itertools
import random
import sys
import textwrap
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from promptpo.cli.app import run
from promptpo.envs.building import make_env
from promptpo.envs.foreign import standard_space
from promptpo.envs.task import Task
from promptpo.errors import EnvironmentFaultError, PromptPOError
from promptpo.output.outcome import caveats
from promptpo.spec.describe import describe
from promptpo.spec.observe import observe, open_env

RESETS = [
    "",
    "seed=None",
    "options=None",
    "*, seed=None",
    "seed=None, options=None",
    "**kwargs",
    "seed",
    "*, seed=None, return_info=False",
]
FIRSTS = ["obs", "(obs, {})"]
STEPS = [
    *("obs, 1.0, done, {}", "obs, 1.0, done, False, {}", "obs, 1.0, False, done, {}"),
    *("obs, 1.0, done, None", "obs, 1.0, done, {self.n}", "obs, np.ones(1), done, []"),
]
DRAWS = {
    "module random": "random.random()",
    "numpy's global": "np.random.uniform()",
    "a generator of the module": "RNG.random()",
    "a generator of the class": "self.OWN.random()",
    "a generator that is kept": "self.kept.random()",
    "a generator of a part": "self.part.rng.random()",
    "np_random, never seeded": "self.np_random.uniform()",
    "its space": "float(self.observation_space.sample()[0])",
}

MODULE = """
import random
import {package} as gym
import numpy as np
from {package} import spaces

RNG = np.random.default_rng()


class Part:
    def __init__(self):
        self.rng = random.Random()


class Env({base}):
    OWN = np.random.RandomState()

    def __init__(self):
        self.observation_space = spaces.Box(-9, 9, (1,), np.float32)
        self.action_space = spaces.Discrete(2)
        self.kept, self.part, self.n = np.random.default_rng(), Part(), 0

    def draw(self):
        return np.array([{draw}], np.float32)

    def reset(self{takes}):
        self.n, obs = 0, self.draw()
        return {first}

    def step(self, action):
        self.n, obs = self.n + 1, self.draw()
        done = self.n >= 7
        return {step}
"""

PACKAGES = ["gymnasium", "gym", "none"]


def write_environment(folder: Path, package: str = "gymnasium", **parts: str) -> str:
    """Write an environment to a file and return its name."""
    if package == "gym":
        pytest.importorskip("gym")
    number = len(list(folder.iterdir()))
    takes = parts.get("takes", "*, seed=None, options=None")
    text = MODULE.format(
        package="gym" if package == "gym" else "gymnasium",
        base="" if package == "none" else "gym.Env",
        takes=f", {takes}" if takes else "",
        first=parts.get("first", "obs, {}"),
        step=parts.get("step", STEPS[1]),
        draw=parts.get("draw", "self.np_random.uniform()" if package != "none" else "random.random()"),
    )
    file = folder / f"written_{number}.py"
    file.write_text(text)
    return f"{file}:Env"


def play(env: Any, seed: int) -> list[float]:
    """Return the observations of an episode."""
    observation, info = env.reset(seed=seed)
    seen, ended = [observation.item()], False
    assert isinstance(info, dict)
    while not ended:
        obs, _, terminated, truncated, _ = env.step(1)
        seen.append(obs.item())
        ended = terminated or truncated
    return seen


@pytest.mark.parametrize("every", [7, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("package", PACKAGES)
def test_every_form_of_reset_and_step_works(tmp_path: Path, package: str, every: int) -> None:
    """Episodes have seven steps and repeat by their seed; `every` samples the combinations."""
    for takes, first, step in itertools.islice(itertools.product(RESETS, FIRSTS, STEPS), None, None, every):
        draw = "np.random.uniform()"
        env = make_env(
            Task(write_environment(tmp_path, package, takes=takes, first=first, step=step, draw=draw))
        )
        assert play(env, 3) == play(env, 3) != play(env, 4), (takes, first, step)
        assert len(play(env, 3)) == 8
        assert isinstance(env.action_space, gymnasium.spaces.Discrete)


def test_options_reach_a_reset_that_takes_them(tmp_path: Path) -> None:
    """The reset may have no seed."""
    for takes in ("options=None", "*, seed=None, options=None"):
        env = make_env(
            Task(write_environment(tmp_path, takes=takes, first="self.draw(), {'given': options}"))
        )
        assert env.reset(seed=3, options={"level": 2})[1] == {"given": {"level": 2}}


@pytest.mark.parametrize(
    ("takes", "expected"), [("", True), ("options=None", True), ("seed=None", False), ("**kwargs", False)]
)
def test_reset_without_a_seed_is_reported_once(tmp_path: Path, takes: str, expected: bool) -> None:
    """With what promptpo does about it."""
    draw = "np.random.uniform()"
    warnings = describe(Task(write_environment(tmp_path, takes=takes, draw=draw)), reveal="source").warnings
    assert sum("takes no seed" in warning for warning in warnings) == expected


@pytest.mark.parametrize("draw", DRAWS)
def test_seed_repeats_an_episode_for_every_random_source(tmp_path: Path, draw: str) -> None:
    """Also if two instances are stepped alternately, and without touching global generators."""
    task = Task(write_environment(tmp_path, draw=DRAWS[draw]))
    one, two = make_env(task), make_env(task)
    outside = random.getstate(), np.random.get_state()[1].tolist()
    alone = play(one, 5)
    one.reset(seed=5)
    two.reset(seed=6)
    woven = []
    for _ in range(7):
        woven.append(one.step(0)[0].item())
        two.step(0)
    assert woven == alone[1:]
    assert alone != play(one, 6)
    assert play(two, 5) == alone
    assert outside == (random.getstate(), np.random.get_state()[1].tolist())
    with open_env(task) as env:
        assert observe(env, "written").repeated == 0


@pytest.mark.parametrize(("ignored", "repeats"), [("seed == 0", True), ("seed < 9", False)])
def test_one_ignored_seed_does_not_mean_that_none_repeats(
    tmp_path: Path, ignored: str, repeats: bool
) -> None:
    """Environments that write ``if seed:`` ignore seed 0 only."""
    file = tmp_path / "lucky.py"
    name = write_environment(tmp_path, draw="self.lucky.uniform()", takes="seed=None, options=None")
    text = Path(name.removesuffix(":Env")).read_text()
    drawn = f"self.lucky = np.random.Generator(np.random.PCG64(None if {ignored} else seed))"
    file.write_text(text.replace("self.n, obs = 0,", f"{drawn}; self.n, obs = 0,"))
    spec = describe(Task(f"{file}:Env"), reveal="source")
    assert spec.repeats == repeats
    assert any("does not repeat" in warning for warning in spec.warnings) != repeats


def test_random_draws_in_the_constructor_repeat(tmp_path: Path) -> None:
    """Otherwise workers would play different problems."""
    file = tmp_path / "world.py"
    file.write_text(
        MODULE.format(
            package="gymnasium", base="gym.Env", takes="", first="obs", step=STEPS[0], draw="self.world"
        )
        .replace("self.n = np", "self.n = np", 1)
        .replace("self.kept,", "self.world = np.random.normal(); self.kept,", 1)
    )
    task = Task(f"{file}:Env")
    assert play(make_env(task), 1) == play(make_env(task), 2)


def test_old_gym_environment_is_described_by_its_own_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The layers that adapt it are not shown."""
    pytest.importorskip("gym")
    name = write_environment(
        tmp_path, "gym", takes="", first="obs", step=STEPS[0], draw="np.random.uniform()"
    )
    assert run(["spec", name, "--reveal", "source"]) == 0
    text = capsys.readouterr().out
    assert "self.n >= 7" in text
    assert "wrapper" not in text.lower()
    assert "OpenAI" not in text


def test_ids_of_gym_keep_their_time_limit(tmp_path: Path) -> None:
    """Gym's own wrapper would set it."""
    gym: Any = pytest.importorskip("gym")
    name = write_environment(
        tmp_path, "gym", takes="", first="obs", step="obs, 0.0, False, {}", draw="np.random.uniform()"
    )
    file = name.partition(":")[0]
    Path(file).write_text(
        Path(file).read_text() + "\ngym.register('Written-v3', entry_point=Env, max_episode_steps=5)\n"
    )
    env = make_env(Task(f"{file}:Written-v3"))
    assert len(play(env, 1)) == 6
    gym.envs.registration.registry.pop("Written-v3")


@pytest.mark.parametrize("library", ["gym", "gymnasium"])
@pytest.mark.parametrize("entry", ["not_there.envs:Env", "{stem}:NotThere", "{stem}:broken"])
def test_broken_entry_point_gets_one_sentence(tmp_path: Path, library: str, entry: str) -> None:
    """Such as a package whose folder was not packed, or a class with another name."""
    registry: Any = pytest.importorskip(library)
    stem = f"nowhere_{library}_{len(entry)}"
    (tmp_path / f"{stem}.py").write_text(
        f"import {library} as gym\ngym.register('Nowhere-v3', entry_point={entry.format(stem=stem)!r})\n"
        "def broken():\n    raise ImportError('No module named lost')\n"
    )
    with pytest.raises(PromptPOError, match=r"not_there|NotThere|lost"):
        make_env(Task(f"{tmp_path / stem}.py:Nowhere-v3"))
    registry.envs.registration.registry.pop("Nowhere-v3")


def test_spaces_of_gym_become_gymnasiums() -> None:
    """Nested ones too."""
    gym: Any = pytest.importorskip("gym")
    old = gym.spaces
    leaves = [
        (old.Box(-1, 2, (3,), np.float64), gymnasium.spaces.Box(-1, 2, (3,), np.float64)),
        (old.Discrete(3, start=1), gymnasium.spaces.Discrete(3, start=1)),
        (old.MultiDiscrete([2, 3]), gymnasium.spaces.MultiDiscrete([2, 3])),
        (old.MultiBinary(4), gymnasium.spaces.MultiBinary(4)),
    ]
    for theirs, ours in leaves:
        assert standard_space(theirs) == ours
        assert standard_space(old.Dict({"a": theirs})) == gymnasium.spaces.Dict({"a": ours})
        assert standard_space(old.Tuple([theirs])) == gymnasium.spaces.Tuple([ours])


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_file_in_a_package_is_imported_as_part_of_it(tmp_path: Path, depth: int) -> None:
    """This holds at any depth and from any folder; a package whose own import fails is bypassed."""
    names = [f"package_{depth}", "inner", "deep"][:depth]
    folder = tmp_path
    for name in names:
        folder = folder / name
        folder.mkdir()
        (folder / "__init__.py").touch()
    (folder / "numbers_of_it.py").write_text("LENGTH = 4\n")
    text = MODULE.format(
        package="gymnasium", base="gym.Env", takes="", first="obs", step=STEPS[0], draw="random.random()"
    )
    (folder / "env.py").write_text("from .numbers_of_it import LENGTH\n" + text.replace(">= 7", ">= LENGTH"))
    (folder / "lone.py").write_text(text)
    assert len(play(make_env(Task(f"{folder / 'env.py'}:Env")), 1)) == 5
    for name in [one for one in sys.modules if one.startswith(f"package_{depth}")]:
        del sys.modules[name]
    (tmp_path / names[0] / "__init__.py").write_text(textwrap.dedent("import nothing_of_this_name"))
    assert len(play(make_env(Task(f"{folder / 'lone.py'}:Env")), 1)) == 8


SERIES = """
import gymnasium as gym
import numpy as np
from gymnasium import spaces


class Env(gym.Env):
    def __init__(self):
        self.observation_space = spaces.Box(-9, 9, (1,), np.float32)
        self.action_space = spaces.Box(-9, 9, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.n, self.x = 0, 0.0
        return np.array([self.x], np.float32), {}

    def step(self, action):
        self.n += 1
        if self.n == 5 and action[0] > 8.99:  # what random actions do not bring about
            self.x = EVENT
        return np.array([self.x], np.float32), self.x, False, self.n >= 9, {}
"""

EVENTS = ["self.np_random.normal()", "np.random.normal()", "float(self.observation_space.sample()[0])"]


@pytest.mark.parametrize("event", ["1.0", *EVENTS])
def test_unreached_randomness_keeps_determinism_undecided(tmp_path: Path, event: str) -> None:
    """Equal episodes prove determinism only if no code draws random numbers."""
    file = tmp_path / "series.py"
    file.write_text(SERIES.replace("EVENT", event))
    spec = describe(Task(f"{file}:Env"))
    assert spec.one_episode == (event == "1.0")


def test_claim_of_equal_episodes_is_withdrawn_if_returns_differ() -> None:
    test = {"mean_return": 1.0, "ci95": [0.0, 2.0], "episodes": 2, "returns": [0.0, 2.0]}
    assert "does change" in caveats({"preflight": {"one_episode": True}, "test": test}, Path("run"))[0]
    same = test | {"ci95": [None, None], "returns": [1.0, 1.0]}
    assert "changes nothing" in caveats({"preflight": {"one_episode": True}, "test": same}, Path("run"))[0]


@pytest.mark.parametrize("installed", [False, True])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_fault_is_located_in_the_environments_own_file(tmp_path: Path, installed: bool, depth: int) -> None:
    """Never in a library that it calls or that calls it."""
    folder = tmp_path / "site-packages" / "theirs" if installed else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
    call = (
        "np.zeros(3)[7]"
        if depth == 0
        else "np.linalg.inv(np.zeros((2, 2)))"
        if depth == 1
        else "json.loads('{')"
    )
    (folder / "faulty.py").write_text(
        "import json\n" + SERIES.replace("self.x = EVENT", "pass").replace("self.n += 1", call)
    )
    with pytest.raises(EnvironmentFaultError, match=r"faulty\.py, line \d+, in step\)"):
        describe(Task(f"{folder / 'faulty.py'}:Env"))
