"""The record of an objective match as a value: its tags, one line for each shared roll, and its result.

`writer` and `reader` know its texts, `replay` plays it through and checks what it says. Player 1 sits in
seat A: he is White in game X. A record holds what its text held; a form without dice or seconds leaves them out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from engine.dice import Roll
from engine.errors import BadRuleset
from engine.match import Made, Match, PhasePlayed, match_commitment
from engine.records.half import Half, of_moves
from engine.ruleset import DEFAULT, PRESETS, Ruleset
from engine.scoring import GameScore, Outcome
from engine.turn import FIRST_TURN, Seats, Turn
from engine.variant import VARIANTS

GAME = "objective-backgammon"
TAGS = (
    "Game",
    "Player1",
    "Player2",
    "Date",
    "Event",
    "Round",
    "Record",
    "Variant",
    "Ruleset",
    "RulesetJson",
    "DiceId",
    "Commitment",
    "Seed",
    "ClientSeed1",
    "ClientSeed2",
    "Outcome",
    "GameX",
    "GameY",
    "Credit",
    "Time1",
    "Time2",
    "TimeAdjustment",
    "Parted",
)  # in the order in which they are written


@dataclass(frozen=True, slots=True)
class Line:
    """One shared roll and both decisions on it. The roll has its higher die first; None where it is not known."""

    roll: Roll | None
    halves: Seats[Half]


@dataclass(frozen=True, slots=True)
class Result:
    """Settled points, and the running score after them where there is one."""

    points: Seats[int]
    total: Seats[int] | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """The record of one objective match; phases W and K take turns from the first line on (§4.1).

    `tags` are international names with their international texts, in the order of TAGS, but for `Record`, which names
    the form that a text is written in.
    """

    tags: tuple[tuple[str, str], ...]
    lines: tuple[Line, ...]
    result: Result | None

    def tag(self, name: str) -> str | None:
        """The text of a tag, or None where it is not there."""
        return dict(self.tags).get(name)

    def ruleset(self) -> Ruleset:
        """The settings that the tags name; the default where they name none. Raises BadRuleset."""
        return ruleset_of(dict(self.tags))


def turns() -> Iterable[Turn]:
    """1W, 1K, 2W …: the turn of each line."""
    turn = FIRST_TURN
    while True:
        yield turn
        turn = turn.next()


def roll_of(first: int, second: int) -> Roll:
    """The roll as records have it: the higher die first."""
    return Roll(max(first, second), min(first, second))


# ------------------------------------------------------------------------------------------------------ settings


def ruleset_of(tags: Mapping[str, str]) -> Ruleset:
    """The settings that tags name: a preset, and what differs from it. Raises BadRuleset."""
    name = tags.get("Ruleset", "objective")
    if name not in PRESETS:
        raise BadRuleset("Ruleset", f"is one of {' | '.join(PRESETS)}")
    ruleset = PRESETS[name].ruleset
    if "RulesetJson" in tags:
        ruleset = ruleset.changed(read_changes(tags["RulesetJson"]))
    variant = tags.get("Variant", ruleset.variant)
    if variant != ruleset.variant:
        if variant not in VARIANTS or "Ruleset" in tags:
            raise BadRuleset("Variant", f"is {ruleset.variant} in these rules")
        ruleset = PRESETS["long"].ruleset  # a record that names no rules, only the kind of nardy
    return ruleset


def read_changes(text: str) -> Mapping[str, Any]:
    """The text of RulesetJson. Raises BadRuleset for what is no JSON object."""
    try:
        changes = json.loads(text)
    except (ValueError, RecursionError):
        changes = None
    if not isinstance(changes, dict):
        raise BadRuleset("RulesetJson", "is a JSON object")
    return changes


def ruleset_tags(ruleset: Ruleset) -> dict[str, str]:
    """Variant, preset, and what differs from it: from the default where no preset is equal."""
    tags = {"Variant": ruleset.variant}
    preset = next((preset for preset in PRESETS.values() if preset.ruleset == ruleset), None)
    if preset is not None:
        return tags | {"Ruleset": preset.key}
    return tags | {"Ruleset": "objective", "RulesetJson": changes_text(ruleset, DEFAULT)}


def changes_text(ruleset: Ruleset, base: Ruleset) -> str:
    """What differs between two rulesets, as JSON with its keys in the order of the ruleset."""
    return json.dumps(ruleset.changes(base), separators=(",", ":"))


# ------------------------------------------------------------------------------------------- from a match that is over


def record_of(
    match: Match,
    names: Seats[str],
    *,
    at: int | None = None,
    event: str | None = None,
    round_name: str | None = None,
    total: Seats[int] | None = None,
) -> Record:
    """The record of a match that is over, with its seeds.

    `at` is when it began (Unix ms); `total` the running score after it, else its own points. Raises ValueError while
    the match runs: its seeds are a secret then.
    """
    score = match.score
    if score is None:
        raise ValueError("the match is not over")
    tags: dict[str, str | None] = {
        "Game": GAME,
        "Player1": names.A,
        "Player2": names.B,
        "Date": None if at is None else datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds"),
        "Event": event,
        "Round": round_name,
        **ruleset_tags(match.ruleset),
        "DiceId": match.dice_id,
        "Commitment": match_commitment(match),
        "Seed": match.server_seed.hex(),
        "ClientSeed1": match.dice_seeds.A,
        "ClientSeed2": match.dice_seeds.B,
        "Outcome": score.outcome.value,
        "GameX": game_text(score.games.X),
        "GameY": game_text(score.games.Y),
        "Credit": f"{score.credit_for_A}:{-score.credit_for_A}",
        "Time1": str(score.time_ms.A),
        "Time2": str(score.time_ms.B),
        # Without it, thinking time was not assessed (§7.3): not against the computer, nor where somebody gave up.
        "TimeAdjustment": str(score.time_adjustment)
        if score.outcome is Outcome.FINISHED and not match.computers
        else None,
        "Parted": None if match.parted is None else str(match.parted),
    }
    return Record(
        tags=tuple((name, text) for name in TAGS if (text := tags.get(name)) is not None),
        lines=(*map(_line, match.history), *_open_line(match)),
        result=Result(score.points, score.points if total is None else total),
    )


def game_text(game: GameScore) -> str:
    """How a game ended, as its tag says it: `W oin`, `T`, `-` (§4.3)."""
    return game.outcome if game.loss_class is None else f"{game.outcome} {game.loss_class}"


def _line(phase: PhasePlayed) -> Line:
    a, b = phase.plays.A, phase.plays.B
    return Line(roll_of(phase.roll.first, phase.roll.second), Seats(_half(a), _half(b)))


def _half(made: Made) -> Half:
    moves = sorted(made.moves, key=lambda move: (-move.start, move.end))
    return Half(made.kind, *of_moves(moves), to_tenths(made.charged_ms))


def _open_line(match: Match) -> tuple[Line, ...]:
    """The phase in which a match ended early: it counts for nobody (§8.1), but its roll was seen and perhaps played."""
    if match.roll is None or match.turn is None or None not in (match.plays.A, match.plays.B):
        return ()
    never = Half("missed", tenths=0)
    a, b = (never if made is None else _half(made) for made in (match.plays.A, match.plays.B))
    return (Line(roll_of(match.roll.first, match.roll.second), Seats(a, b)),)


def to_tenths(ms: int) -> int:
    """Milliseconds as records show them: whole tenths of a second, the nearer one."""
    return (ms + 50) // 100
