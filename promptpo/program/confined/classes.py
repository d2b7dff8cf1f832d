"""The classes of a module as the sandbox will find them, except for what base classes and decorators add at run time."""

from __future__ import annotations

import ast

from promptpo.program.confined.tree import Module, assigned_value, bound_here


def contract(module: Module) -> tuple[bool | None, bool | None]:
    """Return whether the class ``Policy`` takes parameters, and whether it has a ``reset``; None if unknown."""
    init, reset = (_method(module, "Policy", name) for name in ("__init__", "reset"))
    takes_params = (
        init if init is None or isinstance(init, bool) else _positional(init) > 1 or bool(init.args.vararg)
    )
    return takes_params, reset if reset is None or isinstance(reset, bool) else _positional(reset) == 1


def reward(module: Module) -> tuple[bool, bool]:
    """Return whether the class ``Reward`` may have a ``step`` and a ``success``."""
    if _class(module, "Reward") is None:
        return False, False
    has_step, has_success = (_method(module, "Reward", name) is not False for name in ("step", "success"))
    return has_step, has_success


def lacks(module: Module, class_name: str, *methods: str) -> tuple[str, ...]:
    """Return the methods that a top-level class certainly lacks, as far as known without running the module."""
    return tuple(name for name in methods if _method(module, class_name, name) is False)


def arguments(module: Module, class_name: str, method: str) -> tuple[str, ...]:
    """Return the names of a method's positional arguments in a top-level class; empty if it is missing."""
    found = _method(module, class_name, method)
    return tuple(argument.arg for argument in found.args.args) if isinstance(found, ast.FunctionDef) else ()


def _class(module: Module, name: str) -> ast.ClassDef | None:
    """Return the top-level class with this name; None if the name is bound otherwise."""
    classes = {node.name: node for node in module.tree.body if isinstance(node, ast.ClassDef)}
    return classes.get(name) if assigned_value(module.tree, name) is None else None


def _method(module: Module, class_name: str, name: str) -> ast.FunctionDef | bool | None:
    """Return a method of a top-level class; False if there is none, None if only running can tell."""
    owner = _class(module, class_name)
    if owner is None:
        return None
    own = [item for item in owner.body if isinstance(item, ast.FunctionDef) and item.name == name]
    if own:
        return None if own[-1].decorator_list else own[-1]
    plain = all(isinstance(base, ast.Name) and base.id == "object" for base in owner.bases)
    known = (
        plain and not owner.decorator_list and not owner.keywords and name not in set(bound_here(owner.body))
    )
    return False if known else None


def _positional(method: ast.FunctionDef) -> int:
    return len(method.args.posonlyargs) + len(method.args.args)
