"""Ways out that the gate must refuse before anything runs: the exported file has no other protection."""

# fmt: off

from __future__ import annotations

import pytest

from sandbox import check_source
from tests.sandbox.test_attacks import ATTACKS

HEAD = """import functools
import statistics
from enum import Enum
import math
import numpy as np
import scipy
import scipy.optimize as so
class Color(Enum):
    A = 1
class Policy:
    def act(self, obs):
        return 0
obs = self = x = None
"""
ROUTES = r"""
f=np.random.Generator.normal.func_globals["__builtins__"]
import functools,statistics; functools.wraps(statistics.mean, assigned=(), updated=("__globals__",))(len)
from dataclasses import dataclass; from typing import TypedDict; dataclass(TypedDict("T", {"x, code": int}))
from types import SimpleNamespace; SimpleNamespace(**{"__array_interface__": 1})
np.ndarray((3,), dtype=object, buffer=b"12345678"*3)
from enum import Enum; X = Enum("X", {"__getattr__": len})
type(math).__init__(math, "x")
import scipy.stats; scipy.stats.norm._construct_argparser()
import scipy.stats as st; d = st.norm; d._construct_argparser()
from scipy.stats import norm; norm._construct_argparser(meths_to_inspect=[])
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
t = type(Color); t("X", (), {})
type(Color)("X", (), {})
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
class E(Enum): pass
class E(Enum):\n    def f(self): pass
class E(Enum):\n    _ignore_ = ["A"]\n    A = 1
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
import scipy.optimize as so; r = so.minimize(len, 1); r["__array_interface__"] = 1
import scipy.optimize as so\ndef f():\n    r = so.minimize(len, 1)\n    r["__array_interface__"] = 1
import scipy.optimize as so\ndef f():\n    r = so.minimize(len, 1)\n    r |= {"__array_interface__": 1}
import scipy.optimize as so\ndef f():\n    return so.minimize(len, 1)
import scipy.optimize as so; so.minimize(len, 1, callback=len).x
with np.errstate(all="ignore"): pass\ndef g():\n    with np.errstate(all="ignore"):\n        yield 1
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
from scipy.spatial.transform import Rotation; Rotation.random()
scipy.optimize.differential_evolution
import scipy.optimize; scipy.optimize.differential_evolution(len, [1]).x
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
functools.wraps(statistics.mean)(len).__globals__
functools.wraps(wrapped=len, updated=("__globals__",))
functools.partial(Enum, "X")
Color.__call__("X", names={"__getattr__": len}).__class__
scipy.stats.norm.__init__()
scipy.stats.norm(0, 1).dist
scipy.linalg.lapack
scipy.linalg._flinalg
scipy.optimize._minimize
scipy.io.savemat("x", {})
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
"""


@pytest.mark.parametrize("line", ROUTES.strip().split("\n"))
def test_route_is_refused(line: str) -> None:
    """Refused with a sentence about a line of the route, not as a syntax error."""
    failure = check_source(HEAD + line.replace("\\n", "\n") + "\n")
    assert failure is not None
    assert failure.kind == "rejected"
    assert "syntax error" not in failure.message
    first = len(HEAD.splitlines())
    assert int(failure.message.split(":")[0].removeprefix("line ")) > first


@pytest.mark.parametrize("path", [path for path in ATTACKS if path.stem.startswith("route_")], ids=lambda path: path.stem)
def test_attack_is_refused_by_the_gate(path: object) -> None:
    """What would work in an exported file does not become one."""
    failure = check_source(path.read_text())
    assert failure is not None
    assert failure.kind == "rejected"


def test_the_sentence_names_the_path() -> None:
    """The model reads which expression is meant, and what to do instead."""
    source = 'import numpy as np\nf = np.random.Generator.normal.func_globals["__builtins__"]\n'
    failure = check_source(source)
    assert failure is not None
    assert "np.random.Generator.normal.func_globals is not available" in failure.message
