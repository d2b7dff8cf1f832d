"""Making a policy of a module that was run."""

from __future__ import annotations

from typing import Any

from promptpo_sandbox.arrays import assembled
from promptpo_sandbox.guest.errors import ContractError


def construct(module: dict[str, Any], params: dict[str, float] | None) -> Any:
    """A new policy, made the way its ``__init__`` asks for, and reset where it can be."""
    policy_class = module.get("Policy")
    if not isinstance(policy_class, type):
        raise ContractError("the module defines no class Policy; define class Policy with act(self, obs)")
    if not callable(getattr(policy_class, "act", None)):
        raise ContractError("the class Policy has no method act; define act(self, obs)")
    takes_params = _takes_params(policy_class)
    policy = policy_class(assembled(params, module.get("PARAMS"))) if takes_params else policy_class()
    reset = getattr(policy, "reset", None)
    if callable(reset) and getattr(getattr(reset, "__code__", None), "co_argcount", 0) == 1:
        reset()
    return policy


def _takes_params(policy_class: type) -> bool:
    constructor: Any = getattr(policy_class, "__init__")  # noqa: B009 - of the class, not of an instance
    code = getattr(constructor, "__code__", None)
    return code is not None and (code.co_argcount > 1 or bool(code.co_flags & 0x04))
