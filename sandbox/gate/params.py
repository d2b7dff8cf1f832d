"""Which computed names are keys of PARAMS: text that the source spells out, though somewhere else.

Setting attributes by computed names could set any, such as those that numpy takes for a description of raw
memory. Spreading PARAMS over ``self`` is so common that it is recognised: there the names are known.
"""

from __future__ import annotations

import ast

from sandbox.gate.bindings import COMPREHENSIONS, Bindings

_VIEWS = frozenset({"items", "keys", "values", "get", "copy"})
_READERS = frozenset(
    {"len", "dict", "list", "sorted", "tuple", "enumerate", "set", "zip", "sum", "max", "min"}
)


class SafeKeys:
    """Knows which expressions are dictionaries with the keys of PARAMS, and which names are such keys.

    Args:
        tree: The module.
        bindings: What its names stand for.
    """

    def __init__(self, tree: ast.Module, bindings: Bindings) -> None:
        self.bindings = bindings
        self._loads = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        self._params = self._written_out(tree) and self._only_read("PARAMS", tree)
        self._given = self._argument(tree)

    def are_safe(self, value: ast.AST) -> bool:
        """Whether an expression is a dictionary whose keys are known: PARAMS, params, {k: ... for k in PARAMS}."""
        if isinstance(value, ast.Dict):
            return all(_is_plain(key) for key in value.keys)
        if isinstance(value, ast.DictComp) and len(value.generators) == 1:
            return isinstance(value.key, ast.Name) and self._loops_over_keys(
                value.generators[0].target, value.generators[0].iter, value.key.id
            )
        return self._is_source(value)

    def is_key(self, name: ast.Name) -> bool:
        """Whether a name is the variable of a loop over such keys, and nothing else binds it in its function."""
        for scope in self.bindings.ancestors(name):
            if isinstance(scope, ast.For) and self._loops_over_keys(scope.target, scope.iter, name.id):
                stores = [
                    n
                    for n in ast.walk(scope)
                    if isinstance(n, ast.Name) and n.id == name.id and not isinstance(n.ctx, ast.Load)
                ]
                return len(stores) == 1
            if isinstance(scope, (ast.FunctionDef, ast.Lambda, ast.ClassDef, *COMPREHENSIONS)):
                return False
        return False

    def _loops_over_keys(self, target: ast.AST, iterable: ast.AST, name: str) -> bool:
        if isinstance(iterable, ast.Call) and isinstance(iterable.func, ast.Attribute) and not iterable.args:
            if not self._is_source(iterable.func.value):
                return False
            if iterable.func.attr == "items":
                first = target.elts[0] if isinstance(target, ast.Tuple) and len(target.elts) == 2 else None  # noqa: PLR2004
                bound = [n for n in ast.walk(target) if isinstance(n, ast.Name) and n.id == name]
                return isinstance(first, ast.Name) and first.id == name and len(bound) == 1
            return iterable.func.attr == "keys" and isinstance(target, ast.Name) and target.id == name
        return self._is_source(iterable) and isinstance(target, ast.Name) and target.id == name

    def _is_source(self, value: ast.AST) -> bool:
        if not isinstance(value, ast.Name):
            return False
        if value.id == "PARAMS" and self._params:
            return True
        given = self._given
        return given is not None and given[1] == value.id and given[0] in self.bindings.ancestors(value)

    def _written_out(self, tree: ast.Module) -> bool:
        """Whether PARAMS is bound once, at the top of the module, to a literal with plain keys."""
        bound = self.bindings.rebound.get("PARAMS", [])
        if len(bound) != 1 or "PARAMS" in self.bindings.imports:
            return False
        statement = self.bindings.parents[bound[0]]
        return (
            isinstance(statement, ast.Assign | ast.AnnAssign)
            and statement in tree.body
            and isinstance(statement.value, ast.Dict)
            and all(_is_plain(key) for key in statement.value.keys)
        )

    def _only_read(self, name: str, scope: ast.AST) -> bool:
        """Whether no use of a name within a scope could change the dictionary or hand it on."""
        inside = {id(node) for node in ast.walk(scope)}
        return all(self._is_reading(n) for n in self._loads if n.id == name and id(n) in inside)

    def _is_reading(self, node: ast.Name) -> bool:
        parent = self.bindings.parents[node]
        if isinstance(parent, ast.Attribute):
            return parent.attr in _VIEWS and isinstance(parent.ctx, ast.Load)
        if isinstance(parent, ast.Subscript):
            return parent.value is node and isinstance(parent.ctx, ast.Load)
        if isinstance(parent, ast.Call):
            spreads = isinstance(parent.func, ast.Attribute) and parent.func.attr == "update"
            own = spreads and _is_own_dict(parent.func.value)  # type: ignore[attr-defined]
            reader = isinstance(parent.func, ast.Name) and parent.func.id in _READERS
            return own or (reader and parent.func.id not in self.bindings.rebound)  # type: ignore[attr-defined]
        if isinstance(parent, ast.keyword):
            return parent.arg is None
        if isinstance(parent, ast.Dict):  # {**PARAMS}
            return node in parent.values and parent.keys[parent.values.index(node)] is None
        if isinstance(parent, ast.IfExp | ast.If):
            return node is parent.test
        return isinstance(parent, ast.For | ast.comprehension | ast.Compare)

    def _argument(self, tree: ast.Module) -> tuple[ast.FunctionDef, str] | None:
        """Policy's constructor and its argument, where nobody but the host can call it."""
        classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == "Policy"]
        if len(classes) != 1 or classes[0].bases or classes[0].decorator_list:
            return None
        if not self._params and "PARAMS" in self.bindings.rebound:
            return None
        policy = classes[0]
        reads = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)} & {"__init__"}
        shares = {n.id for n in self._loads} & {"Policy", "classmethod", "__init__"}
        if reads or shares or len(self.bindings.rebound["Policy"]) != 1:
            return None
        found = [n for n in policy.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
        if len(found) != 1 or found[0].decorator_list or len(found[0].args.args) != 2:  # noqa: PLR2004
            return None
        name = found[0].args.args[1].arg
        stores = [
            n
            for n in ast.walk(found[0])
            if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
        ]
        return (found[0], name) if not stores and self._only_read(name, found[0]) else None


def _is_plain(key: ast.AST | None) -> bool:
    return isinstance(key, ast.Constant) and isinstance(key.value, str) and not key.value.startswith("__")


def _is_own_dict(value: ast.AST) -> bool:
    return isinstance(value, ast.Attribute) and value.attr == "__dict__"
