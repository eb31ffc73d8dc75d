"""Forecasts and truths: a learner weighs experts whose forecasts are known before the truth."""

from typing import NoReturn

from driftwise.forecasting.combinations import Combinations as Combinations
from driftwise.forecasting.forecast_report import ForecastReport as ForecastReport
from driftwise.forecasting.frames import combine as combine
from driftwise.forecasting.losses import ForecastLoss as ForecastLoss, forecast_loss as forecast_loss
from driftwise.forecasting.mixture import Mixture as Mixture
from driftwise.forecasting.mixture_stack import MixtureStack as MixtureStack
from driftwise.forecasting.mixture_state import StateSummary as StateSummary, read_state as read_state
from driftwise.forecasting.options import MixtureOptions as MixtureOptions
from driftwise.forecasting.quantile_report import (
    QuantileReport as QuantileReport,
    quantile_report_of as quantile_report_of,
)
from driftwise.forecasting.running_report import RunningReport as RunningReport, report_of as report_of

_NOW_MIXTURE = {"QuantileMixture": "quantiles=[0.1, 0.5, 0.9]", "StepMixture": "steps=24"}


def __getattr__(name: str) -> NoReturn:
    if name in _NOW_MIXTURE:
        raise ImportError(f"{name} is a part of Mixture now: write Mixture({_NOW_MIXTURE[name]}).")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
