"""Switch off one rule of the shown source at a time, and count what the spec then leaves out.

`python benchmarks/results/specs/study/rules.py [ENV...] > rows.jsonl` plays each environment once, as `left_out.py` does, and reads its source once
with all rules and once without each. A row: rule, environment, and [not shown, how many ran] below reward, elsewhere below step, and below reset.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import subprocess
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

SPEC = Path(__file__).parents[4] / "promptpo" / "spec"

ENVS = """
minigrid:BabyAI-BossLevel-v0 minigrid:MiniGrid-DoorKey-5x5-v0 highway_env:racetrack-v1 highway_env:intersection-v2 CarRacing-v3
gymnasium_robotics:FetchPush-v4 gymnasium_robotics:HandManipulateBlock-v1 gymnasium_robotics:FrankaKitchen-v1 Meta-World/door-open-v3
gym_electric_motor:Cont-CC-PMSM-v0 crosswalk_env:crosswalk-v1 PyFlyt.gym_envs:PyFlyt/QuadX-Hover-v4 panda_gym:PandaPickAndPlace-v3
lettuce_greenhouse_gym:LettuceGreenhouse-v0 hill_racing_env:hill_racing_env/HillRacing-v0 highway_env:parking-v0 minigrid:BabyAI-GoToObj-v0 numberlink:NumberLinkRGB-v0
""".split()

RULES = {
    "all rules": ("reach", "", ""),
    "what was called": ("reach", "sorted(called.items()", "sorted({}.items()"),
    "shortest first": ("reach", "len(definition.text), len(self._seen)", "0, len(self._seen)"),
    "no class whose relatives alone have instances": ("reach", "not self._live.isdisjoint(cls.__mro__)", "False"),
    "methods that library bases call": ("reach", "(member in called or IMPLIED.match(member))", "IMPLIED.match(member)"),
    "of these none that draw": ("reach", "if not DRAWING.match(name)}", "}"),
    "operators": ("reach", "IMPLIED.match(member)", "member in BUILDERS"),
    "values that these refer to": ("reach", "depth: int = 3", "depth: int = 0"),
    "attributes read before a class is met": ("reach", "for name in list(self._named):", "for name in ():"),
    "only members that are named": ("reach", "if is_whole or m.name in self._named", "if True"),
    "names of the module alone": ("reach", "if name not in held and name not in file.origins:", "if False:"),
    "names where they were imported from": ("reach", "if all(definition.is_import for definition in here):", "if False:"),
    "no calls that only draw": ("reach", "beside = find_drawing(node)", "beside = ()"),
    "imports last": ("own_source", 'sorted(code, key=attrgetter("is_import"))', "code"),
    "docstrings cut": ("own_source", "sum(len(d.text) for d in code) > self._room", "False"),
    "no metadata": ("own_source", 'definition.name == "metadata" or ', ""),
}
"""Rule to a module of `promptpo.spec`, and to code of it with and without the rule."""


class Without(MetaPathFinder):
    """Loads `promptpo.spec` without one rule."""

    def __init__(self, rule: str) -> None:
        self.module, self.code, self.other = RULES[rule]

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Find a changed module."""
        if name != f"promptpo.spec.{self.module}":
            return None
        file, change = SPEC / f"{self.module}.py", (self.code, self.other)

        class Loader(SourceFileLoader):
            def get_code(self, fullname: str) -> CodeType:
                text = file.read_text()
                assert change[0] in text, change
                return compile(text.replace(*change) if change[0] else text, str(file), "exec")

        return importlib.util.spec_from_file_location(name, file, loader=Loader(name, str(file)))


def read(env: Any, rule: str, called: Any) -> tuple[str, set[tuple[str, str]]]:
    """Return the shown source without a rule, and its definitions."""
    for name in [name for name in sys.modules if name.startswith("promptpo.spec.") and not name.endswith((".code_files", ".calls"))]:
        del sys.modules[name]
    sys.meta_path.insert(0, finder := Without(rule))
    own_source: Any = importlib.import_module("promptpo.spec.own_source")
    sys.meta_path.remove(finder)
    page, shown = own_source._SourcePage, set[tuple[str, str]]()
    add = page._add_if_room

    def note(self: Any, definition: Any) -> bool:
        fits = add(self, definition)
        shown.update([(definition.file.module.__name__, definition.label)] if fits else [])
        return bool(fits)

    page._add_if_room = note
    return page(env, own_source.reach(env, called)).render().text, shown


def measure(env_id: str) -> None:
    """Print the rows of an environment."""
    from left_out import record_calls, row

    from promptpo.envs.building import make_env
    from promptpo.envs.task import Task
    from promptpo.spec.observe import observe

    with contextlib.redirect_stdout(sys.stderr):
        env = make_env(Task(env_id))
        called = observe(env, env_id).called
        sources = {rule: read(env, rule, called) for rule in RULES}
        ran = record_calls(env)
    for rule, (text, shown) in sources.items():
        found = row(rule, env_id, ran.sorted(), shown, text)
        print(json.dumps({key: found[key] for key in ("label", "env", "reward", "step", "reset", "characters")}), flush=True)


def main() -> None:
    """Measure each in a process of its own."""
    if os.environ.get("ONE"):
        measure(os.environ["ONE"])
        return
    for env_id in sys.argv[1:] or ENVS:
        subprocess.run([sys.executable, "-W", "ignore", __file__], env={**os.environ, "ONE": env_id}, check=False)


if __name__ == "__main__":
    main()
