"""`driftwise compile`: compile learners ahead of time."""

from __future__ import annotations

import click

from driftwise.cli.progress import progress_bar


@click.command("compile")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--quiet", is_flag=True, help="No progress bar on standard error.")
def command(names: tuple[str, ...], quiet: bool) -> None:
    """Compile learners ahead of time, so that their first use does not wait for the compiler.

    Without a NAME, all learners: one or two minutes. Compiled code is kept in the folder of the package, or in the
    folder named by the environment variable NUMBA_CACHE_DIR. It is for this processor and this version of driftwise.

    \b
    driftwise compile ucb1 hedge
    NUMBA_CACHE_DIR=/var/cache/driftwise driftwise compile    # in a container image
    """
    import time

    from driftwise.engine.compile_ahead import cache_folder, compile_engine, compile_learner
    from driftwise.learners import PythonLearner, learners

    members = [learners.get(name) for name in dict.fromkeys(names or learners)]
    chosen = [member for member in members if not issubclass(member, PythonLearner)]
    for member in members:
        if names and member not in chosen:
            click.echo(f"{member.name} is a learner in plain Python: there is nothing to compile.")
    began = time.perf_counter()
    with progress_bar(quiet, "compiling", eta=False) as progress:
        compile_engine()
        for done, member in enumerate(chosen, start=1):
            compile_learner(member())
            if progress is not None:
                progress(done, len(chosen))
    counted = f"{len(chosen)} learner{'s' if len(chosen) != 1 else ''}"
    click.echo(f"compiled {counted} in {time.perf_counter() - began:.0f} s, kept in {cache_folder()}")
