"""Records of tabletop curling: trajectories, dice, cards, ends (RECORDS §4)."""

import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.records import curling, families
from engine.records.curling import recognise, steps, write
from engine.records.curling.reading import again, is_kept, read_trajectory
from engine.records.curling.record import (
    FORMS,
    LANGUAGES,
    SUITS,
    Card,
    Dice,
    End,
    Form,
    Hand,
    Move,
    Outcome,
    Record,
    Throw,
    Trajectory,
)
from engine.records.family import USUAL, Options, Reading, UnknownOption
from engine.records.text import Fault, NotInForm, RecordError, normalised
from tests.builders import data

VECTORS = data("records/curling_cases.json")
WHOLE = VECTORS["short_end_complete"]["text"]
DICE = VECTORS["dice_line"]["canonical"]
CARDS = VECTORS["cards_move"]["canonical_ru"]
LATIN = VECTORS["cards_move"]["canonical_lat"]
SECOND = "33_666_ (12334) LL34"


def read(text: str, repair: bool = False) -> Reading[Record]:
    return curling.read(normalised(text), repair=repair)


def the_notes(text: str) -> list[str]:
    """The codes of the notes, but for the one that a fragment is not a whole end."""
    (only,) = read(text).candidates
    return [note.code for note in only.notes if note.code != "incomplete"]


def the_faults(text: str) -> tuple[Fault, ...]:
    with pytest.raises(RecordError) as refused:
        read(text)
    return refused.value.faults


def mended(text: str) -> list[list[tuple[int, int, str, str]]]:
    """The edits of each candidate of a repair."""
    return [
        [(edit.line, edit.column, edit.text, edit.read_as) for edit in candidate.edits]
        for candidate in read(text, repair=True).candidates
    ]


# -------------------------------------------------------------------------------------------------------- trajectories


@pytest.mark.parametrize("case", VECTORS["trajectories"], ids=lambda case: case["text"])
def test_a_trajectory_is_a_start_and_two_to_four_lengths(case: dict[str, Any]) -> None:
    found = read_trajectory(case["text"])
    assert found is not None
    assert (found.start, found.kind, list(found.segments)) == (case["start"], case["kind"], case["segments"])
    assert str(found) == case["text"]
    assert the_notes(f"1) {case['text']} L12") == case["warnings"] == []


BAD = [text for text in VECTORS["trajectories_bad"] if "accept" not in text]


@pytest.mark.parametrize("text", [*BAD, "L1", "RRR12", "LR12", "L12/", "L//12", "L1234 5", "R12a", "Л12"])
def test_what_is_no_trajectory_is_refused_in_its_place(text: str) -> None:
    assert len(BAD) == 7
    fault = the_faults(f"1) L12 R12\n2) R12 {text}")[0]
    assert (fault.line, fault.column) == (2, 8 if " " not in text else 14)
    assert fault.code == ("bad-trajectory" if " " not in text else "too-much")


def test_small_letters_are_read_with_a_warning() -> None:
    assert "r51 (lower case: accept with a warning only)" in VECTORS["trajectories_bad"]
    assert the_notes("1) r51 LL12") == ["letter-case"]
    assert write(read("1) r51 ll12").record) == "1) R51 LL12\n"


# ---------------------------------------------------------------------------------------------------------------- ends


@pytest.mark.parametrize("name", ["short_end", "short_end_complete"])
def test_the_short_form_is_read_and_written(name: str) -> None:
    case = VECTORS[name]
    (only,) = read(case["text"]).candidates
    (end,) = only.record.ends
    assert len(end.moves) == case["moves"]
    assert end.is_complete == case.get("complete", True)
    assert [note.code for note in only.notes] == ([] if end.is_complete else ["incomplete"])
    if end.outcome:
        assert (list(end.outcome.points), list(end.outcome.score or ())) == (case["outcome"], case["score"])
    assert write(only.record) == case["text"]


@pytest.mark.parametrize("case", VECTORS["result_lines"], ids=lambda case: case["text"])
def test_the_outcome_and_the_running_score_are_read(case: dict[str, Any]) -> None:
    (end,) = read(case["text"]).record.ends
    assert end.outcome is not None
    assert list(end.outcome.points) == case["outcome"]
    assert end.outcome.score == (tuple(case["score"]) if case["score"] else None)


def test_a_game_is_several_ends_with_a_running_score() -> None:
    game = WHOLE + "\n" + WHOLE.replace("(2:3)", "(2:4)")
    record = read(game).record
    assert (len(record.ends), write(record)) == (2, game)
    assert [end["score"] for end in steps(record)["ends"]] == [[2, 3], [2, 4]]
    (fault,) = the_faults(game.replace("(2:4)", "(3:4)"))
    assert (fault.line, fault.column, fault.code, fault.expected) == (19, 9, "running-score", "2:4")
    assert mended(game.replace("(2:4)", "(3:4)")) == [[(19, 9, "3:4", "2:4")]]


@pytest.mark.parametrize(
    ("text", "line", "column", "code"),
    [
        pytest.param("1) L12 R12\n3) L12 R12", 2, 1, "line-number", id="a line is missing"),
        pytest.param("1) L12 R12\n9) L12 R12", 2, 1, "line-number", id="nine is the outcome's"),
        pytest.param("1) L12 R12\n8) 0:1", 2, 1, "line-number", id="the outcome has number nine"),
        pytest.param("10) L12 R12", 1, 1, "line-number", id="there is no ten"),
        pytest.param("1) L12\n2) L12 R12", 2, 1, "throw-missing", id="one throw"),
        pytest.param("1) L12\n9) 0:1", 2, 1, "throw-missing", id="one throw before the outcome"),
        pytest.param("1) L12 R12 L12", 1, 12, "too-much", id="three throws"),
        pytest.param("1)", 1, 3, "bad-trajectory", id="no throw"),
        pytest.param("A game\n1) L12 R12", 1, 1, "unreadable-line", id="a heading"),
        pytest.param("9) 2:0 (1:0)", 1, 9, "running-score", id="less than the end alone"),
        pytest.param("1) L12 R12\n2) 122_46_ (12233) RR32", 2, 4, "mixed-forms", id="two forms"),
        pytest.param("1) L12 (R12", 1, 8, "bracket", id="an open bracket"),
        pytest.param("1) L12 )R12", 1, 8, "bracket", id="a closed bracket"),
        pytest.param(f"{DICE} ()", 1, len(DICE) + 2, "too-much", id="empty brackets after a move"),
        pytest.param("", 1, 1, "no-moves", id="nothing"),
    ],
)
def test_faults_are_told_in_their_place(text: str, line: int, column: int, code: str) -> None:
    fault = the_faults(text)[0]
    assert (fault.line, fault.column, fault.code) == (line, column, code)


def test_all_faults_of_a_text_are_told() -> None:
    faults = the_faults("1) LLL3 M32\n2) L/312 R0\n3) L12 /31\n5) L12 RR23211\n8) 1:0")
    assert [(fault.line, fault.column) for fault in faults] == [
        (1, 4),
        (1, 9),
        (2, 4),
        (2, 10),
        (3, 8),
        (4, 1),
        (4, 8),
        (5, 1),
    ]


def test_numbers_with_dots_are_read_with_a_note() -> None:
    assert the_notes("1. L12 R12\n2. L12 R12") == ["number-sign"]


def test_a_fragment_may_begin_anywhere_and_end_with_one_throw() -> None:
    record = read("3) L12 R12\n4) RR2321").record
    assert (record.ends[0].first, write(record)) == (3, "3) L12 R12\n4) RR2321\n")
    assert [throw["move"] for throw in steps(record)["throws"]] == [3, 3, 4]


# ---------------------------------------------------------------------------------------------------------------- dice


@pytest.mark.parametrize("case", VECTORS["dice"], ids=lambda case: f"{case['text']}-{case['final']}")
def test_every_reading_of_a_first_throw_is_found(case: dict[str, Any]) -> None:
    said = again(case["text"])
    assert said is not None
    dice, readings = said
    final = [int(die) for die in case["final"]]
    found = [
        [
            "".join(map(str, dice)),
            "".join(str(die) for die, thrown in zip(dice, reading, strict=True) if not thrown),
            "".join(str(die) for die, thrown in zip(dice, reading, strict=True) if thrown),
        ]
        for reading in readings
        if is_kept(dice, reading, final)
    ]
    assert found == (case["readings"] or [])

    text = f"1) {case['text']} ({case['final']}) RR32  {SECOND}"
    if case["readings"] is None:
        assert [fault.code for fault in the_faults(text)] == ["kept-dice"]
    elif "first roll not ascending" in case["problems"]:
        (fault,) = the_faults(text)
        assert (fault.column, fault.code, fault.expected) == (4, "not-ascending", "12246")
        assert [(1, 4, "21246", "12246")] in mended(text)
    else:
        told = read(text).record.ends[0].moves[0].throws[0].dice
        assert told is not None
        assert len(told.readings) == len(case["readings"])
        assert ("underlining-lost" in the_notes(text)) == bool(case["problems"])


def test_the_full_form_with_dice_is_written_as_it_should_be() -> None:
    record = read(VECTORS["dice_line"]["seed"]).record
    assert write(record) == f"{DICE}\n"
    assert write(record, "short") == "1) RR32 LL34\n"
    assert the_notes(VECTORS["dice_line"]["seed"]) == ["underlining"]
    assert the_notes(DICE) == []
    told = steps(record)["throws"][0]
    assert (told["start"], told["segments"], told["kind"]) == ("RR", [3, 2], "double")
    assert told["dice"] == {
        "first": [1, 2, 2, 4, 6],
        "again": [[False, False, False, True, True]],
        "final": [1, 2, 2, 3, 3],
    }


@pytest.mark.parametrize(
    "first",
    ["122_46_", "1224\u03326\u0332", "122<u>46</u>", "122<U>46</U>", "122 46", "122 _46_", "122_4__6_"],
)
def test_underlining_is_read_in_all_its_spellings(first: str) -> None:
    assert write(read(f"1) {first} (12233) RR32  {SECOND}").record) == f"{DICE}\n"


def test_lost_underlining_with_two_readings_is_written_as_no_more_than_is_known() -> None:
    text = f"1) 12 345 (12345) RR32  {SECOND}\n"
    (only,) = read(text).candidates
    assert write(only.record) == text
    dice = only.record.ends[0].moves[0].throws[0].dice
    assert dice is not None
    assert dice.readings == ((False, False, True, True, True), (True, True, False, False, False))


@pytest.mark.parametrize(
    ("first", "final", "code", "column"),
    [
        pytest.param("122_4_", "12233", "five-dice", 4, id="four dice"),
        pytest.param("122_466_", "12233", "five-dice", 4, id="six dice"),
        pytest.param("122_47_", "12233", "bad-die", 4, id="a seven"),
        pytest.param("022_46_", "12233", "bad-die", 4, id="a nought"),
        pytest.param("122_46_", "12234a", "five-dice", 13, id="a letter"),
        pytest.param("122_46_", "12238", "bad-die", 13, id="an eight at last"),
        pytest.param("122_46_", "12232", "not-ascending", 13, id="a final throw out of order"),
        pytest.param("122_64_", "12233", "not-ascending", 4, id="underlined dice out of order"),
        pytest.param("122_46", "12233", "bad-dice", 4, id="underlining without an end"),
        pytest.param("<u>122</u>46</u>", "12233", "bad-dice", 4, id="an end without a beginning"),
        pytest.param("122-46", "12233", "bad-dice", 4, id="another sign"),
        pytest.param("\u0332122_46_", "12233", "bad-dice", 4, id="underlining of nothing"),
        pytest.param("_122_46", "12233", "kept-dice", 4, id="kept dice are not in the final throw"),
    ],
)
def test_dice_are_checked(first: str, final: str, code: str, column: int) -> None:
    fault = the_faults(f"1) {first} ({final}) RR32  {SECOND}")[0]
    assert (fault.column, fault.code) == (column, code)


# --------------------------------------------------------------------------------------------------------------- cards


def test_the_full_form_with_cards_is_read_and_written_in_both_alphabets() -> None:
    case = VECTORS["cards_move"]
    (only,) = read(case["text"]).candidates
    doubts = [note for note in only.notes if note.code != "incomplete"]
    assert [(note.line, note.column, note.text) for note in doubts] == [(1, 40, "Вк")]
    assert [note.message for note in doubts] == [f"{words}." for words in case["parsed"]["warnings"]]
    assert write(only.record) == f"{CARDS}\n"
    assert write(only.record, "cards", Options(language="en")) == f"{LATIN}\n"
    assert write(read(LATIN).record) == f"{LATIN}\n"
    assert write(read(LATIN).record, options=Options(language="ru")) == f"{CARDS}\n"
    assert read(LATIN).record == read(CARDS).record
    assert write(only.record, "short") == "3) LL23 R121\n"


def test_a_move_with_cards_says_what_was_drawn_and_what_was_formed() -> None:
    parsed = VECTORS["cards_move"]["parsed"]
    first, second = steps(read(VECTORS["cards_move"]["text"]).record)["throws"]

    def cards(listed: list[list[Any]]) -> list[dict[str, Any]]:
        return [{"rank": rank, "suit": suit} for rank, suit in listed]

    def ordered(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(told, key=lambda card: (card["rank"], card["suit"]))

    assert first["move"] == second["move"] == parsed["no"]
    assert first["cards"]["table"] == second["cards"]["table"] == cards(parsed["table"])
    assert first["cards"]["drawn"] == cards(parsed["subs1"])
    assert second["cards"]["drawn"] == cards(parsed["subs2"]) + cards(parsed["borrowed"])
    assert ordered(first["cards"]["hand"]) == ordered(cards(parsed["hand1"]))
    assert ordered(second["cards"]["hand"]) == ordered(cards(parsed["hand2"]))
    for told, trajectory in ((first, parsed["traj1"]), (second, parsed["traj2"])):
        assert (told["start"], told["kind"], told["segments"]) == (
            trajectory["start"],
            trajectory["kind"],
            trajectory["segments"],
        )


NEXT = VECTORS["cards_move"]["next_move_table"]


def test_five_cards_drawn_are_the_next_table() -> None:
    assert VECTORS["cards_move"]["next_table_is_the_five_substitutes"]
    hand = "(8п 9п 10т Вт Дч)"
    good = f"{NEXT} {hand} L12\n{hand} R12"
    assert len(read(f"{CARDS}\n{good}").record.ends[0].moves) == 2
    (fault,) = the_faults(f"{CARDS}\n{good.replace('8п', '8б')}")
    assert (fault.line, fault.column, fault.code) == (3, 5, "table-differs")
    assert fault.expected == "8п 9п 10т Вт Дч"


@pytest.mark.parametrize(
    ("old", "new", "line", "column", "code"),
    [
        pytest.param("Дб Тп)", "Дб)", 1, 5, "five-cards", id="four cards on the table"),
        pytest.param("(7ч 8т", "(8т 7ч", 1, 5, "not-ascending", id="the table out of order"),
        pytest.param("(7ч 8т", "(7ч 7ч", 1, 8, "card-twice", id="a card twice on the table"),
        pytest.param("Дч, 8п, Вт (", "Дч, 8п, 8т (", 1, 30, "card-twice", id="a card of the table is drawn"),
        pytest.param("Дч, 8п, Вт (", "Дч, Дч, Вт (", 1, 26, "card-twice", id="a card is drawn twice"),
        pytest.param("8п, Вт (8п", "Вт (7ч", 2, 13, "borrowed-early", id="taken before five are drawn"),
        pytest.param("(8п 8т", "(9п 8т", 1, 34, "not-available", id="a card from nowhere"),
        pytest.param("(8п 8т", "(8т", 1, 34, "five-cards", id="a hand of four"),
        pytest.param("10б Вт) R", "10б 10б) R", 2, 30, "card-twice", id="a hand with a card twice"),
        pytest.param(CARDS[len("3) (7ч 8т 10б Дб Тп)") :], " LL23", 1, 22, "bad-hand", id="nothing but a table"),
        pytest.param("10т", "1т", 2, 8, "bad-card", id="no rank"),
        pytest.param("10т", "10ж", 2, 8, "bad-card", id="no suit"),
        pytest.param("9п, 10т, Вт (7ч 8т 9п 10б Вт) R121", "R121", 2, 4, "bad-hand", id="no hand"),
    ],
)  # fmt: skip
def test_cards_are_checked(old: str, new: str, line: int, column: int, code: str) -> None:
    assert old in CARDS
    found = [(fault.line, fault.column, fault.code) for fault in the_faults(CARDS.replace(old, new, 1))]
    assert (line, column, code) in found


@pytest.mark.parametrize("case", VECTORS["bad"], ids=lambda case: case["why"])
def test_the_bad_lists_of_cards_are_refused(case: dict[str, str]) -> None:
    if case["text"].startswith("("):
        text = CARDS.replace("(7ч 8т 10б Дб Тп)", case["text"])
    else:
        text = CARDS.replace("Дч, 8п, Вт (8п 8т Вт Дч Дб)", "Дч, Вт (8т 10б Вт Дч Дб)")
        assert case["text"] in text
    codes = {
        "borrowed card while fewer than five were drawn": "borrowed-early",
        "four table cards": "five-cards",
        "not ascending": "not-ascending",
    }
    assert codes[case["why"]] in {fault.code for fault in the_faults(text)}


@pytest.mark.parametrize(
    ("old", "new", "note"),
    [
        pytest.param("Вт", "Bт", "look-alike", id="Latin B for В"),
        pytest.param("Вт", "Вt", "look-alike", id="Latin t for т"),
        pytest.param("Тп", "Tп", "look-alike", id="Latin T for Т"),
        pytest.param("Вт", "вт", "letter-case", id="a small rank"),
        pytest.param("Вт", "ВТ", "letter-case", id="a great suit"),
        pytest.param("Вт", "Вк", "doubtful-suit", id="к for т"),
        pytest.param("Вт", "В♣", "suit-signs", id="a sign"),
        pytest.param("Вт", "Jc", None, id="a Latin card"),
    ],
)
def test_letters_are_folded_with_a_note(old: str, new: str, note: str | None) -> None:
    text = CARDS.replace(old, new, 1)
    assert the_notes(text) == ([note] if note else [])
    assert write(read(text).record) == f"{CARDS}\n"


def test_a_latin_t_is_the_ten_to_some_and_an_ace_to_others() -> None:
    text = LATIN.replace("As", "Ts")
    (fault,) = the_faults(text)
    assert (fault.line, fault.text, fault.code, fault.expected) == (1, "Ts", "ambiguous-card", "10s · As")
    assert mended(text) == [[(1, 18, "Ts", "As")]]  # a ten would be out of order on the table


def test_more_than_five_cards_drawn_is_a_doubt() -> None:
    text = CARDS.replace("9п, 10т, Вт", "9п, 10т, 2т, Вт")
    assert the_notes(text) == ["more-than-five"]


# ------------------------------------------------------------------------------------------------- forms and languages


def test_no_form_is_made_up() -> None:
    with pytest.raises(NotInForm):
        write(read(WHOLE).record, "dice")
    with pytest.raises(NotInForm):
        write(read(DICE).record, "cards")
    with pytest.raises(UnknownOption):
        write(read(DICE).record, "long")
    with pytest.raises(UnknownOption):
        write(read(CARDS).record, options=Options(language="de"))


@pytest.mark.parametrize(
    "text", [WHOLE, DICE, CARDS, LATIN, VECTORS["dice_line"]["seed"], WHOLE.replace("\n", "\r\n")]
)
def test_records_are_recognised(text: str) -> None:
    assert recognise(normalised(text)) > 0.8


@pytest.mark.parametrize(
    ("text", "form", "language"),
    [
        (WHOLE, "short", None),
        (DICE, "dice", None),
        (VECTORS["dice_line"]["seed"].replace("12233", "12333"), "dice", None),
        (CARDS, "cards", "ru"),
        (LATIN.replace("7h", "?"), "cards", "en"),
    ],
)
def test_form_and_language_are_seen_in_faulty_texts_too(text: str, form: str, language: str | None) -> None:
    taken = normalised(text)
    assert (curling.form_of(taken), curling.language_of(taken)) == (form, language)


@pytest.mark.parametrize(
    "text", ["", "1. C2=5 H8+7", "1. h2e2 h9g7", "01)w64| 24/18 13/9 2.3", "to be or not to be"]
)
def test_other_texts_are_not_taken_for_curling(text: str) -> None:
    assert recognise(normalised(text)) < 0.2


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        pytest.param("1) LLL32 R12", [(1, 4, "LLL32", "LL32")], id="a letter too many"),
        pytest.param("1) L12 R12\n3) L12 R12", [(2, 1, "3", "2")], id="a number"),
        pytest.param(
            "3) (8т 7ч 9б Дб Тп) (7ч 8т 9б Дб Тп) L12",
            [(1, 5, "8т 7ч 9б Дб Тп", "7ч 8т 9б Дб Тп")],
            id="cards out of order",
        ),
        pytest.param(f"1) 122_46_ (12333) RR32  {SECOND}", [(1, 4, "122_46_ (12333)", "122_46_ (12233)")], id="a die"),
    ],
)  # fmt: skip
def test_repair_lists_what_is_near(text: str, edits: list[tuple[int, int, str, str]]) -> None:
    found = mended(text)
    assert edits in found
    assert found == sorted(found, key=len)


def test_edits_are_told_where_the_text_has_them() -> None:
    found = mended("1) LLL32 R/123")
    assert [(1, 4, "LLL32", "LL32"), (1, 10, "R/123", "R123")] in found


def test_of_very_many_records_some_are_listed_and_that_there_are_more_is_said() -> None:
    with pytest.raises(RecordError):
        read("\n".join(f"{number}) X12 X12" for number in range(1, 9)), repair=True)
    many = read("1) X12 X12\n2) X12 X12\n3) X12 R12", repair=True).candidates
    assert 1 < len(many) <= 20
    assert {candidate.notes[-1].code for candidate in many} == {"search-cut"}


def test_a_text_with_faults_that_no_sign_mends_stays_refused() -> None:
    with pytest.raises(RecordError):
        read("A heading\n1) L12 R12", repair=True)


# ---------------------------------------------------------------------------------------------- written and read again

trajectories = st.builds(
    lambda start, segments, mark: Trajectory(start, tuple(segments), mark and len(segments) == 2),
    st.sampled_from(["LL", "L", "R", "RR"]),
    st.lists(st.integers(1, 9), min_size=2, max_size=4),
    st.booleans(),
)


@st.composite
def dice(draw: st.DrawFn) -> Dice:
    first = tuple(sorted(draw(st.lists(st.integers(1, 6), min_size=5, max_size=5))))
    thrown = draw(st.lists(st.booleans(), min_size=5, max_size=5).filter(any))
    new = [draw(st.integers(1, 6)) if mark else die for die, mark in zip(first, thrown, strict=True)]
    return Dice(first, (tuple(thrown),), tuple(sorted(new)))


@st.composite
def moves_with_cards(draw: st.DrawFn) -> Move:
    deck = draw(st.permutations([Card(rank, suit) for rank in range(2, 15) for suit in SUITS]))
    table = tuple(sorted(deck[:5], key=lambda card: card.rank))
    count = draw(st.integers(0, 5))
    first, second = tuple(deck[5 : 5 + count]), tuple(deck[5 + count : 10])
    taken = draw(st.lists(st.sampled_from(first), unique=True)) if first else []
    hands = [draw(st.permutations([*table, *first])), draw(st.permutations([*table, *second, *taken]))]
    return Move(
        (
            Throw(draw(trajectories), None, Hand(first, tuple(hands[0][:5]))),
            Throw(draw(trajectories), None, Hand((*second, *taken), tuple(hands[1][:5]))),
        ),
        table,
    )


@st.composite
def records(draw: st.DrawFn) -> Record:
    form: Form = draw(st.sampled_from(FORMS))
    ends = []
    score = (0, 0)
    for _ in range(draw(st.integers(1, 3))):
        if form == "cards":
            moves = [draw(moves_with_cards())]  # the next table would be the five cards drawn
        else:
            throw = st.builds(Throw, trajectories, dice() if form == "dice" else st.none())
            count = draw(st.integers(1, 8))
            moves = [Move((draw(throw), draw(throw))) for _ in range(count)]
        points = draw(st.tuples(st.integers(0, 8), st.integers(0, 8)))
        score = score[0] + points[0], score[1] + points[1]
        ends.append(End(tuple(moves), Outcome(points, score)))
    return Record(tuple(ends), form, draw(st.sampled_from(LANGUAGES)))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(records())
def test_what_is_written_is_read_back(record: Record) -> None:
    for language in LANGUAGES:
        text = write(record, options=Options(language=language))
        (only,) = curling.read(normalised(text)).candidates
        assert only.record == record
        assert {note.code for note in only.notes} <= {"incomplete"}
        assert write(only.record, options=Options(language=language)) == text
    short = read(write(record, "short")).record
    assert [throw["text"] for throw in steps(short)["throws"]] == [
        throw["text"] for throw in steps(record)["throws"]
    ]


SIGNS = st.sampled_from(list("LR/123456789_()<>u:бчтпкВДКТdhcsJQKA, \n0\u0332♣"))


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A good text with some stretches lost, doubled or put in."""
    text = draw(
        st.sampled_from([WHOLE, DICE, CARDS, LATIN, VECTORS["dice_line"]["seed"], f"{WHOLE}\n{WHOLE}"])
    )
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 12)))
        put = draw(st.text(SIGNS, max_size=4) | st.just(text[start:end] * 2))
        text = text[:start] + put + text[end:]
    return text


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutated() | st.text(SIGNS, max_size=80) | st.text(max_size=40), st.booleans())
def test_a_text_is_refused_in_its_place_or_reads_back_the_same(text: str, repair: bool) -> None:
    taken = normalised(text)
    assert 0 <= recognise(taken) <= 1
    try:
        candidates = curling.read(taken, repair=repair).candidates
    except RecordError as refused:
        for fault in refused.faults:
            assert 1 <= fault.line <= len(taken.lines)
            assert 1 <= fault.column <= len(taken.lines[fault.line - 1]) + 1
        return
    assert len({candidate.record for candidate in candidates}) == len(candidates)
    for candidate in candidates:
        for language in LANGUAGES:
            written = write(candidate.record, options=Options(language=language))
            back = curling.read(normalised(written)).record
            assert back == candidate.record
            assert write(back, options=Options(language=language)) == written


@pytest.mark.parametrize(
    "piece", ["(", ")", "1) ", "1) L12 R12\n", f"{DICE}\n", "_", "<u>", "1:1 ", " ", "\n", "1) (", "7ч "]
)
def test_a_long_paste_is_answered_in_seconds(piece: str) -> None:
    begun = time.process_time()
    for size in (100_000, 1_000_000):
        text = normalised(piece * (size // len(piece)) + "x")
        recognise(text)
        with pytest.raises(RecordError):
            curling.read(text, repair=True)
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("text", ["9) 0:1 (3:4)", "9) 2:0 (2:0)\n9) 0:1 (2:1)\n"])
def test_outcomes_alone_are_a_record_of_ends(text: str) -> None:
    found, reading = families.read(normalised(text), None, USUAL, repair=False)
    assert found.entry.name == "curling"
    assert [end.outcome is not None for end in reading.record.ends] == [True] * text.count("9)")
    with pytest.raises(families.NotRecognised):
        families.recognise(normalised("9) " + " " * 10_000 + ";"))
