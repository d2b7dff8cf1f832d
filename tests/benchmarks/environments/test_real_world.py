"""Glucose, epidemic and traffic: the environments, and known properties of their equations."""

import math
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from promptpo_benchmarks.environments import epidemic, glucose
from promptpo_benchmarks.environments.traffic.idm import LENGTH, Driver
from promptpo_benchmarks.environments.traffic.ring import Ring

IDS = ("Glucose-v0", "Epidemic-v0", "TrafficRing-v0", "TrafficMerge-v0")


def brentq(*arguments: Any) -> float:
    """Return scipy's root."""
    from scipy import optimize

    return float(optimize.brentq(*arguments))


def returns_of(env_id: str, policy: Any, seeds: Any = range(5)) -> Any:
    """Return the returns of a function of the observation."""
    env = gymnasium.make(f"promptpo/{env_id}")
    returns = []
    for seed in seeds:
        observation, _ = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(policy(observation))
            total, over = total + float(reward), terminated or truncated
        returns.append(total)
    return np.array(returns)


@pytest.mark.parametrize("env_id", IDS)
def test_environments_pass_gymnasiums_checker(env_id: str) -> None:
    check_env(gymnasium.make(f"promptpo/{env_id}").unwrapped, skip_render_check=True)


@pytest.mark.parametrize("env_id", IDS)
def test_seed_determines_the_episode(env_id: str) -> None:
    """An episode before it makes no difference."""
    env = gymnasium.make(f"promptpo/{env_id}")
    env.action_space.seed(0)
    actions = [env.action_space.sample() for _ in range(8)]

    def play(seed: int) -> Any:
        rows = [env.reset(seed=seed)[0].tolist()]
        for action in actions:
            observation, reward, terminated, *_ = env.step(action)
            rows.append([*observation.tolist(), reward])
            if terminated:
                break
        return rows

    first = play(5)
    assert play(6) != first
    assert play(5) == first


def test_basal_infusion_is_an_equilibrium() -> None:
    """Without meals it holds basal glucose."""
    patient = glucose.Patient()
    state = glucose.advance(glucose.basal_state(patient), patient.basal_infusion, patient, 600)
    assert state == pytest.approx(glucose.basal_state(patient))


def test_glucose_returns_at_the_rate_of_its_effectiveness() -> None:
    """At basal insulin, the excess decays as exp(-p1 t)."""
    patient = glucose.Patient()
    start = (patient.basal_glucose + 100, *glucose.basal_state(patient)[1:])
    after = glucose.advance(start, patient.basal_infusion, patient, 60)
    assert after[0] - patient.basal_glucose == pytest.approx(100 * math.exp(-patient.p1 * 60), rel=1e-6)


def test_insulin_action_settles_at_insulin_sensitivity() -> None:
    """X tends to p3/p2 (I - Ib), the definition of insulin sensitivity."""
    patient = glucose.Patient()
    twice = 2 * patient.basal_infusion
    _, action, insulin, _ = glucose.advance(glucose.basal_state(patient), twice, patient, 2000)
    assert insulin == pytest.approx(2 * patient.basal_insulin)
    assert action == pytest.approx(patient.p3 / patient.p2 * patient.basal_insulin)


@pytest.mark.slow
def test_integrator_agrees_with_scipys() -> None:
    """The reference is an adaptive method of high order; a meal and a bolus are being absorbed."""
    patient = glucose.Patient()
    start = (150.0, 0.001, 60.0, 3.0)
    ours = glucose.advance(start, 40.0, patient, 120)
    from scipy.integrate import solve_ivp

    exact = solve_ivp(
        lambda _, y: glucose.derivative(tuple(y), 40.0, patient),
        (0, 120),
        start,
        "DOP853",
        rtol=1e-10,
        atol=1e-12,
    )
    assert ours == pytest.approx(exact.y[:, -1], rel=1e-5)


def test_risk_is_zero_near_112_and_equal_at_both_limits() -> None:
    """The risk function was designed for that zero and symmetry."""
    zero = brentq(lambda g: math.log(g) ** 1.084 - 5.381, 80, 150)
    assert zero == pytest.approx(112.5, abs=0.5)
    assert glucose.risk(zero) == pytest.approx(0, abs=1e-9)
    assert glucose.risk(70) == pytest.approx(glucose.risk(180), rel=0.05)


def test_meal_boluses_help_and_full_throttle_kills() -> None:
    """Relative to basal infusion alone."""
    basal = glucose.Patient().basal_infusion / 1000

    def bolus(observation: Any) -> Any:
        return np.array([basal + observation[2] / 10 / 5], dtype=np.float32)

    only_basal = returns_of("Glucose-v0", lambda _: np.array([basal], dtype=np.float32)).mean()
    assert returns_of("Glucose-v0", bolus).mean() > only_basal + 10
    assert returns_of("Glucose-v0", lambda _: np.ones(1, dtype=np.float32)).mean() < 50


def epidemic_without_rules(r0: Any, days: int = 2000) -> Any:
    """Return daily shares of an epidemic without interventions."""
    shares = (1 - 1e-5, 0.0, 1e-5, 0.0)
    history = [shares]
    for _ in range(days):
        shares = epidemic.next_day(shares, r0 * epidemic.GAMMA)
        history.append(shares)
    return np.array(history)


def test_population_is_constant() -> None:
    """Shares sum to one, and none is negative."""
    history = epidemic_without_rules(2.5)
    assert np.allclose(history.sum(axis=1), 1)
    assert (history >= 0).all()


@pytest.mark.parametrize("r0", [1.5, 2.5, 3.5])
def test_final_size_relation_holds(r0: Any) -> None:
    """Kermack and McKendrick: the share s that escapes satisfies ln s = -R0 (1 - s)."""
    escaped = epidemic_without_rules(r0)[-1, 0]
    expected = brentq(lambda s: math.log(s) + r0 * (1 - s), 1e-9, 1 / r0)
    assert escaped == pytest.approx(expected, rel=2e-3)


def test_infections_peak_where_susceptibles_fall_to_one_over_r0() -> None:
    """E + I stops growing at S = 1/R0, and never grows for R0 below 1."""
    history = epidemic_without_rules(2.5)
    peak = (history[:, 1] + history[:, 2]).argmax()
    assert history[peak + 1, 0] <= 1 / 2.5 <= history[peak - 1, 0]
    quiet = epidemic_without_rules(0.9, days=200)
    assert quiet[-1, 3] < 2e-4


def test_reacting_beats_doing_nothing_and_locking_down() -> None:
    """So the environment poses a decision."""
    nothing = returns_of("Epidemic-v0", lambda _: 1).mean()
    lockdown = returns_of("Epidemic-v0", lambda _: 2).mean()

    def reacting(observation: Any) -> Any:
        weekly, beds = observation[1:3]
        return 2 if beds > 0.5 or weekly > 40 else 0 if weekly < 15 else 1

    assert returns_of("Epidemic-v0", reacting).mean() > max(nothing, lockdown) + 20


def test_free_driver_reaches_the_desired_speed() -> None:
    driver, speed = Driver(), 0.0
    for _ in range(4000):
        speed += 0.1 * float(driver.acceleration_for(speed, 1e9, 0.0))
    assert speed == pytest.approx(driver.desired_speed, rel=1e-3)


@pytest.mark.parametrize("speed", [0.0, 5.0, 20.0])
def test_no_acceleration_at_the_equilibrium_gap(speed: Any) -> None:
    """The gap s_e(v) of the model."""
    driver = Driver()
    assert driver.acceleration_for(speed, driver.equilibrium_gap(speed), 0.0) == pytest.approx(0, abs=1e-12)


def spread_after(vehicles: Any, seconds: int = 300, noise: float = 0.2) -> Any:
    """Return standard deviation and mean of the speeds on the ring after some time, and whether there was no crash."""
    ring = Ring(vehicles, 230.0, np.random.default_rng(0), noise)
    safe = all(ring.advance(None) for _ in range(seconds * 4))
    return float(ring.speeds.std()), float(ring.speeds.mean()), safe


def test_dense_traffic_forms_waves_and_thin_traffic_does_not() -> None:
    """Stop and go with 22 vehicles on 230 m, an even flow with 6."""
    dense, _, safe = spread_after(22)
    thin, mean, _ = spread_after(6)
    assert safe
    assert dense > 1.0 > thin
    gap = 230 / 6 - LENGTH
    assert mean == pytest.approx(brentq(lambda v: Driver().equilibrium_gap(v) - gap, 0.1, 29), rel=0.05)


@pytest.mark.slow
def test_smooth_driver_calms_the_ring() -> None:
    """Holding the equilibrium speed makes everybody faster."""
    driver = Driver()

    def like_the_others(o: Any) -> Any:
        return np.array([driver.acceleration_for(float(o[0]), float(o[2]), float(o[0] - o[1]))], np.float32)

    def smooth(o: Any) -> Any:
        closing = max(0.0, o[0] - o[1]) * max(0.0, 6 - o[2]) / 2
        return np.array([0.6 * (3.6 - o[0]) - closing - 3.0 * (o[2] < 2)], np.float32)

    others = returns_of("TrafficRing-v0", like_the_others, range(2))
    assert returns_of("TrafficRing-v0", smooth, range(2)).min() > others.max() + 40


def test_merging_beats_standing_still() -> None:
    """A driver that accelerates arrives in most episodes."""
    arriving = returns_of("TrafficMerge-v0", lambda o: np.array([2.0 if o[1] < 23 else 0.0]), range(10))
    waiting = returns_of("TrafficMerge-v0", lambda _: np.array([-3.0]), range(10))
    assert arriving.mean() > waiting.mean()
    assert arriving.max() > 5
    assert waiting.max() < 0
