"""Competitions over HTTP, for everybody and for entrants (§12). Organisers have an interface of their own."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Query, Response

from app.service.competition_views import Own, Standings
from app.web.accounts import json_answer
from app.web.deps import Caller, Player, Served
from app.web.messages import CheckInBody, EnterBody, JsonOnce, Key, WithdrawBody, write_json
from app.web.openapi import (
    PROBLEM,
    Changes,
    CompetitionList,
    CompetitionNow,
    CrossTables,
    EnteredCompetition,
    MineNow,
    MyCompetitions,
    RunningBoards,
    SharedDice,
    answers,
)

router = APIRouter(prefix="/api", tags=["competitions"], responses=PROBLEM)

_STATES = {
    "running": ("running",),
    "coming": ("announced", "entry"),
    "over": ("finished", "cancelled"),
}
_PAGE = 50
_ENTERED = 100  # of one player's competitions, the newest
_BOARDS = 24  # as many as a page shows

_once = JsonOnce(64)  # views, standings and tables of events that many look at
_NOBODYS = b',"mine":null,"is_owner":false}'  # how a view ends in which nothing is anybody's own

When = Literal["running", "coming", "over"]
Stage = Annotated[int, Query(ge=1)]


@router.get("/competitions", summary="Public competitions", responses=answers(CompetitionList))
async def competitions(
    of: Served,
    when: When = "running",
    before: Annotated[int | None, Query(description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=_PAGE)] = _PAGE,
) -> Response:
    """Those that run, that are coming, or that are over."""
    found = await of.competitions.listed(_STATES[when], limit=limit + 1, before=before)
    page = found[:limit]
    return json_answer(CompetitionList(page, page[-1].created_at if len(found) > limit else None))


@router.get(
    "/my/competitions", summary="My competitions that are not over", responses=answers(MyCompetitions)
)
async def my_competitions(of: Served, account: Caller) -> Response:
    """What is next for me in each; nothing for somebody without a name."""
    if account is None:
        return json_answer(MyCompetitions(of.now(), [], []))
    places = await of.competitions.places_of(account, without=_STATES["over"], limit=_ENTERED)
    entered = [EnteredCompetition(one, mine) for one, mine in places]
    owned = await of.competitions.owned_by(account, limit=_PAGE)
    made = [one for one in owned if one.state not in _STATES["over"]]
    return json_answer(MyCompetitions(of.now(), entered, made))


@router.get("/competitions/{id}", summary="All about a competition", responses=answers(CompetitionNow))
async def competition(of: Served, account: Caller, id: str) -> Response:
    """Settings, entrants, stages with their published rounds, places; and `mine` for an entrant.

    Of a qualifying's open round nothing is shown but that it is played. Problems: `no-such-competition`.
    """
    mark, shared, own = await of.competitions.seen(id, account)
    view = with_own(_once.of(shared), own)
    return json_answer({"now": of.now(), "mark": mark, "competition": msgspec.Raw(view)})


@router.get(
    "/competitions/{id}/changes",
    summary="Wait until something changes",
    responses=answers(Changes),
)
async def changes(
    of: Served, id: str, mark: Annotated[str, Query(max_length=64, examples=["5f2c9a61b0d4"])] = ""
) -> Response:
    """Answers as soon as the competition is no longer as it was when `mark` was given, or after 25 seconds.

    Without a mark it answers at once. Problems: `no-such-competition`.
    """
    found = await of.competitions.wait(id, mark)
    return json_answer(Changes(of.now(), found))


@router.get("/competitions/{id}/standings", summary="The standing of a stage", responses=answers(Standings))
async def standings(of: Served, id: str, stage: Stage = 1) -> Response:
    """Every value by which places are told apart, with what it is made of; the bracket of an elimination.

    Problems: `no-such-competition`, also for a stage that has not opened.
    """
    return _json(_once.of(await of.competitions.standings(id, stage)))


@router.get(
    "/competitions/{id}/cross-tables", summary="Everybody against everybody", responses=answers(CrossTables)
)
async def cross_tables(of: Served, id: str, stage: Stage = 1) -> Response:
    """Problems: `no-such-competition`, also for a stage that has not opened."""
    tables = _once.of(await of.competitions.cross_tables(id, stage))
    return json_answer({"tables": msgspec.Raw(tables)})


@router.get(
    "/competitions/{id}/boards", summary="The boards that are being played", responses=answers(RunningBoards)
)
async def boards(of: Served, id: str) -> Response:
    """Twenty-four at most. Problems: `no-such-competition`."""
    view = await of.competitions.view(id)
    return json_answer(RunningBoards(await of.lobby.watched(view.playing[:_BOARDS])))


@router.get(
    "/competitions/{id}/dice", summary="The shared dice of a qualifying", responses=answers(SharedDice)
)
async def dice(of: Served, id: str) -> Response:
    """Problems: `no-such-competition`."""
    return json_answer(SharedDice(await of.competitions.boards(id)))


@router.get("/competitions/{id}/mine", summary="What is next for me", responses=answers(MineNow))
async def mine(of: Served, account: Player, id: str) -> Response:
    """Problems: `no-name`, `no-such-competition`, `not-an-entrant`."""
    found = await of.competitions.mine(id, account)
    return json_answer(MineNow(of.now(), found))


@router.post("/competitions/{id}/enter", summary="Enter, or come back", responses=answers(MineNow))
async def enter(of: Served, account: Player, id: str, body: EnterBody, key: Key = None) -> Response:
    """Entering twice is entering once. Problems: `no-name`, `no-such-competition`, `entry-refused`."""
    found = await of.competitions.enter(id, account, code=body.code, key=key)
    return json_answer(MineNow(of.now(), found))


@router.post("/competitions/{id}/check-in", summary="I am there", responses=answers(MineNow))
async def check_in(of: Served, account: Player, id: str, body: CheckInBody) -> Response:
    """In the time before the start. Problems: `no-name`, `not-an-entrant`, `entry-refused`."""
    found = await of.competitions.check_in(id, account)
    return json_answer(MineNow(of.now(), found))


@router.post("/competitions/{id}/withdraw", summary="Play no more", responses=answers(MineNow))
async def withdraw(of: Served, account: Player, id: str, body: WithdrawBody) -> Response:
    """Problems: `no-name`, `not-an-entrant`, `entry-refused`."""
    found = await of.competitions.withdraw(id, account, reason=body.reason)
    return json_answer(MineNow(of.now(), found))


def with_own(shared: bytes, own: Own) -> bytes:
    """The JSON of everybody's view with the caller's own part in it."""
    assert shared.endswith(_NOBODYS)
    return shared[: -len(_NOBODYS)] + b"," + write_json(own)[1:]


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json")
