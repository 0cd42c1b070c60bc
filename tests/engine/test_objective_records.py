"""Records of objective matches: what is written is read as it was, and read is played through."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.dice import Roll
from engine.match import Match, record_line
from engine.plays import Hop
from engine.records import objective
from engine.records.family import Options
from engine.records.half import Half, Unfit, fitted
from engine.records.objective.reader import MAX_CHARACTERS
from engine.records.objective.reader import read as read_objective
from engine.records.objective.record import TAGS, Line, Record, Result, record_of
from engine.records.objective.replay import Mismatch, replayed
from engine.records.objective.words import LANGUAGES, folded
from engine.records.objective.writer import FORMS, play_text, write
from engine.records.text import Fault, NotInForm, RecordError, Text, normalised, read_bytes
from engine.ruleset import PRESETS, Ruleset
from engine.scoring import Outcome
from engine.turn import Seat, Seats
from engine.variant import SHORT as SHORT_NARDY
from engine.variant import VARIANTS
from tests.builders import DATA, A, B, a_roll, pos, rules
from tests.support.recorded import ENDS, match_over

SAMPLES = [
    ("objective_full_int.txt", "full", "en"),
    ("objective_full_ru.txt", "full", "ru"),
    ("objective_short_int.txt", "short", "en"),
    ("objective_short_ru.txt", "short", "ru"),
    ("objective_fixed.txt", "fixed", "en"),
]
assert SHORT_NARDY.rules is not None
SHORT_RULES = SHORT_NARDY.rules
NAMES = Seats("Анна", 'Boris "the [great]" \\ –\u00a0jr.')
seeds = st.integers(0, 400)
ends = st.sampled_from(ENDS)
rulesets = st.sampled_from(
    [
        *(
            preset.ruleset
            for preset in PRESETS.values()
            if VARIANTS[preset.ruleset.variant].rules is not None
        ),
        rules(draw_offers="settle"),
        rules(time={"threshold_ms": 0, "ms_per_point": 1_000, "cap_num": 1, "cap_den": 1}),
        rules(time={"mode": "relative", "threshold_ms": 1_000}, scoring="checkers", forfeit_cap=90),
        rules(tied_game="white", opening_double="allow", unfinished={"may_flip": True}, rating_num=3),
    ]
)


def examples(number: int) -> settings:
    """Not by the hour: a slow machine proves the same."""
    return settings(max_examples=number, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def sample(name: str) -> str:
    return (DATA / "records" / name).read_bytes().decode()


def read(text: str) -> Record:
    return read_objective(normalised(text)).record


def faults(text: str) -> tuple[Fault, ...]:
    with pytest.raises(RecordError) as refused:
        read_objective(normalised(text))
    return refused.value.faults


def told(text: str) -> list[tuple[int, int, str, str]]:
    """Each fault as line, column, code and the offending text."""
    return [(fault.line, fault.column, fault.code, fault.text) for fault in faults(text)]


def noted(text: str) -> set[str]:
    return {note.code for note in read_objective(normalised(text)).notes}


@lru_cache(maxsize=64)
def recorded(seed: int, end: str, ruleset: Ruleset, computers: bool = False) -> tuple[Match, Record]:
    match = match_over(seed, ruleset, end=end, computers=[B] if computers else [])
    return match, record_of(match, NAMES, at=1_796_040_000_000, event="Кубок", round_name="1/4")


def without_seconds(record: Record) -> Record:
    """As the short and the fixed form hold it."""
    lines = tuple(
        Line(line.roll, Seats(*(replace(line.halves[seat], tenths=None) for seat in Seat)))
        for line in record.lines
    )
    return replace(record, lines=lines)


# --------------------------------------------------------------------------------------------------------- samples


@pytest.mark.parametrize(("name", "form", "language"), SAMPLES)
def test_a_sample_is_read_without_a_note_and_written_back_to_the_letter(
    name: str, form: str, language: str
) -> None:
    found = read_objective(read_bytes((DATA / "records" / name).read_bytes()))
    assert (found.form, found.language.key, found.notes) == (form, language, ())
    assert write(found.record, form, LANGUAGES[language]) == sample(name)


@pytest.mark.parametrize("target", SAMPLES[:4], ids=lambda target: target[0])
@pytest.mark.parametrize("source", SAMPLES[:2], ids=lambda source: source[0])
def test_the_samples_convert_into_one_another(
    source: tuple[str, str, str], target: tuple[str, str, str]
) -> None:
    assert write(read(sample(source[0])), target[1], LANGUAGES[target[2]]) == sample(target[0])


def test_the_lines_of_the_fixed_sample_are_those_of_the_full_one() -> None:
    full = write(read(sample("objective_full_int.txt")), "fixed").splitlines()
    assert full[12:-1] == sample("objective_fixed.txt").splitlines()
    assert full[-1] == "59 74:-74 (74:-74)"


def test_the_sample_is_recognised_and_what_is_checked_is_said() -> None:
    for name, form, language in SAMPLES:
        text = normalised(sample(name))
        assert objective.recognise(text) >= 0.9
        assert (objective.form_of(text), objective.language_of(text)) == (form, language)
    assert read_objective(normalised(sample("objective_full_int.txt"))).replayed.checked == (
        "plays",
        "points",
        "times",
    )
    bare = normalised(sample("objective_fixed.txt"))  # without tags and points
    assert read_objective(bare).replayed.checked == ("plays",)
    assert objective.recognise(normalised("1) L51 L53\n2) R24\n")) < 0.5
    assert objective.recognise(normalised(" 7 point match\n\n Game 1\n")) < 0.5


# ------------------------------------------------------------------------------------- whole matches, however they end


@examples(25)
@given(seeds, ends, rulesets, st.booleans())
def test_every_form_and_language_gives_back_what_it_holds(
    seed: int, end: str, ruleset: Ruleset, computers: bool
) -> None:
    _, record = recorded(seed, end, ruleset, computers)
    for form in FORMS:
        held = record if form == "full" else without_seconds(record)
        for language in LANGUAGES.values():
            text = write(record, form, language)
            found = read_objective(read_bytes(text.encode()))
            assert found.record == held
            assert (found.form, found.notes) == (form, ())
            assert write(found.record, form, language) == text
            for other in LANGUAGES.values():  # without loss
                assert write(found.record, form, other) == write(record, form, other)


@examples(25)
@given(seeds, ends, rulesets, st.booleans())
def test_a_text_replays_to_the_stored_match(seed: int, end: str, ruleset: Ruleset, computers: bool) -> None:
    """The same positions after every phase, points, times and price; the dice are those of the seeds."""
    match, record = recorded(seed, end, ruleset, computers)
    assert match.score is not None
    for form in FORMS:
        found = read_objective(normalised(write(record, form))).replayed
        assert [phase.games for phase in found.phases] == [phase.games for phase in match.history]
        assert (found.games, found.parted, found.ruleset) == (match.games, match.parted, match.ruleset)
        assert found.score is not None
        same = replace(found.score, rated=match.score.rated, by=match.score.by)
        assert same == match.score, "every figure but what no record says"
        if match.score.net_for_A and match.score.by:
            assert found.score.by is match.score.by
        dice = ("dice",) if match.turn is not None else ()
        assert found.checked[: 2 + len(dice)] == ("plays", *dice, "points")


@examples(20)
@given(seeds, ends, rulesets)
def test_plays_rolls_and_seconds_are_those_of_the_match(seed: int, end: str, ruleset: Ruleset) -> None:
    match, record = recorded(seed, end, ruleset)
    for phase, line in zip(match.history, record.lines, strict=False):
        _, roll, a, b, ms_a, ms_b = record_line(phase.turn, phase.roll, phase.plays)
        assert (line.halves.A.play, line.halves.B.play) == (a, b)
        assert line.roll is not None
        assert sorted(roll, reverse=True) == [line.roll.first, line.roll.second]
        for half, ms in ((line.halves.A, ms_a), (line.halves.B, ms_b)):
            assert half.tenths is not None
            assert abs(100 * half.tenths - ms) <= 50
    open_lines = record.lines[len(match.history) :]
    assert len(open_lines) <= 1
    for line in open_lines:
        assert "missed" in (line.halves.A.kind, line.halves.B.kind)


@examples(25)
@given(seeds, st.sampled_from(["finished", "resigned"]), rulesets)
def test_a_short_record_without_seeds_knows_the_rolls_that_its_plays_show(
    seed: int, end: str, ruleset: Ruleset
) -> None:
    _, record = recorded(seed, end, ruleset)
    bare = without_seconds(replace(record, tags=tuple(tag for tag in record.tags if "Seed" not in tag[0])))
    found = read(write(bare, "short"))
    known = 0
    for line, true in zip(found.lines, bare.lines, strict=True):
        assert [half.hops for half in (line.halves.A, line.halves.B)] == [
            true.halves.A.hops,
            true.halves.B.hops,
        ]
        assert line.roll in (true.roll, None)
        known += line.roll is not None
    assert known > len(bare.lines) / 2
    assert write(found, "short") == write(bare, "short")


def test_a_match_that_runs_has_no_record() -> None:
    match = replace(match_over(1), score=None)
    with pytest.raises(ValueError, match="not over"):
        record_of(match, NAMES)


def test_a_record_is_the_same_on_either_way_of_reading_it() -> None:
    match, record = recorded(5, "finished", rules())
    assert replayed(record).games == match.games
    options = Options(language="ru")
    text = objective.write(record, "full", options)
    reading = objective.read(normalised(text), options)
    assert reading.record == record
    assert reading.candidates[0].edits == ()
    assert objective.read(normalised(text), options, repair=True).record == record


def test_a_record_of_a_game_that_cannot_be_played_here_says_so() -> None:
    missing = [key for key, variant in VARIANTS.items() if variant.rules is None]
    for key in missing:
        assert told(f'[Variant "{key}"]\n\n01) 24/23 | 24/23\n') == [(1, 11, "variant", key)]
    for key in VARIANTS.keys() - missing:
        assert read(f'[Variant "{key}"]\n\n01) 0:0\n'.replace("01) 0:0\n", "")).ruleset().variant == key


# ------------------------------------------------------------------------------------------------------------ tags


@pytest.mark.parametrize(
    "name",
    [
        'Anna "the one"',
        "back\\slash",
        'ends with "',
        "\\",
        "[brackets] ] [",
        "no-break\u00a0space — and dash",
        "zero\u200bwidth",
        "two\nlines\tand a tab",
        "\u2028\u2029\x85\x00\x7f",
        "«кавычки» “quotes”",
        "Ёлка 中国 🎲 é e\u0301",
        " spaces at both ends ",
        "",
        '"] [Seed "',
    ],
)
def test_any_name_comes_back_to_the_letter(name: str) -> None:
    record = Record((("Player1", name), ("Player2", name), ("Event", name)), (), Result(Seats(0, 0)))
    for form in FORMS:
        text = write(record, form)
        assert "\r" not in text
        assert text.count("\n") == 6
        assert read_objective(read_bytes(text.encode())).record == record


@given(st.text(max_size=40))
def test_any_text_of_a_tag_comes_back_to_the_letter(words: str) -> None:
    record = Record((("Player1", words),), (), Result(Seats(0, 0)))
    assert read_objective(read_bytes(write(record, "full").encode())).record == record


def test_both_languages_name_every_tag_and_no_two_words_are_taken_for_one_another() -> None:
    for language in LANGUAGES.values():
        assert set(language.tags) == set(TAGS)
    words = [
        word
        for language in LANGUAGES.values()
        for word in {*language.tags.values(), *language.classes.values()}
    ]
    words += [word for language in LANGUAGES.values() for word in (language.bar, language.off)]
    assert len({folded(word) for word in words}) == len(words)


TAG_FAULTS = [
    ('[Name "x"]', (1, 2, "unknown-tag", "Name")),
    ('[Player1 "x"]\n[Игрок1 "y"]', (2, 2, "repeated-tag", "Игрок1")),
    ("[Player1 x]", (1, 1, "tag", "[Player1 x]")),
    ('[Player1 "x', (1, 1, "tag", '[Player1 "x')),
    (r'[Player1 "a\qb"]', (1, 12, "escape", "\\")),
    (r'[Player1 "a\ud800b"]', (1, 12, "escape", r"\ud800")),
    ('[Game "chess"]', (1, 8, "tag-text", "chess")),
    ('[Date "30.11.2026"]', (1, 8, "tag-text", "30.11.2026")),
    ('[Date "2026-11-30"]', (1, 8, "tag-text", "2026-11-30")),
    ('[Date "2026-13-30T10:00:00Z"]', (1, 8, "tag-text", "2026-13-30T10:00:00Z")),
    ('[Variant "huge"]', (1, 11, "tag-text", "huge")),
    ('[Ruleset "mine"]', (1, 11, "tag-text", "mine")),
    ('[RulesetJson "[]"]', (1, 15, "bad-ruleset", "[]")),
    (r'[RulesetJson "{\"pips_cap\":0}"]', (1, 15, "bad-ruleset", '{"pips_cap":0}')),
    (r'[RulesetJson "{\"no\":1}"]', (1, 15, "bad-ruleset", '{"no":1}')),
    ('[Seed "abc"]', (1, 8, "tag-text", "abc")),
    ('[DiceId "a_b"]', (1, 10, "tag-text", "a_b")),
    ('[Outcome "won"]', (1, 11, "tag-text", "won")),
    ('[GameX "Z"]', (1, 9, "tag-text", "Z")),
    ('[GameX "W great"]', (1, 9, "tag-text", "W great")),
    ('[Credit "1:1"]', (1, 10, "tag-text", "1:1")),
    ('[Time1 "-5"]', (1, 9, "tag-text", "-5")),
    ('[Record "long"]', (1, 10, "tag-text", "long")),
]


@pytest.mark.parametrize(("text", "fault"), TAG_FAULTS, ids=[text for text, _ in TAG_FAULTS])
def test_a_wrong_tag_is_refused_where_it_stands(text: str, fault: tuple[int, int, str, str]) -> None:
    assert told(f"{text}\n\n01) 0:0\n")[0] == fault


def test_an_unknown_tag_is_told_the_nearest_one() -> None:
    (fault,) = faults('[Playr1 "x"]\n')
    assert fault.expected == "Player1"
    (fault,) = faults('[Играк1 "x"]\n[Игрок2 "y"]\n')
    assert fault.expected == "Игрок1"


def test_settings_are_one_spelling_of_what_differs() -> None:
    text = '[RulesetJson "{ \\"scoring\\": \\"pips\\", \\"pips_cap\\": 60 }"]\n\n01) 0:0\n'
    record = read(text)
    assert record.tag("RulesetJson") == '{"pips_cap":60}'
    assert record.ruleset() == rules(pips_cap=60)
    assert "spelling" in noted(text)
    blitz = read('[Ruleset "blitz"]\n[RulesetJson "{\\"peek\\":\\"off\\"}"]\n\n01) 0:0\n')
    assert blitz.ruleset() == PRESETS["blitz"].ruleset.changed({"peek": "off"})


# ----------------------------------------------------------------------------------------- what people write otherwise

FULL, SHORT, FIXED = (sample(f"objective_{name}.txt") for name in ("full_int", "short_int", "fixed"))
OTHERWISE = [
    pytest.param(
        FULL, "13/10 10/8     ", "13/10/8        ", {"several-points"}, id="several points in one go"
    ),
    pytest.param(FULL, "13/10 10/8     ", "13/8           ", {"several-dice"}, id="both dice in one move"),
    pytest.param(FULL, "6/2(2) ", "6/2 6/2 ", set(), id="each checker by itself"),
    pytest.param(FULL, "6/2(3) ", "6/2 (3)", {"spelling"}, id="the number after a space"),
    pytest.param(FULL, "bar/24 24/20", "25/24 24/20 ", {"spelling"}, id="the bar as 25"),
    pytest.param(FULL, "bar/24 24/20", "Bar/24 24/20", {"letter-case"}, id="capitals"),
    pytest.param(FULL, "bar/24 24/20", "bаr/24 24/20", {"look-alike"}, id="a Cyrillic a in bar"),
    pytest.param(FULL, "bar/24 24/20", "бар/24 24/20", {"other-language"}, id="a Russian bar"),
    pytest.param(FULL, "2/off ", "2/0   ", {"spelling"}, id="off as 0"),
    pytest.param(FULL, "2/off ", "2/оff ", {"look-alike"}, id="a Cyrillic o in off"),
    pytest.param(FULL, "24/18* 6/4", "24/18 6/4 ", {"star-missing"}, id="a hit without its star"),
    pytest.param(FULL, "24/18* 6/4", "24/18x 6/4", {"spelling"}, id="a hit with an x"),
    pytest.param(FULL, "13/7 7/4", r"13\7 7\4", {"spelling"}, id="backslashes"),
    pytest.param(FULL, "13/7 7/4", "13-7 7-4", {"spelling"}, id="hyphens"),
    pytest.param(FULL, "13/7 7/4", "13–7 7—4", {"spelling", "dashes"}, id="typographic dashes"),
    pytest.param(FULL, "13/7 7/4", "13/7,7/4".replace(",", ", "), {"spelling"}, id="commas"),
    pytest.param(
        FULL, "13/7 7/4 ", "7/4 13/7 ", {"move-order"}, id="moves in an order that cannot be played"
    ),
    pytest.param(FULL, "| --    ", "| pass  ", {"spelling"}, id="pass in a word"),
    pytest.param(FULL, "| --    ", "| -     ", {"spelling"}, id="pass as one hyphen"),
    pytest.param(FULL, "w 32", "W 32", {"letter-case"}, id="a large colour"),
    pytest.param(FULL, "w 32", "б 32", {"other-language"}, id="a Russian colour"),
    pytest.param(FULL, "w 32", "w 23", {"dice-order"}, id="the lower die first"),
    pytest.param(FULL, "w 32", "w 3-2", {"spelling"}, id="dice with a hyphen"),
    pytest.param(FULL, "01) w", "1. w", {"number"}, id="another number"),
    pytest.param(FULL, "18.0 |", "18,0 |", {"seconds"}, id="a decimal comma"),
    pytest.param(FULL, "18.0 |", "18 |", {"seconds"}, id="whole seconds"),
    pytest.param(FULL, "[Player1 ", "[player1 ", {"letter-case"}, id="a small tag"),
    pytest.param(FULL, "[Player1 ", "[Игрок1 ", {"other-language"}, id="a Russian tag"),
    pytest.param(FULL, "[GameX ", "[GameХ ", {"look-alike"}, id="a Cyrillic X"),
    pytest.param(FULL, '"W oin"', '"W ойн"', {"other-language"}, id="a Russian class"),
    pytest.param(FULL, '"Anna"', "“Anna”", {"quotes"}, id="typographic quotes"),
    pytest.param(FULL, '"42:-42"', '"42:−42"', {"spelling"}, id="a minus sign"),
    pytest.param(FULL, "59) 74:-74 (74:-74)", "59) +74:-74 (+74:-74)", {"sign"}, id="a plus sign"),
    pytest.param(FULL, "\n", "\r\n", {"line-ends"}, id="CRLF"),
    pytest.param(FULL, " | 13/10", "\u00a0| 13/10", {"spaces"}, id="no-break spaces"),
    pytest.param(FULL, "[Credit", "\n[Credit", set(), id="an empty line between tags"),
    pytest.param(FIXED, "           13-3 10-2\n", " 13-3 10-2\n", {"columns"}, id="columns not kept"),
    pytest.param(FIXED, "01 w 32", "1) w 32", {"number"}, id="a fixed line numbered like others"),
    pytest.param(
        SHORT, "13/10 10/8 ", "13/8 ", {"several-dice"}, id="both dice in one move of a short record"
    ),
]


@pytest.mark.parametrize(("text", "usual", "written", "notes"), OTHERWISE)
def test_what_people_write_otherwise_is_read_with_a_note(
    text: str, usual: str, written: str, notes: set[str]
) -> None:
    changed = text.replace(usual, written) if usual == "\n" else text.replace(usual, written, 1)
    assert changed != text
    assert noted(changed) == notes
    found, right = read(changed), read(text)
    assert replayed(found).games == replayed(right).games
    assert [line.halves.A.play for line in found.lines][1:] == [line.halves.A.play for line in right.lines][
        1:
    ] or notes


def test_a_russian_record_takes_a_latin_letter_for_the_one_that_it_looks_like() -> None:
    text = sample("objective_full_ru.txt")
    for usual, written in (
        ("01) б", "01) b"),
        ("бар/24 24/20", "бap/24 24/20"),
        ("2/сн ", "2/cн "),
        ("Зачёт", "Зачет"),
    ):
        changed = text.replace(usual, written, 1)
        assert changed != text
        assert noted(changed) == {"look-alike"}
        assert read(changed) == read(text)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "windows-1251", "koi8-r"])
def test_a_russian_record_is_read_in_any_encoding(encoding: str) -> None:
    text = sample("objective_full_ru.txt")
    assert read_objective(read_bytes(text.encode(encoding))).record == read(text)


# ------------------------------------------------------------------------------------------------------------ faults

FAULTS = [
    pytest.param("05) w 53", "07) w 53", (17, 1, "line-number", "07"), id="a wrong number"),
    pytest.param("05) w 53", "05) b 53", (17, 5, "colour", "b"), id="the other colour"),
    pytest.param("05) w 53", "05) w 57", (17, 7, "dice", "57"), id="a seven"),
    pytest.param("05) w 53", "05) w", (17, 7, "dice", "|"), id="no dice"),
    pytest.param("05) w 53 |", "05) w 53", (17, 10, "column", "8/3"), id="no column"),
    pytest.param("05) w 53 | 8/3 6/3", "05) w 53 | 8/3 6/e", (17, 18, "point", "e"), id="no point"),
    pytest.param("05) w 53 | 8/3 6/3", "05) w 53 | 8/3 26/3", (17, 16, "point", "26"), id="no such point"),
    pytest.param(
        "05) w 53 | 8/3 6/3", "05) w 53 | 8/3 bar/25", (17, 20, "point", "25"), id="ends on the bar"
    ),
    pytest.param("05) w 53 | 8/3 6/3", "05) w 53 | 8/3 6", (17, 16, "play", "6"), id="half a move"),
    pytest.param("05) w 53 | 8/3 6/3", "05) w 53 |        ", (17, 11, "play", ""), id="no play"),
    pytest.param("  9.0 | 8/3 6/3", "  9:0 | 8/3 6/3", (17, 42, "seconds", "9:0"), id="no seconds"),
    pytest.param("29.0\n06)", "29.0 x\n06)", (17, 82, "seconds", "x"), id="something after the seconds"),
    pytest.param("29.0\n06)", "29.0 | 1\n06)", (17, 82, "line-end", "| 1"), id="a third column"),
    pytest.param(
        "05) w 53 | 8/3 6/3", "05) w 53 | 8/3 7/4", (17, 12, "illegal-play", "8/3 7/4"), id="illegal"
    ),
    pytest.param(
        "05) w 53 | 8/3 6/3", "05) w 53 | 8/3    ", (17, 12, "illegal-play", "8/3"), id="one die only"
    ),
    pytest.param(
        "05) w 53 | 8/3 6/3", "05) w 53 | --     ", (17, 12, "illegal-play", "--"), id="a pass that is none"
    ),
    pytest.param("53 | 8/3 6", "53 | 8/3* 6", (17, 12, "no-hit", "8/3* 6/3"), id="hits nobody"),
    pytest.param(
        "05) w 53 | 8/3 6/3", "05) w 53 | ==     ", (18, 7, "after-the-end", "61"), id="a play never made"
    ),
    pytest.param(
        "01) w 32 | 13/10 10/8", "01) w 33 | 13/10 10/7", (13, 7, "opening-double", "33"), id="a double first"
    ),
    pytest.param("59) 74:-74", "59) 75:-75", (71, 5, "wrong-points", "75:-75"), id="wrong points"),
    pytest.param("59) 74:-74", "59) 74:x", (71, 5, "result", "74:x (74:-74)"), id="no points"),
    pytest.param("59) 74:-74", "60) 74:-74", (71, 1, "line-number", "60"), id="a result too late"),
    pytest.param("(74:-74)\n", "(74:-74)\nmore\n", (72, 1, "after-result", "more"), id="after the result"),
    pytest.param('"42:-42"', '"40:-40"', (8, 10, "wrong-credit", "40:-40"), id="wrong credit"),
    pytest.param('"W oin"', '"W mars"', (6, 9, "wrong-game", "W mars"), id="wrong class"),
    pytest.param(
        '[GameY "-"]', '[GameY "K oin"]', (7, 9, "wrong-game", "K oin"), id="wrong outcome of a game"
    ),
    pytest.param('"907000"', '"807000"', (9, 9, "wrong-times", "807000"), id="wrong time"),
    pytest.param(
        '[TimeAdjustment "2"]', '[TimeAdjustment "3"]', (11, 18, "wrong-adjustment", "3"), id="wrong b"
    ),
    pytest.param(
        '[TimeAdjustment "2"]', '[Outcome "void"]', (11, 11, "wrong-outcome", "void"), id="was played out"
    ),
    pytest.param(
        '[TimeAdjustment "2"]', '[Parted "3"]', (11, 10, "wrong-parting", "3"), id="parted elsewhere"
    ),
    pytest.param('[Time1 "907000"]\n', "", (10, 18, "missing-tag", "2"), id="an adjustment without times"),
    pytest.param(
        '[Record "full"]', '[Record "short"]', (4, 10, "wrong-form", "short"), id="another form than it says"
    ),
    pytest.param(
        "05) w 53", '[Event "x"]\n05) w 53', (17, 1, "late-tag", '[Event "x"]'), id="a tag among the lines"
    ),
]


@pytest.mark.parametrize(("usual", "written", "fault"), FAULTS)
def test_a_fault_is_told_with_its_place_and_text(
    usual: str, written: str, fault: tuple[int, int, str, str]
) -> None:
    changed = FULL.replace(usual, written, 1)
    assert changed != FULL
    assert fault in told(changed)
    assert told(changed)[0] == fault or usual.startswith(
        ("59)", "  9.0", "[Time1", "[TimeA", '"42', "05) w", "29.0")
    )
    assert all(one.expected or one.code == "illegal-play" for one in faults(changed))


FIXED_FAULTS = [
    ("13-3 10-2           13-3", "13-3                13-3", (1, 34, "groups", "3")),
    ("01 w 32 13-3 10-2 ", "01 w 32 13-3 10-4 ", (1, 14, "group", "10-4")),
    ("01 w 32 13-3 10-2 ", "01 w 32 13=3 10-2 ", (1, 9, "group", "13=3")),
    ("01 w 32 13-3 10-2 ", "01 w 32 13-3 1O-2 ", (1, 14, "group", "1O-2")),
    ("01 w 32 13-3 10-2 ", "01 w 32 26-3 10-2 ", (1, 9, "group", "26-3")),
    ("01 w 32 13-3 10-2 ", "01 w 32 13-3 ---- ", (1, 9, "illegal-play", "13/10")),
]


@pytest.mark.parametrize(("usual", "written", "fault"), FIXED_FAULTS)
def test_a_fault_of_the_fixed_form_is_told_with_its_place(
    usual: str, written: str, fault: tuple[int, int, str, str]
) -> None:
    changed = FIXED.replace(usual, written, 1)
    assert changed != FIXED
    assert told(changed)[0] == fault


def test_a_short_record_whose_plays_are_of_no_common_roll_is_refused() -> None:
    assert told(SHORT.replace("13/9 9/6                    |", "13/8 8/6                    |"))[0] == (
        14, 35, "no-shared-roll", "13/9 9/6",
    )  # fmt: skip
    assert told(SHORT.replace("13/9 9/6                    |", "13/9 9/1                    |"))[0] == (
        14, 5, "illegal-play", "13/9 9/1",
    )  # fmt: skip


def test_a_move_over_two_dice_that_can_end_in_two_ways_is_not_chosen() -> None:
    """13/8 over the blot on 10 hits it, over 11 it does not; a star says which."""
    before, roll = pos("13:2 6:5 | 15:1 6:5"), a_roll("3-2")
    with pytest.raises(Unfit) as unfit:
        fitted(SHORT_RULES, before, roll, Half("play", (Hop(13, 8),)))
    assert (unfit.value.code, unfit.value.expected) == ("ambiguous-play", "13/10* 10/8 · 13/11 11/8")
    half, doubt = fitted(SHORT_RULES, before, roll, Half("play", (Hop(13, 8),), hits=frozenset({10})))
    assert (half.play, doubt and doubt.code) == ("13/10* 10/8", "several-dice")


def test_several_faults_are_told_at_once_in_the_order_of_the_text() -> None:
    changed = (
        FULL.replace("05) w 53", "05) w 57").replace("09) w", "19) w").replace("12) b 41 |", "12) b 41 ")
    )
    assert [(fault.line, fault.code) for fault in faults(changed)] == [
        (17, "dice"),
        (21, "line-number"),
        (24, "column"),
    ]
    missing = FULL.replace(FULL.splitlines()[20] + "\n", "")
    assert [(fault.line, fault.code, fault.expected) for fault in faults(missing)] == [
        (21, "line-number", "09")
    ]


def test_what_is_no_record_at_all_is_refused() -> None:
    assert [fault.code for fault in faults("")] == ["empty"]
    assert [fault.code for fault in faults("\n \n")] == ["empty"]
    assert [fault.code for fault in faults("x" * (MAX_CHARACTERS + 1))] == ["too-long"]
    assert faults("Dear Anna,\nthis is no record.\n")[0].line == 1
    with pytest.raises(RecordError):
        read_bytes(b"\xff\xfe\x00")


# --------------------------------------------------------------------------------------------- dice, points, times


def with_tag(text: str, name: str, words: str) -> str:
    changed, count = re.subn(rf'\[{name} ".*"\]', f'[{name} "{words}"]', text)
    assert count == 1
    return changed


def test_dice_that_the_seeds_do_not_give_are_found() -> None:
    _, record = recorded(3, "finished", rules())
    text = write(record, "full")
    for name, words in (("ClientSeed1", "0" * 32), ("DiceId", "m-other"), ("ClientSeed2", "f" * 32)):
        (fault,) = faults(with_tag(text, name, words))
        assert fault.code == "wrong-dice"
        assert fault.column == 7
    found = faults(with_tag(text, "Seed", "0" * 64))
    assert [fault.code for fault in found] == ["wrong-commitment", "wrong-dice"]
    (fault,) = faults(with_tag(text, "Commitment", "0" * 64))
    assert fault.code == "wrong-commitment"


@pytest.mark.parametrize("end", ["finished", "resigned", "time", "abandoned", "agreed", "void"])
def test_every_figure_that_is_changed_is_found(end: str) -> None:
    _, record = recorded(8, end, rules(draw_offers="settle"))
    assert record.result is not None
    text = write(record, "full")
    points = record.result.points
    changed = replace(record, result=Result(Seats(points.A + 1, points.B - 1)))
    assert "wrong-points" in {fault.code for fault in faults(write(changed, "full"))}
    for name in ("Time1", "Time2"):
        longer = str(int(record.tag(name) or 0) + 100_000)
        assert "wrong-times" in {fault.code for fault in faults(with_tag(text, name, longer))}
    for name in ("GameX", "GameY"):
        words = "T" if record.tag(name) != "T" else "-"
        assert "wrong-game" in {fault.code for fault in faults(with_tag(text, name, words))}
    assert "wrong-credit" in {fault.code for fault in faults(with_tag(text, "Credit", "777:-777"))}
    other = "void" if end == "finished" else "finished"
    assert "wrong-outcome" in {fault.code for fault in faults(with_tag(text, "Outcome", other))}


def test_time_is_assessed_again_from_the_times() -> None:
    ruleset = rules(time={"threshold_ms": 0, "ms_per_point": 1_000, "cap_num": 1, "cap_den": 1})
    assessed = [
        (seed, record)
        for seed in range(20)
        for _, record in [recorded(seed, "finished", ruleset)]
        if int(record.tag("TimeAdjustment") or 0) > 0
    ]
    assert len(assessed) > 5
    for _, record in assessed:
        found = replayed(record)
        assert found.score is not None
        assert str(found.score.time_adjustment) == record.tag("TimeAdjustment")
        without = replace(record, tags=tuple(tag for tag in record.tags if tag[0] != "TimeAdjustment"))
        with pytest.raises(Mismatch) as wrong:
            replayed(without)
        assert [problem.code for problem in wrong.value.problems] == ["wrong-points"]


def test_against_the_computer_time_is_not_assessed_and_no_adjustment_stands_there() -> None:
    match, record = recorded(2, "finished", rules(), True)
    assert match.score is not None
    assert record.tag("TimeAdjustment") is None
    assert record.tag("ClientSeed2") == "0" * 32
    assert replayed(record).score == replace(match.score, rated=True)


def test_an_open_phase_is_written_with_the_play_that_was_never_made() -> None:
    texts = [write(recorded(seed, "resigned", rules())[1], "full") for seed in range(8)]
    ends = [text.splitlines()[-2] for text in texts]
    assert all(" == " in line for line in ends)
    assert any(line.count("==") == 1 for line in ends)
    assert any(line.count("==") == 2 for line in ends)
    assert all(
        "====" in write(recorded(seed, "resigned", rules())[1], "fixed").splitlines()[-2] for seed in range(8)
    )


# ------------------------------------------------------------------------------------------------- layout, conversion


def a_line(a: Half, b: Half) -> Record:
    return Record((), (Line(None, Seats(a, b)),), None)


def test_a_play_too_long_for_its_column_widens_its_line() -> None:
    hops = tuple(Hop(start, start - 1) for start in (25, 24, 23, 22))
    wide = Half("play", hops, (1, 1, 1, 1), frozenset({24, 23, 22, 21}), 12_345)
    (line,) = write(a_line(wide, Half("pass", tenths=0)), "short").splitlines()
    assert line == "01) bar/24* 24/23* 23/22* 22/21* | --"
    full = write(Record((), (Line(Roll(1, 1), Seats(wide, wide)),), None), "full").splitlines()[0]
    assert full == "01) w 11 | bar/24* 24/23* 23/22* 22/21* 1234.5 | bar/24* 24/23* 23/22* 22/21* 1234.5"
    assert play_text(wide, LANGUAGES["ru"]).startswith("бар/24*")


def test_a_form_that_needs_more_than_is_known_refuses() -> None:
    short = read(SHORT)
    with pytest.raises(NotInForm) as refused:
        write(short, "full")
    assert refused.value.params["missing"] == "seconds"
    assert write(short, "fixed").splitlines()[12:-1] == FIXED.splitlines(), "its plays show every roll"
    with pytest.raises(NotInForm) as refused:
        write(a_line(Half("pass"), Half("pass")), "fixed")
    assert refused.value.params["missing"] == "dice"


def test_the_hundredth_line_has_three_digits_and_keeps_its_columns() -> None:
    _, record = recorded(111, "finished", rules(), False)
    lines = (record.lines[:1] * 100)[:100]
    many = Record((), lines, Result(Seats(0, 0)))
    text = write(many, "short").splitlines()
    assert [line.split(")")[0] for line in text[8:11]] == ["09", "10", "11"]
    assert text[99].startswith("100) ")
    assert text[100] == "101) 0:0"
    fixed = write(many, "fixed").splitlines()
    for line in fixed[:100]:
        assert line[7] == " "
        assert re.fullmatch(r"\d\d[-*=]\d", line[8:12])
        assert line[27] == " "
        assert line[28:32] == line[8:12]
    assert fixed[99].startswith("100b ")


def test_a_match_of_more_than_a_hundred_rolls_is_read_back_in_every_form() -> None:
    match = match_over(111, rules(), end="agreed")
    record = record_of(match, NAMES)
    assert len(record.lines) > 100
    for form in FORMS:
        found = read_objective(normalised(write(record, form)))
        assert found.notes == ()
        assert found.record == (record if form == "full" else without_seconds(record))


# ------------------------------------------------------------------------------------------------------------- repair


def edits(text: str) -> list[list[tuple[int, int, str, str]]]:
    reading = objective.read(normalised(text), repair=True)
    return [
        [(e.line, e.column, e.text, e.read_as) for e in candidate.edits] for candidate in reading.candidates
    ]


def test_repair_lists_what_a_misprint_may_have_meant_and_chooses_nothing() -> None:
    right = read(FULL)
    wrong = FULL.replace("03) w 63 | 13/7 7/4", "03) w 63 | 13/7 7/5")
    found = objective.read(normalised(wrong), repair=True)
    assert edits(wrong)[0] == [(15, 12, "13/7 7/5", "13/7 7/4")]
    assert found.candidates[0].record == right
    counts = [len(candidate.edits) for candidate in found.candidates]
    assert counts == sorted(counts)
    assert counts[0] == 1, "the text itself is none of them"
    with pytest.raises(RecordError):
        objective.read(normalised(wrong))


@pytest.mark.parametrize(
    ("usual", "written", "edit"),
    [
        pytest.param("05) w 53", "05) w 54", (17, 7, "54", "53"), id="a wrong die"),
        pytest.param(
            "| bar/20 24/20   ", "| bar/20 23/20   ", (28, 12, "bar/20 23/20", "bar/20 24/20"), id="a point"
        ),
        pytest.param("| 13/9 9/6   ", "| 13/9 9/%   ", (14, 12, "13/9 9/%", "13/9 9/6"), id="unreadable"),
        pytest.param("59) 74:-74", "59) 47:-74", (71, 5, "47:-74", "74:-74"), id="points"),
        pytest.param('"42:-42"', '"24:-24"', (8, 10, "24:-24", "42:-42"), id="credit"),
    ],
)
def test_a_single_misprint_is_found_again(usual: str, written: str, edit: tuple[int, int, str, str]) -> None:
    changed = FULL.replace(usual, written, 1)
    assert changed != FULL
    assert [edit] in edits(changed)


def test_a_misprint_that_shows_only_later_is_found_where_it_was_made() -> None:
    """In line 9 Anna plays another legal play; only in line 11 is there no checker where she needs one."""
    changed = FULL.replace("09) w 41 | 8/4 4/3  ", "09) w 41 | 6/2 4/3  ", 1)
    assert changed != FULL
    assert faults(changed)[0].line > 21
    assert any(one == [(21, 12, "6/2 4/3", "8/4 4/3")] for one in edits(changed))


def test_what_no_near_play_mends_stays_refused_with_its_place() -> None:
    changed = FULL.replace("03) w 63 | 13/7 7/4", "03) w 63 | 2/1 2/1 ")
    with pytest.raises(RecordError) as refused:
        objective.read(normalised(changed), repair=True)
    assert (refused.value.faults[0].line, refused.value.faults[0].code) == (15, "illegal-play")
    with pytest.raises(RecordError) as refused:
        objective.read(normalised(FULL.replace("[Player1", "[Nobody")), repair=True)
    assert refused.value.faults[0].code == "unknown-tag"


# --------------------------------------------------------------------------------------------------------------- fuzz


def survives(text: Text) -> None:
    """Either it is refused with located faults, or what was read is written and read the same."""
    try:
        found, wrong = read_objective(text), ()
    except RecordError as refused:
        found, wrong = None, refused.faults
    if found is None:
        assert wrong
        for fault in wrong:
            assert 1 <= fault.line <= len(text.lines)
            assert fault.column >= 1
            assert fault.code
            assert fault.message
        return
    for language in LANGUAGES.values():
        written = write(found.record, found.form, language)
        again = read_objective(normalised(written))
        assert again.record == found.record
        assert again.notes == ()
        assert again.replayed.games == found.replayed.games
        assert write(again.record, found.form, language) == written


PIECES = st.sampled_from(
    [
        "\n",
        "|",
        " ",
        "--",
        "==",
        "13/7",
        "24/18*",
        "bar/20",
        "бар/20",
        "6/off",
        "(2)",
        '[Player1 "x"]',
        "w",
        "б",
        "31",
        "01)",
        "02)",
        "01 w 31 13-3 06-1 08-3 06-1",
        "0:0",
        "(1:-1)",
        "1.5",
        "\\",
        '"',
        "]",
        "ё",
        "*",
        "/",
        "-",
        "9",
    ]
)


@examples(200)
@given(st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=200))
def test_random_text_never_crashes_the_reader(text: str) -> None:
    survives(normalised(text))


@examples(200)
@given(st.binary(max_size=300))
def test_random_bytes_never_crash_the_reader(data: bytes) -> None:
    try:
        text = read_bytes(data)
    except RecordError:
        return
    survives(text)


@examples(200)
@given(
    st.sampled_from([sample(name) for name, _, _ in SAMPLES]),
    st.lists(
        st.tuples(st.integers(0, 5_000), st.integers(0, 4), PIECES | st.text(max_size=3)),
        min_size=1,
        max_size=3,
    ),
)
def test_a_mutated_record_is_refused_or_reads_back_the_same(
    text: str, changes: list[tuple[int, int, str]]
) -> None:
    for place, length, piece in changes:
        place %= len(text)
        text = text[:place] + piece + text[place + length :]
    survives(normalised(text))


@examples(8)
@given(
    st.sampled_from([FULL, SHORT, FIXED]),
    st.integers(0, 5_000),
    st.sampled_from(list("0123456789/*-")),
)
def test_every_candidate_of_a_repair_reads_back_as_itself(text: str, place: int, letter: str) -> None:
    place %= len(text)
    changed = text[:place] + letter + text[place + 1 :]
    form = objective.form_of(normalised(text))
    try:
        reading = objective.read(normalised(changed), repair=True)
    except RecordError:
        return
    for candidate in reading.candidates:
        assert read(write(candidate.record, form)) == candidate.record


def test_a_file_of_ten_thousand_lines_is_answered_soon() -> None:
    line = " | 13/10 10/8                   18.0 | 13/10 10/8                   17.0\n"
    text = "".join(f"{n:02}) {'wb'[(n - 1) % 2]} 32{line}" for n in range(1, 10_001))
    assert faults(text)[0].code == "illegal-play"


def test_the_sample_has_the_outcome_that_its_positions_show() -> None:
    found = read_objective(normalised(FULL)).replayed
    assert found.score is not None
    assert found.score.outcome is Outcome.FINISHED
    assert (found.score.winner, found.score.credit_for_A, found.score.time_adjustment) == (A, 42, 2)
