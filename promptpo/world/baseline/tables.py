"""A world model of counts, for tasks whose observations are a few states."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from promptpo.world.numbers import rows
from sandbox import Recorded

MOST_STATES = 5000
MOST_BYTES = 85_000
"""A longer table would not be a policy's part any more, which may have 100,000 bytes with all that it needs."""


def count_states(space: spaces.Space[Any]) -> int | None:
    """How many different observations a space has; None where it is not finite."""
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, spaces.MultiDiscrete):
        return math.prod(int(n) for n in np.ravel(space.nvec))
    if isinstance(space, spaces.Tuple):
        counts = [count_states(part) for part in space.spaces]
        return None if not counts or None in counts else math.prod(n for n in counts if n is not None)
    return None


def suits_tables(observation_space: spaces.Space[Any], action_space: spaces.Space[Any]) -> bool:
    """Whether both spaces are small and discrete."""
    states = count_states(observation_space)
    return states is not None and states <= MOST_STATES and isinstance(action_space, spaces.Discrete)


def write_table(
    observation_space: spaces.Space[Any],
    action_space: spaces.Space[Any],
    episodes: Sequence[Recorded],
    *,
    curious: bool = False,
) -> str:
    """The source of a table of what was seen to follow; empty where the spaces are not small and discrete."""
    if not isinstance(action_space, spaces.Discrete) or not suits_tables(observation_space, action_space):
        return ""
    counts: Counter[tuple[Any, ...]] = Counter()
    for episode in episodes:
        seen = [_key(row) for row in rows(observation_space, episode.observations)]
        for t, reward in enumerate(episode.rewards):
            ended = episode.terminated and t == len(episode) - 1
            counts[seen[t], int(episode.actions[t]), seen[t + 1], float(reward), ended] += 1
    lines = [_line(outcome, count) for outcome, count in _most(counts)]
    start = int(action_space.start)
    return _MODULE.format(
        outcomes="\n".join(lines),
        actions=f"range({start}, {start + int(action_space.n)})",
        read=_reading(observation_space),
        write=_writing(observation_space),
        lowest=f"{min(reward for _, _, _, reward, _ in counts):.9g}",
        reward="1.0 if count == 0 else 0.0" if curious else "reward",
    )


def _most(counts: Counter[tuple[Any, ...]]) -> list[tuple[tuple[Any, ...], int]]:
    """As many of the outcomes as a module can hold, those that occur most, in the order of states."""
    kept, size = [], 0
    for outcome, count in counts.most_common():
        size += len(_line(outcome, count)) + 1
        if size > MOST_BYTES:
            break
        kept.append((outcome, count))
    return sorted(kept, key=lambda one: (one[0][0], one[0][1], -one[1]))


def _key(row: Any) -> tuple[int, ...]:
    return tuple(int(value) for value in row)


def _line(outcome: tuple[Any, ...], count: int) -> str:
    state, action, after, reward, ended = outcome

    def text(key: Any) -> str:
        return ",".join(map(str, key))

    return f"{text(state)} {action} {text(after)} {reward:.9g} {int(ended)} {count}"


def _reading(space: spaces.Space[Any]) -> str:
    if isinstance(space, spaces.Discrete):
        return "(int(obs),)"
    return f"({', '.join(_terms(space, 'obs'))},)"


def _terms(space: Any, path: str) -> list[str]:
    if isinstance(space, spaces.Discrete):
        return [f"int({path})"]
    if isinstance(space, spaces.MultiDiscrete):
        return [f"*(int(v) for v in np.ravel({path}))"]
    return [term for i, part in enumerate(space.spaces) for term in _terms(part, f"{path}[{i}]")]


def _writing(space: spaces.Space[Any]) -> str:
    return _value(space, 0)[0]


def _value(space: Any, first: int) -> tuple[str, int]:
    """The expression that makes an observation of a state's numbers, and where its numbers end."""
    if isinstance(space, spaces.Discrete):
        return f"state[{first}]", first + 1
    if isinstance(space, spaces.MultiDiscrete):
        n = int(np.prod(space.shape))
        shape = "" if len(space.shape) == 1 else f".reshape({tuple(space.shape)})"
        return (
            f"np.array(state[{first}:{first + n}], dtype=np.{np.dtype(space.dtype).name}){shape}",
            first + n,
        )
    parts = []
    for part in space.spaces:
        text, first = _value(part, first)
        parts.append(text)
    return f"({', '.join(parts)},)", first


_MODULE = '''"""What was seen to follow each state and action, counted; what was not seen leaves the state as it is."""

import numpy as np

SEEN = """
{outcomes}
"""
ACTIONS = {actions}


def outcomes_seen():
    """(state, action) to a list of (count, next state, reward, ended)."""
    found = {{}}
    for line in SEEN.strip().splitlines():
        state, action, after, reward, ended, count = line.split()
        before = tuple(int(part) for part in state.split(","))
        now = tuple(int(part) for part in after.split(","))
        found.setdefault((before, int(action)), []).append((int(count), now, float(reward), ended == "1"))
    return found


OUTCOMES = outcomes_seen()


class World:
    """One episode; the state is what was last observed or predicted."""

    def __init__(self, obs, rng):
        self.rng = rng
        self.sync(obs)

    def sync(self, obs):
        """Put the world in the state of an observation."""
        self.state = {read}

    def step(self, action):
        """What follows an action: one of the outcomes that were seen, as often as they were."""
        count, after, reward, ended = self.drawn((self.state, int(action)))
        self.state = state = after
        return {write}, {reward}, ended

    def drawn(self, asked):
        """One outcome."""
        seen = OUTCOMES.get(asked)
        if not seen:
            return 0, asked[0], {lowest}, False
        if len(seen) == 1:
            return seen[0]
        at = self.rng.random() * sum(count for count, _, _, _ in seen)
        for outcome in seen:
            at -= outcome[0]
            if at < 0:
                return outcome
        return seen[-1]
'''
