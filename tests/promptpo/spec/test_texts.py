"""Text observations: how specs describe them, and policies that parse them."""

from __future__ import annotations

import json
import string
from typing import Any

import gymnasium
import pytest
from gymnasium import spaces

from promptpo.envs.building import make_env
from promptpo.envs.task import Task
from promptpo.spec.describe import describe, describe_env
from promptpo.spec.reading import read
from promptpo_sandbox import Sandbox, Trial, check_source

pytestmark = pytest.mark.usefixtures("short_observation")


class TextEnv(gymnasium.Env[Any, Any]):
    """Says a number; whoever answers with it earns 1.

    Args:
        form: What it says of the number.
    """

    observation_space = spaces.Text(1000, charset=string.printable)
    action_space = spaces.Discrete(10)

    def __init__(self, form: Any) -> None:
        self.form, self.number = form, 0

    def _say(self) -> str:
        self.number = int(self.np_random.integers(10))
        return str(self.form(self.number))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        return self._say(), {}

    def step(self, action: Any) -> Any:
        reward = float(action == self.number)
        return self._say(), reward, False, False, {}


def text_block(env: Any, **more: Any) -> list[str]:
    """Return the lines of the spec's block on texts, if it has one."""
    text = describe_env(env, Task("Texts-v0"), **more)[0].text
    read(text)
    return text.split('TEXTS = """\\\n')[1].split('"""')[0].splitlines() if "TEXTS" in text else []


def test_text_block_has_examples_and_a_vocabulary() -> None:
    head, *examples, last = text_block(TextEnv(lambda n: f"press {'red' if n % 2 else 'blue'} now"))
    assert head.startswith("obs: 2 different texts among ")
    assert sorted(examples) == ["- press blue now", "- press red now"]
    assert last == "the 4 words seen: blue now press red"


def test_json_texts_are_recognised() -> None:
    """The block says how to parse them."""
    lines = text_block(TextEnv(lambda n: json.dumps({"n": n})))
    assert lines[1] == "each is JSON: from json import loads; loads(text) gives its value"
    assert lines[2].startswith('- {"n": ')


def test_anonymous_spec_has_no_text_block() -> None:
    assert text_block(TextEnv(str), reveal="anonymous") == []
    assert "TEXTS" not in describe_env(gymnasium.make("CartPole-v1"), Task("CartPole-v1"))[0].text


def test_long_texts_are_cut() -> None:
    """They occur in the examples of a field and in the block."""
    env = TextEnv(lambda n: " ".join(f"w{n}x{i}" for i in range(150)))
    assert len(describe_env(env, Task("Texts-v0"))[0].text) < 7000


def test_policy_may_import_json_loads_only(box: Sandbox) -> None:
    source = (
        "from json import loads\n\n\nclass Policy:\n    def act(self, obs):\n        return loads(obs)['n']\n"
    )
    rollout = box.rollout(source, [TextEnv(lambda n: json.dumps({"n": n}))], [Trial(0, horizon=20)])
    assert rollout.failure is None
    assert rollout.episodes[0].return_ == 20
    refused = check_source("from json import dumps\n")
    assert refused is not None
    assert "json.dumps is not available" in refused.message


@pytest.fixture(scope="module")
def box() -> Any:
    """A sandbox shared by the tests of this module."""
    with Sandbox() as sandbox:
        yield sandbox


READER = '''"""Read what is wanted, find it in view, walk to it; turn and wander where it is not in view."""
import random
from collections import deque

COLOURS = {"red": 0, "green": 1, "blue": 2, "purple": 3, "yellow": 4, "grey": 5}
OBJECTS = {"door": 4, "key": 5, "ball": 6, "box": 7}
LEFT, RIGHT, FORWARD, PICKUP = 0, 1, 2, 3


class Policy:
    def __init__(self):
        self.steps = 0
        self.walk = []

    def read(self, mission):
        words = mission.split()
        things = {OBJECTS[word] for word in words if word in OBJECTS} or {5, 6, 7}  # "an object" is any of them
        colour = next((COLOURS[word] for word in words if word in COLOURS), None)
        return things, colour, "pick" in words

    def act(self, obs):
        self.steps += 1
        image = obs["image"]
        things, colour, pick = self.read(obs["mission"])
        goals = {
            (i, j)
            for i in range(7)
            for j in range(7)
            if image[i, j, 0] in things and colour in (None, image[i, j, 1]) and (i, j) != (3, 6)
        }
        if (3, 5) in goals:
            return PICKUP if pick else FORWARD
        # Search over (column, row, direction); 0 looks towards smaller rows, 1 to the right, 2 back, 3 to the left.
        start = (3, 6, 0)
        came, left = {start: None}, deque([start])
        while left:
            state = left.popleft()
            i, j, way = state
            di, dj = [(0, -1), (1, 0), (0, 1), (-1, 0)][way]
            ahead = (i + di, j + dj)
            if ahead in goals:
                first = state
                while came[first] is not None and came[first][0] != start:
                    first = came[first][0]
                return came[first][1] if came[first] else FORWARD
            for action, nxt in ((LEFT, (i, j, (way + 3) % 4)), (RIGHT, (i, j, (way + 1) % 4)), (FORWARD, (*ahead, way))):
                inside = 0 <= nxt[0] < 7 and 0 <= nxt[1] < 7
                if nxt not in came and inside and (action != FORWARD or image[nxt[0], nxt[1], 0] in (1, 3)):
                    came[nxt] = (state, action)
                    left.append(nxt)
        if not self.walk:
            self.walk = [RIGHT] * 4 + [random.choice((LEFT, RIGHT))] * random.randint(0, 1) + [FORWARD] * 3
        action = self.walk.pop(0)
        return action if action != FORWARD or image[3, 5, 0] in (1, 3) else RIGHT
'''


@pytest.mark.parametrize(
    ("env_id", "words"), [("BabyAI-GoToLocal-v0", "go to"), ("BabyAI-PickupDist-v0", "pick up")]
)
def test_mission_parsing_policy_solves_babyai(box: Sandbox, env_id: str, words: str) -> None:
    """The spec lists the missions' words, which suffice to write such a policy."""
    pytest.importorskip("minigrid")
    task = Task(env_id)
    text = describe(task).text
    block = text.split('TEXTS = """\\\n')[1].split('"""')[0]
    assert words in block
    assert all(colour in block for colour in ("red", "green", "blue", "purple", "yellow", "grey"))
    envs = [make_env(task) for _ in range(4)]
    rollout = box.rollout(READER, envs, [Trial(seed) for seed in range(7)], on_step_limit=3000)
    assert rollout.failure is None
    assert sum(episode.return_ > 0 for episode in rollout.episodes) >= 6
