"""The card of a finished match, as pictures, and as what messengers show beside a link to it."""

from __future__ import annotations

import hashlib
from html import escape
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from app.service.cards import LANGUAGES, Language, Preview
from app.web.deps import Served, Services, site_of
from app.web.openapi import PROBLEM

router = APIRouter(prefix="/api/matches/{match_id}", tags=["matches"], responses=PROBLEM)
Lang = Annotated[Language | None, Query(description="The caller's own language if it is not said.")]

_KEPT = "public, max-age=300"  # an analysis may still come, or another name

# Browsers set to these languages are answered in Russian when English does not come before them, as by the pages.
_NEAR_RUSSIAN = frozenset("ru be uk kk ky uz tg tk hy az ka ab os ce tt ba cv sah mn bg sr mk".split())


def _picture(media_type: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {media_type: {}}}}


@router.head("/card.svg", include_in_schema=False)
@router.get(
    "/card.svg",
    summary="The card of a finished match, to be shared, as SVG",
    response_class=Response,
    responses=_picture("image/svg+xml"),
)
async def card_svg(of: Served, request: Request, match_id: str, lang: Lang = None) -> Response:
    """1200 × 630. Problems: `no-such-match`, `match-still-runs`."""
    svg = await of.cards.svg(match_id, lang or language_of(request), _address(of, request, match_id))
    tag = _tag(svg)
    if _has(request, tag):
        return _answer(b"", "image/svg+xml", tag, 304)
    return _answer(svg.encode(), "image/svg+xml", tag)


@router.head("/card.png", include_in_schema=False)
@router.get(
    "/card.png",
    summary="The card of a finished match, to be shared, as PNG",
    response_class=Response,
    responses=_picture("image/png"),
)
async def card_png(of: Served, request: Request, match_id: str, lang: Lang = None) -> Response:
    """1200 × 630. Problems: `no-such-match`, `match-still-runs`, `no-picture`."""
    language, address = lang or language_of(request), _address(of, request, match_id)
    svg = await of.cards.svg(match_id, language, address, to_raster=True)
    tag = _tag(svg)
    if _has(request, tag):
        return _answer(b"", "image/png", tag, 304)
    return _answer(await of.cards.png(svg), "image/png", tag)


def meta_tags(of: Services, request: Request, match_id: str, language: Language, preview: Preview) -> str:
    """What stands in the head of a page about this match (Open Graph)."""
    site = site_of(of, request)
    said = {
        "og:type": "website",
        "og:url": f"{site}/match/{match_id}",
        "og:title": preview.title,
        "og:description": preview.description,
        "og:locale": {"ru": "ru_RU", "en": "en_GB"}[language],
        "og:image": f"{site}/api/matches/{match_id}/card.png?lang={language}",
        "og:image:type": "image/png",
        "og:image:width": "1200",
        "og:image:height": "630",
        "og:image:alt": preview.title,
    }
    lines = [f'<meta property="{name}" content="{escape(value)}">' for name, value in said.items()]
    lines.append('<meta name="twitter:card" content="summary_large_image">')
    lines.append(f'<meta name="description" content="{escape(preview.description)}">')
    return "\n  ".join(lines)


def language_of(request: Request) -> Language:
    """The language of the caller's choice, else of the browser; Russian for a program that says none."""
    chosen = request.cookies.get("lang")
    if chosen in LANGUAGES:
        return chosen
    accepted = request.headers.get("accept-language", "")
    for part in accepted.split(","):
        first = part.partition(";")[0].strip().lower().partition("-")[0]
        if first in _NEAR_RUSSIAN:
            return "ru"
        if first == "en":
            return "en"
    return "en" if accepted else "ru"


def _address(of: Services, request: Request, match_id: str) -> str:
    return f"{site_of(of, request).partition('://')[2]}/match/{match_id}"


def _tag(svg: str) -> str:
    return f'"{hashlib.sha256(svg.encode()).hexdigest()[:32]}"'


def _has(request: Request, tag: str) -> bool:
    return tag in (
        one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")
    )


def _answer(body: bytes, media_type: str, tag: str, status: int = 200) -> Response:
    headers = {"Cache-Control": _KEPT, "ETag": tag, "Vary": "Accept-Language, Cookie"}
    return Response(body, status, headers, media_type=media_type)
