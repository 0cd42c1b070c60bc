"""The card of a finished match: what stands on it, that no name breaks it, and how the server gives it away."""

from __future__ import annotations

import asyncio
import re
import struct
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import pytest_asyncio

from app.cards import raster
from app.cards.drawing import Card, Ended, Language, Objective, Player, description, draw, title
from app.cards.letters import drawable
from app.cards.raster import CannotDraw, png_of
from app.service import cards as service
from app.service.errors import NoPicture
from engine.match import SetResult
from engine.turn import Seat, Seats
from engine.view import view_for
from tests.builders import a_match
from tests.support.server import LiveServer, Person, person, running_server, seated

_SVG = "{http://www.w3.org/2000/svg}"

CARD = Card(
    players=Seats(Player("Вера Ланская"), Player("Глеб", tag="k3f")),
    outcome="finished",
    winner=Seat.A,
    points=Seats(93, -93),
    games=(Ended("-"), Ended("K", "mars")),
    preset="objective",
    finished_at=1_796_040_000_000,  # 30 November 2026
    parted=1,
    rounds=26,
    objective=Objective(result_for_A=3.404, luck_for_A=4.131, rest_for_A=-0.727),
    address="nardy.example/match/k3fA9bQz01",
)


def texts(svg: str) -> list[str]:
    """All that is written on a card."""
    return ["".join(text.itertext()) for text in ElementTree.fromstring(svg).iter(f"{_SVG}text")]


# ------------------------------------------------------------------------------------------------------- what is on it


def test_a_card_says_all_that_it_should_in_russian() -> None:
    assert texts(draw(CARD, "ru")) == [
        "Нарды объективные",
        "Объективные · 30 ноября 2026",
        "Вера Ланская",
        "Глеб #k3f",
        "победа",
        "+93",
        ":",
        "−93",
        "X: не окончена · Y: марс",
        "Объективный итог",
        "0,7 очка",
        "в пользу: Глеб #k3f",
        "← Вера Ланская",
        "Глеб #k3f →",
        "Итог двух партий",
        "3,4",
        "Везение заров",
        "4,1",
        "Без везения",
        "0,7",
        "Партии разошлись в раунде 1 из 26",
        "nardy.example/match/k3fA9bQz01",
    ]


def test_a_card_says_all_that_it_should_in_english() -> None:
    said = texts(draw(CARD, "en"))
    assert said[:2] == ["Objective nardy", "Objective · 30 November 2026"]
    assert said[4:9] == ["winner", "+93", ":", "−93", "X: unfinished · Y: gammon (mars)"]
    assert said[9:12] == ["Objective result", "0.7 points", "for Глеб #k3f"]
    assert said[-2] == "The games parted in round 1 of 26"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"outcome": "resigned"}, "X: не окончена · Y: марс · сдача", id="resigned"),
        pytest.param(
            {"outcome": "time", "games": (Ended("C", "oin"), Ended("-"))},
            "X: сдана, ойн · Y: не окончена · вышло время",
            id="on time, a game conceded",
        ),
        pytest.param({"outcome": "abandoned", "games": (Ended("C"), Ended("-"))}, "сдана ·", id="no class"),
        pytest.param({"outcome": "agreed", "winner": None}, "по соглашению", id="agreed"),
        pytest.param({"outcome": "adjudicated"}, "решение арбитра", id="adjudicated"),
        pytest.param({"games": (Ended("T"), Ended("W", "koks"))}, "X: ничья · Y: кокс", id="a tie and koks"),
        pytest.param({"parted": None}, "Партии не разошлись", id="never parted"),
        pytest.param({"outcome": "void"}, "матч аннулирован", id="void"),
        pytest.param({"outcome": "aborted"}, "матч прерван", id="aborted"),
        pytest.param({"objective": Objective(1.04, 1.0, 0.04)}, "поровну", id="nothing is left"),
        pytest.param({"objective": Objective(2.0, 1.5, 0.5)}, "в пользу: Вера Ланская", id="for the other"),
    ],
)
def test_every_way_of_ending_has_its_words(changes: dict[str, Any], words: str) -> None:
    assert any(words in text for text in texts(draw(replace(CARD, **changes), "ru")))


def test_a_match_that_counts_for_nothing_has_no_score_and_no_winner() -> None:
    said = texts(draw(replace(CARD, outcome="void", winner=None, objective=None), "ru"))
    assert not {"+93", "−93", "победа", "Объективный итог"} & set(said)


def test_without_an_analysis_there_is_no_objective_result() -> None:
    said = texts(draw(replace(CARD, objective=None), "ru"))
    assert "Объективный итог" not in said
    assert "+93" in said


@pytest.mark.parametrize(
    ("player", "name"),
    [
        pytest.param(
            Player("bgsage master", level="master", is_computer=True), "Компьютер · мастер", id="level"
        ),
        pytest.param(Player("another", is_computer=True), "Компьютер", id="unknown level"),
        pytest.param(Player("Зарик", tag="k3f", is_bot=True), "бот · Зарик #k3f", id="bot"),
        pytest.param(Player(""), "…", id="nobody"),
    ],
)
def test_a_computer_is_called_as_on_the_pages(player: Player, name: str) -> None:
    assert name in texts(draw(replace(CARD, players=Seats(CARD.players.A, player)), "ru"))


def test_what_a_messenger_shows_says_score_and_objective_result() -> None:
    assert title(CARD, "ru") == "Вера Ланская +93 : −93 Глеб #k3f"
    assert description(CARD, "ru") == (
        "X: не окончена · Y: марс. Объективный итог: 0,7 очка, в пользу: Глеб #k3f. "
        "Партии разошлись в раунде 1 из 26."
    )


# --------------------------------------------------------------------------------------------------- no name breaks it

NAMES = [
    pytest.param("<script>alert(1)</script>&\"'", id="markup"),
    pytest.param("]]><!--</text><image href='http://x.example/'/>", id="markup that closes"),
    pytest.param("\u202eknirb\u202c\u200f\u2066", id="marks that turn the direction"),
    pytest.param("שלום عليكم", id="right to left"),
    pytest.param("👑🎲🔥" * 8, id="emoji"),
    pytest.param("Ж" * 40, id="forty wide letters"),
    pytest.param("i" * 40, id="forty narrow letters"),
    pytest.param("а\u0301" * 20, id="accents"),
    pytest.param("\x00\x08\ud83d\ufffe\u2028a", id="what XML cannot hold"),
]


@pytest.mark.parametrize("language", ["ru", "en"])
@pytest.mark.parametrize("name", NAMES)
def test_a_name_stays_a_text_in_its_own_room(name: str, language: Language) -> None:
    svg = draw(replace(CARD, players=Seats(Player(name), Player(name)), address=name), language)
    root = ElementTree.fromstring(svg)
    assert {element.tag.removeprefix(_SVG) for element in root.iter()} == {
        *("svg", "title", "desc", "rect", "g", "path", "text", "line")
    }
    assert not re.search(r"\s(on\w+|href|style)=", re.sub(r">[^<]*<", "><", svg))
    assert len(texts(svg)) == 22
    assert not re.search("[\u200e\u200f\u202a-\u202e\u2066-\u2069]", svg)
    assert len(svg.encode()) < raster.MOST_BYTES


def test_a_long_name_is_cut_and_a_short_one_is_not() -> None:
    said = texts(
        draw(replace(CARD, players=Seats(Player("Ж" * 40), Player("Александра Константинова"))), "ru")
    )
    assert said[2].endswith("…")
    assert said[3] == "Александра Константинова"


def test_the_mark_of_a_bot_is_never_cut_off() -> None:
    players = Seats(Player("Ж" * 24, is_bot=True), Player("Ж" * 24, tag="k3f7", is_bot=True))
    said = texts(draw(replace(CARD, players=players), "ru"))
    assert said[2].startswith("бот · ЖЖ")
    assert said[3].startswith("бот · ЖЖ")


# ------------------------------------------------------------------------------------------------------------- as PNG


def size_of(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", png[16:24])
    return width, height


def a_text(text: str) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="80" font-family="Inter">'
        f'<text x="10" y="50" font-size="40" font-weight="700">{text}</text></svg>'
    )


@pytest.mark.parametrize(
    ("by", "why", "said"), [("server", "round-over", "round-over"), ("a", "late", "adjudicated")]
)
def test_no_arbiter_is_named_where_the_server_ended_the_match(by: str, why: str, said: str) -> None:
    table = a_match().play_until("2W")
    table.do(SetResult(by, 7, why, table.at(0)))
    result = view_for(table.match, None).result
    assert result is not None
    assert service._outcome(result) == said


async def test_a_card_becomes_a_picture_of_its_size() -> None:
    assert size_of(await png_of(draw(CARD, "ru"))) == (1200, 630)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param("Ж", "Щ", id="Cyrillic"),
        pytest.param("ə", "ţ", id="Latin with marks"),
        pytest.param("Ա", "Բ", id="Armenian"),
        pytest.param("გ", "დ", id="Georgian"),
        pytest.param("א", "ב", id="Hebrew"),
        pytest.param("ع", "ب", id="Arabic"),
        pytest.param("🎲", "🔥", id="emoji"),
        pytest.param("½", "−", id="signs"),
    ],
)
async def test_letters_are_drawn_with_the_fonts_that_come_along(one: str, other: str) -> None:
    """What no font has is drawn as the same empty box, whichever letter it is: these are not."""
    drawn = [await png_of(a_text(text)) for text in (one, other, "漢")]
    assert len(set(drawn)) == 3


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        pytest.param("Вера", "Вера", id="all of it"),
        pytest.param("а\u0301б", "а\u0301б", id="an accent"),
        pytest.param("محمد علي", "محمد علي", id="Arabic"),
        pytest.param("👑🎲", "👑🎲", id="emoji"),
        pytest.param("!!", "!!", id="signs"),
        pytest.param("李明 Wang", "… Wang", id="some of it"),
        pytest.param("हिन्दी x ไทย", "… x …", id="marks of letters that are left out"),
        pytest.param("李明", "", id="nothing"),
        pytest.param("李明!", "", id="nothing to read"),
    ],
)
def test_letters_that_no_font_has_are_left_out_of_a_picture(name: str, shown: str) -> None:
    assert drawable(name) == shown


@pytest.mark.parametrize(("language", "nobody"), [("ru", "Игрок 2 #k3f"), ("en", "Player 2 #k3f")])
def test_a_player_whose_name_cannot_be_drawn_has_his_number(language: Language, nobody: str) -> None:
    card = replace(CARD, players=Seats(Player("李明 Wang"), Player("王秀英", tag="k3f")))
    assert texts(draw(card, language))[2:4] == ["李明 Wang", "王秀英 #k3f"]
    assert texts(draw(card, language, to_raster=True))[2:4] == ["… Wang", nobody]
    computer = Player("computer", level="master", is_computer=True)
    card = replace(CARD, players=Seats(Player(""), computer))
    assert texts(draw(card, language, to_raster=True)) == texts(draw(card, language))


async def test_what_is_no_picture_is_said_to_be_none() -> None:
    with pytest.raises(CannotDraw):
        await png_of("<svg")
    with pytest.raises(CannotDraw, match="too long"):
        await png_of(" " * (raster.MOST_BYTES + 1))


async def test_a_picture_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(raster, "SECONDS", 0.001)
    began = time.monotonic()
    with pytest.raises(CannotDraw, match="not drawn within"):
        await png_of(draw(CARD, "ru"))
    assert time.monotonic() - began < 2


async def test_the_event_loop_goes_on_while_pictures_are_drawn() -> None:
    """The renderer lets no other thread run for as long as it draws, 70 ms or more; the loop must not feel it."""
    gaps, going = [0.0], True

    async def tick() -> None:
        while going:
            before = time.perf_counter()
            await asyncio.sleep(0.002)
            gaps.append(time.perf_counter() - before)

    ticking = asyncio.create_task(tick())
    svg = draw(CARD, "ru")
    await asyncio.gather(*(png_of(svg) for _ in range(4)))
    going = False
    await ticking
    assert sorted(gaps)[int(len(gaps) * 0.95)] < 0.05


# ---------------------------------------------------------------------------------------------- drawn once, and bounded


@pytest.fixture
def drawings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is drawn, instead of drawing it."""
    drawn: list[str] = []

    async def png(svg: str) -> bytes:
        drawn.append(svg)
        await asyncio.sleep(0.01)
        if "broken" in svg:
            raise CannotDraw("broken")
        return svg.encode()

    monkeypatch.setattr(service, "png_of", png)
    return drawn


@pytest_asyncio.fixture
async def cards() -> AsyncIterator[service.Cards]:
    """Without matches: only pictures are asked for."""

    made = service.Cards(None, None)  # type: ignore[arg-type]
    yield made
    await made.close()


async def test_equal_cards_are_drawn_once(cards: service.Cards, drawings: list[str]) -> None:
    assert await asyncio.gather(*(cards.png("a") for _ in range(50))) == [b"a"] * 50
    assert await cards.png("a") == b"a"
    assert drawings == ["a"]


async def test_pictures_that_nobody_asks_for_are_forgotten(cards: service.Cards, drawings: list[str]) -> None:
    for n in range(service.KEPT + 1):
        await cards.png(str(n))
    await cards.png(str(service.KEPT))
    await cards.png("0")
    assert drawings.count(str(service.KEPT)) == 1
    assert drawings.count("0") == 2


async def test_too_many_at_once_are_refused_and_later_taken(
    cards: service.Cards, drawings: list[str]
) -> None:
    asked = [asyncio.create_task(cards.png(str(n))) for n in range(service.MOST_WAITING + 5)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(answer, NoPicture) for answer in answers) == 5
    assert await cards.png("later") == b"later"


async def test_what_could_not_be_drawn_is_tried_again(cards: service.Cards, drawings: list[str]) -> None:
    for _ in range(2):
        with pytest.raises(NoPicture):
            await cards.png("broken")
    assert len(drawings) == 2


async def test_one_who_leaves_takes_the_picture_from_nobody(
    cards: service.Cards, drawings: list[str]
) -> None:
    leaves, stays = (asyncio.create_task(cards.png("a")) for _ in range(2))
    await asyncio.sleep(0.002)
    leaves.cancel()
    assert await stays == b"a"


# -------------------------------------------------------------------------------------------------------- over HTTP


@pytest_asyncio.fixture
async def over(server: LiveServer) -> AsyncIterator[tuple[Person, str]]:
    """A match that Boris has resigned after a phase, and somebody who looks at it."""
    async with seated(server) as (match_id, anna, boris, a, b):
        await asyncio.gather(a.play_something(), b.play_something())
        await asyncio.gather(*(d.until_view(lambda v: v["turn"] != "1W") for d in (a, b)))
        await b.ask(type="resign", turn=b.view["turn"], points=b.view["mine"]["resign"]["points"])
        await a.until_view(lambda v: v["stage"] == "over")
        async with person(server, None) as guest:
            yield guest, match_id


async def test_a_finished_match_has_its_card(over: tuple[Person, str], server: LiveServer) -> None:
    guest, match_id = over
    svg = await guest.http.get(f"/api/matches/{match_id}/card.svg?lang=en")
    assert svg.headers["content-type"] == "image/svg+xml"
    assert svg.headers["cache-control"] == "public, max-age=300"
    said = texts(svg.text)
    assert {"Objective nardy", "winner"} < set(said)
    assert [name for name in said if re.fullmatch(r"(Anna|Boris)( #\w+)?", name)]
    assert said[-1] == f"{server.url.removeprefix('http://')}/match/{match_id}"
    png = await guest.http.get(f"/api/matches/{match_id}/card.png?lang=ru")
    assert png.headers["content-type"] == "image/png"
    assert size_of(png.content) == (1200, 630)


async def test_a_card_that_the_caller_has_is_not_sent_again(
    over: tuple[Person, str], drawings: list[str]
) -> None:
    guest, match_id = over
    path = f"/api/matches/{match_id}/card.png?lang=ru"
    first = await guest.http.get(path)
    again = await guest.http.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    head = await guest.http.head(path)
    assert (head.status_code, head.headers["etag"]) == (200, first.headers["etag"])
    assert len(drawings) == 1


async def test_a_match_that_runs_or_is_not_there_has_none(server: LiveServer) -> None:
    async with seated(server) as (match_id, anna, *_):
        for kind in ("svg", "png"):
            answer = await anna.http.get(f"/api/matches/{match_id}/card.{kind}")
            assert (answer.status_code, answer.json()["code"]) == (409, "match-still-runs")
            answer = await anna.http.get(f"/api/matches/none/card.{kind}")
            assert (answer.status_code, answer.json()["code"]) == (404, "no-such-match")
        page = await anna.http.get(f"/match/{match_id}")
        assert "og:" not in page.text


LANGUAGES = [
    pytest.param({}, "Нарды объективные", id="nothing said: Russian"),
    pytest.param({"Accept-Language": "de-DE,de;q=0.9"}, "Objective nardy", id="German: English"),
    pytest.param({"Accept-Language": "kk-KZ"}, "Нарды объективные", id="Kazakh: Russian"),
    pytest.param({"Accept-Language": "en", "Cookie": "lang=ru"}, "Нарды объективные", id="chosen"),
]


@pytest.mark.parametrize(("headers", "brand"), LANGUAGES)
async def test_a_card_is_in_the_callers_language(
    over: tuple[Person, str], headers: dict[str, str], brand: str
) -> None:
    guest, match_id = over
    svg = await guest.http.get(f"/api/matches/{match_id}/card.svg", headers=headers)
    assert texts(svg.text)[0] == brand


def tags(page: str) -> dict[str, str]:
    return dict(re.findall(r'<meta (?:property|name)="([\w:]+)" content="([^"]*)">', page))


@pytest.mark.parametrize("path", ["match", "replay"])
async def test_a_link_to_a_finished_match_shows_its_card(
    over: tuple[Person, str], server: LiveServer, path: str
) -> None:
    guest, match_id = over
    page = await guest.http.get(f"/{path}/{match_id}", headers={"Accept-Language": "en"})
    found = tags(page.text)
    assert found["og:image"] == f"{server.url}/api/matches/{match_id}/card.png?lang=en"
    assert found["og:url"].endswith(f"/match/{match_id}")
    assert re.fullmatch(r"(Anna|Boris)( #\w+)? \S+ : \S+ (Anna|Boris)( #\w+)?", found["og:title"])
    assert "resigned" in found["og:description"]
    assert (found["og:image:width"], found["og:image:height"]) == ("1200", "630")
    assert found["twitter:card"] == "summary_large_image"
    picture = await guest.http.get(found["og:image"])
    assert size_of(picture.content) == (1200, 630)


async def test_a_name_cannot_write_into_the_page(sqlite_url: str, tmp_path: Path) -> None:
    async with running_server(sqlite_url, tmp_path / "data", base_url="http://nardy.example") as server:
        async with person(server, '"><script>x()</script>') as anna:
            made = await anna.post("/api/matches", {"preset": "training", "opponent": "computer"})
            async with anna.display(made["id"]) as a:
                await a.until_view(lambda v: v["stage"] == "playing" or v["stage"] == "seeding")
                await a.commit_seed()
                await a.reveal_seed()
                await a.until_view(lambda v: v["stage"] == "playing" and v["mine"] and v["mine"]["resign"])
                await a.ask(type="resign", turn=a.view["turn"], points=a.view["mine"]["resign"]["points"])
                await a.until_view(lambda v: v["stage"] == "over")
            page = await anna.http.get(f"/match/{made['id']}")
            assert "<script>x()" not in page.text
            found = tags(page.text)
            assert found["og:image"] == f"http://nardy.example/api/matches/{made['id']}/card.png?lang=ru"
            assert "&quot;&gt;&lt;script&gt;" in found["og:title"]


async def test_a_page_stands_without_its_preview(over: tuple[Person, str], server: LiveServer) -> None:
    guest, match_id = over

    async def fails(*_: Any) -> None:
        raise OSError("the database is away")

    server.services.lobby.info = fails
    page = await guest.http.get(f"/match/{match_id}")
    assert page.status_code == 200
    assert "og:" not in page.text
