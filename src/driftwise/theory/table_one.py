r"""Table 1 of the paper (Appendix A) as data: orders in letters, their exponents, and bounds with constants.

A cell is a kind of feedback and a kind of environment; each of its columns has an upper and a lower rate. The bounds of
a cell depend on its own budgets only: $\Gamma$ and $\Lambda$ in a switching cell, $V$ and $\Lambda$ in a drifting one.
The drift, or the segments, are then as large as possible, so that lower and upper bounds are about the same
environments.

The table omits $K$ and logarithms. With them the upper bounds of this paper are $\sqrt{\Gamma \Lambda} + \sqrt K
\Gamma$, $(V \Lambda T)^{1/3} + \sqrt K V$ and, up to logarithms, $(K^2 V \Lambda T)^{1/3} + \sqrt{K V T}$; its lower
bounds are for few actions (E16), and the last has $\sqrt{V T}$ only for $V \ge 2$ (E8). The upper bound of Garivier and
Moulines has gaps in it; the bound of that cell is that of EXP3.S, with $\Gamma$ and $T$ known (E17). Jadbabaie et al.
are in the text, not in the table. Letters of other authors: $L^*$, the least loss of a sequence of actions with
$\Gamma$ segments; $D$, the squared steps of the realised losses; $\tilde V$, their drift.

>>> cell = TABLE["full", "switching"]
>>> cell.this_paper.upper.text
'sqrt(Gamma Lambda) + Gamma'
>>> cell.this_paper.upper.exponents[0]["Lambda"]
Fraction(1, 2)
>>> cell.garivier_moulines.upper is None
True
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from driftwise.core.measures import Measures
from driftwise.theory import adversarial, expected, lower, pathwise_experts, pathwise_meta, tuning


@dataclass(frozen=True)
class Rate:
    """An order of regret: a sum of terms, each a product of powers of the letters."""

    text: str
    exponents: tuple[Mapping[str, Fraction], ...]  # one mapping for each term: letter -> exponent
    source: str
    bound: Callable[[Measures], float] | None = None  # with constants; None if they are unknown


@dataclass(frozen=True)
class Column:
    """The rates of one group of authors in a cell; None where the table has a dash."""

    upper: Rate | None = None
    lower: Rate | None = None


@dataclass(frozen=True)
class Cell:
    """The columns of the table, and last the one that is in the paper's text only."""

    this_paper: Column
    excess_loss: Column = Column()  # Luo and Schapire; Gaillard et al.; Koolen and van Erven
    garivier_moulines: Column = Column()
    besbes_gur_zeevi: Column = Column()
    jadbabaie: Column = Column()


def with_largest_drift(measures: Measures) -> Measures:
    r"""Return the measures with the largest drift that $\Gamma$ segments can have, $\Gamma$."""
    segments = measures.segments
    squares = float(measures.n_actions * segments)
    return dataclasses.replace(
        measures, drift=segments, drift_within=segments - 1, squared_drift=squares, change_points=None
    )


def with_most_segments(measures: Measures) -> Measures:
    """Return the measures with as many segments as rounds: the means may move in every round."""
    within = 0.0 if measures.n_rounds == 1 else measures.drift
    squares = measures.n_actions * measures.drift
    return dataclasses.replace(
        measures, segments=measures.n_rounds, drift_within=within, squared_drift=squares, change_points=None
    )


def with_largest_variance(measures: Measures) -> Measures:
    """Return the measures with the largest variance, 1/4 for each loss in [0, 1]."""
    return dataclasses.replace(measures, variance=measures.n_actions * measures.n_rounds / 4)


def _optimistic_gd(measures: Measures) -> float:
    limit = with_largest_drift(measures)
    return expected.optimistic_gd(limit, tuning.gd_rate(limit))


def _restarted_gd(measures: Measures) -> float:
    limit = with_most_segments(measures)
    return expected.restarted_adaptive_gd(limit, tuning.restarted_gd_restart_every(limit))


def _rerun_ucbv(measures: Measures) -> float:
    limit = with_most_segments(measures)
    bound = expected.rerun_ucbv(limit, tuning.rerun_ucbv_restart_every(limit), tuning.ucbv_failure(limit, "rigorous"))
    return measures.n_rounds if bound is None else bound


def _exp3_s(measures: Measures) -> float:
    limit = with_largest_drift(measures)
    return adversarial.exp3_s(limit, adversarial.exp3_s_exploration_rate(limit), 1 / limit.n_rounds)


def _rexp3(measures: Measures) -> float:
    limit = with_most_segments(measures)
    block = adversarial.rexp3_restart_every(limit)
    return adversarial.rexp3(limit, adversarial.exp3_exploration_rate(limit.n_actions, block), block)


def _ada_normal_hedge(measures: Measures) -> float:
    return pathwise_experts.ada_normal_hedge_tv_worst(measures.n_actions, measures.n_rounds, measures.segments)


def _aomd(measures: Measures) -> float:
    limit = with_largest_drift(measures)
    bound = pathwise_meta.aomd_coarse(expected.deviation(limit), tuning.aomd_scale(limit), limit.segments)
    return min(limit.n_rounds, bound)


def _term(**powers: Fraction) -> Mapping[str, Fraction]:
    return powers


_HALF, _THIRD, _ONE = Fraction(1, 2), Fraction(1, 3), Fraction(1)
_SEGMENTS_AND_VARIANCE = "sqrt(Gamma Lambda) + Gamma", (_term(Gamma=_HALF, Lambda=_HALF), _term(Gamma=_ONE))
_DRIFT_AND_VARIANCE = "(V Lambda T)^(1/3) + V", (_term(V=_THIRD, Lambda=_THIRD, T=_THIRD), _term(V=_ONE))
_SEGMENTS = "sqrt(Gamma T)", (_term(Gamma=_HALF, T=_HALF),)
_HIDDEN_DRIFT = (
    "(V Lambda T)^(1/3) + sqrt(V T)",
    (_term(V=_THIRD, Lambda=_THIRD, T=_THIRD), _term(V=_HALF, T=_HALF)),
)
_DRIFT = "(V T^2)^(1/3)", (_term(V=_THIRD, T=2 * _THIRD),)
_NOISIEST = "the constants are those of our construction with the largest possible variance"

_BESBES_GUR_ZEEVI = Column(
    upper=Rate(*_DRIFT, "Besbes, Gur, Zeevi (2014, 2015); the bound is that of Rexp3, for either feedback", _rexp3),
    lower=Rate(
        *_DRIFT,
        f"Besbes, Gur, Zeevi (2014, 2015); {_NOISIEST}",
        lambda m: lower.full_drifting(with_largest_variance(m)),
    ),
)

TABLE: dict[tuple[str, str], Cell] = {
    ("full", "switching"): Cell(
        this_paper=Column(
            upper=Rate(*_SEGMENTS_AND_VARIANCE, "Theorem 3.2 (dev)", _optimistic_gd),
            lower=Rate(*_SEGMENTS_AND_VARIANCE, "Theorem 4.2 (full-low)", lower.full_switching),
        ),
        excess_loss=Column(
            upper=Rate(
                "sqrt(Gamma L*)",
                ({"Gamma": _HALF, "L*": _HALF},),
                "Luo, Schapire (2015); Gaillard, Stoltz, van Erven (2014); Koolen, van Erven (2015);"
                " the bound is that of AdaNormalHedge.TV, with T for L*",
                _ada_normal_hedge,
            )
        ),
        jadbabaie=Column(
            upper=Rate(
                "sqrt(Gamma D)",
                (_term(Gamma=_HALF, D=_HALF),),
                "Jadbabaie, Rakhlin, Shahrampour, Sridharan (2015); the bound is that of AOMD with one phase, given"
                " Gamma, with the mean of D",
                _aomd,
            )
        ),
    ),
    ("full", "drifting"): Cell(
        this_paper=Column(
            upper=Rate(*_DRIFT_AND_VARIANCE, "Theorem 3.3 (full_info_given_V)", _restarted_gd),
            lower=Rate(*_DRIFT_AND_VARIANCE, "Theorem 4.3 (full_V)", lower.full_drifting),
        ),
        besbes_gur_zeevi=_BESBES_GUR_ZEEVI,
        jadbabaie=Column(
            upper=Rate(
                "(V~ D T)^(1/3)",
                ({"V~": _THIRD, "D": _THIRD, "T": _THIRD},),
                "Jadbabaie, Rakhlin, Shahrampour, Sridharan (2015)",
            )
        ),
    ),
    ("bandit", "switching"): Cell(
        this_paper=Column(lower=Rate(*_SEGMENTS, "Theorem 4.1 (bandit-low)", lower.bandit_switching)),
        garivier_moulines=Column(
            upper=Rate(
                *_SEGMENTS,
                "Garivier, Moulines (2011), with gaps in the constants; the bound, without them, is that of EXP3.S"
                " (Auer, Cesa-Bianchi, Freund, Schapire 2002)",
                _exp3_s,
            ),
            lower=Rate(
                *_SEGMENTS,
                f"Garivier, Moulines (2011); {_NOISIEST}",
                lambda m: lower.full_switching(with_largest_variance(m)),
            ),
        ),
    ),
    ("bandit", "drifting"): Cell(
        this_paper=Column(
            upper=Rate(*_HIDDEN_DRIFT, "Theorem 3.1 (bandit-u)", _rerun_ucbv),
            lower=Rate(*_HIDDEN_DRIFT, "Theorem 4.3 (full_V)", lower.bandit_drifting),
        ),
        besbes_gur_zeevi=_BESBES_GUR_ZEEVI,
    ),
}
