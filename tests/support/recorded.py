"""Matches played through the engine to every kind of end, for those who write them down."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from random import Random

from engine.dice import client_hash
from engine.errors import RuleError
from engine.match import (
    AcceptDraw,
    CommitSeed,
    Leave,
    MakePlay,
    Match,
    OfferDraw,
    Resign,
    Return,
    RevealSeed,
    SetResult,
    Tick,
    VoidMatch,
    bank_empty_at,
    new_match,
    next_deadline,
    resign_price,
)
from engine.ruleset import DEFAULT, Ruleset
from engine.turn import Seat, Seats, Turn
from tests.builders import MADE_AT, Table, hops_of
from tests.support.selfplay import careless

ENDS = (
    "finished",
    "resigned",
    "time",
    "both-flags",
    "abandoned",
    "agreed",
    "adjudicated",
    "void",
    "aborted",
    "before-the-dice",
    "last-move-given-up",
)


def match_over(
    seed: int,
    ruleset: Ruleset = DEFAULT,
    *,
    end: str = "finished",
    rounds: int = 12,
    computers: Iterable[Seat] = (),
) -> Match:
    """A match from the start, with all its dice from this number, that ends so at about this round.

    One that is finished by its rules before that round is finished; so is one whose end is in the last move.
    """
    chance = Random(f"{seed} {end}")
    table = _opened(seed, ruleset, computers, agreed=end != "before-the-dice")
    if end == "before-the-dice":
        table.do(VoidMatch("arbiter", "Nobody came.", MADE_AT + 5))
    while table.match.score is None:
        is_time = table.turn >= Turn(rounds) if end != "aborted" else True
        is_last = table.match.is_last_move
        if (
            (end == "last-move-given-up")
            if is_last
            else (is_time and end not in ("finished", "last-move-given-up"))
        ):
            _end(table, end, chance)
        _phase(table, chance)
    return table.match


def _opened(seed: int, ruleset: Ruleset, computers: Iterable[Seat], *, agreed: bool) -> Table:
    digest = hashlib.sha256(str(seed).encode()).hexdigest()
    table = Table(new_match(f"m-{seed}", ruleset, bytes.fromhex(digest), MADE_AT, computers=computers))
    clients = Seats(digest[:32], digest[32:])
    people = [seat for seat in Seat if seat not in table.match.computers]
    table.do(*(Return(seat, MADE_AT) for seat in people))
    if agreed:
        table.do(*(CommitSeed(seat, client_hash(clients[seat]), MADE_AT) for seat in people))
        table.do(*(RevealSeed(seat, clients[seat], MADE_AT) for seat in people))
        table.do(Tick(MADE_AT))
    return table


def _phase(table: Table, chance: Random) -> None:
    """Everybody who owes a play makes one, the quicker one first; passes are made by the server."""
    turn = table.turn
    wishes = [wish for seat in Seat if table.match.owes(seat) for wish in _wishes(table, seat, chance)]
    for wish in sorted(wishes, key=lambda wish: wish.at):
        if table.match.score is None and table.match.turn == turn:
            table.do(wish)
    while table.match.score is None and table.match.turn == turn and (due := next_deadline(table.match)):
        table.do(Tick(due))


def _wishes(table: Table, seat: Seat, chance: Random) -> list[MakePlay]:
    """A play, if there is any, before anybody's time is up; who is to lose on time does so elsewhere."""
    if not table.match.can_move(seat):
        return []
    before = table.match.position_for(seat)
    ends, plays = table.match.rules.results(before, table.roll), table.plays_of(seat)
    play = plays[careless(before, ends, chance)]
    thought = int(chance.expovariate(1 / 5_000))
    for zero in (bank_empty_at(table.match, one) for one in Seat):
        if zero is not None:
            thought = min(thought, (zero - table.match.shown_at) // 2)
    return [MakePlay(seat, table.turn, hops_of(play), table.at(thought))]


def _end(table: Table, end: str, chance: Random) -> None:
    """Something that ends the match, perhaps after one player's play; where it is not possible now, nothing."""
    seat = chance.choice(list(Seat))
    if chance.random() < 0.5 and table.match.owes(seat.other) and end != "both-flags":
        table.do(*_wishes(table, seat.other, chance))
    if table.match.score is not None or not table.match.is_phase_open:
        return
    at = table.at(20_000)
    try:
        match end:
            case "resigned" | "aborted" | "last-move-given-up":
                if table.match.owes(seat) and table.match.can_move(seat):
                    price = resign_price(table.match, seat)
                    table.do(Resign(seat, table.turn, price.points if price else 0, at))
            case "time" | "both-flags":
                while table.match.score is None and (due := next_deadline(table.match)):
                    table.do(Tick(due))
            case "abandoned":
                table.do(Leave(seat, table.at(0)))
                while table.match.score is None and (due := next_deadline(table.match)):
                    table.do(Tick(due))
            case "agreed":
                table.do(OfferDraw(seat, table.turn, at))
                _phase(table, chance)
                if table.match.score is None:
                    table.do(AcceptDraw(seat.other, table.turn, table.at(0)))
            case "adjudicated":
                table.do(SetResult("arbiter", chance.randrange(-40, 41), "A dispute.", at))
            case "void":
                table.do(VoidMatch("arbiter", "The wrong room.", at))
    except RuleError:
        pass  # the receiver had played already, or had nothing to play
