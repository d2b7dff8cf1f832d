from .site import build, QuarryEnv
__all__ = ["build", "QuarryEnv"]
