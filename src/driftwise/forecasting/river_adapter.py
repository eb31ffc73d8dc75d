"""A mixture as a regressor of river: `predict_one(x)` and `learn_one(x, y)`. Only this module imports river."""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING

from driftwise.core.errors import InvalidInput, MissingDependency, rejection
from driftwise.core.fork_locks import fork_lock
from driftwise.forecasting.combinations import Combinations
from driftwise.forecasting.labelled_values import LARGEST, as_forecasts, as_names, as_truth, real_value
from driftwise.forecasting.losses import ForecastLoss
from driftwise.forecasting.mixture import Mixture
from driftwise.forecasting.options import OPTION_NAMES
from driftwise.learners.base import ExpertLearner

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    from river import base
except ImportError:
    raise MissingDependency("RiverMixture", "river", "river") from None

OWNER = "RiverMixture"


class RiverMixture(base.Regressor):
    """A mixture as a regressor of river: its features are forecasts, or it trains models and mixes their forecasts.

    `learn_one(x, y)` is a round: the forecasts, then the truth. `predict_one(x)` changes nothing. A forecast that is
    absent, None or NaN is missing in this round. Before there is any forecast or truth the prediction is 0, as in
    other models of river. Threads may share it: its methods lock it.

    Parameters
    ----------
    models : list or dict of regressors, default None
        Models of river, which the mixture copies and trains; a dict has their names. A forecast of theirs that is
        infinite counts as missing. None: the features are the forecasts.
    experts : list of str, default None
        The features that are forecasts; others are ignored. None: all features, and a new one joins in the first
        round that has it.
    loss : str or ForecastLoss, default "square"
        The loss, by which the forecasts are judged: see `MixtureOptions`.
    learner : ExpertLearner, Combinations or str, default None
        The learner: see `MixtureOptions`.
    gradient : bool, default True
        Whether to compete with the best convex combination: see `MixtureOptions`.
    hint : {"last-truth", "last-losses", "none"}, default "last-truth"
        What the learner is given before a round: see `MixtureOptions`.
    extras : tuple of str, default None
        Experts to add: see `MixtureOptions`. None: no experts.
    scale : float, default None
        The largest range of the losses of a round: see `MixtureOptions`.
    history : int, default 1000
        Number of latest rounds to keep, for `mixture.report()` and for features that join.

    Examples
    --------
    >>> model = RiverMixture()
    >>> for forecasts, truth in [({"a": 1.0, "b": 3.0}, 1.0)] * 10:
    ...     model.learn_one(forecasts, truth)
    >>> round(model.predict_one({"a": 5.0, "b": 9.0}), 1)
    5.0
    """

    def __init__(
        self,
        models: Sequence[base.Regressor] | Mapping[str, base.Regressor] | None = None,
        experts: Sequence[str] | None = None,
        loss: str | ForecastLoss = "square",
        learner: ExpertLearner | Combinations | str | None = None,
        gradient: bool = True,
        hint: str = "last-truth",
        extras: tuple[str, ...] | None = None,
        scale: float | None = None,
        history: int = 1000,
    ) -> None:
        self.models, self.experts = models, experts  # river clones a model from attributes with these names
        self.loss, self.learner, self.gradient = loss, learner, gradient
        self.hint, self.extras, self.scale = hint, extras or None, scale  # an empty tuple cannot be cloned
        self.history = history
        self._lock = fork_lock()
        self._trained = {} if models is None else _named_models(copy.deepcopy(models))
        self._features = None if experts is None else _features(experts)
        if self._trained and self._features:
            raise InvalidInput("RiverMixture: `experts` are features, so they cannot be given with `models`.")
        self._mixture = self._begun(tuple(self._trained) or self._features)
        self._has_truth = False

    def __getstate__(self) -> dict[str, object]:
        with self._lock:
            values = {name: value for name, value in self.__dict__.items() if name != "_lock"}
            return {**values, "_mixture": copy.copy(self._mixture), "_trained": copy.deepcopy(self._trained)}

    def __setstate__(self, values: dict[str, object]) -> None:
        self.__dict__.update(values, _lock=fork_lock())

    @property
    def mixture(self) -> Mixture:
        """The mixture; its experts are those of the rounds so far, if they were not given."""
        return self._mixture

    @property
    def _raw_memory_usage(self) -> int:
        """The bytes of its arrays and of its models, for river; a walk over all objects would count the compiler."""
        return self._mixture.n_bytes + sum(int(model._raw_memory_usage) for model in self._trained.values())

    @property
    def trained_models(self) -> dict[str, base.Regressor]:
        """The models that it trains, by name; those that were given are not changed."""
        return self._trained

    def predict_one(self, x: dict[Hashable, object]) -> float:
        """Return the combined forecast."""
        with self._lock:
            forecasts = self._forecasts(x)
            mixture = self._mixture if self._mixture.experts else self._begun(tuple(forecasts) or None)
            inputs = {name: value for name, value in forecasts.items() if name in mixture.experts}
            return mixture.predict(inputs) if self._has_truth or _any_awake(inputs) else 0.0

    def learn_one(self, x: dict[Hashable, object], y: float) -> None:
        """Play a round: combine the forecasts, learn from the truth, and train the models."""
        with self._lock:
            truth, forecasts = as_truth(self, y), self._forecasts(x)
            loss = self._mixture.options.forecast_loss
            if rule := loss.forecast_fault(list(forecasts.values())):  # before an expert joins
                raise rejection(self, "forecasts", rule, forecasts)
            if rule := loss.truth_fault(truth):
                raise rejection(self, "truth", rule, y)
            if forecasts and not self._mixture.experts:
                self._mixture = self._begun(tuple(forecasts))
            for name in forecasts:
                if name not in self._mixture.experts:
                    self._mixture.join(name)
            if self._has_truth or _any_awake(forecasts):
                self._mixture.predict(forecasts)
                self._mixture.update(truth)
            if math.isnan(truth):
                return
            self._has_truth = self._has_truth or _any_awake(forecasts)
            for model in self._trained.values():
                model.learn_one(x, y)

    def _begun(self, experts: tuple[str, ...] | None) -> Mixture:
        options = {name: getattr(self, name) for name in OPTION_NAMES}
        return Mixture(experts, **{**options, "extras": self.extras or ()}, history=self.history)

    def _forecasts(self, x: dict[Hashable, object]) -> dict[str, float]:
        """Return the forecasts by name, NaN where one is missing."""
        if self._trained:
            return {name: _usable(model.predict_one(x)) for name, model in self._trained.items()}
        values = dict(zip(as_names(self, x), x.values(), strict=True))
        names = tuple(values) if self._features is None else self._features
        forecasts = as_forecasts(self, [values.get(name) for name in names], names)
        return dict(zip(names, forecasts.tolist(), strict=True))

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, object]]:
        """Yield the parameters with which river's checks run."""
        from river import linear_model, preprocessing

        yield {}
        linear = linear_model.LinearRegression
        yield {"models": [preprocessing.StandardScaler() | linear(), linear(intercept_lr=0.1)]}


def _any_awake(forecasts: Mapping[str, float]) -> bool:
    return any(not math.isnan(value) for value in forecasts.values())


def _usable(forecast: object) -> float:
    """Return the forecast of a model, NaN if it is none or too large."""
    real = real_value(forecast)
    return real if real is not None and abs(real) <= LARGEST else math.nan


def _features(experts: object) -> tuple[str, ...]:
    names = () if isinstance(experts, str) or not isinstance(experts, Sequence) else as_names(OWNER, experts, "experts")
    if not names:
        raise rejection(OWNER, "experts", "a list of names of features", experts)
    return names


def _named_models(models: object) -> dict[str, base.Regressor]:
    """Return models by name; a model without a name has that of its class, with a number if it is taken."""
    if isinstance(models, Mapping):
        named = dict(zip(as_names(OWNER, models, "models"), models.values(), strict=True))
    else:
        named = {}
        for model in models if isinstance(models, Sequence) else ():
            name, n_equal = str(model), 1
            while name in named:
                n_equal += 1
                name = f"{model} {n_equal}"
            named[name] = model
    if not named:
        raise rejection(OWNER, "models", "a list or a dict of regressors of river", models)
    for name, model in named.items():
        last = getattr(model, "_last_step", model)  # of a pipeline
        if isinstance(model, type) or not isinstance(last, base.Regressor):
            hint = f"Write {model.__name__}()." if isinstance(model, type) else ""
            raise rejection(OWNER, f"models[{name!r}]", "a regressor of river", model, hint)
    return named
