"""`driftwise compile`: compile learners, mixtures and the combining of tables ahead of time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click

from driftwise.cli.progress import compile_notice, progress_bar


def _compile_mixture() -> None:
    """Compile the live rounds and the report of a `Mixture()`."""
    from driftwise.forecasting import Mixture

    mixture = Mixture()
    for _ in range(2):
        mixture.predict({"a": 0.0, "b": 1.0})
        mixture.update(0.5)
    mixture.report()


def _compile_combine() -> None:
    """Compile what `driftwise combine` and `driftwise.combine` need with their defaults, by small tables.

    One has truths that are known before the next row, one has times of issue, and is two nights of a state.
    """
    import tempfile
    from pathlib import Path

    from driftwise.forecasting import MixtureOptions
    from driftwise.forecasting.combining import CombineTask, combine_table, table_source
    from driftwise.forecasting.frames import ColumnUses

    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        issued = ColumnUses("y", time="t", issued="cutoff")
        night, state = issued._replace(continued=True), Path(folder) / "mix.db"
        for text, wanted, continued in (
            ("y,a,b\n0,0,1\n1,0,1\n", ColumnUses("y"), None),
            ("t,cutoff,y,a,b\n2,1,0,0,1\n3,1,1,0,1\n4,3,1,0,1\n", issued, None),
            ("t,cutoff,y,a,b\n2,1,0,0,1\n3,1,,0,1\n", night, state),
            ("t,cutoff,y,a,b\n3,1,1,0,1\n4,3,,0,1\n", night, state),
        ):
            table.write_text(text)
            options, out = MixtureOptions(), Path(folder) / "out"
            task = CombineTask(table_source(str(table)), wanted, options, out, "csv", state=continued)
            combine_table(task, None, lambda _: None)


_USES = {"mixture": _compile_mixture, "combine": _compile_combine}  # what needs more kernels than a learner's


@click.command("compile")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--quiet", is_flag=True, help="No progress bar on standard error.")
def command(names: tuple[str, ...], quiet: bool) -> None:
    """Compile ahead of time, so that a first use does not wait for the compiler.

    A NAME is that of a learner, or `mixture` for `Mixture()` in Python with its defaults, or `combine` for the command
    and the function of that name with their defaults, with times of issue and with a state too. Without a NAME, all of
    them: some minutes. Compiled code is kept in the folder of the package, or in the folder named by the environment
    variable NUMBA_CACHE_DIR. It is for this processor and this version of driftwise.

    \b
    driftwise compile ucb1 hedge
    driftwise compile mixture combine
    NUMBA_CACHE_DIR=/var/cache/driftwise driftwise compile    # in a container image
    """
    import time

    from driftwise.core.errors import MissingDependency, UnknownName
    from driftwise.engine.compile_ahead import cache_folder, compile_engine, compile_learner
    from driftwise.learners import PythonLearner, learners

    parts: dict[str, Callable[[], None]] = {}
    for name in names or (*learners, *_USES):
        if name in _USES:
            parts[name] = _USES[name]
        elif name not in learners:
            listing = "`driftwise list` has all learners, and there are `mixture` and `combine`."
            raise UnknownName("learner", name, [*learners, *_USES], listing=listing)
        elif not issubclass(member := learners.get(name), PythonLearner):
            parts[name] = partial(compile_learner, member())
        elif names:
            click.echo(f"{name} is a learner in plain Python: there is nothing to compile.")
    began, uses = time.perf_counter(), []
    n_learners = sum(name not in _USES for name in parts)
    with compile_notice(quiet=True), progress_bar(quiet, "compiling", eta=False) as progress:
        if n_learners:
            compile_engine()
        for n_done, (name, compile_part) in enumerate(parts.items(), start=1):
            try:
                compile_part()
                uses += [name] if name in _USES else []
            except MissingDependency:  # an extra that is not installed is compiled only if it is asked for
                if names:
                    raise
            if progress is not None:
                progress(n_done, len(parts))
    counted = [f"{n_learners} learner{'s' if n_learners != 1 else ''}"] if n_learners or not uses else []
    seconds = time.perf_counter() - began
    click.echo(f"compiled {', '.join([*counted, *uses])} in {seconds:.0f} s, kept in {cache_folder()}")
