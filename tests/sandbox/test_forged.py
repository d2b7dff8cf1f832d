"""Guests that forge the protocol: whatever they send gives only failures, in bounded time and memory."""

from __future__ import annotations

import random
import struct
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from promptpo_sandbox import CallResult, Limits, Rollout, Sandbox, Trial
from promptpo_sandbox.guest import wire
from promptpo_sandbox.guest.actions import values_in
from promptpo_sandbox.guest.plain import PlainDataError, decode, encode
from promptpo_sandbox.guest.wire import message
from promptpo_sandbox.lockstep.progress import Progress
from promptpo_sandbox.lockstep.rollout import Runner
from promptpo_sandbox.spaces import layout_of
from promptpo_sandbox.text import clean
from tests.sandbox.environments import EchoEnv
from tests.sandbox.forged import Forgers

LIMITS = Limits(
    step_seconds=0.03, construct_seconds=0.03, episode_seconds=0.5, output_bytes=2000, wall_factor=2.0
)
SPACES: dict[str, spaces.Space[Any]] = {
    "discrete": spaces.Discrete(3, start=-1),
    "box": spaces.Box(-1, 1, (2,), np.float32),
    "scalar box": spaces.Box(0, 5, (), np.float64),
    "integers": spaces.Box(-3, 3, (2, 2), np.int16),
    "multi-discrete": spaces.MultiDiscrete([2, 3]),
    "multi-binary": spaces.MultiBinary(3),
    "text": spaces.Text(4),
    "dict": spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Box(0, 1, (1,))}),
    "tuple": spaces.Tuple([spaces.Discrete(2), spaces.Text(3)]),
    "sequence": spaces.Sequence(spaces.Box(0, 1, (1,))),
    "stacked": spaces.Sequence(spaces.Box(0, 1, (2,)), stack=True),
    "one-of": spaces.OneOf([spaces.Discrete(2), spaces.Box(0, 1, (1,))]),
}


class Strict(EchoEnv):
    """Counts actions outside its space."""

    wrong = 0

    def step(self, action: Any) -> Any:
        """Step."""
        if not self.action_space.contains(action):
            self.wrong += 1
        return super().step(action)


def truthful_answers(space: spaces.Space[Any]) -> Any:
    """Return a good guest's answer as a function of the number of lanes."""
    layout = layout_of(space)
    space.seed(0)

    def answer(lanes: int) -> bytes:
        actions = [space.sample() for _ in range(lanes)]
        if layout[0] == "discrete":
            rows = struct.pack(f"<{lanes}q", *(int(action) for action in actions))
        elif layout[0] == "box":
            rows = b"".join(np.asarray(action, layout[1]).tobytes() for action in actions)
        else:
            rows = encode(actions)
        return message(wire.ACTIONS, rows, lanes)

    return answer


def roll_out_forged(space: spaces.Space[Any], seed: int) -> None:
    """Run one rollout with forged guests, and check its invariants."""
    chance = random.Random(seed)
    lanes, trials = chance.choice((1, 2, 3)), chance.choice((1, 3, 4))
    forgers = Forgers(truthful_answers(space), chance, LIMITS)
    runner = Runner(forgers.guests(), LIMITS, "", gate=True)
    envs = [Strict(spaces.Box(-1, 1, (2,)), space, length=3) for _ in range(lanes)]
    stop = chance.random() < 0.5
    progress = Progress([Trial(n) for n in range(trials)], stop, output_bytes=LIMITS.output_bytes)
    began = time.monotonic()
    rollout = runner.run(
        envs, progress, record=chance.choice((False, False, True, "seen")), clip_actions=chance.random() < 0.5
    )
    assert time.monotonic() - began < 20
    assert isinstance(rollout, Rollout)
    assert sum(env.wrong for env in envs) == 0
    if not stop:
        assert len(rollout.episodes) == trials
    assert len(rollout.output) <= 6 * LIMITS.output_bytes
    for episode in rollout.episodes:
        if episode.failure is not None:
            assert clean(episode.failure.message) == episode.failure.message
            assert clean(episode.failure.detail) == episode.failure.detail
        else:
            assert (episode.steps, episode.return_) == (3, 3.0)


@pytest.mark.parametrize("name", SPACES)
def test_forged_answers_give_only_failures(name: str) -> None:
    """A few guests for each action space."""
    for seed in range(4):
        roll_out_forged(SPACES[name], seed)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_many_forged_answers_give_only_failures() -> None:
    """Three to 24 seeds for each action space, as many as fit into ten seconds."""
    end, seed = time.monotonic() + 10, 1000
    while seed < 1003 or (time.monotonic() < end and seed < 1024):
        for space in SPACES.values():
            roll_out_forged(space, seed)
        seed += 1


def roll(reply: Any, space: spaces.Space[Any], limits: Limits) -> Rollout:
    """Return a rollout in which every batch is answered by these bytes, given the number of lanes."""
    forgers = Forgers(reply, random.Random(0), limits, truths=(10**9,))
    runner = Runner(forgers.guests(), limits, "", gate=True)
    envs = [Strict(spaces.Box(-1, 1, (2,)), space, length=3) for _ in range(2)]
    progress = Progress([Trial(0), Trial(1)], stop_on_failure=False, output_bytes=limits.output_bytes)
    return runner.run(envs, progress, record=False, clip_actions=False)


def colliding_keys(n: int) -> bytes:
    """Return an encoded dict whose integer keys all have the same hash."""
    keys = b"".join(encode(i * (2**61 - 1)) + b"N" for i in range(1, n))
    return b"d" + struct.pack("<I", n - 1) + keys


BOMBS = {
    "keys that collide": colliding_keys(20_000),
    "16 MiB of N": b"l" + struct.pack("<I", 16_000_000) + b"N" * 16_000_000,
    "empty arrays": b"l"
    + struct.pack("<I", 50)
    + (b"a\x03\x03" + struct.pack("<3Q", 4000, 4000, 10) + b"<U0") * 50,
    "long integers": b"l" + struct.pack("<I", 600) + (b"I" + struct.pack("<I", 4000) + b"9" * 4000) * 600,
    "nested dicts": (b"d\x01\x00\x00\x00N" * 40) + b"N",
}


@pytest.mark.parametrize("name", BOMBS)
def test_decoding_a_bomb_is_bounded(name: str) -> None:
    """Both time and memory are bounded."""
    values = values_in(layout_of(SPACES["dict"]))
    began = time.process_time()
    tracemalloc.start()
    with pytest.raises(PlainDataError):
        decode(BOMBS[name], max_values=1 + 16 * values)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert time.process_time() - began < 0.5
    assert peak < 4 * 2**20


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_as_an_action_is_a_crash(name: str) -> None:
    """The whole host takes part."""
    began = time.process_time()
    rollout = roll(
        lambda lanes: message(wire.ACTIONS, BOMBS[name], lanes), SPACES["sequence"], Limits(step_seconds=60.0)
    )
    assert time.process_time() - began < 5
    assert rollout.failure is not None
    assert rollout.failure.kind in ("crashed", "invalid_action")


FLOOD = """
import os, struct
class Policy:
    def act(self, obs):
        while True:
            os.write(3, struct.pack('<BBHI', 35, 0, 0, {size}) + b'x' * {size})
class Feedback:
    def summarise(self, data):
        Policy().act(0)
"""


@pytest.fixture(scope="module")
def open_box() -> Any:
    """A sandbox without its gate, with short limits."""
    from promptpo_sandbox import Layers

    limits = Limits(step_seconds=0.1, construct_seconds=1.0, call_seconds=0.2, wall_factor=5.0)
    with Sandbox(limits, layers=Layers(gate=False)) as sandbox:
        yield sandbox


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1, 4000])
def test_endless_output_does_not_move_deadlines(open_box: Sandbox, size: int) -> None:
    """This holds in act and in a call, and only a bounded part of the output is kept."""
    began = time.monotonic()
    envs = [EchoEnv(spaces.Box(-1, 1, (2,)), spaces.Discrete(2)) for _ in range(2)]
    rollout = open_box.rollout(FLOOD.format(size=size), envs, [Trial(0), Trial(1)])
    assert rollout.failure is not None
    assert rollout.failure.kind in ("timeout", "crashed")
    result = open_box.call(FLOOD.format(size=size), "Feedback.summarise", 1)
    assert isinstance(result, CallResult)
    assert result.failure is not None
    assert len(result.output) <= open_box.limits.output_bytes
    assert time.monotonic() - began < 60


def test_text_of_a_call_is_bounded() -> None:
    """A feedback class must not fill the host's memory."""
    source = "def told(n):\n    return 'x' * n\n"
    with Sandbox(Limits(text_bytes=1000)) as box:
        assert box.call(source, "told", 1000).value == "x" * 1000
        failure = box.call(source, "told", 1001).failure
    assert failure is not None
    assert failure.message == "told returned 1001 bytes of text; return at most 1000"
