"""One socket is one display: messages in, whole private views out."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect, WebSocketState

from app.logs import about
from app.service.displays import Bye, Display, Frame, Refused
from app.service.errors import AppError, ShuttingDown
from app.service.matches import Matches
from app.web.deps import Services, identity, is_own_origin, services
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
_POLICY_VIOLATION, _GOING_AWAY, _TRY_AGAIN, _BROKEN = 1008, 1001, 1013, 1011
_CODES = {
    "restart": _GOING_AWAY,
    "slow": _TRY_AGAIN,
    "flood": _POLICY_VIOLATION,
    "revoked": _POLICY_VIOLATION,
}


@router.websocket("/ws/matches/{match_id}")
async def display(socket: WebSocket, match_id: str, watch: bool = False) -> None:
    """A player's private display, or a spectator's. The seat comes from the session or the token, never from a
    message.
    """
    of = services(socket)
    if not is_own_origin(socket):
        log.info("a display was refused: foreign-origin")
        await socket.close(_POLICY_VIOLATION, "foreign-origin")
        return
    await socket.accept()
    try:
        who = await identity(socket)
        opened = await of.matches.connect(match_id, who.account, watch=watch, token=who.token, link=who.link)
        with about(match=match_id, seat=opened.seat.value if opened.seat else "spectator"):
            await _serve(socket, opened, of)
    except ShuttingDown:
        await _turn_away(socket, of, Bye("restart"), _GOING_AWAY, "restart")
    except AppError as error:
        log.info("a display was refused: %s", error.code)
        await _turn_away(socket, of, Refused(None, error), _POLICY_VIOLATION, error.code)
    except (
        Exception
    ):  # a bug, or a database that is gone: the page comes back and sends again what has no answer
        log.exception("a display was broken off")
        await _turn_away(socket, of, None, _BROKEN, "internal-error")


async def _turn_away(socket: WebSocket, of: Services, last: Frame | None, code: int, reason: str) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError, TimeoutError):  # it may have gone
        async with asyncio.timeout(1.0):
            if last is not None:
                await socket.send_text(write_frame(last, of.now()))
            await socket.close(code, reason)


async def _serve(socket: WebSocket, opened: Display, of: Services) -> None:
    """One line in the log when it opens, one when it closes."""
    log.info("a display opened")
    began, counted, reason = time.monotonic(), _Counted(), "error"
    sending = asyncio.create_task(_send(socket, opened, of.now, counted))
    try:
        reason = await _receive(socket, opened, of.matches, counted)
    finally:
        try:
            if opened.is_closed:
                async with asyncio.timeout(1.0):
                    await asyncio.shield(sending)
            else:
                sending.cancel()
        except (TimeoutError, asyncio.CancelledError):
            sending.cancel()
        facts = {
            "reason": opened.goodbye or reason,
            "s": round(time.monotonic() - began, 1),
            "frames_in": counted.received,
            "frames_out": counted.sent,
        }
        log.info("a display closed: %s", facts["reason"], extra={"facts": facts})
        await asyncio.shield(of.matches.disconnect(opened))


@dataclass(slots=True)
class _Counted:
    """Frames of one display."""

    received: int = 0
    sent: int = 0


async def _send(socket: WebSocket, opened: Display, now: Callable[[], int], counted: _Counted) -> None:
    """Writes frames as they come; each display has its own pace."""
    patience = _Patience()
    try:
        while True:
            frame = await opened.next_frame()
            with patience:
                await socket.send_text(write_frame(frame, now()))
            counted.sent += 1
            if isinstance(frame, Bye):
                code = _CODES[frame.reason]
                await socket.close(code, frame.reason)
                return
    except (TimeoutError, WebSocketDisconnect, RuntimeError, OSError):
        opened.close("slow")
        if socket.client_state is WebSocketState.CONNECTED:
            try:
                async with asyncio.timeout(1.0):
                    await socket.close(_TRY_AGAIN, "slow")
            except (TimeoutError, RuntimeError, OSError):
                log.info("a display went away while it was written to")
    finally:
        patience.stop()


class _Patience:
    """As `asyncio.timeout(SEND_PATIENCE_S)` around each of many things that one task does: one timer serves them all,
    for nearly all are done at once.
    """

    def __init__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._loop = asyncio.get_running_loop()
        self._since: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_over = False

    def __enter__(self) -> None:
        self._since = self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_later(SEND_PATIENCE_S, self._look)

    def __exit__(self, kind: type[BaseException] | None, wrong: BaseException | None, _: object) -> None:
        self._since = None
        if self._is_over and kind is asyncio.CancelledError and self._task.uncancel() == 0:
            raise TimeoutError from wrong

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        if self._since is None:
            return
        left = self._since + SEND_PATIENCE_S - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
        else:
            self._is_over = True
            self._task.cancel()


async def _receive(socket: WebSocket, opened: Display, matches: Matches, counted: _Counted) -> str:
    """Messages as they come, until there will be none; how it ended, such as "1001" (RFC 6455)."""
    recent: deque[float] = deque(maxlen=FLOOD_MESSAGES)
    while True:
        received = await socket.receive()
        if received["type"] == "websocket.disconnect":
            return str(received.get("code") or 1005)
        counted.received += 1
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
            message = read_message(text)
            command = getattr(message, "id", None)
            with about(command=command):
                is_news = await _carry_out(message, opened, matches)
                if command is not None:
                    log.debug("%s, %s", message.type, "accepted" if is_news else "answered")
            if is_news:
                continue  # what moves a match on is never too much
        except (AppError, RuleError) as error:
            log.debug("refused: %s", error.code)
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
            matches.draft(opened, message.of_turn, tuple(message.moves))
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
