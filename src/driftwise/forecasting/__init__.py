"""Forecasts and truths: a learner weighs experts whose forecasts are known before the truth."""

from driftwise.forecasting.forecast_report import ForecastReport
from driftwise.forecasting.frames import combine
from driftwise.forecasting.losses import ForecastLoss, forecast_loss
from driftwise.forecasting.mixture import Mixture
from driftwise.forecasting.mixture_stack import MixtureStack
from driftwise.forecasting.options import MixtureOptions
from driftwise.forecasting.running_report import RunningReport, report_of
from driftwise.forecasting.several_mixtures import QuantileMixture, StepMixture

__all__ = [
    "ForecastLoss",
    "ForecastReport",
    "Mixture",
    "MixtureOptions",
    "MixtureStack",
    "QuantileMixture",
    "RunningReport",
    "StepMixture",
    "combine",
    "forecast_loss",
    "report_of",
]
