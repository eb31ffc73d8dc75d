"""The statements of Section 4 and Appendix A of the paper: lower bounds, and the table of all rates."""

from __future__ import annotations

from driftwise.theory.statement import Statement

__all__ = ["LOWER_BOUNDS"]

LOWER_BOUNDS = (
    Statement(
        number="Theorem 4.1",
        label="bandit-low",
        title="lower bound for bandit feedback when the means switch",
        words=r"""For every bandit algorithm there are losses without noise, with at most $\Gamma \ge 2$ segments in
            $T$ rounds, on which its expected dynamic regret is at least a constant times this. An action that is
            hardly played becomes the best one, and the algorithm does not see it. So with bandit feedback regret
            grows with the number of rounds even if nothing is random.""",
        formula=r"\mathbb{E}[R_T] \ge \Omega\left(\sqrt{\Gamma T}\right)",
        ours=r"""The same, with the constant: at least $\frac14 \sum_j \lfloor \sqrt{B_j} \rfloor$ for intervals of
            $B_j$ rounds, about $\sqrt{\Gamma T / 32}$.""",
        code=("driftwise.adversaries.BanditLow", "driftwise.theory.lower.bandit_switching"),
        tests=("tests/test_adversaries.py", "tests/test_lower_bounds.py", "tests/references/lower_bounds.py"),
        commands=("driftwise show bandit-low", "driftwise landscape --cell bandit-switching --learners exp3-s"),
    ),
    Statement(
        number="Theorem 4.2",
        label="full-low",
        title="lower bound for full feedback when the means switch",
        words=r"""For every algorithm, even with full feedback, there are losses with at most $\Gamma$ segments and
            total variance at most $\Lambda$ on which its expected dynamic regret is at least a constant times this
            sum. A best action is hidden in noise in every segment, or changes in every one of the first $\Gamma$
            rounds. So Theorem 3.2 cannot be improved by more than a factor that depends on the number of actions.""",
        formula=r"\mathbb{E}[R_T] \ge \Omega\left(\sqrt{\Gamma \Lambda} + \Gamma\right)",
        ours=r"""With constants and the number of actions $K$: of the order of $\sqrt{\Gamma \min\{\Lambda / K, T\}} +
            \Gamma$. The printed form is proved for two actions, and its noisy rounds need a variance that fewer than
            four actions cannot have.""",
        code=("driftwise.adversaries.FullLow", "driftwise.theory.lower.full_switching"),
        tests=("tests/test_adversaries.py", "tests/test_lower_bounds.py", "tests/references/lower_bounds.py"),
        errata=("E7", "E9", "E16"),
        commands=("driftwise show full-low", "driftwise landscape --cell full-switching --learners optimistic-gd"),
    ),
    Statement(
        number="Theorem 4.3",
        label="full_V",
        title="lower bounds when the means drift",
        words=r"""For every algorithm there are losses with drift at most $V$ and total variance at most $\Lambda$ in
            $T$ rounds on which its expected dynamic regret is at least a constant times the first sum with full
            feedback, and the second with bandit feedback. So with drift, regret grows with the number of rounds even
            with full feedback, as long as there is noise.""",
        formula=r"""\mathbb{E}[R_T] \ge \Omega\left((\Lambda V T)^{1/3} + V\right) \text{ (full)}, \qquad
            \mathbb{E}[R_T] \ge \Omega\left((\Lambda V T)^{1/3} + \sqrt{V T}\right) \text{ (bandit)}""",
        ours=r"""With constants and the number of actions $K$: of the order of $(\min\{\Lambda / K, T, V^2 T\} V
            T)^{1/3}$ in the first term, under the exact budget. The printed construction drifts more than $V$. For $V
            < 2$ and bandit feedback the second term is $V \sqrt T$; the printed $\sqrt{V T}$ is false for small
            $V$.""",
        code=(
            "driftwise.adversaries.FullV",
            "driftwise.adversaries.strongest",
            "driftwise.theory.lower.full_drifting",
            "driftwise.theory.lower.bandit_drifting",
        ),
        tests=("tests/test_adversaries.py", "tests/test_lower_bounds.py", "tests/references/lower_bounds.py"),
        errata=("E8", "E16"),
        commands=("driftwise show full-v", "driftwise landscape --cell full-drifting --learners restarted-adaptive-gd"),
    ),
    Statement(
        number="Lemma 4.4",
        label="sigma1",
        title="two distributions that are hard to tell apart",
        words=r"""For $0 \le \sigma \le \frac12$ and a gap $0 \le \epsilon \le \sigma / \sqrt2$ there are
            distributions $P$ and $Q$ on $[0, 1]$ with variances at most $\sigma^2$ such that the mean of $P$ is less
            than that of $Q$ by $\epsilon$, and yet samples reveal little about which one they come from: the
            divergence between them is small. Both take the values 0 and $2\sigma$. The proof of Theorem 4.3 builds
            its losses from them.""",
        formula=r"""\mathbb{E}_Q[X] - \mathbb{E}_P[X] = \epsilon, \qquad \mathrm{Var}_P, \mathrm{Var}_Q \le \sigma^2,
            \qquad (\ln 2)\, \mathrm{KL}(Q, P) \le \frac{\epsilon^2}{\sigma^2}""",
        ours=r"""The same distributions with their exact divergence, $-\frac12 \ln(1 - \epsilon^2 / \sigma^2)$ in
            natural units, which allows a larger gap.""",
        code=("driftwise.theory.lower.BiasedCoins", "driftwise.environments.ScaledBernoulli"),
        tests=("tests/test_lower_bounds.py", "tests/test_environments_noises.py", "tests/references/lower_bounds.py"),
    ),
    Statement(
        number="Table 1",
        label="tab:comp",
        title="regret with full or bandit feedback, switching or drifting",
        words=r"""Orders of the least possible regret in four settings, as functions of the number of rounds $T$, of
            segments $\Gamma$, the drift $V$ and the variance $\Lambda$; the number of actions and logarithms are left
            out. This paper's upper and lower bounds agree in every setting, except that the upper bound for bandit
            feedback and switching means is by Garivier and Moulines. The formula lists these four orders.""",
        formula=r"""\begin{array}{lll} & \text{switching} & \text{drifting} \\ \text{full} & \sqrt{\Gamma \Lambda} +
            \Gamma & (V \Lambda T)^{1/3} + V \\ \text{bandit} & \sqrt{\Gamma T} & (V \Lambda T)^{1/3} + \sqrt{V T}
            \end{array}""",
        ours=r"""The same for a fixed number of actions and a drift of at least 1. For a growing number of actions, and
            with bandit feedback for a small drift, the printed lower bounds are too large; `driftwise.theory.lower`
            has those that hold.""",
        code=("driftwise.theory.table_one.TABLE", "driftwise.landscape"),
        tests=("tests/test_table_one.py", "tests/test_landscape.py"),
        errata=("E8", "E16"),
        commands=("driftwise landscape --preset quick",),
    ),
)
