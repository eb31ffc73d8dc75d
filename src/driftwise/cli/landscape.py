"""`driftwise landscape`: the paper's Table 1, measured."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftwise.cli.progress import notes, progress_bar
from driftwise.glossary import COLUMNS_NOTE

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
    help="Numbers of rounds, values and runs; quick takes minutes, the others longer.",
)
@click.option(
    "--cell", "cells", type=click.Choice(_CELLS), multiple=True, help="Only this cell of Table 1. Repeat for more."
)
@click.option("--learners", metavar="NAME[,NAME..]", help="Only these learners; any of `driftwise list learners`.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("out/landscape"),
    show_default=True,
    help="Folder of the page and of finished measurements, which are not repeated.",
)
@click.option("--figures", is_flag=True, help="Also write every figure as SVG.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of all random numbers.")
@click.option("--threads", type=int, help="Threads over measurements; they do not change the results.  [default: all]")
@click.option("--quiet", is_flag=True, help="No progress bar and no notes on standard error.")
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
    """Measure how regret grows with rounds, segments, drift and variance, and compare with the paper's bounds.

    In each cell of Table 1 (full information or bandit, switching or drifting) one of T, Gamma, V and Lambda varies
    and the others are fixed, in benign environments and against the adversaries of the lower bounds. Prints the
    exponents with bootstrap intervals, regret as a multiple of the lower bound, and whether the paper's main claims
    hold, and writes an HTML page with the figures.

    \b
    driftwise landscape --preset quick
    driftwise landscape --cell full-drifting --learners restarted-adaptive-gd,hedge
    """
    from driftwise import __version__
    from driftwise.core.files import check_writable
    from driftwise.core.validation import check_seed, count
    from driftwise.landscape.claims import claims
    from driftwise.landscape.outcomes import measure, table
    from driftwise.landscape.pages import page, weight_histories
    from driftwise.landscape.scans import PRESETS, select_scans
    from driftwise.report.page import write_figures, write_page

    cells = tuple(dict.fromkeys(cells))
    effort = PRESETS[preset]
    wanted = None if learners is None else [name.strip() for name in learners.split(",")]
    scans = select_scans(effort, cells or _CELLS, wanted)
    n_threads = None if threads is None else count("landscape", "threads", threads)
    seed = check_seed("landscape", seed)
    # The page of a selection must not replace the page of all cells and learners.
    name = preset if cells == () and learners is None else f"{preset}-selection"
    for file in (out / f"{name}.html", out / "measurements" / "measurement"):
        check_writable(file)
    with notes(quiet):
        with _note_on_interrupt(out), progress_bar(quiet, "measuring", eta=False) as progress:  # the first ones compile
            outcomes = measure(scans, effort.n_runs, seed, out / "measurements", n_threads, progress)
        with progress_bar(quiet, "weights", eta=False) as progress:
            histories = weight_histories(scans, seed, progress)
    about = f"Preset {preset}: {effort.n_runs} runs per point. driftwise {__version__}."
    report = page(outcomes, histories, [_command_line(preset, cells, learners, seed)], about)
    write_page(out / f"{name}.html", report)
    if figures:
        write_figures(out / f"{name}-figures", report)
    click.echo(f"{table(outcomes)}\n\n{COLUMNS_NOTE}")
    for claim in claims(outcomes):
        _print_claim(claim)
    if name != preset:
        click.echo("\nClaims about cells or learners that were not chosen are not shown.")
    click.echo(f"\nfigures: {out / f'{name}-figures'}" if figures else "")
    click.echo(f"page: {out / f'{name}.html'}")


def _print_claim(claim: Claim) -> None:
    verdict = "holds" if claim.holds else "DOES NOT HOLD"
    click.echo("\n" + click.wrap_text(f"{verdict}: {claim.text}", width=100))
    for what, value in claim.figures:
        click.echo(f"  {what}: {value}")


@contextlib.contextmanager
def _note_on_interrupt(out: Path) -> Iterator[None]:
    """On an interrupt, print where the finished measurements are."""
    try:
        yield
    except KeyboardInterrupt:
        folder = out / "measurements"
        click.echo(f"\ndriftwise: finished measurements are in {folder}; the same command continues.", err=True)
        raise


def _command_line(preset: str, cells: tuple[str, ...], learners: str | None, seed: int) -> str:
    """Return the command that repeats the measurements."""
    words = ["driftwise", "landscape", "--preset", preset, *(word for cell in cells for word in ("--cell", cell))]
    return shlex.join(words + ([] if learners is None else ["--learners", learners]) + ["--seed", str(seed)])
