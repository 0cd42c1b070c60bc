"""Who takes part: entering, leaving, being thrown out, seeds and penalties (§12.6)."""

from __future__ import annotations

from engine.competition import commands, facts
from engine.competition.commands import Ban, Register, Rejoin, Substitute
from engine.competition.competition import Competition, Entrant, RoundState, State, Status
from engine.competition.facts import Fact
from engine.errors import EntryRefused, NotNow

EntryCommand = (
    commands.Invite
    | Register
    | commands.Approve
    | commands.Decline
    | commands.CheckIn
    | commands.Withdraw
    | Rejoin
    | Ban
    | Substitute
    | commands.Seed
    | commands.ForbidPair
    | commands.Penalise
)


def decide_entry(competition: Competition, command: EntryCommand) -> tuple[Fact, ...]:
    """What comes of a wish about entrants. Raises EntryRefused, NotNow."""
    if competition.state in (State.FINISHED, State.CANCELLED):
        raise NotNow("over", "The competition is over.")
    match command:
        case Register():
            return _register(competition, command)
        case commands.Invite(player, by, at):
            return () if player in competition.invited else (facts.PlayerInvited(player, by, at),)
        case commands.Approve(number, by, at):
            _asked(competition, number)
            if competition.stages and not may_come_late(competition):
                raise EntryRefused("too-late", "The competition has started.")
            _check_room(competition)
            return (facts.EntrantApproved(number, by, at), *_joins(competition, number, at))
        case commands.Decline(number, by, reason, at):
            _asked(competition, number)
            return (facts.EntrantDeclined(number, by, reason, at),)
        case commands.CheckIn(number, at):
            return _check_in(competition, number, at)
        case commands.Withdraw(number, by, at, reason):
            status = _entrant(competition, number).status
            if status is Status.WITHDRAWN:
                return ()
            if status not in (Status.ENTERED, Status.ASKED):
                raise EntryRefused("not-entered", "This entrant is not in the competition.")
            return (facts.EntrantWithdrew(number, by, reason, at),)
        case Rejoin(number, by, at):
            return _rejoin(competition, _entrant(competition, number), by, at)
        case Ban(number, by, reason, at):
            banned = _entrant(competition, number).status is Status.BANNED
            return () if banned else (facts.EntrantBanned(number, by, reason, at),)
        case Substitute():
            return _substitute(competition, command)
        case commands.Seed(number, seed, by, at):
            _entrant(competition, number)
            if competition.stages:
                raise EntryRefused("already-started", "Seeds are given before the start.")
            return (facts.EntrantSeeded(number, seed, by, at),)
        case commands.ForbidPair(first, second, by, reason, at, forbidden):
            _entrant(competition, first)
            if _entrant(competition, second).number == first:
                raise EntryRefused("no-such-entrant", "A pair are two entrants.")
            return (facts.PairForbidden(first, second, forbidden, by, reason, at),)
        case commands.Penalise():
            return _penalise(competition, command)


def _entrant(competition: Competition, number: int) -> Entrant:
    if not 1 <= number <= len(competition.entrants):
        raise EntryRefused("no-such-entrant", f"There is no entrant {number}.", entrant=number)
    return competition.entrant(number)


def _asked(competition: Competition, number: int) -> None:
    if _entrant(competition, number).status is not Status.ASKED:
        raise EntryRefused("not-entered", "This entrant does not wait for approval.")


def _check_room(competition: Competition) -> None:
    capacity = competition.settings.entry.capacity
    if capacity is not None and sum(entrant.plays for entrant in competition.entrants) >= capacity:
        raise EntryRefused("full", "All places are taken.", capacity=capacity)


def may_come_late(competition: Competition) -> bool:
    """Whether a late entrant could be in the next round that is drafted (§12.6)."""
    if competition.state is not State.RUNNING or len(competition.stages) != 1:
        return False
    return len(competition.stages[0].rounds) < competition.settings.entry.late_rounds


def _register(competition: Competition, command: Register) -> tuple[Fact, ...]:
    known = competition.entrant_of(command.player)
    if known is not None:
        if known.status is Status.BANNED:
            raise EntryRefused("banned", "This player was thrown out.")
        if known.status is Status.DECLINED:
            raise EntryRefused("declined", "The organisers have not let this player in.")
        back = known.status is Status.WITHDRAWN
        return _rejoin(competition, known, command.by or command.player, command.at) if back else ()
    _check_open(competition, command)
    _check_room(competition)
    approved = competition.settings.entry.mode != "approved" or command.by is not None
    number = len(competition.entrants) + 1
    entered = facts.EntrantRegistered(number, command.player, command.strength, approved, command.at)
    return (entered, *_joins(competition, number, command.at)) if approved else (entered,)


def _check_open(competition: Competition, command: Register) -> None:
    entry = competition.settings.entry
    if competition.state is State.ANNOUNCED:
        raise EntryRefused("not-open", "Entry has not opened yet.")
    if competition.state is State.RUNNING and not may_come_late(competition):
        raise EntryRefused("too-late", "The competition has started.")
    if command.by is not None:
        return
    if entry.closes_at is not None and command.at > entry.closes_at and not may_come_late(competition):
        raise EntryRefused("too-late", "Entry is closed.", closed_at=entry.closes_at)
    if entry.mode == "invited" and command.player not in competition.invited:
        raise EntryRefused("not-invited", "This competition is by invitation.")
    if entry.mode == "code" and command.code != entry.code:
        raise EntryRefused("wrong-code", "The code is not the right one.")


def _joins(competition: Competition, number: int, at: int) -> tuple[Fact, ...]:
    """Whoever comes in while the first stage runs takes part in it."""
    return (facts.StageJoined(1, number, at),) if may_come_late(competition) else ()


def _check_in(competition: Competition, number: int, at: int) -> tuple[Fact, ...]:
    entrant, settings = _entrant(competition, number), competition.settings
    if entrant.checked_in:
        return ()
    if settings.entry.check_in_ms is None or settings.starts_at is None:
        raise EntryRefused("no-check-in", "This competition has no check-in.")
    if competition.stages:
        raise EntryRefused("already-started", "The competition has started.")
    if not entrant.plays:
        raise EntryRefused("not-entered", "This entrant is not in the competition.")
    opens_at = settings.starts_at - settings.entry.check_in_ms
    if at < opens_at:
        raise EntryRefused("no-check-in", "Check-in has not opened yet.", opens_at=opens_at)
    return (facts.EntrantCheckedIn(number, at),)


def _rejoin(competition: Competition, entrant: Entrant, by: str, at: int) -> tuple[Fact, ...]:
    """Back from the next round on; whoever missed the start may come in as late entrants do."""
    stage = competition.stage
    taking_part = stage is not None and entrant.number in stage.seeds
    if entrant.plays and (stage is None or taking_part):
        return ()
    if entrant.status not in (Status.ENTERED, Status.WITHDRAWN):
        raise EntryRefused("not-entered", "This entrant cannot come back.")
    if stage is not None and not taking_part and not may_come_late(competition):
        raise EntryRefused("too-late", "This entrant's part of the competition is over.")
    if not entrant.plays:
        _check_room(competition)
    back: tuple[Fact, ...] = () if entrant.plays else (facts.EntrantReturned(entrant.number, by, at),)
    return back if taking_part else (*back, *_joins(competition, entrant.number, at))


def _substitute(competition: Competition, command: Substitute) -> tuple[Fact, ...]:
    entrant = _entrant(competition, command.entrant)
    if entrant.status not in (Status.ENTERED, Status.ASKED):
        raise EntryRefused("not-entered", "This entrant is not in the competition.")
    if competition.entrant_of(command.player) is not None:
        raise EntryRefused("already-in", "This player has a place in the competition already.")
    stage, round_ = competition.stage, competition.round
    if stage is not None and round_ is not None and round_.state is RoundState.STARTED:
        for meeting in round_.meetings:
            if entrant.number in meeting.pair.entrants and meeting.verdict.is_open:
                raise NotNow(
                    "matches-run", "This entrant has a match to play.", tables=str(meeting.ref.table)
                )
    return (
        facts.EntrantReplaced(
            entrant.number, command.player, command.strength, command.by, command.reason, command.at
        ),
    )


def _penalise(competition: Competition, command: commands.Penalise) -> tuple[Fact, ...]:
    stage = competition.stage
    if stage is None or _entrant(competition, command.entrant).number not in stage.seeds:
        raise EntryRefused("not-entered", "This entrant does not play in this stage.")
    if min(command.match_points, command.points) < 0 or not command.match_points + command.points:
        raise NotNow("nothing-taken", "A penalty takes something.")
    return (
        facts.PenaltyGiven(
            command.entrant,
            stage.number,
            command.match_points,
            command.points,
            command.by,
            command.reason,
            command.at,
        ),
    )
