"""A whole match with its analysis, kept in a file: what pages show of it is compared with figures that stand there."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from engine.dice import client_hash
from engine.match import CommitSeed, Match, Return, RevealSeed, new_match
from engine.ruleset import DEFAULT
from engine.turn import Seat
from tests.builders import CLIENT_SEEDS, DATA, MADE_AT, Table

FILE = DATA / "analysed_match.json"


@cache
def _file() -> Any:
    return json.loads(FILE.read_text(encoding="utf-8"))


def an_analysis(**changes: Any) -> dict[str, Any]:
    """The analysis of `an_analysed_match` as the server has it, with some of it changed."""
    return {**_file()["analysis"], **changes}


@cache
def analysed_match() -> Match:
    """A wins by 93 to -93: the dice gave him 4.13 points, and without them it is 0.73 for B."""
    return _played().match


def an_analysed_match() -> Table:
    """The same, on a table."""
    return Table(analysed_match())


def _played() -> Table:
    table = Table(new_match("m-0001", DEFAULT, bytes.fromhex(_file()["seed"]), MADE_AT))
    table.do(*(Return(seat, MADE_AT) for seat in Seat))
    table.do(*(CommitSeed(seat, client_hash(CLIENT_SEEDS[seat]), MADE_AT) for seat in Seat))
    table.do(*(RevealSeed(seat, CLIENT_SEEDS[seat], MADE_AT) for seat in Seat))
    for phase in _file()["phases"]:
        turn = table.match.turn
        for seat in Seat:
            play, after = phase[seat.value]
            if play:
                table.play(seat, play, after=after)
        if table.match.score is None and table.match.turn == turn:  # somebody could not move
            table.wait(table.match.ruleset.auto_pass_ms)
    return table


def answer(state: str = "done", **changes: Any) -> dict[str, Any]:
    """What GET /api/matches/{id}/analysis answers for it."""
    phases = len(_file()["phases"])
    done = {"done": phases, "waiting": 0, "running": phases // 2}.get(state, 0)
    return {
        "match": "m-0001",
        "state": state,
        "reason": None,
        "progress": {"done": done, "of": phases},
        "analysis": an_analysis() if state == "done" else None,
        **changes,
    }
