"""A finished match as a file that stands alone: rolls, plays, times, seeds, result."""

from __future__ import annotations

from typing import Any

from app.service.info import PlayerInfo
from app.service.matches import HistoryView

FORMAT = "nardy-match/1"


def match_file(history: HistoryView) -> dict[str, Any]:
    """What `nardy verify`, `nardy analyse` and the dice page read; of a finished match only."""
    info, view = history.info, history.view
    finished = len(history.phases)
    return {
        "format": FORMAT,
        "match": info.id,
        "dice_id": history.dice_id,
        "variant": info.ruleset["variant"],
        "preset": info.preset,
        "ruleset": info.ruleset,
        "players": {
            "A": info.players.A and _player(info.players.A),
            "B": info.players.B and _player(info.players.B),
        },
        "started_at": info.started_at,
        "finished_at": info.finished_at,
        "dice": view.dice,
        "phases": [
            {
                "turn": phase.turn,
                "roll": phase.roll,
                "plays": {"A": phase.plays.A.play, "B": phase.plays.B.play},
                "ms": phase.ms,
            }
            for phase in history.phases
        ],
        "open": {"turn": view.turn, "roll": view.roll} if len(view.record) > finished else None,
        "parted": view.parted,
        "result": view.result,
        "ratings": info.ratings,
    }


def _player(player: PlayerInfo) -> dict[str, Any]:
    said: dict[str, Any] = {"name": player.name, "kind": player.kind}
    return said | {"version": player.version} if player.version else said
