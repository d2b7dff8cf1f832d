"""Guests that forge a simulator's or a reward's answers give a failure, or numbers of the right shapes."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from promptpo.simulator.check import build_report
from promptpo_sandbox import Sandbox
from promptpo_sandbox.answers import read_rewards
from promptpo_sandbox.asked import _MALFORMED
from promptpo_sandbox.guest.plain import PlainDataError, decode, encode
from promptpo_sandbox.simulators import MAX_ANSWER_VALUES, LanePlay, LanesPlayed, Simulated, SimulatorGuest
from tests.promptpo.simulator.sources import PENDULUM, SWING_UP
from tests.sandbox.forged import odd_value

HORIZON = 6
SPACES = spaces.Box(-8, 8, (3,)), spaces.Box(-2, 2, (1,))
PLAY = LanePlay(
    SWING_UP, [{"kp": kp, "kd": 1.0, "near": 0.8, "k": 0.5, "idle": 0.0} for kp in (5.0, 15.0)], 3, HORIZON,
    together=True, record=2,
)  # fmt: skip


def alter(chance: random.Random, value: Any) -> Any:
    """Return the answer with one of its values replaced, repeated or left out."""
    if isinstance(value, dict) and chance.random() < 0.9:
        name = chance.choice([*value])
        return value | {name: alter(chance, value[name])} if chance.random() < 0.9 else {name: value[name]}
    if isinstance(value, tuple | list) and value and chance.random() < 0.9:
        items, at = [*value], chance.randrange(len(value))
        items[at : at + 1] = chance.choice([[], [items[at]] * 2, *[[alter(chance, items[at])]] * 8])
        return type(value)(items)
    if isinstance(value, np.ndarray) and chance.random() < 0.8:
        changes: list[Callable[[], Any]] = [
            lambda: value.astype(chance.choice(["<U3", "complex", "float16", "longdouble", "int8", "bool"])),
            lambda: np.full_like(value, chance.choice([np.nan, np.inf, -1e300, 1e300]), float),
            lambda: value[..., None],
            lambda: value[:-1],
            lambda: -value.astype(float) - 1,
            lambda: value + 10**6,
        ]
        return chance.choice(changes)()
    return odd_value(chance)


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[Any, Callable[[Any], Any]]]:
    """A valid answer to each request to a simulator, with its reader."""
    recorded: dict[str, tuple[Any, Callable[[Any], Any]]] = {}

    class RecordingGuest(SimulatorGuest):
        def _ask(self, what: str, request: Any, taken: Any) -> Any:
            def record(answer: Any) -> Any:
                recorded[what] = answer, taken
                return taken(answer)

            return super()._ask(what, request, record)

    values = {"g": 10.0, "m": 1.0, "unused": 0.0}
    starts, actions = np.zeros((256, 3), np.float32), np.zeros((4, 256, 1), np.float32)
    with Sandbox() as box, RecordingGuest(box, Simulated(PENDULUM, (values,), *SPACES)) as guest:
        guest.examine(starts, actions)
        guest.predict([values], starts[:2], actions[:, :2], [1, 3])
        guest.why_alone(SWING_UP, PLAY.vectors)
        guest.play(PLAY)
        guest.start(4, HORIZON)
        guest.advance(actions[0, :4])
    recorded["score"] = (np.zeros(5), {"a": 1.0, "b": 0.5}, True), lambda answer: read_rewards(answer, 5)
    return recorded


def use_answer(what: str, read: Any) -> None:
    """Use an answer as its callers do, and check what they rely on."""
    if what == "examine":
        with np.errstate(invalid="ignore"):
            build_report(read, np.zeros((5, 3)))
    elif isinstance(read, LanesPlayed):
        assert read.returns.shape == read.lengths.shape == read.terminated.shape == (2, 3)
        assert not np.isnan(read.returns).any()
        assert 0 <= int(read.lengths.sum()) <= 6 * HORIZON
        for episode in read.episodes:
            assert episode.observations.shape[1:] == (3,)
            assert episode.actions.shape[1:] == (1,)
            assert all(part.dtype.kind in "biuf" for part in (episode.observations, episode.rewards))
    elif what == "compare":
        assert isinstance(read, str)
    elif what == "score":
        assert all(type(reward) is float for reward in read[0])
    elif read is not None:
        assert all(np.isfinite(part).all() and part.dtype.kind in "biuf" for part in read)


def test_forged_answer_is_a_failure_or_harmless(
    answers: dict[str, tuple[Any, Callable[[Any], Any]]],
) -> None:
    assert {*answers} == {"examine", "predict", "compare", "play", "start", "advance", "score"}
    failed = 0
    for what, (answer, read_answer) in answers.items():
        use_answer(what, read_answer(answer))
        for seed in range(300):
            forged = alter(random.Random(f"{what} {seed}"), answer)
            try:
                read = read_answer(decode(encode(forged), max_values=MAX_ANSWER_VALUES))
            except (*_MALFORMED, PlainDataError):
                failed += 1
            else:
                use_answer(what, read)
    assert failed > 600
