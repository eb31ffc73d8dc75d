"""Forecasts and truths: a learner weighs experts whose forecasts are known before the truth."""

from driftwise.forecasting.combinations import Combinations as Combinations
from driftwise.forecasting.forecast_report import ForecastReport as ForecastReport
from driftwise.forecasting.frames import combine as combine
from driftwise.forecasting.losses import ForecastLoss as ForecastLoss, forecast_loss as forecast_loss
from driftwise.forecasting.mixture import Mixture as Mixture
from driftwise.forecasting.mixture_stack import MixtureStack as MixtureStack
from driftwise.forecasting.mixture_state import StateSummary as StateSummary, read_state as read_state
from driftwise.forecasting.options import MixtureOptions as MixtureOptions
from driftwise.forecasting.running_report import RunningReport as RunningReport, report_of as report_of
from driftwise.forecasting.several_mixtures import QuantileMixture as QuantileMixture, StepMixture as StepMixture
