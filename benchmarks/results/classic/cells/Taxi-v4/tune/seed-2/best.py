"""Policy for Taxi-v4, written by program search (no language model).

Held-out mean return 7.59 (95 % interval 7.08975 to 8.07; 100 episodes, seeds 20000000 to 20000099).
Candidate r1c1t of run seed-2, promptpo 0.1.0, 2026-11-21.

To play it (needs gymnasium): python best.py --episodes 10 --seed 0

A table from observation to action, learnt from the policy's own rollouts.

Written by program search, without a language model.
Structure: table
"""
import math

import numpy as np


def key(obs):
    """The observation as a table key."""
    return int(obs)


TABLE = {
    1: 4, 2: 4, 3: 4, 4: 0, 6: 0, 7: 0, 8: 0, 9: 0, 11: 0, 12: 0, 13: 0, 14: 0, 16: 5, 17: 0, 18: 0,
    19: 0, 21: 3, 22: 3, 23: 3, 24: 0, 26: 0, 27: 0, 28: 0, 29: 0, 31: 0, 32: 0, 33: 0, 34: 0,
    36: 3, 37: 0, 38: 0, 39: 0, 41: 0, 42: 0, 43: 0, 44: 2, 46: 2, 47: 2, 48: 0, 49: 0, 51: 0,
    52: 0, 53: 0, 54: 0, 56: 0, 57: 2, 58: 0, 59: 0, 61: 0, 62: 0, 63: 0, 64: 2, 66: 2, 67: 2,
    68: 0, 69: 0, 71: 0, 72: 0, 73: 0, 74: 0, 76: 0, 77: 2, 78: 0, 79: 0, 81: 0, 82: 0, 83: 0,
    84: 4, 86: 4, 87: 4, 88: 0, 89: 0, 91: 0, 92: 0, 93: 0, 94: 0, 96: 0, 97: 5, 98: 0, 99: 0,
    101: 1, 102: 1, 103: 1, 104: 0, 106: 0, 107: 0, 108: 0, 109: 0, 111: 0, 112: 0, 113: 0, 114: 0,
    116: 1, 117: 0, 118: 0, 119: 0, 121: 1, 122: 1, 123: 1, 124: 0, 126: 0, 127: 0, 128: 0, 129: 0,
    131: 0, 132: 0, 133: 0, 134: 0, 136: 1, 137: 0, 138: 0, 139: 0, 141: 0, 142: 0, 143: 0, 144: 1,
    146: 1, 147: 1, 148: 0, 149: 0, 151: 0, 152: 0, 153: 0, 154: 0, 156: 0, 157: 1, 158: 0, 159: 0,
    161: 0, 162: 0, 163: 0, 164: 1, 166: 1, 167: 1, 168: 0, 169: 0, 171: 0, 172: 0, 173: 0, 174: 0,
    176: 0, 177: 1, 178: 0, 179: 0, 181: 0, 182: 0, 183: 0, 184: 1, 186: 1, 187: 1, 188: 0, 189: 0,
    191: 0, 192: 0, 193: 0, 194: 0, 196: 0, 197: 1, 198: 0, 199: 0, 201: 1, 202: 1, 203: 1, 204: 2,
    206: 2, 207: 2, 208: 0, 209: 0, 211: 0, 212: 2, 213: 2, 214: 2, 216: 1, 217: 2, 218: 0, 219: 2,
    221: 1, 222: 1, 223: 1, 224: 2, 226: 2, 227: 2, 228: 3, 229: 3, 231: 3, 232: 2, 233: 2, 234: 2,
    236: 1, 237: 2, 238: 3, 239: 2, 241: 3, 242: 3, 243: 3, 244: 1, 246: 1, 247: 1, 248: 3, 249: 3,
    251: 3, 252: 2, 253: 2, 254: 2, 256: 3, 257: 1, 258: 3, 259: 2, 261: 3, 262: 3, 263: 3, 264: 1,
    266: 1, 267: 1, 268: 3, 269: 3, 271: 3, 272: 0, 273: 0, 274: 0, 276: 3, 277: 1, 278: 3, 279: 0,
    281: 3, 282: 3, 283: 3, 284: 1, 286: 1, 287: 1, 288: 3, 289: 3, 291: 3, 292: 0, 293: 0, 294: 0,
    296: 3, 297: 1, 298: 3, 299: 0, 301: 1, 302: 1, 303: 1, 304: 1, 306: 1, 307: 1, 308: 0, 309: 0,
    311: 0, 312: 1, 313: 1, 314: 1, 316: 1, 317: 1, 318: 0, 319: 1, 321: 1, 322: 1, 323: 1, 324: 1,
    326: 1, 327: 1, 328: 1, 329: 1, 331: 1, 332: 1, 333: 1, 334: 1, 336: 1, 337: 1, 338: 1, 339: 1,
    341: 1, 342: 1, 343: 1, 344: 1, 346: 1, 347: 1, 348: 1, 349: 1, 351: 1, 352: 1, 353: 1, 354: 1,
    356: 1, 357: 1, 358: 1, 359: 1, 361: 1, 362: 1, 363: 1, 364: 1, 366: 1, 367: 1, 368: 1, 369: 1,
    371: 1, 372: 0, 373: 0, 374: 0, 376: 1, 377: 1, 378: 1, 379: 0, 381: 1, 382: 1, 383: 1, 384: 1,
    386: 1, 387: 1, 388: 1, 389: 1, 391: 1, 392: 0, 393: 0, 394: 0, 396: 1, 397: 1, 398: 1, 399: 0,
    401: 1, 402: 1, 403: 1, 404: 1, 406: 1, 407: 1, 408: 4, 409: 4, 411: 4, 412: 1, 413: 1, 414: 1,
    416: 1, 417: 1, 418: 5, 419: 1, 421: 1, 422: 1, 423: 1, 424: 1, 426: 1, 427: 1, 428: 1, 429: 1,
    431: 1, 432: 1, 433: 1, 434: 1, 436: 1, 437: 1, 438: 1, 439: 1, 441: 1, 442: 1, 443: 1, 444: 1,
    446: 1, 447: 1, 448: 1, 449: 1, 451: 1, 452: 1, 453: 1, 454: 1, 456: 1, 457: 1, 458: 1, 459: 1,
    461: 1, 462: 1, 463: 1, 464: 1, 466: 1, 467: 1, 468: 1, 469: 1, 471: 1, 472: 4, 473: 4, 474: 4,
    476: 1, 477: 1, 478: 1, 479: 5, 481: 1, 482: 1, 483: 1, 484: 1, 486: 1, 487: 1, 488: 1, 489: 1,
    491: 1, 492: 3, 493: 3, 494: 3, 496: 1, 497: 1, 498: 1, 499: 3,
}
ACTIONS = (0, 1, 2, 3, 4, 5)
DISCOUNT = 0.99  # of later rewards, when the table was planned


class Policy:
    def act(self, obs):
        return TABLE.get(key(obs), ACTIONS[0])


# --- the policy ends here; what follows was added by promptpo ---
# The call that stable-baselines3's `evaluate_policy` expects, and a player. Needs numpy only; gymnasium to play.


def new_policy():
    """A policy for one episode; it may remember what happens in it."""
    return Policy()


def predict(observation, state=None, episode_start=None, deterministic=True):
    """Actions for one observation, or for a batch as vectorised environments give it.

    Args:
        observation: One observation, or a batch: arrays (or a dict of arrays) with a leading axis.
        state: What the previous call returned; None at the first.
        episode_start: For a batch: a bool per environment, true where a new episode begins. None means a
            single observation, and a new episode when `state` is None.
        deterministic: Accepted for compatibility.

    Returns:
        (action, state): `state` holds one policy object per environment; pass it to the next call.
    """
    import numpy as np

    if episode_start is None:
        state = state or (new_policy(),)
        return _within_bounds(state[0].act(observation)), state
    starts = np.atleast_1d(episode_start)
    state = list(state) if state is not None else [None] * len(starts)
    actions = []
    for i, start in enumerate(starts):
        if start or state[i] is None:
            state[i] = new_policy()
        one = {key: value[i] for key, value in observation.items()} if isinstance(observation, dict) else observation[i]
        if np.ndim(one) == 0 and not isinstance(one, (str, bytes)):
            one = int(one)
        actions.append(_within_bounds(state[i].act(one)))
    return np.asarray(actions), tuple(state)


def _within_bounds(action):
    return action


def main():
    """Play episodes and print their returns."""
    import argparse
    import json

    import gymnasium

    parser = argparse.ArgumentParser(description="Play this policy.")
    parser.add_argument("--env", default='Taxi-v4', help="environment id")
    parser.add_argument("--env-kwargs", default='{}', type=json.loads, help="JSON")
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="seed of the first episode; the next ones follow")
    parser.add_argument("--render", action="store_true", help="show a window")
    args = parser.parse_args()
    kwargs = {**args.env_kwargs, "render_mode": "human"} if args.render else args.env_kwargs
    env = gymnasium.make(args.env, **kwargs)
    returns = []
    for episode in range(args.episodes):
        observation, _ = env.reset(seed=args.seed + episode)
        state, total, done = None, 0.0, False
        while not done:
            action, state = predict(observation, state)
            observation, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            done = terminated or truncated
        returns.append(total)
        print(f"episode {episode + 1}: return {total:.6g}", flush=True)
    if returns:
        print(f"mean return of {len(returns)} episodes: {sum(returns) / len(returns):.6g}")
    env.close()


if __name__ == "__main__":
    main()
