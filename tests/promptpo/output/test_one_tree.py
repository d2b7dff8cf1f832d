"""The syntax tree that the gate admits is the one that guests compile and that is exported, node by node."""

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


class GuardRemover(ast.NodeTransformer):
    """Removes the attribute checks that only a guest has."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Replace a guard call by its argument."""
        self.generic_visit(node)
        return node.args[0] if isinstance(node.func, ast.Name) and node.func.id == GUARD else node


def comparable_nodes(text: str) -> str:
    """Return the tree of a module without its docstring and future import."""
    body = ast.parse(text).body
    if ast.get_docstring(ast.parse(text)) is not None:
        body = body[1:]
    rest = [node for node in body if not (isinstance(node, ast.ImportFrom) and node.module == "__future__")]
    return ast.dump(ast.Module(rest, []))


@pytest.mark.parametrize("name", PROGRAMS)
def test_exported_tree_is_the_admitted_tree(name: str) -> None:
    """Annotations stay unevaluated."""
    source = PROGRAMS[name]
    tree = admit(source)
    if isinstance(tree, Rejected):
        pytest.skip("the gate refuses it")
    program = Program.from_source(source)
    seen = comparable_nodes(ast.unparse(GuardRemover().visit(tree)))
    assert comparable_nodes(program.postponed.source) == comparable_nodes(source) == seen
    text = export_text(source, Provenance(Task("CartPole-v1"), "a model", "run", "r1c1"), action_space=None)
    kept = program.inlined.beside(text[len(policy_part(text)) :]).source == source
    if kept:
        assert comparable_nodes(policy_part(text)) == seen
    for file in (program.postponed.source, text):
        assert compile(file, "file", "exec").co_flags & __future__.annotations.compiler_flag


def test_digest_of_the_saved_file_is_the_candidates() -> None:
    """Starting from a run's file must give the same candidate; postponing annotations does not count."""
    for text in ANNOTATED.values():
        program = Program.from_source(text + POLICY)
        assert program.postponed.digest == program.digest
