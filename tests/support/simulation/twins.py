"""Secrecy as a property (§5.1): a run and its twin differ in one player's hidden choices, and nobody else can tell.

In one turn the player makes another play by other drafts, at the same moments. Until the phase closes, or until the
opponent has played his half, every byte sent to the opponent and to the spectator is the same, at the same time. In
another one he makes no drafts at all, and until he plays nobody notices.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.match import MatchEnded, PhaseOpened, PlayMade
from engine.turn import Seat, Turn
from tests.support.simulation.loop import Chance
from tests.support.simulation.world import World, run


def differences(world: World) -> Iterator[str]:
    """What the others could tell of a hidden choice, in words."""
    yield from _of_another_play(world)
    yield from _of_no_drafts(world)


def _of_another_play(world: World) -> Iterator[str]:
    could_differ = [(who, turn) for _, who, turn in world.choices if world.is_undisturbed(who, turn)]
    if not could_differ:
        return
    who, turn = Chance(world.seed, "twin").choice(could_differ)
    closed, other_played = _until(world, Seat(who), turn)
    twin = run(world.seed, twist=("another play", who, turn), until=closed)
    for viewer, until in ((Seat(who).other.value, other_played), ("X", closed)):
        if _sent_to(world, viewer, until) != _sent_to(twin, viewer, until):
            yield f"{viewer} is sent something else when {who} chooses otherwise in {turn}"
    if [read for read in world.polled if read[0] < closed] != [
        read for read in twin.polled if read[0] < closed
    ]:
        yield f"something else can be read over HTTP when {who} chooses otherwise in {turn}"


def _of_no_drafts(world: World) -> Iterator[str]:
    drafted = [(at, who, turn) for at, who, turn in world.drafted if world.is_undisturbed(who, turn)]
    if not drafted:
        return
    at, who, turn = Chance(world.seed, "silent twin").choice(drafted)
    until = min(at, _until(world, Seat(who), turn)[1])  # who has played may watch
    twin = run(world.seed, twist=("no drafts", who, turn), until=until)
    for viewer in (Seat(who).other.value, "X"):
        if _sent_to(world, viewer, until) != _sent_to(twin, viewer, until):
            yield f"{viewer} can tell that {who} handles his checkers in {turn}"


def _until(world: World, who: Seat, turn: str) -> tuple[float, float]:
    """When the phase was closed, and when the opponent had played his half of it (loop's time)."""
    end, after = world.loop.time(), str(_turn(turn).next())
    closed = other_played = end
    for written, row in zip(world.disk.written[world.match_id], world.rows, strict=True):
        for event in row.events:
            if isinstance(event, MatchEnded) or (isinstance(event, PhaseOpened) and str(event.turn) == after):
                closed = min(closed, written)
            if isinstance(event, PlayMade) and str(event.turn) == turn and event.seat is who.other:
                other_played = min(other_played, written)
    return closed, min(closed, other_played)


def _turn(text: str) -> Turn:
    turn = Turn.parse(text)
    assert turn is not None
    return turn


def _sent_to(world: World, viewer: str, until: float) -> list[tuple[float, str]]:
    return [(sent.at, sent.text) for sent in world.sent if sent.line.who == viewer and sent.at < until]
