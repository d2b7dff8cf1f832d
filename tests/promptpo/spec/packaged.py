"""Third-party environments that are built by a call instead of an id."""

from typing import Any

import gymnasium
import numpy as np


def reactor() -> Any:
    """The stirred tank of pcgym with its documented set points."""
    from pcgym import make_env

    steps = 100
    return make_env(
        {
            "N": steps,
            "tsim": 26,
            "SP": {"Ca": [0.85] * (steps // 2) + [0.9] * (steps // 2)},
            "o_space": {"low": np.array([0.7, 300.0, 0.8]), "high": np.array([1.0, 350.0, 0.9])},
            "a_space": {"low": np.array([295.0]), "high": np.array([302.0])},
            "x0": np.array([0.8, 330.0, 0.8]),
            "model": "cstr",
            "r_scale": {"Ca": 1e3},
            "normalise_a": True,
            "normalise_o": True,
            "noise": False,
            "integration_method": "casadi",
            "noise_percentage": 0.001,
        }
    )


def minecart() -> Any:
    """mo-gymnasium's mine cart with its three rewards weighted and summed."""
    import mo_gymnasium

    weights = np.array([0.4, 0.4, 0.2], dtype=np.float32)
    return mo_gymnasium.wrappers.LinearReward(mo_gymnasium.make("minecart-v0"), weight=weights)


def trading() -> Any:
    """gym-trading-env on a random walk of prices."""
    import gym_trading_env  # noqa: F401 - registers
    import pandas as pd

    prices = 100 + np.cumsum(np.random.default_rng(0).normal(0, 1, 400))
    frame = pd.DataFrame(dict.fromkeys(("open", "high", "low", "close"), prices))
    frame["feature_close"] = frame["close"].pct_change()
    frame.index = pd.date_range("2024-01-01", periods=400, freq="h")
    frame["volume"] = 1.0
    env = gymnasium.make("TradingEnv", df=frame.dropna(), positions=[-1, 0, 1], verbose=0)
    return gymnasium.wrappers.DtypeObservation(env, np.float32)


def grid() -> Any:
    """grid2op's smallest grid with a Box observation and line switching as actions."""
    import warnings

    with warnings.catch_warnings(action="ignore"):
        import grid2op
        from grid2op.gym_compat import BoxGymObsSpace, DiscreteActSpace, GymEnv

        env = GymEnv(grid2op.make("rte_case5_example", test=True))
        inner = env.init_env
        env.observation_space = BoxGymObsSpace(
            inner.observation_space, attr_to_keep=["rho", "gen_p", "load_p"]
        )
        env.action_space = DiscreteActSpace(inner.action_space, attr_to_keep=["set_line_status"])
    return env
