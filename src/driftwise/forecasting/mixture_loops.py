"""The loops over rounds of mixtures, as templates that are cloned for each learner and each loss.

A stack has the memories of the mixtures of many series (`driftwise.learners.parts.stacked_memory`); a single mixture is
a stack of one. Each row of forecasts goes to the mixture of its series, in the order of the rows, so series may be
sorted or interleaved. Threads share the rows by series: the results do not depend on their number.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
from numba import types

from driftwise.core.compiler import close
from driftwise.core.kernel import clone, unbound
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.forecasting.losses import ForecastLoss
from driftwise.forecasting.mixture_inputs import Own, Settings
from driftwise.forecasting.mixture_kernels import Work, mixture_kernels
from driftwise.learners.contract import ExpertLearner
from driftwise.learners.contract.crossings import Crossing, as_it_is, first_that_compiles
from driftwise.learners.contract.loops import Kernels
from driftwise.learners.parts.stacked_memory import row_kernel

__all__ = ["LiveMixture", "MixtureLoops", "mixture_loops"]

Kernel = Callable[..., Any]
KIND: Kernel = unbound
OWN: Kernel = unbound
ROW: Kernel = unbound
OWN_ROW: Kernel = unbound
REBUILD: Kernel = unbound
COMBINE: Kernel = unbound
OBSERVE: Kernel = unbound


class MixtureLoops(NamedTuple):
    """The loop over rows, and what single rounds are compiled from."""

    run: Kernel
    live: Callable[..., LiveMixture]  # from the arrays of a stack, its rates, settings and work


class LiveMixture(NamedTuple):
    """The entry points of single rounds, and the packed arrays that they get; valid as long as the arrays are."""

    packed: Any
    combine: Kernel
    observe: Kernel
    observe_late: Kernel  # after another round was combined


def mixture_loops(learner: ExpertLearner, loss: ForecastLoss) -> MixtureLoops:
    """Return the loops of mixtures with a learner and a loss."""
    kind: Any = learner.memory_type
    return _mixture_loops(learner.loops.kernels, kind, loss.name, *loss.kernels)


@functools.cache
def _mixture_loops(kernels: Kernels, memory_type: Any, loss_name: str, value: Kernel, slope: Kernel) -> MixtureLoops:
    name = f"{kernels.name}-{loss_name}"
    halves = mixture_kernels(name, kernels, value, slope)
    rows: dict[str, Any] = {
        "KIND": memory_type,
        "OWN": Own,
        "ROW": row_kernel(len(memory_type._fields)),
        "OWN_ROW": row_kernel(len(Own._fields)),
    }
    kinds = (*kernels.kinds, memory_type, Own, Settings, Work)
    run = clone(_run, name, kinds, COMBINE=halves.combine, OBSERVE=halves.observe, **rows)
    entries = (
        (_combine_one, name, {**rows, "COMBINE": halves.combine}),
        (_observe_one, name, {**rows, "OBSERVE": halves.observe}),
        (_observe_one, f"{name}-late", {**rows, "OBSERVE": halves.observe_late}),
    )

    def live(*parts: Any) -> LiveMixture:
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            return LiveMixture(parts, *(clone(each, n, kinds, REBUILD=as_it_is, **p) for each, n, p in entries))
        crossing, found = compiled(*map(numba.typeof, parts))
        return LiveMixture(crossing.pack(*parts), *found)

    @functools.cache
    def compiled(*types_of_parts: Any) -> tuple[Crossing, Any]:
        def compile_all(crossing: Crossing) -> list[Kernel]:
            rebuild, packed = crossing.rebuild(*types_of_parts), crossing.kind(*types_of_parts)
            made = [clone(each, n, kinds, REBUILD=rebuild, **p) for each, n, p in entries]
            close(made[0], packed, types.int64, types.float64[::1])
            for entry in made[1:]:
                close(entry, packed, types.int64, types.float64, types.float64)
            return made

        return first_that_compiles(compile_all)

    return MixtureLoops(run, live)


def _run(
    stack: Any,
    owns: Own,
    rates: Any,
    settings: Settings,
    work: Work,
    series: Actions,
    forecasts: Matrix,
    truths: Vector,
    combined: Vector,
    played: Matrix,
    inputs: Matrix,
    part: int,
    n_parts: int,
) -> bool:
    """Play the rows of the series whose number leaves the remainder `part` when divided by `n_parts`."""
    for t in range(series.size):
        i = series[t]
        if i % n_parts == part:
            memory, own = KIND(*ROW(stack, i)), OWN(*OWN_ROW(owns, i))
            forecast = COMBINE(memory, rates, own, settings, work, forecasts[t])
            combined[t] = forecast
            for k in range(work.shares.size):
                played[t, k] = work.shares[k]
            for k in range(inputs.shape[1] if inputs.shape[0] > 0 else 0):  # empty where no expert is added
                inputs[t, k] = work.inputs[k]
            if not OBSERVE(memory, rates, own, settings, work, forecast, truths[t]):
                return False
    return True


def _combine_one(packed: Any, series: int, forecasts: Vector) -> float:
    stack, owns, rates, settings, work = REBUILD(packed)
    memory, own = KIND(*ROW(stack, series)), OWN(*OWN_ROW(owns, series))
    forecast: float = COMBINE(memory, rates, own, settings, work, forecasts)
    return forecast


def _observe_one(packed: Any, series: int, forecast: float, truth: float) -> bool:
    stack, owns, rates, settings, work = REBUILD(packed)
    memory, own = KIND(*ROW(stack, series)), OWN(*OWN_ROW(owns, series))
    fine: bool = OBSERVE(memory, rates, own, settings, work, forecast, truth)
    return fine
