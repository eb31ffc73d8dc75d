"""`driftwise history`: play one run of one learner, print what it believes at the end, and draw the whole run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from driftwise.cli.progress import notes, progress_bar
from driftwise.cli.specs import PATH, environment_options, environment_table, parse_member
from driftwise.glossary import ROWS_NOTE

_ROUNDS = 2000
_CHANGES_SHOWN = 12


@click.command("history")
@environment_options
@click.option(
    "--learner",
    required=True,
    metavar="NAME[:tuned|:K=V,..]",
    help="The learner with its parameters, or tuned to the environment; tuned=rounds: to the number of rounds only.",
)
@click.option("--rounds", "n_rounds", type=int, help=f"Rounds of the run.  [default: {_ROUNDS}, or all replayed ones]")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the losses and of the learner.")
@click.option("--points", type=int, default=500, show_default=True, help="The most stretches of rounds that are kept.")
@click.option(
    "--figure", type=PATH, help="Write a figure of weights, effective memory and weights of bases (.png, .svg, .pdf)."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option("--quiet", is_flag=True, help="No progress bar and no notes on standard error.")
def command(
    learner: str,
    n_rounds: int | None,
    seed: int,
    points: int,
    figure: Path | None,
    as_json: bool,
    quiet: bool,
    **flags: Any,
) -> None:
    """Play one run of one learner and show what it believes.

    The table has the beliefs at the end: how much of the past counts, the weights of the base learners, and the rounds
    of alarms. The figure has them over the whole run, below the weights, with the true change points.

    \b
    driftwise history --learner fixed-share --path switching:n_segments=5,n_actions=4 --rounds 3000 --figure weights.png
    driftwise history --learner glr-kl-ucb:tuned --path random-walk:n_actions=3 --rounds 20000 --figure shares.png
    """
    import dataclasses

    from driftwise.cli.outputs import check_outputs, json_text, write_files
    from driftwise.engine import record
    from driftwise.environments.environment_factory import make_environment
    from driftwise.learners import Player

    table = environment_table(flags)
    check_outputs("history", [table.get("replay")], figure)  # raises now, not after the run
    source = make_environment(table)
    player = Player.from_spec(parse_member(learner))
    if n_rounds is None and "replay" not in table:
        n_rounds = _ROUNDS
    with notes(quiet), progress_bar(quiet, "playing") as progress:
        history = record(player, source, n_rounds, seed, points, progress=progress)
    beliefs = history.beliefs[-1]
    if as_json:
        click.echo(json_text({**dataclasses.asdict(beliefs), "change_points": history.change_points}))
    else:
        click.echo(f"{player.label}\n\n{beliefs.table()}")
        if history.change_points is not None:
            click.echo(f"\n{_true_changes(history.change_points)}")
        click.echo(f"\n{ROWS_NOTE}")
    write_files(quiet, (figure, history.plot))


def _true_changes(change_points: Sequence[int]) -> str:
    """Return a sentence about the changes of the means."""
    if not change_points:
        return "The means did not change."
    rest = len(change_points) - _CHANGES_SHOWN
    shown = ", ".join(map(str, change_points[:_CHANGES_SHOWN]))
    rounds = "rounds" if len(change_points) > 1 else "round"
    return f"The means changed in {rounds} {shown}{f' and {rest} more' if rest > 0 else ''}."
