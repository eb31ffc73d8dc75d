"""The results of a simulation as files, intervals, tables and figures."""

import dataclasses
import json
import math
import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from driftwise import (
    Environment,
    OptimisticAdaptMLProd,
    OptimisticGD,
    Replay,
    RerunUCBV,
    RestartedAdaptiveGD,
    Results,
    Switching,
    TwoPoint,
    simulate,
)
from driftwise.cli import specs
from driftwise.core.errors import BadFile, InvalidInput
from driftwise.core.measures import Measures
from driftwise.report.tables import number, text_table
from driftwise.results.confidence_intervals import estimate, half_width
from driftwise.results.parquet_columns import write_columns
from driftwise.results.realised import Realised
from mutating import mutations

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.toml"))
ENVIRONMENT = Environment(Switching(n_segments=3, n_actions=4), TwoPoint().with_variance(5.0))
NUMBERS = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0])


def results_of(regrets, bounds=None, **changes):
    """Return results with these final regrets, one row of runs per learner, and bounds at the end."""
    regrets = np.array(regrets, float)
    n_learners, n_runs = regrets.shape
    fields = {
        "labels": tuple(f"learner-{i}" for i in range(n_learners)),
        "learners": tuple({"name": f"learner-{i}"} for i in range(n_learners)),
        "environment": {"path": {"name": "switching"}, "noise": {"name": "bernoulli"}},
        "comparator": "dynamic",
        "kind": "pseudo",
        "n_actions": 4,
        "n_rounds": 1000,
        "n_runs": n_runs,
        "seed": 1,
        "rounds": np.array([1000]),
        "regrets": regrets[:, :, np.newaxis],
        "measures": tuple(Measures(4, 1000, 3, 1.0, 240.0) for _ in range(n_runs)),
        "realised": tuple(Realised(1.0, 1.0, 1.0, 1.0, math.nan) for _ in range(n_runs)),
        "bound_rounds": np.array([1000]),
        "bounds": np.full((n_learners, 1), math.nan) if bounds is None else np.array(bounds, float)[:, np.newaxis],
    }
    return Results(**{**fields, **changes})


def simulated():
    """Return results with and without bounds, with an infinite rate and with tuned learners."""
    players = [OptimisticGD(math.inf), OptimisticAdaptMLProd(), RestartedAdaptiveGD.tuned, RerunUCBV.tuned]
    return simulate(ENVIRONMENT, players, n_rounds=200, n_runs=3, seed=5)


def replayed():
    losses = np.random.default_rng(1).random((50, 3))
    return simulate(Replay(losses), [OptimisticGD(), RerunUCBV()], n_runs=2)


def agree(one, other):
    """Return whether two results agree in everything but the timings; NaN equals NaN."""
    for field in dataclasses.fields(Results):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            same = a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True)
        elif field.name == "realised":
            same = np.array_equal(np.array(a), np.array(b), equal_nan=True)
        else:
            same = a == b or field.name == "seconds"
        if not same:
            return False
    return True


# Files


@pytest.mark.parametrize("make", [simulated, replayed])
def test_a_file_gives_back_what_was_written(make, tmp_path):
    results = make()
    results.to_parquet(tmp_path / "a.parquet")
    again = Results.from_parquet(tmp_path / "a.parquet")
    assert agree(results, again)
    assert again.seconds == {}
    again.to_parquet(tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert again.table() == results.table()


def test_the_results_that_are_written_here_have_gaps():
    assert np.isnan(simulated().bounds[1]).any()
    assert np.isnan(replayed().bounds).all()
    assert math.isnan(replayed().realised[0].best_loss)


def test_a_file_is_an_ordinary_table_of_curves(tmp_path):
    results = simulated()
    results.to_parquet(tmp_path / "results.parquet")
    table = pq.read_table(tmp_path / "results.parquet")
    assert table.column_names == ["learner", "run", "round", "regret"]
    last = table.slice(len(table) - 1).to_pylist()[0]
    label = results.labels[-1]
    assert last == {"learner": label, "run": 2, "round": 200, "regret": results.final(label)[-1]}


def test_a_file_appears_whole_in_a_folder_that_is_made_for_it(tmp_path):
    replayed().to_parquet(tmp_path / "new" / "deep" / "results.parquet")
    assert [file.name for file in (tmp_path / "new" / "deep").iterdir()] == ["results.parquet"]


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    where = tmp_path / "file" / "results.parquet"
    with pytest.raises(BadFile, match=rf"^Cannot write {where}: .+\.$"):
        replayed().to_parquet(where)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("kept", [0, 3, 100, -20, -1])
def test_a_truncated_file_is_refused(kept, tmp_path):
    whole, cut = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    replayed().to_parquet(whole)
    cut.write_bytes(whole.read_bytes()[:kept])
    with pytest.raises(BadFile, match=rf"^{cut} is not a complete Parquet file: "):
        Results.from_parquet(cut)


def tampered(path, header=lambda h: h, columns=lambda c: c):
    """Write a results file with its header and its columns changed, under a checksum that fits."""
    replayed().to_parquet(path)
    table = pq.read_table(path)
    text = json.dumps(header(json.loads(table.schema.metadata[b"driftwise"]))).encode()
    write_columns(path, "driftwise", text, columns({"regret": table.column("regret").to_numpy()}))


def without(key):
    return lambda table: {name: value for name, value in table.items() if name != key}


def other(**values):
    return {"header": lambda header: {**header, **values}}


DAMAGED = "holds damaged driftwise results: "
NOT_WHOLE = "is not a complete Parquet file: "
TAMPERED = {
    "another format": (other(format=99), "has results format 99; this version reads format 3."),
    "the format without a checksum": (
        other(format=1),
        "has results format 1; this version reads format 3. Simulate again: files of format 1 have no checksum.",
    ),
    "the format with earlier names": (
        other(format=2),
        "has results format 2; this version reads format 3."
        " Simulate again: files of format 2 use earlier names of parameters.",
    ),
    "a strange format": (other(format=["x" * 999]), "has results format ['xxx"),
    "no format": ({"header": without("format")}, f"{DAMAGED}KeyError('format')."),
    "no seed": ({"header": without("seed")}, f"{DAMAGED}KeyError('seed')."),
    "no labels": (other(labels=[]), f"{DAMAGED}ValueError("),
    "a label twice": (other(labels=["a", "a"]), f"{DAMAGED}ValueError("),
    "a label that is a number": (other(labels=["a", 1]), f"{DAMAGED}ValueError("),
    "a word for labels": (other(labels="ab"), f"{DAMAGED}TypeError("),
    "a learner too many": (other(learners=[{}, {}, {}]), f"{DAMAGED}ValueError("),
    "learners without a spec": (other(learners=[1, 2]), f"{DAMAGED}ValueError("),
    "a word for the environment": (other(environment="x"), f"{DAMAGED}ValueError("),
    "a number for the comparator": (other(comparator=1), f"{DAMAGED}ValueError("),
    "half a run": (other(n_runs=1.5), f"{DAMAGED}ValueError("),
    "no runs": (other(n_runs=0), f"{DAMAGED}ValueError("),
    "too many runs": (other(n_runs=10**400), f"{DAMAGED}ValueError("),
    "rounds below 0": (other(n_rounds=-1), f"{DAMAGED}ValueError("),
    "realised words": (other(realised=[dict.fromkeys(Realised._fields, "x")] * 2), f"{DAMAGED}TypeError("),
    "realised of one run": (other(realised=[dict.fromkeys(Realised._fields)]), f"{DAMAGED}ValueError("),
    "measures that are none": (other(measures=[{"n_actions": 0}] * 2), f"{DAMAGED}TypeError("),
    "measures out of range": (
        other(measures=[{"n_actions": 0, "n_rounds": 1, "segments": 1, "drift": 0, "variance": 0}] * 2),
        f"{DAMAGED}InvalidInput(",
    ),
    "bounds of another shape": (other(bounds=[[1.0, 2.0]]), f"{DAMAGED}ValueError("),
    "a word for a bound": (other(bounds=[["x"], ["y"]]), f"{DAMAGED}ValueError("),
    "a list for all": ({"header": lambda h: [h]}, f"{DAMAGED}TypeError("),
    "rounds that fall": (other(rounds=[2, 1]), f"{DAMAGED}ValueError("),
    "rounds that are halves": (other(rounds=[[1]]), f"{DAMAGED}ValueError("),
    "no rounds": (other(rounds=[]), f"{DAMAGED}ValueError("),
    "rounds beyond 64 bits": (other(rounds=[10**30]), f"{DAMAGED}OverflowError("),
    "no regrets": ({"columns": lambda _: {"other": np.zeros(3)}}, f"{NOT_WHOLE}it has no column 'regret' of numbers."),
    "a row lost": ({"columns": lambda c: {"regret": c["regret"][1:]}}, f"{DAMAGED}ValueError("),
    "no rows": ({"columns": lambda c: {"regret": c["regret"][:0]}}, f"{DAMAGED}ValueError("),
}


@pytest.mark.parametrize(("change", "message"), TAMPERED.values(), ids=TAMPERED)
def test_a_foreign_or_damaged_file_is_refused(change, message, tmp_path):
    path = tmp_path / "results.parquet"
    tampered(path, **change)
    with pytest.raises(BadFile) as raised:
        Results.from_parquet(path)
    assert str(raised.value).startswith(f"{path} {message}")
    assert len(str(raised.value).splitlines()) == 1


def test_a_table_without_results_is_refused(tmp_path):
    path = tmp_path / "results.parquet"
    pq.write_table(pa.table({"regret": [1.0]}), path)
    with pytest.raises(BadFile, match=rf"^{path} holds no driftwise results\.$"):
        Results.from_parquet(path)


def rewritten(path, change=lambda table: table, **options):
    """Rewrite a results file as another program would: with other options of the format, or another table."""
    replayed().to_parquet(path)
    schema = pq.read_table(path).schema
    loose = pa.schema([field.with_nullable(False) for field in schema], metadata=schema.metadata)
    pq.write_table(change(pq.read_table(path).cast(loose)), path, **options)


def test_a_file_copied_by_another_program_as_it_is_loads(tmp_path):
    rewritten(tmp_path / "results.parquet", compression="none", use_dictionary=False, row_group_size=70)
    assert pq.ParquetFile(tmp_path / "results.parquet").num_row_groups > 2
    assert agree(Results.from_parquet(tmp_path / "results.parquet"), replayed())


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "zstd", "use_dictionary": False},  # what is unpacked could be of any size
        {"compression": "none", "use_dictionary": True},
        {"compression": "none", "use_dictionary": False, "data_page_version": "2.0"},
        {"compression": "none", "use_dictionary": False, "use_byte_stream_split": ["regret"]},
    ],
)
def test_a_file_that_another_program_encoded_is_refused(options, tmp_path):
    path = tmp_path / "results.parquet"
    rewritten(path, **options)
    with pytest.raises(BadFile, match=rf"^{path} is not a complete Parquet file: .*\.$"):
        Results.from_parquet(path)


def test_a_small_file_of_many_rows_is_refused_before_they_are_made(tmp_path):
    path, n = tmp_path / "results.parquet", 3_000_000
    schema = pa.schema([pa.field("regret", pa.float64(), nullable=False)], metadata={"driftwise": '{"format": 3}'})
    pq.write_table(pa.table([np.zeros(n)], schema=schema), path, compression="none")
    assert path.stat().st_size < 20_000
    with pytest.raises(BadFile, match="it is too short for the 3000000 rows in its metadata"):
        Results.from_parquet(path)


def test_a_changed_header_or_value_is_refused(tmp_path):
    path = tmp_path / "results.parquet"

    def another_header(table):
        old = table.schema.metadata
        return table.replace_schema_metadata({**old, b"driftwise": old[b"driftwise"].replace(b"dynamic", b"dynamik")})

    def another_value(table):
        values = table.column("regret").to_numpy().copy()
        values[7] += 1e-9
        return table.set_column(table.num_columns - 1, table.schema.field("regret"), pa.array(values))

    for change in (another_header, another_value):
        rewritten(path, change, compression="none", use_dictionary=False)
        with pytest.raises(BadFile, match=rf"^{path} is damaged: its checksum does not match its content\.$"):
            Results.from_parquet(path)


def loads_the_same(path, content, results):
    """Return whether a file with this content loads; if it does, it must give these results."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    try:
        loaded = Results.from_parquet(path)
    except BadFile:
        return False
    assert agree(loaded, results)
    return True


def test_a_flipped_bit_is_detected_or_harmless(tmp_path):
    """Every thirty-seventh bit of a file, which meets each bit of a byte and all parts of the format."""
    results, path = replayed(), tmp_path / "results.parquet"
    results.to_parquet(path)
    content, rejected = path.read_bytes(), 0
    bits = range(0, 8 * len(content), 37)
    for bit in bits:
        copy = bytearray(content)
        copy[bit // 8] ^= 1 << bit % 8
        rejected += not loads_the_same(path, bytes(copy), results)
    assert len(bits) > 1000
    assert rejected > len(bits) / 3  # names and statistics are not read


def test_random_damage_is_detected_or_harmless(tmp_path):
    results, path = replayed(), tmp_path / "results.parquet"
    results.to_parquet(path)
    rejected = sum(not loads_the_same(path, damaged, results) for damaged in mutations(path.read_bytes(), 1500, seed=1))
    assert rejected > 1000


def test_a_header_that_is_not_json_is_refused(tmp_path):
    path = tmp_path / "results.parquet"
    pq.write_table(pa.table({"regret": [1.0]}, metadata={"driftwise": "{"}), path)
    with pytest.raises(BadFile, match=rf"^{path} holds damaged driftwise results: JSONDecodeError\("):
        Results.from_parquet(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(BadFile, match=rf"^There is no file {tmp_path / 'none.parquet'}\.$"):
        Results.from_parquet(tmp_path / "none.parquet")
    with pytest.raises(BadFile, match=rf"^There is no file {tmp_path}\.$"):
        Results.from_parquet(tmp_path)


# Intervals


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_intervals_are_student_s(confidence):
    found = estimate(NUMBERS, confidence)
    low, high = stats.t.interval(confidence, len(NUMBERS) - 1, NUMBERS.mean(), stats.sem(NUMBERS))
    assert found == pytest.approx((31 / 8, low, high), rel=1e-12)


def test_an_interval_of_two_runs_worked_by_hand():
    # With one degree of freedom Student's distribution is Cauchy's, whose quantile at 0.75 is 1.
    assert estimate(np.array([1.0, 4.0]), 0.5) == pytest.approx((2.5, 1.0, 4.0))


def test_intervals_along_a_curve_are_those_of_its_points():
    curves = np.random.default_rng(0).random((6, 5))
    expected = [estimate(column).high - estimate(column).mean for column in curves.T]
    assert half_width(curves) == pytest.approx(expected, rel=1e-12)


def test_equal_runs_have_an_interval_of_no_width():
    assert estimate(np.full(5, 2.0)) == (2.0, 2.0, 2.0)


def test_one_run_has_a_mean_and_no_interval():
    mean, low, high = results_of([[7.0]]).regret("learner-0")
    assert mean == 7.0
    assert math.isnan(low)
    assert math.isnan(high)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, 95.0])
def test_a_level_of_confidence_is_between_0_and_1(confidence):
    with pytest.raises(InvalidInput, match=rf"^half_width: `confidence` must be in \(0, 1\), got {confidence}\.$"):
        results_of([NUMBERS]).regret("learner-0", confidence)


# Tables


def test_the_table_has_the_regrets_and_bounds():
    results = results_of([NUMBERS, 10 * NUMBERS, 0 * NUMBERS], bounds=[31.0, math.nan, 0.0])
    half = stats.t.ppf(0.975, 7) * stats.sem(NUMBERS)
    assert (f"{3.875 - half:.4g}", f"{3.875 + half:.4g}") == ("1.577", "6.173")
    expected = """\
switching x bernoulli: K = 4, T = 1000, 8 runs, seed 1
segments Gamma = 3, drift V = 1, variance Lambda = 240
realised: deviation D = 1, movement V~ = 1

dynamic pseudo-regret
learner    regret    95% interval  bound  ratio
---------  ------  --------------  -----  -----
learner-0   3.875  1.577 .. 6.173     31   0.12
learner-1   38.75  15.77 .. 61.73      -      -
learner-2       0          0 .. 0      0      -"""
    assert results.table() == expected


def test_the_table_shows_the_best_loss_where_it_was_computed():
    known = tuple(Realised(1.0, 1.0, 1.0, 1.0, best) for best in (3.0, 4.0))
    results = results_of([[1.0, 2.0]])
    assert "L*" not in results.table()
    found = dataclasses.replace(results, realised=known)
    assert "\nrealised: deviation D = 1, movement V~ = 1, best loss L* = 3.5\n" in found.table()


def test_one_run_shows_dashes_for_its_interval():
    *_, row = results_of([[7.0]], bounds=[14.0]).table().splitlines()
    assert row.split() == ["learner-0", "7", "-", "14", "0.5"]


@pytest.mark.parametrize(("confidence", "header"), [(0.5, "50%"), (0.95, "95%"), (0.995, "99.5%"), (0.9999, "99.99%")])
def test_the_table_names_its_level_of_confidence(confidence, header):
    assert f"  {header} interval  " in results_of([NUMBERS]).table(confidence)


def test_realised_regret_is_called_so():
    table = replayed().table()
    assert table.startswith("replay: K = 3, T = 50, 2 runs, seed 0\nrealised: deviation D = ")
    assert "\n\ndynamic realised regret\n" in table
    assert "Gamma" not in table


def test_the_table_names_what_a_budget_wraps():
    assert simulated().table().startswith("switching x two-point: K = 4, T = 200, 3 runs, seed 5\n")
    assert "variance Lambda = 5\n" in simulated().table()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_table_of_an_example_fits_eighty_columns(example):
    spec = tomllib.loads(example.read_text())
    environment = specs.make_environment(spec["environment"])
    players = [specs.make_player(one) for one in spec["learners"]]
    results = simulate(environment, players, n_rounds=500, n_runs=3, seed=spec["seed"])
    assert len(results.labels) == 5
    large = 99_900.0 + np.arange(3.0)[np.newaxis, :, np.newaxis] + np.zeros((5, 1, 1))  # five digits everywhere
    for shown in (results, dataclasses.replace(results, rounds=np.array([500]), regrets=large)):
        assert max(map(len, shown.table().splitlines())) <= 80


def test_numbers_have_four_digits():
    written = [number(x) for x in (0.000123456, -8.75912, 999.96, 1000.4, -123456.7, math.inf, math.nan, 0.0)]
    assert written == ["0.0001235", "-8.759", "1000", "1000", "-123457", "inf", "-", "0"]


def test_text_in_the_last_column_is_wrapped():
    table = text_table(["name", "title"], [["x", "one two three four five six seven"]], left=2, width=30)
    assert table.splitlines() == [
        "name  title",
        "----  " + "-" * 23,
        "x     one two three four five",
        "      six seven",
    ]


def test_rows_are_plain_records():
    first, second = results_of([NUMBERS, NUMBERS[::-1]], bounds=[8.0, math.nan]).rows()
    mean, low, high = estimate(NUMBERS)
    expected = {"learner": "learner-0", "spec": {"name": "learner-0"}, "regret": mean, "low": low, "high": high}
    assert first == {**expected, "bound": 8.0, "caveat": ""}
    assert math.isnan(second["bound"])


# Figures


@pytest.mark.parametrize(
    ("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF"), (".PNG", b"\x89PNG")]
)
def test_a_figure_is_written_in_the_format_of_its_name(suffix, magic, tmp_path):
    results_of([NUMBERS]).plot(tmp_path / f"regret{suffix}")
    assert (tmp_path / f"regret{suffix}").read_bytes().startswith(magic)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_equal_results_give_equal_figures(suffix, tmp_path):
    results = replayed()
    results.to_parquet(tmp_path / "results.parquet")
    results.plot(tmp_path / f"one{suffix}")
    Results.from_parquet(tmp_path / "results.parquet").plot(tmp_path / f"other{suffix}")
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"other{suffix}").read_bytes()


@pytest.mark.parametrize("name", ["regret.bmp", "regret", ".png"])
def test_a_figure_of_another_format_is_rejected(name, tmp_path):
    path = tmp_path / name
    with pytest.raises(InvalidInput) as raised:
        results_of([NUMBERS]).plot(path)
    assert str(raised.value) == f"figure: `path` must end in .png, .svg, .pdf, got '{path}'."
    assert not path.exists()


def test_a_figure_shows_every_curve_its_band_and_its_bound():
    results = simulated()
    (axes,) = results.figure().axes
    solid = [line for line in axes.lines if line.get_linestyle() == "-"]
    dashed = [line for line in axes.lines if line.get_linestyle() == "--" and len(line.get_xdata())]
    assert tuple(line.get_label() for line in solid) == results.labels
    assert len(axes.collections) == len(results.labels)  # the bands
    assert len(dashed) == (results.bounds < results.bound_rounds).any(axis=1).sum() > 0
    assert solid[0].get_color() != solid[1].get_color()
    for line, curve in zip(solid, results.regrets.mean(axis=1), strict=True):
        high = curve > axes.get_ylim()[0]
        assert np.array_equal(line.get_ydata()[high], curve[high])


def test_one_run_is_drawn_without_a_band():
    (axes,) = results_of([[3.0], [4.0]]).figure().axes
    assert not axes.collections


def test_many_learners_and_no_regret_at_all_can_be_drawn(tmp_path):
    results_of(np.zeros((9, 2)), bounds=np.zeros(9)).plot(tmp_path / "zero.png")


# Bounds


@pytest.mark.parametrize("rule", [OptimisticGD.tuned, RestartedAdaptiveGD.tuned], ids=["optimistic", "restarted"])
def test_the_bound_is_above_the_mean_regret_at_every_mark(rule):
    environment = Environment(Switching(n_segments=4, n_actions=5), TwoPoint().with_variance(10.0))
    results = simulate(environment, rule, n_rounds=1000, n_runs=50, seed=1)
    marks = np.searchsorted(results.rounds, results.bound_rounds)
    assert np.array_equal(results.rounds[marks], results.bound_rounds)
    assert len(marks) == 32
    assert (results.bounds[0] >= results.regrets[0].mean(axis=0)[marks]).all()
    assert (np.diff(results.bounds[0]) >= -1e-9).all()
    assert results.bounds[0, -1] < 1000  # the bound is not trivial


def test_a_regret_below_zero_is_drawn_below_zero():
    """Against a weaker comparator regret can be negative; a logarithmic axis would hide it."""
    axes = results_of([NUMBERS, -NUMBERS], comparator="static").figure().axes[0]
    assert axes.get_yscale() == "linear"
    assert axes.lines[1].get_ydata().min() == -NUMBERS.mean()
    assert results_of([NUMBERS]).figure().axes[0].get_yscale() == "log"


def test_results_print_on_one_line():
    assert repr(results_of([[1.0, 2.0]])).startswith("Results(")
    assert "\n" not in repr(results_of([[1.0, 2.0]]))
    assert len(repr(results_of([[1.0, 2.0]]))) < 200
