"""Matches over HTTP: making one, joining it, reading it."""

from __future__ import annotations

import io
from typing import Any, Literal

import segno
from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from app.service.analysis import MatchAnalysis
from app.service.computers import BEGINNER
from app.service.downloads import mat_text, mat_zip, record_text
from app.service.info import Info
from app.service.lobby import Hint, LobbyView, presets_offered
from app.service.matches import HistoryView
from app.service.records import match_file
from app.web.accounts import json_answer
from app.web.deps import Caller, Person, Player, Served, site_of
from app.web.messages import Key, NewMatchBody, SeatSecretBody, schemas
from app.web.openapi import PROBLEM, ComputersView, Rulesets, SeatLink, answers
from engine.ruleset import key_values
from engine.view import View

router = APIRouter(prefix="/api", tags=["matches"], responses=PROBLEM)


def as_download(answer: Response, name: str) -> Response:
    """To be saved under this name, made of the id of a match: letters, digits and hyphens (§9.2)."""
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def download_answer(data: bytes, kind: str, name: str) -> Response:
    """A file."""
    return as_download(Response(data, media_type=kind), name)


@router.get("/schemas/socket.json", summary="JSON Schemas of the socket", tags=["operation"])
async def socket_schemas() -> dict[str, Any]:
    """Generated from the message models."""
    return schemas()


@router.get("/rulesets", summary="Presets, and every key with its values", responses=answers(Rulesets))
async def rulesets() -> dict[str, Any]:
    """The presets that can be played here."""
    return {"presets": presets_offered(), "keys": key_values()}


@router.get("/computers", summary="The computer players of this server", responses=answers(ComputersView))
async def computers(of: Served) -> Response:
    """From the weakest. One that the server lacks is not here, and cannot be played against."""
    return json_answer(ComputersView(of.lobby.computers()))


@router.get("/lobby", summary="Matches that wait, matches to watch, my own", responses=answers(LobbyView))
async def lobby(of: Served, account: Caller) -> Response:
    """Running matches as of the last finished phase."""
    return json_answer(await of.lobby.lobby(account))


@router.post("/matches", status_code=201, summary="Make a match", responses=answers(Info, 201))
async def create(of: Served, account: Player, body: NewMatchBody, key: Key = None) -> Response:
    """Problems: `no-name`, `bad-ruleset`, `no-such-computer`, `too-many-matches`."""
    info = await of.lobby.create(
        account, body.preset, body.ruleset, body.opponent, key, level=body.level or BEGINNER
    )
    return json_answer(info, 201)


@router.get("/invites/{code}", summary="The match of an invite", responses=answers(Info))
async def invited(of: Served, account: Caller, code: str) -> Response:
    """Looking takes no seat. Problems: `no-such-match`."""
    return json_answer(await of.lobby.invited(code, account))


@router.get("/invites/{code}/qr.svg", summary="The invite link as a QR code")
async def invite_qr(of: Served, request: Request, code: str) -> Response:
    """An SVG picture. Problems: `no-such-match`."""
    await of.lobby.invited(code, None)
    link = f"{site_of(of, request)}/join/{code}"
    picture = io.BytesIO()
    segno.make(link, error="m").save(picture, kind="svg", border=2, xmldecl=False, svgns=True, omitsize=True)
    return Response(picture.getvalue(), media_type="image/svg+xml")


@router.post("/invites/{code}/join", summary="Sit down by invite", responses=answers(Info))
async def join_by_code(of: Served, account: Player, code: str) -> Response:
    """Problems: `no-name`, `no-such-match`, `not-waiting`, `own-match`."""
    return json_answer(await of.lobby.join_by_code(code, account))


@router.post(
    "/matches/{match_id}/join", summary="Sit down at a match open to anyone", responses=answers(Info)
)
async def join_public(of: Served, account: Player, match_id: str) -> Response:
    """Problems: `no-name`, `no-such-match`, `needs-invite`, `rated-match`, `not-waiting`, `own-match`."""
    return json_answer(await of.lobby.join_public(match_id, account))


@router.post("/matches/{match_id}/cancel", summary="Take a waiting match back", responses=answers(Info))
async def cancel(of: Served, account: Player, match_id: str) -> Response:
    """Problems: `not-your-seat`, `not-waiting`."""
    return json_answer(await of.lobby.cancel(match_id, account))


@router.get("/matches/{match_id}.json", summary="Download a finished match")
async def download(of: Served, match_id: str) -> Response:
    """Rolls, plays, times, seeds and result, for `nardy verify`. Problems: `match-still-runs`."""
    answer = json_answer(match_file(await of.matches.download(match_id)))
    return as_download(answer, f"nardy-{match_id}.json")


@router.get(
    "/matches/{match_id}/record",
    summary="The record of a finished match as a text",
    responses={
        200: {"description": "The record, as docs/RECORDS.md describes it.", "content": {"text/plain": {}}}
    },
    response_class=PlainTextResponse,
)
async def record(
    of: Served,
    match_id: str,
    form: Literal["full", "short", "fixed"] = "full",
    lang: Literal["ru", "en"] = "en",
) -> Response:
    """Full: dice, plays, seconds, and the seeds from which it can be checked. Problems: `match-still-runs`."""
    text = record_text(await of.matches.record(match_id), form, lang)
    return download_answer(text.encode(), "text/plain; charset=utf-8", f"nardy-{match_id}-{form}-{lang}.txt")


@router.get(
    "/matches/{match_id}.mat",
    summary="Both games of a finished match for other backgammon programs",
    responses={200: {"description": "A .mat file: Game 1 is X, Game 2 is Y.", "content": {"text/plain": {}}}},
    response_class=PlainTextResponse,
)
async def mat(of: Served, match_id: str) -> Response:
    """Without Black's last move. Problems: `match-still-runs`, `not-in-form`."""
    text = mat_text(await of.matches.record(match_id))
    return download_answer(text.encode(), "text/plain; charset=utf-8", f"nardy-{match_id}.mat")


@router.get(
    "/matches/{match_id}.mat.zip",
    summary="The same, a file for each game",
    responses={200: {"description": "Two .mat files, zipped.", "content": {"application/zip": {}}}},
    response_class=Response,
)
async def mat_zipped(of: Served, match_id: str) -> Response:
    """Problems: `match-still-runs`, `not-in-form`."""
    name = f"nardy-{match_id}"
    packed = mat_zip(await of.matches.record(match_id), name)
    return download_answer(packed, "application/zip", f"{name}.mat.zip")


@router.get("/matches/{match_id}", summary="All about a match but the game itself", responses=answers(Info))
async def info(of: Served, account: Caller, match_id: str) -> Response:
    """Problems: `no-such-match`."""
    return json_answer(await of.lobby.info(match_id, account))


@router.get("/matches/{match_id}/view", summary="What my display would show now", responses=answers(View))
async def view(of: Served, account: Caller, match_id: str) -> Response:
    """The caller's own view, or a spectator's; null while the match waits."""
    return json_answer(await of.matches.view(match_id, await of.lobby.seat_of(match_id, account)))


@router.get("/matches/{match_id}/hint", summary="What a strong computer would play", responses=answers(Hint))
async def hint(of: Served, account: Person, match_id: str) -> Response:
    """For one's own owed play, never in a rated match. Problems: `not-your-seat`, `no-hint`, `not-for-bots`."""
    return json_answer(await of.lobby.hint(match_id, account))


@router.get(
    "/matches/{match_id}/history",
    summary="The finished phases, for the replay",
    responses=answers(HistoryView),
)
async def history(of: Served, account: Caller, match_id: str) -> Response:
    """Nothing of the open phase but what is public. Problems: `not-started`."""
    return json_answer(await of.matches.history(match_id, await of.lobby.seat_of(match_id, account)))


@router.get(
    "/matches/{match_id}/analysis",
    summary="What the plays and the luck of a finished match were worth",
    responses=answers(MatchAnalysis),
)
async def analysis(of: Served, match_id: str) -> Response:
    """How far it is, and all of it once it is done. Problems: `match-still-runs`, `not-started`."""
    return json_answer(await of.analyses.about(match_id))


@router.post(
    "/matches/{match_id}/analysis",
    status_code=202,
    summary="Have a finished match analysed",
    responses=answers(MatchAnalysis, 202),
)
async def ask_analysis(of: Served, request: Request, account: Caller, match_id: str) -> Response:
    """Queued once, however often it is asked for. Problems: `match-still-runs`, `no-judge`, `too-many-analyses`."""
    caller = account or (request.client.host if request.client else "")
    return json_answer(await of.analyses.ask(match_id, caller), 202)


@router.get(
    "/matches/{match_id}/seat-link",
    summary="The secret that opens my seat on another device",
    responses=answers(SeatLink),
)
async def seat_link(of: Served, account: Person, match_id: str) -> Response:
    """Problems: `not-your-seat`, `not-for-bots`."""
    return json_answer({"secret": await of.lobby.seat_secret(match_id, account)})


@router.post("/matches/{match_id}/seat", summary="Play a seat by its secret", responses=answers(Info))
async def open_seat(of: Served, account: Person, match_id: str, body: SeatSecretBody) -> Response:
    """Problems: `bad-seat-secret`, `own-match`, `not-for-bots`."""
    return json_answer(await of.lobby.open_seat(match_id, account, body.secret))


@router.post(
    "/matches/{match_id}/rematch", summary="Ask for a rematch, or agree to one", responses=answers(Info)
)
async def rematch(of: Served, account: Player, match_id: str) -> Response:
    """Problems: `not-your-seat`, `match-still-runs`, `no-such-computer`."""
    return json_answer(await of.lobby.rematch(match_id, account))
