"""`driftwise landscape`: the paper's Table 1, measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftwise.cli.progress import hint_on_interrupt, notes, progress_bar
from driftwise.cli.specs import out_folder, preset_choice
from driftwise.glossary import COLUMNS_NOTE

if TYPE_CHECKING:
    from driftwise.report.page import Claim

_CELLS = ("full-switching", "full-drifting", "bandit-switching", "bandit-drifting")


@click.command("landscape")
@preset_choice("Numbers of rounds, values and runs; quick takes minutes, the others longer.", "standard", "full")
@click.option(
    "--cell", "cells", type=click.Choice(_CELLS), multiple=True, help="Only this cell of Table 1. Repeat for more."
)
@click.option("--learners", metavar="NAME[,NAME..]", help="Only these learners; any of `driftwise list learners`.")
@out_folder("out/landscape", "Folder of the page and of finished measurements, which are not repeated.")
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
    from driftwise.cli.outputs import check_output_files, command_line
    from driftwise.core.errors import one_line
    from driftwise.core.validation import check_seed, count
    from driftwise.landscape.claims import claims
    from driftwise.landscape.outcomes import measure
    from driftwise.landscape.pages import page, table, weight_histories
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
    page_file, folder = out / f"{name}.html", out / "measurements"
    check_output_files("landscape", (page_file, folder / "measurement"), (), follow_links=False)
    hint = f"finished measurements are in {one_line(str(folder))}; the same command continues."
    with notes(quiet):
        with hint_on_interrupt(hint), progress_bar(quiet, "measuring", eta=False) as progress:  # the first ones compile
            outcomes = measure(scans, effort.n_runs, seed, folder, n_threads, progress)
        with progress_bar(quiet, "weights", eta=False) as progress:
            histories = weight_histories(scans, seed, progress)
    about = f"Preset {preset}: {effort.n_runs} runs per point. driftwise {__version__}."
    options: dict[str, object] = {"--preset": preset, "--cell": cells, "--learners": learners, "--seed": seed}
    report = page(outcomes, histories, [command_line("landscape", options)], about)
    write_page(page_file, report, follow_link=False)
    if figures:
        write_figures(out / f"{name}-figures", report)
    click.echo(f"{table(outcomes)}\n\n{COLUMNS_NOTE}")
    for claim in claims(outcomes):
        _print_claim(claim)
    if name != preset:
        click.echo("\nClaims about cells or learners that were not chosen are not shown.")
    click.echo(f"\nfigures: {one_line(str(out / f'{name}-figures'))}" if figures else "")
    click.echo(f"page: {one_line(str(page_file))}")


def _print_claim(claim: Claim) -> None:
    verdict = "holds" if claim.holds else "DOES NOT HOLD"
    click.echo("\n" + click.wrap_text(f"{verdict}: {claim.text}", width=100))
    for what, value in claim.figures:
        click.echo(f"  {what}: {value}")
