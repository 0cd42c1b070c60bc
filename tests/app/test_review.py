"""`nardy analyse`: a downloaded match played through again and judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from app.review import read_match
from engine.analysis import played
from engine.match import Match, Resign, resign_price
from engine.turn import Seat, Seats
from tests.builders import A, B, Table, a_match


def file_of(match: Match) -> dict[str, Any]:
    """A match as it is downloaded, as far as its analysis goes."""
    score = match.score
    assert score is not None
    return {
        "format": "nardy-match/1",
        "match": match.id,
        "ruleset": match.ruleset.to_dict(),
        "players": {
            "A": {"name": "Anna", "kind": "guest"},
            "B": {"name": "Boris the Blunderer", "kind": "guest"},
        },
        "phases": [
            {
                "turn": str(phase.turn),
                "roll": [phase.roll.first, phase.roll.second],
                "plays": {seat.value: phase.plays[seat].text for seat in Seat},
            }
            for phase in match.history
        ],
        "result": {"outcome": score.outcome.value, "by": score.by and score.by.value},
    }


def last_plays(table: Table) -> None:
    """Both play a phase, A the first legal play and B the last."""
    turn = table.turn
    for seat, place in ((A, 0), (B, -1)):
        if table.match.turn == turn and table.match.owes(seat) and table.match.can_move(seat):
            play = table.plays_of(seat)[place]
            table.play(seat, str(play))
    if table.match.score is None and table.match.turn == turn:
        table.wait(table.match.ruleset.auto_pass_ms)


@pytest.fixture(scope="module")
def whole() -> Match:
    table = a_match()
    while table.match.score is None:
        last_plays(table)
    return table.match


@pytest.fixture(scope="module")
def given_up() -> Match:
    table = a_match()
    while str(table.turn) != "4K":
        last_plays(table)
    price = resign_price(table.match, A)
    assert price is not None
    table.do(Resign(A, table.turn, price.points, table.at(3000)))
    return table.match


def analyse(file: dict[str, Any] | str, folder: Path, *options: str) -> int:
    path = folder / "match.json"
    path.write_text(file if isinstance(file, str) else json.dumps(file))
    return main(["analyse", str(path), *options])


@pytest.mark.parametrize("ended", ["whole", "given_up"])
def test_a_file_is_read_as_the_match_that_was_played(ended: str, request: pytest.FixtureRequest) -> None:
    match = request.getfixturevalue(ended)
    recorded = read_match(json.dumps(file_of(match)).encode())
    there, here = recorded.played, played(match)
    assert (there.outcome, there.conceded, there.parted) == (here.outcome, here.conceded, here.parted)
    assert [(p.turn, p.roll, p.games) for p in there.phases] == [
        (p.turn, p.roll, p.games) for p in here.phases
    ]
    for ours, theirs in zip(there.phases, here.phases, strict=True):
        assert [ours.plays[s].text for s in Seat] == [theirs.plays[s].text for s in Seat]
        assert [ours.plays[s].kind for s in Seat] == [theirs.plays[s].kind for s in Seat]
    assert recorded.names == Seats("Anna", "Boris the Blunderer")


def test_the_report_reads_well(whole: Match, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyse(file_of(whole), tmp_path, "--level", "club") == 0
    words = capsys.readouterr().out
    for part in (
        "Anna (A) and Boris the Blunderer (B), finished",
        "parted in round",
        "Judged by bgsage",
        "error rate",
        "blunder",
        "luck",
        "gave away",
        "Objective result, without the luck:",
    ):
        assert part in words
    assert max(map(len, words.splitlines())) < 200


def test_all_of_it_as_json(whole: Match, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyse(file_of(whole), tmp_path, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == "nardy-analysis/1"
    assert found["match"] == whole.id
    assert len(found["turns"]) == len(whole.history)
    assert found["objective_for_A"] == found["result_for_A"] - found["luck_for_A"]
    assert found["parted"] == whole.parted
    assert len(found["judges"]) == 2
    choice = next(t["A"] for t in found["turns"] if t["A"]["kind"] == "choice" and t["A"]["better"])
    assert choice["better"][0]["equity"] - choice["equity"] == pytest.approx(choice["loss"])


def test_a_match_given_up(given_up: Match, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyse(file_of(given_up), tmp_path, "--level", "club") == 0
    assert "resigned" in capsys.readouterr().out


def changed(match: Match, **changes: Any) -> dict[str, Any]:
    file = file_of(match)
    for path, value in changes.items():
        *way, last = [int(step) if step.isdecimal() else step for step in path.split("__")]
        inside: Any = file
        for step in way:
            inside = inside[step]
        inside[last] = value
    return file


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"format": "nardy-match/9"}, "is not a finished match", id="another format"),
        pytest.param({"phases__0__plays__A": "24/2"}, "against the rules: A in 1W: ", id="an illegal play"),
        pytest.param({"phases__0__plays__A": "--"}, "against the rules: A in 1W: ", id="no pass"),
        pytest.param({"phases__0__plays__B": "=="}, "is no play", id="missed, but not the last move"),
        pytest.param({"phases__3__turn": "7W"}, "turn 7W stands where 2K should be", id="a turn left out"),
        pytest.param({"phases__3__roll": [7, 1]}, "is not a finished match", id="no roll"),
        pytest.param({"result__outcome": "resigned"}, "its result is not", id="another result"),
        pytest.param({"ruleset": {"variant": "long"}}, "long nardy", id="a game that cannot be analysed"),
        pytest.param({"ruleset": {"colour": "blue"}}, "not a match of these rules", id="no ruleset"),
    ],
)
def test_what_is_wrong_is_told_in_a_line(
    changes: dict[str, Any], words: str, whole: Match, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert analyse(changed(whole, **changes), tmp_path) == 1
    error = capsys.readouterr().err
    assert error.startswith("nardy: ")
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("text", ["", "{", "[1]", "[" * 100_000, "\x00"])
def test_no_match_at_all(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert analyse(text, tmp_path) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_phases_after_the_end(whole: Match, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = file_of(whole)
    turn = whole.history[-1].turn.next()
    file["phases"].append({"turn": str(turn), "roll": [1, 2], "plays": {"A": "--", "B": "--"}})
    assert analyse(file, tmp_path) == 1
    assert "it goes on after its end" in capsys.readouterr().err


def test_without_bgsage(
    whole: Match, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.engines.network.installed", lambda: None)
    assert analyse(file_of(whole), tmp_path) == 1
    assert capsys.readouterr().err == (
        "nardy: bgsage is not installed here, and nothing else can judge a match: make engines\n"
    )
