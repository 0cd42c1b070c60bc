"""Bots over HTTP: a person makes them, gives them tokens, and takes those away."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from app.service.bots import BotInfo, BotsView, NewToken
from app.web.accounts import json_answer
from app.web.deps import Person, Served, address_of
from app.web.messages import Key, NameBody
from app.web.openapi import PROBLEM, answers

router = APIRouter(prefix="/api/bots", tags=["bots"], responses=PROBLEM)


@router.get("", summary="My bots", responses=answers(BotsView))
async def mine(of: Served, owner: Person) -> Response:
    """The oldest first; no tokens. Problems: `no-name`, `not-for-bots`."""
    return json_answer(await of.bots.mine(owner))


@router.post("", status_code=201, summary="Make a bot", responses=answers(NewToken, 201))
async def create(of: Served, request: Request, owner: Person, body: NameBody, key: Key = None) -> Response:
    """Its token is shown in this answer and never again.

    Problems: `bad-name`, `too-many-bots`, `too-often`, `no-name`, `not-for-bots`.
    """
    return json_answer(await of.bots.create(owner, body.name, key, address_of(request)), 201)


@router.delete("/{bot_id}", summary="Delete a bot", responses=answers(BotsView))
async def retire(of: Served, owner: Person, bot_id: str) -> Response:
    """Its token is not valid any longer, and what it has played stays. Problems: `no-such-bot`."""
    return json_answer(await of.bots.retire(owner, bot_id))


@router.post("/{bot_id}/token", summary="Another token", responses=answers(NewToken))
async def renew(of: Served, owner: Person, bot_id: str) -> Response:
    """The old one is not valid any longer, and what it had opened is closed. Problems: `no-such-bot`."""
    return json_answer(await of.bots.renew(owner, bot_id))


@router.delete("/{bot_id}/token", summary="Take the token away", responses=answers(BotInfo))
async def revoke(of: Served, owner: Person, bot_id: str) -> Response:
    """The bot cannot come in until it has another one. Problems: `no-such-bot`."""
    return json_answer(await of.bots.revoke(owner, bot_id))
