"""Organisers over HTTP: keys, events, entrants. `arbiters.py` has rounds, matches and what is read of an event."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.service.competition_views import OrganiserEntrant, OrganiserView, Summary
from app.service.competitions import Done, Entered
from app.service.event_file import EntrantsPage, EventsPage, ImportReport, NewLink
from app.service.instants import with_instants
from app.service.organisers import KeyInfo, KeysView, NewKey
from app.web.accounts import json_answer
from app.web.deps import site_of
from app.web.openapi import PROBLEM, answers
from app.web.organising import Arbiter, Observer, Owner, Somebody
from app.web.wishes import (
    EventWords,
    NewEvent,
    NewKeyBody,
    PairBody,
    PenaltyBody,
    PerhapsReason,
    PlayerBody,
    ReasonBody,
    SeedBody,
    SettingsChange,
    SubstituteBody,
)
from engine.competition import commands

router = APIRouter(prefix="/api/admin/v1", responses=PROBLEM)
Limit = Annotated[int, Query(ge=1, le=500)]
Cursor = Annotated[str | None, Query(max_length=200, description="`next` of the page before.")]
_keys: list[str | Enum] = ["keys"]
_events: list[str | Enum] = ["events"]
_entrants: list[str | Enum] = ["entrants"]


# ------------------------------------------------------------------------------------------------------------- keys


@router.post("/keys", status_code=201, summary="Make a key", tags=_keys, responses=answers(NewKey, 201))
async def create_key(call: Somebody, body: NewKeyBody) -> Response:
    """Its secret is shown here and never again. Owners make keys, for one of their events or for all.

    Problems: `no-right`, `bad-competition`, `bad-time`, `entry-refused`, `no-such-competition`, `key-used`.
    """
    made = await call.of.organisers.create_key(
        call.asking,
        label=body.label,
        role=body.role,
        event=body.event,
        holder=body.holder,
        expires_at=body.expires_at,
        name=call.name,
    )
    return json_answer(made, 201)


@router.get("/keys", summary="The keys of my events", tags=_keys, responses=answers(KeysView))
async def keys(call: Somebody) -> Response:
    """Revoked ones too; never the secrets. Problems: `no-right`."""
    return json_answer(await call.of.organisers.keys(call.asking))


@router.delete("/keys/{key}", summary="Revoke a key", tags=_keys, responses=answers(KeyInfo))
async def revoke_key(call: Somebody, key: str) -> Response:
    """It opens nothing from now on. Problems: `no-right`, `no-such-key`."""
    return json_answer(await call.of.organisers.revoke_key(call.asking, key))


# ----------------------------------------------------------------------------------------------------------- events


@router.post(
    "/events", status_code=201, summary="Make an event", tags=_events, responses=answers(Summary, 201)
)
async def create(call: Somebody, body: NewEvent) -> Response:
    """Announced; entry opens by `open-entry`. Problems: `no-right`, `bad-competition`, `bad-settings`, `bad-ruleset`,
    `bad-time`, `no-such-computer`, `id-taken`, `key-used`, `too-many-events`.
    """
    owner = call.of.organisers.owner_for_new(call.asking)
    return await call.make(
        lambda: call.of.competitions.create(
            owner,
            title=body.title,
            about=body.about,
            settings=with_instants(body.settings, body.zone),
            visibility=body.visibility,
            competition_id=body.id,
            key=f"event {call.key()}" if call.name else None,
        ),
        201,
    )


@router.get("/events", summary="My events", tags=_events, responses=answers(EventsPage))
async def events(
    call: Somebody,
    state: Annotated[str | None, Query(max_length=20)] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """Those that the key is for, the newest first. Problems: `bad-cursor`."""
    owner, only = call.of.organisers.events_of(call.asking)
    return json_answer(await call.of.event_files.events(owner, only, state=state, limit=limit, cursor=cursor))


@router.get("/events/{event}", summary="All of an event", tags=_events, responses=answers(OrganiserView))
async def event(call: Observer, event: str) -> Response:
    """With drafts; of a qualifying's open round no more than everybody sees. `ETag` is its version."""
    view = await call.of.competitions.organiser_view(event)
    answer = json_answer(view)
    answer.headers["ETag"] = f'"{view.version}"'
    return answer


@router.patch("/events/{event}", summary="Other words", tags=_events, responses=answers(Summary))
async def describe(call: Owner, event: str, body: EventWords) -> Response:
    """Title, text, visibility. Problems: `bad-competition`, `stale-version`."""
    return await call.make(
        lambda: call.of.competitions.describe(
            event,
            title=body.title,
            about=body.about,
            visibility=body.visibility,
            actor=call.actor,
            via=call.via,
            expect=call.expect,
        )
    )


@router.patch("/events/{event}/settings", summary="Other settings", tags=_events, responses=answers(Done))
async def change_settings(call: Owner, event: str, body: SettingsChange) -> Response:
    """Stages and rules until the first stage opens; entry, no-show and pace at any time. Problems: `bad-settings`,
    `bad-ruleset`, `bad-time`, `not-now`, `stale-version`.
    """
    return await call.make(
        lambda: call.of.competitions.change_settings(
            event,
            with_instants(body.settings, body.zone),
            actor=call.actor,
            key=call.key(),
            expect=call.expect,
        )
    )


@router.post("/events/{event}/open-entry", summary="Let players enter", tags=_events, responses=answers(Done))
async def open_entry(call: Owner, event: str) -> Response:
    """Problems: `not-now`, `stale-version`."""
    return await call.act(event, lambda at: commands.OpenEntry(call.actor, at))


@router.post("/events/{event}/start", summary="Open the first stage", tags=_events, responses=answers(Done))
async def start(call: Owner, event: str) -> Response:
    """With who is there. Problems: `not-now`, `stale-version`."""
    return await call.make(
        lambda: call.of.competitions.start(event, actor=call.actor, key=call.key(), expect=call.expect)
    )


@router.post("/events/{event}/finish", summary="Places are final", tags=_events, responses=answers(Done))
async def finish(call: Owner, event: str) -> Response:
    """After the last round. Problems: `not-now`, `stale-version`."""
    return await call.act(event, commands.Finish)


@router.post("/events/{event}/cancel", summary="Call it off", tags=_events, responses=answers(Done))
async def cancel(call: Owner, event: str, body: ReasonBody) -> Response:
    """Problems: `not-now`, `bad-decision`, `stale-version`."""
    return await call.act(event, lambda at: commands.Cancel(call.actor, body.reason, at))


# --------------------------------------------------------------------------------------------------------- entrants


@router.get("/events/{event}/entrants", summary="Entrants", tags=_entrants, responses=answers(EntrantsPage))
async def entrants(
    call: Observer,
    event: str,
    status: Annotated[str | None, Query(max_length=20)] = None,
    name: Annotated[str | None, Query(max_length=40)] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> Response:
    """By their numbers; also those who wait for approval. Problems: `bad-cursor`."""
    page = await call.of.event_files.entrants(event, status=status, name=name, limit=limit, cursor=cursor)
    return json_answer(page)


@router.post(
    "/events/{event}/entrants",
    status_code=201,
    summary="Enter a player",
    tags=_entrants,
    responses=answers(Entered, 201),
)
async def register(call: Owner, event: str, body: PlayerBody) -> Response:
    """With no need of code, approval or invitation. Problems: `entry-refused`, `stale-version`, `key-used`."""

    async def do() -> Entered:
        player = await call.of.organisers.player(body.player)
        number = await call.of.competitions.register(
            event, player.id, actor=call.actor, key=call.key(), expect=call.expect
        )
        return Entered(number, player.id, await call.of.competitions.version(event))

    return await call.make(do, 201)


@router.post(
    "/events/{event}/entrants/import",
    summary="Enter a list",
    tags=_entrants,
    responses=answers(ImportReport),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "text/csv": {"schema": {"type": "string"}, "example": "name,seed\nВера #k3f,1\nBoris,2\n"}
            },
        }
    },
)
async def take_in(
    call: Owner,
    event: str,
    request: Request,
    new: Annotated[bool, Query(description="Make accounts for those who have none here.")] = False,
) -> Response:
    """CSV with the columns name, tag, seed (имя, метка, посев): UTF-8 or Windows-1251; comma, semicolon or tab. Right
    lines enter, wrong ones are named. Problems: `bad-list`, `stale-version`.
    """
    data = await request.body()
    return await call.order(
        event,
        lambda: call.of.event_files.take_in(
            call.asking, event, data, site=site_of(call.of, request), new=new, name=call.key
        ),
    )


@router.post(
    "/events/{event}/invitations", summary="Invite a player", tags=_entrants, responses=answers(Done)
)
async def invite(call: Owner, event: str, body: PlayerBody) -> Response:
    """For an event by invitation. Problems: `entry-refused`, `stale-version`."""
    player = await call.of.organisers.player(body.player)
    return await call.act(event, lambda at: commands.Invite(player.id, call.actor, at))


@router.get(
    "/events/{event}/entrants/{number}",
    summary="One entrant",
    tags=_entrants,
    responses=answers(OrganiserEntrant),
)
async def entrant(call: Observer, event: str, number: int) -> Response:
    """Problems: `entry-refused`."""
    return json_answer(await call.of.event_files.entrant(event, number))


@router.post(
    "/events/{event}/entrants/{number}/approve", summary="Let him in", tags=_entrants, responses=answers(Done)
)
async def approve(call: Owner, event: str, number: int) -> Response:
    """Problems: `entry-refused`, `stale-version`."""
    return await call.act(event, lambda at: commands.Approve(number, call.actor, at))


@router.post(
    "/events/{event}/entrants/{number}/decline",
    summary="Do not let him in",
    tags=_entrants,
    responses=answers(Done),
)
async def decline(call: Owner, event: str, number: int, body: ReasonBody) -> Response:
    """Problems: `entry-refused`, `bad-decision`, `plays-here`, `stale-version`."""
    return await call.act(event, lambda at: commands.Decline(number, call.actor, body.reason, at))


@router.post(
    "/events/{event}/entrants/{number}/check-in",
    summary="Say that he is there",
    tags=_entrants,
    responses=answers(Done),
)
async def check_in(call: Owner, event: str, number: int) -> Response:
    """Problems: `entry-refused`, `stale-version`."""
    return await call.act(event, lambda at: commands.CheckIn(number, at))


@router.post(
    "/events/{event}/entrants/{number}/withdraw",
    summary="He plays no more",
    tags=_entrants,
    responses=answers(Done),
)
async def withdraw(call: Owner, event: str, number: int, body: PerhapsReason) -> Response:
    """A match that runs is played to its end. Problems: `entry-refused`, `stale-version`."""
    return await call.act(event, lambda at: commands.Withdraw(number, call.actor, at, body.reason))


@router.post(
    "/events/{event}/entrants/{number}/rejoin", summary="He is back", tags=_entrants, responses=answers(Done)
)
async def rejoin(call: Owner, event: str, number: int) -> Response:
    """From the next round on. Problems: `entry-refused`, `stale-version`."""
    return await call.act(event, lambda at: commands.Rejoin(number, call.actor, at))


@router.post(
    "/events/{event}/entrants/{number}/ban", summary="Throw him out", tags=_entrants, responses=answers(Done)
)
async def ban(call: Owner, event: str, number: int, body: ReasonBody) -> Response:
    """What he is playing is lost. Problems: `entry-refused`, `bad-decision`, `plays-here`, `stale-version`."""
    return await call.act(event, lambda at: commands.Ban(number, call.actor, body.reason, at))


@router.post(
    "/events/{event}/entrants/{number}/substitute",
    summary="Another takes his place",
    tags=_entrants,
    responses=answers(Done),
)
async def substitute(call: Owner, event: str, number: int, body: SubstituteBody) -> Response:
    """With his score. Problems: `entry-refused`, `not-now`, `bad-decision`, `plays-here`, `stale-version`."""

    async def do() -> Done:
        player = await call.of.organisers.player(body.player)
        return await call.of.competitions.substitute(
            event, number, player.id, body.reason, actor=call.actor, key=call.key(), expect=call.expect
        )

    return await call.make(do)


@router.post(
    "/events/{event}/entrants/{number}/link",
    status_code=201,
    summary="Give him another link",
    tags=_entrants,
    responses=answers(NewLink, 201),
)
async def renew_link(call: Owner, event: str, number: int, body: PerhapsReason, request: Request) -> Response:
    """The old one, and all that it opened, stops working. Of an account that was made on a list of the event's owner.
    Problems: `entry-refused`, `no-link`, `plays-here`, `stale-version`, `key-used`.
    """
    return await call.order(
        event,
        lambda: call.of.event_files.renew_link(
            call.asking, event, number, site=site_of(call.of, request), reason=body.reason
        ),
        201,
    )


@router.put(
    "/events/{event}/entrants/{number}/seed", summary="Seed him", tags=_entrants, responses=answers(Done)
)
async def seed(call: Owner, event: str, number: int, body: SeedBody) -> Response:
    """By hand, before the start. Problems: `entry-refused`, `plays-here`, `stale-version`."""
    return await call.act(event, lambda at: commands.Seed(number, body.seed, call.actor, at))


@router.post(
    "/events/{event}/entrants/{number}/penalties",
    status_code=201,
    summary="Take points from him",
    tags=_entrants,
    responses=answers(Done, 201),
)
async def penalise(call: Arbiter, event: str, number: int, body: PenaltyBody) -> Response:
    """In the stage that is played. Problems: `entry-refused`, `not-now`, `bad-decision`, `plays-here`,
    `stale-version`, `key-used`.
    """
    return await call.act(
        event,
        lambda at: commands.Penalise(number, call.actor, body.reason, at, body.match_points, body.points),
        201,
    )


@router.post(
    "/events/{event}/forbidden-pairs",
    status_code=201,
    summary="Two who are not to be paired",
    tags=_entrants,
    responses=answers(Done, 201),
)
async def forbid_pair(call: Owner, event: str, body: PairBody) -> Response:
    """Or, with `forbidden` false, may be again. Problems: `entry-refused`, `bad-decision`, `plays-here`,
    `stale-version`, `key-used`.
    """
    return await call.act(
        event,
        lambda at: commands.ForbidPair(body.first, body.second, call.actor, body.reason, at, body.forbidden),
        201,
    )
