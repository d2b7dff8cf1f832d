"""gymnasium-robotics: the maze of this instance."""

from __future__ import annotations

from typing import Any

from promptpo.spec.known.base import Supplement, fields

FETCH = """
dx = action[0]; -1 .. 1; moves the gripper's target; 1 stands for 0.05 m
dy = action[1]; -1 .. 1; likewise in y
dz = action[2]; -1 .. 1; likewise in z
"""


POINT = """
position = obs["observation"][0:2]; m; x, y of the ball
velocity = obs["observation"][2:4]; m/s; x, y
goal = obs["desired_goal"]; m; x, y: where the ball belongs
achieved = obs["achieved_goal"]; m; x, y, the same as self.position
"""
REACH = """
gripper = obs["observation"][0:3]; m; x, y, z between the fingertips
right_finger = obs["observation"][3]; m; of the right finger from the middle
left_finger = obs["observation"][4]; m; likewise the left one
gripper_velocity = obs["observation"][5:8]; x, y, z in m/s * step
right_finger_velocity = obs["observation"][8]; m/s * step
left_finger_velocity = obs["observation"][9]; m/s * step
"""
OBJECT = """
gripper = obs["observation"][0:3]; m; x, y, z between the fingertips
object = obs["observation"][3:6]; m; x, y, z of its centre
object_from_gripper = obs["observation"][6:9]; m; x, y, z: object - gripper
right_finger = obs["observation"][9]; m; of the right finger from the middle
left_finger = obs["observation"][10]; m; likewise the left one
object_rotation = obs["observation"][11:14]; rad; Euler angles about x, y, z
object_velocity = obs["observation"][14:17]; x, y, z in m/s * step, relative to the gripper
object_angular_velocity = obs["observation"][17:20]; about x, y, z in rad/s * step
gripper_velocity = obs["observation"][20:23]; x, y, z in m/s * step
right_finger_velocity = obs["observation"][23]; m/s * step
left_finger_velocity = obs["observation"][24]; m/s * step
"""


def known(env: Any) -> Supplement | None:
    """The map of a maze, a gripper's action, a kitchen's goals; the other documentations have tables."""
    if type(env).__name__ == "KitchenEnv":
        return _kitchen(env)
    maze = getattr(env, "maze", None)
    if maze is None:
        return _fetch(env) if type(env).__name__.startswith("MujocoFetch") else Supplement(w_first=True)
    rows = "\n".join("".join(str(cell) for cell in row) for row in maze.maze_map)
    scale = maze.maze_size_scaling
    point = "Point" in type(env).__name__
    return Supplement(
        w_first=True,
        observation=fields(POINT) if point else (),
        observation_note="" if point else None,
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


def _kitchen(env: Any) -> Supplement:
    tasks = ", ".join(sorted(env.goal))
    once = " Each task counts once per episode." if env.remove_task_when_completed else ""
    ends = "All tasks are done." if env.terminate_on_tasks_completed else "Never before the horizon."
    return Supplement(
        w_first=True,
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


def _fetch(env: Any) -> Supplement:
    grip = (
        "no effect: the gripper stays closed" if env.block_gripper else "opens (+) or closes (-) the fingers"
    )
    return Supplement(
        observation=fields((REACH if not env.has_object else OBJECT) + _goals(env)),
        observation_note=(
            "World coordinates; x points away from the robot, y to its left, z up. Velocities are multiplied "
            f"by the length of a step, {env.dt:g} s. A finger is 0 m (closed) to 0.05 m (open) from the middle."
        ),
        action=fields(f"{FETCH}grip = action[3]; -1 .. 1; {grip}"),
        action_note="",
    )


def _goals(env: Any) -> str:
    what = "the object" if env.has_object else "the gripper"
    same = "object" if env.has_object else "gripper"
    return (
        f'goal = obs["desired_goal"]; m; x, y, z: where {what} belongs\n'
        f'achieved = obs["achieved_goal"]; m; x, y, z of {what}, as self.{same}'
    )
