"""The paper's three main claims, checked against the measured scans."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np

from driftwise.adversaries import Adversary
from driftwise.core.measures import MARK, SAYS_NOTHING, Measures
from driftwise.landscape.outcomes import Outcome
from driftwise.regret.statistics import Power, fit_power
from driftwise.report.page import Claim
from driftwise.report.tables import number
from driftwise.theory import expected, tuning

FLAT, DRIFTING, SPREAD = 0.05, 0.38, 3.0  # thresholds: exponent of no growth, of T^(1/3), ratio of constants


def claims(outcomes: Sequence[Outcome]) -> list[Claim]:
    """Return the claims that can be checked with these outcomes."""
    by_key: dict[str, dict[str, Outcome]] = {}
    for outcome in outcomes:
        by_key.setdefault(outcome.scan.key, {})[outcome.participant.label] = outcome
    return [
        _with_caveats(make(*(by_key[key] for key in needs)), by_key, needs)
        for make, needs in _CLAIMS
        if all(key in by_key and by_key[key].keys() >= set(labels) for key, labels in needs.items())
    ]


def _with_caveats(claim: Claim, by_key: dict[str, dict[str, Outcome]], needs: dict[str, tuple[str, ...]]) -> Claim:
    """Return a claim with the caveats of the learners that it is about."""
    caveats = tuple(
        (f"{MARK} {label} in {key}", f"{SAYS_NOTHING}: {by_key[key][label].caveat}")
        for key, labels in needs.items()
        for label in labels or by_key[key]
        if by_key[key][label].caveat
    )
    return dataclasses.replace(claim, figures=(*claim.figures, *caveats))


def _exponent_text(power: Power) -> str:
    if math.isnan(power.exponent):
        return number(None)
    return f"{power.exponent:.3f} ({power.low:.3f} .. {power.high:.3f})"


def _constant(rounds: dict[str, Outcome]) -> Claim:
    """(i) With full information, constant Gamma and Lambda, regret does not grow with T."""
    gd, prod, hedge = (rounds[name] for name in ("optimistic-gd", "sleeping-optimistic-adapt-ml-prod", "hedge"))
    divided = fit_power(prod.x, [m.regrets / math.log(m.n_actions * m.n_rounds) for m in prod.measurements])
    return Claim(
        "Full information, constant Gamma and Lambda: the regret of Algorithm 2 does not grow with T. That of Algorithm"
        " 4 (with merged memory) grows at most slightly faster than ln(K T). That of Hedge, which does not adapt, grows"
        " with T.",
        gd.exponent.high < FLAT and divided.high < FLAT and hedge.exponent.low > FLAT,
        (
            (f"exponent of T, Algorithm 2 tuned (must be below {FLAT})", _exponent_text(gd.exponent)),
            ("exponent of T, Algorithm 4", _exponent_text(prod.exponent)),
            (f"exponent of T, Algorithm 4, after division by ln(K T) (must be below {FLAT})", _exponent_text(divided)),
            (f"exponent of T, Hedge (must be above {FLAT})", _exponent_text(hedge.exponent)),
        ),
    )


def _bandit(low: dict[str, Outcome]) -> Claim:
    """(ii) Bandit feedback, two segments, no noise: regret is at least sqrt(T)/4, with full information constant."""
    multiples = {
        f"{label} at T = {measurement.n_rounds}": multiple
        for label, outcome in low.items()
        for measurement, multiple in zip(outcome.measurements, outcome.multiples, strict=True)
    }
    least = min(multiples, key=multiples.__getitem__)
    columns = zip(*(outcome.measurements for outcome in low.values()), strict=True)  # one for each T
    full = [float(np.concatenate([point.companion_regrets for point in column]).max()) for column in columns]
    longest = max(measurement.n_rounds for outcome in low.values() for measurement in outcome.measurements)
    budget = Measures(2, longest, segments=2, drift=2.0, variance=0.0)
    constant = expected.optimistic_gd(budget, tuning.gd_rate(budget))
    return Claim(
        "Bandit feedback, Gamma = 2, Lambda = 0: the regret of every learner here is at least isqrt(T)/4 at every T"
        " against the best response to it. On the same losses, the regret of Algorithm 2 with full information is at"
        " most a constant.",
        multiples[least] >= 1.0 and max(full) <= min(constant, (1 + FLAT) * min(full)),
        (
            ("bandit learners", str(len(low))),
            ("least regret / (isqrt(T)/4) (must be at least 1)", f"{number(multiples[least])} ({least})"),
            ("largest regret of Algorithm 2 on the same losses, at each T", ", ".join(number(x) for x in full)),
            ("its bound in Theorem 3.2, the same for every T", number(constant)),
        ),
    )


def _drifting(low: dict[str, Outcome], rounds: dict[str, Outcome]) -> Claim:
    """(iii) With full information, constant V and Lambda, regret grows like T^(1/3)."""
    paper = low["restarted-adaptive-gd"]
    scaled = []
    for value, measurement in zip(paper.scan.values, paper.measurements, strict=True):
        adversary = paper.scan.setting(value).source
        assert isinstance(adversary, Adversary)
        m = adversary.budget(measurement.n_rounds)
        scaled.append(float(measurement.regrets.mean()) / (m.variance * m.drift * measurement.n_rounds) ** (1 / 3))
    spread = max(scaled) / min(scaled) if min(scaled) > 0 else math.inf
    multiple = min(paper.multiples)
    sine, hedge = rounds["restarted-adaptive-gd"].exponent, rounds["hedge"].exponent
    return Claim(
        "Full information, constant V and Lambda: the regret of restarted adaptive GD grows like (Lambda V T)^(1/3)"
        " against the adversary, and not faster on sinusoids. There the regret of Hedge grows linearly in T.",
        spread <= SPREAD and multiple >= 1.0 and sine.high <= DRIFTING and hedge.low > DRIFTING,
        (
            ("regret / (Lambda V T)^(1/3), least and largest", f"{number(min(scaled))} .. {number(max(scaled))}"),
            (f"their ratio (must be at most {SPREAD:g})", number(spread)),
            ("least regret / lower bound (must be at least 1)", number(multiple)),
            (f"exponent of T on sinusoids, restarted adaptive GD (must be at most {DRIFTING})", _exponent_text(sine)),
            (f"exponent of T on sinusoids, Hedge (must be above {DRIFTING})", _exponent_text(hedge)),
        ),
    )


_CLAIMS: tuple[tuple[Callable[..., Claim], dict[str, tuple[str, ...]]], ...] = (
    (_constant, {"full-switching-rounds": ("optimistic-gd", "sleeping-optimistic-adapt-ml-prod", "hedge")}),
    (_bandit, {"bandit-switching-low": ()}),
    (
        _drifting,
        {"full-drifting-low": ("restarted-adaptive-gd",), "full-drifting-rounds": ("restarted-adaptive-gd", "hedge")},
    ),
)
