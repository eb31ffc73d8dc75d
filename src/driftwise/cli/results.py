"""`driftwise results`: what sweeps and simulations have stored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from driftwise.cli.specs import PATH, choice
from driftwise.glossary import COLUMNS_NOTE

if TYPE_CHECKING:
    from driftwise.results.sweep_results import SweepResults

_PATTERN = "; * stands for any text. Repeat for more."


@click.command("results")
@click.argument("paths", metavar="PATH...", type=PATH, nargs=-1, required=True)
@click.option("--environment", multiple=True, metavar="TEXT", help=f"Only this environment{_PATTERN}")
@click.option("--learner", multiple=True, metavar="TEXT", help=f"Only this learner{_PATTERN}")
@click.option("--rounds", "n_rounds", type=int, multiple=True, help="Only this number of rounds. Repeat for more.")
@click.option("--seed", type=int, multiple=True, help="Only this seed. Repeat for more.")
@click.option("--comparator", multiple=True, metavar="KIND", help="Only this comparator. Repeat for more.")
@click.option(
    "--against",
    metavar="LEARNER",
    help="Compare all learners with this one, in pairs of cells with the same environment, seed and run.",
)
@click.option(
    "--simultaneous",
    is_flag=True,
    help="With --against: all intervals together have the level (Bonferroni), not each on its own.",
)
@click.option("--failed", is_flag=True, help="List the cells that could not be played, with their errors.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--csv", type=PATH, help="Write one line per cell.")
@click.option(
    "--curves", type=PATH, help="Write one line per cell and marked round, to plot with other programs (CSV)."
)
@click.option("--parquet", type=PATH, help="Write one row per cell and marked round, for other programs.")
@click.option("--latex", type=PATH, help="Write the table of regrets for the package booktabs.")
@click.option("--figure", type=PATH, help="Write a figure with a panel for each environment (.png, .svg, .pdf).")
@click.option(
    "--heat-map", nargs=2, metavar="X Y", help="With --figure: the mean regret over two parameters that were swept."
)
@click.option("--page", type=PATH, help="Write an HTML page with the table and figures.")
@choice("--scale", ["log", "linear"], None, "Axes of the figures.  [default: log if all means are positive]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option("--quiet", is_flag=True, help="No notes on standard error.")
def command(
    paths: tuple[Path, ...],
    against: str | None,
    simultaneous: bool,
    failed: bool,
    confidence: float,
    csv: Path | None,
    curves: Path | None,
    parquet: Path | None,
    latex: Path | None,
    figure: Path | None,
    heat_map: tuple[str, str] | None,
    page: Path | None,
    scale: str | None,
    as_json: bool,
    quiet: bool,
    **filters: Any,
) -> None:
    """Show the mean regret of each learner in each environment, from stored cells.

    PATH is a folder that a sweep fills, also while it does so, or a file that `driftwise simulate --out` wrote
    (.parquet). Nothing in it is changed.

    \b
    driftwise results out/sweep --learner 'hedge*' --rounds 10000
    driftwise results out/sweep --against hedge
    driftwise results out/sweep --csv cells.csv --parquet cells.parquet --page results.html
    driftwise results out/sweep --figure regret.pdf
    driftwise results out/sweep --learner 'fixed-share*' --figure map.pdf --heat-map learning_rate switch_rate
    """
    if not 0 < confidence < 1:
        raise click.BadParameter(f"must be between 0 and 1, got {confidence}.", param_hint="'--confidence'")
    if simultaneous and against is None:
        raise click.UsageError("--simultaneous is about the intervals of --against LEARNER.")
    if heat_map is not None and figure is None:
        raise click.UsageError("--heat-map is about the figure of --figure FILE.")
    from driftwise.cli.outputs import check_outputs, command_line, write_files
    from driftwise.report.page import write_page
    from driftwise.results.sweep_results import SweepResults
    from driftwise.sweeps.results_page import results_page

    check_outputs("results", paths, figure, others=(csv, curves, parquet, latex, page))
    stored = SweepResults.read(*paths)
    results = stored.select(**{name: [*wanted] for name, wanted in filters.items() if wanted})
    if against is not None:
        results.compare(against)  # raises now if there is no such learner
    _print(results, against, simultaneous, failed, confidence, as_json)
    if not quiet:
        _print_notes(stored)

    def write_results_page(path: Path) -> None:
        options = {f"--{name.removeprefix('n_')}": wanted for name, wanted in filters.items()}
        options |= {"--against": against, "--simultaneous": simultaneous or None}
        options |= {"--confidence": None if confidence == 0.95 else f"{confidence:g}"}
        repeated = command_line("results", {**options, "--scale": scale, "--page": path}, *paths)
        report = results_page(
            results, [repeated], confidence=confidence, scale=scale, against=against, simultaneous=simultaneous
        )
        write_page(path, report)

    def write_figure(path: Path) -> None:
        if heat_map is None:
            results.plot(path, confidence, scale)
        else:
            results.heat_map(*heat_map, path)

    tables = [(csv, results.to_csv), (curves, results.curves_to_csv), (parquet, results.to_parquet)]
    tables += [(latex, lambda path: results.to_latex(path, confidence))]
    write_files(quiet, *tables, (figure, write_figure), (page, write_results_page))


def _print(
    results: SweepResults, against: str | None, simultaneous: bool, failed: bool, confidence: float, as_json: bool
) -> None:
    """Print the table of regrets, or the parts that were asked for."""
    if as_json:
        from driftwise.cli.outputs import json_text

        click.echo(json_text(_record(results, against, simultaneous, failed, confidence)))
        return
    import shutil

    parts = [results.counts()]
    if against is not None:
        parts.append(results.comparison_text(against, confidence, simultaneous))
    if failed:
        parts.append(results.failures_text(max(100, shutil.get_terminal_size().columns)))
    if against is None and not failed:
        parts.append(results.table(confidence))
    parts += [COLUMNS_NOTE] if any("\n---" in part for part in parts) else []  # the rule below the headings of a table
    click.echo("\n\n".join(part for part in parts if part))


def _record(
    results: SweepResults, against: str | None, simultaneous: bool, failed: bool, confidence: float
) -> dict[str, Any]:
    """Return what is printed as JSON."""
    from driftwise.results.columns import DIFFERENCES, plain_rows

    record: dict[str, Any] = {
        "n_cells": len(results.cells),
        "n_failed": int(results.cells.failed.sum()),
        "confidence": confidence,
        "rows": results.rows(confidence),
    }
    if against is not None:
        record["baseline"] = against
        record["simultaneous"] = simultaneous
        record["comparisons"] = plain_rows(DIFFERENCES, results.compare(against, confidence, simultaneous))
        record["not_compared"] = [{**row.place._asdict(), "reason": row.reason} for row in results.unpaired(against)]
    if failed:
        record["failures"] = [
            {**place._asdict(), "seed": seed, "run": run, "error": error}
            for place, seed, run, error in results.failures()
        ]
    return record


def _print_notes(stored: SweepResults) -> None:
    from driftwise.core.errors import one_line

    for file in stored.damaged:
        click.echo(f"driftwise: {file.name}: {one_line(file.reason)}", err=True)
    if stored.n_repeated:
        cells = "1 cell that repeats" if stored.n_repeated == 1 else f"{stored.n_repeated} cells that repeat"
        click.echo(f"driftwise: left out {cells} a run of the same learner.", err=True)
