"""What organisers may wish over HTTP: the bodies of `/api/admin/v1`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.service.organisers import Role

Text = Annotated[str, Field(max_length=10_000)]
Reason = Annotated[str, Field(max_length=1_000, examples=["came too late, both agreed"])]
Player = Annotated[
    str, Field(max_length=80, examples=["Вера #k3f"], description="Name and tag, or the account's id.")
]
When = Annotated[
    str,
    Field(
        max_length=100,
        examples=["2026-10-25T10:00[Europe/Berlin]"],
        description="An ISO time with an offset, or with a zone in brackets or in `zone`.",
    ),
]
Zone = Annotated[str | None, Field(max_length=64, examples=["Europe/Berlin"])]
Number = Annotated[int, Field(ge=1, le=100_000)]
Points = Annotated[int, Field(ge=-1_000_000, le=1_000_000)]
_Pair = Annotated[tuple[Number, Number | None], Field(strict=False)]  # JSON has lists alone
Words = Annotated[dict[str, Text], Field(examples=[{"ru": "Кубок весны", "en": "Spring cup"}])]


class Wish(BaseModel):
    """Nothing but what is written down is taken."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class NewEvent(Wish):
    """An event to be made; `settings` are what is to differ from the default ones."""

    title: Words
    about: Words = {}
    visibility: Literal["public", "unlisted"] = "public"
    id: Annotated[str | None, Field(max_length=32, examples=["spring-cup"])] = None
    settings: Annotated[dict[str, Any], Field(examples=[{"stages": [{"kind": "swiss", "rounds": 5}]}])] = {}
    zone: Zone = None


class EventWords(Wish):
    """Other words about an event; what is not said stays."""

    title: Words | None = None
    about: Words | None = None
    visibility: Literal["public", "unlisted"] | None = None


class SettingsChange(Wish):
    """Settings that are to be others."""

    settings: Annotated[dict[str, Any], Field(examples=[{"no_show_s": 600}])]
    zone: Zone = None


class NewKeyBody(Wish):
    """A key to be made. `holder`: in whose name it acts, if not in its owner's."""

    label: Annotated[str, Field(max_length=100, examples=["arbiter's laptop"])]
    role: Role
    event: Annotated[str | None, Field(max_length=32)] = None
    holder: Player | None = None
    expires_at: When | None = None


class PlayerBody(Wish):
    """A player."""

    player: Player


class ReasonBody(Wish):
    """Why."""

    reason: Reason


class PerhapsReason(Wish):
    """Why, where that is not asked for."""

    reason: Reason = ""


class SubstituteBody(Wish):
    """Who takes the place, and why."""

    player: Player
    reason: Reason


class SeedBody(Wish):
    """A seed, or null for none."""

    seed: Number | None


class PairBody(Wish):
    """Two who are not to be paired, or may be again."""

    first: Number
    second: Number
    reason: Reason
    forbidden: bool = True


class PenaltyBody(Wish):
    """What is taken from an entrant in the stage that is played."""

    match_points: Annotated[int, Field(ge=0, le=1_000)] = 0
    points: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    reason: Reason


class SeedsBody(Wish):
    """All entrants of the stage, the best seed first."""

    seeds: Annotated[list[Number], Field(max_length=10_000)]
    reason: Reason


class PairingsBody(Wish):
    """Who meets whom, table by table; null for a bye. What the rules would not do needs a reason."""

    pairs: Annotated[list[_Pair], Field(max_length=10_000, examples=[[[1, 4], [2, 3], [5, None]]])]
    reason: Reason = ""


class StartBody(Wish):
    """When the round starts; null: by hand."""

    start_at: When | None = None
    zone: Zone = None


class UntilBody(Wish):
    """How long the round lasts, and why."""

    until: When
    zone: Zone = None
    reason: Reason


class TimeBody(Wish):
    """More time for a player."""

    seat: Literal["A", "B"]
    seconds: Annotated[int, Field(ge=1, le=86_400)]
    reason: Reason


class ResultBody(Wish):
    """Settled points for seat A; seat B has as many less."""

    points_for_A: Points
    reason: Reason


class AdjudicationBody(Wish):
    """A result after a look at the estimate; `confirm` is what the estimate had."""

    points_for_A: Points
    reason: Reason
    confirm: Annotated[str, Field(max_length=64)]


class RulingBody(Wish):
    """A meeting decided as a whole: net points for its first entrant, and the winner's number."""

    points_for_a: Points
    winner: Number | None = None
    reason: Reason


class NoteBody(Wish):
    """Something to be written down, about a match or the whole."""

    text: Text
    match: Annotated[str | None, Field(max_length=80)] = None


class LinkBody(Wish):
    """What an entrant was sent to open the account that organisers made for him: the address, or what follows its #."""

    link: Annotated[str, Field(max_length=500)]
