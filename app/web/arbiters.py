"""Organisers over HTTP: rounds, matches, tables, and what is read and taken away of an event."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.service.arbiter import Estimate, Ordered
from app.service.competition_views import Standings
from app.service.competitions import Done
from app.service.event_file import AuditPage, EventFile, MatchesPage, MatchNow
from app.service.instants import instant
from app.service.recompute import Recomputed
from app.web.accounts import json_answer
from app.web.openapi import PROBLEM, Bracket, CrossTables, Dice, Notes, NoteShown, RoundsView, answers
from app.web.organisers import Cursor, Limit
from app.web.organising import Arbiter, Observer, Owner
from app.web.wishes import (
    AdjudicationBody,
    NoteBody,
    PairingsBody,
    PerhapsReason,
    ReasonBody,
    ResultBody,
    RulingBody,
    SeedsBody,
    StartBody,
    TimeBody,
    UntilBody,
)
from engine.competition import commands

router = APIRouter(prefix="/api/admin/v1/events/{event}", responses=PROBLEM)
_rounds: list[str | Enum] = ["rounds"]
_matches: list[str | Enum] = ["arbiter"]
_tables: list[str | Enum] = ["standings"]
_files: list[str | Enum] = ["records"]


# ----------------------------------------------------------------------------------------------------------- rounds


@router.get("/rounds", summary="Stages and rounds", tags=_rounds, responses=answers(RoundsView))
async def rounds(call: Observer, event: str) -> Response:
    """With the draft and its faults. `ETag` is the event's version."""
    view = await call.of.competitions.organiser_view(event)
    answer = json_answer(RoundsView(view.version, view.view.stages, view.draft))
    answer.headers["ETag"] = f'"{view.version}"'
    return answer


@router.post(
    "/rounds", status_code=201, summary="Draft the next round", tags=_rounds, responses=answers(Done, 201)
)
async def draft(call: Owner, event: str, body: PerhapsReason | None = None) -> Response:
    """Opens the next stage when one is complete. With a reason it goes on though analyses are missing.

    Problems: `not-now`, `plays-here`, `stale-version`, `key-used`.
    """
    reason = body.reason if body else ""
    return await call.act(event, lambda at: commands.DraftRound(at, reason), 201)


@router.put("/round/pairings", summary="Pair by hand", tags=_rounds, responses=answers(Done))
async def edit(call: Owner, event: str, body: PairingsBody) -> Response:
    """A Swiss round that has not started. Problems: `bad-pairings`, `not-now`, `plays-here`, `stale-version`."""
    pairs = tuple(body.pairs)
    return await call.act(event, lambda at: commands.EditRound(pairs, call.actor, at, body.reason))


@router.put("/stage/seeds", summary="Seed a stage by hand", tags=_rounds, responses=answers(Done))
async def seed_stage(call: Owner, event: str, body: SeedsBody) -> Response:
    """Before its first round is drafted. Problems: `bad-pairings`, `not-now`, `plays-here`, `stale-version`."""
    seeds = tuple(body.seeds)
    return await call.act(event, lambda at: commands.SeedStage(seeds, call.actor, body.reason, at))


@router.post("/round/publish", summary="Show the draft to all", tags=_rounds, responses=answers(Done))
async def publish(call: Owner, event: str, body: StartBody | None = None) -> Response:
    """To start at a time, or by hand. Problems: `bad-time`, `not-now`, `stale-version`."""
    start_at = _at(body)
    return await call.act(event, lambda at: commands.PublishRound(at, start_at))


@router.post("/round/schedule", summary="Start at another time", tags=_rounds, responses=answers(Done))
async def schedule(call: Owner, event: str, body: StartBody) -> Response:
    """Or, with null, by hand. Problems: `bad-time`, `not-now`, `stale-version`."""
    start_at = _at(body)
    return await call.act(event, lambda at: commands.ScheduleRound(start_at, call.actor, at))


@router.post("/round/start", summary="Let its matches begin", tags=_rounds, responses=answers(Done))
async def start(call: Owner, event: str) -> Response:
    """Problems: `not-now`, `stale-version`."""
    return await call.act(event, commands.StartRound)


@router.post("/round/pause", summary="Let no further match begin", tags=_rounds, responses=answers(Done))
async def pause_round(call: Arbiter, event: str, body: ReasonBody) -> Response:
    """Problems: `not-now`, `bad-decision`, `stale-version`."""
    return await call.act(event, lambda at: commands.PauseRound(call.actor, body.reason, at))


@router.post("/round/resume", summary="Let it go on", tags=_rounds, responses=answers(Done))
async def resume_round(call: Arbiter, event: str) -> Response:
    """Problems: `not-now`, `stale-version`."""
    return await call.act(event, lambda at: commands.ResumeRound(call.actor, at))


@router.post("/round/extend", summary="Let it last longer", tags=_rounds, responses=answers(Done))
async def extend(call: Arbiter, event: str, body: UntilBody) -> Response:
    """Problems: `bad-time`, `not-now`, `bad-decision`, `plays-here`, `stale-version`."""
    until = instant(body.until, body.zone)
    return await call.act(event, lambda at: commands.ExtendRound(until, call.actor, body.reason, at))


@router.post("/round/close", summary="End it", tags=_rounds, responses=answers(Done))
async def close(call: Owner, event: str) -> Response:
    """If all is played; else `not-now` names the tables that are not. Problems: `not-now`, `round-is-open`,
    `stale-version`.
    """
    return await call.make(
        lambda: call.of.competitions.close_round(event, actor=call.actor, key=call.key(), expect=call.expect)
    )


@router.post("/round/undo", summary="Take it back", tags=_rounds, responses=answers(Done))
async def undo(call: Owner, event: str, body: ReasonBody) -> Response:
    """While nothing of it has started. Problems: `not-now`, `bad-decision`, `plays-here`, `stale-version`."""
    return await call.act(event, lambda at: commands.UndoRound(call.actor, body.reason, at))


def _at(body: StartBody | None) -> int | None:
    return None if body is None or body.start_at is None else instant(body.start_at, body.zone)


# ---------------------------------------------------------------------------------------------------------- matches


@router.get("/matches", summary="Matches", tags=_matches, responses=answers(MatchesPage))
async def matches(
    call: Observer,
    event: str,
    state: Annotated[str | None, Query(pattern="^(playing|over)$")] = None,
    stage: Annotated[int | None, Query(ge=1)] = None,
    round: Annotated[int | None, Query(ge=1)] = None,
    entrant: Annotated[int | None, Query(ge=1)] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """In the order of stages, rounds and tables. Problems: `bad-cursor`."""
    page = await call.of.event_files.matches(
        event, state=state, stage=stage, round_=round, entrant=entrant, limit=limit, cursor=cursor
    )
    return json_answer(page)


@router.get("/matches/{match}", summary="One match", tags=_matches, responses=answers(MatchNow))
async def match(call: Observer, event: str, match: str) -> Response:
    """And how far it is, but nothing of its open phase. Problems: `no-such-match`, `round-is-open`."""
    return json_answer(await call.of.event_files.match(event, match))


@router.post("/matches/{match}/pause", summary="Pause it", tags=_matches, responses=answers(Ordered))
async def pause(call: Arbiter, event: str, match: str, body: ReasonBody) -> Response:
    """From the end of the phase; ends by itself. Problems: `no-such-match`, `stale-version`, `round-is-open`,
    `plays-here`, `match-over`, `bad-decision`.
    """

    async def do() -> Ordered:
        await call.of.arbiter.pause(event, match, body.reason, actor=call.actor, key=call.key())
        return Ordered(match, "pause")

    return await call.order(event, do)


@router.post("/matches/{match}/resume", summary="Let it go on", tags=_matches, responses=answers(Ordered))
async def resume(call: Arbiter, event: str, match: str, body: ReasonBody) -> Response:
    """Problems: `no-such-match`, `stale-version`, `round-is-open`, `plays-here`, `match-over`, `bad-decision`."""

    async def do() -> Ordered:
        await call.of.arbiter.resume(event, match, body.reason, actor=call.actor, key=call.key())
        return Ordered(match, "resume")

    return await call.order(event, do)


@router.post(
    "/matches/{match}/add-time", summary="Give a player time", tags=_matches, responses=answers(Ordered)
)
async def add_time(call: Arbiter, event: str, match: str, body: TimeBody) -> Response:
    """Problems: `no-such-match`, `stale-version`, `round-is-open`, `plays-here`, `match-over`, `bad-decision`,
    `key-used`.
    """

    async def do() -> Ordered:
        await call.of.arbiter.add_time(
            event, match, body.seat, body.seconds * 1_000, body.reason, actor=call.actor, key=call.key()
        )
        return Ordered(match, "add-time")

    return await call.order(event, do)


@router.post(
    "/matches/{match}/void", summary="It counts for nothing", tags=_matches, responses=answers(Ordered)
)
async def void(call: Arbiter, event: str, match: str, body: ReasonBody) -> Response:
    """A match that runs; another is played for it, on new dice. Problems: `no-such-match`, `stale-version`,
    `round-is-open`, `plays-here`, `match-over`, `bad-decision`.
    """

    async def do() -> Ordered:
        await call.of.arbiter.void(event, match, body.reason, actor=call.actor, key=call.key())
        return Ordered(match, "void")

    return await call.order(event, do)


@router.post("/matches/{match}/result", summary="Set its result", tags=_matches, responses=answers(Ordered))
async def result(call: Arbiter, event: str, match: str, body: ResultBody) -> Response:
    """Of a match that runs, or that is over. Problems: `no-such-match`, `stale-version`, `round-is-open`, `plays-here`,
    `bad-result`, `not-now`, `bad-decision`.
    """

    async def do() -> Ordered:
        await call.of.arbiter.decide(
            event, match, body.points_for_A, body.reason, actor=call.actor, key=call.key()
        )
        return Ordered(match, "result")

    return await call.order(event, do)


@router.get(
    "/matches/{match}/estimate", summary="What it stands at", tags=_matches, responses=answers(Estimate)
)
async def estimate(call: Arbiter, event: str, match: str) -> Response:
    """As at the end of the last finished round, before an adjudication. Problems: `no-such-match`, `not-started`,
    `round-is-open`.
    """
    return json_answer(await call.of.arbiter.estimate(event, match))


@router.post(
    "/matches/{match}/adjudicate", summary="Adjudicate it", tags=_matches, responses=answers(Ordered)
)
async def adjudicate(call: Arbiter, event: str, match: str, body: AdjudicationBody) -> Response:
    """After a look at the estimate, whose `confirm` it gives back. Problems: `not-confirmed`, `no-such-match`,
    `stale-version`, `not-started`, `round-is-open`, `plays-here`, `match-over`, `bad-decision`.
    """

    async def do() -> Ordered:
        await call.of.arbiter.adjudicate(
            event, match, body.points_for_A, body.reason, body.confirm, actor=call.actor, key=call.key()
        )
        return Ordered(match, "adjudicate")

    return await call.order(event, do)


@router.post("/matches/{match}/replay", summary="Play it again", tags=_matches, responses=answers(Ordered))
async def replay(call: Arbiter, event: str, match: str, body: ReasonBody) -> Response:
    """On new dice; what was played counts for nothing. Problems: `no-such-match`, `stale-version`, `round-is-open`,
    `plays-here`, `not-now`, `bad-decision`, `key-used`.
    """

    async def do() -> Ordered:
        await call.of.arbiter.decide(event, match, None, body.reason, actor=call.actor, key=call.key())
        return Ordered(match, "replay")

    return await call.order(event, do)


@router.post(
    "/meetings/{stage}-{round}-{table}/result",
    summary="Decide a meeting as a whole",
    tags=_matches,
    responses=answers(Done),
)
async def rule(call: Arbiter, event: str, stage: int, round: int, table: int, body: RulingBody) -> Response:
    """Also one that is over. Problems: `bad-result`, `not-now`, `bad-decision`, `plays-here`, `stale-version`."""
    return await call.make(
        lambda: call.of.competitions.rule_meeting(
            event,
            (stage, round, table),
            body.points_for_a,
            body.winner,
            body.reason,
            actor=call.actor,
            key=call.key(),
            expect=call.expect,
        )
    )


@router.get("/notes", summary="Arbiters' notes", tags=_matches, responses=answers(Notes))
async def notes(
    call: Observer, event: str, match: Annotated[str | None, Query(max_length=80)] = None
) -> Response:
    """Perhaps those about one match."""
    found = await call.of.competitions.notes(event)
    return json_answer(
        Notes(
            [
                NoteShown(note.number, note.match, note.by, note.at, note.text)
                for note in found
                if match in (None, note.match)
            ]
        )
    )


@router.post(
    "/notes",
    status_code=201,
    summary="Write something down",
    tags=_matches,
    responses=answers(NoteShown, 201),
)
async def add_note(call: Arbiter, event: str, body: NoteBody) -> Response:
    """Problems: `bad-result`, `bad-competition`, `stale-version`, `key-used`."""

    async def do() -> NoteShown:
        note = await call.of.competitions.add_note(event, body.text, actor=call.actor, match=body.match)
        return NoteShown(note.number, note.match, note.by, note.at, note.text)

    return await call.order(event, do, 201)


# -------------------------------------------------------------------------------------------------------- standings


@router.get(
    "/stages/{stage}/standings", summary="A stage's table", tags=_tables, responses=answers(Standings)
)
async def standings(call: Observer, event: str, stage: int) -> Response:
    """Each number with where it comes from. Problems: `no-such-competition` for a stage that has not opened."""
    return json_answer(await call.of.competitions.standings(event, stage))


@router.get(
    "/stages/{stage}/cross-table",
    summary="A stage's cross-tables",
    tags=_tables,
    responses=answers(CrossTables),
)
async def cross_table(call: Observer, event: str, stage: int) -> Response:
    """Problems: `no-such-competition` for a stage that has not opened."""
    return json_answer(CrossTables(await call.of.competitions.cross_tables(event, stage)))


@router.get("/stages/{stage}/bracket", summary="A stage's bracket", tags=_tables, responses=answers(Bracket))
async def bracket(call: Observer, event: str, stage: int) -> Response:
    """Problems: `no-such-competition` for a stage that has not opened."""
    return json_answer(Bracket((await call.of.competitions.standings(event, stage)).bracket))


# ---------------------------------------------------------------------------------------------------------- records


@router.get("/audit", summary="The log", tags=_files, responses=answers(AuditPage))
async def audit(
    call: Observer,
    event: str,
    actor: Annotated[str | None, Query(max_length=40, description="An account, or `server`.")] = None,
    what: Annotated[str | None, Query(max_length=40)] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """Who, when, before, after, why. Problems: `bad-cursor`."""
    page = await call.of.event_files.audit(event, actor=actor, what=what, limit=limit, cursor=cursor)
    return json_answer(page)


@router.get(
    "/audit.csv",
    summary="The log as CSV",
    tags=_files,
    response_class=Response,
    responses={200: {"description": "A line for each change.", "content": {"text/csv": {}}}},
)
async def audit_csv(call: Observer, event: str) -> Response:
    """All of it, a line for each change."""
    text = await call.of.event_files.audit_csv(event)
    return Response(
        text.encode("utf-8-sig"),
        media_type="text/csv",
        headers={"Content-Disposition": f'attachment; filename="{event}-audit.csv"'},
    )


@router.get("/dice", summary="The dice, to be checked", tags=_files, responses=answers(Dice))
async def dice(call: Observer, event: str) -> Response:
    """Of a qualifying's boards, once their round is closed, and of matches that are over."""
    return json_answer(
        Dice(await call.of.competitions.boards(event), await call.of.event_files.records(event))
    )


@router.get("/recompute", summary="Compute it again", tags=_files, responses=answers(Recomputed))
async def recompute(call: Observer, event: str) -> Response:
    """Whether all that is stored and shown is what the matches and facts give. Problems: `round-is-open`."""
    return json_answer(await call.of.event_files.recomputed(event))


@router.get("/export", summary="All of it in one file", tags=_files, responses=answers(EventFile))
async def export(call: Observer, event: str) -> Response:
    """Settings, entrants, rounds, tables, dice, notes and the log."""
    answer = json_answer(await call.of.event_files.export(event))
    answer.headers["Content-Disposition"] = f'attachment; filename="{event}.json"'
    return answer
