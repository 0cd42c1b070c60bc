"""One socket is one display: messages in, whole private views out."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable

from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from app.service.displays import Bye, Display, Refused
from app.service.errors import AppError, ShuttingDown
from app.service.matches import Matches
from app.web.deps import caller, is_own_origin, services
from app.web.messages import (
    AcceptDrawMessage,
    BadMessage,
    DraftMessage,
    Message,
    OfferDrawMessage,
    PlayMessage,
    PongMessage,
    ResignMessage,
    SeedCommitMessage,
    SeedRevealMessage,
    id_in,
    read_message,
    write_frame,
)
from engine.errors import RuleError

router = APIRouter()
log = logging.getLogger(__name__)

FLOOD_MESSAGES, FLOOD_S = 100, 5.0  # more messages than this in this time is a flood
SEND_PATIENCE_S = 20.0  # a display that does not read for so long is dropped
_POLICY_VIOLATION, _GOING_AWAY, _TRY_AGAIN = 1008, 1001, 1013


@router.websocket("/ws/matches/{match_id}")
async def display(socket: WebSocket, match_id: str, watch: bool = False) -> None:
    """A player's private display, or a spectator's. The seat comes from the session, never from a message."""
    of = services(socket)
    if not is_own_origin(socket):
        await socket.close(_POLICY_VIOLATION, "foreign-origin")
        return
    await socket.accept()
    try:
        opened = await of.matches.connect(match_id, await caller(socket), watch=watch)
    except AppError as error:
        with contextlib.suppress(WebSocketDisconnect):  # it did not wait for the answer
            await socket.send_text(write_frame(Refused(None, error), of.now()))
            code = _TRY_AGAIN if isinstance(error, ShuttingDown) else _POLICY_VIOLATION
            await socket.close(code, error.code)
        return
    sending = asyncio.create_task(_send(socket, opened, of.now))
    try:
        await _receive(socket, opened, of.matches)
    finally:
        try:
            await asyncio.wait_for(asyncio.shield(sending), 1.0) if opened.is_closed else sending.cancel()
        except (TimeoutError, asyncio.CancelledError):
            sending.cancel()
        await asyncio.shield(of.matches.disconnect(opened))


async def _send(socket: WebSocket, opened: Display, now: Callable[[], int]) -> None:
    """Writes frames as they come; each display has its own pace."""
    try:
        while True:
            frame = await opened.next_frame()
            async with asyncio.timeout(SEND_PATIENCE_S):
                await socket.send_text(write_frame(frame, now()))
            if isinstance(frame, Bye):
                code = {"restart": _GOING_AWAY, "flood": _POLICY_VIOLATION}.get(frame.reason, _TRY_AGAIN)
                await socket.close(code, frame.reason)
                return
    except (TimeoutError, WebSocketDisconnect, RuntimeError, OSError):
        opened.close("slow")
        if socket.client_state is WebSocketState.CONNECTED:
            try:
                await asyncio.wait_for(socket.close(_TRY_AGAIN, "slow"), 1.0)
            except (TimeoutError, RuntimeError, OSError):
                log.info("a display went away while it was written to")


async def _receive(socket: WebSocket, opened: Display, matches: Matches) -> None:
    recent: deque[float] = deque(maxlen=FLOOD_MESSAGES)
    while True:
        received = await socket.receive()
        if received["type"] == "websocket.disconnect":
            return
        if opened.is_closed:
            continue  # only the closing handshake matters now
        now = time.monotonic()
        if len(recent) == FLOOD_MESSAGES and now - recent[0] < FLOOD_S:
            opened.close("flood")
            continue
        text = received.get("text")
        try:
            if text is None:
                raise BadMessage("Messages are text, not binary.", where="")
            if await _carry_out(read_message(text), opened, matches):
                continue  # what moves a match on is never too much
        except (AppError, RuleError) as error:
            opened.reply(Refused(id_in(text) if text else None, error))
        recent.append(now)


async def _carry_out(message: Message, opened: Display, matches: Matches) -> bool:
    """Whether it was something that can be accepted only once, and was."""
    match message:
        case PlayMessage():
            return await matches.play(opened, message.id, message.of_turn, tuple(message.moves))
        case PongMessage():
            return matches.pong(opened, message.ping)
        case DraftMessage():
            await matches.draft(opened, message.of_turn, tuple(message.moves))
        case ResignMessage():
            await matches.resign(opened, message.id, message.of_turn, message.points)
        case OfferDrawMessage():
            await matches.offer_draw(opened, message.id, message.of_turn)
        case AcceptDrawMessage():
            await matches.accept_draw(opened, message.id, message.of_turn)
        case SeedCommitMessage():
            await matches.commit_seed(opened, message.id, message.hash)
        case SeedRevealMessage():
            await matches.reveal_seed(opened, message.id, message.seed)
    return False
