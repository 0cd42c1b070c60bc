"""A finished match in the forms that people and other programs read; positions as those programs name them."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass

from app.service.info import Info, PlayerInfo
from engine.match import Match
from engine.position import Position
from engine.records import mat
from engine.records.ids import Exchange, position_id, xgid
from engine.records.objective.record import Record, record_of
from engine.records.objective.words import LANGUAGES
from engine.records.objective.writer import write
from engine.turn import Games, Seats
from engine.variant import SHORT

_ZIPPED_AT = (1980, 1, 1, 0, 0, 0)  # the same match is the same file


@dataclass(frozen=True, slots=True)
class PositionIds:
    """A position as other programs read it, seen by the side that is to throw."""

    xgid: str
    gnubg: str


def ids_of(start: Games[Position], match: Match) -> tuple[Games[PositionIds], ...] | None:
    """Both games at the start and after every finished phase; None for a game that no other program knows."""
    if match.ruleset.variant != SHORT.key:
        return None
    found = [Games(_ids(start.X), _ids(start.Y))]
    for phase in match.history:
        sides = (phase.games.X, phase.games.Y)
        x, y = sides if phase.turn.black else (position.turned() for position in sides)
        found.append(Games(_ids(x), _ids(y)))
    return tuple(found)


def _ids(position: Position) -> PositionIds:
    return PositionIds(xgid(Exchange(position)), position_id(position))


def record_for(match: Match, info: Info) -> Record:
    """The record of a match that is over; ValueError while it runs."""
    names = Seats(_name(info.players.A), _name(info.players.B))
    return record_of(match, names, at=info.started_at)


def _name(player: PlayerInfo | None) -> str:
    """With the tag that tells two of one name apart."""
    if player is None:
        return ""
    return f"{player.name} #{player.tag.lstrip('#')}" if player.tag else player.name


def record_text(record: Record, form: str, language: str) -> str:
    """The record as a text: short, full or fixed; ru or en."""
    return write(record, form, LANGUAGES[language])


def mat_text(record: Record) -> str:
    """Both games for other programs. Raises NotInForm for another game than short nardy."""
    return mat.write(mat.mat_of(record))


def mat_zip(record: Record, name: str) -> bytes:
    """The same, a file for each game, zipped. Raises NotInForm."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for game, file in zip("XY", mat.split(mat.mat_of(record)), strict=True):
            entry = zipfile.ZipInfo(f"{name}-{game}.mat", _ZIPPED_AT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, mat.write(file))
    return packed.getvalue()
