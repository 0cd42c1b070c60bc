"""The card as SVG: 1200 × 630, what messengers show beside a link. Pure: the same facts are the same text.

Everything is written as attributes, for the pages' policy lets no inline style in; nothing is loaded from anywhere.
Names come from players: each is cleaned, escaped, and stands in a text of its own that is cut to its room.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import escape

from app.cards.letters import drawable
from engine.turn import Seat, Seats

WIDTH, HEIGHT = 1200, 630
Language = Literal["ru", "en"]
LANGUAGES: tuple[Language, ...] = ("ru", "en")

_LOCALES = Path(__file__).parents[2] / "static" / "locales"
_BACK, _SURFACE, _LINE, _GREY = "#f6f5f2", "#ffffff", "#dcdad4", "#81868c"  # as in tokens.css, light
_TEXT, _MUTED, _ACCENT = "#1c2024", "#575e66", "#0e6373"
_LEAST = 0.05  # points: less is written as nothing


@dataclass(frozen=True, slots=True)
class Player:
    """Who played: a person or a bot by name and tag, a computer by its level."""

    name: str
    tag: str | None = None
    level: str | None = None
    is_computer: bool = False
    is_bot: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """How a game ended: W, K, T, - or C as in a result, and the class of the loss."""

    outcome: str
    loss_class: str | None = None


@dataclass(frozen=True, slots=True)
class Objective:
    """The objective result and what it is the rest of (§6.4), in points, positive for A."""

    result_for_A: float
    luck_for_A: float
    rest_for_A: float


@dataclass(frozen=True, slots=True)
class Card:
    """All that stands on it. `address` is shown as it is; `finished_at` in ms."""

    players: Seats[Player]
    outcome: str
    winner: Seat | None
    points: Seats[int]
    games: tuple[Ended, Ended]  # X and Y
    preset: str
    finished_at: int
    parted: int | None
    rounds: int
    objective: Objective | None
    address: str


# --------------------------------------------------------------------------------------------------------- in words


def title(card: Card, language: Language) -> str:
    """Who played whom, and the score; plain text."""
    names = _names(card, language)
    if _is_unplayed(card):
        return f"{names.A} – {names.B}: {_word(language, 'card', 'unplayed', card.outcome)}"
    return f"{names.A} {_signed(card.points.A)} : {_signed(card.points.B)} {names.B}"


def description(card: Card, language: Language) -> str:
    """How it ended, the objective result, the round of parting; plain text."""
    said = [_games_words(card, language)] if not _is_unplayed(card) else []
    if card.objective is not None:
        label, value, favours = _objective_words(card, card.objective, language)
        said.append(f"{label}: {', '.join(filter(None, (value, favours)))}")
    said.append(_parted_words(card, language))
    return ". ".join(said) + "."


def _names(card: Card, language: Language) -> Seats[str]:
    return Seats(*(_name(card.players[seat], language) for seat in Seat))


def _name(player: Player, language: Language) -> str:
    if player.is_computer:
        if player.level is None:
            return _word(language, "common", "computer")
        level = _word(language, "common", "level", player.level)
        return _word(language, "common", "computer_level").format(level=level)
    name = visible(player.name) or "…"
    name = f"{name} #{player.tag}" if player.tag else name
    # In front, where it is not cut off with a long name.
    return f"{_word(language, 'common', 'bot')} · {name}" if player.is_bot else name


def _drawable(players: Seats[Player], language: Language) -> Seats[Player]:
    """The players by names that a PNG can show; who has none in such letters is player 1 or 2, as in records."""
    unread = _word(language, "card", "player")
    names = (drawable(visible(players[seat].name)) for seat in Seat)
    return Seats(
        *(
            replace(players[seat], name=name or unread.format(n=n) if players[seat].name else "")
            for n, (seat, name) in enumerate(zip(Seat, names, strict=True), 1)
        )
    )


def _is_unplayed(card: Card) -> bool:
    return card.outcome in ("aborted", "void")


def _games_words(card: Card, language: Language) -> str:
    parts = [f"{key}: {_game_words(game, language)}" for key, game in zip("XY", card.games, strict=True)]
    if card.outcome != "finished":
        parts.append(_word(language, "card", "outcome", card.outcome))
    return " · ".join(parts)


def _game_words(game: Ended, language: Language) -> str:
    loss = _word(language, "common", "class", game.loss_class) if game.loss_class else None
    if game.outcome == "C":
        conceded = _word(language, "card", "game", "conceded")
        return f"{conceded}, {loss}" if loss else conceded
    if game.outcome == "-":
        return _word(language, "card", "game", "unfinished")
    return loss or _word(language, "card", "game", "tied")


def _objective_words(card: Card, objective: Objective, language: Language) -> tuple[str, str, str | None]:
    """The label, how much, and for whom."""
    label, rest = _word(language, "card", "objective"), objective.rest_for_A
    if abs(rest) < _LEAST:
        return label, _word(language, "card", "even"), None
    value = _word(language, "card", "points").format(value=_decimal(abs(rest), language))
    favoured = _names(card, language)[Seat.A if rest > 0 else Seat.B]
    return label, value, _word(language, "card", "favours").format(name=favoured)


def _parted_words(card: Card, language: Language) -> str:
    if card.parted is None:
        return _word(language, "card", "never_parted")
    return _word(language, "card", "parted").format(n=card.parted, all=card.rounds)


def _about_words(card: Card, language: Language) -> str:
    day = datetime.fromtimestamp(card.finished_at / 1000, UTC)
    month = _word(language, "card", "month", str(day.month))
    date = _word(language, "card", "date").format(day=day.day, month=month, year=day.year)
    return f"{_word(language, 'common', 'preset', card.preset)} · {date}"


def _signed(points: int) -> str:
    return f"+{points}" if points > 0 else f"−{-points}" if points < 0 else "0"


def _decimal(number: float, language: Language) -> str:
    text = f"{number:.1f}"
    return text.replace(".", ",") if language == "ru" else text


def _word(language: Language, namespace: str, *path: str) -> str:
    found: Any = _words(language, namespace)
    for key in path:
        found = found[key]
    assert isinstance(found, str)
    return found


@cache
def _words(language: Language, namespace: str) -> dict[str, Any]:
    words: dict[str, Any] = json.loads((_LOCALES / language / f"{namespace}.json").read_text("utf-8"))
    return words


# ------------------------------------------------------------------------------------------------------- text in a box


def visible(text: str) -> str:
    """Without controls and what changes the direction of others' text, whatever was once let into a name."""
    kept = "".join(char if unicodedata.category(char)[0] != "C" else " " for char in text)
    return " ".join(kept.split())


def _width(text: str) -> float:
    """In ems, rather too much than too little: of the bold letters that are drawn."""
    return sum(map(_advance, text))


def _advance(char: str) -> float:
    kind = unicodedata.category(char)
    if kind in ("Mn", "Me"):
        return 0
    if kind == "So" or unicodedata.east_asian_width(char) in "WF":
        return 1.35
    if char in _NARROW:
        return 0.42
    if char in _WIDEST or "\u0180" <= char <= "\u024f" or "\u0460" <= char <= "\u052f":
        return 1.13
    if char in _WIDE:
        return 0.96
    return 0.86 if kind == "Lu" or char > "\u052f" else 0.69


_NARROW = frozenset(" .,:;!|'’ijlfrtI()[]/·")
_WIDE = frozenset("MmwмфыюжшщњМФЫ%÷…—")
_WIDEST = frozenset("@WÆŒШЩЖЮЉЊљ")


def _fitted(text: str, size: int, least: int, room: float) -> tuple[str, int]:
    """The text and its size, smaller if need be, cut if that is not enough."""
    while size > least and _width(text) * size > room:
        size -= 1
    if _width(text) * size > room:
        while text and _width(text + "…") * size > room:
            text = text[:-1]
        text = text.rstrip() + "…"
    return text, size


def _cut(name: str) -> str:
    """A name for a small place."""
    return _fitted(name, 15, 15, 200)[0]


@dataclass(frozen=True, slots=True)
class _Style:
    size: int
    fill: str = _TEXT
    bold: bool = False
    anchor: Literal["start", "middle", "end"] = "start"
    least: int = 14


def _text(text: str, x: float, y: float, room: float, style: _Style) -> str:
    text, size = _fitted(visible(text), style.size, style.least, room)
    weight = ' font-weight="700"' if style.bold else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{style.fill}" text-anchor="{style.anchor}"{weight}>'
        f"{escape(text)}</text>"
    )


# ---------------------------------------------------------------------------------------------------------- the picture

_MARGIN = 64
_RIGHT = WIDTH - _MARGIN
_MIDDLE = WIDTH / 2


def draw(card: Card, language: Language, *, to_raster: bool = False) -> str:
    """The card as an SVG document; to be made a PNG, it has no letters that the fonts of the PNG lack."""
    if to_raster:
        card = replace(card, players=_drawable(card.players, language))
    down = 0 if card.objective is not None else 74
    parts = [
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{_BACK}"/>',
        *_head(card, language),
        *_score(card, language, down),
        *(_balance(card, card.objective, language) if card.objective is not None else ()),
        *_foot(card, language),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" xml:lang="{language}" '
        "font-family=\"Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif\">"
        f"<title>{escape(title(card, language))}</title><desc>{escape(description(card, language))}</desc>"
        f"{''.join(parts)}</svg>"
    )


def _head(card: Card, language: Language) -> list[str]:
    return [
        f'<g transform="translate({_MARGIN - 5} 44) scale(1.7)"><path d="M3 22 8.5 4 14 22z" fill="{_TEXT}"/>'
        f'<path d="M12.5 4.8h10L17.5 21z" fill="none" stroke="{_TEXT}" stroke-width="1.8" '
        'stroke-linejoin="round"/></g>',
        _text(_word(language, "common", "brand"), 116, 76, 480, _Style(30, bold=True)),
        _text(_about_words(card, language), _RIGHT, 76, 500, _Style(24, _MUTED, anchor="end")),
    ]


def _score(card: Card, language: Language, down: int) -> list[str]:
    names = _names(card, language)
    left, right, room = _MIDDLE - 40, _MIDDLE + 40, _MIDDLE - 40 - _MARGIN
    parts = [
        _text(names.A, left, 182 + down, room, _Style(44, bold=True, anchor="end", least=22)),
        _text(names.B, right, 182 + down, room, _Style(44, bold=True, least=22)),
    ]
    if _is_unplayed(card):
        words = _word(language, "card", "unplayed", card.outcome)
        return [*parts, _text(words, _MIDDLE, 284 + down, 1000, _Style(60, bold=True, anchor="middle"))]
    if card.winner is not None:
        x, anchor = (left, "end") if card.winner is Seat.A else (right, "start")
        won = _word(language, "card", "won")
        parts.append(_text(won, x, 132 + down, 300, _Style(22, _ACCENT, bold=True, anchor=anchor)))  # type: ignore[arg-type]
    big = _Style(104, bold=True, least=40)
    return [
        *parts,
        _text(
            _signed(card.points.A),
            left,
            288 + down,
            room,
            _Style(big.size, bold=True, anchor="end", least=40),
        ),
        _text(":", _MIDDLE, 280 + down, 60, _Style(80, _MUTED, anchor="middle", least=80)),
        _text(_signed(card.points.B), right, 288 + down, room, big),
        _text(_games_words(card, language), _MIDDLE, 338 + down, 1000, _Style(24, _MUTED, anchor="middle")),
    ]


def _balance(card: Card, objective: Objective, language: Language) -> list[str]:
    """The objective result in words, and beside them the sum it comes from: bars reach towards whom they favour."""
    label, value, favours = _objective_words(card, objective, language)
    parts = [
        f'<rect x="{_MARGIN}" y="372" width="{_RIGHT - _MARGIN}" height="168" rx="18" fill="{_SURFACE}" '
        f'stroke="{_LINE}"/>',
        _text(label, 96, 414, 350, _Style(24, _MUTED)),
        _text(value, 96, 472, 350, _Style(52, _ACCENT, bold=True, least=30)),
    ]
    if favours is not None:
        parts.append(_text(favours, 96, 514, 350, _Style(25, bold=True, least=16)))
    zero, reach = 880.0, 150.0
    names = _names(card, language)
    parts += [
        _text(f"← {_cut(names.A)}", zero - 14, 404, 240, _Style(19, _MUTED, anchor="end", least=15)),
        _text(f"{_cut(names.B)} →", zero + 14, 404, 240, _Style(19, _MUTED, least=15)),
        f'<line x1="{zero:g}" x2="{zero:g}" y1="388" y2="524" stroke="{_GREY}" stroke-width="2"/>',
    ]
    rows = (
        ("result", objective.result_for_A, f'fill="{_GREY}"'),
        (
            "luck",
            objective.luck_for_A,
            f'fill="none" stroke="{_GREY}" stroke-width="2" stroke-dasharray="5 4"',
        ),
        ("rest", objective.rest_for_A, f'fill="{_ACCENT}"'),
    )
    most = max(1.0, *(abs(for_a) for _, for_a, _ in rows))
    for place, (key, for_a, paint) in enumerate(rows):
        top, wide = 418 + 37 * place, max(2.0, abs(for_a) / most * reach)
        x = zero - wide if for_a > 0 else zero
        end, anchor = (zero - wide - 10, "end") if for_a > 0 else (zero + wide + 10, "start")
        is_rest = key == "rest"
        parts += [
            _text(_word(language, "card", "sum", key), 478, top + 19, 215, _Style(21, bold=is_rest)),
            f'<rect x="{x:.1f}" y="{top + 1}" width="{wide:.1f}" height="22" rx="4" {paint}/>',
            _text(_decimal(abs(for_a), language), end, top + 19, 80, _Style(21, bold=is_rest, anchor=anchor)),  # type: ignore[arg-type]
        ]
    return parts


def _foot(card: Card, language: Language) -> list[str]:
    return [
        f'<g transform="translate({_MARGIN} 568) scale(1.4)" fill="none" stroke="{_MUTED}" stroke-width="1.75" '
        'stroke-linecap="round" stroke-linejoin="round"><path d="M4 15h3c3 0 3-10 6-10h3"/>'
        '<path d="M7 15h9" stroke-dasharray="2 3"/><path d="m13.5 2.5 2.5 2.5-2.5 2.5"/></g>',
        _text(_parted_words(card, language), 104, 590, 520, _Style(23, _MUTED)),
        _text(card.address, _RIGHT, 590, 500, _Style(23, bold=True, anchor="end", least=11)),
    ]
