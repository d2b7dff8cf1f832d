"""Good and bad policies for CartPole-v1, as answers of a scripted model."""

GOOD = '''I predict where the pole falls.
```python
"""Push towards the side to which the pole will lean."""


class Policy:
    def act(self, obs):
        return 1 if obs[2] + 0.5 * obs[3] > 0 else 0
```
'''

WEAK = '''```python
"""Push towards the side to which the pole leans now."""


class Policy:
    def act(self, obs):
        return 1 if obs[2] > 0 else 0
```
'''

SYNTAX_ERROR = """```python
class Policy:
    def act(self, obs)
        return 1
```
"""

INFINITE_LOOP = """```python
class Policy:
    def act(self, obs):
        while True:
            pass
```
"""

NAN_ACTION = """```python
class Policy:
    def act(self, obs):
        return float("nan")
```
"""

CRASH = """```python
class Policy:
    def act(self, obs):
        return [0, 1][7]
```
"""

MEMORY = """```python
class Policy:
    def act(self, obs):
        self.big = [0] * 10**10
        return 0
```
"""

PRINTS = """```python
class Policy:
    def act(self, obs):
        print("still here " * 1000)
        return 1 if obs[2] + 0.5 * obs[3] > 0 else 0
```
"""

FORBIDDEN = """```python
import os


class Policy:
    def act(self, obs):
        os.kill(os.getppid(), 9)
        return 0
```
"""

TUNABLE = '''```python
"""A weighted sum decides."""

PARAMS = {"angle": (-1.0, -2.0, 2.0), "rate": (-0.5, -2.0, 2.0)}


class Policy:
    def __init__(self, params):
        self.angle = params["angle"]
        self.rate = params["rate"]

    def act(self, obs):
        return 1 if self.angle * obs[2] + self.rate * obs[3] > 0 else 0
```
'''

FEEDBACK = """```python
class Feedback:
    def summarize_trajectory(self, trajectory):
        angles = [float(o[2]) for o in trajectory["observations"]]
        return f"the largest lean was {max(abs(a) for a in angles):.3f} rad"
```
"""


def variant(answer: str, n: int) -> str:
    """Return the same policy with another constant, so that it counts as another program."""
    return answer.replace("class Policy:", f"VARIANT = {n}\n\n\nclass Policy:")


IDLE = TUNABLE.replace("self.angle * obs[2] + self.rate * obs[3] > 0", "obs[2] > 0")
"""A policy whose parameters have no effect."""
