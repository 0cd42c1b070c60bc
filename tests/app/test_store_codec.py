"""Events and rulesets as they are stored."""

import json
from typing import get_args

import pytest

from app.store.codec import FORMAT, Unreadable, events_of, events_text, ruleset_of, ruleset_text
from engine.dice import Roll
from engine.match import (
    DrawOffered,
    Event,
    HashesClosed,
    Left,
    MatchEnded,
    Paused,
    PauseOrdered,
    PhaseOpened,
    PlayMade,
    Resumed,
    Returned,
    SeedDefaulted,
    SeedHashed,
    SeedRevealed,
    SeedsCombined,
    TimeAdded,
    TimeGivenBack,
)
from engine.plays import Move
from engine.ruleset import DEFAULT, PRESETS, Preset
from engine.scoring import Outcome
from engine.turn import Seat, Turn
from tests.builders import a_match

A, B = Seat.A, Seat.B
W3, K12 = Turn(3), Turn(12, black=True)

# Format 1, written down: matches that were stored so must stay readable for ever.
FORMAT_1: list[tuple[Event, str]] = [
    (SeedHashed(A, "ab" * 32, 7), f'{{"type":"seed-hashed","seat":"A","hash":"{"ab" * 32}","at":7}}'),
    (SeedRevealed(B, "cd" * 16, 7), f'{{"type":"seed-revealed","seat":"B","seed":"{"cd" * 16}","at":7}}'),
    (SeedDefaulted(A, 7), '{"type":"seed-defaulted","seat":"A","at":7}'),
    (HashesClosed(7), '{"type":"hashes-closed","at":7}'),
    (SeedsCombined("ab" * 16, 7), f'{{"type":"seeds-combined","seed":"{"ab" * 16}","at":7}}'),
    (PhaseOpened(W3, Roll(4, 6), 7), '{"type":"phase-opened","turn":"3W","roll":[4,6],"at":7}'),
    (
        PlayMade(B, K12, "play", (Move(25, 21, 4, True), Move(6, 0, 6, False)), 1500, 20, 7),
        '{"type":"play-made","seat":"B","turn":"12K","kind":"play","moves":[[25,21,4,1],[6,0,6,0]],'
        '"thought_ms":1500,"allowed_ms":20,"at":7}',
    ),
    (
        PlayMade(A, W3, "pass", (), 0, 0, 7),
        '{"type":"play-made","seat":"A","turn":"3W","kind":"pass","moves":[],"thought_ms":0,"allowed_ms":0,"at":7}',
    ),
    (Left(A, 7), '{"type":"left","seat":"A","at":7}'),
    (Returned(B, 7), '{"type":"returned","seat":"B","at":7}'),
    (DrawOffered(A, W3, 7), '{"type":"draw-offered","seat":"A","turn":"3W","at":7}'),
    (PauseOrdered("Вера", "дождь", 7), '{"type":"pause-ordered","by":"Вера","reason":"дождь","at":7}'),
    (Paused(9, 7), '{"type":"paused","until":9,"at":7}'),
    (Resumed(None, None, 7), '{"type":"resumed","by":null,"reason":null,"at":7}'),
    (Resumed("x", "y", 7), '{"type":"resumed","by":"x","reason":"y","at":7}'),
    (
        TimeAdded(A, 60_000, "x", "y", 7),
        '{"type":"time-added","seat":"A","ms":60000,"by":"x","reason":"y","at":7}',
    ),
    (TimeGivenBack(5, 7), '{"type":"time-given-back","ms":5,"at":7}'),
    (
        MatchEnded(Outcome.TIME, B, 7),
        '{"type":"match-ended","outcome":"time","by":"B","at":7,"net_for_A":null,"arbiter":null,"reason":null}',
    ),
    (
        MatchEnded(Outcome.ADJUDICATED, None, 7, -3, "x", "y"),
        '{"type":"match-ended","outcome":"adjudicated","by":null,"at":7,"net_for_A":-3,"arbiter":"x","reason":"y"}',
    ),
]
LEFT = '{"type":"left","seat":"A","at":7}'


def test_every_kind_of_event_is_here() -> None:
    assert {type(event) for event, _ in FORMAT_1} == set(get_args(Event))


@pytest.mark.parametrize(
    ("event", "text"), FORMAT_1, ids=[f"{type(event).__name__}-{n}" for n, (event, _) in enumerate(FORMAT_1)]
)
def test_an_event_is_written_so_and_read_again(event: Event, text: str) -> None:
    assert FORMAT == 1
    assert events_text((event,)) == f"[{text}]"
    assert events_of(1, f"[{text}]") == (event,)


def test_the_events_of_one_command_stay_in_order() -> None:
    events = tuple(event for event, _ in FORMAT_1)
    assert events_of(FORMAT, events_text(events)) == events


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(LEFT, id="no list"),
        pytest.param("[{}]", id="no type"),
        pytest.param(LEFT.join("[]").replace("left", "fled"), id="a type that does not exist"),
        pytest.param(LEFT.join("[]").replace('"A"', '"C"'), id="a seat that does not exist"),
        pytest.param(LEFT.join("[]").replace("7", '"7"'), id="a number written as text"),
        pytest.param(LEFT.join("[]").replace("7", "7.5"), id="half a millisecond"),
        pytest.param(LEFT.join("[]").replace(',"at":7', ""), id="a field missing"),
        pytest.param(LEFT.join("[]").replace("7", '7,"why":1'), id="a field too many"),
        pytest.param(
            '[{"type":"draw-offered","seat":"A","turn":"0W","at":7}]', id="a turn that does not exist"
        ),
        pytest.param(
            '[{"type":"phase-opened","turn":"1W","roll":[7,1],"at":7}]', id="a roll that does not exist"
        ),
        pytest.param('[{"type":"phase-opened","turn":"1W","roll":[1,2,3],"at":7}]', id="three dice"),
    ],
)
def test_what_was_never_written_is_not_read(text: str) -> None:
    with pytest.raises(Unreadable):
        events_of(1, text)


def test_a_format_of_the_future_is_not_read() -> None:
    with pytest.raises(Unreadable, match="newer server"):
        events_of(2, "[]")


def test_a_match_as_it_was_played_is_read_again() -> None:
    table = a_match().play_until("8W")
    assert events_of(FORMAT, events_text(table.events)) == tuple(table.events)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS.keys())
def test_a_ruleset_is_stored_with_every_key(preset: Preset) -> None:
    text = ruleset_text(preset.ruleset)
    assert json.loads(text) == preset.ruleset.to_dict()
    assert ruleset_of(text) == preset.ruleset


def test_a_ruleset_of_before_a_key_existed_has_its_default() -> None:
    assert ruleset_of("{}") == DEFAULT


@pytest.mark.parametrize("text", ["", "[]", '{"speed": 1}', '{"peek": "always"}'])
def test_a_ruleset_that_makes_no_sense_is_not_read(text: str) -> None:
    with pytest.raises(Unreadable):
        ruleset_of(text)
