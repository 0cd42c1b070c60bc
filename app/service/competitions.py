"""Competitions: announced, entered, run and looked at (§12).

Every wish is the same story: lock, decide, store, apply, tell. What is in memory is a cache of the stored facts with a
lock; the database decides, so any server serves any competition. Standings are computed when they are asked for.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2s
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from app.service import competition_views as views
from app.service.competition_views import (
    CompetitionView,
    CrossTable,
    Mine,
    OrganiserView,
    Own,
    Standings,
    Summary,
)
from app.service.computers import Computers
from app.service.errors import (
    BadCompetition,
    IdTaken,
    KeyUsed,
    NoSuchCompetition,
    NotAnEntrant,
    NotArbiter,
    RoundIsOpen,
    StaleVersion,
    TooManyEvents,
)
from app.service.joined import Joined
from app.store import Store
from app.store.accounts import Account
from app.store.competitions import (
    MOST_OPEN,
    CompetitionMoved,
    NameTaken,
    NewCompetition,
    Newest,
    Note,
    Standing,
    StoredCompetition,
    TooManyOpen,
    WishSeen,
)
from app.store.competitions import NoSuchCompetition as StoreNoSuchCompetition
from app.store.facts_codec import plain_fact
from app.store.ids import new_id
from app.store.matches import KeyReused
from engine.competition import commands, facts
from engine.competition.commands import Command
from engine.competition.competition import (
    Competition,
    Entrant,
    Stage,
    State,
    Status,
    new_competition,
    replay,
)
from engine.competition.decisions import next_deadline, unfold
from engine.competition.facts import Fact
from engine.competition.meeting import Ending, MatchResult, Ref, place_of
from engine.competition.overview import MatchOrder, Next
from engine.competition.settings import DEFAULT_SETTINGS, Qualifying, Settings
from engine.errors import BadResult, EntryRefused, NotNow, RuleError
from engine.turn import Seats

log = logging.getLogger(__name__)
T = TypeVar("T")

Wish = Callable[[int], Command]  # a command, once the time is known
_KEPT = 64  # competitions in memory
_MANY = 16  # with more entrants commands are decided on beside the loop: a draft takes seconds (§12.3)
_FOREMOST = 20  # of the competitions of one player, so many are looked through
_FIRST = (State.RUNNING, State.ENTRY, State.ANNOUNCED, State.FINISHED, State.CANCELLED)
_ID = re.compile(r"(?!new$)[a-z0-9](-?[a-z0-9]){2,31}")  # `new` is a page
TITLE_LENGTH, ABOUT_LENGTH = 100, 10_000
ANALYSES_WAITED_FOR_MS = 7 * 86_400_000  # after the end

# What takes judgement: nobody who plays in the competition may do it (§8.5).
_JUDGES = (
    commands.Decline
    | commands.Ban
    | commands.Substitute
    | commands.Seed
    | commands.ForbidPair
    | commands.Penalise
    | commands.SeedStage
    | commands.EditRound
    | commands.ExtendRound
    | commands.UndoRound
    | commands.CorrectResult
    | commands.RuleMeeting
)


@dataclass(frozen=True, slots=True)
class Done:
    """A wish was carried out: the version after it. `is_new` is false for one that came before, or changed nothing."""

    version: int
    is_new: bool


@dataclass(frozen=True, slots=True)
class Entered:
    """A player has this number in the competition; the version after it."""

    entrant: int
    account: str
    version: int


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One accepted command: who wished it (an account; None: the server), and what came of it, as plain data."""

    version: int
    at: int
    actor: str | None
    facts: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class BoardShown:
    """The dice that all entrants of a round shared (§12.1). What is secret is None until the round is closed (§9.3).

    `seeds`: what each entrant showed, by his number; `shared_seed` is made of them, and the computer's is zeros.
    """

    dice_id: str
    round: int
    commitment: str
    server_seed: str | None
    shared_seed: str | None
    seeds: Mapping[int, str] | None


@dataclass(eq=False)
class _Kept:
    """A competition in memory. Private to this module."""

    stored: StoredCompetition
    competition: Competition
    version: int = 0
    hidden: int = 0  # so many of its rows tell only of a qualifying's open round
    last_at: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    computed: dict[str, Any] = field(default_factory=dict)  # from this version
    accounts: Mapping[str, Account] = field(default_factory=dict)  # of the entrants, as in `computed`
    newest: Joined[Newest | None] | None = None  # reads how far it is as stored
    entrants: Joined[Mapping[str, Account]] | None = None  # reads the accounts
    states: dict[str, str] = field(default_factory=dict)  # of matches, as far as they are known

    @property
    def shown(self) -> int:
        """The version as organisers know it: it counts other words too, and not what is not shown yet (§5.4)."""
        return self.version + self.stored.words - self.hidden

    def moved(
        self, competition: Competition, version: int, at: int, rows: Iterable[tuple[Fact, ...]]
    ) -> None:
        self.competition, self.version, self.last_at = competition, version, max(self.last_at, at)
        before = self.hidden if views.is_hidden(competition) else 0
        self.hidden = before + sum(all(_is_secret(competition, fact) for fact in row) for row in rows)
        self.computed = {}


class _Seen(NamedTuple):
    """One state of a competition, and what everybody may see of it."""

    competition: Competition
    version: int
    accounts: Mapping[str, Account]
    view: CompetitionView


class Competitions:
    """All competitions. Methods raise NoSuchCompetition where there is none, and RuleError as the engine does."""

    def __init__(self, store: Store, computers: Computers, now: Callable[[], int]) -> None:
        self._store = store
        self._computers = computers
        self._now = now
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._loading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._waiting: dict[str, asyncio.Event] = {}
        self._closing = False
        self.on_change: Callable[[str], None] | None = None  # the runner wants to know at once
        store.notices.on_competition = self._changed_elsewhere

    # ------------------------------------------------------------------------------------------- made and described

    async def create(
        self,
        owner: str,
        *,
        title: Mapping[str, str],
        about: Mapping[str, str] | None = None,
        settings: Mapping[str, Any] | None = None,
        visibility: str = "public",
        competition_id: str | None = None,
        key: str | None = None,
    ) -> Summary:
        """Announces a competition. `title` and `about` in `ru` and `en` (one is enough); `settings` as changes of the
        default ones (engine.competition.settings). The same key with the same words gives the same competition.

        Raises BadCompetition, BadSettings, BadRuleset, NoSuchComputer, IdTaken, KeyUsed, TooManyEvents.
        """
        titles, texts = _texts(title, about or {}, visibility)
        given = DEFAULT_SETTINGS.changed(settings or {})
        self._check_computer(given)
        if competition_id is not None and not _ID.fullmatch(competition_id):
            raise BadCompetition("id", "is 3 to 32 small letters, digits and single dashes between them")
        at = self._now()
        new = NewCompetition(
            id=competition_id or new_id(),
            owner=owner,
            title=titles,
            about=texts,
            visibility=visibility,
            settings=given,
            lot_seed=secrets.token_hex(32),
            created_at=at,
        )
        start = new_competition(new.id, given, new.lot_seed)
        wished = [titles, texts, visibility, competition_id, given.to_dict()]
        call = f"competition {_digest(json.dumps(wished, sort_keys=True, ensure_ascii=False))}"
        try:
            stored = await self._store.competitions.create(new, standing_of(start, at), key=key, call=call)
        except NameTaken:
            raise IdTaken from None
        except KeyReused:
            raise KeyUsed from None
        except TooManyOpen:
            raise TooManyEvents(MOST_OPEN) from None
        return views.summary(stored)

    async def describe(
        self,
        competition_id: str,
        *,
        title: Mapping[str, str] | None = None,
        about: Mapping[str, str] | None = None,
        visibility: str | None = None,
        actor: str,
        via: str | None = None,
        expect: int | None = None,
    ) -> Summary:
        """Other words about a competition; what is not given stays. `via` is the key by which they came; `expect`: only
        if the competition is still at this version. Raises BadCompetition, StaleVersion.
        """
        kept = await self._fresh(competition_id)
        async with kept.lock:
            while True:
                if expect is not None and expect != kept.shown:
                    raise StaleVersion(kept.shown)
                now = kept.stored
                seen_by = visibility or now.visibility
                titles, texts = _texts(
                    {**now.title, **(title or {})}, {**now.about, **(about or {})}, seen_by
                )
                try:
                    kept.stored = await self._store.competitions.describe(
                        competition_id,
                        titles,
                        texts,
                        seen_by,
                        after=Newest(kept.version, now.words),
                        actor=actor,
                        key=via,
                        at=self._now(),
                    )
                except StoreNoSuchCompetition:
                    raise NoSuchCompetition from None
                except CompetitionMoved:
                    await self._take_in(kept)
                    await self._take_words(kept, now.words + 1)
                    continue
                break
            kept.computed = {}
        self._tell(competition_id)
        return views.summary(kept.stored, kept.competition)

    async def change_settings(
        self,
        competition_id: str,
        changes: Mapping[str, Any],
        *,
        actor: str,
        key: str | None = None,
        expect: int | None = None,
    ) -> Done:
        """Other settings, as changes of those of now. Raises BadSettings, BadRuleset, NoSuchComputer."""
        kept = await self._fresh(competition_id)
        settings = kept.competition.settings.changed(changes)
        self._check_computer(settings)
        return await self.act(
            competition_id,
            lambda at: commands.ChangeSettings(settings, actor, at),
            actor=actor,
            key=key,
            expect=expect,
        )

    def _check_computer(self, settings: Settings) -> None:
        for stage in settings.stages:
            if isinstance(stage, Qualifying):
                self._computers.level(stage.computer)

    # -------------------------------------------------------------------------------------------- any wish at all

    async def act(
        self,
        competition_id: str,
        wish: Wish,
        *,
        actor: str | None,
        key: str | None = None,
        expect: int | None = None,
    ) -> Done:
        """Carries out a command (engine.competition.commands): lock, decide, store, apply, tell.

        `actor` is the account that wishes it, None the server itself. `key` is the caller's name for it: the same key
        with the same words is carried out once. `expect`: only if the competition is still at this version.
        Who may wish what is the caller's business, but that nobody judges where he plays.
        Raises RuleError, StaleVersion, NotArbiter; then nothing has happened.
        """
        kept = await self._fresh(competition_id)
        command_id = None if key is None else f"{actor or 'server'}:{key}:{_digest(repr(wish(0)))}"
        async with kept.lock:
            try:
                done = await self._do(kept, wish, actor, command_id, expect)
            except (RuleError, StaleVersion, NotArbiter):
                raise
            except BaseException:
                self._forget(kept)  # whether it is stored is not known
                raise
        if done.is_new:
            self._tell(competition_id)
        return done

    async def _do(
        self, kept: _Kept, wish: Wish, actor: str | None, command_id: str | None, expect: int | None
    ) -> Done:
        store = self._store.competitions
        while True:
            at = max(self._now(), kept.last_at)
            command = wish(at)
            try:
                if expect is not None and expect != kept.shown:
                    raise StaleVersion(kept.shown)
                if actor is not None:
                    _check_judge(kept.competition, command, actor)
                happened, after = await self._decide(kept.competition, command)
            except (RuleError, StaleVersion, NotArbiter):
                seen = command_id and await store.answer_of(kept.stored.id, command_id)
                if seen:
                    return Done(
                        min(seen, kept.shown), False
                    )  # it came a second time: answered as the first time
                raise
            if not happened:
                return Done(kept.shown, False)
            try:
                await store.append(
                    kept.stored.id,
                    after=kept.version,
                    command_id=command_id,
                    actor=actor,
                    at=at,
                    facts=happened,
                    standing=standing_of(after, at),
                )
            except WishSeen as seen_before:
                await self._take_in(kept)
                return Done(min(seen_before.version, kept.shown), False)
            except CompetitionMoved:
                await self._take_in(kept)
                continue
            kept.moved(after, kept.version + 1, at, [happened])
            return Done(kept.shown, True)

    @staticmethod
    async def _decide(competition: Competition, command: Command) -> tuple[tuple[Fact, ...], Competition]:
        if len(competition.entrants) <= _MANY:
            return unfold(competition, command)
        return await asyncio.to_thread(unfold, competition, command)

    # --------------------------------------------------------------------------------------------- for organisers

    async def start(
        self, competition_id: str, *, actor: str, key: str | None = None, expect: int | None = None
    ) -> Done:
        """Opens the first stage, with the entrants' ratings as they are now. Raises NotNow."""
        kept = await self._fresh(competition_id)
        strengths = await self._strengths(kept.competition, [e.player for e in kept.competition.entrants])
        return await self.act(
            competition_id, lambda at: commands.Start(at, strengths), actor=actor, key=key, expect=expect
        )

    async def close_round(
        self, competition_id: str, *, actor: str, key: str | None = None, expect: int | None = None
    ) -> Done:
        """Ends the round, if all is played. Raises NotNow, and RoundIsOpen where who still plays is not to be told."""
        try:
            return await self.act(competition_id, commands.CloseRound, actor=actor, key=key, expect=expect)
        except NotNow as refused:
            if refused.params.get("because") == "matches-run" and await self.is_hidden(competition_id):
                raise RoundIsOpen from None
            raise

    async def register(
        self,
        competition_id: str,
        player: str,
        *,
        actor: str,
        key: str | None = None,
        expect: int | None = None,
    ) -> int:
        """Enters a player (an account), with no need of code, approval or invitation: his number.

        Raises EntryRefused.
        """
        strength = await self._strength(competition_id, player)
        await self.act(
            competition_id,
            lambda at: commands.Register(player, at, strength, by=actor),
            actor=actor,
            key=key,
            expect=expect,
        )
        return (await self._entrant(competition_id, player)).number

    async def substitute(
        self,
        competition_id: str,
        entrant: int,
        player: str,
        reason: str,
        *,
        actor: str,
        key: str | None = None,
        expect: int | None = None,
    ) -> Done:
        """Gives an entrant's place to another player (an account). Raises EntryRefused, NotNow, BadDecision."""
        strength = await self._strength(competition_id, player)
        return await self.act(
            competition_id,
            lambda at: commands.Substitute(entrant, player, actor, reason, at, strength),
            actor=actor,
            key=key,
            expect=expect,
        )

    async def rule_meeting(
        self,
        competition_id: str,
        place: tuple[int, int, int],
        points_for_a: int,
        winner: int | None,
        reason: str,
        *,
        actor: str,
        key: str | None = None,
        expect: int | None = None,
    ) -> Done:
        """An arbiter decides a meeting as a whole; `place` is stage, round, table. Raises BadResult, NotNow."""
        ref = Ref(*place)
        return await self.act(
            competition_id,
            lambda at: commands.RuleMeeting(ref, points_for_a, winner, actor, reason, at),
            actor=actor,
            key=key,
            expect=expect,
        )

    async def correct_result(
        self,
        competition_id: str,
        match: str,
        points_for_A: int | None,
        reason: str,
        *,
        actor: str,
        key: str | None = None,
        expect: int | None = None,
    ) -> Done:
        """An arbiter gives a match that is over another result, settled points for seat A; None: it counts for nothing
        and another is played for it, on new dice. Raises BadResult, NotNow, BadDecision.
        """
        kept = await self._fresh(competition_id)
        known = kept.competition.result(match)
        if known is None or views.is_secret(kept.competition, match):
            raise BadResult("not-due", "This match has no result yet.", match=match)
        if points_for_A is None:
            result = MatchResult(match, Ending.VOID)
        else:
            points = Seats(points_for_A, -points_for_A)
            result = MatchResult(match, Ending.PLAYED, points, points_for_A, known.time_ms, rated=known.rated)
        return await self.act(
            competition_id,
            lambda at: commands.CorrectResult(result, actor, reason, at),
            actor=actor,
            key=key,
            expect=expect,
        )

    async def organiser_view(self, competition_id: str) -> OrganiserView:
        """All that an organiser may see, with the version for `expect`."""
        kept = await self._fresh(competition_id)
        seen = await self._shared(kept)
        due = next_deadline(seen.competition)
        return views.organisers(
            kept.stored.owner,
            seen.view,
            seen.competition,
            seen.version,
            seen.accounts,
            due,
            self._now(),
        )

    async def history(
        self, competition_id: str, *, after_version: int = 0, limit: int = 1_000
    ) -> list[HistoryRow]:
        """The log: every accepted command in order, with what it caused. Results of an open qualifying round are not
        in it yet (§5.4).
        """
        competition = (await self._fresh(competition_id)).competition
        rows = []
        for row in await self._store.competitions.facts(competition_id, after_version):
            shown = tuple(plain_fact(fact) for fact in row.facts if not _is_secret(competition, fact))
            if shown:
                rows.append(HistoryRow(row.version, row.at, row.actor, shown))
        return rows[:limit]

    async def owner(self, competition_id: str) -> str:
        """The account that made a competition."""
        return (await self._fresh(competition_id)).stored.owner

    async def version(self, competition_id: str) -> int:
        """Its newest version, as organisers know it."""
        return (await self._fresh(competition_id)).shown

    async def is_hidden(self, competition_id: str) -> bool:
        """Whether a qualifying's round is open, of which nothing is shown yet (§5.4)."""
        return views.is_hidden((await self._fresh(competition_id)).competition)

    async def is_secret(self, competition_id: str, match: str) -> bool:
        """Whether a match is of such a round."""
        return views.is_secret((await self._fresh(competition_id)).competition, match)

    async def plays_in(self, competition_id: str, account: str) -> bool:
        """Whether an account has a part in it, so that he is no arbiter there (§8.5)."""
        return _plays((await self._fresh(competition_id)).competition, account)

    async def add_note(self, competition_id: str, text: str, *, actor: str, match: str | None = None) -> Note:
        """An arbiter writes something down, about a match or the whole. Raises BadResult, BadCompetition."""
        competition = (await self._fresh(competition_id)).competition
        if match is not None and not _is_match_of(competition, match):
            raise BadResult("no-such-match", f"{match} is no match of this competition.", match=match)
        if not text.strip() or len(text) > ABOUT_LENGTH:
            raise BadCompetition("text", f"is 1 to {ABOUT_LENGTH} characters")
        return await self._store.competitions.add_note(competition_id, match, actor, text, self._now())

    async def notes(self, competition_id: str) -> list[Note]:
        """All that arbiters have written down, the oldest first."""
        await self._fresh(competition_id)
        return list(await self._store.competitions.notes(competition_id))

    # ------------------------------------------------------------------------------------------------- for players

    async def enter(
        self, competition_id: str, account: str, *, code: str | None = None, key: str | None = None
    ) -> Mine:
        """The caller enters, or comes back after he had withdrawn. Raises EntryRefused."""
        strength = await self._strength(competition_id, account)
        await self.act(
            competition_id,
            lambda at: commands.Register(account, at, strength, code),
            actor=account,
            key=key,
        )
        return await self.mine(competition_id, account)

    async def withdraw(self, competition_id: str, account: str, *, reason: str = "") -> Mine:
        """The caller plays no more. Raises NotAnEntrant, EntryRefused."""
        number = (await self._entrant(competition_id, account)).number
        await self.act(
            competition_id, lambda at: commands.Withdraw(number, account, at, reason), actor=account
        )
        return await self.mine(competition_id, account)

    async def check_in(self, competition_id: str, account: str) -> Mine:
        """The caller says that he is there. Raises NotAnEntrant, EntryRefused."""
        number = (await self._entrant(competition_id, account)).number
        await self.act(competition_id, lambda at: commands.CheckIn(number, at), actor=account)
        return await self.mine(competition_id, account)

    async def mine(self, competition_id: str, account: str) -> Mine:
        """The caller's own place, and what is next for him. Raises NotAnEntrant."""
        kept = await self._fresh(competition_id)
        found = await self._mine(kept, account)
        if found is None:
            raise NotAnEntrant
        return found

    # ------------------------------------------------------------------------------------------------ for everybody

    async def listed(
        self, states: Iterable[str] = State, *, limit: int = 50, before: int | None = None
    ) -> list[Summary]:
        """Public competitions in these states, the newest first; `before` is the `created_at` of the last one seen."""
        return list(
            map(views.summary, await self._store.competitions.public(map(str, states), limit, before))
        )

    async def owned_by(self, account: str, *, limit: int = 50, before: int | None = None) -> list[Summary]:
        """The competitions that an account has made."""
        return list(map(views.summary, await self._store.competitions.of_owner(account, limit, before)))

    async def entered_by(self, account: str, *, limit: int = 50, before: int | None = None) -> list[Summary]:
        """The competitions that an account has entered, also where another has taken its place since."""
        return list(map(views.summary, await self._store.competitions.of_player(account, limit, before)))

    async def foremost_of(self, account: str) -> tuple[Summary | None, str | None]:
        """Where an entrant is wanted first: the competition in which a match waits for him, and that match; else one
        that runs, that is coming, that is over.
        """
        foremost: Summary | None = None
        entered = await self.entered_by(account, limit=_FOREMOST)
        for one in sorted(entered, key=lambda one: _FIRST.index(State(one.state))):
            if foremost is not None and one.state != State.RUNNING:
                break
            mine = await self._mine(await self._fresh(one.id), account)
            if mine is None:  # another has taken his place
                continue
            if mine.next.kind == "play" and mine.next.is_made:
                return one, mine.next.match
            foremost = foremost or one
        return foremost, None

    async def places_of(
        self, account: str, *, without: Collection[str] = (), limit: int = 50
    ) -> list[tuple[Summary, Mine]]:
        """The newest competitions in which an account has a place, and what is next for it there; `without` those in
        these states.
        """
        found = []
        for one in await self.entered_by(account, limit=limit):
            if one.state not in without:
                mine = await self._mine(await self._fresh(one.id), account)
                if mine is not None:  # else another has taken his place
                    found.append((one, mine))
        return found

    async def view(self, competition_id: str, account: str | None = None) -> CompetitionView:
        """All that everybody may see, and the caller's own part."""
        _, shared, own = await self.seen(competition_id, account)
        return replace(shared, mine=own.mine, is_owner=own.is_owner)

    async def seen(self, competition_id: str, account: str | None) -> tuple[str, CompetitionView, Own]:
        """The mark of now, what everybody may see, and the caller's own part. While nothing changes, all callers are
        given one and the same view, in which nothing is anybody's own.
        """
        kept = await self._fresh(competition_id)
        mark = await self._mark(kept)  # first: what changes meanwhile is asked for again
        shared = (await self._shared(kept)).view
        mine = await self._mine(kept, account) if account else None
        return mark, shared, Own(mine, account is not None and account == kept.stored.owner)

    async def standings(self, competition_id: str, stage: int) -> Standings:
        """A stage as it stands. Raises NoSuchCompetition for a stage that has not opened, too."""
        kept = await self._fresh(competition_id)
        found = _stage(kept.competition, stage)
        return await self._computed(
            kept, f"standings {stage}", partial(views.standings, kept.competition, found)
        )

    async def cross_tables(self, competition_id: str, stage: int) -> tuple[CrossTable, ...]:
        """The cross-table of a stage, or of each of its groups; none of an elimination."""
        kept = await self._fresh(competition_id)
        found = _stage(kept.competition, stage)
        return await self._computed(
            kept, f"cross {stage}", partial(views.cross_tables, kept.competition, found)
        )

    async def boards(self, competition_id: str) -> list[BoardShown]:
        """The shared dice of the qualifying's rounds that have begun; revealed when the round is closed (§9.3)."""
        competition = (await self._fresh(competition_id)).competition
        return [
            BoardShown(
                board.dice_id,
                int(board.dice_id.rpartition("-Q")[2]),
                board.commitment,
                board.server_seed.hex() if board.disclosed_at is not None else None,
                board.shared_seed if board.disclosed_at is not None else None,
                _by_entrant(competition, board.seeds or {}) if board.disclosed_at is not None else None,
            )
            for board in await self._store.competitions.boards(competition_id)
        ]

    async def wait(self, competition_id: str, mark: str, patience_s: float = 25.0) -> str:
        """Returns when what everybody may see has changed since `mark` was given, or after a while: the mark of now.

        What happens in a qualifying's open round changes no mark, since an update with nothing in it would tell that
        something has happened there (§5.4). The first mark is empty, and answered at once.
        """
        until = asyncio.get_running_loop().time() + patience_s
        while True:
            event = self._waiting.setdefault(competition_id, asyncio.Event())
            kept = await self._fresh(competition_id)
            now = await self._mark(kept)
            if now != mark or self._closing:
                return now
            try:
                async with asyncio.timeout_at(until):
                    await event.wait()
            except TimeoutError:
                return now

    def let_go(self) -> None:
        """The server is about to stop: whoever waits for a change is answered now."""
        self._closing = True
        for competition_id in list(self._waiting):
            self._waiting.pop(competition_id).set()

    # ------------------------------------------------------------------------------------------ for the other services

    async def competition(self, competition_id: str) -> tuple[Competition, StoredCompetition]:
        """The whole of it, for the services that run it; never for a display."""
        kept = await self._fresh(competition_id)
        return kept.competition, kept.stored

    # ------------------------------------------------------------------------------------------------------- within

    async def _fresh(self, competition_id: str) -> _Kept:
        """The competition with all that is stored. Raises NoSuchCompetition."""
        kept = self._kept.get(competition_id)
        if kept is None:
            return await self._load(competition_id)
        self._kept.move_to_end(competition_id)
        if kept.newest is None:
            kept.newest = Joined(partial(self._store.competitions.newest, competition_id))
        newest = await kept.newest.get()
        if newest is None:
            raise NoSuchCompetition
        if newest.version > kept.version or newest.words > kept.stored.words:
            async with kept.lock:
                await self._take_in(kept)
                await self._take_words(kept, newest.words)
        return kept

    async def _load(self, competition_id: str) -> _Kept:
        loading = self._loading.get(competition_id)
        if loading is None:
            self._loading[competition_id] = loading = asyncio.Lock()
        async with loading:
            kept = self._kept.get(competition_id)
            if kept is not None:
                return kept
            stored = await self._store.competitions.load(competition_id)
            if stored is None:
                raise NoSuchCompetition
            kept = _Kept(stored, new_competition(stored.id, stored.settings, stored.lot_seed))
            await self._take_in(kept)
            self._kept[competition_id] = kept
            while len(self._kept) > _KEPT:
                idle = next((one for one in self._kept.values() if not one.lock.locked()), None)
                if idle is None or idle is kept:
                    break
                self._forget(idle)
            return kept

    async def _take_in(self, kept: _Kept) -> None:
        """Apply what has been written since, by whichever server."""
        rows = await self._store.competitions.facts(kept.stored.id, kept.version)
        if not rows:
            return
        told = [row.facts for row in rows]
        after = replay(kept.competition, [fact for row in told for fact in row])
        kept.moved(after, rows[-1].version, max(row.at for row in rows), told)

    async def _take_words(self, kept: _Kept, words: int) -> None:
        """Load what is said about it, if that has been changed so often, on whichever server."""
        if kept.stored.words < words:
            stored = await self._store.competitions.load(kept.stored.id)
            if stored is not None and stored.words > kept.stored.words:
                kept.stored, kept.computed = stored, {}

    def _forget(self, kept: _Kept) -> None:
        if self._kept.get(kept.stored.id) is kept:
            del self._kept[kept.stored.id]

    def _changed_elsewhere(self, competition_id: str, version: int | None) -> None:
        kept = self._kept.get(competition_id)
        if kept is None or version is None or version > kept.version:
            self._tell(competition_id)

    def _tell(self, competition_id: str) -> None:
        event = self._waiting.pop(competition_id, None)
        if event is not None:
            event.set()
        if self.on_change is not None:
            self.on_change(competition_id)

    async def _computed(self, kept: _Kept, name: str, compute: Callable[[], T]) -> T:
        """Computed once a version, of a large field beside the loop; who asks meanwhile waits for it."""
        memo = kept.computed
        if len(kept.competition.entrants) <= _MANY:
            if name not in memo:
                memo[name] = compute()
            found: T = memo[name]
            return found
        task: asyncio.Task[T] | None = memo.get(name)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            memo[name] = task = asyncio.create_task(asyncio.to_thread(compute))
        return await asyncio.shield(task)

    async def _mark(self, kept: _Kept) -> str:
        return await self._computed(kept, "mark", partial(_mark_of, kept.stored, kept.competition))

    async def _shared(self, kept: _Kept) -> _Seen:
        """What everybody may see, and nobody's own part. Names change without the competition: they are looked up."""
        while True:
            stored, competition, version = kept.stored, kept.competition, kept.shown
            accounts = await self._accounts(kept)
            # Else somebody may be among the entrants who was not looked up, or the words are of another version.
            if kept.competition is competition and kept.stored is stored:
                break
        if accounts != kept.accounts:
            kept.computed.pop("view", None)
        kept.accounts = accounts
        everybodys = partial(views.everybodys, stored, competition, accounts)
        return _Seen(competition, version, accounts, await self._computed(kept, "view", everybodys))

    async def _accounts(self, kept: _Kept) -> Mapping[str, Account]:
        async def read() -> Mapping[str, Account]:
            return await self._store.accounts.load_many(
                entrant.player for entrant in kept.competition.entrants
            )

        if kept.entrants is None:
            kept.entrants = Joined(read)
        return await kept.entrants.get()

    async def _strength(self, competition_id: str, player: str) -> float:
        """The player's rating in the variant of the competition. Raises EntryRefused for who is none, and for a bot
        where the settings do not let bots in.
        """
        competition = (await self._fresh(competition_id)).competition
        account = await self._store.accounts.load(player)
        if account is None:
            raise EntryRefused("no-such-player", "There is no such player.")
        if account.kind == "bot" and not competition.settings.entry.bots:
            raise EntryRefused("no-bots", "Bots do not play in this competition.")
        return (await self._strengths(competition, [player]))[player]

    async def _strengths(self, competition: Competition, players: list[str]) -> dict[str, float]:
        variant = competition.settings.ruleset.variant
        ratings = await self._store.accounts.ratings(players, self._now())
        return {player: ratings[player].strength_in(variant).r for player in players}

    async def _entrant(self, competition_id: str, account: str) -> Entrant:
        found = (await self._fresh(competition_id)).competition.entrant_of(account)
        if found is None:
            raise NotAnEntrant
        return found

    async def _mine(self, kept: _Kept, account: str) -> Mine | None:
        competition = kept.competition
        entrant = competition.entrant_of(account)
        if entrant is None:
            return None
        found = views.next_of(competition, entrant, self._now())
        state = await self._state_of(kept, found.match) if found.match is not None else None
        if state == "over" and found.match is not None and found.match.is_board:
            # Its result comes in with those of all the boards: until then there is nothing for him to go to.
            found, state = Next("done", opponent=found.opponent), None
        return Mine(
            entrant.number,
            entrant.status.value,
            entrant.checked_in,
            views.next_shown(found, is_made=state is not None),
        )

    async def _state_of(self, kept: _Kept, order: MatchOrder) -> str | None:
        """None while the match is not there. Whether it is over is looked up only where that is news to its player."""
        state = kept.states.get(order.id)
        if state is None or (order.is_board and state != "over"):
            state = await self._store.matches.state(order.id)
            if state is not None:
                kept.states[order.id] = state
        return state


def standing_of(competition: Competition, at: int) -> Standing:
    """What lists and sweeps need to know."""
    watched = competition.state is State.RUNNING or (
        competition.state is State.FINISHED
        and at < (competition.over_at or 0) + ANALYSES_WAITED_FOR_MS
        and any(
            result.ending is Ending.PLAYED and result.objective_for_A is None
            for stage in competition.stages
            for round_ in stage.rounds
            for meeting in round_.meetings
            for result in meeting.results
        )
    )
    return Standing(
        competition.state.value,
        next_deadline(competition),
        watched,
        competition.settings.starts_at,
        tuple(entrant.player for entrant in competition.entrants),
    )


def _plays(competition: Competition, account: str) -> bool:
    entrant = competition.entrant_of(account)
    if entrant is None:
        return False
    took_part = any(entrant.number in stage.seeds for stage in competition.stages)
    return took_part or entrant.status in (Status.ENTERED, Status.ASKED)


def _check_judge(competition: Competition, command: Command, actor: str) -> None:
    """Nobody has an arbiter's rights in a competition that he plays in (§8.5)."""
    judges = isinstance(command, _JUDGES) or (
        isinstance(command, commands.DraftRound) and bool(command.reason.strip())
    )
    if judges and _plays(competition, actor):
        raise NotArbiter


def _stage(competition: Competition, number: int) -> Stage:
    if not 1 <= number <= len(competition.stages):
        raise NoSuchCompetition
    return competition.stages[number - 1]


def _is_match_of(competition: Competition, match: str) -> bool:
    place = place_of(match)
    return (
        place is not None and match.startswith(f"{competition.id}-S") and bool(competition.meeting(place[0]))
    )


def _is_secret(competition: Competition, fact: Fact) -> bool:
    """Whether a fact tells of a qualifying's round that is open (§5.4)."""
    match fact:
        case facts.ResultReported(result) | facts.ResultCorrected(result):
            return views.is_secret(competition, result.match)
        case facts.ObjectiveFound(match):
            return views.is_secret(competition, match)
        case facts.MeetingForfeited(ref):
            return views.is_open_qualifying(competition, ref.stage, ref.round)
        case _:
            return False


def _by_entrant(competition: Competition, seeds: Mapping[str, str]) -> dict[int, str]:
    """What each showed, by his number; given by his match."""
    found = {}
    for match, seed in seeds.items():
        place = place_of(match)
        meeting = competition.meeting(place[0]) if place else None
        if meeting is not None:
            found[meeting.pair.a] = seed
    return dict(sorted(found.items()))


def _mark_of(stored: StoredCompetition, competition: Competition) -> str:
    return _digest(f"{stored.lot_seed} {views.seen_by_all(stored, competition)!r}")


def _texts(
    title: Mapping[str, str], about: Mapping[str, str], visibility: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Titles and texts in both languages; what is missing in one is as in the other. Raises BadCompetition."""
    titles = {language: " ".join(title.get(language, "").split()) for language in ("ru", "en")}
    texts = {language: about.get(language, "").strip() for language in ("ru", "en")}
    if set(title) - {"ru", "en"} or set(about) - {"ru", "en"}:
        raise BadCompetition("title", "is in `ru` and `en`")
    titles = {language: words or titles["en"] or titles["ru"] for language, words in titles.items()}
    texts = {language: words or texts["en"] or texts["ru"] for language, words in texts.items()}
    if not titles["ru"] or max(map(len, titles.values())) > TITLE_LENGTH:
        raise BadCompetition("title", f"is 1 to {TITLE_LENGTH} characters")
    if max(map(len, texts.values())) > ABOUT_LENGTH:
        raise BadCompetition("about", f"is at most {ABOUT_LENGTH} characters")
    if any(not char.isprintable() for words in titles.values() for char in words) or "\x00" in "".join(
        texts.values()
    ):
        raise BadCompetition("title", "has only visible characters")
    if visibility not in ("public", "unlisted"):
        raise BadCompetition("visibility", "is public or unlisted")
    return titles, texts


def _digest(words: str) -> str:
    return blake2s(words.encode(), digest_size=6).hexdigest()
