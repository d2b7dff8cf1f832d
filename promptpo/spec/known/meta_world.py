"""All 50 tasks of Meta-World: one layout of 39 numbers, one line of data for each task."""

from __future__ import annotations

import ast
from typing import Any

from promptpo.spec.functions import function_of
from promptpo.spec.known.base import Supplement, fields

TASKS = {
    "assembly": "Pick up a nut by its handle and put its ring onto a peg | wrench head of the nut | the top of the peg",
    "basketball": "Pick up a ball and drop it through a hoop | ball | the hoop",
    "bin-picking": "Take a block out of one bin and put it into another | block | the middle of the target bin",
    "box-close": "Pick up a lid by its knob and put it onto a box | lid's knob | where the lid belongs",
    "button-press-topdown": "Press a button down from above | button | the button fully pressed",
    "button-press-topdown-wall": "Press a button behind a wall down from above | button | the button fully pressed",
    "button-press": "Push a button in, along +y | button | the button fully pressed",
    "button-press-wall": "Push a button in, along +y, behind a low wall | button | the button fully pressed",
    "coffee-button": "Push the button of a coffee machine, along +y | button | the button fully pressed",
    "coffee-pull": "Pull a mug away from a coffee machine | mug | where the mug belongs",
    "coffee-push": "Push a mug under a coffee machine | mug | where the mug belongs",
    "dial-turn": "Turn a dial half round | rim mark of the dial | where the mark belongs",
    "disassemble": "Lift a nut off a peg by its handle | wrench head of the nut | above the peg",
    "door-close": "Swing a door shut by its handle | handle | the handle of the closed door",
    "door-lock": "Turn a door's lock clockwise, down | lever of the lock | the lever when locked",
    "door-open": "Swing a door open by its handle | handle | the handle of the open door",
    "door-unlock": "Turn a door's lock counter-clockwise, to +x | lever of the lock | the lever when unlocked",
    "hand-insert": "Put the gripper into a hole in the table | block beside it, of no use | the bottom of the hole",
    "drawer-close": "Push a drawer shut, along +y | drawer handle | the handle of the closed drawer",
    "drawer-open": "Pull a drawer open, along -y | drawer handle | the handle of the open drawer",
    "faucet-open": "Turn a faucet's handle counter-clockwise, to +x | tip of the handle | the tip when open",
    "faucet-close": "Turn a faucet's handle clockwise, to -x | tip of the handle | the tip when closed",
    "hammer": "Pick up a hammer and drive a nail into a box, along +y | hammer handle | the nail fully in | nail",
    "handle-press-side": "Press a handle down, sideways arm | tip of the handle | the tip when pressed",
    "handle-press": "Press a handle down | tip of the handle | the tip when pressed",
    "handle-pull-side": "Pull a handle up, sideways arm | middle of the handle | the handle when up",
    "handle-pull": "Pull a handle up | right end of the handle | the handle when up",
    "lever-pull": "Pull a lever up from below | tip of the lever | the tip when up",
    "peg-insert-side": "Pick up a peg and insert it sideways, along -x, into a hole | peg, where to grasp it | in the hole",
    "peg-unplug-side": "Pull a peg out of a hole, along +x | end of the peg | the end when unplugged",
    "pick-out-of-hole": "Pick a puck up out of a hole | puck | where the puck belongs, in the air",
    "pick-place": "Pick up a puck and hold it at the goal | puck | where the puck belongs, in the air",
    "pick-place-wall": "Pick up a puck and bring it over a wall to the goal | puck | where the puck belongs, in the air",
    "plate-slide": "Slide a plate into a cabinet, along +y | plate | inside the cabinet",
    "plate-slide-side": "Slide a plate sideways into a cabinet, along -x | plate | inside the cabinet",
    "plate-slide-back": "Slide a plate out of a cabinet, along -y | plate | where the plate belongs",
    "plate-slide-back-side": "Slide a plate sideways out of a cabinet, along +x | plate | where the plate belongs",
    "push": "Push a puck to the goal | puck | where the puck belongs, on the table",
    "push-back": "Pull a puck back to the goal, along -y | puck | where the puck belongs, on the table",
    "push-wall": "Push a puck around a wall to the goal | puck | where the puck belongs, on the table",
    "reach": "Move the gripper to the goal | puck, of no use | where the gripper belongs",
    "reach-wall": "Move the gripper around a wall to the goal | puck, of no use | where the gripper belongs",
    "shelf-place": "Pick up a puck and put it onto a shelf | puck | where the puck belongs, on the shelf",
    "soccer": "Kick a ball into a goal | ball | inside the goal",
    "stick-push": "Pick up a stick and push a container with it, along +x | stick | where the container belongs | container",
    "stick-pull": "Pick up a stick, hook it into a container's handle and pull | stick | where the handle belongs | handle",
    "sweep": "Sweep a block off the table, along +x | block | beyond the table's edge",
    "sweep-into": "Sweep a block into a hole | block | the hole",
    "window-open": "Slide a window open by its handle, along +x | handle | the handle of the open window",
    "window-close": "Slide a window shut by its handle, along -x | handle | the handle of the closed window",
}
"""Task to "what to do | what obj1 is | what the goal is | what obj2 is"; the last only where there is one."""

HEIGHT = "x points to the right, y away from the robot, z up; the table is near z = 0"


def known(env: Any) -> Supplement | None:
    """The 39 numbers of a task."""
    name = env.spec.id.split("/")[-1].removesuffix("-v3") if env.spec else ""
    if name not in TASKS:
        return None
    task, first, goal, *second = (part.strip() for part in TASKS[name].split("|"))
    rows = [
        "hand = obs[0:3]; m; x, y, z of the gripper",
        "gripper_opening = obs[3]; -1 .. 1; 0 is closed, 1 is fully open; never negative",
        f"obj1 = obs[4:7]; m; x, y, z of the {first}",
        f"obj1_quaternion = obs[7:11]; -1 .. 1; {_orientation(env)}",
    ]
    if second:
        rows += [
            f"obj2 = obs[11:14]; m; x, y, z of the {second[0]}",
            "obj2_quaternion = obs[14:18]; -1 .. 1; its orientation",
        ]
    else:
        rows += ["no_obj2 = obs[11:18]; always 0 in this task"]
    rows += [
        "previous = obs[18:36]; obs[0:18] of the step before; at the first step the same as obs[0:18]",
        f"goal = obs[36:39]; m; x, y, z: {goal}",
    ]
    return Supplement(
        description=f"A robot arm with a two-finger gripper above a table. {task}.",
        observation=fields("\n".join(rows)),
        observation_note=f"World coordinates in metres; {HEIGHT}. The gripper keeps its orientation, pointing down.",
        action=fields(
            "dx = action[0]; -1 .. 1; moves the gripper's target by dx / 100 m per step\n"
            "dy = action[1]; -1 .. 1; likewise in y\n"
            "dz = action[2]; -1 .. 1; likewise in z\n"
            "grip = action[3]; -1 .. 1; force on the fingers: +1 closes, -1 opens"
        ),
        action_note="",
        start="The gripper near its home position; the objects and the goal differ from episode to episode.",
        end="Never before the horizon.",
    )


def _orientation(env: Any) -> str:
    method = function_of(env._get_quat_objects, "env") if hasattr(env, "_get_quat_objects") else None  # noqa: SLF001 - a foreign class
    text = ast.unparse(method.node) if method else ""
    if "as_quat" in text:
        return "its orientation as x, y, z, w"
    if "zeros" in text:
        return "always 0 in this task"
    return "its orientation as w, x, y, z"
