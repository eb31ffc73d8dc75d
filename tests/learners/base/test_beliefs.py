"""What learners believe: alarms, effective memories and weights of bases, against slow recomputations."""

import math
import pickle
import re
import threading

import numpy as np
import pytest

from driftwise import Beliefs, Session
from driftwise.core.errors import InvalidInput
from driftwise.core.memory_fields import broken_rule
from driftwise.detectors import Monitor
from driftwise.learners import (
    AOMD,
    CBCE,
    CUSUMUCB,
    FLH,
    GLRKLUCB,
    MUCB,
    SAOL,
    UCBV,
    AdaNormalHedgeTV,
    Ader,
    AdSwitch,
    BanditOverBandit,
    CalibratedHedge,
    DetectAndRestart,
    DiscountedUCB,
    Exp3S,
    FixedShare,
    Hedge,
    Master,
    OnlineGD,
    OptimisticFixedShare,
    OptimisticGD,
    OracleRestarts,
    RerunUCBV,
    RestartedAdaptiveGD,
    Rexp3,
    SleepingAdaptMLProd,
    SleepingOptimisticAdaptMLProd,
    SlidingWindowUCB,
    Sword,
    learners,
)
from driftwise.learners.base.beliefs import faded_rounds
from driftwise.learners.shared import alarm_log

# Learners that restart on what they observe; with these parameters there are often alarms.
RESTARTING = {
    "glr-kl-ucb": GLRKLUCB(failure_probability=0.5, check_every=1),
    "glr-kl-ucb-global": GLRKLUCB(failure_probability=0.5, restart="global"),
    "cusum-ucb": CUSUMUCB(warmup=10, threshold=2.0),
    "m-ucb": MUCB(window=20, threshold=3.0),
    "detect-and-restart": DetectAndRestart("sliding-window-ucb", {"name": "page-hinkley", "threshold": 2.0}),
}


def switching(n_rounds, n_actions, seed=0):
    """Return Bernoulli losses; the best action changes every hundred rounds."""
    best = np.arange(n_rounds) // 100 % n_actions
    means = np.where(np.arange(n_actions) == best[:, None], 0.1, 0.9)
    return (np.random.default_rng(seed).random(means.shape) < means).astype(float)


def played(learner, losses, seed=0):
    state = learner.start(losses.shape[1], seed)
    return learner.run(state, losses), state


# Alarms


@pytest.mark.parametrize("learner", RESTARTING.values(), ids=RESTARTING)
def test_alarms_are_those_of_detectors_that_observe_the_chosen_losses(learner):
    """Every action has a detector of its own; an alarm resets it, or all of them."""
    losses = switching(10_000, 3)
    actions, state = played(learner, losses, seed=2)
    together = learner.restarts(3).everywhere
    monitors, resets, alarms = [Monitor(learner.parts[1]) for _ in range(3)], [0, 0, 0], []
    for t, action in enumerate(actions):
        if monitors[action].update(losses[t, action]):
            alarms.append(t)
            for k in range(3) if together else (action,):
                monitors[k], resets[k] = Monitor(learner.parts[1]), t + 1
    beliefs = learner.beliefs(state)
    assert beliefs.n_alarms == len(alarms) > 64
    assert beliefs.alarms == tuple(alarms[-64:])
    assert beliefs.segments == 1 + len(alarms)
    ages = [min(10_000 - reset, learner.parts[0].ring or 10_000) for reset in resets]
    assert beliefs.memory == (ages[0] if together else tuple(ages))


def test_alarms_are_few_without_a_change_and_soon_after_a_change():
    """Fixed seed. The mean of both actions jumps in round 1,000."""
    losses = (np.random.default_rng(1).random((2000, 2)) < np.repeat([0.1, 0.9], 1000)[:, None]).astype(float)
    for learner in (GLRKLUCB(), CUSUMUCB(), MUCB(), DetectAndRestart(), AdSwitch(2000, threshold_scale=1.0)):
        alarms = learner.beliefs(played(learner, losses)[1]).alarms
        assert 1 <= len(alarms) <= 4, learner
        assert all(1000 <= t < 1400 for t in alarms), (learner, alarms)


@pytest.mark.parametrize("n_alarms", [0, 1, 63, 64, 65, 200])
def test_the_log_keeps_the_latest_64_alarms(n_alarms):
    rounds = np.sort(np.random.default_rng(n_alarms).choice(500, n_alarms, replace=False)).tolist()
    log = alarm_log.empty_log()
    for t in rounds:
        alarm_log.record_alarm(log, t)
    assert alarm_log.latest_alarms(log) == tuple(rounds[-64:])
    assert alarm_log.alarms(log)["n_alarms"] == n_alarms
    assert not alarm_log.alarm_log().fault(log, {"rounds": 500})
    assert not alarm_log.alarm_log().fault(log, {"rounds": max(rounds, default=-1) + 1})
    assert not rounds or alarm_log.alarm_log().fault(log, {"rounds": rounds[-1]})


DAMAGED = {
    "a negative count": (0, -1),
    "a count beyond the rounds": (0, 301),
    "a count that the rounds do not allow": (0, 300),  # the oldest alarm in the ring would be the 237th
    "one alarm less": (0, 69),  # the latest is then the oldest
    "a round to come": (6, 300),
    "a negative round": (7, -1),
    "the same round twice": (8, 4 * 70),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_log_is_not_one(what):
    log = alarm_log.empty_log()
    for t in range(70):
        alarm_log.record_alarm(log, 4 * t + 4)  # the ring holds those of 28 to 280; place 6 has the latest
    assert (log[0], log[6], log[7]) == (70, 280, 28)
    assert not alarm_log.alarm_log().fault(log, {"rounds": 300})
    place, value = DAMAGED[what]
    log[place] = value
    assert alarm_log.alarm_log().fault(log, {"rounds": 300})


def test_a_number_after_the_last_alarm_is_not_allowed():
    log = alarm_log.empty_log()
    alarm_log.record_alarm(log, 3)
    log[2] = 4
    assert alarm_log.alarm_log().fault(log, {"rounds": 10})


@pytest.mark.parametrize("learner", [*RESTARTING.values(), AdSwitch(60, threshold_scale=0.1), Master(100, 0.9, 0.001)])
def test_a_saved_session_keeps_its_alarms(learner, tmp_path):
    session = Session(learner, 3, seed=1)
    losses = switching(6000, 3)
    learner.run(session.state, losses[:5000])
    session.save(tmp_path / "session")
    loaded = Session.load(tmp_path / "session")
    assert loaded.beliefs() == session.beliefs()
    assert session.beliefs().n_alarms > 0
    for one in (session, loaded):
        learner.run(one.state, losses[5000:])
    assert loaded.beliefs() == session.beliefs()


def test_a_log_of_another_learner_is_refused():
    """A reset and the alarm that caused it agree."""
    learner = RESTARTING["cusum-ucb"]
    _, state = played(learner, switching(500, 2))
    assert learner.memory_fault(state.memory, 2, 500) == ""
    for t in (int(state.memory.reset_rounds.max()), 499):
        memory = state.copy().memory
        alarm_log.record_alarm(memory.alarms, t)
        assert broken_rule(memory, learner.all_limits(2, 500)) == ""
        assert learner.memory_fault(memory, 2, 500) == "`reset_rounds` must agree with the last of `alarms`"


def test_restarts_on_schedule_are_no_alarms():
    """Adswitch restarts at powers of two if it is not told the number of rounds; a phase of AOMD does not restart."""
    for name in ("rerun-ucbv", "rexp3", "restarted-adaptive-gd", "bandit-over-bandit", "oracle-restarts", "aomd"):
        learner = learners.get(name)()
        assert learner.beliefs(learner.start(2)).alarms is None, name
    assert AdSwitch().beliefs(played(AdSwitch(), np.full((100, 2), 0.5))[1]).alarms == ()


# Effective memory


@pytest.mark.parametrize("rounds", [0, 1, 2, 7, 400, 5000])
def test_forgetting_learners_remember_the_sum_of_the_weights_of_the_past(rounds):
    def slow(keep):
        return math.fsum(keep**age for age in range(rounds))

    e_alpha = math.e * 0.01
    cases = (
        (DiscountedUCB(0.99), slow(0.99)),
        (DiscountedUCB(1.0), rounds),
        (SlidingWindowUCB(50), min(50, rounds)),
        (SlidingWindowUCB(None), rounds),
        (FixedShare(switch_rate=0.02), slow(0.98)),
        (FixedShare(switch_rate=0.0), rounds),
        (FixedShare(switch_rate=1.0), min(1, rounds)),
        (OptimisticFixedShare(switch_rate=0.5), slow(0.5)),
        (Exp3S(switch_rate=0.01), slow(1 / (1 + e_alpha))),
        (RerunUCBV(30), rounds % 30),
        (Rexp3(30), rounds % 30),
        (RestartedAdaptiveGD(30), rounds % 30),
        (RestartedAdaptiveGD(), rounds),
        (Hedge(), rounds),
    )
    losses = switching(rounds, 2)
    for learner, expected in cases:
        assert learner.beliefs(played(learner, losses)[1]).memory == pytest.approx(expected, rel=1e-12), learner


def test_forgetting_has_its_limits():
    assert faded_rounds(0.01, 10**9) == pytest.approx(100.0)
    assert faded_rounds(5e-324, 10**6) == 10**6
    assert faded_rounds(2.0**-53, 10**6) == pytest.approx(10**6)
    assert faded_rounds(1.0, 0) == 0.0


def test_the_discounted_memory_is_the_count_of_discounted_plays():
    learner = DiscountedUCB(0.97)
    _, state = played(learner, switching(300, 3))
    assert learner.beliefs(state).memory == pytest.approx(float(state.memory.counted[0]))


def test_bandit_over_bandit_has_the_probabilities_of_its_windows():
    learner = BanditOverBandit(restart_every=64)
    _, state = played(learner, switching(64 * 20 + 10, 2))
    beliefs = learner.beliefs(state)
    assert list(beliefs.bases) == [f"window of {window}" for window in learner.windows]
    assert list(beliefs.bases.values()) == pytest.approx(state.memory.chances.tolist())
    assert beliefs.memory == min(10, learner.windows[int(state.memory.drawn[0])])


def test_the_oracle_has_the_beliefs_of_its_base_since_the_last_change_point():
    base = RESTARTING["cusum-ucb"]
    losses = switching(700, 2)
    oracle = OracleRestarts(base, (250,))
    actions, state = played(oracle, losses, seed=1)
    beliefs = oracle.beliefs(state)
    monitors, alarms = [Monitor(base.parts[1]) for _ in range(2)], []
    for t in range(250, 700):
        if monitors[actions[t]].update(losses[t, actions[t]]):
            alarms.append(t)
    assert beliefs.rounds == 700
    assert beliefs.alarms == tuple(alarms) != ()
    assert max(beliefs.memory) <= 450


# Weights of bases


@pytest.mark.parametrize("learner", [FLH(), SAOL(), CBCE(), FLH("optimistic-gd", 2.0), SAOL("ada-hedge")], ids=str)
@pytest.mark.parametrize("rounds", [1, 40, 333])
def test_the_play_is_the_mixture_of_bases_started_in_the_rounds_of_their_labels(learner, rounds):
    losses = switching(rounds, 3)
    _, state = played(learner, losses)
    beliefs = learner.beliefs(state)
    mixed, age = np.zeros(3), 0.0
    for label, weight in beliefs.bases.items():
        start = int(label.removeprefix("since round "))
        base = learners.get(learner.base)()
        mixed += weight * base.predict(played(base, losses[start:])[1])
        age += weight * (rounds - start)
    np.testing.assert_allclose(learner.predict(state), mixed, atol=1e-9)
    assert beliefs.memory == pytest.approx(age)


@pytest.mark.parametrize("learner", [Ader(200), Sword(200)], ids=str)
def test_the_play_of_a_grid_is_the_mixture_of_its_bases(learner):
    """Labels have the learning rates of the bases, rounded to three digits."""
    losses = switching(200, 3)
    _, state = played(learner, losses)
    beliefs = learner.beliefs(state)
    rates = learner.learning_rates(3)
    kind = OnlineGD if isinstance(learner, Ader) else OptimisticGD
    found = [float(re.search(r"learning_rate=([\d.e+-]+)", label)[1]) for label in beliefs.bases]
    assert found == pytest.approx(rates, rel=0.005)
    mixed = sum(
        weight * base.predict(played(base, losses)[1])
        for base, weight in zip(map(kind, rates), beliefs.bases.values(), strict=True)
    )
    np.testing.assert_allclose(learner.predict(state), mixed, atol=1e-9)
    assert beliefs.memory == 200


def normal_rows(losses, plays):
    """AdaNormalHedge.TV by its formula: the weight of row s, summed over its experts, before the next round."""

    def potential(regret, moved):
        return math.exp(max(0.0, regret) ** 2 / (3 * moved))

    rows = []
    for s in range(len(losses) + 1):
        regrets = (plays[s:-1] * losses[s:]).sum(axis=1, keepdims=True) - losses[s:]
        total, moved = regrets.sum(axis=0), abs(regrets).sum(axis=0)
        pairs = zip(total, moved, strict=True)
        weights = (0.5 * (potential(r + 1, c + 1) - potential(r - 1, c + 1)) for r, c in pairs)
        rows.append(math.fsum(weights) / (s + 1) ** 2)
    return np.array(rows)


def prod_rows(losses, plays):
    """Sleeping Adapt-ML-Prod, anytime, by its recursion: the weight of row s, summed over its experts."""
    rows = []
    n_actions = losses.shape[1]
    for s in range(len(losses) + 1):
        scale = math.log(n_actions * (s + 2))
        weight, seen = np.ones(n_actions), np.zeros(n_actions)
        rate = np.full(n_actions, min(0.5, math.sqrt(scale)))
        for p, row in zip(plays[s:-1], losses[s:], strict=True):
            regret = p @ row - row
            seen += regret**2
            new_rate = np.minimum(0.5, np.sqrt(scale / (1 + seen)))
            weight, rate = (weight * (1 + rate * regret)) ** (new_rate / rate), new_rate
        rows.append((rate * weight).sum())
    return np.array(rows)


def optimistic_rows(losses, plays):
    """Algorithm 4, anytime, by its recursion; the guess of the next losses is the last ones."""
    rows = []
    n_rounds, n_actions = losses.shape
    guesses = np.vstack([np.zeros(n_actions), losses])
    for s in range(n_rounds + 1):
        scale = math.log(n_actions * (s + 2))
        log_weight, seen = np.zeros(n_actions), np.zeros(n_actions)
        rate = np.full(n_actions, min(0.25, math.sqrt(scale)))
        for t in range(s, n_rounds):
            regret = plays[t] @ losses[t] - losses[t]
            error = regret - (plays[t] @ guesses[t] - guesses[t])
            seen += error**2
            new_rate = np.minimum(0.25, np.sqrt(scale / (1 + seen)))
            log_weight, rate = (log_weight + rate * regret - (rate * error) ** 2) * new_rate / rate, new_rate
        guess = plays[n_rounds] @ guesses[n_rounds] - guesses[n_rounds]
        rows.append((rate * np.exp(log_weight + rate * guess)).sum())
    return np.array(rows)


ROWS = {
    "ada-normal-hedge-tv": (AdaNormalHedgeTV(), normal_rows),
    "sleeping-adapt-ml-prod": (SleepingAdaptMLProd(), prod_rows),
    "sleeping-optimistic-adapt-ml-prod": (SleepingOptimisticAdaptMLProd(), optimistic_rows),
}


@pytest.mark.parametrize(("learner", "slow_rows"), ROWS.values(), ids=ROWS)
def test_rows_of_experts_are_weighed_by_age(learner, slow_rows):
    for rounds in (0, 1, 130):
        losses = switching(rounds + 1, 2)
        plays = learner.run(learner.start(2), losses)  # also that of the next round
        _, state = played(learner, losses[:rounds])
        rows = slow_rows(losses[:rounds], plays)
        shares, ages = rows / rows.sum(), rounds - np.arange(rounds + 1)
        beliefs = learner.beliefs(state)
        assert beliefs.memory == pytest.approx(float(shares @ ages), rel=1e-9)
        expected = {"0 rounds": shares[-1]}
        if rounds:
            expected["1 round"] = shares[-2]
        for low in (2, 4, 8, 16, 32, 64, 128):
            if low <= rounds:
                expected[f"{low}-{2 * low - 1} rounds"] = shares[(ages >= low) & (ages < 2 * low)].sum()
        assert dict(beliefs.bases) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_merged_rows_have_about_the_ages_of_exact_ones():
    losses = switching(1000, 3)
    exact, merged = (
        learner.beliefs(played(learner, losses)[1]).memory
        for learner in (SleepingOptimisticAdaptMLProd(), SleepingOptimisticAdaptMLProd("merged", resolution=8))
    )
    assert merged == pytest.approx(exact, rel=0.1)
    assert 60 < exact < 130  # the last segment has 100 rounds


def test_calibrated_hedge_plays_one_of_its_rates():
    learner = CalibratedHedge(largest_rate=4.0, n_rates=3)
    _, state = played(learner, switching(60, 2))
    bases = learner.beliefs(state).bases
    assert list(bases) == ["learning rate 4", "learning rate 2", "learning rate 1"]
    (rate,) = (float(label.split()[-1]) for label, weight in bases.items() if weight == 1.0)
    hedge = Hedge(rate)
    np.testing.assert_allclose(learner.predict(state), hedge.predict(played(hedge, switching(60, 2))[1]))


# Estimates


def test_estimates_of_the_variance_are_near_the_variance():
    """Three actions with uniform losses, whose variance is 1/12 each: 3/12 a round. Fixed seed."""
    losses = np.random.default_rng(0).random((4000, 3))
    for learner in (AOMD(), UCBV()):
        assert learner.beliefs(played(learner, losses)[1]).variance == pytest.approx(4000 * 3 / 12, rel=0.05), learner


# The class


def test_beliefs_are_values():
    learner = GLRKLUCB()
    beliefs = learner.beliefs(played(learner, switching(500, 2))[1])
    assert pickle.loads(pickle.dumps(beliefs)) == beliefs
    with pytest.raises(AttributeError):
        beliefs.rounds = 3


def test_the_text_has_the_largest_weights_and_the_latest_alarms():
    bases = {f"base {i}": 2.0 ** -(i + 1) for i in range(20)} | {"base 20": 2.0**-20}
    many = Beliefs(900, (3.0, 40.25), bases, 71, None, 12.345, tuple(range(100, 164)), 70)
    assert repr(many) == (
        "Beliefs(rounds=900, memory=(3, 40.2), bases={'base 0': 0.5, 'base 1': 0.25, 'base 2': 0.125, ...},"
        " segments=71, variance=12.35, alarms=(..., 160, 161, 162, 163), n_alarms=70)"
    )
    lines = many.table().splitlines()
    assert lines[:6] == [
        "rounds            900",
        "effective memory  3, 40.2 rounds, by action",
        "segments          71",
        "variance          12.35",
        "alarms            70",
        "in rounds         ..., 152, 153, 154, 155, 156, 157, 158, 159, 160, 161, 162, 163",
    ]
    assert lines[6] == "base 0            weight 0.500"
    assert lines[-1] == "11 more           weight 0.001"  # those that would be shown as 0.000
    assert repr(Beliefs(3, alarms=(2,), n_alarms=1)) == "Beliefs(rounds=3, alarms=(2,), n_alarms=1)"
    assert Beliefs(9, tuple(map(float, range(20)))).table().endswith("0 to 19 rounds, by action")


def test_the_state_of_another_learner_is_refused():
    for name in learners:
        learner = learners.get(name)()
        with pytest.raises(InvalidInput, match=r"belongs to Hedge\(learning_rate=0\.25\)|must be a state"):
            learner.beliefs(Hedge(0.25).start(2))


def test_a_session_shows_its_beliefs_while_another_thread_plays():
    session = Session(GLRKLUCB(), 2)
    losses = switching(3000, 2)

    def play():
        for row in losses:
            action, probability = session.choose()
            session.update(action, probability, loss=row[action])

    thread = threading.Thread(target=play)
    thread.start()
    seen = [session.beliefs()]
    while thread.is_alive():
        seen.append(session.beliefs())
    assert all(len(one.alarms) == one.n_alarms and max(one.memory) <= one.rounds for one in seen)
    assert [one.rounds for one in seen] == sorted(one.rounds for one in seen)
    assert session.beliefs().rounds == 3000
