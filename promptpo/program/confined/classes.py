"""The class ``Policy`` of a module, as the sandbox will find it: aliases and base classes followed."""

from __future__ import annotations

import ast

from promptpo.program.confined.tree import Module, assigned, bound_here


def class_called(tree: ast.Module, name: str) -> ast.ClassDef | None:
    """The class that a top-level name means in the end; None where the module does not define it plainly."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    seen: set[str] = set()
    while name not in seen:
        seen.add(name)
        alias = assigned(tree, name)
        if not isinstance(alias, ast.Name):
            return classes.get(name) if alias is None else None
        name = alias.id
    return None


def contract(module: Module) -> tuple[bool | None, bool | None]:
    """How the class ``Policy`` wants to be made: whether it takes parameters, and whether it has a ``reset``."""
    init, reset = (_method(module, "Policy", name) for name in ("__init__", "reset"))
    takes_params = None if init is None else False
    resets = None if reset is None else False
    if isinstance(init, ast.FunctionDef):
        takes_params = None if init.decorator_list else _positional(init) > 1 or init.args.vararg is not None
    if isinstance(reset, ast.FunctionDef):
        resets = None if reset.decorator_list else _positional(reset) == 1
    return takes_params, resets


def reward(module: Module) -> tuple[bool, bool]:
    """Whether the class ``Reward`` may have a ``step``, and a ``success``."""
    if class_called(module.tree, "Reward") is None:
        return False, False
    has_step, has_success = (_method(module, "Reward", name) is not False for name in ("step", "success"))
    return has_step, has_success


def lacks(module: Module, class_name: str, *methods: str) -> tuple[str, ...]:
    """Which of some methods a top-level class has not, as far as that is known without running the module."""
    return tuple(name for name in methods if _method(module, class_name, name) is False)


def arguments(module: Module, class_name: str, method: str) -> tuple[str, ...]:
    """Names of the positional arguments of a method of a top-level class; empty where it is not there."""
    owner = class_called(module.tree, class_name)
    body = owner.body if owner is not None else []
    found = [n for n in body if isinstance(n, ast.FunctionDef) and n.name == method]
    return tuple(argument.arg for argument in found[0].args.args) if found else ()


def _method(module: Module, class_name: str, name: str) -> ast.FunctionDef | bool | None:
    """A method of a top-level class; see `find_method`. None where there is no such class."""
    owner = class_called(module.tree, class_name)
    return None if owner is None else find_method(module.tree, owner, name)


def find_method(tree: ast.Module, owner: ast.ClassDef, name: str) -> ast.FunctionDef | bool | None:
    """A method, inherited ones included; False where there is none, None where only running can tell."""
    pending, seen = [owner], set()
    unknown = False
    while pending:
        node = pending.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        own = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == name]
        if own:
            return None if unknown else own[-1]
        if name in set(bound_here(node.body)):
            return None
        unknown = unknown or bool(node.decorator_list or node.keywords)
        for base in node.bases:
            found = class_called(tree, base.id) if isinstance(base, ast.Name) else None
            if found is not None:
                pending.append(found)
            elif not (isinstance(base, ast.Name) and base.id == "object"):
                unknown = True
    return None if unknown else False


def _positional(method: ast.FunctionDef) -> int:
    return len(method.args.posonlyargs) + len(method.args.args)
