"""Forecasts and truths: a learner weighs experts whose forecasts are known before the truth."""

from driftwise.forecasting.losses import ForecastLoss, forecast_loss
from driftwise.forecasting.mixture_stack import MixtureStack
from driftwise.forecasting.options import MixtureOptions

__all__ = ["ForecastLoss", "MixtureOptions", "MixtureStack", "forecast_loss"]
