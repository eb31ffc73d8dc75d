r"""Tracker: the default learner with full feedback.

The rule is AdaHedge with a prior over the bases; `docs/decisions.md` compares grids and priors. Three choices matter.
The leader has most of the prior, so that where nothing changes the other bases cost little. The switch rates go down to
$10^{-8}$: the cost of a change grows with $\ln(1/\alpha)$ only, and sharing costs $\alpha T$. Fixed Share is there in
its plain and in its optimistic form: the one is better with noise, the other where losses repeat.

The price of not knowing the range of the losses. A base is Fixed Share on the scaled losses $z_t$, and its regret in
round $t$ counts $b_t$ times. In one round, with $x'$ the weights before sharing,
$\langle \hat x_t, z_t \rangle - z_{t,u} \le \frac1\eta \ln\frac{x'_{t,u}}{x_{t,u}} + \frac\eta8 d_t^2$, by Hoeffding's
lemma under $\hat x_t$ and $\langle \hat x_t, g_t \rangle \le -\frac1\eta \ln \sum_k x_{t,k} e^{-\eta g_{t,k}}$;
$g_t = 0$ is Fixed Share. With $a_t = -\ln x_{t,u_t}$ for the comparator's action $u_t$, the inequalities of the
rounds of a segment add up to $\sum_t b_t (a_t - a_{t+1})$, apart from sharing, which is at most
$b_1 a_1 + (b_T - b_1) \max_t a_t$, and $a_t \le \ln(K/\alpha)$. So the bound for a known range holds with the range
$b_T$ and an additional $(b_T - b_1) \ln(1/\alpha)/\eta$.

A fixed learning rate has a term of the order $\eta T$ in its bound, and losses that depend on the weights reach it. The
slow rates $1/\sqrt t$ and $1/(t+1)$ are there for such losses: the same proof, with $b_t/\eta_t$ in place of $b_t$,
bounds their regret by about $(m + 1) \sqrt T \ln(K T)$.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from driftwise.core.corners import Corners
from driftwise.core.measures import Measures
from driftwise.core.validation import require
from driftwise.learners.contract import Beliefs, HintedLearner, State
from driftwise.learners.parts.grid_learner import GridLearner, grid
from driftwise.learners.parts.prior_ada_hedge import PriorAdaHedge
from driftwise.learners.parts.running_measures import estimates
from driftwise.learners.parts.stacked_memory import inner_memory
from driftwise.learners.parts.tracking_bank import TrackingBank
from driftwise.theory import pathwise_tracker

__all__ = ["Tracker"]

LEARNING_RATES = (0.3, 1.0, 3.0, 10.0, 30.0)
SWITCH_RATES = (1e-8, 1e-5, 1e-2)
LEADER_PRIOR = 0.8
_BANKS = {both: TrackingBank(LEARNING_RATES, SWITCH_RATES, both) for both in (False, True)}


def _rule(bank: TrackingBank) -> PriorAdaHedge:
    n_others = bank.n_bases - 1
    return PriorAdaHedge((LEADER_PRIOR, *[(1.0 - LEADER_PRIOR) / n_others] * n_others))


_RULES = {both: _rule(bank) for both, bank in _BANKS.items()}


@grid("tracker", rule=PriorAdaHedge, banks=[TrackingBank], above_least=True)
@dataclass(frozen=True)
class Tracker(GridLearner, HintedLearner):
    r"""Tracker: the default with full feedback; follows the best action through changes, without parameters.

    AdaHedge weighs 34 bases: the leader, the action that was best in the last round, and Fixed Share in its plain and
    its optimistic form, with five learning rates and three switch rates, and with slowly falling rates. Nothing about
    the losses need be known, neither their range nor the number of rounds: multiplying all losses by a power of two
    changes no weight.

    Parameters
    ----------
    both_guesses : bool, default False
        How a hint is used: False: in place of the last losses, as the guess of the next ones. True: beside them, by 17
        more bases, so that the rule finds out which guess is better.

    Notes
    -----
    With $b_t$ the largest range of the losses of a round so far and $z_t = (\ell_t - \min_k \ell_{t,k}) / b_t$ (0 while
    $b_t = 0$, and $z_0 = 0$), the guess $g_t$ of $z_t$ is $z_{t-1}$ or, from a hint $h_t$,
    $(h_t - \min_k h_{t,k}) / \max(b_{t-1}, \text{range of } h_t)$. The bases of round $t$ are

    - the leader, uniform on the actions with the least total loss; its prior weight is $0.8$;
    - the last losses, uniform on the actions with the least guess;
    - for $\eta \in \{0.3, 1, 3, 10, 30\}$ and $\alpha \in \{10^{-8}, 10^{-5}, 10^{-2}\}$: $x_t$ and
      $\hat x_{t,k} \propto x_{t,k}\, e^{-\eta g_{t,k}}$, with $x_1$ uniform and
      $x_{t+1,k} = (1 - \alpha)\, x_{t,k}\, e^{-\eta z_{t,k}} / Z_t + \alpha / K$;
    - the same with $\eta_t = 1/\sqrt t$ and $\alpha_t = 1/(t + 1)$, where $t$ counts the rounds since the first whose
      losses differ.

    Totals that differ by at most $10^{-9}\, b_{t-1}$, and guesses that differ by at most $10^{-9}$, are tied. The other
    33 bases share the rest of the prior $\pi$ equally. With $L_{t-1,i}$ the total loss of base $i$ (the loss of weights
    $x$ is $\langle x, \ell_t \rangle$), $H = \max_i \ln(1/\pi_i) = 5.11$ and the total mixability gap $\Delta_{t-1}$
    (see `AdaHedge`), base $i$ has the weight $q_{t,i} \propto \pi_i\, e^{-H L_{t-1,i} / \Delta_{t-1}}$, or $\pi_i$
    while $\Delta_{t-1} = 0$, and Tracker plays the mean of the bases' weights under $q_t$.

    Regret: Gamma sqrt(T) ln(K T); in the regret study its score against the best tuned learner in hindsight is 1.08 in
    the geometric mean over 166 cells, and at most 1.49. For every loss sequence, against every sequence of actions with
    $m$ switches, the regret is at most $2 \Delta_T + \min_{\eta, \alpha} \{\frac1\eta [b_T\, C(m) + (b_T - b_1)
    \ln\frac1\alpha] + \frac\eta8 \sum_t b_t\, d_t^2\}$, and at most $2 \Delta_T + b_T \sqrt T\, [(m + 1) \ln(K T) + \ln
    T] + \frac18 \sum_t b_t\, d_t^2 / \sqrt t$ (here $T$ and $t$ count the rounds since the first whose losses differ),
    where $C(m) = (m+1) \ln K + m \ln\frac1\alpha + (T-m-1) \ln\frac1{1-\alpha}$, $d_t$ is the range of $z_t$ for Fixed
    Share and of $z_t - g_t$ for its optimistic form, and $\Delta_T \le \frac12 \sqrt{H \sum_t r_t^2} + (\frac23 H +
    1)\, b_T$ with $r_t$ the range of $\ell_t$ (`driftwise.theory.pathwise_tracker.tracker`).

    Must know: nothing.

    Time per round: O(K).

    In practice: `driftwise regret` measures its regret against the best of many tuned learners in hindsight.

    References
    ----------
    S. de Rooij, T. van Erven, P. Gruenwald, W. Koolen, "Follow the leader if you can, hedge if you must", JMLR 15
    (2014), for the rule.

    M. Herbster, M. Warmuth, "Tracking the best expert", Machine Learning 32 (1998), for Fixed Share.

    P. Zhao, Y.-J. Zhang, L. Zhang, Z.-H. Zhou, "Dynamic regret of convex and smooth functions", NeurIPS 2020, for grids
    of optimistic learners.

    Examples
    --------
    >>> learner = Tracker()
    >>> state = learner.start(n_actions=2)
    >>> for losses in ([0.0, 1.0], [0.8, 0.2], [0.1, 0.9]):
    ...     learner.update(state, losses)
    >>> learner.predict(state)
    array([0.9..., 0.0...])
    """

    both_guesses: bool = False
    corners = Corners(both_guesses=(True,))

    def __post_init__(self) -> None:
        require(self, "both_guesses", isinstance(self.both_guesses, bool), "True or False")

    def banks(self, n_actions: int) -> list[TrackingBank]:
        """Return the bank of all bases."""
        return [_BANKS[self.both_guesses]]

    def rule(self, n_actions: int) -> PriorAdaHedge:
        """Return AdaHedge with the prior."""
        return _RULES[self.both_guesses]

    def beliefs(self, state: State) -> Beliefs:
        """Return the weights of the bases, their mean memory, and coarse estimates of segments, drift and variance.

        The estimates are those of `driftwise.learners.parts.running_measures`: changes that are small or short are not
        counted.
        """
        found, memory, kind = super().beliefs(state), state.memory, _BANKS[self.both_guesses]
        bank = inner_memory(memory, kind.memory_type, "bank0", memory.base_weights)
        most = float(bank.range[0]) * state.rounds
        gain = float(bank.even_total[0] - memory.rule_totals.min()) / most if most > 0.0 else 0.0
        lengths = kind.memories(state.n_actions, state.rounds, gain)
        estimated = estimates(bank)._asdict()
        return replace(found, memory=float(memory.rule_weights @ lengths), **estimated)

    def bound(self, measures: Measures) -> float:
        """Return the bound for losses in [0, 1] against sequences with as many switches as the means."""
        length, pairs = _RULES[self.both_guesses].code_length, _BANKS[self.both_guesses].pairs
        return pathwise_tracker.tracker_worst(
            measures.n_actions, measures.n_rounds, measures.segments - 1, length, pairs
        )
