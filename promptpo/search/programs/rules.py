"""The grammar of decision lists with targets, and how search varies them.

    list   = rule ... fallback
    rule   = [stage] [condition [condition]] (target how act | act) [next stage]
    condition = number == value | number != value | number < number | number == number | some(row) | no(row)
    target = a place that the scene knows; how = nearest | sweep | first | beside
    act    = an action at the target, or nothing: being there is enough
    fallback = explore | an action

The first rule whose stage and conditions hold, and whose target is there, decides. Stages are memory: a rule may
want one and set another when its act is done.
"""

from __future__ import annotations

import json
import re
from dataclasses import astuple, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

    from promptpo.search.programs.scene import Scene

MOST_RULES = 7
MOST_CONDITIONS = 2
MOST_LIKELY = 4
"""So many targets, and values of a mode, are tried one after the other; what else there is comes by chance."""

HOWS = ("nearest", "sweep", "first", "beside")
EXPLORE = "explore"

Condition = tuple[str, str, Any]
"""(number, "==" or "!=", value), (number, "<" or "is", other number), (row, "some" or "no", "")."""

_LINE = re.compile(r"^ *# Rule: (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a decision list.

    Attributes:
        when: Conditions, all of which must hold.
        target: Where to go first; empty for nowhere.
        how: Which of several places, and whether to it or next to it.
        act: What to do there; None where being there is enough.
        stage: Needed stage of memory; None for any.
        then: Stage after the act; None leaves it.
    """

    when: tuple[Condition, ...] = ()
    target: str = ""
    how: str = "nearest"
    act: Any = None
    stage: int | None = None
    then: int | None = None

    @property
    def size(self) -> int:
        """How much there is to read."""
        return (
            1 + len(self.when) + (self.stage is not None) + (self.then is not None) + (self.how != "nearest")
        )


@dataclass(frozen=True, slots=True)
class DecisionList:
    """A program of the grammar."""

    rules: tuple[Rule, ...]
    fallback: Any = EXPLORE

    @property
    def size(self) -> int:
        """How much there is to read."""
        return sum(rule.size for rule in self.rules)


def line_of(part: Any) -> str:
    """A rule or a fallback as JSON, for a comment that `read_rules` understands."""
    told = list(astuple(part)) if isinstance(part, Rule) else part
    return json.dumps(told, default=int)  # numpy's whole numbers too


def read_rules(source: str) -> DecisionList | None:
    """The decision list that the comments of a program tell; None where they tell none."""
    rules: list[Rule] = []
    fallback: Any = None
    for found in _LINE.finditer(source):
        try:
            value = json.loads(found[1], object_hook=lambda _: None)
        except ValueError:
            continue
        if isinstance(value, list) and len(value) == len(fields(Rule)):
            rules.append(Rule(*_tuples(value)))
        elif not isinstance(value, list):
            fallback = value
    return DecisionList(tuple(rules), fallback) if rules and fallback is not None else None


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


class Grammar:
    """Writes and varies decision lists about one scene.

    Args:
        scene: What there is.
        rng: Decides everything random.
    """

    def __init__(self, scene: Scene, rng: random.Random) -> None:
        self.scene, self._rng = scene, rng
        self._moves = bool(scene.place) or scene.view is not None
        self._targets = {target.name for target in scene.targets}

    def fits(self, program: DecisionList) -> bool:
        """Whether all that a list speaks of is there."""
        numbers = {n.name for n in self.scene.numbers}
        rows = {row.name for row in self.scene.rows}
        return all(
            (not rule.target or rule.target in self._targets)
            and all(
                (name in rows if op in {"some", "no"} else name in numbers)
                and (op not in {"<", "is"} or value in numbers)
                for name, op, value in rule.when
            )
            for rule in program.rules
        )

    def first(self) -> Iterator[DecisionList]:
        """Lists to begin with: nothing but a fallback, then one target and one act each."""
        scene = self.scene
        fallbacks = [EXPLORE, *scene.acts[:1]] if self._moves else list(scene.actions)
        for fallback in fallbacks:
            yield DecisionList((), fallback)
        acts = [*scene.acts, None]
        for target in scene.targets:
            for act in acts:
                yield DecisionList((Rule(target=target.name, act=act),))

    def longer(self, best: DecisionList) -> Iterator[DecisionList]:
        """A list with one rule more: after its own for what they leave open, before them in some mode, before them."""
        scene = self.scene
        if len(best.rules) >= MOST_RULES:
            return
        likely = scene.targets[:MOST_LIKELY]
        aims = [(target.name, act) for target in likely for act in (*scene.acts, None)]
        modes = [
            (m.name, "==", v) for m in scene.modes if len(m.values) <= MOST_LIKELY for v in m.values[::-1]
        ]
        for target, act in aims:
            yield replace(best, rules=(*best.rules, Rule(target=target, act=act)))
        for mode in modes[: 2 * MOST_LIKELY]:
            for act in scene.acts if aims else scene.actions:
                yield replace(best, rules=(Rule((mode,), act=act), *best.rules))
            for target, act in aims:
                yield replace(best, rules=(Rule((mode,), target, act=act), *best.rules))
        for target, act in aims:
            yield replace(best, rules=(Rule(target=target, act=act), *best.rules))

    def random_rule(self) -> Rule:
        """Any rule, of the likely kinds more often."""
        rng, scene = self._rng, self.scene
        when: list[Condition] = []
        while len(when) < MOST_CONDITIONS and rng.random() < (0.6 if not when else 0.25):
            condition = self._condition()
            if condition is None or any(condition[0] == name for name, _, _ in when):
                break
            when.append(condition)
        acts = scene.acts or scene.actions
        if scene.targets and rng.random() < 0.75:  # noqa: PLR2004
            targets = scene.targets
            target = targets[
                min(int(rng.expovariate(0.5)), rng.randrange(len(targets)) + 2, len(targets) - 1)
            ]
            how = "nearest" if rng.random() < 0.7 else rng.choice(HOWS)  # noqa: PLR2004
            act = None if rng.random() < 0.2 else rng.choice(acts)  # noqa: PLR2004
            return Rule(tuple(when), target.name, how, act)
        if not when and (condition := self._condition()) is not None:
            when.append(condition)
        return Rule(tuple(when), "", "nearest", rng.choice(acts if self._moves else scene.actions))

    def _condition(self) -> Condition | None:
        rng, scene = self._rng, self.scene
        options: list[Condition] = []
        if scene.modes:
            mode = rng.choice(scene.modes)
            options += 2 * [(mode.name, rng.choice(("==", "==", "!=")), rng.choice(mode.values))]
        if scene.rows:
            options.append((rng.choice(scene.rows).name, rng.choice(("some", "no")), ""))
        if len(scene.numbers) > 1 and not self._moves:
            one, other = rng.sample(scene.numbers, 2)
            options += 2 * [(one.name, rng.choice(("<", "is")), other.name)]
        return rng.choice(options) if options else None

    def varied(self, parent: DecisionList, other: DecisionList) -> DecisionList:
        """A mutation of one list, or a crossover of two."""
        rng = self._rng
        rules = list(parent.rules)
        kind = rng.random()
        if kind < 0.2 and other.rules:  # noqa: PLR2004 - shares of the ways to vary
            cut = rng.randint(0, len(rules))
            rules = rules[:cut] + list(other.rules[rng.randint(0, len(other.rules) - 1) :])
        elif kind < 0.45 or not rules:  # noqa: PLR2004
            rules.insert(rng.randint(0, len(rules)), self.random_rule())
        elif kind < 0.55:  # noqa: PLR2004
            rules.pop(rng.randrange(len(rules)))
        elif kind < 0.62 and len(rules) > 1:  # noqa: PLR2004
            i, j = rng.sample(range(len(rules)), 2)
            rules[i], rules[j] = rules[j], rules[i]
        elif kind < 0.7:  # noqa: PLR2004
            rules = self._staged(rules)
        else:
            i = rng.randrange(len(rules))
            rules[i] = self._changed(rules[i])
        fallback = parent.fallback
        if rng.random() < 0.07:  # noqa: PLR2004
            fallback = rng.choice((EXPLORE, *self.scene.actions) if self._moves else self.scene.actions)
        unique = tuple(dict.fromkeys(rules))[:MOST_RULES]
        return DecisionList(unique, fallback)

    def _changed(self, rule: Rule) -> Rule:
        rng, scene = self._rng, self.scene
        what = rng.randrange(4)
        if what == 0 and rule.target:
            return replace(rule, act=rng.choice((None, *(scene.acts or scene.actions))))
        if what == 1 and rule.target:
            return replace(rule, target=rng.choice(scene.targets).name)
        if what == 2 and rule.target:  # noqa: PLR2004
            return replace(rule, how=rng.choice(HOWS))
        when = list(rule.when)
        if when and (len(when) == MOST_CONDITIONS or rng.random() < 0.5):  # noqa: PLR2004
            when.pop(rng.randrange(len(when)))
        condition = self._condition()
        if condition is not None and rng.random() < 0.8:  # noqa: PLR2004
            when = [one for one in when if one[0] != condition[0]] + [condition]
        return replace(rule, when=tuple(when[:MOST_CONDITIONS]))

    def _staged(self, rules: Sequence[Rule]) -> list[Rule]:
        """Two stages: one rule leads from the first to the second, another back; or none any more."""
        rng = self._rng
        plain = [replace(rule, stage=None, then=None) for rule in rules]
        acting = [i for i, rule in enumerate(plain) if rule.target]
        if len(acting) < 2 or plain != list(rules):  # noqa: PLR2004
            return plain
        i, j = rng.sample(acting, 2)
        plain[i] = replace(plain[i], stage=0, then=1)
        plain[j] = replace(plain[j], stage=1, then=0)
        return plain
