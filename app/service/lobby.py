"""Finding an opponent: making a match, joining one, cancelling it, playing again (§12.4)."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.engines.levels import level_named
from app.service.computers import BEGINNER, ComputerInfo
from app.service.errors import (
    BadSeatSecret,
    KeyUsed,
    MatchStillRuns,
    NeedsInvite,
    NoHint,
    NoRematch,
    NoSuchMatch,
    NotWaiting,
    NotYourSeat,
    OwnMatch,
    RatedMatch,
    RoundIsOpen,
    TooManyMatches,
)
from app.service.info import Info, PlayerInfo, SessionInfo, info_of, kind_of, players_of
from app.service.matches import Matches
from app.store import Store
from app.store.ids import new_id
from app.store.matches import KeyReused, NewMatch, SeatTaken, StoredMatch
from app.store.matches import NotMaker as StoreNotMaker
from app.store.matches import NotWaiting as StoreNotWaiting
from engine.errors import BadRuleset
from engine.ruleset import PRESETS, Ruleset
from engine.turn import Seat, Seats
from engine.variant import VARIANTS
from engine.view import View

OPEN_AT_ONCE = 20  # matches of one player that wait or run
_SEEN_AGAIN_MS = 60_000  # who looks at the lobby every few seconds is noted as often as this
_READABLE = "23456789abcdefghjkmnpqrstuvwxyz"  # no 0 o 1 l i: codes are read aloud


@dataclass(frozen=True, slots=True)
class Live:
    """A running match as the lobby shows it: the last finished phase, and nothing later (§5.4)."""

    info: Info
    view: View


@dataclass(frozen=True, slots=True)
class Hint:
    """What the strongest computer of this server would play, in the turn that it names."""

    turn: str
    level: str
    moves: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class LobbyView:
    """Matches that wait for anybody, matches to watch, and the caller's own that are not over."""

    waiting: list[Info]
    live: list[Live]
    mine: list[Info]


class Lobby:
    """Makes matches and seats people at them."""

    def __init__(
        self,
        store: Store,
        matches: Matches,
        secret_key: bytes,
        now: Callable[[], int],
        *,
        link_ms: int = 86_400_000,
        unseen_ms: int = 1_800_000,
    ) -> None:
        """An invitation waits for `link_ms`, a match open to anyone for `unseen_ms` after its maker was last there."""
        self._store = store
        self._link_ms = link_ms
        self._unseen_ms = unseen_ms
        self._matches = matches
        self._seat_key = hmac.digest(secret_key, b"seat links", "sha256")
        self._now = now

    async def create(
        self,
        account_id: str,
        preset: str,
        changes: Mapping[str, Any],
        opponent: str,
        key: str | None = None,
        *,
        level: str = BEGINNER,
    ) -> Info:
        """A new match of this player: `link`, `anyone`, or `computer` of this level as the opponent.

        The same idempotency key gives the same match. Raises BadRuleset, NoSuchComputer, TooManyMatches.
        """
        self._matches.require_open()
        ruleset = ruleset_of(preset, changes)
        running = await self._store.matches.of_account(account_id, ("waiting", "playing"), OPEN_AT_ONCE)
        if len(running) >= OPEN_AT_ONCE and not (key and await self._store.matches.has_key(account_id, key)):
            raise TooManyMatches(OPEN_AT_ONCE)
        against_computer, at = opponent == "computer", self._now()
        computer = await self._computer(level) if against_computer else None
        new = NewMatch(
            id=new_id(),
            preset=preset if ruleset == PRESETS[preset].ruleset else "own",
            ruleset=ruleset,
            public=opponent == "anyone",
            code=None if against_computer else _new_code(),
            maker=account_id,
            players=Seats(account_id, computer),
            computers=frozenset({Seat.B}) if against_computer else frozenset(),
            created_at=at,
            expires_at=at + (self._unseen_ms if opponent == "anyone" else self._link_ms),
            server_seed=secrets.token_bytes(32),
        )
        rival = opponent if not against_computer or level == BEGINNER else f"{opponent} {level}"
        call = f"{rival} {preset} {json.dumps(ruleset.to_dict(), sort_keys=True)}"
        try:
            match = await self._store.matches.create(new, key=key, call=call)
        except KeyReused:
            raise KeyUsed from None
        if against_computer:
            await self._matches.begin(match.id)
        return await self._info(match, Seat.A)

    async def _computer(self, level: str) -> str:
        """The account of the computer of this level. Raises NoSuchComputer."""
        player = self._matches.computers.level(level)
        return (await self._store.accounts.ensure_computer(player.name, player.version)).id

    async def session(self, account_id: str | None) -> SessionInfo | None:
        """The caller's own player."""
        if account_id is None:
            return None
        account = (await self._store.accounts.load_many([account_id])).get(account_id)
        if account is None:
            return None
        ratings = (await self._store.accounts.ratings([account_id], self._now()))[account_id]
        return SessionInfo(
            account.name,
            account.tag,
            kind_of(account),
            ratings.points,
            round(ratings.strength_in("short").r),
            await self._store.matches.finished_count(account_id),
        )

    async def lobby(self, account_id: str | None) -> LobbyView:
        """What the home page shows."""
        waiting = await self._store.matches.waiting(30)
        playing = await self._store.matches.playing(12)
        mine = (
            await self._store.matches.of_account(account_id, ("waiting", "playing"), 20) if account_id else []
        )
        await self._seen(mine)
        granted = await self._store.matches.granted_to(account_id) if account_id else {}
        players = await players_of(self._store, [*waiting, *mine], self._now())

        def seen(match: StoredMatch) -> Info:
            own = (match.seat_of(account_id) if account_id else None) or granted.get(match.id)
            return self._info_of(match, players, own)

        return LobbyView(
            waiting=list(map(seen, waiting)),
            live=await self._live(playing),
            mine=list(map(seen, mine)),
        )

    async def watched(self, match_ids: Sequence[str]) -> list[Live]:
        """Those of these matches that are being played, as a spectator may see them (§5.4)."""
        found = [match for id_ in match_ids if (match := await self._store.matches.load(id_))]
        return await self._live([match for match in found if match.state == "playing"])

    async def _live(self, playing: Sequence[StoredMatch]) -> list[Live]:
        players = await players_of(self._store, playing, self._now())
        live = []
        for match in playing:
            view = await self._matches.view(match.id, None)
            if view is not None and view.stage != "over":
                live.append(Live(self._info_of(match, players, None), view))
        return live

    async def _seen(self, mine: Iterable[StoredMatch]) -> None:
        """Whoever looks at the lobby is there for those whom his public matches wait for."""
        until = self._now() + self._unseen_ms
        for match in mine:
            if match.state == "waiting" and match.deadline and match.deadline < until - _SEEN_AGAIN_MS:
                await self._store.matches.seen(match.id, until)

    async def info(self, match_id: str, account_id: str | None) -> Info:
        """All about a match. Raises NoSuchMatch, RoundIsOpen."""
        match = await self._load(match_id)
        seat = await self.seat_of(match_id, account_id)
        if match.secret and seat is None:
            raise RoundIsOpen
        return await self._info(match, seat)

    async def invited(self, code: str, account_id: str | None) -> Info:
        """The match of an invite code; looking takes no seat. Raises NoSuchMatch."""
        match = await self._by_code(code)
        return await self._info(match, await self.seat_of(match.id, account_id))

    async def join_by_code(self, code: str, account_id: str) -> Info:
        """Sit down by invite. Raises NoSuchMatch, NotWaiting, OwnMatch."""
        return await self._join(await self._by_code(code), account_id)

    async def join_public(self, match_id: str, account_id: str) -> Info:
        """Sit down at a match open to anyone. A bot does so where nothing is at stake (§10.2).

        Raises NoSuchMatch, NeedsInvite, RatedMatch, NotWaiting, OwnMatch.
        """
        match = await self._load(match_id)
        if not match.public and await self.seat_of(match_id, account_id) is None:
            raise NeedsInvite
        if match.state == "waiting" and match.ruleset.rated and await self._is_bot(account_id):
            raise RatedMatch
        return await self._join(match, account_id)

    async def _join(self, match: StoredMatch, account_id: str) -> Info:
        self._matches.require_open()
        if await self.seat_of(match.id, account_id) is None:
            try:
                await self._store.matches.join(match.id, Seat.B, account_id, self._now())
            except (SeatTaken, StoreNotWaiting):
                if (
                    await self.seat_of(match.id, account_id) is None
                ):  # else the button was pressed twice at once
                    raise NotWaiting((await self._load(match.id)).state) from None
            else:
                await self._matches.begin(match.id)
        joined = await self._load(match.id)
        if joined.state == "waiting":
            raise OwnMatch
        return await self._info(joined, await self.seat_of(match.id, account_id))

    async def cancel(self, match_id: str, account_id: str) -> Info:
        """Take a waiting match back. Raises NoSuchMatch, NotYourSeat, NotWaiting."""
        match = await self._load(match_id)
        seat = await self.seat_of(match_id, account_id)
        if seat is None:
            raise NotYourSeat
        try:
            cancelled = await self._store.matches.cancel(match_id, match.maker, self._now())
        except (StoreNotMaker, StoreNotWaiting):
            raise NotWaiting((await self._load(match_id)).state) from None
        await self._matches.refresh(match_id)
        return await self._info(cancelled, seat)

    async def rematch(self, match_id: str, account_id: str) -> Info:
        """Ask for a rematch, or agree to one: a new match, new dice, seats exchanged (§12.4).

        Raises NoSuchMatch, NotYourSeat, NoRematch, MatchStillRuns, NoSuchComputer.
        """
        self._matches.require_open()
        match = await self._load(match_id)
        seat = await self.seat_of(match_id, account_id)
        if seat is None:
            raise NotYourSeat
        if match.competition is not None:
            raise NoRematch
        if match.state != "over":
            raise MatchStillRuns
        players = [await self._again(match, s) for s in (Seat.B, Seat.A)]
        match = await self._store.matches.ask_rematch(match_id, seat)
        if match.rematch_id is None and match.rematch_asked | match.computers == set(Seat):
            new = NewMatch(
                id=new_id(),
                preset=match.preset,
                ruleset=match.ruleset,
                public=False,
                code=None,
                maker=match.maker,
                players=Seats(*players),
                computers=frozenset(computer.other for computer in match.computers),
                created_at=self._now(),
                server_seed=secrets.token_bytes(32),
                rematch_of=match.id,
            )
            await self._matches.begin(await self._store.matches.set_rematch(match.id, new))
            match = await self._load(match_id)
        await self._matches.refresh(match_id)
        return await self._info(match, seat)

    async def _again(self, match: StoredMatch, seat: Seat) -> str | None:
        """Who plays a rematch for this seat: the same, or of a computer the release of its level that is here now.

        Raises NoSuchComputer.
        """
        account_id = match.players[seat]
        if seat not in match.computers or account_id is None:
            return account_id
        account = await self._store.accounts.load(account_id)
        assert account is not None
        if self._matches.computers.has(account.name, account.version):
            return account_id
        return await self._computer(level_named(account.name) or account.name)

    def computers(self) -> list[ComputerInfo]:
        """The computer players that this server has, from the weakest."""
        return self._matches.computers.offered()

    async def hint(self, match_id: str, account_id: str) -> Hint:
        """Advice on the caller's own owed play, where nothing is at stake.

        Raises NoSuchMatch, NotYourSeat, NoHint.
        """
        match = await self._load(match_id)
        seat = await self.seat_of(match_id, account_id)
        if seat is None:
            raise NotYourSeat
        if match.ruleset.rated or match.competition is not None:
            raise NoHint("hint-rated")
        view = await self._matches.view(match_id, seat)
        steps = view.mine.steps if view is not None and view.stage == "playing" and view.mine else None
        if view is None or view.turn is None or not steps or not steps[0]:
            raise NoHint("hint-not-owed")
        computers = self._matches.computers
        return Hint(view.turn, computers.strongest().key, await computers.advise(view))

    async def seat_of(self, match_id: str, account_id: str | None) -> Seat | None:
        """The seat that this account may play in this match."""
        if account_id is None:
            return None
        return min(await self._store.matches.seats_of(match_id, account_id), default=None)

    async def seat_secret(self, match_id: str, account_id: str) -> str:
        """What opens the caller's own seat on another device. Raises NoSuchMatch, NotYourSeat."""
        match = await self._load(match_id)
        seat = await self.seat_of(match_id, account_id)
        if seat is None:
            raise NotYourSeat
        return self._secret(match_id, seat, await self._links_at(match, seat))

    async def open_seat(self, match_id: str, account_id: str, secret: str) -> Info:
        """This account may play the seat of the link, too. Raises NoSuchMatch, BadSeatSecret, OwnMatch."""
        match = await self._load(match_id)
        given = secret.encode(errors="replace")
        links = {seat: await self._links_at(match, seat) for seat in Seat}
        secrets = {seat: self._secret(match_id, seat, links[seat]).encode() for seat in Seat}
        seat = next((s for s in Seat if hmac.compare_digest(given, secrets[s])), None)
        if seat is None or match.players[seat] is None:
            raise BadSeatSecret
        own = await self.seat_of(match_id, account_id)
        if own not in (None, seat):
            raise OwnMatch
        if own is None and not await self._store.matches.grant_seat(
            match_id, account_id, seat, links=links[seat]
        ):
            raise BadSeatSecret  # void since just now
        return await self._info(match, seat)

    async def _links_at(self, match: StoredMatch, seat: Seat) -> int:
        """How many personal links of whoever sits there are void; the secret of his seat is void with them."""
        sits = match.players[seat]
        account = await self._store.accounts.load(sits) if sits else None
        return account.links if account else 0

    def _secret(self, match_id: str, seat: Seat, links: int) -> str:
        words = f"{match_id}|{seat.value}{f'|{links}' if links else ''}"
        return hmac.new(self._seat_key, words.encode(), hashlib.sha256).hexdigest()[:32]

    async def _is_bot(self, account_id: str) -> bool:
        account = await self._store.accounts.load(account_id)
        return account is not None and account.kind == "bot"

    async def _load(self, match_id: str) -> StoredMatch:
        match = await self._store.matches.load(match_id)
        if match is None:
            raise NoSuchMatch
        return match

    async def _by_code(self, code: str) -> StoredMatch:
        match = await self._store.matches.by_code(code)
        if match is None:
            raise NoSuchMatch
        return match

    async def _info(self, match: StoredMatch, seat: Seat | None) -> Info:
        return self._info_of(match, await players_of(self._store, [match], self._now()), seat)

    def _info_of(self, match: StoredMatch, players: dict[str, PlayerInfo], seat: Seat | None) -> Info:
        missing = self._matches.computers.is_missing_at(match, players)
        return info_of(match, players, seat, computer_missing=missing)


def ruleset_of(preset: str, changes: Mapping[str, Any]) -> Ruleset:
    """A preset with some keys changed. Raises BadRuleset."""
    if preset not in PRESETS:
        raise BadRuleset("preset", f"is one of {' | '.join(PRESETS)}")
    ruleset = PRESETS[preset].ruleset.changed(changes)
    if VARIANTS[ruleset.variant].rules is None:
        raise BadRuleset("variant", f"{ruleset.variant} cannot be played on this server yet")
    if (
        ruleset.rated and ruleset.clock.type == "none"
    ):  # ratings are a competition's, which has clocks (§8.6, §10.1)
        raise BadRuleset("rated", "is false in a match without a clock")
    # Everybody's casual matches move one rating: nobody chooses what his own are worth there.
    usual = PRESETS["classic"].ruleset.rating_num if ruleset.scoring == "classic" else 1
    if ruleset.rated and ruleset.rating_num > usual * ruleset.rating_den:
        raise BadRuleset("rating_num", f"is at most {usual} a point in rated matches outside competitions")
    return ruleset


def presets_offered() -> list[dict[str, Any]]:
    """The presets whose game can be played here, each with its whole ruleset."""
    return [
        {"key": preset.key, "ru": preset.ru, "en": preset.en, "ruleset": preset.ruleset.to_dict()}
        for preset in PRESETS.values()
        if VARIANTS[preset.ruleset.variant].rules is not None
    ]


def _new_code() -> str:
    letters = "".join(secrets.choice(_READABLE) for _ in range(10))
    return f"{letters[:5]}-{letters[5:]}"
