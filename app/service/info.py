"""The match around the game: who plays, by which rules, since when (docs/PROTOCOL.md, Info)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from app.engines.levels import level_named
from app.store import Store
from app.store.accounts import Account
from app.store.matches import StoredMatch
from engine.turn import Seat, Seats

Kind = Literal["guest", "computer", "bot"]  # a person; the server's own program; somebody else's program


@dataclass(frozen=True, slots=True)
class PlayerInfo:
    """A player as others see him; the tag tells two of one name apart. Of a computer: which level and version.

    `kind` says what plays: `guest` is a person, `computer` a program of the server, `bot` a program of somebody else.
    """

    name: str
    tag: str | None
    kind: Kind
    points: int
    strength: int
    level: str | None = None
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A rating before and after."""

    before: int
    after: int


@dataclass(frozen=True, slots=True)
class RatingChanges:
    """What a match did to a player's two ratings."""

    points: Change
    strength: Change


@dataclass(frozen=True, slots=True)
class Rematch:
    """Who has asked for a rematch, and the match it became."""

    offered_by: tuple[str, ...]
    id: str | None


@dataclass(frozen=True, slots=True)
class Info:
    """All about a match but the game itself.

    `cancelled` says why, if it was: its maker took it back, or it `expired`. `computer_missing`: no server has the
    computer player that sits at it, just now.
    """

    id: str
    state: str
    created_at: int
    started_at: int | None
    finished_at: int | None
    cancelled: str | None
    preset: str
    ruleset: dict[str, Any]
    public: bool
    code: str | None
    seat: str | None
    players: Seats[PlayerInfo | None]
    computer_missing: bool
    ratings: Seats[RatingChanges] | None
    rematch: Rematch | None


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """The caller's own player."""

    name: str
    tag: str | None
    kind: Kind
    points: int
    strength: int
    matches: int


async def players_of(store: Store, matches: Sequence[StoredMatch], now: int) -> dict[str, PlayerInfo]:
    """Everybody who sits in these matches, by account id, with the ratings of now."""
    ids = sorted({account for match in matches for account in (match.players.A, match.players.B) if account})
    accounts = await store.accounts.load_many(ids)
    ratings = await store.accounts.ratings(ids, now)
    return {
        account.id: PlayerInfo(
            name=account.name,
            tag=account.tag,
            kind=kind_of(account),
            points=ratings[account.id].points,
            strength=round(ratings[account.id].strength_in("short").r),
            level=level_named(account.name) if account.kind == "computer" else None,
            version=account.version,
        )
        for account in accounts.values()
    }


def kind_of(account: Account) -> Kind:
    """What plays by this account."""
    match account.kind:
        case "guest" | "computer" | "bot" as kind:
            return kind
    raise ValueError(account.kind)


def info_of(
    match: StoredMatch,
    players: dict[str, PlayerInfo],
    seat: Seat | None,
    *,
    computer_missing: bool = False,
) -> Info:
    """The Info for a caller with this seat; the invite code is for those who sit in a match that waits."""
    return Info(
        id=match.id,
        state=match.state,
        created_at=match.created_at,
        started_at=match.started_at,
        finished_at=match.finished_at,
        cancelled=match.cancelled,
        preset=match.preset,
        ruleset=match.ruleset.to_dict(),
        public=match.public,
        code=match.code if seat is not None and match.state == "waiting" else None,
        seat=None if seat is None else seat.value,
        players=Seats(
            None if match.players.A is None else players.get(match.players.A),
            None if match.players.B is None else players.get(match.players.B),
        ),
        computer_missing=computer_missing,
        ratings=_changes(match),
        rematch=_rematch(match) if match.state == "over" else None,
    )


def _rematch(match: StoredMatch) -> Rematch:
    return Rematch(tuple(seat.value for seat in Seat if seat in match.rematch_asked), match.rematch_id)


def _changes(match: StoredMatch) -> Seats[RatingChanges] | None:
    if match.ratings is None:
        return None
    a, b = (
        RatingChanges(
            Change(change.points_before, change.points_after),
            Change(round(change.strength_before.r), round(change.strength_after.r)),
        )
        for change in (match.ratings.A, match.ratings.B)
    )
    return Seats(a, b)
