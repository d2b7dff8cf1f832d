"""Small worlds shared by several tests."""

from dataclasses import replace
from typing import Any

import numpy as np

from promptpo_baselines.icpi.assembly import stream
from promptpo_baselines.icpi.engines.oracle import OracleEngine
from promptpo_baselines.icpi.examples import ExampleBook
from promptpo_baselines.icpi.prompts import PromptBuilder
from promptpo_baselines.icpi.setting import setting_for
from promptpo_baselines.icpi.values import Transition
from promptpo_baselines.icpi_flags import Profile

PAPER, FAST = Profile(name="paper"), Profile()
CHAIN = setting_for("promptpo/Chain-v0")


def episodes(setting: Any, number: Any, seed: int = 0) -> Any:
    """Return episodes of random actions."""
    rng = np.random.default_rng(seed)
    collected = []
    for _ in range(number):
        state, ended = setting.domain.reset(rng), False
        episode: list[Transition] = []
        while not ended and len(episode) < 8:
            action = int(rng.integers(setting.n_actions))
            after, reward, ended = setting.domain.step(state, action, rng)
            episode.append(Transition(state, action, reward, ended, after))
            state = after
        collected.append(episode)
    return collected


def filled_book(setting: Any, number: int = 20, profile: Any = PAPER, seed: int = 0, **settings: Any) -> Any:
    """Return a book with the examples of random episodes."""
    book = ExampleBook(setting.codec, profile, max_excerpt=setting.max_excerpt, **settings)
    for episode in episodes(setting, number, seed):
        book.add_episode(episode)
    return book


def builder(setting: Any, book: Any, profile: Any = PAPER, seed: int = 0, **changes: Any) -> Any:
    """Return a prompt builder over a book."""
    profile = replace(profile, **changes)
    return PromptBuilder(setting.codec, book, profile, stream(seed, "prompts"))


def oracle(setting: Any, seed: int = 0) -> Any:
    """Return the engine that knows the rules."""
    return OracleEngine(setting.domain, setting.codec, stream(seed, "engine"))
