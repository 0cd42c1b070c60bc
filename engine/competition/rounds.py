"""Stages and rounds: drafted, edited, published, started, paused, closed, taken back (§12.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from engine.competition import commands, facts
from engine.competition.commands import EditRound, SeedStage, Start
from engine.competition.competition import Competition, Round, RoundState, Stage, State, apply, replay
from engine.competition.facts import Fact
from engine.competition.meeting import Pair
from engine.competition.pairing import couple
from engine.competition.settings import Swiss
from engine.competition.stages import (
    bye_for,
    draft,
    grouped,
    is_provisional,
    opening_of,
    swiss_field,
)
from engine.errors import BadPairings, BadSettings, NotNow

RoundCommand = (
    Start
    | SeedStage
    | commands.DraftRound
    | EditRound
    | commands.PublishRound
    | commands.ScheduleRound
    | commands.StartRound
    | commands.PauseRound
    | commands.ResumeRound
    | commands.ExtendRound
    | commands.CloseRound
    | commands.UndoRound
    | commands.Finish
)
_NEVER = ("twice", "stranger", "alone")  # faults that no reason excuses


def decide_round(competition: Competition, command: RoundCommand) -> tuple[Fact, ...]:
    """What comes of a wish about stages and rounds. Raises NotNow, BadPairings, BadSettings."""
    if isinstance(command, Start):
        return _start(competition, command)
    stage = _running(competition)
    match command:
        case commands.DraftRound(at, reason):
            return _draft(competition, at, insist=bool(reason.strip()))
        case SeedStage():
            return _seed_stage(stage, command)
        case commands.Finish(at):
            if _open_round(stage) or next_round(competition, at):
                raise NotNow("round-open", "There are rounds to be played.")
            return (facts.Finished(at),)
        case commands.UndoRound(by, reason, at) if stage.round is None:
            if stage.number == 1:
                raise NotNow("no-round", "There is no round to take back.")
            return (facts.StageUndone(stage.number, by, reason, at),)
    round_ = stage.round
    if round_ is None:
        raise NotNow("no-round", "No round is drafted.")
    where = stage.number, round_.number
    match command:
        case EditRound():
            return (_edited(competition, stage, round_, command),)
        case commands.PublishRound(at, start_at):
            _require(round_, RoundState.DRAFTED, "not-drafted")
            return (facts.RoundPublished(*where, start_at, at),)
        case commands.ScheduleRound(start_at, by, at):
            _require(round_, RoundState.PUBLISHED, "not-published")
            return (facts.RoundScheduled(*where, start_at, by, at),)
        case commands.StartRound(at):
            _require(round_, RoundState.PUBLISHED, "not-published")
            return (started(stage, round_, at),)
        case commands.PauseRound(by, reason, at):
            _require(round_, RoundState.STARTED, "not-started")
            if round_.paused_at is not None:
                raise NotNow("paused", "The round is paused.")
            return (facts.RoundPaused(*where, by, reason, at),)
        case commands.ResumeRound(by, at):
            if round_.paused_at is None:
                raise NotNow("not-paused", "The round is not paused.")
            return (facts.RoundResumed(*where, by, at),)
        case commands.ExtendRound(until, by, reason, at):
            _require(round_, RoundState.STARTED, "not-started")
            return (facts.RoundExtended(*where, until, by, reason, at),)
        case commands.CloseRound(at):
            return (_closed(stage, round_, at),)
        case commands.UndoRound(by, reason, at):
            if round_.has_started:
                raise NotNow("started", "The round has started.")
            return (facts.RoundUndone(*where, by, reason, at),)


def _running(competition: Competition) -> Stage:
    if competition.state in (State.FINISHED, State.CANCELLED):
        raise NotNow("over", "The competition is over.")
    if competition.state is not State.RUNNING or competition.stage is None:
        raise NotNow("not-running", "The competition has not started.")
    return competition.stage


def _require(round_: Round, state: RoundState, because: str) -> None:
    if round_.state is not state:
        raise NotNow(because, f"The round is {round_.state.value}.")


def _open_round(stage: Stage) -> Round | None:
    round_ = stage.round
    return round_ if round_ is not None and round_.state is not RoundState.CLOSED else None


def _start(competition: Competition, command: Start) -> tuple[Fact, ...]:
    if competition.state is not State.ENTRY:
        raise NotNow("not-running", "Only a competition that is open for entry can start.")
    changed = tuple(
        (entrant.number, strength)
        for entrant in competition.entrants
        if (strength := command.strengths.get(entrant.player, entrant.strength)) != entrant.strength
    )
    rated = (facts.EntrantsRated(changed, command.at),) if changed else ()
    seeds, groups = opening_of(replay(competition, rated), 1)
    if len(seeds) < 2:
        raise NotNow("too-few", "A competition needs two entrants.")
    return (*rated, facts.StageOpened(1, seeds, groups, command.at))


def _seed_stage(stage: Stage, command: SeedStage) -> tuple[Fact, ...]:
    if stage.rounds:
        raise NotNow("round-open", "A stage is seeded before its first round is drafted.")
    if sorted(command.seeds) != sorted(stage.seeds):
        raise BadPairings("stranger", "All entrants of the stage are seeded, and no others.")
    seeds, groups = grouped(stage.rules, command.seeds)
    return (facts.StageSeeded(stage.number, seeds, groups, command.by, command.reason, command.at),)


# ---------------------------------------------------------------------------------------------------- a new round


def _draft(competition: Competition, at: int, *, insist: bool) -> tuple[Fact, ...]:
    stage = _running(competition)
    if _open_round(stage):
        raise NotNow("round-open", "The last round is not closed.")
    if not insist and waits_for_analysis(competition):
        raise NotNow("analysis-missing", "Places hang on analyses that are not done yet.")
    found = next_round(competition, at)
    if not found:
        raise NotNow("stage-complete", "All rounds have been played.")
    return found


def next_round(competition: Competition, at: int) -> tuple[Fact, ...]:
    """The draft of the next round, with the stage that opens for it if one is complete; nothing after the last."""
    stage = competition.stage
    assert stage is not None
    found: tuple[Fact, ...] = ()
    while True:
        pairs = draft(competition, stage)
        if pairs is not None:
            faults = faults_of(competition, stage, [(each.a, each.b) for each in pairs])
            return (*found, facts.RoundDrafted(stage.number, len(stage.rounds) + 1, pairs, faults, at))
        if stage.number == len(competition.settings.stages):
            return ()
        seeds, groups = opening_of(competition, stage.number + 1)
        if len(seeds) < 2:
            return ()
        opened = facts.StageOpened(stage.number + 1, seeds, groups, at)
        competition = apply(competition, opened)
        stage, found = competition.stages[-1], (*found, opened)


def waits_for_analysis(competition: Competition) -> bool:
    """Whether the next round hangs on places, and those on analyses that are missing (§6.4)."""
    stage = competition.stage
    if stage is None or not stage.rounds:
        return False
    swiss_goes_on = isinstance(stage.rules, Swiss) and len(stage.rounds) < stage.rules.rounds
    stage_ends = stage.number < len(competition.settings.stages)
    by_objective = competition.settings.ranks_by == "objective_result"
    return (stage_ends or (swiss_goes_on and by_objective)) and is_provisional(competition, stage)


# -------------------------------------------------------------------------------------------------- edited by hand


def faults_of(
    competition: Competition, stage: Stage, pairs: Sequence[tuple[int, int | None]]
) -> tuple[str, ...]:
    """What is wrong with pairings of a stage's next round, each `kind:entrants`; empty if nothing is (§12.3).

    Of a Swiss all of it: twice, stranger and alone can never stand; left-out, repeat, forbidden, second-bye and
    two-byes may for a reason. Elsewhere only forbidden pairs that the schedule or the bracket has brought together.
    """
    forbidden = [
        f"forbidden:{a}-{b}" for a, b in pairs if b is not None and couple(a, b) in competition.forbidden
    ]
    if not isinstance(stage.rules, Swiss):
        return tuple(forbidden)
    before = replace(stage, rounds=tuple(round_ for round_ in stage.rounds if round_.has_started))
    field = swiss_field(competition, before)
    named = Counter(entrant for both in pairs for entrant in both if entrant is not None)
    there = set(field.ranking)
    byes = [a for a, b in pairs if b is None]
    fewest = min((field.byes[entrant] for entrant in there), default=0)
    return (
        *(f"twice:{entrant}" for entrant, times in named.items() if times > 1),
        *(f"stranger:{entrant}" for entrant in named if entrant not in there),
        *(f"alone:{a}" for a, b in pairs if a == b),
        *(f"left-out:{entrant}" for entrant in field.ranking if entrant not in named),
        *(f"repeat:{a}-{b}" for a, b in pairs if b is not None and field.met[couple(a, b)]),
        *forbidden,
        *(f"second-bye:{entrant}" for entrant in byes if field.byes[entrant] > fewest),
        *(f"two-byes:{entrant}" for entrant in byes[1:]),
    )


def _edited(competition: Competition, stage: Stage, round_: Round, command: EditRound) -> Fact:
    if not isinstance(stage.rules, Swiss):
        raise NotNow("not-swiss", "Only a Swiss is paired by hand; other stages are seeded by hand.")
    if round_.has_started:
        raise NotNow("started", "The round has started.")
    faults = faults_of(competition, stage, command.pairs)
    worst = [fault for fault in faults if fault.split(":")[0] in _NEVER]
    if worst or (faults and not command.reason.strip()):
        raise BadPairings(" ".join(worst or faults), "These pairings cannot stand, or not without a reason.")
    pairs = tuple(Pair(a, b) if b is not None else bye_for(competition, a) for a, b in command.pairs)
    return facts.RoundEdited(
        stage.number, round_.number, pairs, faults, command.by, command.reason, command.at
    )


# ------------------------------------------------------------------------------------------------ start and close


def started(stage: Stage, round_: Round, at: int) -> Fact:
    """The round starts now."""
    until = None if stage.rules.round_ms is None else at + stage.rules.round_ms
    return facts.RoundStarted(stage.number, round_.number, until, at)


def open_tables(stage: Stage, round_: Round) -> tuple[int, ...]:
    """The tables at which there is still something to play."""
    return tuple(meeting.ref.table for meeting in round_.meetings if meeting.verdict.is_open)


def _closed(stage: Stage, round_: Round, at: int) -> Fact:
    _require(round_, RoundState.STARTED, "not-started")
    tables = open_tables(stage, round_)
    if tables:
        names = ", ".join(map(str, tables))
        raise NotNow("matches-run", f"There is still something to play at {names}.", tables=names)
    return facts.RoundClosed(stage.number, round_.number, at)


def settings_after(competition: Competition, command: commands.ChangeSettings) -> Fact:
    """Other settings; once the competition runs, only what has not been used yet may be others."""
    if competition.state in (State.FINISHED, State.CANCELLED):
        raise NotNow("over", "The competition is over.")
    if competition.stages:
        now, then = competition.settings, command.settings
        for key in ("preset", "ruleset", "stages", "rank_by", "tie_breaks", "bye_points"):
            if getattr(now, key) != getattr(then, key):
                raise BadSettings(key, "stays as it was when the competition started")
    return facts.SettingsChanged(command.settings, command.by, command.at)
