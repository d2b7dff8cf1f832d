"""One tree of a program: what the gate has seen is what guests compile and what leaves as a file, node by node."""

from __future__ import annotations
import __future__

import ast
from pathlib import Path

import pytest

from promptpo.envs.task import Task
from promptpo.output.exporting import Provenance, export_text, policy_part
from promptpo.program import Program
from promptpo_sandbox.gate import Rejected, admit
from promptpo_sandbox.gate.review import GUARD
from tests.sandbox.recordings import RECORDED, policy_in

LEGITIMATE = sorted(Path(__file__).parents[2].joinpath("sandbox/legitimate").glob("*.py"))
SOURCES = {f"{path.parent.name}/{path.stem}": policy_in(path) for path in RECORDED} | {
    path.stem: path.read_text() for path in LEGITIMATE
}
ANNOTATED = {
    "a class that takes brackets": "class T:\n    def __getitem__(self, k):\n        return k\n",
    "two texts": '"""One."""\n"""Two."""\nx = 1\n',
    "a text and more": '"""One."""; x = 1\ny: int = 2\n',
    "its own import": '"""One."""\nfrom __future__ import annotations\nx: int = 1\n',
    "comments first": "# a\n\n# b\nfrom typing import List\n\n\ndef f(x: List[int]) -> List[int]:\n    return x\n",
    "fields": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: float = 1.0\n",
}
POLICY = "\n\nclass Policy:\n    def act(self, obs):\n        return 0\n"
PROGRAMS = SOURCES | {name: text + POLICY for name, text in ANNOTATED.items()}


class Unguarded(ast.NodeTransformer):
    """The tree without the look at objects whose attributes are assigned, which only a guest has."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """The object that is looked at, in the place of the call."""
        self.generic_visit(node)
        return node.args[0] if isinstance(node.func, ast.Name) and node.func.id == GUARD else node


def nodes(text: str) -> str:
    """The tree of a module, without its docstring and what keeps annotations from being evaluated."""
    body = ast.parse(text).body
    if ast.get_docstring(ast.parse(text)) is not None:
        body = body[1:]
    rest = [node for node in body if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")]
    return ast.dump(ast.Module(rest, []))


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_leaves_is_what_was_compiled(name: str) -> None:
    """The files of a candidate and of the best have the tree that the gate has let pass, and evaluate no annotation."""
    source = PROGRAMS[name]
    tree = admit(source)
    if isinstance(tree, Rejected):
        pytest.skip("the gate refuses it")
    program = Program.from_source(source)
    seen = nodes(ast.unparse(Unguarded().visit(tree)))
    assert nodes(program.postponed.source) == nodes(source) == seen
    text = export_text(source, Provenance(Task("CartPole-v1"), "a model", "run", "r1c1"), action_space=None)
    kept = program.inlined.beside(text[len(policy_part(text)) :]).source == source
    if kept:
        assert nodes(policy_part(text)) == seen
    for file in (program.postponed.source, text):
        assert compile(file, "file", "exec").co_flags & __future__.annotations.compiler_flag


def test_a_candidate_is_the_same_in_its_file() -> None:
    """Who begins with a file of a run begins with that candidate: what postpones annotations does not count."""
    for text in ANNOTATED.values():
        program = Program.from_source(text + POLICY)
        assert program.postponed.digest == program.digest
