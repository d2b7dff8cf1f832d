from .env import JunctionEnv
