r"""Algorithm 4: Algorithm 3 on all $K T$ sleeping experts $(s, k)$, each of them explicit (paper, Appendix F).

Expert $(s, k)$ sleeps before round $s$ and follows action $k$ from then on. With $\tilde p_t$ over experts,

$$ p_{t,k} = \sum_{s \le t} \tilde p_{t,(s,k)} / Z_t, \quad
   \tilde\ell_{t,(s,k)} = 1[s > t] \langle p_t, \ell_t \rangle + 1[s \le t] \ell_{t,k}, \quad
   \tilde m_{t,(s,k)} = 1[s \le t] (\langle p_t, \ell_{t-1} \rangle - \ell_{t-1,k}), $$

and $\tilde r = \langle \tilde p_t, \tilde\ell_t \rangle - \tilde\ell_t$ enters the recursions (w_t), (eta_t)
of Algorithm 3 with $\ln(K T)$ in the rates and $w_0 = 1/(KT)$ (errata, E10). `flat_prior` is the version that
needs no $T$: $w_0 = 1$, prior $1/K$ outside the weights, $\ln(K (s + 1))$ in the rates of row $s$.
"""

import numpy as np


def sleeping_optimistic_adapt_ml_prod(losses, n_rounds):
    """Return the weights Algorithm 4 plays with the prior for `n_rounds` rounds."""
    n_experts = losses.shape[1] * n_rounds
    return with_rates_of(losses, n_rounds, np.full(n_rounds, np.log(n_experts)), 1.0 / n_experts)


def flat_prior(losses):
    """Return the weights of the anytime version."""
    n_rounds, n_actions = losses.shape
    starts = np.arange(1, n_rounds + 1)
    return with_rates_of(losses, n_rounds, np.log(n_actions * (starts + 1)), 1.0)


def with_rates_of(losses, n_rounds, log_experts, first_weight):
    """Run all experts with `log_experts[s]` under the root of the rates of row s.

    A prior that is the same for every expert cancels in the play, so it does not appear.
    """
    n_actions = losses.shape[1]
    if n_actions == 1:
        return np.ones_like(losses)
    shape = (n_rounds, n_actions)
    gamma = np.broadcast_to(log_experts[:, None], shape)
    start = np.broadcast_to(np.arange(n_rounds)[:, None], shape)
    weight, seen = np.full(shape, first_weight), np.zeros(shape)
    rate = np.minimum(0.25, np.sqrt(gamma))
    last = np.zeros(n_actions)
    played = np.empty_like(losses)
    for t in range(len(losses)):
        awake = start <= t

        def over_experts(alpha):
            estimate = np.where(awake, alpha - last, 0.0)
            unscaled = rate * weight * np.exp(rate * estimate)
            return unscaled / unscaled.sum()

        def over_actions(alpha):
            mass = np.where(awake, over_experts(alpha), 0.0).sum(axis=0)
            return mass / mass.sum()

        low, high = 0.0, 1.0
        for _ in range(60):
            alpha = (low + high) / 2
            low, high = (alpha, high) if over_actions(alpha) @ last > alpha else (low, alpha)
        p, p_experts = over_actions(alpha), over_experts(alpha)
        played[t] = p
        loss = np.where(awake, losses[t], p @ losses[t])
        r = (p_experts * loss).sum() - loss
        m = np.where(awake, alpha - last, 0.0)
        seen += (r - m) ** 2
        new_rate = np.minimum(0.25, np.sqrt(gamma / (1.0 + seen)))
        weight = (weight * np.exp(rate * r - rate**2 * (r - m) ** 2)) ** (new_rate / rate)
        rate = new_rate
        last = losses[t]
    return played


def merged(losses, resolution, n_rounds=None):
    """Return the weights of Algorithm 4 when rows of like age are merged; rows are plain lists, oldest first."""
    n_actions = losses.shape[1]
    if n_actions == 1:
        return np.ones_like(losses)
    rows = []  # [size, scale, weights, deviations]
    last = np.zeros(n_actions)
    played = np.empty_like(losses)
    for t in range(len(losses)):
        n_experts = n_actions * (n_rounds or 1)
        scale = np.log(n_experts) if n_rounds else np.log(n_actions * (t + 2))
        rows.append([1, scale, np.full(n_actions, 1.0 / n_experts if n_rounds else 1.0), np.zeros(n_actions)])
        size = 1
        while sum(row[0] == size for row in rows) > resolution:
            one, two = [i for i, row in enumerate(rows) if row[0] == size][:2]
            together = rows[one][2] + rows[two][2]
            spread = (rows[one][2] * rows[one][3] + rows[two][2] * rows[two][3]) / together
            rows[one] = [2 * size, rows[two][1], together, spread]
            del rows[two]
            size *= 2
        weight = np.array([row[2] for row in rows])
        seen = np.array([row[3] for row in rows])
        rate = np.minimum(0.25, np.sqrt(np.array([row[1] for row in rows])[:, None] / (1 + seen)))

        def play(alpha):
            mass = (rate * weight * np.exp(rate * (alpha - last))).sum(axis=0)
            return mass / mass.sum()

        low, high = 0.0, 1.0
        for _ in range(60):
            alpha = (low + high) / 2
            low, high = (alpha, high) if play(alpha) @ last > alpha else (low, alpha)
        played[t] = play(alpha)
        regret = played[t] @ losses[t] - losses[t]
        error = regret - (alpha - last)
        for i, row in enumerate(rows):
            new_seen = row[3] + error**2
            new_rate = np.minimum(0.25, np.sqrt(row[1] / (1 + new_seen)))
            grown = row[2] * np.exp(rate[i] * regret - rate[i] ** 2 * error**2)
            rows[i] = [row[0], row[1], grown ** (new_rate / rate[i]), new_seen]
        last = losses[t]
    return played
