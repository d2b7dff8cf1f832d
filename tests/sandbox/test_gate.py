"""The gate: its refusals, their messages, and that no source can break it."""

from __future__ import annotations

import ast
import contextlib
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo_sandbox import Sandbox, check_source
from promptpo_sandbox.gate import Rejected, admit
from promptpo_sandbox.gate.names import ATTRIBUTES, BUILTINS, MODULES

BODY = (
    "import numpy as np\nimport math\nclass Policy:\n    def act(self, obs):\n        {}\n        return 0\n"
)
REFUSED = [
    ("obs.__class__", "line 5: the special name __class__ is not allowed; use type(x) instead"),
    ("obs.tofile('x')", "line 5: the attribute .tofile is not allowed; policies have no files"),
    ("np.load('x')", "line 5: numpy.load is not available"),
    ("open('x')", "line 5: open is not available; policies have no files"),
    ("eval('1')", "line 5: eval is not available; write the expression itself"),
    ("'{0.x}'.format(obs)", "line 5: the attribute .format is not allowed; use an f-string instead"),
    ("import time", "line 5: the module time is not available; count calls of act instead"),
    ("from numpy import load", "line 5: numpy.load is not available"),
    ("from math import *", "line 5: import * is not allowed; import math and use math.name"),
    (
        "self.never_set",
        "line 5: the attribute .never_set is neither defined by this module nor one of the allowed",
    ),
    ("__builtins__", "line 5: the special name __builtins__ is not allowed"),
    ("(lambda: (yield)).gi_frame", "line 5: the attribute .gi_frame is not allowed"),
    ("import gymnasium", "line 5: the module gymnasium is not available; the environment is not available"),
]


@pytest.mark.parametrize(("statement", "message"), REFUSED)
def test_refusal_names_construct_line_and_alternative(statement: str, message: str) -> None:
    failure = check_source(BODY.format(statement))
    assert failure is not None
    assert failure.kind == "rejected"
    assert failure.message.startswith(message)


def test_several_problems_are_named_at_once() -> None:
    """Up to three in one message, which saves rounds of repair."""
    failure = check_source("import os\nimport sys\nx = eval('1')\nimport re\n")
    assert failure is not None
    assert failure.message.count("line ") == 3
    assert failure.detail == "and 1 more"


def test_guest_gives_the_same_verdict(box: Sandbox) -> None:
    """`check_source` and the guest must agree."""
    for source in ("import os\n", "def f(:\n", "x = " + "(" * 500 + "1\n"):
        assert box.call(source, "f", None).failure == check_source(source)


def test_admitted_tree_equals_the_source() -> None:
    """The code that is reviewed is the code that runs, here and in an exported file."""
    source = "class Policy:\n    def act(self, obs):\n        self.x = self.data = [1]\n        for i, v in enumerate(obs):\n            self.x[i] += v * self.data[0]\n        return max(*self.x)\n"
    tree = admit(source)
    assert isinstance(tree, ast.Module)
    assert ast.unparse(tree) == ast.unparse(ast.parse(source))
    typed = "from typing import List\nPair = List[int]\ndef f(x: List[int]) -> Pair:\n    return x\n"
    assert ast.dump(admit(typed)) == ast.dump(ast.parse(typed))


def test_time_of_the_gate_is_linear() -> None:
    """The time is linear in the length of the source."""

    def seconds(source: str) -> float:
        def measure() -> float:
            began = time.process_time()
            assert isinstance(admit(source), ast.Module)
            return time.process_time() - began

        return min(measure() for _ in range(3))

    for line in ("print(type(x).__name__)", "a = lambda q: q", "def f(a, b): return [i for i in a if b]"):
        few, many = (seconds("x = 1\n" + f"{line}\n" * n) for n in (75, 300))
        assert many < 9 * few, line


def test_no_dangerous_name_is_allowed() -> None:
    """None that reads files, evaluates text, walks frames or accesses raw memory."""
    dangerous = [
        "__class__",
        "__globals__",
        "__code__",
        "__dict__",
        "__subclasses__",
        "__reduce__",
        "gi_frame",
        "cr_frame",
        "f_back",
        "f_globals",
        "tb_frame",
        "obj",
        "data",
        "base",
        "ctypes",
        "flags",
        "setflags",
        "view",
        "tofile",
        "dump",
        "dumps",
        "resize",
        "setfield",
        "getfield",
        "bit_generator",
        "load",
        "save",
        "memmap",
        "open",
        "eval",
        "exec",
        "format",
        "format_map",
        "fget",
        "fset",
        "func",
        "__wrapped__",
        "device",
        "to_device",
        "mro",
    ]
    assert not set(dangerous) & ATTRIBUTES
    assert not {"eval", "exec", "open", "compile", "__import__", "globals", "memoryview"} & BUILTINS
    numpy = MODULES["numpy"]
    doors = {
        "load",
        "save",
        "memmap",
        "fromfile",
        "lib",
        "testing",
        "ctypeslib",
        "f2py",
        "ma",
        "frompyfunc",
        "nditer",
        "resize",
        "seterr",
        "frombuffer",
        "poly1d",
    }
    assert not doors & numpy


SNIPPETS = st.sampled_from(
    ["obs", "self", "np", "1", "'a'", "().__class__", "f(x)", "x.y", "x[0]", "lambda q: q", "[i for i in obs]", "{**x}", "f'{x.y!r:>{w}}'", "x if y else z", "(yield)", "await x", "(n := 1)", "*x"]
)  # fmt: skip
STATEMENTS = st.sampled_from(
    ["x = {0}", "x.{1} = {0}", "x[{0}] += 1", "del x.{1}", "import {1}", "from {1} import {1}", "for i in {0}: pass", "with {0} as {1}: pass",
     "class A({0}): {1} = 1", "def f({1}={0}): return {0}", "try: {0}\nexcept {0} as {1}: pass", "match {0}:\n case A({1}={1}): pass", "global {1}", "async def f(): {0}",
     "@{0}\ndef f(): pass", "assert {0}", "raise {0}", "while {0}: break", "x: {0} = 1", "return {0}", "type {1} = {0}", "try: pass\nexcept* {0}: pass"]
)  # fmt: skip
NAMES = st.sampled_from(
    ["x", "data", "__class__", "_private", "os", "np", "numpy", "open", "shape", "__name__", "self"]
)


@given(st.lists(st.tuples(STATEMENTS, SNIPPETS, NAMES), min_size=1, max_size=6))
@settings(max_examples=150)
def test_generated_programs_never_read_dunder_attributes(parts: list[tuple[str, str, str]]) -> None:
    """They are admitted or refused without an exception."""
    source = "\n".join(statement.format(expression, name) for statement, expression, name in parts) + "\n"
    result = admit(source)
    if isinstance(result, Rejected):
        assert result.message
        return
    with contextlib.suppress(SyntaxError):  # such as return outside a function: the guest reports it
        compile(result, "x", "exec")
    reads = {node.attr for node in ast.walk(result) if isinstance(node, ast.Attribute)}
    assert "__class__" not in reads


@given(st.text(max_size=300))
def test_no_text_breaks_the_gate(source: str) -> None:
    admit(source)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.text("()[]{}:,.*-+= \n\tabc'\"#\\", max_size=5))
@settings(max_examples=100)
def test_damaged_policies_do_not_break_the_gate(start: int, length: int, insert: str) -> None:
    """Legitimate policies with a piece removed or inserted."""
    source = LEGITIMATE[start % len(LEGITIMATE)]
    at = start % len(source)
    admit(source[:at] + insert + source[at + length % 50 :])


LEGITIMATE = [path.read_text() for path in sorted(Path(__file__).parent.joinpath("legitimate").glob("*.py"))]


@pytest.mark.parametrize(
    "deep", ["-", "not ", "lambda: ", "(", "[", "{", "a[", "f(", "a.", "1 if 1 else ", "*"]
)
@pytest.mark.parametrize("depth", [50, 199, 201, 3000, 40_000])
def test_deep_nesting_breaks_neither_gate_nor_guest(deep: str, depth: int, box: Sandbox) -> None:
    source = f"x = {(deep * depth)[:90_000]}1\n"
    failure = check_source(source)
    assert failure is None or failure.kind == "rejected"
    assert box.call(source, "f", None).failure is not None


def test_errstate_may_only_ignore_warnings() -> None:
    """Nobody would see a warning, and `raise` is refused with a sentence."""
    source = "import numpy as np\ndef f(x):\n    with np.errstate(divide='ignore', invalid='ignore'):\n        return np.log(x)\n"
    assert isinstance(admit(source), ast.Module)
    assert isinstance(admit(source.replace("'ignore'", "'raise'")), Rejected)
    assert isinstance(admit(source.replace(":\n        return", " as x:\n        return")), Rejected)
