"""Alive and ready: for proxies and supervisors, and for browsers that measure the way here."""

from __future__ import annotations

from fastapi import APIRouter, Response

from app.web.accounts import json_answer
from app.web.deps import Served
from app.web.openapi import PROBLEM

router = APIRouter(tags=["operation"])
_YES = {"ok": True}


@router.head("/healthz", summary="Is the server alive?")
@router.get("/healthz", summary="Is the server alive?")
async def healthz() -> Response:
    """Always `{"ok": true}` while it is; asks nobody else."""
    return json_answer(_YES)


@router.head("/readyz", summary="Can the server be given players?", responses=PROBLEM)
@router.get("/readyz", summary="Can the server be given players?", responses=PROBLEM)
async def readyz(of: Served) -> Response:
    """`{"ok": true}`, or the problem `not-ready` (503).

    Its parameter `missing` is `database` (does not answer), `schema` (not that of this version), `matches` (not taken
    up yet) or `restart` (about to stop).
    """
    await of.health.require_ready()
    return json_answer(_YES)
