"""`driftwise landscape`: the paper's Table 1, measured."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftwise.cli.progress import notes, progress_bar

if TYPE_CHECKING:
    from driftwise.report.page import Claim

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
@click.option("--learners", metavar="NAME[,NAME..]", help="Only these; any other of the registry joins as a added.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out/landscape"),
    show_default=True,
    help="The folder of pages and of finished measurements; a second run plays only what is missing.",
)
@click.option("--figures", is_flag=True, help="Also write every figure as PNG and SVG, for a paper.")
@click.option("--seed", type=int, default=1, show_default=True, help="The one seed of everything random.")
@click.option("--threads", type=int, help="Threads over measurements; they do not change the results.  [default: all]")
@click.option("--quiet", is_flag=True, help="No progress bar, no notes on standard error.")
def command(
    preset: str,
    cells: tuple[str, ...],
    learners: str | None,
    out: Path,
    figures: bool,
    seed: int,
    threads: int | None,
    quiet: bool,
) -> None:
    """Measure how regret grows with rounds, segments, drift and variance, beside what the paper proves.

    In each cell of Table 1 (full information or bandit, switching or drifting) one of T, Gamma, V and Lambda varies
    and the others stay, in benign worlds and against the adversaries of the lower bounds. Prints the exponents with
    bootstrap intervals, regret as a multiple of the lower bound, and whether the paper's headline claims hold, and
    writes a page with the figures, which opens in any browser.

    \b
    driftwise landscape --preset quick
    driftwise landscape --cell full-drifting --learners restarted-adaptive-gd,hedge
    """
    from driftwise import __version__
    from driftwise.core.files import check_writable
    from driftwise.core.validation import check_seed, count
    from driftwise.landscape.claims import claims
    from driftwise.landscape.outcomes import measure, table
    from driftwise.landscape.pages import page
    from driftwise.landscape.sweeps import PRESETS, chosen
    from driftwise.landscape.weight_histories import weight_histories
    from driftwise.report.figures import canvas
    from driftwise.report.page import write_figures, write_page

    if figures:
        canvas()  # better now than after the measurements
    cells = tuple(dict.fromkeys(cells))
    effort = PRESETS[preset]
    wanted = None if learners is None else [name.strip() for name in learners.split(",")]
    sweeps = chosen(effort, cells or _CELLS, wanted)
    n_threads = None if threads is None else count("landscape", "threads", threads)
    seed = check_seed("landscape", seed)
    # A selection does not replace the page of the whole.
    name = preset if cells == () and learners is None else f"{preset}-selection"
    for file in (out / f"{name}.html", out / "measurements" / "measurement"):
        check_writable(file)
    with notes(quiet):
        with _kept(out), progress_bar(quiet, "measuring", eta=False) as progress:  # the first ones compile
            outcomes = measure(sweeps, effort.n_runs, seed, out / "measurements", n_threads, progress)
        with progress_bar(quiet, "tracking", eta=False) as progress:
            paths = weight_histories(sweeps, seed, progress)
    about = f"Preset {preset}: {effort.n_runs} runs of every point. driftwise {__version__}."
    told = page(outcomes, paths, [_again(preset, cells, learners, seed)], about)
    write_page(out / f"{name}.html", told)
    if figures:
        write_figures(out / f"{name}-figures", told)
    click.echo(table(outcomes))
    for claim in claims(outcomes):
        _tell(claim)
    if name != preset:
        click.echo("\nClaims that speak of cells or learners that were not chosen are left out.")
    click.echo(f"\nfigures: {out / f'{name}-figures'}" if figures else "")
    click.echo(f"page: {out / f'{name}.html'}")


def _tell(claim: Claim) -> None:
    verdict = "holds" if claim.holds else "DOES NOT HOLD"
    click.echo("\n" + click.wrap_text(f"{verdict}: {claim.text}", width=100))
    for what, how_much in claim.figures:
        click.echo(f"  {what}: {how_much}")


@contextlib.contextmanager
def _kept(out: Path) -> Iterator[None]:
    """Tell whoever interrupts that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        kept = out / "measurements"
        click.echo(
            f"\ndriftwise: finished measurements are kept in {kept}; the same command goes on from there.", err=True
        )
        raise


def _again(preset: str, cells: tuple[str, ...], learners: str | None, seed: int) -> str:
    """Write the command that measures the same again."""
    words = ["driftwise", "landscape", "--preset", preset, *(word for cell in cells for word in ("--cell", cell))]
    return shlex.join(words + ([] if learners is None else ["--learners", learners]) + ["--seed", str(seed)])
