"""`driftwise sweep`: every learner in every environment of a file, stored cell by cell."""

from __future__ import annotations

import contextlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from driftwise.cli.progress import continued_by, duration, hint_on_interrupt, notes, progress_bar, sweep_progress
from driftwise.cli.specs import PATH

if TYPE_CHECKING:
    from driftwise.sweeps import Sweep
    from driftwise.sweeps.work import Costs


@click.command("sweep")
@click.argument("file", type=PATH)
@click.option("--out", type=PATH, help="Folder of the results.  [default: out/NAME-OF-FILE]")
@click.option("--dry-run", is_flag=True, help="Only show what would be played, and how long it would take.")
@click.option("--threads", type=int, help="Threads of this process; they do not change the results.  [default: all]")
@click.option("--dask", "address", metavar="ADDRESS", help="Play on the Dask cluster with a scheduler at this address.")
@click.option("--retry-failed", is_flag=True, help="Play again the cells that are stored with an error.")
@click.option("--quiet", is_flag=True, help="No plan, progress and notes on standard error.")
def command(
    file: Path,
    out: Path | None,
    dry_run: bool,
    threads: int | None,
    address: str | None,
    retry_failed: bool,
    quiet: bool,
) -> None:
    """Play every learner of FILE in every environment, for every number of rounds and every seed.

    FILE is TOML with `n_rounds`, `n_runs`, `seed`, [[environments]] and [[learners]]; `each` makes several tables of
    one. Finished cells are stored at least every two seconds. After an interruption the same command continues, and
    several processes may work on one folder at once. `driftwise results` shows what is stored.

    \b
    driftwise sweep examples/sweep.toml --dry-run
    driftwise sweep examples/sweep.toml --out out/sweep
    driftwise sweep examples/sweep.toml --out out/sweep --dask tcp://127.0.0.1:8786
    """
    from driftwise.core.errors import InvalidInput
    from driftwise.core.files import check_writable
    from driftwise.core.validation import count
    from driftwise.results.store import FILE
    from driftwise.sweeps import read_sweep, run_sweeps
    from driftwise.sweeps.executors import connect
    from driftwise.sweeps.work import Costs

    if threads is not None and address is not None:
        raise InvalidInput("sweep: --threads is for this process and --dask for a cluster; give one of them.")
    if threads is not None:
        count("sweep", "threads", threads)
    sweep = read_sweep(file)
    folder = Path("out") / file.stem if out is None else out
    if not dry_run:
        check_writable(folder / FILE)  # before learners are compiled for the plan
    with contextlib.ExitStack() as stack:
        client = None if address is None else connect(address)
        if client is not None:
            stack.callback(client.close, timeout=2)
        costs = Costs()
        with notes(quiet):
            if dry_run or not quiet:
                stored = _stored_keys(folder, retry_failed)
                _show_plan(sweep, stored, costs, _n_threads(threads, client), quiet, dry_run)
        if dry_run:
            return
        with notes(quiet), hint_on_interrupt(continued_by("cells")), sweep_progress(quiet) as progress:
            (results,) = run_sweeps(
                [sweep],
                folder,
                n_threads=threads,
                client=client,
                progress=progress,
                retry_failed=retry_failed,
                costs=costs,
            )
    for damaged in results.damaged:
        click.echo(f"driftwise: {damaged.name} was moved to {folder / 'damaged'}: {damaged.reason}", err=True)
    failed = int(results.cells.failed.sum())
    done = f"All {len(results.cells)} cells of the sweep are stored in {folder}"
    click.echo(f"{done}{f', {failed} of them failed' if failed else ''}.")
    click.echo(f"driftwise results {shlex.quote(str(folder))}{' --failed' if failed else ''}")


def _stored_keys(folder: Path, retry_failed: bool) -> set[str]:
    """Return the keys of the cells that need not be played; nothing is changed, and the sweep reports damaged files."""
    from driftwise.results.store import FILE, read_store

    if not (folder / FILE).is_file():
        return set()
    table = read_store(folder).table
    return {*(table.select(~table.failed) if retry_failed else table).keys()}


def _show_plan(sweep: Sweep, stored: set[str], costs: Costs, n_threads: int, quiet: bool, dry_run: bool) -> None:
    """Print what the sweep consists of, what is missing, and how long that takes, by a sample of rounds."""
    from driftwise.sweeps.batches import Batch
    from driftwise.sweeps.work import BatchQueue, sample_costs

    groups = [*sweep.groups()]
    work = BatchQueue(Batch.of_all(groups), stored, costs, by_learner=False)
    lists = [
        f"{len(members)} {singular if len(members) == 1 else several}"
        for members, singular, several in (
            (sweep.sources, "environment", "environments"),
            (sweep.players, "learner", "learners"),
            (sweep.n_rounds, "number of rounds", "numbers of rounds"),
            (sweep.seed, "seed", "seeds"),
            (range(sweep.n_runs), "run", "runs"),
        )
    ]
    shorter = [source for source in sweep.sources.values() if sweep.rounds_of(source) != sweep.n_rounds]
    ends = ", recordings to their ends" if shorter else ""
    out = None if dry_run else sys.stderr
    click.echo(f"{' x '.join(lists)}{ends} = {sweep.n_cells} cells, {work.n_cells} to play", file=out)
    if work.n_cells:
        with progress_bar(quiet, "timing the learners", eta=False) as progress:
            sample_costs(groups, costs, progress)
        seconds = work.wall_seconds(n_threads)
        threads = f"{n_threads} thread{'s' if n_threads != 1 else ''}"
        click.echo(f"about {duration(seconds)} on {threads}, by a sample of rounds of each learner", file=out)


def _n_threads(threads: int | None, client: Any) -> int:
    import os

    if client is not None:
        return max(1, sum(int(n) for n in client.nthreads().values()))
    return threads or os.cpu_count() or 1
