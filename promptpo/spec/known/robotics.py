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
    """The map of a maze, a gripper's action, a kitchen's goals; the other documentations have tables."""
    if type(env).__name__ == "KitchenEnv":
        return _kitchen(env)
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


def _kitchen(env: Any) -> Known:
    tasks = ", ".join(sorted(env.goal))
    once = " Each task counts once per episode." if env.remove_task_when_completed else ""
    ends = "All tasks are done." if env.terminate_on_tasks_completed else "Never before the horizon."
    return Known(
        description=f"A Franka arm with nine joints in a kitchen brings these into their goal states: {tasks}.",
        observation_note=(
            "Goals are joint positions: kettle x, y, z and a quaternion w, x, y, z; burners and light switch "
            "two joints each, hinge cabinet left and right door, slide cabinet and microwave one joint."
        ),
        hide_reward_code=True,
        reward_text=(
            "The number of tasks whose achieved_goal is closer than 0.3 (Euclidean norm) to the desired_goal."
            f"{once}"
        ),
        end=ends,
    )


def _fetch(env: Any) -> Known:
    grip = (
        "no effect: the gripper stays closed" if env.block_gripper else "opens (+) or closes (-) the fingers"
    )
    return Known(action=fields(f"{FETCH}grip = action[3]; -1 .. 1; {grip}"), action_note="")
