"""`driftwise simulate`: play learners in an environment and print their regret."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from driftwise.cli.progress import notes, progress_bar
from driftwise.cli.specs import PATH, choice, environment_options, environment_table, parse_member, read_spec
from driftwise.glossary import COLUMNS_NOTE

_DEFAULTS: dict[str, Any] = {
    "n_rounds": 2000,
    "n_runs": 20,
    "seed": 0,
    "comparator": "dynamic",
    "play": "weights",
    "realised": False,
}


@click.command("simulate")
@click.argument("spec", type=PATH, required=False)
@environment_options
@click.option(
    "--learner",
    "learner",
    multiple=True,
    metavar="NAME[:tuned|:K=V,..]",
    help="A learner with its parameters, or tuned to the environment; tuned=rounds: to the number of rounds only."
    " Repeat for more.",
)
@click.option("--rounds", "n_rounds", type=int, help="Rounds in a run.  [default: 2000, or all replayed ones]")
@click.option("--runs", "n_runs", type=int, help="Independent runs.  [default: 20, or 1 if replayed]")
@click.option("--seed", type=int, help="Seed of all random numbers.  [default: 0]")
@click.option(
    "--comparator",
    metavar="KIND",
    help="dynamic, static, switching:N or interval:FIRST-LAST[@ACTION].  [default: dynamic]",
)
@choice(
    "--play",
    ["weights", "sample"],
    None,
    "Incur the mean loss under the weights, or that of a sampled action.  [default: weights]",
)
@click.option(
    "--realised",
    is_flag=True,
    default=None,
    help="Also compute the best loss L* with the path's number of segments; its time grows with that number.",
)
@click.option("--threads", type=int, help="Threads over runs; they do not change the results.  [default: all]")
@click.option("--block", "block_size", type=int, default=None, help="Rounds drawn at a time.")
@choice(
    "--interval",
    ["runs", "blocks"],
    "runs",
    "What intervals are over: runs, or blocks of rounds of a recording, by a bootstrap.",
)
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--out", type=PATH, help="Write the results (.parquet) or the curves only (.csv).")
@click.option("--figure", type=PATH, help="Write a figure of the regret curves (.png, .svg, .pdf).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option("--quiet", is_flag=True, help="No progress bar and no notes on standard error.")
def command(
    spec: Path | None,
    threads: int | None,
    block_size: int | None,
    interval: str,
    confidence: float,
    out: Path | None,
    figure: Path | None,
    as_json: bool,
    quiet: bool,
    **flags: Any,
) -> None:
    """Play learners in an environment and measure their regret.

    SPEC is a TOML file with `n_rounds`, `n_runs`, `seed`, an [environment] and [[learners]]; flags override it.
    Without --learner, the default learners, which need no parameters, play beside two that are tuned to the
    environment (with --replay: beside Hedge and KL-UCB); without --path, in eight segments of Bernoulli losses.

    \b
    driftwise simulate --path switching:n_segments=5,n_actions=4 --learner optimistic-gd:tuned
    driftwise simulate --path sinusoidal:n_actions=3,n_periods=2 --noise two-point --variance 50
    driftwise simulate examples/switching.toml --figure regret.png
    """
    if not 0 < confidence < 1:
        raise click.BadParameter(f"must be between 0 and 1, got {confidence}.", param_hint="'--confidence'")
    from driftwise.cli.outputs import check_outputs, json_text, write_files
    from driftwise.engine import simulate
    from driftwise.environments.environment_factory import make_environment
    from driftwise.learners import Player
    from driftwise.regret.comparators import make_comparator

    settings = _settings(read_spec(spec) if spec else {}, flags)
    table = settings.pop("environment")
    if interval == "blocks" and "replay" not in table:
        raise click.BadParameter("blocks are rounds of a recording (--replay).", param_hint="'--interval'")
    check_outputs("simulate", [spec, table.get("replay")], figure, out)  # raises now, not after the simulation
    environment = make_environment(table)
    players = [Player.from_spec(member) for member in settings.pop("learners")]
    settings["comparator"] = make_comparator(settings["comparator"])
    with notes(quiet), progress_bar(quiet, "simulating") as progress:
        results = simulate(
            environment, players, n_threads=threads, block_size=block_size, progress=progress, **settings
        )
    if as_json:
        click.echo(json_text(results.record(confidence, interval)))
    else:
        click.echo(f"{results.table(confidence, interval)}\n\n{COLUMNS_NOTE}")
    write_files(quiet, (out, results.save), (figure, lambda path: results.plot(path, confidence)))


def _settings(spec: dict[str, Any], flags: dict[str, Any]) -> dict[str, Any]:
    """Merge defaults, the file and the flags; flags override the file, which overrides defaults."""
    environment = environment_table(flags, spec.get("environment"))
    replayed = "replay" in environment
    settings = _DEFAULTS | ({"n_rounds": None, "n_runs": None} if replayed else {}) | spec
    settings |= {key: value for key, value in flags.items() if key in _DEFAULTS and value is not None}
    settings["environment"] = environment
    if flags["learner"] or "learners" not in settings:
        settings["learners"] = [parse_member(text) for text in flags["learner"] or _default_learners(replayed)]
    return settings


def _default_learners(replayed: bool) -> list[str]:
    """Return the default learners, and one with each feedback to compare them with.

    These are tuned to the measures of the environment, or, if replayed losses have none, do not forget.
    """
    from driftwise.learners import DEFAULT_LEARNERS

    others = ["hedge", "kl-ucb"] if replayed else ["optimistic-fixed-share:tuned", "sliding-window-kl-ucb:tuned"]
    return [*(kind.name for kind in DEFAULT_LEARNERS.values()), *others]
