"""Where the gate lets a method set an array's layout, no program gets the method to run on anything but its own objects."""

from __future__ import annotations

import ast
import contextlib
import random
from typing import Any

import pytest

from promptpo_sandbox.gate.check import Rejected, admit
from promptpo_sandbox.guest.facades import MODULE_NAME

DEFAULT = {
    "head": "pass",
    "base": "",
    "before": "pass",
    "decorator": "",
    "name": "f",
    "signature": "self, v=0",
    "first": "pass",
    "store": "self.strides = 1",
    "after": "pass",
    "lend": "pass",
    "go": "self.f(1)",
    "use": "pass",
}
"""A program whose method `f` sets the layout of its own object; parts of it are replaced by those of PIECES."""

PIECES: dict[str, list[str]] = {
    "head": ["s = staticmethod", "s = classmethod", "property = staticmethod", "staticmethod = keep", "def s(f): return keep(f)"],
    "base": ["(Exception)", "(P)"],
    "before": ["global f", "nonlocal f", "f = None", "import math as f", "def keep(f): return f", "class f: pass"],
    "decorator": ["@property", "@staticmethod", "@classmethod", "@keep", "@held.append", "@cache", "@s", "@lru_cache(2)", "@P.keep"],
    "name": ["__init__", "__call__", "__add__", "__radd__", "__eq__", "__lt__", "__getitem__"],
    "signature": ["self, /, v=0", "self, *v", "v=0, *, self=0", "*self", "self=None, v=1", "f, v=0"],
    "first": [
        "self = y", "for self in [y]: pass", "def self(): pass", "[0 for self in [1]]", "(self := y)", "self, z = y, 1", "del self",
        "try:\n            1 / 0\n        except ZeroDivisionError as self: pass", "lambda self: 0", "def m(q, self=None): pass", "import math as self",
    ],
    "store": [
        "self.shape = 1", "del self.names", "setattr(self, 'view', 1)", "self.obj", "for self.shape in [1]: pass", "self.real += 1",
        "(lambda: setattr(self, 'dtype', 1))()", "def k():\n            self.shape = 2\n        k()", "[0 for self.dtype in [1]]",
    ],
    "after": [
        "g = f", "held.append(f)", "del f", "g = [f for _ in [1]]", "g = [q for q in [f]]", "g = property(f)", "g = lambda q=f: q", "(g := f)",
        "for f in [f]: held.append(f)", "g: object = f", "f.tag = 1", "assert f", "class C:\n        g = f", "g = f'{f}'", "g = staticmethod(f)",
    ],
    "lend": [
        "@staticmethod\n    def st(self, v=0):\n        super().__init__(y)", "@staticmethod\n    def st(self, v=0):\n        self.f(y, 1)",
        "@classmethod\n    def st(self, v=0):\n        self.f(y, 1)", "@classmethod\n    def st(self, v=0):\n        super().__init__(y)",
        "def st(self, v=0):\n        return self", "@staticmethod\n    def st(self, v=0):\n        super().f(y, 1)",
    ],
    "go": [
        "self.st(B)", "self.st(A)", "self.st(y)", "super().f(1)", "super().__init__()", "(lambda kind: super().__init__(y))(B)", "self.f(y, 1)",
        "(lambda kind: super().f(y, 1))(B)", "self = B; super().__init__(y)", "self = A; self.f(y, 1)", "held.append(self.f)", "self.g(y, 1)",
        "def k(self): return self.f(y, 1)\n        k(A)", "list(map(self.f, [y], [1]))", "self.__init__(y)", "partial(self.f, y)(1)",
    ],
    "use": [
        "f(y, 1)", "held[0](y, 1)", "[h(y, 1) for h in held]", "A.f(y, 1)", "A.g(y, 1)", "getattr(A, 'f')(y, 1)", "A.__init__(y)", "A.st(B)",
        "B.go(y)", "y + B()", "B() + y", "y == B()", "P.kept(y, 1)", "A().g", "map(A.f, [y])", "[A][0].f(y, 1)",
    ],
}  # fmt: skip

PROGRAM = """import numpy as np
from functools import cache, lru_cache, partial
held = []
y = np.zeros(3)
def keep(f):
    held.append(f)
    return f
class P:
    kept = None
    def keep(f):
        P.kept = f
        return f
{head}
def outer():
    f = None
    class A{base}:
        {before}
        {decorator}
        def {name}({signature}):
            {first}
            {store}
        {after}
    class B(A):
        {lend}
        def go(self, v=0):
            {go}
    held.append(B)
    {use}
"""
"""Its module is run, and `go` is called as a policy's `act` is."""


def write_program(chance: random.Random) -> str:
    """Return a program with a few parts that may or may not hand `f` out, inside of a function or at the top."""
    varied = chance.sample(sorted(PIECES), chance.randrange(1, 5))
    parts = DEFAULT | {part: chance.choice(PIECES[part]) for part in varied}
    parts = {part: text.replace("\n", "\n    ") for part, text in parts.items()}
    text = PROGRAM.format(**parts)
    if chance.random() < 0.7:
        head, _, inner = text.partition("def outer():\n    f = None\n")
        return head + "".join(line[4:] + "\n" for line in inner.splitlines())
    return f"{text}outer()\n"


class Foreign(BaseException):
    """A layout was about to be set, or an attribute that leads out read, on an object that is not the program's."""


def require_own(value: Any) -> Any:
    """Return an object of the program's own.

    Raises:
        Foreign: It is another one.
    """
    if MODULE_NAME not in {type(value).__module__, getattr(value, "__module__", "")}:
        raise Foreign(type(value))
    return value


class Watch(ast.NodeTransformer):
    """Checks every object whose attribute a program names after a variable, and every first argument of `setattr`."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.attr in {
            "strides",
            "shape",
            "dtype",
            "names",
            "obj",
            "real",
        }:
            node.value = ast.Call(ast.Name("require_own", ast.Load()), [node.value], [])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "setattr":
            node.args[0] = ast.Call(ast.Name("require_own", ast.Load()), [node.args[0]], [])
        return node


def run_watched(source: str) -> None:
    """Run a program without the checks of a guest, whatever it raises.

    Raises:
        Foreign: A method ran on an object that is not the program's.
    """
    space: dict[str, Any] = {"__name__": MODULE_NAME, "require_own": require_own}
    tree = ast.fix_missing_locations(Watch().visit(ast.parse(source)))
    with contextlib.suppress(Exception):
        exec(compile(tree, "own", "exec"), space)  # noqa: S102 - this test's own source
    for kind in space["held"]:
        with contextlib.suppress(Exception):
            kind().go()


@pytest.mark.parametrize("programs", [500, pytest.param(6000, marks=pytest.mark.slow)])
def test_no_program_runs_a_method_on_an_array(programs: int) -> None:
    """Of the programs that the gate admits none does, whatever it tries; each is run without the checks of a guest."""
    admitted = 0
    for seed in range(programs):
        source = write_program(random.Random(seed))
        if isinstance(admit(source), Rejected):
            continue
        admitted += 1
        try:
            run_watched(source)
        except Foreign as error:
            pytest.fail(f"{error} in\n{source}")
    assert admitted > programs / 10


def test_the_watch_notices_a_foreign_object() -> None:
    """What the gate refuses is noticed when it runs."""
    source = PROGRAM.format(**DEFAULT | {"use": "A.f(y, 1)"}) + "outer()\n"
    assert isinstance(admit(source), Rejected)
    with pytest.raises(Foreign):
        run_watched(source)
