"""The statements of Sections 2 and 3 of the paper: a confidence radius, Algorithms 1 to 3 and their upper bounds."""

from __future__ import annotations

from driftwise.theory.statement import Statement

__all__ = ["UPPER_BOUNDS"]

UPPER_BOUNDS = (
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
)
