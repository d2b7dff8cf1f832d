"""The class ``Policy`` of a module, as the sandbox will find it: aliases and base classes followed."""

from __future__ import annotations

import ast

from promptpo.program.confined.tree import assigned, bound_here


def class_called(tree: ast.Module | None, name: str) -> ast.ClassDef | None:
    """The class that a top-level name means in the end; None where the module does not define it plainly."""
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)} if tree else {}
    seen: set[str] = set()
    while name not in seen:
        seen.add(name)
        alias = assigned(tree, name)
        if not isinstance(alias, ast.Name):
            return classes.get(name) if alias is None else None
        name = alias.id
    return None


def contract_of(tree: ast.Module | None) -> tuple[bool | None, bool | None]:
    """How the class ``Policy`` wants to be made: whether it takes parameters, and whether it has a ``reset``."""
    policy = class_called(tree, "Policy")
    if policy is None:
        return None, None
    init, reset = find_method(tree, policy, "__init__"), find_method(tree, policy, "reset")
    takes_params = None if init is None else False
    resets = None if reset is None else False
    if isinstance(init, ast.FunctionDef):
        takes_params = None if init.decorator_list else takes_more(init)
    if isinstance(reset, ast.FunctionDef):
        resets = None if reset.decorator_list else _positional(reset) == 1
    return takes_params, resets


def find_method(tree: ast.Module | None, owner: ast.ClassDef, name: str) -> ast.FunctionDef | bool | None:
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


def takes_more(method: ast.FunctionDef) -> bool:
    """Whether a method takes a positional argument besides ``self``."""
    return _positional(method) > 1 or method.args.vararg is not None


def _positional(method: ast.FunctionDef) -> int:
    return len(method.args.posonlyargs) + len(method.args.args)
