"""Covers: few rows are awake, and every stretch of rounds is made up of few of their intervals."""

import math

import pytest

from driftwise.learners.parts.time_intervals import COVERS, last_round
from references.second_order import LIVES

N_ROUNDS = 600
SHORT = ("geometric", "hazan-seshadhri")


def lives(name):
    """Return start -> last round, for the rounds of the test."""
    return {s: int(last_round(COVERS[name].code, s)) for s in range(1, N_ROUNDS + 1)}


def awake_at(ends, t):
    return [s for s in range(1, t + 1) if ends[s] >= t]


@pytest.mark.interpreted
@pytest.mark.parametrize("name", LIVES)
def test_an_interval_has_the_length_of_its_definition(name):
    ends = lives(name)
    for s in (*range(1, 70), 96, 128, 320, 512):
        for t in range(s, N_ROUNDS + 1):
            assert LIVES[name](s, t) == (t <= ends[s])


def test_a_single_row_starts_at_round_1_and_no_other():
    ends = lives("single")
    assert ends.pop(1) > 10**18
    assert set(ends.values()) == {-1}


def test_the_geometric_cover_keeps_as_many_rows_as_the_round_has_ones_in_binary():
    ends = lives("geometric")
    for t in range(1, N_ROUNDS + 1):
        assert len(awake_at(ends, t)) == t.bit_count() <= math.floor(math.log2(t)) + 1


def test_the_hazan_seshadhri_cover_keeps_few_rows():
    """Two per power of two, three for the one that divides t; measured, 2.2 log2(t + 1)."""
    ends = lives("hazan-seshadhri")
    for t in range(1, N_ROUNDS + 1):
        n_awake = len(awake_at(ends, t))
        assert n_awake <= 2 * (math.floor(math.log2(t)) + 1) + 1
        assert n_awake <= 2.2 * math.log2(t + 1)


def test_the_hazan_seshadhri_cover_has_a_row_awake_from_the_first_half_of_every_past():
    ends = lives("hazan-seshadhri")
    for t in range(1, N_ROUNDS + 1):
        starts = awake_at(ends, t)
        assert all(any(s <= start <= (s + t) / 2 for start in starts) for s in range(1, t + 1))


@pytest.mark.parametrize("name", SHORT)
def test_few_intervals_of_a_cover_make_up_any_stretch(name):
    """The fewest, by dynamic programming backwards from the end of the stretch, against the promise."""
    ends = lives(name)
    for end in range(1, 200):
        fewest = {end + 1: 0}
        for start in range(end, 0, -1):
            fewest[start] = 1 + min(fewest[stop + 1] for stop in range(start, min(ends[start], end) + 1))
            assert fewest[start] <= COVERS[name].pieces(end - start + 1)


@pytest.mark.parametrize("name", SHORT)
def test_the_memory_has_room_for_all_rows_ever_awake(name):
    """Around powers of two and at numbers of many ones, up to 2^62."""
    code, most = COVERS[name].code, 0
    for n_bits in range(1, 63):
        for t in (2**n_bits - 1, 2**n_bits, 2**n_bits + 2 ** (n_bits // 2), 2 ** (n_bits + 1) // 3):
            # a row awake at t starts within four of the powers of two that divide it
            near = {t // 2**z * 2**z - back * 2**z for z in range(n_bits + 1) for back in range(6)}
            most = max(most, sum(last_round(code, s) >= t for s in near if s >= 1))
    assert most <= COVERS[name].most_rows
