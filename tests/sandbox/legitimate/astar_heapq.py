# Style: A* on a grid.

import heapq
from typing import Dict, List, Set, Tuple

Cell = Tuple[int, int]


def astar(start: Cell, goal: Cell, walls: Set[Cell]) -> List[Cell]:
    frontier = [(0, start)]
    came: Dict[Cell, Cell] = {}
    cost = {start: 0}
    while frontier:
        _, cur = heapq.heappop(frontier)
        if cur == goal:
            break
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            nxt = (cur[0] + dx, cur[1] + dy)
            if nxt in walls or not (0 <= nxt[0] < 5 and 0 <= nxt[1] < 5):
                continue
            new = cost[cur] + 1
            if nxt not in cost or new < cost[nxt]:
                cost[nxt] = new
                heapq.heappush(frontier, (new + abs(goal[0] - nxt[0]) + abs(goal[1] - nxt[1]), nxt))
                came[nxt] = cur
    path, cur = [], goal
    while cur in came:
        path.append(cur)
        cur = came[cur]
    return path[::-1]


class Policy:
    def act(self, obs):
        path = astar((0, 0), (4, 4), {(2, i) for i in range(4)})
        return len(path) % 3
