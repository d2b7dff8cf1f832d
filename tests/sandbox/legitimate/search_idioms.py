# Style: heaps with ties, deques, counters, default dictionaries, bisect, caches, itertools.
import bisect
import collections
import heapq
import itertools
from collections import Counter, OrderedDict, defaultdict, deque
from functools import cache, lru_cache, partial, reduce


@lru_cache(maxsize=None)
def ways(n):
    return 1 if n < 2 else ways(n - 1) + ways(n - 2)


@cache
def square(n):
    return n * n


class Policy:
    def __init__(self):
        self.queue = deque(maxlen=5)
        self.seen = defaultdict(int)
        self.counter = itertools.count()
        self.table = OrderedDict()
        self.add = partial(pow, 2)

    def _search(self, start, goal):
        heap, came = [(0, next(self.counter), start)], {start: None}
        while heap:
            cost, _, cell = heapq.heappop(heap)
            if cell == goal:
                break
            for dx, dy in itertools.product((-1, 0, 1), repeat=2):
                new = (cell[0] + dx, cell[1] + dy)
                if new not in came and max(map(abs, new)) <= 3:
                    came[new] = cell
                    heapq.heappush(heap, (cost + 1, next(self.counter), new))
        path = [goal]
        while came.get(path[-1]) is not None:
            path.append(came[path[-1]])
        return path[::-1]

    def act(self, obs):
        self.queue.append(round(float(obs[0]), 3))
        self.seen[len(self.queue)] += 1
        counts = Counter(x > 0 for x in self.queue)
        best = max(counts.items(), key=lambda item: item[1])[0]
        i = bisect.bisect_left([-1, 0, 1], obs[0])
        total = reduce(lambda a, b: a * b, [1, 2, 3], 1) + ways(10) + square(3) + self.add(3)
        self.table[i] = total
        self.table.move_to_end(i)
        window = collections.deque(itertools.islice(itertools.accumulate(range(5)), 3))
        groups = {k: list(g) for k, g in itertools.groupby(sorted(self.queue), key=lambda x: x > 0)}
        hits = ways.cache_info().hits
        return (len(self._search((0, 0), (2, 1))) + int(best) + window[0] + len(groups) * 0 + hits * 0) % 3
