"""`Program`: facts about a source without running it, and rewriting that preserves behaviour."""

import ast
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from promptpo.program import Program
from promptpo.program.answers import extract_program

FULL = '''# A comment first.
"""Push along the velocity."""; import math
import numpy as np

PARAMS = {"kp": (1.2, 0.0, 5.0)}
TABLE = {0: 1}
ACTIONS = (0, 1)


def helper(x):
    inner = x
    return inner


class Base:
    def __init__(self, params):
        self.kp = params["kp"]

    def reset(self):
        self.t = 0


class Pusher(Base):
    def act(self, obs):
        return helper(self.kp * obs[1])


Policy = Pusher
'''

HUGE = "0x" + "f" * 5000
"""An integer that Python parses but refuses to print."""

RECORDED = sorted((Path(__file__).parents[2] / "recordings").glob("*/*.md"))


def exercise(program: Any) -> Any:
    """Use everything that a program offers."""
    _ = program.digest, program.is_python, program.names, program.reads, program.contract
    _ = program.params, program.values, program.table, program.actions, program.docstring
    _ = program.constant("DISCOUNT"), program.without_docstring
    for name in program.names:
        program.rename_to_unused(name)
    return [
        program.with_values(dict.fromkeys(program.params, 1.5)),
        program.with_table({1: 2}),
    ]


def test_facts_are_read_from_the_source() -> None:
    program = Program.from_source(FULL)
    assert program.docstring == "Push along the velocity."
    assert program.names == {"math", "np", "PARAMS", "TABLE", "ACTIONS", "helper", "Base", "Pusher", "Policy"}
    assert program.params == {"kp": (1.2, 0.0, 5.0)}
    assert program.values == {"kp": 1.2}
    assert (program.table, program.actions) == ({0: 1}, (0, 1))
    assert (program.contract.takes_params, program.contract.resets) == (None, None)  # only running can tell
    assert Program.from_source(FULL) is program
    assert Program(FULL) == program


def test_only_the_docstring_is_removed() -> None:
    """Code on the same line stays."""
    assert Program(FULL).without_docstring.splitlines()[:2] == ["# A comment first.", "import math"]
    assert Program("x = 1\n").without_docstring == "x = 1\n"
    assert Program("('d') ; x = 1\n").without_docstring == "x = 1\n"


def test_invalid_python_has_a_digest_only() -> None:
    """A rejected answer is still a candidate."""
    program = Program("class Policy(")
    assert not program.is_python
    assert program.values is None
    assert program.names == frozenset()
    assert program.contract.takes_params is None
    assert exercise(program) == [program] * 2
    assert program.digest != Program("class Policy((").digest


@pytest.mark.parametrize(
    ("head", "takes", "resets"),
    [
        ("class Policy:\n    pass", False, False),
        ("class Policy(object):\n    def __init__(self): pass", False, False),
        ("class Policy:\n    def __init__(self, *args): pass", True, False),
        ("class Policy:\n    def reset(self, seed): pass", False, False),
        ("class Policy(abc.ABC):\n    pass", None, None),
        ("@dataclass\nclass Policy:\n    t: int = 0", None, None),
        ("class A:\n    def __init__(self, p): pass\nclass Policy(A):\n    pass", None, None),
        ("if x:\n    class Policy:\n        pass", None, None),
        ("Policy = make()", None, None),
        ("Policy = A\nA = Policy", None, None),
    ],
)
def test_contract_of_the_policy_class(head: str, takes: bool | None, resets: bool | None) -> None:
    """None means that only running the module can tell."""
    contract = Program(head + "\n").contract
    assert (contract.takes_params, contract.resets) == (takes, resets)


SNIPPETS = [
    "PARAMS = ", "TABLE = ", "ACTIONS = ", "{", "}", "(", ")", "[", "]", ":", ",", "\n", "    ", "'kp'", "1.5",
    "-2", "None", "class Policy", "class Policy:\n", "    def act(self, obs):\n", "        return 0.5\n",
    "def __init__(self, params)", "import numpy as np\n", '"""doc"""', ";", "#x\n", "\r", "\f",
    "global act\n", "\x00", "\ud800", "é", HUGE, "1e999", "1j", "lambda act: act", "f'{act}'", "act", " = ", "*a",
    "match act:\n", "    case 0.5: pass\n", "try:\n", "except E as act: pass\n", "<think>", "</think>", "```python\n",
    "```\n", "~~~\n",
]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(SNIPPETS) | st.text(max_size=4), max_size=25).map("".join))
def test_any_text_can_be_exercised(text: Any) -> None:
    for program in exercise(Program(text)):
        assert program.is_python == Program(text).is_python
    answer = extract_program(text)
    assert bool(answer.source) != bool(answer.problem)
    answer.source.encode()
    exercise(Program(answer.source))


@pytest.mark.parametrize("name", ["PARAMS", "TABLE", "ACTIONS"])
@pytest.mark.parametrize(
    "value", ["{'a': HUGE}", "{HUGE: 1}", "{1: HUGE}", "(HUGE, 1)", "{0: [1]}", "([0], [1])"]
)
def test_huge_integers_are_ignored(name: str, value: str) -> None:
    """Python refuses to print them."""
    text = f"{name} = {value}\n\n\nclass Policy:\n    def act(self, obs):\n        return 0.5 + HUGE\n"
    program = Program(text.replace("HUGE", HUGE))
    assert program.is_python
    assert len(program.digest) == 20
    assert not program.params
    exercise(program)


def test_digest_distinguishes_huge_integers() -> None:
    assert Program(f"x = {HUGE}\n").digest != Program(f"x = {HUGE[:-1]}e\n").digest


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_values_are_rewritten_with_any_line_ending(end: str) -> None:
    text = 'x = """a\nb"""\nPARAMS = {"kp": (1.0, 0.0, 5.0)}\ny = 2\n'.replace("\n", end)
    assert Program(text).with_values({"kp": 3.5}).source == text.replace("(1.0", "(3.5")


def test_invalid_escapes_cause_no_warnings(recwarn: pytest.WarningsRecorder) -> None:
    assert Program('"""\\d"""\nx = "\\w"\n').is_python
    assert not recwarn.list


def test_lone_surrogates_are_escaped() -> None:
    """No file can hold them."""
    answer = extract_program(
        '```python\n"""\ud800"""\nclass Policy:\n    def act(self, obs):\n        return 0\n```\n\udfff'
    )
    answer.source.encode()
    answer.prose.encode()
    assert answer.problem is None
    assert Program(answer.source).docstring == r"\ud800"


@pytest.mark.parametrize(
    "text",
    [
        "<think>" * 60_000,
        "<think>a</thinking>" * 30_000,
        "<think><reasoning>" * 30_000 + "</reasoning>" * 30_000,
        "`" * 200_000 + "x" + "`" * 199_999,
        "```\n````\n" * 40_000,
        "~~~\n" * 100_001,
        json.dumps({"a": "x\n" * 50_000}),
    ],
    ids=["open", "crossed", "nested", "marks", "fences", "tildes", "json"],
)
@pytest.mark.timeout(20)
def test_extraction_takes_linear_time(text: Any) -> None:
    """Guards against quadratic matching of repeated tags and fences."""
    started = time.process_time()
    extract_program(text)
    assert time.process_time() - started < 2.0


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a<think>b</think>c", "ac"),
        ("a<think>b<think>c</think>d", "ad"),
        ("a<think>b</reasoning>c</THINK>d<thinking>e", "ad"),
        ("a</think>b", "b"),
        ("<think>x</think><reasoning>y</reasoning>z", "z"),
    ],
)
def test_thinking_is_removed(text: str, kept: str) -> None:
    """An unmatched tag removes everything after or before it."""
    assert extract_program(text).prose == kept


@pytest.mark.slow
def test_recorded_answers_can_be_rewritten() -> None:
    """The answers are those of real models."""
    assert RECORDED
    for path in RECORDED:
        program = Program(extract_program(path.read_text(encoding="utf-8")).source)
        if not program.is_python:
            continue
        values = {name: (low + high) / 2 for name, (_, low, high) in program.params.items()}
        again = program.with_values(values)
        assert again.values == (pytest.approx(values, rel=1e-5, abs=1e-12) if values else None)
        name = min(program.names)
        assert name not in program.rename_to_unused(name).names


RENAMED = [
    ("predict = 1\nx = predict\n", "predict_ = 1\nx = predict_\n"),
    ("def predict(a):\n    return a\nclass P:\n    def predict(self):\n        return predict(self.predict)\n",
     "def predict_(a):\n    return a\nclass P:\n    def predict(self):\n        return predict_(self.predict)\n"),
    ("def predict():\n    pass\ndef f(predict):\n    return predict\ndef g():\n    predict = 1\n    return predict\n",
     "def predict_():\n    pass\ndef f(predict):\n    return predict\ndef g():\n    predict_ = 1\n    return predict_\n"),
    ("def f():\n    global predict\n    predict = 2\npredict = 1\n",
     "def f():\n    global predict_\n    predict_ = 2\npredict_ = 1\n"),
    ("from m import predict\nfrom m import a as predict\nimport predict\npredict()  # predict\n",
     "from m import predict as predict_\nfrom m import a as predict_\nimport predict as predict_\npredict_()  # predict\n"),
    ("predict = 1\nclass C:\n    predict = predict + 1\n    q = predict\n    def m(self):\n        return predict\n",
     "predict_ = 1\nclass C:\n    predict = predict_ + 1\n    q = predict\n    def m(self):\n        return predict_\n"),
    ("predict = [1]\nx = [predict for predict in predict]\ny = lambda predict=predict: predict\nf(predict=predict)\n",
     "predict_ = [1]\nx = [predict_ for predict_ in predict_]\ny = lambda predict=predict_: predict\nf(predict=predict_)\n"),
    ("predict = predict_ = 1\n", "predict__ = predict_ = 1\n"),
    ("def o():\n    predict = 1\n    def i():\n        nonlocal predict\n        predict += 1\npredict = 3\n",
     "def o():\n    predict_ = 1\n    def i():\n        nonlocal predict_\n        predict_ += 1\npredict_ = 3\n"),
    ("try:\n    pass\nexcept E as predict:\n    predict()\n", "try:\n    pass\nexcept E as predict_:\n    predict_()\n"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), RENAMED)
def test_top_level_name_is_renamed_in_its_scope(before: Any, after: Any) -> None:
    """Arguments, attributes, keywords and comments of the same name stay."""
    assert Program(before).rename_to_unused("predict").source == after


def test_names_inside_f_strings_are_renamed() -> None:
    """Positions inside f-strings are uncertain, so that the module is unparsed."""
    text = 'predict = 2\nx = f"{predict!r:>{predict}} {[predict for _ in (1,)]}"\n'
    tree = ast.parse(Program(text).rename_to_unused("predict").source)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert "predict_" in names
    assert "predict" not in names
