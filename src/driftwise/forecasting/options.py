"""The options of a mixture, checked once."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

from driftwise.core.errors import InvalidInput, UnknownName, rejection, shown
from driftwise.core.validation import number
from driftwise.forecasting.combinations import Combinations
from driftwise.forecasting.labelled_values import is_listing
from driftwise.forecasting.losses import ForecastLoss, forecast_loss
from driftwise.forecasting.mixture_kernels import LAST_LOSSES, LAST_TRUTH, NO_HINT, Settings
from driftwise.learners import Player
from driftwise.learners.base import ExpertLearner, Learner, learners
from driftwise.learners.base.python_learner import NO_KERNELS
from driftwise.registry import to_spec

HINTS = {"last-truth": LAST_TRUTH, "last-losses": LAST_LOSSES, "none": NO_HINT}
#: experts that a mixture can add to those given, and their names
EXTRAS = {
    "last-truth": ("last truth",),
    "scaled": ("mean scaled down", "mean scaled up"),
    "shifted": ("mean shifted down", "mean shifted up"),
}


@dataclass(frozen=True)
class MixtureOptions:
    """How a mixture turns forecasts and truths into weights.

    Parameters
    ----------
    loss : str or ForecastLoss, default "square"
        "square" or "mse", "absolute" or "mae", "percentage" or "mape", "pinball:0.9" (the quantile 0.9), "log" (for
        probabilities), or your own.
    learner : ExpertLearner, Combinations or str, default None
        Any learner with full feedback, or its name, such as "ada-hedge"; None: `Combinations()`, which needs no
        tuning. The options `gradient`, `hint` and `scale` are for learners.
    gradient : bool, default True
        Whether the learner gets the linearised losses (gradient trick), and so competes with the best convex
        combination of the experts. False: it gets the losses of the experts and competes with the best expert.
    hint : {"last-truth", "last-losses", "none"}, default "last-truth"
        What a learner that takes hints is given: the losses of this round's forecasts if the last truth repeats, the
        losses of the last round, or nothing.
    extras : tuple of str, default ()
        Experts to add. "last-truth" repeats the last truth. "shifted": the mean of the experts less and plus twice its
        mean absolute error so far, so that a constant bias can be removed. "scaled": the mean made smaller and larger
        by that error relative to its mean size, at most to 0 and to twice the mean, for a bias in proportion. Without
        these two a forecast is within the range of the experts' forecasts.
    scale : float, default None
        The largest range of the losses of a round, if it is known; larger ones are cut. None: it is learned.

    Examples
    --------
    >>> MixtureOptions(extras=("last-truth",)).names(["a", "b"])
    ('a', 'b', 'last truth')
    """

    loss: str | ForecastLoss = "square"
    learner: ExpertLearner | Combinations | str | None = None
    gradient: bool = True
    hint: str = "last-truth"
    extras: tuple[str, ...] = ()
    scale: float | None = None

    def __post_init__(self) -> None:
        if isinstance(self.learner, str):
            object.__setattr__(self, "learner", _named_learner(self.learner))
        loss, learner = self.forecast_loss, self.full_learner
        if not isinstance(learner, ExpertLearner | Combinations):
            hint = f"Write {learner.__name__}()." if isinstance(learner, type) else ""
            if isinstance(learner, Learner):
                hint = NO_KERNELS if learner.feedback == "full" else "It has bandit feedback: one loss per round."
            raise rejection("Mixture", "learner", "a learner with full feedback", self.learner, hint)
        if not isinstance(self.gradient, bool):
            raise rejection("Mixture", "gradient", "True or False", self.gradient)
        if not isinstance(self.hint, str) or self.hint not in HINTS:
            raise rejection("Mixture", "hint", f"one of {', '.join(map(repr, HINTS))}", self.hint)
        if isinstance(self.extras, str) or not isinstance(self.extras, Sequence):
            raise rejection("Mixture", "extras", "a tuple of texts", self.extras)
        for extra in self.extras:
            if not isinstance(extra, str) or extra not in EXTRAS or self.extras.count(extra) > 1:
                rule = f"some of {', '.join(map(repr, EXTRAS))}, each once"
                raise rejection("Mixture", "extras", rule, self.extras)
        object.__setattr__(self, "extras", tuple(extra for extra in EXTRAS if extra in self.extras))
        if loss.of_probabilities and {"scaled", "shifted"} & set(self.extras):
            raise InvalidInput("Mixture: `extras` of probabilities can only be 'last-truth'.")
        if self.scale is not None:
            scale = number("Mixture", "scale", self.scale, lambda x: 0 < x < float("inf"), "> 0 and finite")
            object.__setattr__(self, "scale", scale)
        if isinstance(learner, Combinations):
            self._check_no_learner_options()

    def _check_no_learner_options(self) -> None:
        """Reject options that only a learner of losses has."""
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name in ("gradient", "hint", "scale") and value != option.default:
                why = "concerns learners of losses only; pass one as `learner`, such as Tracker()"
                raise InvalidInput(f"Mixture: `{option.name}` {why}, got {shown(value)}.")

    @functools.cached_property
    def forecast_loss(self) -> ForecastLoss:
        """The loss."""
        return forecast_loss(self.loss)

    @functools.cached_property
    def full_learner(self) -> ExpertLearner | Combinations:
        """What plays: the learner, or the default."""
        return Combinations() if self.learner is None else cast("ExpertLearner | Combinations", self.learner)

    def names(self, experts: Sequence[str]) -> tuple[str, ...]:
        """Return the names of the experts and of those that are added."""
        added = [name for extra in self.extras for name in EXTRAS[extra]]
        if taken := [name for name in added if name in experts]:
            raise InvalidInput(f"Mixture: an expert has the name {taken[0]!r} of an added one.")
        return (*experts, *added)

    @property
    def n_extras(self) -> int:
        """The number of added experts."""
        return sum(len(EXTRAS[extra]) for extra in self.extras)

    @property
    def settings(self) -> Settings:
        """The options as the kernels read them."""
        last_truth, scaled, shifted = (extra in self.extras for extra in EXTRAS)
        extras = {"last_truth": last_truth, "scaled": scaled, "shifted": shifted}
        return Settings(self.forecast_loss.level, self.gradient, HINTS[self.hint], **extras, scale=self.scale or 0.0)

    @property
    def spec(self) -> dict[str, Any]:
        """Plain values from which `from_spec` makes equal options."""
        plain = {"loss": self.forecast_loss.text, "learner": to_spec(self.full_learner), "extras": list(self.extras)}
        return {**{name: getattr(self, name) for name in OPTION_NAMES}, **plain}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> MixtureOptions:
        """Make options from plain values."""
        if not isinstance(spec, Mapping) or {*OPTION_NAMES} != {*spec}:
            raise rejection("MixtureOptions", "spec", "a dictionary of all options", spec)
        learner, extras = _learner_from_spec(spec["learner"]), spec["extras"]
        return cls(**{**spec, "learner": learner, "extras": tuple(extras) if isinstance(extras, list) else extras})


def quantile_levels(owner: object, quantiles: Any) -> tuple[float, ...]:
    """Return the probabilities of quantiles, or reject them."""
    if not is_listing(quantiles):
        raise rejection(owner, "quantiles", "a sequence of probabilities", quantiles)
    levels = [number(owner, "quantiles", level, lambda x: 0 < x < 1, "in (0, 1)") for level in quantiles]
    if not levels or sorted(set(levels)) != levels:
        raise rejection(owner, "quantiles", "at least one probability, in increasing order", levels)
    return tuple(levels)


def _named_learner(name: str) -> Learner | Combinations:
    """Return the learner of a name with its default parameters."""
    if name == Combinations.name:
        return Combinations()
    if learners.find(name) is None:
        kinds = {known: learners.get(known) for known in learners}
        usable = [known for known, kind in kinds.items() if issubclass(kind, ExpertLearner)]
        raise UnknownName("learner", name, [*usable, Combinations.name])
    return learners.build({"name": name})


def combinations_from_spec(spec: Mapping[str, Any]) -> Combinations:
    """Return `Combinations` from plain values, such as {"name": "combinations", "last_truth": False}."""
    parameters = {name: value for name, value in spec.items() if name != "name"}
    if unknown := {*parameters} - {parameter.name for parameter in fields(Combinations)}:
        raise UnknownName(
            "parameter of combinations", str(min(unknown, key=str)), [f.name for f in fields(Combinations)]
        )
    return Combinations(**parameters)


def _learner_from_spec(spec: Any) -> Any:
    if isinstance(spec, Mapping) and spec.get("name") == Combinations.name:
        return combinations_from_spec(spec)
    return Player.from_spec(spec).learner(2, 1)


OPTION_NAMES = tuple(option.name for option in fields(MixtureOptions))
