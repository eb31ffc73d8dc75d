"""Mistakes with cut-offs, quantiles, steps, delays and states: the exact line of the command each, nothing written."""

import pytest

from command_line import runner

PLAIN = """\
ds,y,a,b
2026-10-25 00:00,1,2,3
2026-10-25 01:00,2,2,3
2026-10-25 02:00,3,2,3
2026-10-25 03:00,4,2,3
"""
ISSUED = """\
ds,cutoff,y,a,b
2026-01-01 01:00,2026-01-01 00:00,1,2,3
2026-01-01 02:00,2026-01-01 00:00,2,2,3
2026-01-01 02:00,2026-01-01 01:00,2,2,3
2026-01-01 03:00,2026-01-01 01:00,,2,3
"""
BANDS = """\
ds,y,a,a-lo-80,a-hi-80
1,5,5,4,6
2,5,5,4,6
"""
NIGHT = """\
ds,y,a,b
2026-10-25 03:00,4,,
2026-10-25 04:00,,2,3
"""
TIME = "--time ds"
BEGUN = "begun"  # a state of PLAIN, in which the last row waits for its truth


def changed(text, *pairs):
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    return text


def with_column(text, name, *values):
    lines = text.splitlines()
    return "\n".join(f"{line},{value}" for line, value in zip(lines, (name, *values), strict=True)) + "\n"


MISTAKES = {  # the table, words, the line
    "a cutoff at its time": (
        changed(ISSUED, ("00:00,1", "01:00,1")), TIME,
        "in.csv: the column 'cutoff': it must be before the time that the forecasts are for, got '2026-01-01 "
        "01:00' in line 2 at '2026-01-01 01:00'.",
    ),
    "a cutoff that is no time": (
        changed(ISSUED, ("2026-01-01 00:00,2", "soon,2")), TIME,
        "in.csv, line 3, column 'cutoff': it must be an ISO date or timestamp without an offset, as the first"
        " one is, got 'soon'.",
    ),
    "a row without cutoff": (
        changed(ISSUED, ("2026-01-01 00:00,2", ",2")), TIME,
        "in.csv, line 3, column 'cutoff': it is missing.",
    ),
    "a cutoff with an offset": (
        changed(ISSUED, ("00:00,1", "00:00Z,1")), TIME,
        "in.csv, line 2, column 'cutoff': it must be an ISO date or timestamp without an offset, as the first"
        " one is, got '2026-01-01 00:00Z'.",
    ),
    "a misspelled cutoff": (
        ISSUED, f"{TIME} --issued cutof",
        "in.csv: there is no column 'cutof'. Did you mean 'cutoff'?",
    ),
    "a cutoff as the time": (
        ISSUED, "--time cutoff --issued cutoff",
        "combine: the column 'cutoff' is given as --time and --issued.",
    ),
    "a cutoff as a series": (
        ISSUED, f"{TIME} --by cutoff",
        "in.csv: the column 'cutoff' has issue times, it names no series. Leave it out of --by.",
    ),
    "a cutoff without times": (
        changed(ISSUED, ("ds", "when")), "",
        "in.csv: the column 'cutoff' says when forecasts were issued. Name the column of the times that the "
        "forecasts are for with --time.",
    ),
    "issued twice": (
        ISSUED + "2026-01-01 03:00,2026-01-01 01:00,,2,3\n", TIME,
        "in.csv: the column 'cutoff': the same time was issued twice at this time, got '2026-01-01 01:00' in "
        "line 6 at '2026-01-01 03:00'. Name the columns that tell the series apart with --by, those of a "
        "table with a row for each expert with --expert, --forecast.",
    ),
    "a cutoff of another name": (
        changed(ISSUED, ("cutoff", "made")), TIME,
        "in.csv, line 4, column 'ds': times must increase, got '2026-01-01 02:00' again. A table with one row"
        " for each expert? Name its columns by --expert and --forecast. Issued at different times? Name the "
        "column of these times by --issued, or that of the steps ahead by --step. If there are several "
        "series, name them by --by.",
    ),
    "a truth that was revised": (
        changed(ISSUED, ("01:00,2,", "01:00,9,")), TIME,
        "in.csv: the column 'y': a time must have one truth, which was 2.0 in an earlier row, got 9.0 in line"
        " 4 at '2026-01-01 02:00'. To keep the first one: --revised ignore.",
    ),
    "known before it was issued": (
        with_column(ISSUED, "p", *["2026-01-01 01:00"] * 4), f"{TIME} --known p",
        "in.csv: the column 'p': it must be after its forecasts were issued, got '2026-01-01 01:00' in line 4"
        " at '2026-01-01 02:00'.",
    ),
    "a truth without a time": (
        with_column(ISSUED, "p", "", *["2026-01-02"] * 3), f"{TIME} --known p",
        "in.csv: the column 'p': it must not be missing where there is a truth, got '' in line 2 at "
        "'2026-01-01 01:00'.",
    ),
    "rows that are not sorted": (
        changed(PLAIN, ("03:00", "00:30")), TIME,
        "in.csv, line 5, column 'ds': times must increase, got '2026-10-25 00:30' after '2026-10-25 02:00'. "
        "Sort the rows. If each time is forecast several times: --issued or --step. If there are several "
        "series, name them by --by.",
    ),
    "clocks that go back": (
        changed(PLAIN, ("03:00", "02:00")), TIME,
        "in.csv, line 5, column 'ds': times must increase, got '2026-10-25 02:00' again. A table with one row"
        " for each expert? Name its columns by --expert and --forecast. Issued at different times? Name the "
        "column of these times by --issued, or that of the steps ahead by --step. Local times that occur "
        "twice when clocks go back: write UTC or offsets. If there are several series, name them by --by.",
    ),
    "clocks that go back to a half hour": (
        changed(PLAIN, ("02:00", "02:30"), ("03:00", "02:00")), TIME,
        "in.csv, line 5, column 'ds': times must increase, got '2026-10-25 02:00' after '2026-10-25 02:30'. "
        "Sort the rows. If each time is forecast several times: --issued or --step. Local times that occur "
        "twice when clocks go back: write UTC or offsets. If there are several series, name them by --by.",
    ),
    "clocks that go back, with a delay": (
        changed(PLAIN, ("03:00", "02:00")), f"{TIME} --delay 1",
        "in.csv: the column 'ds': the time occurs twice in its series, got '2026-10-25 02:00' in line 5. Name"
        " the columns that tell the series apart with --by, those of a table with a row for each expert with "
        "--expert, --forecast. Local times that occur twice when clocks go back: write UTC or offsets.",
    ),
    "levels in percent": (
        BANDS, f"{TIME} --quantiles 10,50,90",
        "combine: --quantiles must be probabilities in (0, 1), such as .1,.5,.9, got 10.",
    ),
    "levels that fall": (
        BANDS, f"{TIME} --quantiles .9,.5,.1",
        "combine: --quantiles must increase, such as .1,.5,.9, got '.9,.5,.1'.",
    ),
    "levels that are words": (
        BANDS, f"{TIME} --quantiles low,high",
        "combine: --quantiles must be numbers with commas between, got 'low,high'.",
    ),
    "a level without columns": (
        BANDS, f"{TIME} --quantiles .05,.5,.95",
        "in.csv: --quantiles must be levels for which there are columns such as `name-lo-90`, `name-hi-90` or"
        " `name-q-0.9`, got 0.05. There are [0.1, 0.5, 0.9].",
    ),
    "quantiles with a loss": (
        BANDS, f"{TIME} --quantiles .1,.9 --loss mae",
        "combine: the loss of quantiles is their pinball loss; --loss cannot be given with --quantiles.",
    ),
    "quantiles of an expert without any": (
        BANDS, f"{TIME} --quantiles .1,.9 --experts a,b",
        "in.csv: --experts must be experts with columns such as `name-lo-90` and `name-q-0.9`, got 'b'.",
    ),
    "quantiles of a table with a row for each expert": (
        BANDS, f"{TIME} --quantiles .1,.9 --expert a --forecast a-lo-80",
        "in.csv: --experts and --quantiles are of tables with a column for each expert, --expert and "
        "--forecast of those with a row for each.",
    ),
    "a column of forecasts only": (
        PLAIN, f"{TIME} --forecast a",
        "combine: --forecast needs --expert, the column of the names of the experts.",
    ),
    "a column of experts only": (
        PLAIN, f"{TIME} --expert a",
        "combine: --expert needs --forecast, the column of the forecasts.",
    ),
    "a step 0": (
        with_column(PLAIN, "step", 1, 1, 0, 1), TIME,
        "in.csv: the column 'step' must have steps ahead, whole numbers >= 1, got 0.0 in line 4. If it has "
        "forecasts, list it in --experts; if it is something else, drop it: 'step' means steps.",
    ),
    "half a step": (
        with_column(PLAIN, "h", 1, 1, 1, 0.5), TIME,
        "in.csv: the column 'h' must have steps ahead, whole numbers >= 1, got 0.5 in line 5. If it has "
        "forecasts, list it in --experts; if it is something else, drop it: 'h' means steps.",
    ),
    "two columns of steps": (
        with_column(with_column(PLAIN, "h", 1, 1, 1, 1), "step", 1, 1, 1, 1), TIME,
        "in.csv: the columns ['h', 'step'] may be steps ahead; name one with --step.",
    ),
    "steps without times": (
        with_column(PLAIN, "h", 1, 1, 1, 1), "",
        "in.csv: the column 'h' says when forecasts were issued. Name the column of the times that the "
        "forecasts are for with --time.",
    ),
    "a step twice": (
        with_column(changed(PLAIN, ("03:00", "02:00")), "h", 1, 1, 1, 1), TIME,
        "in.csv: the column 'h': it has this step twice at its time, got 1.0 in line 5. Name the columns that"
        " tell the series apart with --by, those of a table with a row for each expert with --expert, "
        "--forecast. Local times that occur twice when clocks go back: write UTC or offsets.",
    ),
    "a delay below 0": (
        PLAIN, f"{TIME} --delay -1",
        "combine: --delay must be a whole number >= 0, got -1.",
    ),
    "a delay and a cutoff": (
        ISSUED, f"{TIME} --delay 1",
        "in.csv: --delay and the column 'cutoff' both say when truths were known; drop one of them.",
    ),
    "a delay and known times": (
        with_column(PLAIN, "p", *["2026-10-26"] * 4), f"{TIME} --delay 1 --known p",
        "in.csv: --delay is for tables without --issued and --known.",
    ),
    "a state without a name": (
        PLAIN, [*TIME.split(), "--state", ""],
        "combine: --state must be the name of a file, got ''.",
    ),
    "a state without times": (
        PLAIN, "--state mix.db",
        "in.csv: a --state needs the times that rows are for. Name their column with --time.",
    ),
    "a state with steps only": (
        with_column(PLAIN, "h", 1, 1, 1, 1), f"{TIME} --state mix.db",
        "in.csv: with a --state, steps ahead do not say when a row was issued if its earlier rows are in "
        "other tables. Name the column of the issue times with --issued.",
    ),
    "a state in no folder": (
        PLAIN, f"{TIME} --state no/mix.db",
        "Cannot use the state no/mix.db: there is no such folder.",
    ),
    "a state that is the table": (
        PLAIN, f"{TIME} --state in.csv",
        "Cannot use the state in.csv: it is not a state of driftwise.",
    ),
    "rows to skip without a state": (
        PLAIN, f"{TIME} --seen skip",
        "combine: --seen skip needs --state: without a state, no row was seen before.",
    ),
    "revisions where there are none": (
        PLAIN, f"{TIME} --revised ignore",
        "in.csv: --revised ignore is for tables in which a time can have several truths: with --issued, "
        "--step or --state, or with a row for each expert.",
    ),
    "a state of another loss": (
        NIGHT, f"{TIME} --state {BEGUN} --loss absolute",
        "Cannot use the state begun: it was begun with loss='square', got 'absolute'. Use --loss square, or "
        "use another --state file.",
    ),
    "a state with another delay": (
        NIGHT, f"{TIME} --state {BEGUN} --delay 1",
        "Cannot use the state begun: it was begun with delay=None, got delay=1. Leave --delay out, or use "
        "another --state file.",
    ),
    "a state of other times": (
        changed(NIGHT, ("2026-10-25 03:00", "3"), ("2026-10-25 04:00", "4")),
        f"{TIME} --state {BEGUN}",
        "Cannot use the state begun: it was begun with times without a time zone, got numbers.",
    ),
    "a state of other experts": (
        changed(NIGHT, (",b", ",c")), f"{TIME} --state {BEGUN}",
        "Cannot use the state begun: it has no expert 'c'; choose those of the state, ['a', 'b'], with "
        "--experts, or begin a new state with all rows.",
    ),
    "a state without cutoffs": (
        ISSUED, f"{TIME} --state {BEGUN}",
        "Cannot use the state begun: it was begun with issued=None, got issued='cutoff'. Leave --issued and "
        "its column out, or use another --state file.",
    ),
    "rows that the state has": (
        PLAIN, f"{TIME} --state {BEGUN}",
        "in.csv: the column 'ds': it must be after the last rows of its series in the state, got '2026-10-25 "
        "00:00' in line 2. To leave such rows out: --seen skip.",
    ),
    "another forecast of a row that waits": (
        changed(NIGHT, ("4,,", "4,9,3")), f"{TIME} --state {BEGUN}",
        "in.csv: the column 'ds': it was issued in an earlier run with the forecast 2.0 of 'a', not 9.0, got "
        "'2026-10-25 03:00' in line 2. Leave its forecasts empty to give the truth only.",
    ),
    "another truth": (
        changed(NIGHT, ("03:00,4,,", "02:00,9,,")), f"{TIME} --state {BEGUN}",
        "in.csv: the column 'y': a time must have one truth, which was 3.0 in an earlier file, got 9.0 in "
        "line 2 at '2026-10-25 02:00'. To keep the first one: --revised ignore.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("table", "words", "line"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_has_one_line_and_nothing_is_written(monkeypatch, capsys, tmp_path, table, words, line):
    run = runner(monkeypatch, capsys, tmp_path)
    words = words.split() if isinstance(words, str) else words
    if BEGUN in words:
        (tmp_path / "in.csv").write_text(changed(PLAIN, ("4,2,3", ",2,3")))
        ended = run("combine", "in.csv", "--target", "y", *TIME.split(), "--state", BEGUN, "--out", "before")
        assert ended.code == 0, ended.err
    (tmp_path / "in.csv").write_text(table)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    ended = run("combine", "in.csv", "--target", "y", *words, "--out", "out")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert not (tmp_path / "out").exists()
    assert ended.err == f"driftwise: {line}\n"
    assert ended.out == ""
    assert ended.code == (1 if line.startswith("Cannot use the state") else 2)
