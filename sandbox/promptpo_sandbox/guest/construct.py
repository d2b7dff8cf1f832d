"""Compilation of a source, and construction of a policy from its module."""

from __future__ import annotations
import __future__

from types import CodeType
from typing import Any

from promptpo_sandbox.arrays import assemble
from promptpo_sandbox.gate.check import Rejected, admit
from promptpo_sandbox.guest.errors import POLICY_FILE, ContractError


def compile_source(source: str, source_bytes: int, *, gate: bool) -> CodeType | Rejected:
    """Compile a source that `promptpo_sandbox.gate.check.admit` accepts.

    Annotations are not evaluated, as in an exported file, which says ``from __future__ import annotations``.
    """
    flags = __future__.annotations.compiler_flag
    try:
        tree = admit(source, source_bytes=source_bytes, gate=gate)
        return (
            tree
            if isinstance(tree, Rejected)
            else compile(tree, POLICY_FILE, "exec", flags, dont_inherit=True)
        )
    except SyntaxError as error:  # an error that only the compiler finds, such as return outside a function
        return Rejected(f"line {error.lineno}: syntax error: {error.msg}")
    except BaseException as error:  # noqa: BLE001 - odd sources break the compiler in odd ways
        return Rejected(f"the source cannot be compiled: {type(error).__name__}: {str(error)[:200]}")


def construct(module: dict[str, Any], params: dict[str, float] | None) -> Any:
    """Construct a policy, with parameters if its ``__init__`` takes them, and reset it if it has a ``reset``."""
    policy_class = module.get("Policy")
    if not isinstance(policy_class, type):
        raise ContractError("the module defines no class Policy; define class Policy with act(self, obs)")
    if not callable(getattr(policy_class, "act", None)):
        raise ContractError("the class Policy has no method act; define act(self, obs)")
    takes_params = _takes_params(policy_class)
    policy = policy_class(assemble(params, module.get("PARAMS"))) if takes_params else policy_class()
    reset = getattr(policy, "reset", None)
    if callable(reset) and getattr(getattr(reset, "__code__", None), "co_argcount", 0) == 1:
        reset()
    return policy


def _takes_params(policy_class: type) -> bool:
    constructor: Any = getattr(policy_class, "__init__")  # noqa: B009 - of the class, not of an instance
    code = getattr(constructor, "__code__", None)
    return code is not None and (code.co_argcount > 1 or bool(code.co_flags & 0x04))
