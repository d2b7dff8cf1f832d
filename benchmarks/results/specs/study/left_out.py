"""Code that a spec leaves out of long sources, compared with the code that steps run.

`python benchmarks/results/specs/study/left_out.py LABEL [ENV...] >> left_out.jsonl` plays three episodes of random actions of each environment
under a profiler. Of the author's functions and module constants that ran or were read, a row has those that the spec does not show:

reward   below lines of `step` that compute what it returns between the observation and `info`
step     elsewhere below `step`
reset    below `reset`

Each is [number not shown, total]; `names` lists those of the reward that are not shown, `unnamed` all that are not even named.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import inspect
import json
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

STUDY = Path(__file__).parent
EPISODES, STEPS, SECONDS = 3, 25, 900

ENVS = """
minigrid:BabyAI-GoToObj-v0 minigrid:BabyAI-BossLevel-v0 minigrid:BabyAI-PutNextLocal-v0 minigrid:MiniGrid-DoorKey-5x5-v0 highway_env:racetrack-v1
highway_env:parking-v0 highway_env:intersection-v2 BipedalWalker-v3 CarRacing-v3
gymnasium_robotics:FetchReach-v4 gymnasium_robotics:FetchPush-v4 gymnasium_robotics:HandReach-v3 gymnasium_robotics:HandManipulateBlock-v1
gymnasium_robotics:AntMaze_UMaze-v5 gymnasium_robotics:FrankaKitchen-v1 gymnasium_robotics:AdroitHandDoor-v1 Meta-World/reach-v3 Meta-World/door-open-v3
gym_invmgmt:GymInvMgmt/MultiEchelon-v0 gym_electric_motor:Cont-CC-PMSM-v0 gym_electric_motor:Finite-CC-PMSM-v0 crosswalk_env:crosswalk-v1
flappy_bird_gymnasium:FlappyBird-v0 gymnasium_mars_lander:gymnasium_mars_lander/MarsLander-v1 or_gymnasium:InvManagement-v1 gym_sailing:Sailboat-v0
gymnasium_cartpole_swingup:CartPoleSwingUp-v0 oncosim:oncosim/BeamSelection-v0 anesthesim:anesthesim/PropofolControl-v0
""".split()


def words(node: ast.AST) -> set[str]:
    """Names and attributes in a tree."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute)}


@cache
def reward_lines(code: CodeType) -> set[int]:
    """Lines of a `step` that compute what it returns between the observation and `info`; all of them where it returns no tuple."""
    source, first = inspect.getsourcelines(code)
    function: Any = ast.parse(textwrap.dedent("".join(source))).body[0]
    ends = [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and isinstance(n.value, ast.Tuple)]
    if not ends:
        return {*range(first, first + len(source))}
    wanted = set().union(*(words(part) for end in ends for part in end.elts[1:-1])) - {"self"}
    lines = {n.lineno for end in ends for part in end.elts[1:-1] for n in ast.walk(part) if isinstance(n, ast.expr)}
    statements = [n for n in ast.walk(function) if isinstance(n, ast.stmt) and n is not function]
    size = -1
    while size != len(wanted) + len(lines):
        size = len(wanted) + len(lines)
        for node in statements:
            stored = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            stored |= {n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
            if not stored & wanted:
                continue
            for part in ast.iter_child_nodes(node):
                if isinstance(part, ast.expr):
                    lines |= {n.lineno for n in ast.walk(part) if isinstance(n, ast.expr)}
                    wanted |= {n.id for n in ast.walk(part) if isinstance(n, ast.Name)} - {"self"}
    return {line + first - 1 for line in lines}


class Ran:
    """Functions of an author's that steps and resets come to, and for what."""

    def __init__(self, roots: list[Path]) -> None:
        self.roots, self.found = roots, dict[tuple[str, str], set[str]]()
        self._spaces, self._own = dict[tuple[str, str], tuple[CodeType, dict[str, Any]]](), dict[str, bool]()

    def __call__(self, frame: Any, event: str, _: Any) -> None:
        """Note a call, unless it is made to draw or to fill ``info``."""
        code = frame.f_code
        key = frame.f_globals.get("__name__", ""), code.co_qualname.partition(".<locals>")[0]
        known = "reward" in self.found.get(key, ())
        if event != "call" or known or not self.is_own(code.co_filename) or code.co_name.startswith("<"):
            return
        above, at = "", frame
        while at is not None and not above:
            name, back = at.f_code.co_name, at.f_back
            if name.lstrip("_").startswith(("render", "close", "get_info", "info")):
                return
            if back is not None and back.f_code.co_name == "step" and self.is_own(back.f_code.co_filename) and at.f_code.co_name != "step":
                above = "reward" if back.f_lineno in reward_lines(back.f_code) else "step"
            elif name in {"step", "reset"} and (back is None or not self.is_own(back.f_code.co_filename)):
                above = name
            at = back
        if above:
            self.found.setdefault(key, set()).add(above)
            self._spaces[key] = code, frame.f_globals

    def is_own(self, file: str) -> bool:
        """Whether a file is of the author's."""
        if file not in self._own:
            self._own[file] = any(Path(file).is_relative_to(root) for root in self.roots)
        return self._own[file]

    def sorted(self) -> dict[str, set[tuple[str, str]]]:
        """Each under what it matters most for, module constants with the functions that read them."""
        found = dict(self.found)
        for key, (code, space) in self._spaces.items():
            for item in dis.get_instructions(code):
                value = space.get(item.argval) if item.opname == "LOAD_GLOBAL" else None
                if value is not None and not item.argval.startswith("__") and not callable(value) and not isinstance(value, ModuleType):
                    found[key[0], item.argval] = found.get((key[0], item.argval), set()) | self.found[key]
        kinds = ("reward", "step", "reset")
        return {kind: {key for key, why in found.items() if next(k for k in kinds if k in why) == kind} for kind in kinds}


def record_calls(env: Any) -> Ran:
    """Return which functions episodes of random actions call."""
    from strangers import roots_of

    ran = Ran(roots_of(env) or [Path(inspect.getfile(type(env.unwrapped))).parent])
    for seed in range(EPISODES):
        env.action_space.seed(seed)
        sys.setprofile(ran)
        env.reset(seed=seed)
        for _ in range(STEPS):
            *_, ended, cut, _ = env.step(env.action_space.sample())
            if ended or cut:
                break
        sys.setprofile(None)
    return ran


def describe_one(label: str, env_id: str) -> dict[str, Any]:
    """A row."""
    from promptpo.envs.building import make_env
    from promptpo.envs.task import Task
    from promptpo.spec import own_source
    from promptpo.spec.observe import observe

    env = make_env(Task(env_id))
    called = observe(env, env_id).called
    shown, page = set[tuple[str, str]](), own_source._SourcePage
    add = page._add_if_room

    def note(self: Any, definition: Any) -> bool:
        fits = add(self, definition)
        if fits:
            shown.add((definition.file.module.__name__, definition.label))
        return fits

    page._add_if_room = note
    text = own_source.read_source(env, called).text
    ran = record_calls(env)
    return row(label, env_id, ran.sorted(), shown, text)


def row(label: str, env_id: str, ran: dict[str, set[tuple[str, str]]], shown: set[tuple[str, str]], text: str) -> dict[str, Any]:
    """Return one row: code that ran and is not shown."""
    known = {name for _, name in shown}  # a constant may be imported from where it is shown
    left = {kind: {name for module, name in keys if (module, name) not in shown and name not in known} for kind, keys in ran.items()}
    notes = " ".join(line for line in text.splitlines() if line.startswith("# "))
    unnamed = [name for names in left.values() for name in names if name.rpartition(".")[2] not in notes]
    return {
        "label": label,
        "env": env_id,
        **{kind: [len(left[kind]), len(keys)] for kind, keys in ran.items()},
        "names": sorted(left["reward"]),
        "unnamed": sorted(unnamed),
        "characters": len(text),
    }


def main() -> None:
    """Describe each in a process of its own, or the one that is named."""
    label, *envs = sys.argv[1:]
    if label == "one":
        with contextlib.redirect_stdout(sys.stderr):
            row = describe_one(*envs)
        print(json.dumps(row))
        return
    for env_id in envs or ENVS:
        command = [sys.executable, "-W", "ignore", __file__, "one", label, env_id]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
        failed = {"label": label, "env": env_id, "failed": done.stderr.strip().splitlines()[-1:]}
        print(done.stdout.splitlines()[-1] if done.returncode == 0 else json.dumps(failed), flush=True)


if __name__ == "__main__":
    main()
