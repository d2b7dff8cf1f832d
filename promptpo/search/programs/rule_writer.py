"""Decision lists as policy modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptpo.search.programs.genome import Genome
from promptpo.search.programs.library import render_module
from promptpo.search.programs.rules import EXPLORE, line_of

if TYPE_CHECKING:
    from promptpo.search.programs.rules import Condition, DecisionList, Rule
    from promptpo.search.programs.scene import Scene

INDENT = " " * 8


def write_decisions(program: DecisionList, scene: Scene, variant: int = 0) -> str:
    """A policy module for a decision list about a scene."""
    used: set[str] = {rule.target for rule in program.rules}
    if "any_flag" in used:
        used |= {
            target.name for target in scene.targets if f"goals_{target.name}(" in _code_of("any_flag", scene)
        }
    staged = any(rule.stage is not None or rule.then is not None for rule in program.rules)
    context = {
        "decision": _decision(program, scene),
        "staged": staged,
        "moves": dict(scene.moves),
        "sizes": scene.sizes,
        "lows": scene.lows,
        "place": scene.place,
        "targets": [target for target in scene.targets if target.name in used],
        "solid": scene.solid,
        "hides": scene.hides,
    }
    template = "places" if scene.place else "decisions"
    if scene.view is not None and scene.board is not None:
        template = "views"
        context |= {"view": scene.view, "turns": dict(scene.view.turns), "board": scene.board.code}
        context |= {"rows": scene.board.shape[0], "columns": scene.board.shape[1]}
    return render_module(Genome("agent", (), variant), template, context)


def _code_of(name: str, scene: Scene) -> str:
    return next((target.code for target in scene.targets if target.name == name), "")


def _decision(program: DecisionList, scene: Scene) -> str:
    names = {name for rule in program.rules for name, op, _ in rule.when if op not in {"some", "no"}}
    names |= {value for rule in program.rules for _, op, value in rule.when if op in {"<", "is"}}
    rows = {name for rule in program.rules for name, op, _ in rule.when if op in {"some", "no"}}
    lines = [f"{n.name} = {n.code}" for n in scene.numbers if n.name in names]
    lines += [f"some_{row.name} = bool(np.any({row.code}))" for row in scene.rows if row.name in rows]
    for rule in program.rules:
        lines.append(f"# Rule: {line_of(rule)}")
        lines += _seen_rule(rule, scene) if scene.view is not None else _rule(rule, hides=scene.hides)
    lines.append(f"# Rule: {line_of(program.fallback)}")
    if program.fallback == EXPLORE and scene.view is not None:
        lines.append("return self.explore()")
    elif program.fallback == EXPLORE and scene.place:
        lines.append("return self.explore(obs, here)")
    else:
        lines.append(f"return {program.fallback!r}")
    return "\n".join(f"{INDENT}{line}" for line in lines)


def _rule(rule: Rule, *, hides: bool = False) -> list[str]:
    terms = [] if rule.stage is None else [f"self.stage == {rule.stage}"]
    terms += map(_term, rule.when)
    then = [] if rule.then is None else [f"self.stage = {rule.then}"]
    if not rule.target:
        act = [*then, f"return {rule.act!r}"]
        return [f"if {' and '.join(terms)}:", *(f"    {line}" for line in act)] if terms else act
    lines = [f"goals = goals_{rule.target}(obs)"]
    if hides:
        lines = [f'goals = self.uncovered("{rule.target}", goals_{rule.target}(obs), here)']
    if rule.how == "sweep":
        lines.append("goals = self.ahead(here, goals)")
    elif rule.how == "first":
        lines.append("goals = sorted(goals)[:1]")
    beside = rule.how == "beside"
    there = "any(distance(here, g) == 1 for g in goals)" if beside else "here in goals"
    go = f"return self.towards(obs, here, goals{', beside=True' if beside else ''})"
    lines.append(f"if {' and '.join([*terms, 'goals'])}:")
    if rule.act is not None:
        return [
            *lines,
            f"    if {there}:",
            *(f"        {line}" for line in [*then, f"return {rule.act!r}"]),
            f"    {go}",
        ]
    return [
        *lines,
        f"    if not ({there}):" if beside else "    if here not in goals:",
        f"        {go}",
        *(f"    {line}" for line in then),
    ]


def _seen_rule(rule: Rule, scene: Scene) -> list[str]:
    """The same on a map: a thing is faced to act on it, and entered where there is no act."""
    if not rule.target:
        return _rule(rule)
    terms = [] if rule.stage is None else [f"self.stage == {rule.stage}"]
    terms += map(_term, rule.when)
    then = [] if rule.then is None else [f"self.stage = {rule.then}"]
    lines = [f"goals = {_code_of(rule.target, scene)}"]
    lines.append(f"if {' and '.join([*terms, 'goals'])}:")
    if rule.act is not None:
        lines += [
            "    if self.ahead() in goals:",
            *(f"        {one}" for one in [*then, f"return {rule.act!r}"]),
        ]
    onto = ", onto=True" if rule.act is None else ""
    lines += [
        f"    action = self.towards(goals{onto})",
        "    if action is not None:",
        "        return action",
    ]
    return [*lines, *(f"    {one}" for one in then if rule.act is None)]


def _term(condition: Condition) -> str:
    name, op, value = condition
    if op in {"some", "no"}:
        return f"some_{name}" if op == "some" else f"not some_{name}"
    return f"{name} {'==' if op == 'is' else op} {value!s}"
