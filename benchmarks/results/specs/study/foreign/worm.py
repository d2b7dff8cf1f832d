import gymnasium as gym
import numpy as np
from gymnasium import spaces

SIZE = 8
EMPTY, BODY, HEAD, APPLE = 0, 1, 2, 3
MOVES = {0: (-1, 0), 1: (0, 1), 2: (1, 0), 3: (0, -1)}  # up right down left


class Worm(gym.Env):
    def __init__(self):
        self.observation_space = spaces.Box(0, 3, (SIZE, SIZE), np.int8)
        self.action_space = spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.body = [(4, 4), (4, 3)]
        self.hunger = 0
        self._place()
        return self._grid(), {}

    def _place(self):
        free = [(r, c) for r in range(SIZE) for c in range(SIZE) if (r, c) not in self.body]
        self.apple = free[self.np_random.integers(len(free))]

    def _grid(self):
        g = np.full((SIZE, SIZE), EMPTY, np.int8)
        for r, c in self.body:
            g[r, c] = BODY
        g[self.body[0]] = HEAD
        g[self.apple] = APPLE
        return g

    def _end(self, why):
        return self._grid(), -1.0, True, False, {"why": why}

    def step(self, action):
        dr, dc = MOVES[int(action)]
        r, c = self.body[0]
        head = (r + dr, c + dc)
        self.hunger += 1
        if not (0 <= head[0] < SIZE and 0 <= head[1] < SIZE):
            return self._end("wall")
        if head in self.body[:-1]:
            return self._end("bite")
        if self.hunger > 60:
            return self._end("starved")
        self.body.insert(0, head)
        if head == self.apple:
            self.hunger = 0
            self._place()
            return self._grid(), 1.0, False, False, {}
        self.body.pop()
        return self._grid(), 0.0, False, False, {}
