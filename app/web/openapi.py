"""What HTTP answers, as OpenAPI says it: schemas made from the very types that are sent, with an example of each."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.recordreader import Question, RecordCheck, RecordConversion
from app.service.analysis import MatchAnalysis
from app.service.arbiter import Estimate, Ordered
from app.service.bots import BotInfo, BotsView, NewToken
from app.service.competition_views import (
    CompetitionView,
    CrossTable,
    Mine,
    OrganiserEntrant,
    OrganiserView,
    RoundShown,
    SlotShown,
    StageShown,
    Standings,
    Summary,
)
from app.service.competitions import BoardShown, Done, Entered
from app.service.computers import ComputerInfo
from app.service.event_file import (
    AuditPage,
    EntrantsPage,
    EventFile,
    EventsPage,
    ImportReport,
    MatchesPage,
    MatchNow,
    NewLink,
)
from app.service.info import Info, Kind, SessionInfo
from app.service.lobby import Hint, Live, LobbyView
from app.service.matches import HistoryView
from app.service.organisers import KeyInfo, KeysView, NewKey
from app.service.recompute import Recomputed
from app.web.deps import COOKIE
from app.web.problems import Problem
from engine.view import View

_REF = "#/components/schemas/{name}"
_EXAMPLES: dict[str, Any] = json.loads(Path(__file__).with_name("examples.json").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class SessionView:
    """The caller's own player; null for one who has not said his name. `link_void`: he came by a personal link in whose
    place there is another.
    """

    player: SessionInfo | None
    link_void: bool


@dataclass(frozen=True, slots=True)
class LinkPlayer:
    """Whose a link is. Nothing of what he has played: who has sent him the link may be kept from knowing (§5.4)."""

    name: str
    tag: str | None
    kind: Kind


@dataclass(frozen=True, slots=True)
class LinkView:
    """Whose a link is, and where it leads: `match` waits for him there. `is_me`: the caller is that player."""

    player: LinkPlayer
    is_me: bool
    event: Summary | None
    match: str | None


@dataclass(frozen=True, slots=True)
class SeatLink:
    """What opens a seat on another device: `/match/{id}#seat={secret}`."""

    secret: str


@dataclass(frozen=True, slots=True)
class Rulesets:
    """Presets with their rulesets, and every key with the values that it may have."""

    presets: list[dict[str, Any]]
    keys: dict[str, str]


@dataclass(frozen=True, slots=True)
class ComputersView:
    """The computer players that can be played against here, from the weakest."""

    computers: list[ComputerInfo]


@dataclass(frozen=True, slots=True)
class RoundsView:
    """Stages that have opened with their rounds, and the round that is drafted, which organisers alone see."""

    version: int
    stages: tuple[StageShown, ...]
    draft: RoundShown | None


@dataclass(frozen=True, slots=True)
class CompetitionList:
    """Public competitions, the newest first; `next` is the `before` of the next page, null on the last."""

    competitions: list[Summary]
    next: int | None


@dataclass(frozen=True, slots=True)
class CompetitionNow:
    """A competition as it is at the server's time `now`; `mark` is for waiting until something changes."""

    now: int
    mark: str
    competition: CompetitionView


@dataclass(frozen=True, slots=True)
class Changes:
    """The mark of now. It differs from the one that was sent if something has changed since."""

    now: int
    mark: str


@dataclass(frozen=True, slots=True)
class MineNow:
    """The caller's own place in a competition, and what is next for him, at the server's time `now`."""

    now: int
    mine: Mine


@dataclass(frozen=True, slots=True)
class EnteredCompetition:
    """A competition that the caller has entered and that is not over, and what is next for him there."""

    competition: Summary
    mine: Mine


@dataclass(frozen=True, slots=True)
class MyCompetitions:
    """The caller's competitions that are not over: those he has entered, and those he has made."""

    now: int
    entered: list[EnteredCompetition]
    made: list[Summary]


@dataclass(frozen=True, slots=True)
class CrossTables:
    """The cross-table of a stage, or of each of its groups; none of an elimination."""

    tables: tuple[CrossTable, ...]


@dataclass(frozen=True, slots=True)
class Bracket:
    """The meetings of an elimination and where its entrants come from; null of another stage."""

    slots: tuple[SlotShown, ...] | None


@dataclass(frozen=True, slots=True)
class Dice:
    """The shared dice of a qualifying (secrets are null until a round is closed), and the matches whose records are
    open: `/api/matches/{id}.json` has the dice of each.
    """

    boards: list[BoardShown]
    records: list[str]


@dataclass(frozen=True, slots=True)
class NoteShown:
    """What an arbiter has written down."""

    number: int
    match: str | None
    by: str
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Notes:
    """All that arbiters have written down, the oldest first."""

    notes: list[NoteShown]


@dataclass(frozen=True, slots=True)
class RunningBoards:
    """Matches that are being played, each as of its last finished phase (§5.4); none of an open qualifying round."""

    boards: list[Live]


@dataclass(frozen=True, slots=True)
class SharedDice:
    """The dice that all entrants of a qualifying shared, a board a round; secret until the round is closed (§9.3)."""

    boards: list[BoardShown]


ANSWERS: tuple[type, ...] = (
    *(Info, View, HistoryView, LobbyView),
    *(SessionView, LinkView, SeatLink, Rulesets, ComputersView, Hint, MatchAnalysis),
    *(BotInfo, BotsView, NewToken),
    *(Summary, OrganiserView, OrganiserEntrant, Done, Entered, EventsPage, EntrantsPage, ImportReport),
    *(
        NewLink,
        NewKey,
        KeyInfo,
        KeysView,
        RoundsView,
        MatchesPage,
        MatchNow,
        Estimate,
        Ordered,
        Notes,
        NoteShown,
    ),
    *(Bracket, AuditPage, Dice, Recomputed, EventFile),
    *(CompetitionList, CompetitionNow, Changes, MineNow, MyCompetitions),
    *(Standings, CrossTables, RunningBoards, SharedDice),
    *(RecordCheck, RecordConversion),
)

PROBLEM: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "A problem (RFC 9457) with a stable `code` and `params`; its `type` leads to its words.",
        "content": {
            "application/problem+json": {
                "schema": {"$ref": _REF.format(name="Problem")},
                "example": {
                    "type": "/problems/not-waiting",
                    "title": "Refused",
                    "status": 409,
                    "code": "not-waiting",
                    "detail": "This match is not waiting for a player.",
                    "params": {"state": "playing"},
                },
            }
        },
    }
}


def answers(kind: type, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """For a route's `responses`: it answers with this type."""
    content = {"schema": {"$ref": _REF.format(name=kind.__name__)}, "example": example_of(kind)}
    words = " ".join((kind.__doc__ or kind.__name__).split())
    return {status: {"description": words, "content": {"application/json": content}}}


def example_of(kind: type) -> Any:
    """An answer of this type, as a server gave it."""
    return _EXAMPLES[kind.__name__]


def install(app: FastAPI) -> None:
    """The schemas of `ANSWERS` in the application's OpenAPI, and no answer that is never given."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            made = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
            _, kinds = msgspec.json.schema_components((*ANSWERS, Problem, Question), ref_template=_REF)
            schemas = made.setdefault("components", {}).setdefault("schemas", {})
            schemas |= kinds
            made["components"]["securitySchemes"] = {
                "cookie": {"type": "apiKey", "in": "cookie", "name": COOKIE},
                "token": {"type": "http", "scheme": "bearer", "description": "Of a bot."},
            }
            made["security"] = [{}, {"cookie": []}, {"token": []}]
            for name in (
                "HTTPValidationError",
                "ValidationError",
            ):  # what is malformed is a problem here (400)
                schemas.pop(name, None)
            for path in made["paths"].values():
                for operation in path.values():
                    operation.get("responses", {}).pop("422", None)
            app.openapi_schema = made
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
