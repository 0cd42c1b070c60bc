"""Every family of records behind one door: recognised by itself, read, converted, and never silently otherwise."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.records import families
from engine.records.families import NotRecognised
from engine.records.family import USUAL, UnknownOption
from engine.records.text import NotInForm, RecordError, Text, normalised, read_bytes
from tests.builders import DATA

RECORDS = DATA / "records"
FILES = {
    "objective_full_int.txt": ("objective", "full", "en"),
    "objective_full_ru.txt": ("objective", "full", "ru"),
    "objective_short_ru.txt": ("objective", "short", "ru"),
    "objective_fixed.txt": ("objective", "fixed", "en"),
    "mat_example.mat": ("mat", "mat", None),
    "xiangqi_example.txt": ("xiangqi", "wxf2018", None),
    "xiangqi_example_cn_simp.txt": ("xiangqi", "cn_simp", None),
    "xiangqi_example_cn_trad.txt": ("xiangqi", "cn_trad", None),
}
CURLING = "1) L51 L53\n2) R24 RR32\n3) LL34 L/21\n"


def text_of(name: str) -> Text:
    return read_bytes((RECORDS / name).read_bytes())


@pytest.mark.parametrize("name", FILES)
def test_a_text_is_taken_for_what_it_is(name: str) -> None:
    found = families.recognise(text_of(name))
    assert (found.entry.name, found.form, found.language) == FILES[name]
    assert found.certainty > 0.5
    for entry in families.FAMILIES:
        if entry.name != found.entry.name:
            assert entry.family.recognise(text_of(name)) < families.LEAST_SURE


def test_throws_of_curling_are_taken_for_that() -> None:
    found = families.recognise(normalised(CURLING))
    assert (found.entry.name, found.form) == ("curling", "short")


@pytest.mark.parametrize(
    "text", ["", "\n", "Dear Anna, how are you?", "1. e4 e5 2. Nf3 Nc6", "{}", "0" * 500]
)
def test_what_is_none_of_them_is_not_taken_for_one(text: str) -> None:
    with pytest.raises(NotRecognised):
        families.recognise(normalised(text))


def test_a_form_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UnknownOption) as refused:
        families.recognise(normalised(CURLING), "pgn")
    assert "wxf2018" in refused.value.detail
    found, reading = families.read(text_of("objective_fixed.txt"), None, USUAL, repair=False)
    with pytest.raises(UnknownOption):
        families.convert(found, reading.record, "pgn", USUAL)
    with pytest.raises(NotInForm):
        families.convert(found, reading.record, "wxf2018", USUAL)


def test_a_form_that_two_families_have_is_the_one_of_the_text() -> None:
    assert families.recognise(text_of("objective_short_ru.txt"), "short").entry.name == "objective"
    assert families.recognise(normalised(CURLING), "short").entry.name == "curling"


def converts(text: Text) -> None:
    """What is read is written in every form of its family that can hold it, and read there as the same."""
    try:
        found, reading = families.read(text, None, USUAL, repair=False)
    except (RecordError, NotRecognised):
        return
    family = found.entry.family
    for form in family.FORMS:
        try:
            written = families.convert(found, reading.record, form, USUAL)
        except NotInForm:
            continue
        again = family.read(normalised(written), USUAL, False).record
        assert families.convert(found, again, form, USUAL) == written


@pytest.mark.parametrize("name", FILES)
def test_every_form_of_a_file_is_read_back_and_written_the_same(name: str) -> None:
    converts(text_of(name))


PIECES = st.sampled_from(
    [*list("0123456789/|*-=().:[]\"'\n KRCHEP一二进平车馬炮бчсн"), "L51", "bar", "off", "{", "♠"]
)
ORIGINALS = [*(text_of(name).text for name in FILES), CURLING]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(ORIGINALS),
    st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 3), PIECES), min_size=1, max_size=3),
)
def test_no_mutated_text_crashes_or_is_converted_into_something_else(
    text: str, changes: list[tuple[int, int, str]]
) -> None:
    for place, length, piece in changes:
        place %= len(text)
        text = text[:place] + piece + text[place + length :]
    converts(normalised(text))


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200) | st.lists(PIECES, max_size=80).map("".join))
def test_no_random_text_crashes(text: str) -> None:
    converts(normalised(text))
