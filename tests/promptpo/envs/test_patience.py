"""Time limits for environment code that hangs."""

import contextlib
import time
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from promptpo.core.config import Budget, Config
from promptpo.envs.contract import patience
from promptpo.envs.task import Task
from promptpo.errors import EnvironmentFaultError
from promptpo.session.setup import load_spec


class Hanging(gymnasium.Env[Any, Any]):
    """Its reset does not return, and catches every exception."""

    observation_space, action_space = spaces.Box(-1, 1, (1,), np.float32), spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        while True:
            with contextlib.suppress(Exception):
                time.sleep(60)


@pytest.mark.parametrize("read", [True, False])
def test_description_respects_the_runs_time_limit(read: bool) -> None:
    """A reset that hangs gives one sentence, whether or not the source is read."""
    config = Config(Task(f"{__name__}:Hanging"), budget=Budget(seconds=0.5))
    started = time.monotonic()
    with pytest.raises(EnvironmentFaultError, match=r"describing .* seems to hang\.$"):
        load_spec(config, read=read)
    assert time.monotonic() - started < 30


@pytest.mark.slow
def test_short_limits_inside_a_long_one_do_not_prolong_it() -> None:
    """Whether the time passes inside the short limits or between them."""

    def work(whole: float, part: float, inner: float, pause: float) -> None:
        with patience(whole, "all of it"):
            for _ in range(100):
                with patience(part, "a part"):
                    time.sleep(inner)
                time.sleep(pause)

    for part, inner, pause in ((5.0, 0.02, 0.0), (5.0, 0.0, 0.02), (0.3, 0.02, 0.0)):
        with pytest.raises(EnvironmentFaultError, match=r"all of it took more than 0\.35"):
            work(0.35, part, inner, pause)
    with pytest.raises(EnvironmentFaultError, match=r"a part took more than 0\.1"):
        work(60.0, 0.1, 0.2, 0.0)
