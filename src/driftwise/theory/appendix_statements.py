"""The statements of Appendices B to F of the paper: the lemmas behind the upper bounds, and Algorithm 4."""

from __future__ import annotations

from driftwise.theory.statement import Statement

__all__ = ["APPENDICES"]

APPENDICES = (
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
