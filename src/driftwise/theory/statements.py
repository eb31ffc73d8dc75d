"""The theorems, lemmas, algorithms and the table of Wei, Hong and Lu (NIPS 2016), in the order of the paper.

Numbers are those that the paper prints: theorems and lemmas share one counter, which starts again in every section.
Labels are those of its source.

>>> statements["Theorem 3.2"].label
'dev'
>>> find_statement("dev").number, find_statement("lem:dev").number, find_statement("b.1").number
('Theorem 3.2', 'Lemma C.1', 'Lemma B.1')
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from driftwise.core.errors import UnknownName

__all__ = ["Statement", "find_statement", "statements", "statements_about"]

_LABEL_PREFIXES = ("theorem", "thm", "lemma", "lem")


@dataclass(frozen=True)
class Statement:
    r"""One statement of the paper: what it says, what is true of it, and where the code and the tests are.

    Parameters
    ----------
    number : str
        What the paper prints, as in "Theorem 3.2".
    label : str
        Its label in the paper's source, "" if it has none. A prefix is kept only where two labels differ by it alone.
    title : str
        A short noun phrase.
    words : str
        The statement in plain English, with every symbol explained; maths between dollar signs.
    formula : str
        The printed claim in LaTeX, without dollar signs.
    ours : str
        What driftwise proves or uses instead, "" if it is the same.
    code : tuple of str
        Dotted names of the objects that implement it.
    tests : tuple of str
        Files with its tests, from the root of the repository.
    errata : tuple of str
        Entries of ``docs/errata.md``, as in "E1".
    commands : tuple of str
        Command lines that show it at work.

    Examples
    --------
    >>> find_statement("3.2").slug
    'theorem-3-2'
    """

    number: str
    label: str
    title: str
    words: str
    formula: str
    ours: str
    code: tuple[str, ...]
    tests: tuple[str, ...]
    errata: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("words", "formula", "ours"):  # written over several lines, kept on one
            object.__setattr__(self, name, " ".join(getattr(self, name).split()))

    @property
    def kind(self) -> str:
        """Return "theorem", "lemma", "algorithm" or "table"."""
        return self.number.partition(" ")[0].lower()

    @property
    def name(self) -> str:
        """Return the number with the label, as a page writes it where it names the statement first."""
        return f"{self.number} ({self.label})" if self.label else self.number

    @property
    def slug(self) -> str:
        """Return the number as part of a file name."""
        return re.sub(r"[^a-z0-9]+", "-", self.number.lower())


_STATEMENTS = (
    Statement(
        number="Theorem 2.1",
        label="emp_bernstein",
        title="empirical Bernstein inequality",
        words=r"""The mean of $n$ independent samples $X_i$ in $[0, 1]$ differs from its expectation by more than the
            radius $\rho$ with probability at most $\delta$. The radius is computed from the sample variance
            $\Lambda_X$: samples that vary little have a small radius. Proved by Maurer and Pontil; Algorithm 1 uses
            it.""",
        formula=r"""\Pr\left[\left|\sum_{i=1}^n \frac{\mathbb{E}[X_i] - X_i}{n}\right| > \rho(n, \Lambda_X, \delta)
            \right] \le \delta, \qquad \rho(n, \Lambda, \delta) = \sqrt{\frac{2 \Lambda \ln(2/\delta)}{n}} + \frac{7
            \ln(2/\delta)}{3(n-1)}, \qquad \Lambda_X = \sum_{i<j} \frac{(X_i - X_j)^2}{n(n-1)}""",
        ours=r"""The radius is the same. It holds on one side with probability $1 - \delta$ and on both sides with $1
            - \frac{3}{2} \delta$, and the paper needs it for a random number of samples. The tuning with
            `failure="rigorous"` allows for both.""",
        code=("driftwise.theory.concentration.empirical_bernstein", "driftwise.learners.RerunUCBV"),
        tests=("tests/test_concentration.py", "tests/test_errata.py"),
        errata=("E3", "E6"),
    ),
    Statement(
        number="Algorithm 1",
        label="alg:bandit",
        title="Rerun-UCB-V",
        words=r"""A bandit algorithm for losses whose means drift. It divides the rounds into blocks of $B$ rounds and
            starts UCB-V afresh in each. A round plays the action whose estimated mean loss $\hat\mu_{t,i}$, minus its
            confidence radius $\lambda_{t,i}$, is least. The block length is set from the number of actions $K$, the
            number of rounds $T$, the drift $V$ and the variance $\Lambda$.""",
        formula=r"""a_t = \arg\min_i (\hat\mu_{t,i} - \lambda_{t,i}), \qquad \lambda_{t,i} = \rho(n_{t,i},
            \hat\Lambda_{t,i}, \tfrac{1}{KT}), \qquad B = (K^2 \Lambda T / V^2)^{1/3} \text{ if } K \Lambda^2 \ge T V,
            \text{ else } \sqrt{K T / V}""",
        ours=r"""The unbiased variance in place of twice that; radii of at most 1; ties go to the action played least;
            blocks are whole and have between 1 and $T$ rounds. `clip=False` and `double_variance=True` are the
            printed form.""",
        code=("driftwise.learners.RerunUCBV", "driftwise.theory.tuning.rerun_ucbv_restart_every"),
        tests=("tests/test_against_references.py", "tests/references/ucbv.py", "tests/test_errata.py"),
        errata=("E3", "E4", "E12"),
        commands=(
            "driftwise show rerun-ucbv",
            "driftwise simulate --path sinusoidal:n_actions=5 --learner rerun-ucbv:tuned",
        ),
    ),
    Statement(
        number="Theorem 3.1",
        label="bandit-u",
        title="regret of Algorithm 1",
        words=r"""With bandit feedback and drifting means, the expected dynamic regret of Algorithm 1 is at most a
            constant and logarithms times this sum. $K$ is the number of actions, $T$ the number of rounds, $V$ the
            drift of the means and $\Lambda$ the total variance of the losses. Less noise means less regret, but the
            second term remains without any noise.""",
        formula=r"\mathbb{E}[R_T] \le \tilde{O}\left((K^2 \Lambda V T)^{1/3} + \sqrt{K V T}\right)",
        ours=r"""A bound with every constant, for any block length. The tuning with `rule="sharp"` has $K$ in place of
            $K^2$ in the first term. As in the paper, the proof assumes that the radii hold at random times.""",
        code=("driftwise.theory.expected.rerun_ucbv", "driftwise.learners.RerunUCBV.tuned"),
        tests=("tests/test_theory.py", "tests/test_pathwise_bounds.py"),
        errata=("E6", "E12", "E14"),
        commands=("driftwise simulate --path sinusoidal:n_actions=5 --learner rerun-ucbv:tuned",),
    ),
    Statement(
        number="Algorithm 2",
        label="alg:dev",
        title="optimistic gradient descent",
        words=r"""An algorithm for full feedback. It keeps a point $x_t$ on the simplex $\Delta$. Each round it moves
            from $x_t$ against the losses $\ell_{t-1}$ of the previous round, as a guess of the coming ones, and plays
            the point $\hat x_t$ that it reaches. Then it moves $x_t$ itself against the losses $\ell_t$ that it sees.
            The learning rate $\eta_t$ sets how far it moves.""",
        formula=r"""\hat x_t = \arg\min_{x \in \Delta} \langle \ell_{t-1}, x \rangle + \frac{1}{\eta_t} \|x -
            x_t\|_2^2, \qquad x_{t+1} = \arg\min_{x \in \Delta} \langle \ell_t, x \rangle + \frac{1}{\eta_t} \|x -
            x_t\|_2^2""",
        ours=r"""The same for a finite rate. With an infinite rate and ties the printed step is not defined; driftwise
            takes the limit of large rates.""",
        code=("driftwise.learners.OptimisticGD",),
        tests=("tests/test_against_references.py", "tests/references/gd.py", "tests/test_errata.py"),
        errata=("E1", "E11"),
        commands=("driftwise show optimistic-gd", "driftwise simulate --learner optimistic-gd:tuned"),
    ),
    Statement(
        number="Theorem 3.2",
        label="dev",
        title="regret of Algorithm 2 when the means switch",
        words=r"""With full feedback and means that change only at the borders of $\Gamma$ segments, the expected
            dynamic regret of Algorithm 2 is at most a constant times this sum, where $\Lambda$ is the total variance
            of the losses and $K$ the number of actions. The number of rounds does not occur: regret stays constant if
            changes and noise do.""",
        formula=r"""\mathbb{E}[R_T] \le O\left(\sqrt{\Gamma \Lambda} + \sqrt{K}\, \Gamma\right) \quad \text{with}
            \quad \eta = \sqrt{\frac{\Gamma}{\Lambda + K \Gamma}}""",
        ours=r"""The order is the same. For any rate $\eta$ the regret is at most $\frac{\eta}{4} \mathbb{E}[D] +
            \frac{1}{\eta} (1 - \frac{1}{K} + 2 (\Gamma - 1))$, where $D$ is the sum of the squared distances between
            the losses of consecutive rounds and $\mathbb{E}[D] \le 2 \Lambda + \sum_t \|\mu_t - \mu_{t-1}\|_2^2$ with
            the means $\mu_t$. The printed proof is for another step size.""",
        code=("driftwise.theory.expected.optimistic_gd", "driftwise.learners.OptimisticGD.tuned"),
        tests=("tests/test_theory.py", "tests/test_pathwise_bounds.py"),
        errata=("E1",),
        commands=(
            "driftwise simulate --learner optimistic-gd:tuned --learner hedge",
            "driftwise landscape --cell full-switching --learners optimistic-gd,hedge",
        ),
    ),
    Statement(
        number="Theorem 3.3",
        label="full_info_given_V",
        title="regret of Algorithm 2 in blocks when the means drift",
        words=r"""With full feedback and drifting means, run Algorithm 2 afresh in every block of $B$ rounds, with a
            learning rate that falls as the losses of the block move. Its expected dynamic regret is at most a
            constant times this sum. $V$ is the drift of the means, $\Lambda$ the total variance of the losses, $T$
            the number of rounds and $K$ the number of actions.""",
        formula=r"""\mathbb{E}[R_T] \le O\left((\Lambda V T)^{1/3} + \sqrt{K}\, V\right) \quad \text{with} \quad B =
            (\Lambda T / V^2)^{1/3} \text{ if } \Lambda T > V^2, \text{ else } 1""",
        ours=r"""The order is the same. The bound is $8.25 (\sqrt{2 M \Lambda} + \sqrt{K}\, V) + 2 B V'$ for $M =
            \lceil T / B \rceil$ blocks, where $V'$ is the drift without the jump from 0 to the first means.""",
        code=(
            "driftwise.learners.RestartedAdaptiveGD",
            "driftwise.theory.expected.restarted_adaptive_gd",
            "driftwise.theory.tuning.restarted_gd_restart_every",
        ),
        tests=("tests/test_theory.py", "tests/test_pathwise_bounds.py", "tests/references/gd.py"),
        errata=("E5", "E12", "E15"),
        commands=(
            "driftwise simulate --path sinusoidal:n_actions=5 --learner restarted-adaptive-gd:tuned --learner hedge",
            "driftwise landscape --cell full-drifting --learners restarted-adaptive-gd,hedge",
        ),
    ),
    Statement(
        number="Algorithm 3",
        label="alg:Op_Prod",
        title="Optimistic-Adapt-ML-Prod",
        words=r"""An algorithm for full feedback without parameters. It keeps a weight $w_{t,k}$ and a learning rate
            $\eta_{t,k}$ for each action $k$. A round guesses the regret $r_{t,k} = \langle p_t, \ell_t \rangle -
            \ell_{t,k}$ to each action by $m_{t,k}$, its value with the losses $\ell_{t-1}$ of the previous round, and
            plays $p_t$. Then weights grow with the regret, and rates fall with the squared errors of the guess.""",
        formula=r"""p_{t,k} \propto \eta_{t-1,k} w_{t-1,k} e^{\eta_{t-1,k} m_{t,k}}, \qquad w_{t,k} = \left(w_{t-1,k}
            e^{\eta_{t-1,k} r_{t,k} - \eta_{t-1,k}^2 (r_{t,k} - m_{t,k})^2}\right)^{\eta_{t,k} / \eta_{t-1,k}}, \qquad
            \eta_{t,k} = \min\left\{\frac14, \sqrt{\frac{\ln K}{1 + \sum_{s \le t} (r_{s,k} - m_{s,k})^2}} \right\}""",
        ours=r"""The same plays. Rates are computed before the weights that need them, logarithms of weights are
            stored so that nothing underflows, and a single action has weight 1.""",
        code=("driftwise.learners.OptimisticAdaptMLProd", "driftwise.learners.parts.prod_experts"),
        tests=("tests/test_against_references.py", "tests/references/prod.py", "tests/test_errata.py"),
        errata=("E13",),
        commands=(
            "driftwise show optimistic-adapt-ml-prod",
            "driftwise simulate --learner optimistic-adapt-ml-prod --comparator static",
        ),
    ),
    Statement(
        number="Theorem 3.4",
        label="RTk_bound",
        title="regret of Algorithm 3 against one action",
        words=r"""For every sequence of losses $\ell_t$, with full feedback, the regret of Algorithm 3 against any
            fixed action $k$ of the $K$ actions is at most a constant and $\ln \ln T$, for $T$ rounds, times this sum.
            Here $r_{t,k}$ is the regret to action $k$ in round $t$ and $m_{t,k}$ the guess of it. The sum is small
            where the losses of consecutive rounds are alike. No parameter is needed.""",
        formula=r"""R_{T,k} \le \hat{O}\left(\sqrt{\sum_{t \le T} (r_{t,k} - m_{t,k})^2 \ln K} + \ln K\right) \le
            \hat{O}\left(\sqrt{\sum_{t \le T} \|\ell_t - \ell_{t-1}\|_\infty^2 \ln K} + \ln K\right)""",
        ours=r"""The order is the same. The constants printed in Appendix E do not follow from Lemma E.1. The bound
            used is $(2 g + L) \sqrt{A / g} + 4 g + 4 L + 1$ with $A = 1 + \sum_t (r_{t,k} - m_{t,k})^2$, $g = \ln K$
            and $L = \ln(1 + \frac{K}{e} (1 + \ln(T + 1)))$. The command prints its mean for the measures of the
            environment, where $A$ is at most $1 + 4 \Lambda + 2 \sum_t \|\mu_t - \mu_{t-1}\|_2^2$.""",
        code=(
            "driftwise.learners.OptimisticAdaptMLProd",
            "driftwise.theory.pathwise.adapt_ml_prod_closed",
            "driftwise.theory.expected.adapt_ml_prod",
        ),
        tests=("tests/test_pathwise_bounds.py", "tests/test_theory.py"),
        errata=("E2",),
        commands=("driftwise simulate --learner optimistic-adapt-ml-prod --comparator static",),
    ),
    Statement(
        number="Theorem 3.5",
        label="dynamic_upper_full-into",
        title="regret of Algorithm 4",
        words=r"""With full feedback, the expected dynamic regret of Algorithm 4 is at most a constant and logarithms
            times the first sum for means with $\Gamma$ segments, and times the second for means with drift $V$.
            $\Lambda$ is the total variance of the losses, $T$ the number of rounds and $K$ the number of actions. The
            algorithm does not need to know any of these measures.""",
        formula=r"""\mathbb{E}[R_T] \le \tilde{O}\left(\sqrt{\Gamma \Lambda \ln K} + \Gamma \ln K\right) \quad
            \text{and} \quad \mathbb{E}[R_T] \le \tilde{O}\left((\Lambda V T \ln K)^{1/3} + \sqrt{V T \ln K}\right)""",
        ours=r"""The order is the same. The bound with constants has $\ln(KT)$ in place of $\ln K$, because Algorithm
            4 runs Algorithm 3 on $KT$ experts.""",
        code=(
            "driftwise.learners.SleepingOptimisticAdaptMLProd",
            "driftwise.theory.expected.sleeping_adapt_ml_prod",
            "driftwise.theory.printed.sleeping_segments",
        ),
        tests=("tests/test_theory.py",),
        errata=("E10", "E12"),
        commands=("driftwise simulate --learner sleeping-optimistic-adapt-ml-prod:memory=merged --learner hedge",),
    ),
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
    Statement(
        number="Lemma B.1",
        label="reg_int",
        title="regret of Algorithm 1 in one interval",
        words=r"""In an interval of $|I|$ rounds without a restart, with drift $V_I$ and variance $\Lambda_I$, the
            expected dynamic regret of Algorithm 1 with $K$ actions is at most a constant and logarithms times this
            sum. Theorem 3.1 sums it over the blocks.""",
        formula=r"\mathbb{E}[R_I] \le \tilde{O}\left(K \sqrt{\Lambda_I} + K + |I|\, V_I\right)",
        ours=r"""With constants, and $\sqrt{K \Lambda_I}$ in place of $K \sqrt{\Lambda_I}$.""",
        code=("driftwise.theory.pathwise.rerun_ucbv_good_event", "driftwise.theory.expected.rerun_ucbv"),
        tests=("tests/test_pathwise_bounds.py", "tests/test_theory.py", "tests/test_errata.py"),
        errata=("E6", "E14"),
    ),
    Statement(
        number="Lemma B.2",
        label="lambda",
        title="the confidence radius while the means drift",
        words=r"""The radius $\lambda_{t,i}$ of an action that was played $n$ times in an interval, in the rounds $r
            \in S$, is at most a constant and logarithms times this sum. $\hat\sigma_{r,i}$ is the distance between a
            loss and its mean, and $V_I$ the drift in the interval. Drift widens the radius by at most $V_I$, up to
            logarithms.""",
        formula=r"""\lambda_{t,i} \le \tilde{O}\left(\frac1n \left(\sqrt{\sum_{r \in S} \hat\sigma_{r,i}^2} + 1\right)
            + V_I\right), \qquad \hat\sigma_{r,i}^2 = (\ell_{r,i} - \mu_{r,i})^2""",
        ours=r"""With constants: $\sqrt{\frac{2L}{n-1}} (\sqrt{\frac1n \sum_r \hat\sigma_r^2} + \frac12 V') +
            \frac{7L}{3(n-1)}$ with $L = \ln(2/\delta)$, where $\delta$ is the failure probability and $V'$ the
            largest distance between two means in the interval.""",
        code=("driftwise.theory.concentration.drifting_radius", "driftwise.theory.printed.drifting_radius"),
        tests=("tests/test_concentration.py",),
    ),
    Statement(
        number="Lemma C.1",
        label="lem:dev",
        title="regret of Algorithm 2 against a sequence of actions",
        words=r"""Against every sequence of actions with at most $N$ segments, the expected regret of Algorithm 2 is
            at most a constant times this root. $\Lambda$ is the total variance of the losses, $V$ the drift of their
            means and $K$ the number of actions. Theorem 3.2 is the case of $N = \Gamma$ segments. The proof claims
            $\eta D + N/\eta$ for every learning rate $\eta$ and every sequence of losses, where $D$ is the sum of the
            squared distances between the losses of consecutive rounds.""",
        formula=r"""\mathbb{E}[R_T] \le O\left(\sqrt{N (\Lambda + K V)}\right) \quad \text{with} \quad \eta =
            \sqrt{\frac{N}{\Lambda + K V}}""",
        ours=r"""$\frac{\eta}{4} D + \frac{1}{\eta} (1 - \frac1K + 2 (N - 1))$ for every rate and every sequence of
            losses. The printed $\eta D + N/\eta$ is false for Algorithm 2. With the rate of the lemma, its conclusion
            holds with the constant 3.""",
        code=(
            "driftwise.theory.pathwise.optimistic_gd",
            "driftwise.theory.expected.optimistic_gd_against",
            "driftwise.theory.printed.optimistic_gd_path",
        ),
        tests=("tests/test_pathwise_bounds.py", "tests/test_theory.py", "tests/test_errata.py"),
        errata=("E1",),
        commands=("driftwise simulate --learner optimistic-gd:tuned --comparator switching:8",),
    ),
    Statement(
        number="Lemma D.1",
        label="",
        title="Algorithm 2 with an adaptive learning rate in one interval",
        words=r"""In every interval $I$ of rounds, for every sequence of losses $\ell_t$ and against every fixed
            action, the regret of Algorithm 2 with the learning rate $\eta_t$ is at most a constant times the root of
            the sum of squared distances between consecutive losses. The rate starts at infinity, so nothing is lost
            at the start of an interval whose losses do not move. Theorem 3.3 sums it over the blocks.""",
        formula=r"""R_I \le O\left(\sqrt{\sum_{t \in I} \|\ell_t - \ell_{t-1}\|_2^2}\right) \quad \text{with} \quad
            \eta_t = 1 \Big/ \sqrt{4 \sum_{\tau=t_1}^{t-1} \|\ell_\tau - \ell_{\tau-1}\|_2^2}""",
        ours="The same with the constant 8.25; the constant of the printed proof is 16.5.",
        code=("driftwise.theory.pathwise.adaptive_block_coarse", "driftwise.learners.RestartedAdaptiveGD"),
        tests=("tests/test_pathwise_bounds.py", "tests/test_printed_bounds.py", "tests/references/gd.py"),
        errata=("E11",),
        commands=("driftwise show restarted-adaptive-gd",),
    ),
    Statement(
        number="Lemma E.1",
        label="lemma_regret",
        title="regret of Algorithm 3 with its learning rates",
        words=r"""For every sequence of losses the regret $R_{T,k}$ of Algorithm 3 against action $k$ is at most this
            sum of three terms: the price of the first weight $w_{0,k}$, the squared errors of the guesses $m_{t,k}$
            of the regrets $r_{t,k}$, each times the learning rate $\eta_{t-1,k}$, and the price of rates that change.
            Theorem 3.4 follows from it.""",
        formula=r"""R_{T,k} \le \frac{1}{\eta_{0,k}} \ln \frac{1}{w_{0,k}} + \sum_{t=1}^T \eta_{t-1,k} (r_{t,k} -
            m_{t,k})^2 + \frac{1}{\eta_{T,k}} \ln\left(1 + \frac1e \sum_{k'=1}^K \sum_{t=1}^T
            \left(\frac{\eta_{t-1,k'}}{\eta_{t,k'}} - 1\right)\right)""",
        ours="The same; the paper prints $R_{t,k}$ for $R_{T,k}$.",
        code=("driftwise.theory.pathwise.adapt_ml_prod",),
        tests=("tests/test_pathwise_bounds.py", "tests/test_errata.py"),
        errata=("E2", "E15"),
    ),
    Statement(
        number="Algorithm 4",
        label="alg:sleep",
        title="Modified Optimistic-Adapt-ML-Prod, with sleeping experts",
        words=r"""An algorithm for full feedback that tracks changes and needs none of the measures. It runs Algorithm
            3 on $KT$ experts: expert $(s, k)$ sleeps before round $s$ and advises action $k$ from then on, so some
            expert has just started when the best action changes. It plays each of the $K$ actions by the total weight
            $\tilde p_t$ of its experts that are awake. Sleeping experts are given the loss of the play.""",
        formula=r"""p_{t,k} \propto \sum_{s=1}^t \tilde p_{t,(s,k)}, \qquad \tilde\ell_{t,(s,k)} = \mathbf{1}_{s > t}
            \langle p_t, \ell_t \rangle + \mathbf{1}_{s \le t}\, \ell_{t,k}, \qquad \tilde m_{t,(s,k)} = \mathbf{1}_{s
            \le t}\, m_{t,k}""",
        ours=r"""The same, with $\ln(KT)$ in the rates and the guesses $\tilde m_t$ before the play, which needs them.
            Without the number of rounds, every expert has the prior weight $1/K$. With `memory="merged"` the time per
            round grows like $\log t$ and not like $t$.""",
        code=("driftwise.learners.SleepingOptimisticAdaptMLProd", "driftwise.learners.parts.sleeping_experts"),
        tests=("tests/test_against_references.py", "tests/references/sleeping.py", "tests/test_merged_memory.py"),
        errata=("E10",),
        commands=(
            "driftwise show sleeping-optimistic-adapt-ml-prod",
            "driftwise simulate --learner sleeping-optimistic-adapt-ml-prod:memory=merged",
        ),
    ),
    Statement(
        number="Lemma F.1",
        label="rt",
        title="regrets of the sleeping experts",
        words=r"""In round $t$ the regret $\tilde r_{t,(s,k)}$ of the inner Algorithm 3 to expert $(s, k)$ is 0 while
            the expert sleeps, and from its first round $s$ on it is the regret $r_{t,k}$ of Algorithm 4 to action
            $k$. So a bound on the former is one on the regret since round $s$.""",
        formula=r"""\tilde r_{t,(s,k)} = 0 \text{ if } s > t, \qquad \tilde r_{t,(s,k)} = r_{t,k} \text{ otherwise}""",
        ours="",
        code=("driftwise.learners.parts.sleeping_experts",),
        tests=("tests/test_against_references.py", "tests/references/sleeping.py"),
    ),
    Statement(
        number="Lemma F.2",
        label="R_I",
        title="regret of Algorithm 4 in every interval",
        words=r"""For every sequence of losses $\ell_t$, from every round $t_1$ to every round $t_2$ and against every
            action $k$ of the $K$ actions, the regret of Algorithm 4 in these rounds is at most a constant and
            logarithms times this sum. It holds for all intervals at the same time.""",
        formula=r"""\sum_{t=t_1}^{t_2} r_{t,k} \le \tilde{O}\left(\sqrt{\sum_{t=t_1}^{t_2} \|\ell_t -
            \ell_{t-1}\|_\infty^2 \ln K} + \ln K\right)""",
        ours=r"""With constants, and $\ln(KT)$ in place of $\ln K$ for $T$ rounds.""",
        code=("driftwise.theory.pathwise.sleeping_closed", "driftwise.results.Interval"),
        tests=("tests/test_pathwise_bounds.py", "tests/test_comparators.py"),
        errata=("E10",),
        commands=("driftwise simulate --comparator interval:250-499 --learner sleeping-optimistic-adapt-ml-prod",),
    ),
    Statement(
        number="Lemma F.3",
        label="ML-dev",
        title="regret of Algorithm 4 against a sequence of actions",
        words=r"""Against every sequence of actions with at most $N$ segments, the expected regret of Algorithm 4 is
            at most a constant and logarithms times this sum. $\Lambda$ is the total variance of the losses, $V$ the
            drift of their means and $K$ the number of actions. Theorem 3.5 follows from it.""",
        formula=r"\mathbb{E}[R_T] \le \tilde{O}\left(\sqrt{N \Lambda \ln K} + V \sqrt{\ln K} + N \ln K\right)",
        ours=r"""With constants, and $\ln(KT)$ in place of $\ln K$ for $T$ rounds.""",
        code=("driftwise.theory.expected.sleeping_adapt_ml_prod_against",),
        tests=("tests/test_theory.py",),
        errata=("E10",),
        commands=("driftwise simulate --comparator switching:8 --learner sleeping-optimistic-adapt-ml-prod",),
    ),
)

statements: dict[str, Statement] = {each.number: each for each in _STATEMENTS}


def find_statement(text: str) -> Statement:
    """Return the statement with this number, with or without its kind, or with this label.

    Capitals do not matter. A label may have the prefix of the paper's source, as in "thm:dev". A number without its
    kind is that of a theorem or lemma.
    """
    wanted = " ".join(text.lower().split())
    prefix, _, rest = wanted.replace("_", ":", 1).partition(":")
    spellings = [wanted, wanted[len(prefix) + 1 :]] if prefix in _LABEL_PREFIXES and rest else [wanted]
    for spelling in spellings:
        for each in statements.values():
            bare = each.number.partition(" ")[2] if each.kind in ("theorem", "lemma") else ""
            if spelling and spelling in (each.number.lower(), bare.lower(), each.label.lower()):
                return each
    raise UnknownName("theorem, lemma or algorithm", text, _names())


def statements_about(member: type[Any]) -> list[Statement]:
    """Return the statements whose code is a class of driftwise, or a part of it.

    >>> from driftwise.learners import OptimisticGD
    >>> [each.number for each in statements_about(OptimisticGD)]
    ['Algorithm 2', 'Theorem 3.2']
    """
    place = f"{'.'.join(member.__module__.split('.')[:2])}.{member.__name__}"
    return [each for each in statements.values() if any(f"{name}.".startswith(f"{place}.") for name in each.code)]


def _names() -> list[str]:
    """Return every name that an error may suggest."""
    return [name for each in statements.values() for name in (each.number, each.label) if name]
