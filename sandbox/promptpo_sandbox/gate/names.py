"""Names that a program may use: modules and their members, builtins, special methods, attributes.

These are allow-lists. They hold what programs were seen to use and what textbooks use with it: pure functions of
numbers, arrays and containers. Left out is everything that reads files, evaluates text, touches raw memory, builds
classes or keeps state of its own.
"""

# ruff: noqa: SIM905 - hundreds of names read better as text

from __future__ import annotations

import itertools
import math
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any


def public(owner: Any) -> frozenset[str]:
    """Return the names without an underscore of a module or type whose members are all harmless."""
    return frozenset(name for name in dir(owner) if not name.startswith("_"))


DISTRIBUTIONS = frozenset(
    """
    beta binomial chisquare choice dirichlet exponential gamma geometric gumbel laplace logistic lognormal
    multinomial multivariate_normal normal pareto permutation poisson power random rayleigh shuffle standard_normal
    standard_t triangular uniform vonmises weibull
    """.split()
)

LOOKING = frozenset(
    "centroid centroids coloured components crop downscale grey labels match threshold".split()
)
"""Our own functions for observations that are images; see `promptpo_sandbox.guest.looking`."""

ANNOTATIONS: dict[str, frozenset[str]] = {
    "__future__": frozenset({"annotations"}),
    "collections.abc": frozenset("Callable Generator Iterable Iterator Mapping Sequence".split()),
    "numpy.typing": frozenset("ArrayLike NDArray".split()),
    "typing": frozenset(
        """
        Any Callable ClassVar Deque DefaultDict Dict Final FrozenSet Generator Iterable Iterator List Literal Mapping
        NamedTuple Optional Sequence Set Tuple Union
        """.split()
    ),
}
"""Modules whose members only say what type something has. A program is compiled so that annotations are not evaluated."""

MODULES: dict[str, frozenset[str]] = {
    **ANNOTATIONS,
    "bisect": frozenset("bisect bisect_left bisect_right insort insort_left insort_right".split()),
    "collections": frozenset("Counter OrderedDict defaultdict deque namedtuple".split()),
    "copy": frozenset({"copy", "deepcopy"}),
    "dataclasses": frozenset("dataclass field".split()),
    "functools": frozenset("cache cmp_to_key lru_cache partial reduce".split()),
    "heapq": frozenset("heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest".split()),
    "itertools": public(itertools),
    "json": frozenset({"loads"}),
    "looking": LOOKING,
    "mechanism": frozenset({"Mechanism"}),
    "math": public(math),
    "numpy": frozenset(
        """
        abs absolute add all allclose amax amin angle any append arange arccos arccosh arcsin arcsinh arctan arctan2
        arctanh argmax argmin argpartition argsort argwhere around array array_equal array_split asarray
        ascontiguousarray atleast_1d atleast_2d atleast_3d average bincount bitwise_and bitwise_or bitwise_xor block
        bool_ broadcast_arrays broadcast_to c_ cbrt ceil choose clip column_stack complex128 complex64 concatenate conj
        convolve copy copysign corrcoef correlate cos cosh count_nonzero cov cross cumprod cumsum deg2rad degrees
        delete diag diagonal diff digitize divide divmod dot dsplit dstack dtype e ediff1d einsum empty empty_like
        equal errstate exp exp2 expand_dims expm1 eye fabs fft fill_diagonal finfo fix flatnonzero flip fliplr flipud float16
        float32 float64 floating floor floor_divide fmax fmin fmod full full_like gcd generic geomspace gradient
        greater greater_equal hanning heaviside histogram histogram2d hsplit hstack hypot identity iinfo imag in1d
        indices inf inner insert int16 int32 int64 int8 int_ integer interp intersect1d invert isclose isfinite isin
        isinf isnan isneginf isposinf isscalar issubdtype ix_ kron lcm less less_equal lexsort linalg linspace log
        log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor logspace matmul max maximum mean
        median meshgrid mgrid min minimum mod moveaxis multiply nan nan_to_num nanargmax nanargmin nanmax nanmean
        nanmedian nanmin nanpercentile nanprod nanstd nansum nanvar ndarray ndenumerate ndim ndindex negative newaxis
        nonzero not_equal number ogrid ones ones_like outer packbits pad partition percentile pi polyadd polyder
        polyfit polyint polymul polysub polyval positive power prod ptp put_along_axis putmask quantile r_ rad2deg
        radians random ravel ravel_multi_index real reciprocal remainder repeat reshape rint roll rollaxis roots rot90
        round s_ searchsorted select setdiff1d setxor1d shape sign signbit sin sinc single sinh size sort split sqrt
        square squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile trace transpose
        trapezoid trapz tri tril tril_indices triu triu_indices true_divide trunc uint16 uint32 uint64 uint8 union1d
        unique unpackbits unravel_index unwrap vander var vdot vsplit vstack where zeros zeros_like
        """.split()
    ),
    "numpy.fft": frozenset("fft ifft rfft irfft fft2 ifft2 fftfreq rfftfreq fftshift ifftshift".split()),
    "numpy.linalg": frozenset(
        """
        LinAlgError cholesky cond cross det eig eigh eigvals eigvalsh inv lstsq matrix_power matrix_rank multi_dot norm
        outer pinv qr slogdet solve svd
        """.split()
    ),
    "numpy.random": DISTRIBUTIONS
    | frozenset("Generator RandomState default_rng rand randint randn random_sample seed".split()),
    "random": frozenset(
        """
        Random betavariate choice choices expovariate gammavariate gauss getrandbits lognormvariate normalvariate
        randint random randrange sample seed shuffle triangular uniform
        """.split()
    ),
}
"""Namespaces and the members of each that a program may use. A namespace is never a value: ``np.sin``, not ``x = np``."""

UFUNC_METHODS = frozenset("accumulate at outer reduce reduceat".split())
"""Methods of ufuncs such as ``np.maximum``."""

BUILTINS = frozenset(
    """
    ArithmeticError AssertionError AttributeError Exception FloatingPointError IndexError KeyError LookupError
    NameError NotImplemented NotImplementedError OverflowError RecursionError RuntimeError StopIteration TypeError
    ValueError ZeroDivisionError abs all any bin bool bytes bytearray callable chr classmethod complex dict divmod
    enumerate filter float format frozenset getattr hasattr hash hex int isinstance issubclass iter len list map max
    min next object oct ord pow print property range repr reversed round set setattr slice sorted staticmethod str sum
    super tuple type zip
    """.split()
)

FORMS = frozenset("getattr hasattr isinstance issubclass setattr super type".split())
"""Builtins allowed in certain forms only; nothing else may have their names."""

SPECIAL_METHODS = frozenset(
    """
    __init__ __call__ __len__ __contains__ __iter__ __next__ __repr__ __str__ __bool__ __hash__ __eq__ __ne__ __lt__
    __le__ __gt__ __ge__ __getitem__ __setitem__ __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__
    __neg__ __abs__ __post_init__
    """.split()
)
"""Special methods that a program may define; elsewhere, names that begin with two underscores are not allowed."""

_PLAIN = (list, dict, set, tuple, str, bytes, int, float, slice, Counter, OrderedDict, defaultdict, deque)

ATTRIBUTES = frozenset(
    # arrays, scalars, dtypes, finfo, ufuncs
    """
    T all any argmax argmin argpartition argsort astype choose clip compress conj conjugate cumprod cumsum diagonal dot
    fill flat flatten imag item itemsize max mean min nbytes ndim nonzero partition prod ptp put ravel real repeat
    reshape round searchsorted shape size sort squeeze std strides sum swapaxes take tobytes tolist trace transpose var
    kind dtype eps tiny resolution smallest_normal bits is_integer
    reduce accumulate outer at reduceat
    """.split()
    # lists, dicts, sets, tuples, deques, counters, strings, numbers
    + [name for kind in _PLAIN for name in public(kind) - {"format", "format_map"}]
    + ["from_iterable"]
    # generators, exceptions, properties, caches, named tuples
    + "send throw close args value name cache_clear cache_info hits misses setter getter deleter _replace _asdict _fields".split()
    # common names of fields; in libraries they are texts or numbers, or out of reach, as those of bit generators
    + "axis end path reason state".split()
    # mechanisms
    + "dt nq nu nv qpos0".split()
    # random generators
    + sorted(DISTRIBUTIONS)
    + sorted(MODULES["random"] - {"Random"})
    + "integers permuted spawn rand randn random_sample".split()
)
"""Attributes that may be read from any object; others only if the program defines them."""

HINTS: dict[str, str] = {
    **dict.fromkeys(("format", "format_map"), "use an f-string instead"),
    **dict.fromkeys(("time", "datetime"), "count calls of act instead; one call is one step"),
    **dict.fromkeys(
        ("gymnasium", "gym"),
        "the environment is not available to a policy; plan with your own model of it in numpy",
    ),
    **dict.fromkeys(("threading", "multiprocessing"), "a policy runs in one thread; compute directly in act"),
    **dict.fromkeys(("globals", "locals"), "use plain names or attributes of self"),
    **dict.fromkeys(("vars", "dir"), "name the attributes"),
    "__class__": "use type(x) instead",
    "__dict__": "use plain attributes, such as self.params = params",
    "tofile": "policies have no files; keep the data in an attribute",
    "resize": "use slicing or np.concatenate instead",
    "view": "use .astype(...) or .reshape(...) instead",
    "vectorize": "use array operations or a list comprehension",
    "errstate": "leave it out and test the values first, such as np.where(b == 0, 1, b)",
    "eval": "write the expression itself",
    "exec": "write the code itself",
    "open": "policies have no files; put the data into the source",
    "input": "a policy gets its input from act(self, obs)",
    "id": "use an attribute of the object, or enumerate(), as identity",
    "compile": "write the code itself",
    "memoryview": "use a numpy array instead",
    "delattr": "assign None instead",
    "wraps": "leave it out",
    "total_ordering": "write the comparison that you use",
    "cached_property": "compute it in __init__",
    "os": "a policy has no operating system; only obs comes in and only the action goes out",
    "sys": "a policy has no interpreter access; use math.inf for limits",
    "torch": "write the network with numpy matrices instead",
    "scipy": "use numpy instead; an exported policy has nothing else",
    "warnings": "test the values first",
    "enum": "use plain class attributes, such as class Phase: GO = 1",
    "abc": "write a plain class",
    "operator": "write a lambda, such as lambda item: item[1]",
    "statistics": "use numpy, such as np.median",
    "types": "use a dict, or a class of your own",
    "dumps": "write the data as Python literals; json.loads reads an observation that is JSON",
    "pickle": "write the data as Python literals",
    "logging": "use print",
}
"""What to use instead of a name that is refused."""


def list_modules() -> str:
    """Return the modules that a program may import, for a sentence: "numpy (with linalg, fft, random), math, ..."."""
    inner = [name.rpartition(".")[2] for name in ("numpy.linalg", "numpy.fft", "numpy.random")]
    plain = [
        name
        for name in MODULES
        if "." not in name and name not in {"numpy", "looking", "mechanism", *ANNOTATIONS}
    ]
    return ", ".join([f"numpy (with {', '.join(inner)})", *sorted(plain), "typing (annotations only)"])
