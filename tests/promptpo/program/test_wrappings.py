"""Extracting a known policy from all kinds of answers: it comes out unchanged or not at all."""

from __future__ import annotations

import itertools
import json
import re
import textwrap

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from promptpo.program import Program
from promptpo.program.answers import extract_program
from promptpo.program.confined import answers as confined

PLAIN = '''import numpy as np


class Policy:
    """Lean into the fall."""

    def act(self, obs):
        return 1 if obs[2] + 0.4 * obs[3] > 0 else 0
'''
TAGS_INSIDE = '''"""A <think>short</think> rule; </answer> and [THINK] and <|channel|>final<|message|> are text."""
import numpy as np

GAIN = 0.4
CLOSE = "</think>"


class Policy:
    """Lean. The <think> tag is not used here."""

    def __init__(self):
        self.label = "<thought>" + CLOSE  # <think> no more

    def act(self, obs):
        return 1 if obs[2] + GAIN * obs[3] > 0 else 0
'''
FENCES_INSIDE = '''import numpy as np

NOTE = """
```python
class Policy: pass
```
"""


class Policy:
    """Lean.

    ```
    push = lean > 0
    ```
    """

    # ``` is a mark, and so is
    # ```python
    def act(self, obs):
        x = "```"
        return 1 if obs[2] + 0.4 * obs[3] > 0 else len(x) - 3
'''
ASSIGNED = """from __future__ import annotations

PARAMS = {
    "kp": (0.4, 0.0, 1.0),
}


@staticmethod
def _lean(obs, kp):
    return obs[2] + kp * obs[3]


class Policy:
    def __init__(self, params):
        self.kp = params["kp"]

    def act(self, obs):
        return 1 if _lean(obs, self.kp) > 0 else 0


def _helper():
    return None
"""
POLICIES = [PLAIN, TAGS_INSIDE, FENCES_INSIDE, ASSIGNED]
DIGESTS = {policy: Program.from_source(policy).digest for policy in POLICIES}

PROSE = [
    "", "I push where it leans.", "from the log I see that it falls.", "Done.", "Done", "class Policy is below:", "It isn't a pole's fault",
    "The rule is:\n   * lean right: push right\n   * lean left: push left", "**Policy**", "# Policy", "x = the angle", "this is good",
    "Note: good", 'It said "fine.', "a < b and c > d", "(see above", "1. first\n2. second", "if the pole leans:\n   push", "import the following:",
    "`<think>` is a tag", "It pushes.\n\n   * it isn't hard\n   * (see above",  "```python\nprint(1)\n```", "```bash\npip install numpy\n```", "Use it:\n```python\nfrom policy import Policy\npolicy = Policy()\n```",
]  # fmt: skip

NAMES = [
    "think", "THINK", "thinking", "thought", "Thoughts", "reasoning", "reason", "seed:think", "antThinking", "reflection", "scratchpad", "analysis",
    "inner_monologue", "chain_of_thought", "draft", "planning", "rethink",
]  # fmt: skip


def draft_of(policy: str) -> str:
    """Return the policy with a different gain."""
    return policy.replace("0.4", "9.9")


def _reasoning(name: str, inner: str, form: int) -> str:
    return [
        f"<{name}>{inner}</{name}>",
        f"<{name}>\n{inner}\n</{name}>\n",
        f'<{name} duration="3">\n{inner}\n</{name}>\n',
        f"[{name.upper().replace(':', '')}]{inner}[/{name.upper().replace(':', '')}]",
        f"◁{name.replace(':', '_')}▷{inner}◁/{name.replace(':', '_')}▷",
        f"<|begin_of_{name}|>{inner}<|end_of_{name}|>\n",
        f"<|START_{name.upper()}|>{inner}<|END_{name.upper()}|>",
        f"{inner}\n</{name}>\n",
        f"<{name}>\na <{name}>b</{name}> {inner} </{name}>\n",
        f'<details type="reasoning">\n{inner}\n</details>\n',
        f"<|channel|>analysis<|message|>{inner}<|end|><|start|>assistant<|channel|>final<|message|>",
        f"{inner}<|end|><|start|>assistant<|channel|>final<|message|>",
        f"analysisWe could\n{inner}\nassistantfinal",
        f"<|channel>thought\n{inner}<channel|>",
    ][form]


REASONING_FORMS = 14


def _fenced(policy: str, mark: str, label: str) -> str:
    return f"{mark}{label}\n{policy}{mark}"


PLACES = {
    "fence": lambda code: _fenced(code, "```", "python"),
    "label": lambda code: _fenced(code, "```", "tool_code"),
    "title": lambda code: _fenced(code, "```", 'python title="policy.py"'),
    "file": lambda code: _fenced(code, "```", "policy.py"),
    "tildes": lambda code: _fenced(code, "~~~", "py"),
    "four": lambda code: _fenced(code, "````", ""),
    "nested": lambda code: f"````markdown\n# Policy\n{_fenced(code, '```', 'python')}\n````",
    "nested same": lambda code: f"```markdown\n# Policy\n{_fenced(code, '```', 'python')}\n```",
    "unclosed": lambda code: f"```python\n{code}",
    "inline close": lambda code: f"```python\n{code.rstrip()}```",
    "behind prose": lambda code: f"Here is the code: {_fenced(code, '```', 'python')}",
    "same line": lambda code: f"```python {code}```",
    "no label": lambda code: f"```{code}```",
    "list": lambda code: f"1. {_fenced(code, '```', 'python')}",
    "list indented": lambda code: "- " + textwrap.indent(_fenced(code, "```", "python"), "  ").lstrip(),
    "deep list": lambda code: "1. It is:\n\n" + textwrap.indent(_fenced(code, "```", "python"), "   "),
    "quote": lambda code: re.sub("^", "> ", _fenced(code, "```", "python"), flags=re.MULTILINE),
    "session": lambda code: _fenced(re.sub("^(?!\\Z)", ">>> ", code, flags=re.MULTILINE), "```", "pycon"),
    "tokens": lambda code: f"{_fenced(code, '```', 'py')}<end_code>",
    "end": lambda code: f"{_fenced(code, '```', 'python')}</s>",
    "spaced end": lambda code: f"{_fenced(code, '```', 'python')} <|im_end|>",
    "bare": lambda code: f"\n{code}",
    "bare end": lambda code: f"\n{code.rstrip()}<|return|>",
    "answer": lambda code: f"<answer>\n{code}</answer>",
    "answer fenced": lambda code: f"<answer>\n{_fenced(code, '```', 'python')}\n</answer>",
    "answer tight": lambda code: f"<answer>{code.rstrip()}</answer>",
    "code tag": lambda code: f"Thought: lean\nCode:\n<code>\n{code}</code>",
    "unknown tag": lambda code: f"<lean_right>\n{code}</lean_right>",
    "merge": lambda code: f"<<<<<<< SEARCH\n=======\n{code}>>>>>>> REPLACE",
    "json": lambda code: json.dumps({"thought": f"```\n{draft_of(code)}```", "code": code}),
    "json fenced": lambda code: _fenced(json.dumps({"analysis": draft_of(code), "a": [{"code": code}]}) + "\n", "```", "json"),
    "half JSON": lambda code: json.dumps(_fenced(code, "```", "python"))[1:-1],
}  # fmt: skip

LETTERS = {
    "plain": lambda code: code,
    "windows": lambda code: code.replace("\n", "\r\n"),
    "mac": lambda code: code.replace("\n", "\r"),
    "tabs": lambda code: code.replace("    ", "\t"),
    "no-break": lambda code: code.replace("    ", "\u00a0 " * 2),
    "some no-break": lambda code: code.replace("    def", "\u00a0\u00a0\u00a0\u00a0def"),
    "ideographic": lambda code: code.replace("    ", "\u3000\u3000"),
    "zero width": lambda code: code.replace("import", "import\u200b").replace("def", "\u2060def"),
    "mark": lambda code: "\ufeff" + code,
    "coloured": lambda code: code.replace("return", "\x1b[1;32mreturn\x1b[0m"),
    "separator": lambda code: code.replace('"""\n', '"""\u2028\n'),
    "escaped": lambda code: code.replace("<", "&lt;").replace(">", "&gt;"),
}


@st.composite
def wrapped(draw: st.DrawFn) -> tuple[str, str]:
    """An answer and its final policy, preceded by drafts."""
    policy, draft = draw(st.sampled_from(POLICIES)), draft_of(draw(st.sampled_from(POLICIES)))
    place = draw(st.sampled_from(list(PLACES)))
    code = LETTERS[draw(st.sampled_from(list(LETTERS)))](policy)
    parts = [PLACES[place](code)]
    behind = draw(st.sampled_from(PROSE)) if place not in ("unclosed", "json", "half JSON") else ""
    parts.append(f"\n\n{behind}")
    for _ in range(draw(st.integers(0, 2))):
        inner = PLACES[draw(st.sampled_from(list(PLACES)))](draft)
        inner = draw(st.sampled_from(PROSE)) + "\n" + inner + "\n" + draw(st.sampled_from(PROSE))
        parts.insert(
            0, _reasoning(draw(st.sampled_from(NAMES)), inner, draw(st.integers(0, REASONING_FORMS - 1)))
        )
    parts.insert(0, draw(st.sampled_from(["", "I begin.\n\n"])))
    return policy, "".join(parts)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(wrapped())
def test_policy_is_extracted_unchanged_or_not_at_all(answer: tuple[str, str]) -> None:
    """A draft, a fragment or a mixture with prose must never be used."""
    policy, text = answer
    source, problem, _ = confined.cut_out_program(text, "Policy", False)
    if not problem and Program.from_source(source).is_python:
        assert Program.from_source(source).digest == DIGESTS[policy]


@pytest.mark.parametrize("place", PLACES)
def test_each_place_and_character_variant_is_parsed(place: str) -> None:
    """Each alone gives the policy; combinations give it or none."""
    for letters, policy in itertools.product(LETTERS, POLICIES):
        source, problem, _ = confined.cut_out_program(
            PLACES[place](LETTERS[letters](policy)), "Policy", False
        )
        same = not problem and Program.from_source(source).digest == DIGESTS[policy]
        if letters == "plain" or place == "fence":
            assert same, (letters, problem, source)
        assert same or problem or not Program.from_source(source).is_python, (letters, source)


@pytest.mark.parametrize("name", NAMES)
def test_reasoning_is_never_extracted(name: str) -> None:
    """A draft in it is no answer and hides none. Each name meets each form and place."""
    places = ["fence", "bare", "unclosed", "inline close", "answer"]
    for form in range(REASONING_FORMS):
        place = places[(form + NAMES.index(name)) % len(places)]
        reasoning = _reasoning(name, f"Perhaps\n{PLACES[place](draft_of(PLAIN))}\nor not.", form)
        source, problem, _ = confined.cut_out_program(reasoning, "Policy", False)
        assert problem in ("empty", "no_code"), (form, place, source)
        for final in ("bare", "fence"):
            source, problem, _ = confined.cut_out_program(reasoning + PLACES[final](PLAIN), "Policy", False)
            assert problem is None, (form, place, final)
            assert Program.from_source(source).digest == DIGESTS[PLAIN], (form, place, final)


def test_only_the_provider_marks_an_answer_as_cut() -> None:
    """An unclosed fence does not suffice."""
    assert extract_program("```python\nprint(1)").problem == "no_code"
    assert extract_program("```python\nprint(1)", cut=True).problem == "cut"


@pytest.mark.parametrize("place", ["unclosed", "bare"])
def test_truncated_program_is_not_used(place: str) -> None:
    """It may parse by chance; an earlier complete program is used."""
    for length in range(len(PLAIN) - 60, len(PLAIN)):
        text = PLACES[place](PLAIN)[:length]
        assert extract_program(text, cut=True).problem == "cut"
    parsed = extract_program(f"```python\n{PLAIN}```\nIt pushes where it le", cut=True)
    assert Program.from_source(parsed.source).digest == DIGESTS[PLAIN]
    both = f"```python\n{draft_of(PLAIN)}```\nBetter:\n```python\nclass Policy:\n    def act(self, obs):\n        ret"
    assert extract_program(both, cut=True).problem == "cut"


def test_module_split_over_fences_is_joined() -> None:
    """Models sometimes split a module; a draft of the class is never mixed in."""
    text = "```python\nimport numpy as np\nGAIN = 0.4\n```\nand the class:\n```python\nclass Policy:\n    def act(self, obs):\n        return np.sign(GAIN)\n```"
    assert Program.from_source(extract_program(text).source).names == {"np", "GAIN", "Policy"}
