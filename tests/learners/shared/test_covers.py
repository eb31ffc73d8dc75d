"""Families of time intervals: few rows awake, every interval covered by few of them, by starts and by slots."""

import math

import pytest

from driftwise.learners.shared.time_intervals import COVERS, DYADIC_SLOTS, HAZAN_SESHADHRI_SLOTS, last_round
from references import meta
from references.second_order import AWAKE

N_ROUNDS = 600
SHORT = ("geometric", "hazan-seshadhri")


def last_rounds(name):
    """Return start -> last round, for the rounds of the test."""
    return {s: int(last_round(COVERS[name].code, s)) for s in range(1, N_ROUNDS + 1)}


def awake_at(ends, t):
    return [s for s in range(1, t + 1) if ends[s] >= t]


@pytest.mark.interpreted
@pytest.mark.parametrize("name", AWAKE)
def test_an_interval_has_the_length_of_its_definition(name):
    ends = last_rounds(name)
    for s in (*range(1, 70), 96, 128, 320, 512):
        for t in range(s, N_ROUNDS + 1):
            assert AWAKE[name](s, t) == (t <= ends[s])


def test_a_single_row_starts_at_round_1_and_no_other():
    ends = last_rounds("single")
    assert ends.pop(1) > 10**18
    assert set(ends.values()) == {-1}


def test_the_geometric_cover_keeps_as_many_rows_as_the_round_has_ones_in_binary():
    ends = last_rounds("geometric")
    for t in range(1, N_ROUNDS + 1):
        assert len(awake_at(ends, t)) == t.bit_count() <= math.floor(math.log2(t)) + 1


def test_the_hazan_seshadhri_cover_keeps_few_rows():
    """Two per power of two, three for the one that divides t; measured, 2.2 log2(t + 1)."""
    ends = last_rounds("hazan-seshadhri")
    for t in range(1, N_ROUNDS + 1):
        n_awake = len(awake_at(ends, t))
        assert n_awake <= 2 * (math.floor(math.log2(t)) + 1) + 1
        assert n_awake <= 2.2 * math.log2(t + 1)


def test_the_hazan_seshadhri_cover_has_a_row_awake_from_the_first_half_of_every_past():
    ends = last_rounds("hazan-seshadhri")
    for t in range(1, N_ROUNDS + 1):
        starts = awake_at(ends, t)
        assert all(any(s <= start <= (s + t) / 2 for start in starts) for s in range(1, t + 1))


@pytest.mark.parametrize("name", SHORT)
def test_few_intervals_of_a_cover_make_up_any_stretch(name):
    """The fewest, by dynamic programming backwards from the end of the stretch, are at most `rows_to_cover`."""
    ends = last_rounds(name)
    for end in range(1, 200):
        fewest = {end + 1: 0}
        for start in range(end, 0, -1):
            fewest[start] = 1 + min(fewest[stop + 1] for stop in range(start, min(ends[start], end) + 1))
            assert fewest[start] <= COVERS[name].rows_to_cover(end - start + 1)


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


# Slots


def held(slots, t):
    """Return the starts of the rows in the slots in round t, sorted."""
    starts = [int(slots.start(slot, t)) for slot in range(slots.in_use(t))]
    return sorted(start for start in starts if start > 0)


@pytest.mark.interpreted
def test_slots_hold_the_intervals_of_their_family():
    for t in range(1, 200):
        # Several dyadic intervals may have the same start, one of each level.
        assert held(DYADIC_SLOTS, t) == sorted(s for s, _ in meta.dyadic(t))
        assert held(HAZAN_SESHADHRI_SLOTS, t) == [s for s, _ in meta.lasting(t)]


@pytest.mark.interpreted
def test_slots_and_covers_of_a_family_have_the_same_rows():
    """The geometric cover has the longest dyadic interval of each start, so its starts are those of the slots."""
    for t in (*range(1, 300), 2**20 - 1, 2**20, 2**20 + 1, 2**39 + 12345, 2**40 - 1):
        assert held(HAZAN_SESHADHRI_SLOTS, t) == COVERS["hazan-seshadhri"].starts_at(t)
        assert sorted(set(held(DYADIC_SLOTS, t))) == COVERS["geometric"].starts_at(t)


@pytest.mark.parametrize(
    ("slots", "awake"),
    [(DYADIC_SLOTS, meta.dyadic), (HAZAN_SESHADHRI_SLOTS, meta.lasting)],
    ids=["dyadic", "hazan-seshadhri"],
)
def test_a_row_keeps_its_slot_until_it_ends(slots, awake):
    for t in range(1, 200):
        ongoing = {s for s, e in awake(t) if e > t}
        same = {
            slots.start(slot, t)
            for slot in range(slots.in_use(t))
            if slots.start(slot, t) == slots.start(slot, t + 1) > 0
        }
        assert same == ongoing


def test_slots_suffice_for_more_rounds_than_any_run_has():
    for t in (2**39 - 1, 2**39, 2**45 + 3):
        assert DYADIC_SLOTS.in_use(t) <= DYADIC_SLOTS.n_slots
        assert HAZAN_SESHADHRI_SLOTS.in_use(t) <= HAZAN_SESHADHRI_SLOTS.n_slots
        assert t in held(HAZAN_SESHADHRI_SLOTS, t)


def test_few_whole_dyadic_intervals_make_up_any_interval():
    """Greedily, from the first round on, each the longest that fits: fewer than 2 log2(n + 1)."""
    for first in range(1, 150):
        for last in range(first, 150):
            start, pieces = first, 0
            while start <= last:
                length = start & -start
                while start + length - 1 > last:
                    length //= 2
                start, pieces = start + length, pieces + 1
            assert pieces < 2 * math.log2(last - first + 2)
