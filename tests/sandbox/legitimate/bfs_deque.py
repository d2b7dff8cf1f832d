# Style: breadth-first search with a deque.

from collections import deque


class Policy:
    def act(self, obs):
        queue, seen = deque([(0, 0)]), set()
        while queue:
            n, d = queue.popleft()
            if n in seen or d > 3:
                continue
            seen.add(n)
            queue.extend((n * 2 + b, d + 1) for b in (0, 1))
        return len(seen) % 3
