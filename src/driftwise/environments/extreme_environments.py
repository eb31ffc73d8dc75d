r"""The two extreme environments of the paper: adversarial losses and stationary losses.

=============  =================  =================  ==================
environment    $\Lambda$          $\Gamma$           $V$
=============  =================  =================  ==================
adversarial    0                  of the order $T$   of the order $T$
stationary     of the order $T$   1                  at most 1
=============  =================  =================  ==================
"""

from __future__ import annotations

from driftwise.core.machine_memory import check_memory
from driftwise.core.validation import count
from driftwise.environments.environment import Environment
from driftwise.environments.noises.bernoulli import Bernoulli
from driftwise.environments.noises.deterministic import Deterministic
from driftwise.environments.paths.coin_flips import CoinFlips
from driftwise.environments.paths.constant import Constant

__all__ = ["adversarial", "stationary"]

_BYTES_PER_MEAN = 40  # a Python float in a tuple, and its copies in arrays


def adversarial(n_actions: int) -> Environment:
    """Return an environment without noise whose losses are drawn from {0, 1} again in every round.

    >>> adversarial(n_actions=5).measures(n_rounds=1000).variance
    0.0
    """
    return Environment(CoinFlips(n_actions), Deterministic())


def stationary(n_actions: int, best: float = 0.4, rest: float = 0.6) -> Environment:
    """Return an environment with constant means and Bernoulli noise: action 0 has mean `best`, the others `rest`.

    >>> stationary(n_actions=5).measures(n_rounds=1000).segments
    1
    """
    others = count("stationary", "n_actions", n_actions) - 1
    check_memory("stationary", "n_actions", n_actions, _BYTES_PER_MEAN * n_actions)
    return Environment(Constant((best, *[rest] * others)), Bernoulli())
