"""Checks of a sweep before anything is played: errors that its cells would raise before their first round."""

from __future__ import annotations

from collections.abc import Callable

from driftwise.adversaries import Adversary
from driftwise.core.errors import DriftwiseError, InvalidInput
from driftwise.core.measures import Measures
from driftwise.core.tuning_caveats import collected
from driftwise.environments import Environment, Replay
from driftwise.learners import Player
from driftwise.sweeps.sources import Source
from driftwise.sweeps.sweep import Sweep

__all__ = ["check_sweep"]

_MOST_MEASURED = 10**6  # means of an environment that are measured for the check


def check_sweep(sweep: Sweep, place: Callable[[str, str], str] = lambda *_: "") -> None:
    """Check every environment with every number of rounds, and every learner in every environment.

    `place` gets "environments" or "learners" and a label, and returns where it is defined, for the message.
    """
    for label, source in sweep.sources.items():
        for n_rounds in sweep.n_rounds:
            try:
                known = _known(source, n_rounds, sweep.seed[0], [*sweep.players.values()])
                sweep.comparator.start(source.origin.n_actions, n_rounds)
            except DriftwiseError as error:
                raise InvalidInput(f"{place('environments', label)}{error}") from None
            for name, player in sweep.players.items():
                try:
                    _check_pair(source, player, n_rounds, known)
                except DriftwiseError as error:
                    where = f"in '{label}' with {n_rounds} rounds: "
                    raise InvalidInput(f"{place('learners', name)}{where}{error}") from None


def _known(source: Source, n_rounds: int, seed: int, players: list[Player]) -> Measures | None:
    """Check that an environment can have this many rounds; return what a tuning rule is told.

    Long runs are measured for fewer rounds, for which not every path can be made; then nothing is returned.
    """
    origin = source.origin
    if isinstance(origin, Adversary):
        origin.check_rounds(n_rounds)
        if source.against is not None:
            _check_feedback(origin, source.against)
        return origin.budget(n_rounds)
    origin.start(n_rounds, seed)
    if not isinstance(origin, Environment) or not any(player.needs_measures for player in players):
        return None
    measured = min(n_rounds, max(1, _MOST_MEASURED // origin.n_actions))
    try:
        return origin.measures(measured, seed)
    except DriftwiseError:
        if measured == n_rounds:
            raise
        return None


def _check_pair(source: Source, player: Player, n_rounds: int, known: Measures | None) -> None:
    """Check that a player can play in an environment: its feedback, and whether its tuning is possible."""
    origin = source.origin
    if isinstance(origin, Adversary) and source.against is None:
        _check_feedback(origin, player)
    if isinstance(origin, Adversary) and source.is_built and source.against is None and player.tuned == "measures":
        raise InvalidInput(
            f"'{player.label}' cannot be tuned to the measures of an environment that '{origin.name}' builds against"
            ' it, since they are known only afterwards. Tune it to the budget (tuned = "budget").'
        )
    if known is not None or not player.needs_measures or isinstance(origin, Replay):
        with collected():  # the results report caveats
            player.learner(origin.n_actions, n_rounds, known, known)


def _check_feedback(adversary: Adversary, player: Player) -> None:
    if player.kind.feedback not in adversary.feedbacks:
        raise InvalidInput(
            f"the theorem of '{adversary.name}' is about {' and '.join(adversary.feedbacks)} feedback,"
            f" got '{player.label}' with {player.kind.feedback} feedback."
        )
