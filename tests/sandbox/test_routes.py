"""Escapes that the gate must refuse, since an exported file has no other protection."""

# fmt: off

from __future__ import annotations

import pytest

from promptpo_sandbox import check_source
from tests.sandbox.test_attacks import ATTACKS

HEAD = """import functools
import collections
import itertools
import random
import math
import numpy as np
class Own:
    pass
class Policy:
    def act(self, obs):
        return 0
obs = self = x = None
"""
ROUTES = r"""
f=np.random.Generator.normal.func_globals["__builtins__"]
from dataclasses import dataclass; from typing import TypedDict; dataclass(TypedDict("T", {"x, code": int}))
from types import SimpleNamespace; SimpleNamespace(**{"__array_interface__": 1})
np.ndarray((3,), dtype=object, buffer=b"12345678"*3)
type(math).__init__(math, "x")
math.sin = len
setattr(math, "sin", len)
x = math; x.sin
f = [math][0]
np.lib.npyio
np.ctypeslib
np.load("x")
np.zeros(3).tofile("x")
np.zeros(3).ctypes.data
getattr(np.zeros(3), "tofile")("x")
n = "to" + "file"; getattr(np.zeros(3), n)("x")
getattr(np.zeros(3), "to" + "file")("x")
getattr(np, "load")
f = getattr
f = type; f("X", (), {})
type("X", (), {})
g = (i for i in [1]); g.gi_frame
import operator; operator.attrgetter("__class__")
"{0.__class__}".format(np)
"{0.__class__}".format(obs)
str.format("{0.__class__}", obs)
f = str.format
class S(object): open = 1; f = open
def open_(): return open("x")
match obs:\n    case object(__class__=c): pass
match obs:\n    case object(gi_frame=c): pass
match obs:\n    case type(__init__=c): pass
class M(type): pass
from typing import Type\nclass M(Type): pass
from typing import Type; Type[int]("X", (), {})
type[int]("X", (), {})
class A: __slots__ = ("__array_interface__",)
class A: __slots__ = ["__array_" + "interface__"]
class A: __getattr__ = len
class A:\n    def __getattr__(self, n): pass
class A:\n    def __init_subclass__(cls): pass
class A:\n    def __class_getitem__(cls, n): pass
class A:\n    def __set_name__(self, o, n): pass
class A(metaclass=len): pass
class A:\n    def f(self, k): setattr(self, k, 1)
class A:\n    def f(self, k): self.__dict__.update({k: 1})
class A:\n    def f(self, k): self.__dict__[k] = 1
from functools import cached_property; c = cached_property(len); c.attrname = "__array_interface__"
from dataclasses import fields
from dataclasses import field; f = field(default=0)
from dataclasses import dataclass, field\n@dataclass\nclass A:\n    x: int = field(default=0)\n    y = x
from dataclasses import dataclass\n@len\n@dataclass\nclass A:\n    x: int = 0\ndataclass(A)
import random as math
from functools import wraps; w = wraps
from functools import partial, wraps; partial(wraps, updated=("__globals__",))
from math import sin as w\nfrom functools import wraps as w
try: pass\nexcept Exception as e: e.__traceback__
try: pass\nexcept Exception as e: e.obj
try: pass\nexcept Exception as e: e.with_traceback(None).tb_frame
async def f(): pass
global __builtins__
__name__ = "os"
f = dict(__array_interface__=1)
np.r_["x"]; np.r_ = 3
f = np.linalg
from numpy import *
from numpy import lib
import numpy.lib
from . import x
with np.errstate(all="ignore", call=obs): pass
with np.errstate("ignore"): pass
with np.errstate(all="ignore") as x: pass
with np.errstate(all="ignore"): import os
e = np.errstate(all="ignore")
from collections import namedtuple; namedtuple("X", obs)
from collections import namedtuple; namedtuple("X", "x", module="os")
from numbers import Number; Number.register(int)
class A:\n    def __eq__(self, o): return o\nX = np.ndarray == A()
class A:\n    def __eq__(self, o): return o\nX = type(A) == A()
a = 3\nX = type(a) in a
def isinstance(a, b): return b\nX = isinstance(1, np.ndarray)
class A:\n    def isinstance(a, b): return b\n    N = isinstance(1, np.ndarray)
def f(isinstance): return isinstance(1, np.ndarray)
[open for open in [1]]; open("x")
def f():\n    return [x for open in open("f")]
def f():\n    global open\n    open = 1\n    return open
print(open)
eval("1")
x = compile
@eval\ndef f(): pass
def f(a=eval): pass
def f(id=0): return eval
f"{obs!r:{open}}"
lambda: exec
np.random.Generator(np.random.PCG64())
from typing import NamedTuple; NamedTuple("X", [("x", int)])
from typing import get_type_hints
from functools import singledispatch
np.random.Generator.bit_generator
obs.bit_generator.ctypes
np.add._get_strided_loop
breakpoint()
__import__("os")
np.sum.__wrapped__
np.sum.__globals__
super().__getattribute__("x")
object.__subclasses__()
x.__reduce__
x.__dict__
del math.sin
import math\nfor math.sin in [1]: pass
(math := 3)
import math as type
def type(x): return x
type = 3
from copy import copy as getattr
math.__dict__
math.__loader__
np.linalg.linalg
np.linalg.lapack_lite
np._core
class T:\n    def __exit__(self, a, b, c): c.tb_frame
vars(obs)
memoryview(obs)
class Form:\n    name = "x, code"\n    def set(self): self.attrname = "__array_interface__"
import numpy as np; import math as np
class A:\n    def __array_interface__(self): pass
class A:\n    __array_interface__: dict = {}
class A(np.ndarray): pass
V = np.ndarray; V(3, dtype=object, buffer=b"12345678")
np.ndarray[int](3, dtype=object)
functools.update_wrapper(len, len)
functools.wraps(wrapped=len, updated=("__globals__",))
np.savetxt("x", obs)
np.memmap("x")
np.fromfile("x")
np.frompyfunc(eval, 1, 1)
np.vectorize(eval)("1")
np.require(obs)
np.bmat("x")
np.f2py
np.testing
map(eval, ["1"])
list(map(getattr, [obs], ["__class__"]))
sorted([1], key=type)
np.random.default_rng(0).bit_generator.cffi
PARAMS = {"__array_interface__": (1.0, 0.0, 2.0)}\nclass Q:\n    def __init__(self, params): self.__dict__.update(params)
class Inner:\n    def __init__(self, params):\n        for k, v in params.items(): setattr(self, k, v)
functools.wraps(len)(len)
from functools import wraps; wraps(len, assigned=(), updated=("__globals__",))
from functools import update_wrapper, partialmethod, singledispatch, cached_property
from enum import Enum
from enum import *
import enum as e
import statistics
import scipy
from typing import TypedDict
import typing; typing.get_type_hints(obs)
from typing import List; f = List
from typing import List; List[int]()
import typing; x = typing.List
def f(a: len(obs)): pass
def f(a: [i for i in obs]): pass
def f() -> (lambda: 0): pass
x: eval("1") = 1
match obs:\n    case __class__: pass
match obs:\n    case [*__class__]: pass
match obs:\n    case {**__class__}: pass
match obs:\n    case Own(__class__=c): pass
match obs:\n    case _ as __ignore__: pass
import math as __builtins__
from math import sin as __class__
class Outer:\n    class __class__: pass
def f():\n    global __builtins__\n    __builtins__ = 1
def f():\n    __class__ = 1\n    def g():\n        nonlocal __class__
obs(__class__=1)
def f(__class__): pass
lambda __class__: 0
try: pass\nexcept Exception as __class__: pass
for __class__ in []: pass
(__class__ := 1)
class A:\n    __class__ = 1
class A:\n    def __getattribute__(self, n): pass
class A:\n    def __array__(self): pass
class A:\n    def __reduce__(self): pass
class A:\n    def __del__(self): pass
class A:\n    def __enter__(self): pass
def __init__(self): pass
getattr(obs, "__class__")
setattr(obs, "__class__", 1)
hasattr(obs, "__class__")
getattr(obs, "_" + "_class__")
getattr(*[obs, "__class__"])
getattr(*[obs, "__class__"], "shape")
type(*["X", (), {}]) is int
np.sin.extra = 1
obs.__init__()
(lambda: 0).__init__()
np.sin.__init__()
super(Policy, self)
s = super
with obs as x: pass
with np.errstate(all="raise"): pass
np.add(1, 2, where=obs)
f = np.add; f(1, 2, where=obs)
f = np.add; f(1, 2, **{"where": obs})
functools.partial(np.add, where=obs)
functools.partial(np.add, **{"where": obs})
self.f = np.add; self.f(1, 2, **obs)
np.vectorize(len)
np.errstate
np.nditer
np.frombuffer(obs)
np.ndarray(3)
[np.ndarray][0](3)
isinstance(np.ndarray, obs)
np.dtype("O")
f = np.dtype
np.maximum.__self__
np.random.Generator(obs)
np.random.get_state()
random.getstate()
random.SystemRandom
collections.UserDict
collections.abc
itertools.__loader__
class A(dict): pass
class A(np.float64): pass
class A(len): pass
class A(type(obs)): pass
class A(Own, metaclass=Own): pass
@Own\nclass A: pass
from dataclasses import make_dataclass
from dataclasses import dataclass\nD = dataclass
from dataclasses import dataclass\n@dataclass(init=obs)\nclass A: pass
from dataclasses import dataclass, field\n@dataclass\nclass A:\n    x: int = field(default=0)\n    def f(self, y=x): pass
from dataclasses import dataclass, field\n@dataclass\nclass A:\n    x: int = [field(default=0)][0]
from typing import NamedTuple\nN = NamedTuple
from typing import NamedTuple\nclass A(Own, NamedTuple): pass
from collections import namedtuple; namedtuple("X", "x", **obs)
undefined_name
exit()
reveal_type(obs)
type(type(obs))
type(obs).mro()
k = type(obs)
type(obs) == Own
from typing import List\nclass A: x: List[eval("1")] = 1
from __future__ import annotations as __class__
class A: import numpy as tool\nclass B:\n    tool = load = 0\nA.tool.load("x")
class A:\n    from numpy import ndarray as kind\nclass B:\n    kind = 0\nA.kind(3, dtype=object, buffer=b"12345678"*3)
class A:\n    for _ in [1]:\n        if obs: import math
class A:\n    class B: import json
class A:\n    global f\n    def f(self): pass\nf(obs)
class A:\n    if obs:\n        global f\n    def f(self): pass
def g():\n    f = 1\n    class A:\n        nonlocal f\n        def f(self): pass
def f(**k): pass\nf = np.add\nf(1, 2, **{"where": obs})
def f(**k): pass\ndef g(f): f(1, 2, **{"where": obs})
@(lambda _: np.add)\ndef f(**k): pass\nf(1, 2, **{"where": obs})
dict = np.add; dict(1, 2, **{"where": obs})
"""


@pytest.mark.parametrize("line", ROUTES.strip().split("\n"))
def test_route_is_refused(line: str) -> None:
    """The sentence is about a line of the route and mentions no syntax error."""
    failure = check_source(HEAD + line.replace("\\n", "\n") + "\n")
    assert failure is not None
    assert failure.kind == "rejected"
    assert "syntax error" not in failure.message
    first = len(HEAD.splitlines())
    assert int(failure.message.split(":")[0].removeprefix("line ")) > first


@pytest.mark.parametrize("path", [path for path in ATTACKS if path.stem.startswith("route_")], ids=lambda path: path.stem)
def test_attack_is_refused_by_the_gate(path: object) -> None:
    """Attacks that would work in an exported file."""
    failure = check_source(path.read_text())
    assert failure is not None
    assert failure.kind == "rejected"


def test_refusal_names_the_attribute() -> None:
    source = 'import numpy as np\nf = np.random.Generator.normal.func_globals["__builtins__"]\n'
    failure = check_source(source)
    assert failure is not None
    assert "the attribute .func_globals is not allowed" in failure.message
