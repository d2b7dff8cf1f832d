"""gymnasium-robotics: the maze of this instance."""

from __future__ import annotations

from typing import Any

from promptpo.spec.known.base import Known, fields

FETCH = """
dx = action[0]; -1 .. 1; moves the gripper's target; 1 stands for 0.05 m
dy = action[1]; -1 .. 1; likewise in y
dz = action[2]; -1 .. 1; likewise in z
"""


def known(env: Any) -> Known | None:
    """The map of a maze; nothing for the other environments, whose documentation has tables."""
    maze = getattr(env, "maze", None)
    if maze is None:
        return _fetch(env) if type(env).__name__.startswith("MujocoFetch") else None
    rows = "\n".join("".join(str(cell) for cell in row) for row in maze.maze_map)
    scale = maze.maze_size_scaling
    return Known(
        blocks={
            "MAP": f"{rows}\n"
            "# 1 wall, 0 free, r/g/c: free cells where the agent, the goal, or either of them may start\n"
            f"# the centre of cell (i, j), row i from the top, lies at\n"
            f"# x = (j + 0.5) * {scale} - {maze.x_map_center}, y = {maze.y_map_center} - (i + 0.5) * {scale}"
        },
        start=(
            "The agent and the goal lie in free cells chosen at random, each moved by up to "
            f"{env.position_noise_range * scale:g} m from the cell's centre in x and y."
        ),
        end=(
            "Never before the horizon; a reached goal moves to another cell."
            if env.continuing_task and env.reset_target
            else "Never before the horizon."
            if env.continuing_task
            else "The goal is reached."
        ),
    )


def _fetch(env: Any) -> Known:
    grip = (
        "no effect: the gripper stays closed" if env.block_gripper else "opens (+) or closes (-) the fingers"
    )
    return Known(action=fields(f"{FETCH}grip = action[3]; -1 .. 1; {grip}"), action_note="")
