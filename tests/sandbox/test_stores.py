"""A program may set attributes of its own objects, but of no value of a library."""

from __future__ import annotations

import ast
import inspect
import itertools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from promptpo_sandbox import Sandbox, Trial, check_source
from promptpo_sandbox.gate.attributes import SURE_SELF_ONLY
from promptpo_sandbox.gate.check import Rejected, admit
from promptpo_sandbox.gate.names import ATTRIBUTES
from promptpo_sandbox.guest.construct import compile_source
from promptpo_sandbox.guest.facades import Modules
from promptpo_sandbox.guest.namespace import Output, make_restricted_globals
from tests.sandbox.environments import WalkEnv
from tests.sandbox.reachable import (
    call_results,
    exposed_values,
    is_restricted,
    real_member,
    sample_values,
    walk,
)

HEAD = """import collections
import random
import numpy as np
class Own:
    def __init__(self): self.x = 0
x = np.zeros(3)
"""
VERBS = (
    "{0}.{1} = 1",
    "{0}.{1} += 1",
    "{0}.{1}: int = 1",
    "y = {0}.{1} = 1",
    "y, *{0}.{1} = 1, 2",
    "[y, ({0}.{1}, z)] = 1, (2, 3)",
    "for {0}.{1} in [1]: pass",
    "for y, {0}.{1} in [(1, 2)]: pass",
    "[0 for {0}.{1} in [1]]",
    "del {0}.{1}",
    "with np.errstate() as {0}.{1}: pass",
    "with np.errstate(), np.errstate() as {0}.{1}: pass",
    "setattr({0}, '{1}', 1)",
    "f = lambda: setattr({0}, '{1}', 1)",
)
"""Every way to set an attribute; the walrus and import accept none."""
OBJECTS = ("x", "x[0]", "[x][0]", "x.dtype", "np.zeros(3)", "(lambda: x)()", "Own().x", "(y := x)")
SURROUNDINGS = (
    "{0}",
    "W = '{1}'\n{0}",
    "{1} = 1\n{0}",
    "def f(x, {1}=1):\n    {0}",
    "def f(self, x):\n    {0}",
    "class A:\n    def f(self, x):\n        {0}",
    "class A:\n    {1} = 1\n    def f(self, x):\n        self.{1} = 2\n        {0}",
    "class A:\n    def f(x):\n        x = [1]\n        {0}",
    "class A:\n    @staticmethod\n    def f(x):\n        {0}",
    "class A:\n    def f(x, y=[x]):\n        def g(x):\n            {0}",
    "class A:\n    def f(x):\n        def g():\n            global x\n            {0}",
)


def reachable_types() -> set[type]:
    """Return the types of all values that a program can reach, including call results, and all types it can name."""
    named = [(path, value) for path, value in exposed_values(real_member) if not is_restricted(path)]
    found = [value for _, value in walk([*named, *sample_values(), *call_results()])[1].values()]
    kinds = {type(value) for value in found} | {value for value in found if isinstance(value, type)}
    return {
        kind
        for kind in kinds
        if not kind.__module__.startswith("tests.") and not issubclass(kind, types.ModuleType)
    }


def settable_slots(kind: type) -> Iterator[str]:
    """Yield the names of a type's writable slots, as far as can be decided without a value."""
    for name in dir(kind):
        slot = inspect.getattr_static(kind, name)
        stored = isinstance(slot, types.MemberDescriptorType | types.GetSetDescriptorType) or (
            isinstance(slot, property) and slot.fset is not None
        )
        if stored and not name.startswith("__"):
            yield name


SLOTS = sorted({name for kind in reachable_types() for name in settable_slots(kind)})


def refusal(source: str) -> str:
    """Return the sentence about a source; empty if it is admitted."""
    verdict = admit(HEAD + source + "\n")
    return verdict.message if isinstance(verdict, Rejected) else ""


def test_there_are_slots_to_try() -> None:
    """Otherwise the tests below would be empty."""
    assert {"strides", "shape", "dtype", "names", "flat", "real", "args", "value", "default_factory"} <= {
        *SLOTS
    }
    assert len(SLOTS) > 60


@pytest.mark.parametrize("share", [8, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SLOTS)
def test_slots_of_library_types_cannot_be_set(name: str, share: int) -> None:
    """By any statement, on any object that is not certainly the program's own; slots share the combinations."""
    forms = [(verb.format("x", name), "{0}") for verb in VERBS] + [
        (VERBS[0].format(thing, name), around) for thing, around in itertools.product(OBJECTS, SURROUNDINGS)
    ]
    for line, around in forms[SLOTS.index(name) % share :: share]:
        assert refusal(around.format(line, name)), (line, around)


@pytest.mark.parametrize("name", sorted(SURE_SELF_ONLY))
def test_method_that_sets_a_slot_cannot_be_called_on_an_array(name: str) -> None:
    """It is refused if a program could pass something else as `self`."""
    own = f"class A:\n    def f(self, v):\n        self.{name} = v\n    def g(self, h):\n        self.f(1)\n"
    assert refusal(own) == ""
    for lent in (
        "A.f(x, 1)",
        "[A][0].f(x, 1)",
        "(lambda k: k.f)(A)(x, 1)",
        "getattr(A, 'f')(x, 1)",
        "list(map(A.f, [x], [1]))",
        "A().f(1)",
    ):
        assert refusal(own + lent), lent
    inside = f"class A:\n    def f(self, v):\n        self.{name} = v\n    held = [f]\nA.held[0](x, 1)"
    assert refusal(inside)
    made = f"class A:\n    def __init__(self):\n        self.{name} = 1\nA.__init__(x)"
    assert refusal(made)


LENDING = (
    "def keep(f):\n    held.append(f)\n    return f\nclass A:\n    @keep\n    def f(self, v):\n        {0}",
    "class A:\n    @held.append\n    def f(self, v):\n        {0}",
    "keep = staticmethod\nclass A:\n    @keep\n    def f(self, v):\n        {0}\n    def g(self):\n        self.f(x, 1)",
    "property = staticmethod\nclass A:\n    @property\n    def f(self, v):\n        {0}\n    def g(self):\n        self.f(x, 1)",
    "class A:\n    def f(self, v):\n        {0}\n    @classmethod\n    def g(cls):\n        cls.f(x, 1)",
    "class A:\n    global f\n    def f(self, v):\n        {0}\nf(x, 1)",
    "def g():\n    f = None\n    class A:\n        nonlocal f\n        def f(self, v):\n            {0}\n    f(x, 1)",
    *(
        f"class A:\n    def __init__(self, v):\n        {{0}}\nclass B(A):\n    {around}"
        for around in (
            "@staticmethod\n    def f(kind):\n        super().__init__(x, 1)\n    def g(self):\n        self.f(B)",
            "@classmethod\n    def f(cls):\n        super().__init__(x, 1)",
            "def f(self):\n        (lambda kind: super().__init__(x, 1))(B)",
            "def f(self):\n        def g(kind):\n            super().__init__(x, 1)\n        g(B)",
            "def f(self):\n        self = B\n        super().__init__(x, 1)",
        )
    ),
)
"""Ways to call a method of a class with an array in place of its object, without reading the method from the class."""


@pytest.mark.parametrize("name", sorted(SURE_SELF_ONLY))
@pytest.mark.parametrize("way", range(len(LENDING)))
def test_no_method_is_handed_out(way: int, name: str) -> None:
    """Decorators, class methods and `super()` must not lend an array a method that sets its layout or reads what leads out."""
    uses = [f"self.{name} = v", f"setattr(self, '{name}', v)", f"del self.{name}"]
    if name not in ATTRIBUTES:
        uses += [f"v = self.{name}", f"getattr(self, '{name}')"]
    for use in uses:
        source = f"held = []\n{LENDING[way].format(use)}"
        assert refusal(source), source


@pytest.mark.parametrize(
    "way", [n for n, way in enumerate(LENDING) if "global" not in way and "nonlocal" not in way]
)
def test_a_method_that_is_handed_out_is_checked_as_it_stores(way: int) -> None:
    """The guest looks at the object even where it has the name `self`, unless no other object can have it."""
    tree = admit(f"{HEAD}held = []\n{LENDING[way].format('self.tally = v')}\n")
    assert not isinstance(tree, Rejected), tree
    assert "__own__(self).tally = v" in ast.unparse(tree)


@pytest.mark.parametrize(
    "own",
    [
        "class A:\n    def f(self):\n        self.x, self.count = 1, 2\n        self.total += 1",
        "class A:\n    def f(me):\n        def g():\n            me.value = 1",
        "class A:\n    pass\na = A()\na.data = 1\nA.size = 3",
        "class A:\n    children = ()\ndef f(node):\n    node.parent = None\n    node.children[0].visits += 1",
        "class A:\n    def f(self):\n        self.strides = 2\n    def act(self, obs):\n        self.f()",
    ],
)
def test_attributes_of_own_objects_can_be_set(own: str) -> None:
    """On `self` any safe name, elsewhere names that no library uses."""
    assert refusal(own) == ""


def is_changeable(value: Any) -> bool:
    """Return whether a library's shared object has attributes that can be set."""
    try:
        value.mark = 1
    except (AttributeError, TypeError):
        return False
    del value.mark
    return not isinstance(value, types.FunctionType | np.ufunc | type(np.mean) | type(np.random.default_rng))


CHANGEABLE = sorted(path for path, value in exposed_values(real_member) if is_changeable(value))


@pytest.mark.parametrize("path", CHANGEABLE)
def test_changeable_library_objects_have_no_other_name(path: str) -> None:
    """Under another name they could be changed."""
    assert is_restricted(path)
    head = HEAD + "import functools\nimport numpy.linalg\n"
    for use in (
        "K = {0}\nK.most = 1",
        "f({0})",
        "[{0}]",
        "def f(k={0}): k.x = 1",
        "Own.f({0})",
        "lambda: {0}",
        "K = {0} or 1",
    ):
        failure = check_source(f"{head}def f(k): pass\n" + use.format(path))
        assert failure is not None, use


LIBRARY = """
import collections
import copy
import functools
import random
import numpy as np
def raised(f):
    try:
        f()
    except Exception as error:
        return error
class Own:
    tally = 0
    def lend(self, value):
        self.tally = value
@functools.cache
def cached(x): return x
failed = raised(lambda: np.add(np.array(["a"]), 1))
"""
HELD = (
    *(
        "failed",
        "failed.args[0]",
        "raised(lambda: np.tile(np.zeros(100000), 10**13))",
        "raised(lambda: 1 / 0)",
    ),
    *(
        "functools.partial(max)",
        "cached",
        "np.ndenumerate(np.zeros(2))",
        "random.Random(1)",
        "np.random.default_rng(1)",
    ),
    *(
        "np.random.RandomState(1)",
        "collections.Counter('a')",
        "(1).real",
        "np.zeros(2)",
        "len",
    ),
)
"""Expressions for objects of libraries."""


MODULES = Modules()


def run_gated(source: str) -> dict[str, Any]:
    """Run a source as a policy's module, and return its namespace."""
    code = compile_source(source, 100_000, gate=True)
    assert not isinstance(code, Rejected), code
    modules = MODULES.episodes(code)(b"x" * 32)
    space = make_restricted_globals(modules, Output(0, [], 0))
    exec(code, space)  # noqa: S102 - this test's own source
    return space


@pytest.mark.parametrize("verb", [*VERBS[:8], VERBS[12], "Own.lend({0}, 1)", "held = [{0}]\nheld[0].{1} = 1"])
def test_no_attribute_is_set_on_a_librarys_object(verb: str) -> None:
    """A name of the program's own is refused too."""
    source = f"{LIBRARY}z = y = 0\nstored = []\n"
    for n, thing in enumerate(HELD):
        line = verb.format(thing, "tally").replace("\n", "\n    ")
        source += f"try:\n    {line}\n    stored.append({n})\nexcept (AttributeError, TypeError):\n    pass\n"
    assert [HELD[n] for n in run_gated(source)["stored"]] == []


@pytest.mark.parametrize("verb", VERBS[:8])
def test_own_attributes_are_set_and_targets_evaluated_once(verb: str) -> None:
    """This holds for objects, classes, functions and exceptions, and for every statement."""
    own = "class Mine(Exception): pass\ndef f(): pass\ncalls = []\ndef once(x):\n    calls.append(x)\n    return x\n"
    for thing in ("Own()", "Own", "f", "Mine()"):
        line = verb.format("once(thing)", "tally")
        space = run_gated(f"{LIBRARY}{own}z = y = 0\nthing = {thing}\nthing.tally = 5\n{line}\n")
        assert len(space["calls"]) == 1
        assert space["thing"].tally in (1, 2, 6, [2])


UNREADABLE = ["base", "data", "flags", "view", "_iter", "_field_defaults", "_make", "func", "type"]


@pytest.mark.parametrize("name", UNREADABLE)
def test_string_or_variable_does_not_admit_an_attribute(name: str) -> None:
    """Only a function that takes an attribute's name as a string does."""
    for text in (
        f"W = '{name}'",
        f"{name} = 1",
        f"def f({name}): pass",
        f"f = dict({name}=1)",
        f"W = 'x {name}'",
        f"class A:\n    def f(self):\n        {name} = 2",
    ):
        assert refusal(f"{text}\nx.{name}"), text
        assert refusal(f"{text}\ngetattr(x, '{name}')"), text


def test_underscored_attributes_are_read_only_from_self() -> None:
    """Libraries use them for internals."""
    own = "class A:\n    def __init__(self):\n        self._x = 1\n    def f(self, other):\n        return {0}._x\n"
    assert refusal(own.format("self")) == ""
    for other in ("other", "x", "self.x", "[self][0]"):
        assert refusal(own.format(other)), other


OBSERVING = """
class Policy:
    def act(self, obs):
        {0}
        return obs * 0 + obs.sum()
"""


@pytest.mark.parametrize("line", ["obs.base", "obs[:] = 9.0", "obs.fill(9.0)", "pass"])
def test_observations_of_lanes_share_no_memory(box: Sandbox, line: str) -> None:
    """A lane that modifies its observation affects no other."""
    source = f"class Base:\n    base = 1\n{OBSERVING.format(line)}"
    seeds = [Trial(seed, horizon=4) for seed in range(4)]
    one, four = (
        [
            (e.return_, e.steps)
            for e in box.rollout(source, [WalkEnv() for _ in range(n)], seeds, clip_actions=True).episodes
        ]
        for n in (1, 4)
    )
    assert one == four
