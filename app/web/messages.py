"""What goes over the wire (docs/PROTOCOL.md): messages from a browser, frames to it, bodies of HTTP."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Annotated, Any, Literal

import msgspec
from fastapi import Header
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from app.service.displays import Accepted, Bye, Frame, Goodbye, Ping, Refused, ViewFrame
from app.service.errors import AppError
from app.service.info import Info
from app.web.problems import Problem, problem_of
from engine.turn import Turn
from engine.view import View

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


class _Frame(msgspec.Struct, frozen=True, tag_field="type"):
    """What is sent to a browser; `now` is the server's time (ms), which nothing inside a view holds."""

    now: int


class ViewMessage(_Frame, frozen=True, tag="view"):
    """The whole view, and the match around it if that is new; to be answered by a pong at once."""

    ping: int
    view: View | None
    info: Info | msgspec.UnsetType = msgspec.UNSET


class AcceptedMessage(_Frame, frozen=True, tag="accepted"):
    """The message with this id was carried out, now or the first time it came."""

    id: str


class ProblemMessage(_Frame, frozen=True, tag="problem"):
    """A message was refused; nothing has happened."""

    id: str | None
    problem: Problem


class PingMessage(_Frame, frozen=True, tag="ping"):
    """Asks for a pong, to measure the round trip."""

    ping: int


class ByeMessage(_Frame, frozen=True, tag="bye"):
    """The last frame, and why."""

    reason: Goodbye


ToBrowser = ViewMessage | AcceptedMessage | ProblemMessage | PingMessage | ByeMessage

_encode = msgspec.json.Encoder().encode


def write_frame(frame: Frame, now: int) -> str:
    """A frame as it is sent."""
    return _encode(_message(frame, now)).decode()


def _message(frame: Frame, now: int) -> ToBrowser:
    match frame:
        case ViewFrame(view, info, ping):
            return ViewMessage(now, ping, view, msgspec.UNSET if info is None else info)
        case Accepted(id_):
            return AcceptedMessage(now, id_)
        case Refused(id_, error):
            return ProblemMessage(now, id_, problem_of(error))
        case Ping(ping):
            return PingMessage(now, ping)
        case Bye(reason):
            return ByeMessage(now, reason)


def write_json(data: object) -> bytes:
    """Views and plain data as JSON."""
    return _encode(data)


class JsonOnce:
    """JSON of views that many are sent, one and the same object each time: encoded once. The newest are kept."""

    def __init__(self, most: int) -> None:
        self._most = most
        # By id of the view, which is nobody else's while the view is kept too.
        self._kept: OrderedDict[int, tuple[object, bytes]] = OrderedDict()

    def of(self, view: object) -> bytes:
        """As `write_json`."""
        found = self._kept.get(id(view))
        if found is None:
            found = self._kept[id(view)] = view, write_json(view)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(id(view))
        return found[1]


Key = Annotated[str | None, Header(alias="Idempotency-Key", max_length=100)]


class NameBody(_Message):
    """The name to play under."""

    name: Annotated[str, Field(max_length=200, examples=["Вера"])]


class NewMatchBody(_Message):
    """A match to be made: a preset, what is to differ from it, who the opponent may be, and which computer."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"preset": "objective", "ruleset": {"scoring": "classic"}, "opponent": "link"},
                {"preset": "training", "opponent": "computer", "level": "master"},
            ]
        }
    )

    preset: Annotated[str, Field(max_length=40, examples=["objective"])] = "objective"
    ruleset: Annotated[dict[str, Any], Field(examples=[{"scoring": "classic"}])] = {}
    opponent: Literal["link", "anyone", "computer"] = "link"
    level: Annotated[
        Literal["beginner", "club", "expert", "master"] | None,
        Field(description="Of the computer; `beginner` if it is not said."),
    ] = None

    @field_validator("level")
    @classmethod
    def _of_a_computer(cls, level: str | None, said: ValidationInfo) -> str | None:
        if level is not None and said.data.get("opponent") != "computer":
            raise ValueError("only a computer has a level")
        return level


class SeatSecretBody(_Message):
    """The secret of a seat link."""

    secret: Annotated[str, Field(max_length=100)]


class EnterBody(_Message):
    """The code of a competition that is entered by one."""

    code: Annotated[str | None, Field(max_length=64, examples=["spring-26"])] = None


class CheckInBody(_Message):
    """Nothing."""


class WithdrawBody(_Message):
    """Why, if one likes to say it; organisers read it."""

    reason: Annotated[str, Field(max_length=400, examples=["A train that is late"])] = ""


def schemas() -> dict[str, Any]:
    """JSON Schemas of both directions, generated from the message models."""
    return {"from_browser": FromBrowser.json_schema(), "to_browser": msgspec.json.schema(ToBrowser)}
