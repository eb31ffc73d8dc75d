"""The mixture as a regressor of river, in river's own pipelines, evaluation and checks."""

import copy
import itertools
import math
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
from river import checks, compose, datasets, dummy, evaluate, linear_model, metrics, neighbors, preprocessing, stats

from driftwise.core.errors import InvalidInput
from driftwise.forecasting import MixtureOptions, MixtureStack
from driftwise.forecasting.mixture import Mixture
from driftwise.forecasting.river_adapter import RiverMixture
from driftwise.learners import AdaHedge
from forked_children import thread_that_repeats
from mixture_states import arrays_inside

POLLS = ("gallup", "ipsos", "morning_consult", "rasmussen", "you_gov")
ROUNDS = [({"a": 1.0, "b": 3.0}, 1.5), ({"b": 4.0, "a": 2.0}, 2.0), ({"a": 3.0}, 3.5), ({"b": 2.0, "a": None}, 3.0)]


def predictions(model, rounds):
    """Return what a model predicts before it learns from each round."""
    found = []
    for x, y in rounds:
        found.append(model.predict_one(x))
        model.learn_one(x, y)
    return found


def played(forecasts, truths, **options):
    return MixtureStack(MixtureOptions(**options), len(forecasts[0])).run(forecasts, truths).combined.tolist()


def river_checks(model):
    """Return river's checks of a regressor, on river's data for them; finding data needs scikit-learn otherwise."""

    def data(model, scale=1):
        return [list(datasets.TrumpApproval().take(60 * scale))]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "_yield_datasets", data)
        return list(checks.yield_checks(model))


MODELS = [RiverMixture(**parameters) for parameters in RiverMixture._unit_test_params()]
CHECKS = [(model, check) for model in MODELS for check in river_checks(model)]


@pytest.mark.parametrize(("model", "check"), CHECKS, ids=lambda each: getattr(each, "__name__", ""))
def test_rivers_checks_pass(model, check):
    check(model.clone())


def test_rivers_checks_are_run():
    assert {"check_emerging_features", "check_disappearing_features", "check_pickling"} <= {
        check.__name__ for _, check in CHECKS
    }


def test_features_are_forecasts_by_name():
    forecasts = np.array([[1.0, 3.0], [2.0, 4.0], [3.0, np.nan], [np.nan, 2.0]])
    wanted = played(forecasts, np.array([1.5, 2.0, 3.5, 3.0]))
    assert predictions(RiverMixture(), ROUNDS) == wanted
    assert predictions(RiverMixture(experts=["a", "b"]), ROUNDS) == wanted
    with_more = [({"note": "text", 7: 1e300, **x}, y) for x, y in ROUNDS]
    assert predictions(RiverMixture(experts=["a", "b"]), with_more) == wanted


def test_options_reach_the_mixture():
    options = {"learner": AdaHedge(), "gradient": False, "extras": ("last-truth",)}
    mixture = Mixture(["a", "b"], **options)
    wanted = []
    for x, y in ROUNDS:
        wanted.append(mixture.predict(x))
        mixture.update(y)
    model = RiverMixture(**options)
    assert predictions(model, ROUNDS) == wanted
    assert model.mixture.all_names == ("a", "b", "last truth")


def test_predicting_does_not_change_what_is_learned():
    model, other = RiverMixture(), RiverMixture()
    for x, y in ROUNDS:
        model.predict_one({"a": 100.0, "c": -7.0})
        model.predict_one(x)
        model.learn_one(x, y)
        other.learn_one(x, y)
        assert model.mixture.experts == other.mixture.experts
    assert model.predict_one(ROUNDS[0][0]) == other.predict_one(ROUNDS[0][0])


def test_a_new_feature_joins_in_the_round_that_has_it():
    model = RiverMixture()
    model.learn_one({"a": 1.0}, 1.0)
    assert model.predict_one({"a": 2.0, "new": 8.0}) == 2.0  # not before it learns
    model.learn_one({"a": 2.0, "new": 8.0}, 5.0)
    assert model.mixture.experts == ("a", "new")
    assert model.predict_one({"new": 5.0}) == 5.0
    mixture = Mixture(["a"])
    mixture.predict({"a": 1.0})
    mixture.update(1.0)
    mixture.join("new")
    mixture.predict({"a": 2.0, "new": 8.0})
    mixture.update(5.0)
    assert 2.0 < model.predict_one({"a": 2.0, "new": 8.0}) == mixture.predict({"a": 2.0, "new": 8.0}) < 8.0


def test_without_forecasts_and_truths_the_prediction_is_0():
    model = RiverMixture()
    assert model.predict_one({}) == model.predict_one({"a": None}) == 0.0
    model.learn_one({}, 3.0)
    model.learn_one({"a": math.nan}, 3.0)
    assert model.predict_one({"a": math.nan}) == 0.0
    model.learn_one({"a": 2.0}, 4.0)
    assert model.predict_one({}) == 4.0  # the last truth


def test_a_round_without_truth_changes_no_weights_and_trains_no_model():
    model = RiverMixture(models={"mean": dummy.StatisticRegressor(stats.Mean()), "last": linear_model.PARegressor()})
    model.learn_one({"x": 1.0}, 5.0)
    before = model.predict_one({"x": 1.0})
    for missing in (None, math.nan):
        model.learn_one({"x": 1.0}, missing)
    assert model.predict_one({"x": 1.0}) == before
    assert model.trained_models["mean"].predict_one({}) == 5.0


def test_models_are_trained_and_mixed():
    given = [linear_model.LinearRegression(), neighbors.KNNRegressor(n_neighbors=2)]
    rounds = [({"x": float(i % 5)}, float(i % 5) ** 2) for i in range(40)]
    forecasts, copies = [], [model.clone() for model in given]
    for x, y in rounds:
        forecasts.append([copies[0].predict_one(x), copies[1].predict_one(x)])
        for model in copies:
            model.learn_one(x, y)
    mixed = RiverMixture(models=given)
    wanted = played(np.array(forecasts, float), np.array([y for _, y in rounds]))
    assert predictions(mixed, rounds) == wanted
    assert list(mixed.trained_models) == ["LinearRegression", "KNNRegressor"]
    assert given[0].weights == {}  # the given models stay as they are


def test_a_clone_has_learned_nothing():
    model = RiverMixture(
        models=[linear_model.LinearRegression(), linear_model.LinearRegression()], extras=("last-truth",)
    )
    fresh = predictions(model.clone(), ROUNDS[:2])
    predictions(model, ROUNDS[:2])
    assert list(model.trained_models) == ["LinearRegression", "LinearRegression 2"]
    assert predictions(model.clone(), ROUNDS[:2]) == fresh
    assert predictions(pickle.loads(pickle.dumps(model)), ROUNDS[:2]) == predictions(model, ROUNDS[:2])


class Diverging(linear_model.LinearRegression):
    values = (None, math.inf, math.nan, -1e200)

    def predict_one(self, x):
        return self.values[x["i"] % 4]


def test_a_model_that_diverges_is_left_out():
    model = RiverMixture(models={"diverging": Diverging(), "mean": dummy.StatisticRegressor(stats.Mean())})
    for i in range(8):
        assert model.predict_one({"i": i}) == (0.0 if i == 0 else pytest.approx(2.0))
        model.learn_one({"i": i}, 2.0)


def test_it_works_in_rivers_pipelines_and_evaluation():
    of_polls = compose.Select(*POLLS) | RiverMixture()
    chosen = RiverMixture(experts=POLLS)
    scores = [
        evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE()) for model in (of_polls, chosen)
    ]
    assert scores[0].get() == pytest.approx(scores[1].get(), rel=1e-9)
    alone = []
    for poll in POLLS:
        metric = metrics.MAE()
        for x, y in datasets.TrumpApproval():
            metric.update(y, x[poll])
        alone.append(metric.get())
    assert scores[0].get() < min(alone)


def test_truths_may_be_late():
    metric = evaluate.progressive_val_score(
        datasets.TrumpApproval(), RiverMixture(experts=POLLS), metrics.MAE(), delay=3
    )
    assert 0.0 < metric.get() < 1.0


def test_models_in_a_pipeline_see_transformed_features():
    models = [linear_model.LinearRegression(intercept_lr=0.1), neighbors.KNNRegressor()]
    scores = [
        evaluate.progressive_val_score(
            datasets.TrumpApproval().take(300), preprocessing.StandardScaler() | model, metrics.MAE()
        ).get()
        for model in (RiverMixture(models=models), *models)
    ]
    assert scores[0] < min(scores[1:])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"models": []}, r"`models` must be a list or a dict of regressors of river, got \[\]\.$"),
        ({"models": linear_model.PARegressor}, "`models` must be a list or a dict of regressors of river, got <class"),
        (
            {"models": [linear_model.PARegressor]},
            r"must be a regressor of river, got <class .* Write PARegressor\(\)\.$",
        ),
        ({"models": {"a": preprocessing.StandardScaler()}}, r"`models\['a'\]` must be a regressor of river, got "),
        ({"models": {"a": linear_model.PARegressor()}, "experts": ["a"]}, "`experts` are features, so they cannot be"),
        ({"experts": "a"}, r"`experts` must be a list of names of features, got 'a'\.$"),
        ({"experts": []}, r"`experts` must be a list of names of features, got \[\]\.$"),
        ({"experts": ["a", "a"]}, r"`experts` must name every expert once, got 'a' twice\.$"),
        ({"hint": "next"}, "`hint` must be one of 'last-truth', 'last-losses', 'none', got 'next'"),
        ({"history": -1}, "`history` must be a whole number >= 0, got -1"),
    ],
)
def test_faults_of_parameters_are_refused(parameters, message):
    with pytest.raises(InvalidInput, match=message):
        RiverMixture(**parameters)


def test_faults_of_a_round_are_refused_and_nothing_changes():
    model = RiverMixture()
    model.learn_one(*ROUNDS[0])
    before = pickle.dumps(model)
    for x, y, message in [
        ({"a": "1.0"}, 1.0, r"^RiverMixture: `forecasts\['a'\]` must be a number, got '1\.0'"),
        ({"a": 1.0, "new": math.inf}, 1.0, r"^RiverMixture: `forecasts\['new'\]` must be a finite number"),
        ({"a": 1.0, "new": 2.0}, math.inf, "^RiverMixture: `truth` must be a finite number"),
        ({"a": 1.0, ("b", 1): 2.0}, 1.0, "^RiverMixture: `forecasts` must be labelled by names of experts, got "),
    ]:
        with pytest.raises(InvalidInput, match=message):
            model.learn_one(x, y)
    assert pickle.dumps(model) == before


def test_rules_of_the_loss_are_checked_before_an_expert_joins():
    model = RiverMixture(loss="log")
    for x, y, message in [
        ({"a": 2.0}, 1, r"^RiverMixture: `forecasts` must be in \[0, 1\] for the log loss, got {'a': 2\.0}\.$"),
        ({"a": 0.5}, 0.5, r"^RiverMixture: `truth` must be 0 or 1 for the log loss, got 0\.5\.$"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            model.learn_one(x, y)
    assert model.mixture.experts == ()


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_of_the_model_learns_alone(way):
    rounds = [({"a": float(t), "b": 3.0 - t / 2}, 1.5 + t / 4) for t in range(10)]
    for model in (
        RiverMixture(),
        RiverMixture(models=[linear_model.LinearRegression(), dummy.StatisticRegressor(stats.Mean())]),
    ):
        for x, y in rounds[:5]:
            model.learn_one(x, y)
        other, before = way(model), model.predict_one(rounds[0][0])
        pairs = itertools.product(arrays_inside(model), arrays_inside(other))
        assert not any(np.shares_memory(*pair) for pair in pairs)
        for x, y in rounds[5:]:
            other.learn_one(x, y)
        assert (model.mixture.rounds, model.predict_one(rounds[0][0])) == (5, before)
        for x, y in rounds[5:]:
            model.learn_one(x, y)
        assert other.predict_one(rounds[0][0]) == model.predict_one(rounds[0][0]) != before


def test_predictions_of_other_threads_do_not_change_what_the_model_learns(monkeypatch):
    """A prediction combines forecasts, too: the truth must not go to it."""
    model, alone, predict = RiverMixture(), RiverMixture(), Mixture.predict
    rounds = [*ROUNDS, *ROUNDS[1:] * 5]
    for x, y in rounds:
        alone.learn_one(x, y)

    def slow_predict(*arguments):
        forecast = predict(*arguments)
        time.sleep(0.001)  # the other thread has its turn before the truth comes
        return forecast

    monkeypatch.setattr(Mixture, "predict", slow_predict)
    model.learn_one(*rounds[0])
    with thread_that_repeats(lambda _: model.predict_one({"a": 100.0, "b": -100.0})):
        for x, y in rounds[1:]:
            model.learn_one(x, y)
    assert model.predict_one(ROUNDS[0][0]) == alone.predict_one(ROUNDS[0][0])


def test_only_the_adapter_imports_river():
    program = (
        "import sys; import driftwise.forecasting, driftwise.forecasting.mixture\n"
        "assert 'river' not in sys.modules; sys.modules['river'] = None\n"
        "try:\n    import driftwise.forecasting.river_adapter\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "RiverMixture needs river: install it with `pip install 'driftwise[river]'`.\n"
