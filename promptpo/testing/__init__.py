"""Helpers for tests of model providers: a scripted model, and a check for any provider.

```python
from promptpo.testing import ScriptedLLM, check_llm


async def test_my_provider():
    assert await check_llm(lambda: MyLLM("large")) == []
```
"""

from promptpo.llm.scripted import ScriptedLLM
from promptpo.testing.providers import check_llm

__all__ = ["ScriptedLLM", "check_llm"]
