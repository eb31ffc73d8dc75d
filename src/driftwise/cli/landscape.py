"""`driftwise landscape`: the paper's Table 1, measured."""

from __future__ import annotations

from pathlib import Path

import click

from driftwise.cli.progress import notes, progress_bar

__all__ = ["command"]

_CELLS = ("full-switching", "full-drifting", "bandit-switching", "bandit-drifting")


@click.command("landscape")
@click.option(
    "--preset",
    type=click.Choice(["quick", "standard", "full"]),
    default="quick",
    show_default=True,
    help="How many rounds, values and runs; quick takes minutes, the others longer.",
)
@click.option("--cell", "cells", type=click.Choice(_CELLS), multiple=True, help="Only this cell. Repeat for more.")
@click.option("--learners", metavar="NAME[,NAME..]", help="Only these learners of each cell.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out/landscape"),
    show_default=True,
    help="The folder of finished pieces; a second run plays only what is missing.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="The one seed of everything random.")
@click.option("--threads", type=int, help="Threads over pieces; they do not change the results.  [default: all]")
@click.option("--quiet", is_flag=True, help="No progress bar, no notes on standard error.")
def command(
    preset: str,
    cells: tuple[str, ...],
    learners: str | None,
    out: Path,
    seed: int,
    threads: int | None,
    quiet: bool,
) -> None:
    """Measure how regret grows with rounds, segments, drift and variance, beside what the paper proves.

    In each cell of Table 1 (full information or bandit, switching or drifting) one of T, Gamma, V and Lambda varies
    and the others stay, in benign worlds and against the adversaries of the lower bounds. Prints the exponents with
    bootstrap intervals, regret as a multiple of the lower bound, and whether the paper's headline claims hold.

    \b
    driftwise landscape --preset quick
    driftwise landscape --cell full-drifting --learners restarted-adaptive-gd,hedge
    """
    from driftwise.core.validation import check_seed, count
    from driftwise.landscape.claims import claims
    from driftwise.landscape.outcomes import measure, table
    from driftwise.landscape.sweeps import PRESETS, chosen

    effort = PRESETS[preset]
    wanted = None if learners is None else [name.strip() for name in learners.split(",")]
    sweeps = chosen(effort, cells or _CELLS, wanted)
    n_threads = None if threads is None else count("landscape", "threads", threads)
    with notes(quiet), progress_bar(quiet, "measuring") as progress:
        outcomes = measure(sweeps, effort.n_runs, check_seed("landscape", seed), out, n_threads, progress)
    click.echo(table(outcomes))
    for claim in claims(outcomes):
        click.echo(f"\n{'holds' if claim.holds else 'DOES NOT HOLD'}: {claim.text}")
        for what, how_much in claim.figures:
            click.echo(f"  {what}: {how_much}")
    if not quiet:
        click.echo(f"\npieces in {out}", err=True)
