"""For tests of whoever extends promptpo: stand-ins for a model and for workers, and checks that any of theirs can be put through.

```python
from promptpo.testing import FakeExecutor, ScriptedLLM, check_executor, check_llm


async def test_my_provider():
    assert await check_llm(lambda: MyLLM("large")) == []
```
"""

from promptpo.llm.scripted import ScriptedLLM
from promptpo.testing.executors import check_executor
from promptpo.testing.fake import FakeExecutor
from promptpo.testing.providers import check_llm

__all__ = ["FakeExecutor", "ScriptedLLM", "check_executor", "check_llm"]
