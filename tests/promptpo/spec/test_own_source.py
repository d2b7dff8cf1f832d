"""The source block contains exactly the code that `step` and `reset` reach, across files; projects are generated."""

import ast
import importlib
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promptpo.spec.own_source import MAX_SOURCE_CHARS
from tests.promptpo.spec.projects import HEAD, LONG, NUMBERS, source_of

IMPORTS = {
    "relative": ("from .{file} import {name}", "{name}"),
    "renamed": ("from .{file} import {name} as {name}_too", "{name}_too"),
    "module": ("from . import {file}", "{file}.{name}"),
    "absolute": ("import {package}.{file}", "{package}.{file}.{name}"),
    "alias": ("import {package}.{file} as m_{file}", "m_{file}.{name}"),
    "exported": ("from {package} import {name}", "{name}"),
    "star": ("from .{file} import *", "{name}"),
}
"""Ways to import a definition from another file."""

KINDS = {
    "function": ("def {name}(x):\n    return x + 1.0  # seen_{n}", "self.x = {use}(self.x)"),
    "constant": ("{name} = 0.5  # seen_{n}", "self.x += {use}"),
    "enumeration": (
        "class {name}(IntEnum):\n    OFF = 0  # seen_{n}\n    ON = 1",
        "self.x += float(action == {use}.ON)",
    ),
    "table": (
        "def g_{n}(x):\n    return x  # seen_{n}\n\n\n{name} = {{0: g_{n}, 1: g_{n}}}",
        "self.x = {use}[int(action)](self.x)",
    ),
    "class": (
        "class {name}:\n    def __init__(self):\n        self.rate = 0.1  # seen_{n}\n\n    def grow(self, x):\n        return x + self.rate",
        "self.x = {use}().grow(self.x)",
    ),
    "static": (
        "class {name}:\n    @staticmethod\n    def grown(x):\n        return x * 1.1  # seen_{n}",
        "self.x = {use}.grown(self.x)",
    ),
    "record": (
        "@dataclass\nclass {name}:\n    rate: float = 0.2  # seen_{n}",
        "self.x += {use}().rate",
    ),
    "callable": (
        "class {name}:\n    def __call__(self, x):\n        return x  # seen_{n}",
        "self.x = {use}()(self.x)",
    ),
    "chain": (
        "def {name}(x):\n    return _below_{n}(x)\n\n\ndef _below_{n}(x):\n    return x - LIMIT_{n}\n\n\nLIMIT_{n} = 1.0  # seen_{n}",
        "self.x = {use}(self.x)",
    ),
}
"""Definitions in another file, and how a step uses them."""

DEAD = """

def unused_{n}(x):
    return x  # dead_{n}


class Idle_{n}:
    def nothing(self):
        return 0  # dead_{n}


def paint_{n}(x):
    return x  # dead_{n}
"""
"""Definitions that nothing but rendering reaches."""


def write_project(folder: Path, parts: list[tuple[str, str]], extra: str = "") -> str:
    """Write a package whose environment uses definitions of these kinds through these imports."""
    package = f"pack_{next(NUMBERS)}"
    (folder / package).mkdir()
    uses, imports, exports, draws = list[str](), list[str](), list[str](), list[str]()
    for n, (kind, how) in enumerate(parts):
        file, name = f"file_{n}", f"Thing_{n}"
        body, use = KINDS[kind]
        text = body.format(name=name, n=n)
        (folder / package / f"{file}.py").write_text(
            f"from dataclasses import dataclass\nfrom enum import IntEnum\n\n\n{text}\n{DEAD.format(n=n)}"
        )
        line, called = IMPORTS[how]
        imports.append(line.format(file=file, name=name, package=package))
        imports.append(f"from .file_{n} import paint_{n}")
        exports += [f"from .{file} import {name}"] if how == "exported" else []
        uses.append(f"        {use.format(use=called.format(file=file, name=name, package=package))}")
        draws.append(f"        paint_{n}(self.x)")
    (folder / package / "__init__.py").write_text("\n".join(exports))
    (folder / package / "world.py").write_text(
        "\n".join(
            [
                HEAD,
                *imports,
                "",
                "class World(gym.Env):",
                '    metadata = {"render_modes": ["human"]}',
                "    def render(self):",
                *(draws or ["        pass"]),
                "    def __init__(self):",
                "        self.observation_space = spaces.Box(-9, 9, (1,), np.float32)",
                "        self.action_space = spaces.Discrete(2)",
                "    def reset(self, *, seed=None, options=None):",
                "        super().reset(seed=seed)",
                "        self.x = 0.0",
                "        return self._see(), {}",
                "    def _see(self):",
                "        return np.array([self.x], np.float32)",
                "    def step(self, action):",
                *uses,
                "        self.render()",
                "        return self._see(), self.x, False, False, {}",
                extra,
            ]
        )
    )
    importlib.invalidate_caches()
    return f"{package}.world:World"


@pytest.mark.slow
@given(
    parts=st.lists(st.tuples(st.sampled_from(sorted(KINDS)), st.sampled_from(sorted(IMPORTS))), max_size=6)
)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_source_has_exactly_what_a_step_uses(project: Path, parts: list[tuple[str, str]]) -> None:
    """Definitions that only rendering reaches are left out."""
    text = source_of(write_project(project, parts))
    assert {int(n) for n in re.findall(r"# seen_(\d+)", text)} == set(range(len(parts)))
    assert "dead_" not in text
    ast.parse(text)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_definition_is_found_through_each_import(project: Path, kind: str) -> None:
    """Hypothesis does not draw all pairs."""
    text = source_of(write_project(project, [(kind, how) for how in IMPORTS]))
    assert [how for n, how in enumerate(IMPORTS) if f"# seen_{n}" not in text] == []


def test_definitions_omitted_for_length_are_named(project: Path) -> None:
    """Definitions are shown whole or not at all, and `step` always."""
    extra = "".join(f"    def part_{n}(self):\n        return {LONG}\n" for n in range(12))
    env_id = write_project(project, [], extra)
    path = project / env_id.partition(":")[0].replace(".", "/")
    file = path.with_suffix(".py")
    calls = " + ".join(f"self.part_{n}()" for n in range(12))
    file.write_text(file.read_text().replace("self.render()", f"y = {calls}"))
    text = source_of(env_id)
    assert len(text) < MAX_SOURCE_CHARS + 3000
    assert "def step" in text
    shown = set(re.findall(r"def (part_\d+)", text))
    named = set(re.findall(r"\b(part_\d+)", text.partition("Omitted for length:")[2].partition("\n")[0]))
    assert shown | named == {f"part_{n}" for n in range(12)}
    assert not shown & named
    assert shown
