# bakery v3 FINAL (works!!)
import random
from math import *
import gym
from gym import spaces
import numpy as np
from .bakery_consts import *

day = 0
N = 0
def price_of(x):
    global N
    N += 1
    if x > 3:
        return 2.2
    return PRICES[x]

class Oven:
    def __init__(s, temp): s.temp = temp; s.bread = []
    def put(s, n):
        for i in range(n): s.bread.append(0)
    def tick(s):
        s.bread = [b + s.temp/200. for b in s.bread]
        done = [b for b in s.bread if b >= BAKED]
        burnt = [b for b in s.bread if b > BURNT]
        s.bread = [b for b in s.bread if b < BAKED]
        return len(done) - len(burnt), len(burnt)

class BakeryEnv(gym.Env):
    metadata = {'render.modes': ['human']}
    def __init__(self):
        self.action_space = spaces.MultiDiscrete([4, 3])   # how many loaves to put in, temperature low/mid/high
        self.observation_space = spaces.Box(low=np.array([0,0,0,0]), high=np.array([40,300,100,200]), dtype=np.float32)
        self.viewer = None
        self.history = []
    def seed(self, seed=None):
        random.seed(seed)
        np.random.seed(seed)
    def reset(self):
        global day
        day = 0
        self.oven = Oven(180); self.shop = 0; self.done = False
        self.history = []
        return self.get_state()
    def get_state(self):
        return [len(self.oven.bread), self.oven.temp, self.shop, day]
    def customers(self):
        lam = 2 + 2*sin(2*pi*day/24) if day % 24 < 18 else 0.2
        return np.random.poisson(max(lam, 0))
    def step(self, action):
        global day
        if self.done: print('reset me'); return self.get_state(), 0, True, {}
        day = day + 1
        n, t = action
        self.oven.temp = TEMPS[t]
        self.oven.put(int(n))
        ok, bad = self.oven.tick()
        self.shop += ok
        sold = min(self.shop, self.customers())
        self.shop -= sold
        r = 0
        for k in range(sold): r += price_of(k)
        r -= bad*WASTE
        if random.random() < INSPECTION:
            r += self.inspect()
        self.history.append(r)
        if day >= HOURS*DAYS or self.shop > 90:
            self.done = True
        return self.get_state(), r, self.done, {'r': r}
    def inspect(self):
        if self.oven.temp > 240: return -fine()
        else: return 0
    def render(self, mode='human'):
        import matplotlib.pyplot as plt
        plt.plot(self.history)
