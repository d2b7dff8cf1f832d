"""One episode in a plain loop: the reference for rollouts, without their speed.

`rollout` and `episodes` beside this file play many episodes in lockstep, repeat those not to blame for the loss of a
guest, and keep records; an episode has the same return, steps and kind of failure there as here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium

from promptpo_sandbox.results import Episode, Failure, Trial

if TYPE_CHECKING:
    from promptpo_sandbox.box import Sandbox

LANE = 0


def play_episode(box: Sandbox, source: str, env: gymnasium.Env[Any, Any], trial: Trial) -> Episode:
    """Play one episode of one policy, in a guest of its own.

    Continuous actions are clipped to the bounds of the action space; here, clipped ones are not counted.

    Args:
        box: Runs the policy.
        source: A module with ``class Policy``.
        env: Stepped in this process.
        trial: The episode.

    Raises:
        SandboxUnavailableError: Layers are missing and that was not accepted.
        UnsupportedSpaceError: Observations or actions cannot cross the border.
    """
    total, steps, success = 0.0, 0, None
    terminated, truncated = False, False
    policies = box.open_policies(source, env.observation_space, env.action_space)
    failure: Failure | None = policies.start({LANE: trial}).get(LANE)
    if failure is None:
        obs, _ = env.reset(seed=trial.seed)
    while failure is None and not (terminated or truncated):
        action = policies.act({LANE: obs})[LANE]
        if isinstance(action, Failure):
            failure = action
            break
        obs, reward, terminated, truncated, info = env.step(action)
        total += float(reward)
        steps += 1
        truncated = truncated or steps == trial.horizon
        for key in ("success", "is_success"):
            if key in info:
                success = bool(success) or bool(info[key])
    policies.close()
    return Episode(
        seed=trial.seed,
        return_=total,
        steps=steps,
        terminated=bool(terminated),
        truncated=bool(truncated),
        success=success,
        clipped=0,
        policy_seconds=0.0,
        failure=failure,
    )
