"""The allow-lists: modules and what a policy may take from them, builtins, attributes, special methods.

Left out of numpy on purpose is all that reads or writes files, compiles, evaluates text, touches raw
memory or changes global state: load*, save*, from*, memmap, lib, testing, ctypeslib, f2py, ma, rec, core,
char, resize, seterr*, set_printoptions, frompyfunc, nditer and the like.
"""

# ruff: noqa: SIM905 - a thousand names read better as text

from __future__ import annotations

NUMPY = frozenset(
    """
    abs absolute acos acosh add all allclose amax amin angle any append apply_along_axis apply_over_axes
    arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argpartition argsort argwhere
    around array array2string array_equal array_equiv array_split array_str asanyarray asarray ascontiguousarray
    asarray_chkfinite asin asinh astype atan atan2 atanh atleast_1d atleast_2d atleast_3d average bartlett
    bincount bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or
    bitwise_right_shift bitwise_xor blackman block bool bool_ broadcast_arrays broadcast_shapes broadcast_to
    byte cbrt cdouble ceil choose clip column_stack complex128 complex64 complexfloating compress
    concat concatenate conj conjugate convolve copy copysign corrcoef correlate cos cosh count_nonzero cov
    cross cumprod cumsum cumulative_prod cumulative_sum deg2rad degrees delete diag diag_indices diagflat
    diagonal diff digitize divide divmod dot double dsplit dstack dtype e ediff1d einsum empty empty_like
    equal errstate euler_gamma exp exp2 expand_dims expm1 extract eye fabs fill_diagonal finfo fix
    flatnonzero flip fliplr flipud float16 float32 float64 float_power floating floor floor_divide fmax fmin
    fmod frexp full full_like gcd generic geomspace gradient greater greater_equal half hamming hanning
    heaviside histogram histogram2d hsplit hstack hypot i0 identity iinfo imag in1d indices inexact inf
    inner insert int16 int32 int64 int8 int_ intc integer interp intersect1d intp invert isclose iscomplex
    iscomplexobj isfinite isin isinf isnan isneginf isposinf isreal isrealobj isscalar issubdtype ix_ kaiser
    kron lcm ldexp left_shift less less_equal lexsort linspace log log10 log1p log2 logaddexp logaddexp2
    logical_and logical_not logical_or logical_xor logspace long longlong matmul matrix_transpose matvec max
    maximum mean median meshgrid mgrid min minimum mod modf moveaxis multiply nan nan_to_num nanargmax
    nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd
    nansum nanvar ndarray ndenumerate ndim ndindex negative newaxis nextafter nonzero not_equal number ogrid
    ones ones_like outer pad partition percentile permute_dims pi piecewise place polyadd polyder polydiv
    polyfit polyint polymul polysub polyval positive pow power prod promote_types ptp put put_along_axis
    putmask quantile r_ c_ s_ rad2deg radians ravel ravel_multi_index real reciprocal remainder repeat
    reshape result_type right_shift rint roll rollaxis roots rot90 round row_stack searchsorted select
    setdiff1d setxor1d shape short sign signbit signedinteger sin sinc single sinh size sort spacing split
    sqrt square squeeze stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile trace
    transpose trapezoid trapz tri tril tril_indices trim_zeros triu triu_indices true_divide trunc ubyte
    uint uint16 uint32 uint64 uint8 uintc uintp ulonglong union1d unique unpackbits packbits unravel_index
    unsignedinteger unstack unwrap ushort vander var vdot vecdot vecmat vectorize vsplit vstack where zeros
    zeros_like bool8 float_ copyto ufunc matrix_power True_ False_ isdtype diag_indices_from
    tril_indices_from triu_indices_from mask_indices nanmean convolve unique_values unique_counts
    unique_inverse nonzero product cumproduct sometrue alltrue round_ infty Inf NaN NAN PINF NINF
    """.split()
)

LINALG = frozenset(
    """
    LinAlgError cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm
    matrix_power matrix_rank matrix_transpose multi_dot norm outer pinv qr slogdet solve svd svdvals
    tensordot tensorinv tensorsolve trace vecdot vector_norm
    """.split()
)

FFT = frozenset(
    "fft ifft rfft irfft fft2 ifft2 fftn ifftn rfft2 irfft2 fftfreq rfftfreq fftshift ifftshift".split()
)

DISTRIBUTIONS = frozenset(
    """
    beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric
    laplace logistic lognormal logseries multinomial multivariate_normal negative_binomial normal pareto
    permutation poisson power random rayleigh shuffle standard_cauchy standard_exponential standard_gamma
    standard_normal standard_t triangular uniform vonmises wald weibull zipf
    """.split()
)

NUMPY_RANDOM = (
    DISTRIBUTIONS
    | frozenset("rand randint randn random_sample ranf sample seed".split())
    | frozenset("default_rng Generator RandomState".split())
)

RANDOM = frozenset(
    """
    Random betavariate choice choices expovariate gammavariate gauss getrandbits lognormvariate
    normalvariate paretovariate randbytes randint random randrange sample seed shuffle triangular uniform
    vonmisesvariate weibullvariate
    """.split()
)

LOOKING = frozenset(
    "centroid centroids coloured components crop downscale grey labels match threshold".split()
)
"""Our own pieces for observations that are pictures; see `sandbox.guest.looking`."""

CONTINUOUS = frozenset("beta expon gamma norm uniform".split())
_CONTINUOUS_METHODS = frozenset("cdf isf logcdf logpdf logsf mean median pdf ppf sf std var".split())

MODULES: dict[str, frozenset[str]] = {
    "__future__": frozenset({"annotations", "division"}),
    "abc": frozenset({"ABC", "abstractmethod"}),
    "bisect": frozenset("bisect bisect_left bisect_right insort insort_left insort_right".split()),
    "cmath": frozenset(
        "acos asin atan cos cosh e exp inf isclose isfinite isnan log nan phase pi polar rect sin sinh sqrt tan tanh".split()
    ),
    "collections": frozenset("ChainMap Counter OrderedDict abc defaultdict deque namedtuple".split()),
    "collections.abc": frozenset(
        """
        Callable Collection Container Generator Hashable Iterable Iterator Mapping MutableMapping
        MutableSequence MutableSet Reversible Sequence Set Sized
        """.split()
    ),
    "copy": frozenset({"copy", "deepcopy"}),
    "dataclasses": frozenset("asdict astuple dataclass field replace".split()),
    "decimal": frozenset({"Decimal"}),
    "enum": frozenset("Enum Flag IntEnum IntFlag StrEnum auto unique".split()),
    "fractions": frozenset({"Fraction"}),
    "functools": frozenset(
        "cache cached_property cmp_to_key lru_cache partial partialmethod reduce total_ordering wraps".split()
    ),
    "heapq": frozenset("heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest".split()),
    "itertools": frozenset(
        """
        accumulate batched chain combinations combinations_with_replacement compress count cycle dropwhile
        filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest
        """.split()
    ),
    "json": frozenset({"JSONDecodeError", "loads"}),
    "looking": LOOKING,
    "math": frozenset(
        """
        acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp
        exp2 expm1 fabs factorial floor fma fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan
        isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder sin
        sinh sqrt sumprod tan tanh tau trunc ulp
        """.split()
    ),
    "numbers": frozenset("Complex Integral Number Rational Real".split()),
    "numpy": NUMPY | {"fft", "linalg", "random", "typing"},
    "numpy.fft": FFT,
    "numpy.linalg": LINALG,
    "numpy.random": NUMPY_RANDOM,
    "numpy.typing": frozenset({"ArrayLike", "DTypeLike", "NDArray"}),
    "operator": frozenset(
        """
        abs add and_ concat contains countOf eq floordiv ge getitem gt indexOf inv invert itemgetter le lshift
        lt matmul mod mul ne neg not_ or_ pos pow rshift sub truediv truth xor
        """.split()
    ),
    "random": RANDOM,
    "statistics": frozenset(
        "fmean geometric_mean harmonic_mean mean median median_high median_low mode pstdev pvariance quantiles stdev variance".split()
    ),
    "string": frozenset(
        "ascii_letters ascii_lowercase ascii_uppercase digits punctuation whitespace".split()
    ),
    "types": frozenset({"SimpleNamespace"}),
    "typing": frozenset(
        """
        Any AnyStr Callable ClassVar Collection Deque DefaultDict Dict Final FrozenSet Generator Generic
        Hashable Iterable Iterator List Literal Mapping MutableMapping MutableSequence NamedTuple NewType
        NoReturn Optional Protocol Self Sequence Set Sized Tuple Type TypeAlias TypeVar TypedDict Union
        TYPE_CHECKING Annotated cast final overload runtime_checkable
        """.split()
    ),
    "scipy": frozenset("linalg signal spatial interpolate optimize integrate special ndimage stats".split()),
    "scipy.integrate": frozenset("cumulative_trapezoid odeint quad simpson solve_ivp trapezoid".split()),
    "scipy.interpolate": frozenset(
        "Akima1DInterpolator BSpline CubicHermiteSpline CubicSpline PchipInterpolator RegularGridInterpolator UnivariateSpline interp1d make_interp_spline".split()
    ),
    "scipy.linalg": frozenset(
        """
        block_diag cho_factor cho_solve cholesky det eig eigh eigvals eigvalsh expm inv logm lstsq lu lu_factor
        lu_solve norm null_space orth pinv polar qr schur solve solve_continuous_are
        solve_continuous_lyapunov solve_discrete_are solve_discrete_lyapunov solve_triangular sqrtm svd toeplitz
        """.split()
    ),
    "scipy.ndimage": frozenset(
        "binary_dilation binary_erosion center_of_mass convolve correlate distance_transform_edt find_objects gaussian_filter label maximum_filter median_filter minimum_filter sobel uniform_filter zoom".split()
    ),
    "scipy.optimize": frozenset(
        "Bounds LinearConstraint brentq differential_evolution fsolve least_squares linear_sum_assignment linprog lsq_linear minimize minimize_scalar newton nnls root".split()
    ),
    "scipy.signal": frozenset(
        "argrelextrema bilinear butter cheby1 cheby2 cont2discrete convolve correlate filtfilt find_peaks firwin freqz lfilter lfilter_zi lsim medfilt place_poles savgol_filter sosfilt sosfilt_zi sosfiltfilt square sawtooth welch".split()
    ),
    "scipy.spatial": frozenset("ConvexHull Delaunay KDTree Voronoi cKDTree distance transform".split()),
    "scipy.spatial.distance": frozenset(
        "cdist cityblock cosine euclidean mahalanobis pdist squareform".split()
    ),
    "scipy.spatial.transform": frozenset({"Rotation", "Slerp"}),
    "scipy.spatial.transform.Rotation": frozenset(
        "concatenate from_euler from_matrix from_quat from_rotvec identity".split()
    ),
    "scipy.special": frozenset(
        "comb erf erfinv expit factorial gamma gammaln log_softmax logit logsumexp softmax".split()
    ),
    "scipy.stats": CONTINUOUS | {"poisson", "multivariate_normal", "rankdata", "zscore"},
    **{f"scipy.stats.{name}": _CONTINUOUS_METHODS for name in CONTINUOUS},
    "scipy.stats.poisson": frozenset("cdf logpmf mean median pmf ppf sf std var".split()),
    "scipy.stats.multivariate_normal": frozenset("cdf logpdf pdf".split()),
}
"""Namespaces: modules, and objects used as such, and what each has for a policy.

A namespace is never a value: a policy can write ``np.sin``, not ``x = np``.
"""

OBJECTS = frozenset(
    {
        "scipy.spatial.transform.Rotation",
        "scipy.stats.multivariate_normal",
        "scipy.stats.poisson",
        *(f"scipy.stats.{name}" for name in CONTINUOUS),
    }
)
"""Namespaces that are no modules: their own attributes lead too far to hand them out."""

BUILTINS = frozenset(
    """
    ArithmeticError AssertionError AttributeError BaseException Ellipsis Exception False
    FloatingPointError IndexError KeyError LookupError MemoryError NameError None NotImplemented
    BufferError EOFError ImportError ModuleNotFoundError OSError TimeoutError
    NotImplementedError OverflowError RecursionError RuntimeError StopIteration True TypeError
    UnboundLocalError UnicodeError UserWarning ValueError Warning DeprecationWarning RuntimeWarning
    ZeroDivisionError __build_class__ __debug__ abs all any ascii bin bool bytearray bytes callable chr
    classmethod complex dict divmod enumerate filter float frozenset hash hex int isinstance issubclass iter
    len list map max min next object oct ord pow print property range repr reversed round set slice sorted
    staticmethod str sum super tuple zip format
    """.split()
)
"""Builtins given as they are. ``type``, ``getattr``, ``setattr``, ``hasattr`` and ``__import__`` are our own."""

SPECIAL_METHODS = frozenset(
    """
    __init__ __call__ __len__ __contains__ __iter__ __next__ __reversed__ __repr__ __str__ __bool__ __hash__
    __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __getitem__ __setitem__ __delitem__ __enter__ __exit__
    __add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __truediv__ __rtruediv__
    __itruediv__ __floordiv__ __rfloordiv__ __mod__ __rmod__ __pow__ __rpow__ __matmul__ __rmatmul__
    __neg__ __pos__ __abs__ __invert__ __and__ __rand__ __or__ __ror__ __xor__ __rxor__ __lshift__
    __rshift__ __divmod__ __int__ __float__ __index__ __round__ __floor__ __ceil__ __trunc__ __post_init__
    __missing__ __copy__ __deepcopy__ __format__ __complex__
    """.split()
)
"""Methods with two underscores that a policy may define."""

READABLE_SPECIALS = frozenset(
    "__init__ __name__ __doc__ __len__ __call__ __eq__ __lt__ __repr__ __str__ __post_init__ __setitem__ __getitem__".split()
)
"""Attributes with two underscores that a policy may read: ``super().__init__()``, ``type(self).__name__``."""

ATTRIBUTES = frozenset(
    # arrays, scalars, dtypes, finfo, ufuncs
    """
    T mT all any argmax argmin argpartition argsort astype choose clip compress conj conjugate cumprod cumsum
    diagonal dot fill flat flatten imag item itemsize max mean min nbytes ndim nonzero partition prod ptp put
    ravel real repeat reshape round searchsorted shape size sort squeeze std strides sum swapaxes take
    tolist trace transpose var kind dtype eps tiny resolution smallest_normal bits is_integer
    reduce accumulate outer at reduceat nin nout identity
    """.split()
    # lists, dicts, sets, tuples, deques, counters, strings, numbers, heaps
    + """
    append appendleft clear copy count extend extendleft index insert pop popleft popitem remove reverse rotate
    maxlen add discard difference difference_update intersection intersection_update isdisjoint issubset
    issuperset symmetric_difference symmetric_difference_update union update get items keys values
    setdefault fromkeys most_common elements subtract total move_to_end default_factory new_child maps
    capitalize casefold center endswith expandtabs find isalnum isalpha isascii isdecimal isdigit
    isidentifier islower isnumeric isspace istitle isupper join ljust lower lstrip partition removeprefix
    removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip
    swapcase title translate maketrans upper zfill hex fromhex as_integer_ratio bit_length bit_count
    numerator denominator to_bytes from_bytes encode decode start stop step sqrt ln
    """.split()
    # generators, exceptions, properties, caches, named tuples, enums
    + """
    send throw close args value name cache_clear cache_info hits misses currsize setter getter deleter
    _replace _asdict _fields _make add_note with_traceback errno code
    """.split()
    # random generators
    + list(DISTRIBUTIONS)
    + sorted(RANDOM - {"Random"})
    + "integers permuted spawn hypergeometric limit_denominator rand randn random_sample".split()
    # scipy's results
    + """
    x y fun success message nfev nit jac hess status cost y_events t t_events sol solution derivative antiderivative
    integrate roots inv apply as_matrix as_quat as_euler as_rotvec from_matrix from_quat from_euler
    from_rotvec magnitude query query_ball_point query_pairs simplices vertices neighbors find_simplex volume
    area pdf cdf ppf logpdf sf statistic pvalue ier coefficients A B C D
    """.split()
)
"""Attributes that anything may be asked for."""

HINTS: dict[str, str] = {
    "fields": "name the fields that you mean",
    "attrgetter": "write a lambda, such as lambda item: item.cost",
    "methodcaller": "write a lambda, such as lambda item: item.cost()",
    "update_wrapper": "decorate with @functools.wraps(function)",
    "rvs": "use np.random.default_rng(seed)",
    "register": "inherit from the abstract class",
    "__class__": "use type(x) instead",
    "__dict__": "use plain attributes, or self.__dict__.update(params)",
    "format": "use an f-string instead",
    "format_map": "use an f-string instead",
    "tofile": "policies have no files; keep the data in an attribute",
    "resize": "use np.resize-free code such as np.concatenate or slicing",
    "tobytes": "use tuple(x.ravel().tolist()) as a key instead",
    "tostring": "use tuple(x.ravel().tolist()) as a key instead",
    "view": "use .astype(...) or .reshape(...) instead",
    "eval": "write the expression itself",
    "exec": "write the code itself",
    "open": "policies have no files; put the data into the source",
    "input": "a policy gets its input from act(self, obs)",
    "globals": "use module-level names or self",
    "locals": "use plain variables",
    "vars": "use plain attributes",
    "dir": "name the attributes instead",
    "id": "use an attribute of the object, or enumerate(), as identity",
    "compile": "write the code itself",
    "__import__": "use an import statement",
    "memoryview": "use a numpy array instead",
    "delattr": "assign None instead",
    "time": "count calls of act instead; one call is one step",
    "datetime": "count calls of act instead; one call is one step",
    "os": "a policy has no operating system; only obs comes in and only the action goes out",
    "sys": "a policy has no interpreter access; use math.inf or np.finfo for limits",
    "gymnasium": "the environment is not available to a policy; plan with your own model of it in numpy",
    "gym": "the environment is not available to a policy; plan with your own model of it in numpy",
    "torch": "write the network with numpy matrices instead",
    "warnings": "use np.errstate or a condition instead",
    "dumps": "write the data as Python literals; json.loads reads an observation that is JSON",
    "pickle": "write the data as Python literals",
    "threading": "a policy runs in one thread; compute directly in act",
    "multiprocessing": "a policy runs in one thread; compute directly in act",
    "logging": "use print",
    "lib": "use numpy's public functions",
    "testing": "use np.allclose or assert",
}
"""What to use instead of a name that is refused."""
