"""Guests: a name and a signed cookie."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from app.web.deps import Caller, Served
from app.web.messages import NameBody, write_json

router = APIRouter(prefix="/api", tags=["session"])


def json_answer(data: object, status: int = 200) -> Response:
    """Views and plain data, encoded once."""
    return Response(write_json(data), status_code=status, media_type="application/json")


@router.get("/session", summary="Who am I?")
async def session(of: Served, account: Caller) -> Response:
    """The caller's player, or null."""
    return json_answer({"player": await of.lobby.session(account)})


@router.post("/session", summary="Say or change my name")
async def sign_in(of: Served, request: Request, body: NameBody) -> Response:
    """A new guest under this name, or this guest renamed. Problems: `bad-name`."""
    account = await of.accounts.sign_in(of.sessions.read(request), body.name)
    answer = json_answer({"player": await of.lobby.session(account.id)})
    of.sessions.write(request, answer, account.id)
    await of.matches.renamed(account.id)
    return answer


PROBLEM: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem (RFC 9457) with a stable `code` and `params`",
        "content": {
            "application/problem+json": {
                "example": {
                    "type": "/problems/not-waiting",
                    "title": "Refused",
                    "status": 409,
                    "code": "not-waiting",
                    "detail": "This match is not waiting for a player.",
                    "params": {"state": "playing"},
                }
            }
        },
    }
}
