"""What may happen in a competition: `decide` says what a wish causes, `next_deadline` when time will cause something.

Commands are wishes and carry the time; facts are what came of them. What follows by itself (a round that starts at its
time, opponents of those who have left, the next round of a competition that runs by itself) happens in the same breath.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from engine.competition import commands, facts
from engine.competition.commands import Command, Tick
from engine.competition.competition import (
    Competition,
    Entrant,
    Round,
    RoundState,
    Stage,
    State,
    Status,
    apply,
    replay,
)
from engine.competition.entry import EntryCommand, decide_entry
from engine.competition.facts import Fact
from engine.competition.meeting import Ending, MatchResult, Meeting, Ref, match_id, place_of
from engine.competition.rounds import (
    RoundCommand,
    decide_round,
    next_round,
    open_tables,
    settings_after,
    started,
    waits_for_analysis,
)
from engine.competition.stages import entry_order, opening_of
from engine.errors import BadDecision, BadResult, NotNow

ANALYSIS_PATIENCE_MS = 600_000  # a competition that runs by itself waits so long for analyses after a round

_NEED_A_REASON = (
    commands.Cancel
    | commands.Decline
    | commands.Ban
    | commands.Substitute
    | commands.ForbidPair
    | commands.Penalise
    | commands.SeedStage
    | commands.PauseRound
    | commands.ExtendRound
    | commands.UndoRound
    | commands.CorrectResult
    | commands.RuleMeeting
)


def decide(competition: Competition, command: Command) -> tuple[Fact, ...]:
    """The facts that accepting `command` causes. Raises RuleError, and then nothing happened."""
    return unfold(competition, command)[0]


def unfold(competition: Competition, command: Command) -> tuple[tuple[Fact, ...], Competition]:
    """The facts of `decide`, and the competition after them: what `replay` of them gives.

    What is due by the command's time happens first, in order, and what follows from it afterwards.
    """
    story = _Story(competition)
    story.catch_up(command.at)
    story.tell(*_accept(story.competition, command))
    story.tell(*_forfeits(story.competition, command.at))
    story.catch_up(command.at)
    return tuple(story.facts), story.competition


class _Story:
    """Facts that follow from one another, and the competition as it stands after them."""

    def __init__(self, competition: Competition) -> None:
        self.competition = competition
        self.facts: list[Fact] = []

    def tell(self, *happened: Fact) -> None:
        for fact in happened:
            self.facts.append(fact)
            self.competition = apply(self.competition, fact)

    def catch_up(self, now: int) -> None:
        while (due := _next_due(self.competition)) is not None and due.at <= now:
            self.tell(*due.facts(now))
            self.tell(*_forfeits(self.competition, now))


def _accept(competition: Competition, command: Command) -> tuple[Fact, ...]:
    if isinstance(command, _NEED_A_REASON) and not command.reason.strip():
        raise BadDecision("no-reason", "An organiser gives a reason.")
    match command:
        case commands.OpenEntry(by, at):
            if competition.state is not State.ANNOUNCED:
                raise NotNow("already-open", "Entry is open already, or over.")
            return (facts.EntryOpened(by, at),)
        case commands.ChangeSettings():
            return (settings_after(competition, command),)
        case commands.Cancel(by, reason, at):
            if competition.state in (State.FINISHED, State.CANCELLED):
                raise NotNow("over", "The competition is over.")
            return (facts.Cancelled(by, reason, at),)
        case commands.ReportResult():
            return _report(competition, command)
        case commands.ReportObjective():
            return _report_objective(competition, command)
        case commands.ReportAbsence():
            return (_absence(competition, command),)
        case commands.CorrectResult():
            return (_correct(competition, command),)
        case commands.RuleMeeting():
            return (_rule(competition, command),)
        case _ if isinstance(command, RoundCommand):
            return decide_round(competition, command)
        case _ if isinstance(command, EntryCommand):
            return decide_entry(competition, command)
        case Tick():
            return ()


# ------------------------------------------------------------------------------------------------- what is due


@dataclass(frozen=True, slots=True)
class _Due:
    """What happens by itself at a time (ms) unless something else happens first."""

    at: int
    facts: Callable[[int], Iterable[Fact]]  # given the time at which it is done


def next_deadline(competition: Competition) -> int | None:
    """When a Tick will have something to do (ms), if nothing happens before; 0: at once."""
    due = _next_due(competition)
    return due.at if due else None


def _next_due(competition: Competition) -> _Due | None:
    by_itself = competition.settings.pace.mode == "auto"
    if competition.state is State.ENTRY and by_itself and competition.settings.starts_at is not None:
        return _Due(competition.settings.starts_at, lambda now: _starts(competition, now))
    stage = competition.stage
    if competition.state is not State.RUNNING or stage is None:
        return None
    round_ = stage.round
    if round_ is not None and round_.state is RoundState.PUBLISHED:
        start_at = round_.start_at
        return None if start_at is None else _Due(start_at, lambda now: (started(stage, round_, now),))
    if not by_itself or (round_ is not None and round_.state is RoundState.DRAFTED):
        return None
    if round_ is not None and round_.state is RoundState.STARTED:
        if round_.paused_at is not None or open_tables(stage, round_):
            return None
        return _Due(0, lambda now: (facts.RoundClosed(stage.number, round_.number, now),))
    closed_at = 0 if round_ is None or round_.closed_at is None else round_.closed_at
    waits = ANALYSIS_PATIENCE_MS if waits_for_analysis(competition) else 0
    return _Due(closed_at + waits, lambda now: _goes_on(competition, round_, now))


def _starts(competition: Competition, now: int) -> tuple[Fact, ...]:
    if len(entry_order(competition)) < 2:
        return (facts.Cancelled(None, facts.TOO_FEW, now),)
    return (facts.StageOpened(1, *opening_of(competition, 1), now),)


def _goes_on(competition: Competition, last: Round | None, now: int) -> tuple[Fact, ...]:
    """The next round is published, to start after the break; or everything is over."""
    drafted = next_round(competition, now)
    if not drafted:
        return (facts.Finished(now),)
    rest = 0 if last is None else competition.settings.pace.break_ms
    stage = drafted[-1].stage  # type: ignore[union-attr]
    number = drafted[-1].round  # type: ignore[union-attr]
    return (*drafted, facts.RoundPublished(stage, number, now + rest, now))


def _forfeits(competition: Competition, at: int) -> tuple[Fact, ...]:
    """Meetings that end because somebody of them has left: his match had not begun, or he was thrown out (§12.6)."""
    stage, round_ = competition.stage, competition.round
    if stage is None or round_ is None or round_.state is not RoundState.STARTED:
        return ()
    found = []
    for meeting in round_.meetings:
        gone = [competition.entrant(number) for number in meeting.pair.entrants]
        gone = [entrant for entrant in gone if _is_missed(entrant, meeting)]
        if gone and meeting.verdict.is_open:
            banned = any(entrant.status is Status.BANNED for entrant in gone)
            absent = tuple(entrant.number for entrant in gone)
            found.append(facts.MeetingForfeited(meeting.ref, absent, "banned" if banned else "withdrawn", at))
    return tuple(found)


def _is_missed(entrant: Entrant, meeting: Meeting) -> bool:
    if entrant.status is Status.BANNED:
        return True
    left_at = entrant.left_at
    return entrant.status is Status.WITHDRAWN and left_at is not None and left_at <= meeting.waiting_since


# ------------------------------------------------------------------------------------------------------- matches


def _found(competition: Competition, match: str) -> tuple[Round, Meeting, int]:
    """Where a match of this competition belongs. Raises BadResult."""
    place = place_of(match)
    meeting = competition.meeting(place[0]) if place else None
    if (
        place is None
        or meeting is None
        or match != match_id(competition.id, *place)
        or meeting.pair.b is None
    ):
        raise BadResult("no-such-match", f"{match} is no match of this competition.", match=match)
    return competition.stages[meeting.ref.stage - 1].rounds[meeting.ref.round - 1], meeting, place[1]


def _report(competition: Competition, command: commands.ReportResult) -> tuple[Fact, ...]:
    result = command.result
    round_, meeting, number = _found(competition, result.match)
    known = competition.result(result.match)
    if known is not None:
        if replace(known, objective_for_A=None) == replace(result, objective_for_A=None):
            return ()
        raise BadResult("already-reported", "This match has another result.", match=result.match)
    if competition.state is not State.RUNNING or not round_.has_started or number != meeting.next_number:
        raise BadResult("not-due", "This match is not to be played now.", match=result.match)
    if not meeting.verdict.is_open:
        raise BadResult("decided", "This meeting is decided.", match=result.match)
    return (facts.ResultReported(result, command.at),)


def _report_objective(competition: Competition, command: commands.ReportObjective) -> tuple[Fact, ...]:
    known = competition.result(command.match)
    if known is None or known.ending is not Ending.PLAYED:
        raise BadResult("no-such-match", "There is nothing to analyse.", match=command.match)
    if known.objective_for_A == command.objective_for_A:
        return ()
    return (facts.ObjectiveFound(command.match, command.objective_for_A, command.judge, command.at),)


def _absence(competition: Competition, command: commands.ReportAbsence) -> Fact:
    _, round_, meeting = _at(competition, command.ref)
    if round_.state is not RoundState.STARTED or round_.paused_at is not None:
        raise NotNow("not-started", "The round does not run.")
    if not command.absent or not set(command.absent) <= set(meeting.pair.entrants):
        raise BadResult("no-such-match", "These are not the entrants of this meeting.")
    if not meeting.verdict.is_open:
        raise BadResult("decided", "This meeting is decided.")
    from_then = meeting.waiting_since + 1000 * competition.settings.no_show_s
    if command.at < from_then:
        raise NotNow("too-early", "They may still come.", until=from_then)
    return facts.MeetingForfeited(meeting.ref, command.absent, "no-show", command.at)


def _at(competition: Competition, ref: Ref) -> tuple[Stage, Round, Meeting]:
    meeting = competition.meeting(ref)
    if meeting is None or meeting.pair.b is None:
        raise BadResult("no-such-match", "There is no such meeting.")
    stage = competition.stages[ref.stage - 1]
    return stage, stage.rounds[ref.round - 1], meeting


def _correct(competition: Competition, command: commands.CorrectResult) -> Fact:
    _, meeting, _ = _found(competition, command.result.match)
    known = competition.result(command.result.match)
    if known is None:
        raise BadResult("not-due", "This match has no result yet.", match=command.result.match)
    result: MatchResult = command.result
    if result.objective_for_A is None and result.ending is Ending.PLAYED:
        result = replace(result, objective_for_A=known.objective_for_A)
    fact = facts.ResultCorrected(result, command.by, command.reason, command.at)
    _check_depends(competition, meeting.ref, fact)
    return fact


def _rule(competition: Competition, command: commands.RuleMeeting) -> Fact:
    stage, round_, meeting = _at(competition, command.ref)
    if not round_.has_started:
        raise NotNow("not-started", "The round has not started.")
    if command.winner is not None and command.winner not in (meeting.pair.a, meeting.pair.b):
        raise BadResult("no-such-match", "The winner is one of the two.")
    if command.winner is None and stage.terms.knock_out:
        raise BadResult("needs-winner", "A knock-out needs a winner.")
    fact = facts.MeetingRuled(
        meeting.ref, command.points_for_a, command.winner, command.by, command.reason, command.at
    )
    _check_depends(competition, meeting.ref, fact)
    return fact


def _check_depends(competition: Competition, ref: Ref, fact: Fact) -> None:
    """Refuses to change what something that has happened since hangs on."""
    if competition.state is not State.RUNNING or ref.stage != len(competition.stages):
        raise NotNow("depended-on", "What came after this stage hangs on its results.")
    stage = competition.stages[ref.stage - 1]
    after = replay(competition, [fact]).stages[ref.stage - 1]
    place = ref.round - 1, ref.table - 1
    was = stage.rounds[place[0]].meetings[place[1]].verdict
    will_be = after.rounds[place[0]].meetings[place[1]].verdict
    if will_be.is_open and stage.rounds[place[0]].state is RoundState.CLOSED:
        raise NotNow("depended-on", "The round is closed, and this would leave a match to be played.")
    if stage.terms.knock_out and was.winner != will_be.winner and ref.round < len(stage.rounds):
        raise NotNow("depended-on", "The next round hangs on who has won here.")
