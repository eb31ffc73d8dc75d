"""The lower bounds, slowly: every length is tried, every change is played from the first round."""

import math

import numpy as np


def interval_lengths(n_rounds, n_intervals):
    """Return lengths that differ by one round at most."""
    return [(j + 1) * n_rounds // n_intervals - j * n_rounds // n_intervals for j in range(n_intervals)]


def bandit_low_guarantee(segments, n_rounds, scale=1.0):
    """A quarter for each round of a block, one block per interval."""
    lengths = interval_lengths(n_rounds, segments // 2)
    return sum(scale / 4 * max(b for b in range(length + 1) if b * b <= length) for length in lengths)


def hidden_change_blocks(changes):
    """Return the block of each interval of `theory.lower.HiddenChanges`."""
    return [changes.block + 1] * changes.n_longer + [changes.block] * (changes.n_intervals - changes.n_longer)


def hidden_change_lengths(changes, n_rounds):
    """Return the fewest rounds for each of these blocks; the last interval has the rounds that are left over."""
    lengths = [block**2 for block in hidden_change_blocks(changes)]
    lengths[-1] += n_rounds - sum(lengths)
    return lengths


def divergence(p_from, p_to):
    """KL in nats between two distributions on the same two values, given the probabilities of the larger value."""
    pairs = ((p_from, p_to), (1 - p_from, 1 - p_to))
    return sum(p * math.log(p / q) for p, q in pairs if p > 0)


def hidden_divergence(sigma, gap):
    """KL(Q, P) of Lemma 4.4 (sigma1), from the distributions themselves."""
    return divergence(1 / 2, (sigma - gap) / (2 * sigma))


def most_plays_of_favourite(n_actions, length, sigma, gap):
    """Bound the plays of the favourite in an interval, averaged over which action it is (eq. (7) summed over i)."""
    return length / n_actions + length / 2 * math.sqrt(2 * length * hidden_divergence(sigma, gap))


def full_low_parameters(segments, variance, n_actions, n_rounds):
    """Return n, sigma and epsilon of the noisy case; epsilon by bisection on 2 n KL = 1/4."""
    noisy = min(n_rounds // segments, max(1, math.floor(4 * variance / (n_actions * segments))))
    sigma = math.sqrt(min(1 / 4, variance / (n_actions * segments * noisy)))
    return noisy, sigma, largest_gap(sigma, noisy)


def largest_gap(sigma, n):
    low, high = 0.0, sigma
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if 2 * n * hidden_divergence(sigma, middle) <= 1 / 4 else (low, middle)
    return low


def full_v_best_length(drift, variance, n_actions, n_rounds):
    """Return the largest gap over all lengths of an interval, and the least length that has it."""
    widest = min(1 / 2, math.sqrt(variance / (n_actions * n_rounds)))
    gaps = []
    for length in range(1, n_rounds + 1):
        hidden = math.sqrt(-math.expm1(-1 / (4 * length)))
        gaps.append(min(widest, drift / (1 + (math.ceil(n_rounds / length) - 1) * hidden)) * hidden)
    return max(gaps), gaps.index(max(gaps)) + 1


def full_v_largest_gap(drift, variance, n_actions, n_rounds):
    """Try every length of an interval, and for each of them the sigmas between 0 and the largest, by bisection."""
    widest = min(1 / 2, math.sqrt(variance / (n_actions * n_rounds)))
    best = 0.0
    for length in range(1, n_rounds + 1):
        changes = math.ceil(n_rounds / length) - 1
        share = largest_gap(1.0, length)
        low, high = 0.0, widest
        for _ in range(100):  # the drift grows with sigma
            middle = (low + high) / 2
            low, high = (middle, high) if middle + changes * middle * share <= drift else (low, middle)
        best = max(best, low * share)
    return best


def full_v_gap_at_full_noise(drift, variance, n_actions, n_rounds):
    """The same with sigma as large as the variance allows; None where the drift does not allow it."""
    sigma = min(1 / 2, math.sqrt(variance / (n_actions * n_rounds)))
    if sigma >= drift:
        return None
    gaps = []
    for length in range(1, n_rounds + 1):
        changes = math.ceil(n_rounds / length) - 1
        gaps.append(min((drift - sigma) / changes if changes else math.inf, largest_gap(sigma, length)))
    return max(gaps)


# Playing against a bandit learner, round by round and always from the first round


def play_out(learner, seed, rows):
    """Return the actions of a new learner in rounds with these losses."""
    state = learner.start(rows.shape[1], seed)
    actions = []
    for losses in rows:
        action, probability = learner.choose(state)
        learner.update(state, action, losses[action], probability)
        actions.append(action)
    return np.array(actions)


def losses_of(changes, lengths, n_actions, scale=1.0):
    """Return the losses of intervals that change after so many rounds."""
    first = np.array([scale / 2] + [scale] * (n_actions - 1))
    second = first.copy()
    second[1] = 0.0
    return np.array(
        [
            first if t < change else second
            for change, length in zip(changes, lengths, strict=False)
            for t in range(length)
        ]
    )


def value_of_change(learner, seeds, before, lengths, change, n_actions):
    """Return the mean regret in the last interval, up to when the change is noticed, if it comes after `change`."""
    rows = losses_of([*before, change], lengths[: len(before) + 1], n_actions)
    start, total = sum(lengths[: len(before)]), 0.0
    for seed in seeds:
        actions = play_out(learner, seed, rows)
        for t in range(start, len(rows)):
            if t >= start + change and actions[t] == 1:
                break
            total += rows[t, actions[t]] - rows[t].min()
    return total / len(seeds)


def best_response_to_bandit(learner, seeds, segments, n_rounds, n_actions):
    """Return the change of every interval, found by playing every possible change."""
    lengths, changes = interval_lengths(n_rounds, segments // 2), []
    for length in lengths:
        values = [value_of_change(learner, seeds, changes, lengths, c, n_actions) for c in range(length + 1)]
        best = max(values)
        changes.append(next(c for c, value in enumerate(values) if value > best - 1e-9))
    return changes


def proof_against_bandit(learner, seeds, segments, n_rounds, n_actions):
    """Return the change of every interval as in the proof of Theorem 4.1 (bandit-low)."""
    lengths, changes = interval_lengths(n_rounds, segments // 2), []
    for length in lengths:
        block = math.isqrt(length)
        blocks = length // block
        rows = losses_of([*changes, length], lengths[: len(changes) + 1], n_actions)
        plays = np.zeros(blocks)
        for seed in seeds:
            played = play_out(learner, seed, rows)[-length:]
            plays += [sum(played[j * block : (j + 1) * block] == 1) for j in range(blocks)]
        plays /= len(seeds)
        changes.append(length if plays.sum() >= blocks / 2 else int(plays.argmin()) * block)
    return changes


def jumps_against_experts(learner, n_vectors, n_actions, scale=1.0):
    """Return the action with loss 0 in each of the first vectors: the one with the least weight."""
    state = learner.start(n_actions)
    favourites = []
    for _ in range(n_vectors):
        favourites.append(int(learner.predict(state).argmin()))
        losses = np.full(n_actions, scale)
        losses[favourites[-1]] = 0.0
        learner.update(state, losses)
    return favourites


def plays_of_favourites(learner, past, sigma, gap, noisy, lengths, n_actions, n_copies, seed):
    """Return, for each action, how often new copies play it in the next interval if it is the favourite there.

    One row per copy, one column per action.
    """
    rng = np.random.default_rng(seed)
    plays = np.zeros((n_copies, n_actions))
    for copy in range(n_copies):
        for i in range(n_actions):
            rows = []
            for favourite, length in zip([*past, i], lengths, strict=False):
                means = np.full(n_actions, sigma)
                means[favourite] -= gap
                coins = rng.random((length, n_actions)) < means / (2 * sigma)
                rows.append(np.where(np.arange(length)[:, None] < noisy, 2 * sigma * coins, means))
            counted = min(noisy, lengths[len(past)])
            block = np.concatenate(rows)
            block = block[: len(block) - lengths[len(past)] + counted]
            state = learner.start(n_actions, int(rng.integers(2**31)))
            played = learner.run(state, block)[-counted:]
            plays[copy, i] = played[:, i].sum() if played.ndim == 2 else (played == i).sum()
    return plays
