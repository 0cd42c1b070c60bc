"""Guests: a name and a signed cookie."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from app.service.info import kind_of
from app.web.deps import Caller, Served, Someone, Who, address_of, began_with_void_link
from app.web.messages import NameBody, write_json
from app.web.openapi import PROBLEM, LinkPlayer, LinkView, SessionView, answers
from app.web.wishes import LinkBody

router = APIRouter(prefix="/api", tags=["session"], responses={**PROBLEM, **answers(SessionView)})


def json_answer(data: object, status: int = 200) -> Response:
    """Views and plain data, encoded once."""
    return Response(write_json(data), status_code=status, media_type="application/json")


@router.get("/session", summary="Who am I?")
async def session(of: Served, request: Request, account: Caller) -> Response:
    """The caller's player, or null."""
    is_void = account is None and await began_with_void_link(request)
    return json_answer(SessionView(await of.lobby.session(account), is_void))


@router.post("/session", summary="Say or change my name")
async def sign_in(of: Served, request: Request, who: Who, known: Someone, body: NameBody) -> Response:
    """A new guest under this name, or this guest renamed. Problems: `bad-name`, `too-often`, `not-for-bots`."""
    account = await of.accounts.sign_in(known, body.name, address_of(request))
    answer = json_answer(SessionView(await of.lobby.session(account.id), link_void=False))
    of.sessions.write(request, answer, account.id, who.link)
    await of.matches.renamed(account.id)
    return answer


@router.post("/session/link/look", summary="Whose is this link?", responses=answers(LinkView))
async def look_at_link(of: Served, caller: Caller, body: LinkBody) -> Response:
    """The player and the event that an entrant's link is for; nobody comes in. Problems: `bad-key`."""
    account = await of.organisers.by_link(body.link)
    event, match = await of.competitions.foremost_of(account.id)
    player = LinkPlayer(account.name, account.tag, kind_of(account))
    return json_answer(LinkView(player, caller == account.id, event, match))


@router.post("/session/link", summary="Come in by an entrant's link")
async def by_link(of: Served, request: Request, body: LinkBody) -> Response:
    """The account that organisers made for somebody on their list. Problems: `bad-key`."""
    account = await of.organisers.by_link(body.link)
    answer = json_answer(SessionView(await of.lobby.session(account.id), link_void=False))
    of.sessions.write(request, answer, account.id, account.link)
    return answer
