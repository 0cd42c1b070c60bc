"""What goes over the wire (docs/PROTOCOL.md): messages from a browser, frames to it, bodies of HTTP."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.service.displays import Accepted, Bye, Frame, Ping, Refused, ViewFrame
from app.service.errors import AppError
from app.web.problems import problem_of
from engine.turn import Turn

MAX_MESSAGE = 4096  # bytes of one message from a browser

Point = Annotated[int, Field(ge=0, le=25)]
Moves = Annotated[list[tuple[Point, Point]], Field(max_length=4, examples=[[[13, 8], [6, 5]]])]
MessageId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$", examples=["k3v9"])]
TurnText = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,5}[WK]$", examples=["3W"])]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _TurnMessage(_Message):
    turn: TurnText

    @property
    def of_turn(self) -> Turn:
        turn = Turn.parse(self.turn)
        assert turn is not None  # the pattern has been checked
        return turn


class PlayMessage(_TurnMessage):
    """My whole play of that turn; `[]` is a pass."""

    type: Literal["play"]
    id: MessageId
    moves: Moves


class DraftMessage(_TurnMessage):
    """My half-made play: a path in the step graph."""

    type: Literal["draft"]
    moves: Moves


class ResignMessage(_TurnMessage):
    """Give up at the price that was shown."""

    type: Literal["resign"]
    id: MessageId
    points: Annotated[int, Field(ge=0, le=1_000_000)]


class OfferDrawMessage(_TurnMessage):
    """Offer a draw; delivered when the phase closes."""

    type: Literal["offer-draw"]
    id: MessageId


class AcceptDrawMessage(_TurnMessage):
    """Accept the draw that was offered."""

    type: Literal["accept-draw"]
    id: MessageId


class SeedCommitMessage(_Message):
    """The SHA-256 of my 16 bytes."""

    type: Literal["seed-commit"]
    id: MessageId
    hash: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class SeedRevealMessage(_Message):
    """My 16 bytes, once both hashes are in."""

    type: Literal["seed-reveal"]
    id: MessageId
    seed: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class PongMessage(_Message):
    """The answer to a ping."""

    type: Literal["pong"]
    ping: Annotated[int, Field(ge=1)]


Message = Annotated[
    PlayMessage
    | DraftMessage
    | ResignMessage
    | OfferDrawMessage
    | AcceptDrawMessage
    | SeedCommitMessage
    | SeedRevealMessage
    | PongMessage,
    Field(discriminator="type"),
]

FromBrowser: TypeAdapter[Message] = TypeAdapter(Message)


class BadMessage(AppError):
    """A message that is no message: not JSON, an unknown type or field, a value out of range."""

    code, status = "bad-message", 400


def read_message(text: str) -> Message:
    """The message in a frame. Raises BadMessage, saying where it is wrong."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_MESSAGE:
        raise BadMessage(f"A message has at most {MAX_MESSAGE} bytes.", where="", limit=MAX_MESSAGE)
    try:
        return FromBrowser.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadMessage(f"{where or 'message'}: {first['msg']}.", where=where) from None


_ID = re.compile(r'"id"\s*:\s*"([A-Za-z0-9_-]{1,64})"')


def id_in(text: str) -> str | None:
    """The id that a refused message carried, if one can be made out, so that its sender knows which it was."""
    found = _ID.search(text[:MAX_MESSAGE])
    return found and found[1]


_encode = msgspec.json.Encoder().encode


def write_frame(frame: Frame, now: int) -> str:
    """A frame as it is sent; only this envelope holds the server's time."""
    match frame:
        case ViewFrame(view, info, ping):
            body: dict[str, Any] = {"type": "view", "now": now, "ping": ping, "view": view}
            if info is not None:
                body["info"] = info
        case Accepted(id_):
            body = {"type": "accepted", "id": id_, "now": now}
        case Refused(id_, error):
            body = {"type": "problem", "id": id_, "now": now, "problem": problem_of(error)}
        case Ping(ping):
            body = {"type": "ping", "now": now, "ping": ping}
        case Bye(reason):
            body = {"type": "bye", "now": now, "reason": reason}
    return _encode(body).decode()


def write_json(data: object) -> bytes:
    """Views and plain data as JSON."""
    return _encode(data)


class NameBody(_Message):
    """The name to play under."""

    name: Annotated[str, Field(max_length=200, examples=["Вера"])]


class NewMatchBody(_Message):
    """A match to be made: a preset, what is to differ from it, and who the opponent may be."""

    preset: Annotated[str, Field(max_length=40, examples=["objective"])] = "objective"
    ruleset: Annotated[dict[str, Any], Field(examples=[{"scoring": "classic"}])] = {}
    opponent: Literal["link", "anyone", "computer"] = "link"


class SeatSecretBody(_Message):
    """The secret of a seat link."""

    secret: Annotated[str, Field(max_length=100)]


def schemas() -> dict[str, Any]:
    """JSON Schemas of both directions, generated from the message models."""
    from app.service.info import Info
    from engine.view import View

    return {
        "from_browser": FromBrowser.json_schema(),
        "view": msgspec.json.schema(View),
        "info": msgspec.json.schema(Info),
        "to_browser": {
            "view": {"type": "view", "now": "ms", "ping": "int", "info?": "info", "view": "view | null"},
            "accepted": {"type": "accepted", "id": "str", "now": "ms"},
            "problem": {
                "type": "problem",
                "id": "str | null",
                "now": "ms",
                "problem": "RFC 9457, code, params",
            },
            "ping": {"type": "ping", "now": "ms", "ping": "int"},
            "bye": {"type": "bye", "now": "ms", "reason": "restart | replaced | slow | flood"},
        },
    }
