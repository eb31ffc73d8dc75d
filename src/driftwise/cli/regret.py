"""`driftwise regret`: default and parameter-free learners against the best tuned learner in hindsight."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from driftwise.cli.progress import continued_by, hint_on_interrupt, notes, sweep_progress
from driftwise.cli.specs import PATH, choice, out_folder, preset_choice
from driftwise.glossary import COLUMNS_NOTE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from driftwise.regret_study.study_design import ScoredLearner


@click.command("regret")
@preset_choice("quick: the cells with 1,000 rounds and 5 actions, minutes; standard: all cells, longer.", "standard")
@choice("--feedback", ["full", "bandit", "both"], "both", "Of learners.")
@click.option("--cells", "pattern", metavar="PATTERN", help="Only cells with such a name; * stands for any text.")
@choice("--half", ["tuning", "untouched", "both"], "both", "Of the cells.")
@click.option("--learners", metavar="NAME[,NAME..]", help="Only these learners; any of `driftwise list learners`.")
@choice("--families", ["attacks", "held-out"], None, "Play families of worlds instead of cells, as drawn arrays.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables; with --families.")
@out_folder("out/regret", "Folder of the page and of finished runs, which are not repeated.")
@click.option("--csv", type=PATH, help="Write all scores, one line per learner and cell.")
@click.option("--figures", is_flag=True, help="Also write the figures of scores as SVG.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of all random numbers.")
@click.option("--threads", type=int, help="Threads; they do not change the results.  [default: all]")
@click.option("--quiet", is_flag=True, help="No progress and no notes on standard error.")
def command(
    preset: str,
    feedback: str,
    pattern: str | None,
    half: str,
    learners: str | None,
    families: str | None,
    as_json: bool,
    out: Path,
    csv: Path | None,
    figures: bool,
    seed: int,
    threads: int | None,
    quiet: bool,
) -> None:
    """Score the default learners and all parameter-free ones against the best tuned learner in hindsight.

    In each cell (an environment, a number of actions and a number of rounds) the score of a learner is
    (R + a) / (R* + a): R is its dynamic regret and R* that of the best of 86 tuned learners (63 with bandit feedback),
    chosen in hindsight. Runs are doubled until the standard error of the first learner's score (the default's, without
    --learners) is at most 0.1, or there are 200 (preset quick: 64). Prints geometric means, worst cells and counts for
    both halves of the cells, of which the defaults were tuned on one, and writes an HTML page.

    With --families the default learners, or --learners, play families of worlds: attacks, which earlier defaults lost,
    or those that are held out. Prints scores with intervals, raw ratios, other offsets, and means without each family.

    \b
    driftwise regret --preset quick
    driftwise regret --preset standard --feedback full --csv scores.csv
    driftwise regret --cells '*random walk*' --learners cbce,sword
    driftwise regret --families attacks --feedback bandit
    """
    from driftwise import __version__
    from driftwise.cli.outputs import check_output_files, command_line
    from driftwise.core.errors import InvalidInput, one_line
    from driftwise.core.validation import check_seed, count
    from driftwise.regret_study.study import PRESETS, run_study, select_cells
    from driftwise.regret_study.study_design import chosen_learners, scored_learners
    from driftwise.regret_study.study_report import study_page, study_text, write_scores_csv
    from driftwise.report.page import DotPanel, write_figures, write_page

    only_feedback, only_half = (None if word == "both" else word for word in (feedback, half))
    feedbacks = [only_feedback] if only_feedback else ["full", "bandit"]
    if learners is None:
        scored = {kind: scored_learners(kind)[: 1 if families else None] for kind in feedbacks}
    else:
        chosen = chosen_learners([name.strip() for name in learners.split(",")])
        scored = {kind: chosen[kind] for kind in feedbacks}
    n_threads = None if threads is None else count("regret", "threads", threads)
    seed = check_seed("regret", seed)
    if families is not None:
        only_cells = {
            "--preset standard": preset == "standard",
            "--half": only_half,
            "--csv": csv,
            "--figures": figures,
        }
        for option in (name for name, value in only_cells.items() if value):
            raise InvalidInput(f"regret: --families cannot be combined with {option}, which is for cells.")
        _play_families(families, pattern, scored, seed, out, n_threads, as_json, quiet)
        return
    if as_json:
        raise InvalidInput("regret: --json must be combined with --families; the scores of cells are written by --csv.")
    cells = select_cells(PRESETS[preset].cells, pattern, only_half)
    if not any(kind in cell.feedbacks for kind in scored if scored[kind] for cell in cells):
        raise InvalidInput("regret: there is no learner for the feedback of these cells.")
    # The page of a selection must not replace the page of all cells and learners.
    selection = {"--feedback": only_feedback, "--cells": pattern, "--half": only_half, "--learners": learners}
    name = f"{preset}-selection" if any(value is not None for value in selection.values()) else preset
    page_file = out / f"{name}.html"
    check_output_files("regret", (page_file, out / "runs" / "cells.sqlite", csv), ())
    with notes(quiet), hint_on_interrupt(continued_by("runs")):
        stage = partial(sweep_progress, quiet, what="runs")
        scores = run_study(cells, scored, PRESETS[preset].effort, seed, out / "runs", n_threads, stage)
    n_cells = len({score.cell.name for score in scores})
    about = f"Preset {preset}: {n_cells} cells. driftwise {__version__}."
    repeated = command_line("regret", {"--preset": preset, **selection, "--seed": seed})
    report = study_page(scores, [repeated], about)
    write_page(page_file, report, follow_link=False)
    click.echo(f"{study_text(scores)}\n\n{COLUMNS_NOTE}")
    if csv is not None:
        write_scores_csv(csv, scores)
    if figures:
        dots = [panel for panel in report.panels if isinstance(panel, DotPanel)]
        write_figures(out / f"{name}-figures", replace(report, panels=dots))
    click.echo(f"\nscores: {one_line(str(csv))}" if csv is not None else "")
    if figures:
        click.echo(f"figures: {one_line(str(out / f'{name}-figures'))}")
    click.echo(f"page: {one_line(str(page_file))}")


def _play_families(
    name: str,
    pattern: str | None,
    scored: Mapping[str, Sequence[ScoredLearner]],
    seed: int,
    out: Path,
    n_threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Play a set of families and print the scores."""
    from driftwise.cli.outputs import check_output_files, json_text
    from driftwise.core.errors import InvalidInput
    from driftwise.regret_study.families import FAMILY_SETS, family_cells, run_families
    from driftwise.regret_study.families_report import families_record, families_text
    from driftwise.regret_study.study import matching_cells

    cells = matching_cells(family_cells(FAMILY_SETS[name]), pattern)
    if not any(scored.values()):
        raise InvalidInput("regret: there is no learner with this feedback.")
    folder = out / "families"
    check_output_files("regret", (folder / "cells.sqlite",), ())
    with notes(quiet), hint_on_interrupt(continued_by("runs")):
        stage = partial(sweep_progress, quiet, what="runs")
        scores = run_families(cells, scored, seed, folder, n_threads, stage)
    click.echo(json_text(families_record(scores, name, seed)) if as_json else families_text(scores, name))
