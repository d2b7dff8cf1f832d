"""The reward of an environment as Python, found in its source."""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from promptpo.spec.folding import folded
from promptpo.spec.parts import RewardCode
from promptpo.spec.simplify import simplified
from promptpo.spec.slicing import MOVED, sliced
from promptpo.spec.source import SIMULATORS, Method, Source, first_line, module_function

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    import gymnasium

AFTER = " after the step"
"""Behind what explains a local variable by an attribute that holds it later."""

MARK = "  # the environment moves on here"

DEPTH = 5
REWARD, ENDED = 1, 2
"""Where the reward and the end stand in what ``step`` returns."""

ENDING = "terminated"
"""The function of a spec that says whether the environment ends an episode."""


def reward_code(env: gymnasium.Env[Any, Any], *, max_chars: int) -> RewardCode | None:
    """Show how the reward follows from state and action.

    Starts from the class's ``step``, keeps what the reward depends on, and adds the methods and
    functions that this calls, constants resolved, as far as they fit.

    Args:
        env: Any environment; its unwrapped class is read.
        max_chars: Room for the functions; those that do not fit are named only.

    Returns:
        None where the source cannot be read, or the reward cannot be told from the dynamics.
    """
    source = Source(env.unwrapped)
    step = next((m for m in source.methods("step") if not _passes_reward_on(m.node)), None)
    if step is None:
        return None
    if step.module.__name__ in SIMULATORS:
        words = {"goal": 'next_obs["desired_goal"]', "achieved_goal": 'next_obs["achieved_goal"]'}
        entry = next(
            (m for n in ("evaluate_state", "_reward", "compute_reward") if (m := source.method(n))), None
        )
        if entry is None:
            return None
        goal_aware = {"achieved_goal", "goal"} <= {arg.arg for arg in entry.node.args.args}
        collector = _Collector(source, max_chars, words=words if goal_aware else {})
        return collector.collect(entry, {0} if entry.node.name == "evaluate_state" else None)
    return _Collector(source, max_chars).collect(step, {REWARD}, is_step=True)


def ending_code(env: gymnasium.Env[Any, Any], *, max_chars: int) -> RewardCode | None:
    """Show what the environment ends an episode by, wherever its ``step`` says so: under an ``if``, or where it returns.

    Args:
        env: Any environment; its unwrapped class is read.
        max_chars: Room for the functions.

    Returns:
        None where that cannot be told from the dynamics, and where it never ends one.
    """
    source = Source(env.unwrapped)
    step = next((m for m in source.methods("step") if not _passes_reward_on(m.node)), None)
    if step is None or step.module.__name__ in SIMULATORS:
        return None
    code = _Collector(source, max_chars, name=ENDING).collect(step, {ENDED}, is_step=True)
    if code is None or re.search(r"^    return (False|None)$", code.functions[0], re.MULTILINE):
        return None
    head, _, body = code.functions[0].partition("\n")
    if not re.search(r"\baction\b", body):
        head = head.replace("(action)", "()")
    code = RewardCode([f"{head}\n{body}", *code.functions[1:]], code.words)
    called = set(re.findall(r"(?<![\w.])(\w+)\(", "\n".join(code.functions)))
    told = {name for text in code.functions for name in re.findall(r"^def (\w+)\(", text)}
    return code if called <= told | set(dir(builtins)) | set(code.words) else None


def _passes_reward_on(step: ast.FunctionDef) -> bool:
    """Whether a ``step`` returns the reward that it got from ``super().step`` as it is."""
    given: set[str] = set()
    for node in ast.walk(step):
        if not isinstance(node, ast.Assign | ast.Return) or node.value is None:
            continue
        if ast.unparse(node.value).startswith("super().step("):
            if isinstance(node, ast.Return):
                return True
            target = node.targets[0]
            given = {ast.unparse(target.elts[REWARD])} if isinstance(target, ast.Tuple) else set()
    stored = [n.id for n in ast.walk(step) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    returned = {
        ast.unparse(node.value.elts[REWARD])
        for node in ast.walk(step)
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple)
    }
    return bool(given) and returned == given and stored.count(*given) == 1


def with_values(text: str, env: gymnasium.Env[Any, Any]) -> str:
    """Prose followed by the values of the parameters that it names: "reset_noise_scale = 0.1".

    What the prose says of their defaults goes, and so does a condition that holds: "If terminate_when_unhealthy is True, ".
    """
    source = Source(env.unwrapped)
    found: dict[str, Any] = {}
    for name in dict.fromkeys(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text)):
        for attribute in (f"_{name}", name):
            with contextlib.suppress(LookupError):
                value = source.constant(attribute)
                if not isinstance(value, dict | str):
                    found[name] = tuple(value) if isinstance(value, list) else value
                    break
    return resolved(text, found)


def resolved(text: str, values: Mapping[str, Any]) -> str:
    """Prose with the values of its parameters behind it, without what it says of their defaults and of conditions that hold."""
    for name, value in values.items():
        text = re.sub(rf"\bIf `?{name}`?(?: is |==?){value}, *(\w)", lambda m: m[1].upper(), text)
        text = re.sub(
            rf"(\b{name}`?)\s*\(defaults?(?: is| to|:|=)?\s[^()]*\)", r"\1", text, flags=re.IGNORECASE
        )
    return "\n".join([text, *(f"{name} = {value}" for name, value in values.items() if name in text)])


@dataclass
class _Collector:
    """Gathers the functions that a reward is made of, the outermost first."""

    source: Source
    max_chars: int
    functions: dict[str, str] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    name: str = "reward"

    def collect(self, entry: Method, wanted: set[int] | None, *, is_step: bool = False) -> RewardCode | None:
        queue: list[tuple[Method, set[int] | None, int]] = [(entry, wanted, 0)]
        name = entry.node.name
        while queue:
            method, elements, depth = queue.pop(0)
            if method.node.name in self.functions:
                continue
            first = not self.functions
            piece = sliced(folded(method, self.source), elements, is_step=is_step and first)
            if piece is None:
                if first:
                    return None
                self.words[method.node.name] = method.summary
                continue
            function, calls = self._cleaned(piece.function, method.module)
            if not all(piece.state.values()):  # names that nobody could explain
                return None
            self.words |= {
                name: f"{stored.replace('self.', 'env.')}{AFTER}" for name, stored in piece.state.items()
            }
            text = _text(function, entry=first)
            if not first and len(text) + sum(map(len, self.functions.values())) > self.max_chars:
                self.words[method.node.name] = method.summary
                continue
            self.functions[method.node.name] = text
            if depth < DEPTH:
                queue += [(called, picked, depth + 1) for called, picked in calls]
        return self._result(name)

    def _result(self, entry: str) -> RewardCode | None:
        texts = list(self.functions.values())
        if not texts or len(texts[0]) > self.max_chars:
            return None
        for name in _shadowed(texts):
            texts = [re.sub(rf"\b{name}\(", f"get_{name}(", text) for text in texts]
        texts = _shorter(texts)
        shown = "\n\n".join(texts)
        words = {
            name: text
            for name, text in self.words.items()
            if text and name not in self.functions and re.search(rf"\b{name}\b", shown)
        }
        texts[0] = re.sub(rf"^def {entry}\(", f"def {self.name}(", texts[0])
        return RewardCode(texts, words)

    def _cleaned(self, function: ast.FunctionDef, module: ModuleType) -> tuple[ast.FunctionDef, list[Any]]:
        """The function without ``self``, and what it calls with the elements of the results it uses."""
        calls: list[tuple[Method, set[int] | None]] = []
        unpacked = _unpacked(function)
        for node in ast.walk(function):
            name = _self_attribute(node) or self._static(node)
            if name is not None:
                method = self.source.method(name)
                if method is not None and method.module.__name__ not in SIMULATORS:
                    calls.append((method, unpacked.get(name)))
                elif method is not None:
                    inherited = name.startswith("_") and "reward" in name
                    if inherited:
                        calls.append((method, unpacked.get(name)))
                    self.words[name] = method.summary
            elif isinstance(node, ast.Call):
                self._foreign(node, module, calls)
        shown = {method.node.name: method.is_property for method, _ in calls}
        cleaned = _AsFunctions(shown).visit(function)
        return ast.fix_missing_locations(cleaned), calls

    def _static(self, node: ast.AST) -> str | None:
        """The method's name in ``ClassName.method``."""
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
            return None
        classes = {cls.__name__ for cls in type(self.source.env).__mro__}
        return node.attr if node.value.id in classes else None

    def _foreign(self, node: ast.Call, module: ModuleType, calls: list[Any]) -> None:
        """A function of the environment's module, or one that it imports."""
        if isinstance(node.func, ast.Name) and node.func.id in vars(module):
            target = vars(module)[node.func.id]
            own = module_function(module, node.func.id)
            if own is not None:
                calls.append((own, None))
            elif getattr(target, "__module__", "").split(".")[0] == module.__name__.split(".")[0]:
                self.words[node.func.id] = first_line(target.__doc__)
        elif isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name):
            owner = vars(module).get(node.func.value.id)
            package = getattr(owner, "__package__", None) or ""
            if package.split(".")[0] == module.__name__.split(".")[0]:
                self.words[node.func.attr] = first_line(getattr(owner, node.func.attr).__doc__)
                node.func = ast.Name(node.func.attr, ast.Load())


def _self_attribute(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return node.attr
    return None


def _unpacked(function: ast.FunctionDef) -> dict[str, set[int]]:
    """Method name to the elements of its result that are used: ``a, _, c = self.f()``."""
    used = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    found: dict[str, set[int]] = {}
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        name, target = _self_attribute(node.value.func), node.targets[0]
        if name is None or not isinstance(target, ast.Tuple):
            continue
        picked = {i for i, item in enumerate(target.elts) if isinstance(item, ast.Name) and item.id in used}
        found[name] = picked
        kept = [item for i, item in enumerate(target.elts) if i in picked]
        node.targets[0] = kept[0] if len(kept) == 1 else ast.Tuple(kept, ast.Store())
    return found


class _AsFunctions(ast.NodeTransformer):
    """Methods become functions, attributes of the environment become ``env.name``."""

    def __init__(self, shown: dict[str, bool]) -> None:
        self._shown = shown

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.decorator_list, node.returns = [], None
        arguments = node.args
        arguments.posonlyargs, arguments.defaults = [], list(arguments.defaults)
        arguments.args = [ast.arg(item.arg) for item in arguments.args if item.arg != "self"]
        used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        while arguments.defaults and arguments.args[-1].arg not in used:
            arguments.args.pop()
            arguments.defaults.pop()
        node.body = [s for s in node.body if not _is_docstring(s)] or [ast.Pass()]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        name = _self_attribute(node)
        if name is None and isinstance(node.value, ast.Name) and node.value.id[:1].isupper():
            name = node.attr if node.attr in self._shown else None
        if name is None:
            return self.generic_visit(node)
        if name in self._shown:
            function = ast.Name(name, ast.Load())
            return ast.Call(function, [], []) if self._shown[name] else function
        return ast.Attribute(ast.Name("env", ast.Load()), name, node.ctx)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value) if node.value else ast.Pass()


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _text(function: ast.FunctionDef, *, entry: bool) -> str:
    if entry:
        names = {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}
        parameters = [arg.arg for arg in function.args.args]
        extra = ["next_obs"] if "next_obs" in names and "next_obs" not in parameters else []
        function.args.args = [ast.arg(name) for name in (*parameters, *extra)]
    text = ast.unparse(function)
    return re.sub(rf"^( *){MOVED}$", rf"\1...{MARK}", text, flags=re.MULTILINE)


def _shorter(texts: list[str]) -> list[str]:
    """The functions with less ado, and the mark where the environment moves on."""
    functions = [node for text in texts for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    shorter = [ast.unparse(function) for function in simplified(functions)]
    return [re.sub(r"^( *)\.\.\.$", rf"\1...{MARK}", text, flags=re.MULTILINE) for text in shorter]


def _shadowed(texts: list[str]) -> list[str]:
    """Functions that another one calls while it has a variable of the same name."""
    names = [match[1] for text in texts if (match := re.match(r"def (\w+)", text))]
    return [n for n in names if any(re.search(rf"^\s+{n} = .*\b{n}\(", text, re.MULTILINE) for text in texts)]
