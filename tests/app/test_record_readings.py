"""Records sent to be checked and converted: faults, steps, forms; nothing that is sent holds the server up."""

from __future__ import annotations

import asyncio
import io
import json
import random
import re
import time
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from app.recordreader import Question, answer
from app.service import readings
from app.service.errors import ReadersBusy, TextTooHard
from app.service.readings import Readings
from engine.records.families import NotRecognised
from engine.records.wanted import phrase
from tests.support.server import LiveServer, Person, person

DATA = Path(__file__).parents[1] / "data" / "records"
CHECK, CONVERT = "/api/records/check", "/api/records/convert"


async def sent(who: Person, path: str, data: bytes, kind: str = "application/octet-stream") -> Any:
    return await who.http.post(path, content=data, headers={"content-type": kind}, timeout=60)


@pytest.mark.parametrize(
    ("file", "family", "form", "language", "steps"),
    [
        pytest.param("objective_full_int.txt", "objective", "full", "en", 58, id="full, international"),
        pytest.param("objective_full_ru.txt", "objective", "full", "ru", 58, id="full, Russian"),
        pytest.param("objective_short_ru.txt", "objective", "short", "ru", 58, id="short, Russian"),
        pytest.param("objective_fixed.txt", "objective", "fixed", "en", 58, id="fixed columns"),
        pytest.param("mat_example.mat", "mat", "mat", None, None, id="mat"),
    ],
)
async def test_the_examples_of_nardy_are_told_step_by_step(
    server: LiveServer, file: str, family: str, form: str, language: str | None, steps: int | None
) -> None:
    async with person(server, None) as somebody:
        told = await somebody.post(CHECK, {"text": (DATA / file).read_text("utf-8")})
    assert (told["taken_for"]["family"], told["taken_for"]["form"]) == (family, form)
    assert told["taken_for"]["language"] == language
    assert told["faults"] == []
    assert told["targets"][0] in ("full", "short", "mat")
    if steps is not None:
        assert len(told["steps"]["steps"]) == steps


async def test_both_boards_and_their_names_are_told_after_each_phase(server: LiveServer) -> None:
    async with person(server, None) as somebody:
        told = await somebody.post(CHECK, {"text": (DATA / "objective_full_int.txt").read_text("utf-8")})
    steps = told["steps"]
    assert steps["points"] == {"A": 74, "B": -74}
    first = steps["steps"][0]
    assert (first["turn"], first["roll"], first["plays"]["A"]) == ("1W", [3, 2], "13/10 10/8")
    assert first["boards"]["X"]["white"][8] == 4
    assert first["boards"]["X"]["black"][8] == 3
    # Black throws next, so that the board is turned: White's checkers are the small letters.
    assert steps["ids"]["X"]["xgid"] == "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"
    assert first["ids"]["X"]["xgid"] == "XGID=-b----E-C---dE---d-e----B-:0:0:1:00:0:0:0:0:10"
    assert steps["ids"]["X"]["gnubg"] == "4HPwATDgc/ABMA"


async def test_the_example_game_of_xiangqi_stops_at_its_first_misprint_and_has_two_repairs(
    server: LiveServer,
) -> None:
    text = (DATA / "xiangqi_example.txt").read_text("utf-8")
    known = json.loads((DATA / "xiangqi_example_game.json").read_text("utf-8"))
    async with person(server, None) as somebody:
        strict = await somebody.post(CHECK, {"text": text})
        (fault,) = strict["faults"]
        assert (fault["line"], fault["column"], fault["code"], fault["text"]) == (
            4,
            4,
            "no-such-piece",
            "R2+1",
        )
        assert strict["steps"] is None
        repaired = await somebody.post(CHECK, {"text": text, "repair": True})
        assert repaired["chosen"] is None
        assert len(repaired["candidates"]) == 2
        wanted = [[one["seed"], one["read_as"]] for one in known["repairs"]]
        number = 1 + [
            [[edit["text"], edit["read_as"]] for edit in one["edits"]] for one in repaired["candidates"]
        ].index(wanted)
        chosen = await somebody.post(CHECK, {"text": text, "repair": True, "choose": number})
        assert chosen["steps"]["plies"][-1]["fen"] == known["final_fen"]
        assert chosen["steps"]["ending"] == "checkmate"
        question = {"text": text, "repair": True, "choose": number, "to": "cn_trad"}
        written = (await somebody.post(CONVERT, question))["converted"]
    assert written == (DATA / "xiangqi_example_cn_trad.txt").read_text("utf-8")


async def test_an_end_of_curling_is_told_throw_by_throw_and_shortened(server: LiveServer) -> None:
    text = "1) 122_46_ (12233) RR32  33_666_ (12334) LL34\n"
    async with person(server, None) as somebody:
        told = await somebody.post(CHECK, {"text": text})
        assert [(one["start"], one["segments"]) for one in told["steps"]["throws"]] == [
            ("RR", [3, 2]),
            ("LL", [3, 4]),
        ]
        assert told["targets"] == ["short", "dice"]
        assert [note["code"] for note in told["notes"]] == ["incomplete"]
        short = await somebody.post(CONVERT, {"text": text, "to": "short"})
        assert short["converted"] == "1) RR32 LL34\n"
        wrong = await somebody.post(CHECK, {"text": text.replace("12233", "12333")})
    assert [(fault["line"], fault["code"]) for fault in wrong["faults"]] == [(1, "kept-dice")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "windows-1251", "koi8-r", "utf-16"])
async def test_a_file_in_any_encoding_is_read_from_its_bytes(server: LiveServer, encoding: str) -> None:
    text = (DATA / "objective_full_ru.txt").read_text("utf-8").replace("\n", "\r\n")
    async with person(server, None) as somebody:
        answer = await sent(somebody, CONVERT + "?to=short&language=en", text.encode(encoding))
    assert answer.status_code == 200
    told = answer.json()
    assert told["converted"] == (DATA / "objective_short_int.txt").read_text("utf-8")
    assert "line-ends" in [note["code"] for note in told["notes"]]


@pytest.mark.parametrize(
    ("question", "status", "code"),
    [
        pytest.param({"text": "Dear Sir,"}, 422, "not-recognised", id="no record"),
        pytest.param({"text": "1) L51 L53", "from": "chess"}, 422, "unknown-option", id="no such form"),
        pytest.param({"text": "1. C2=5", "dialect": "1812"}, 422, "unknown-option", id="no such dialect"),
        pytest.param({"text": "1. C2=5", "color": 1}, 400, "bad-request", id="an unknown field"),
        pytest.param({"text": 5}, 400, "bad-request", id="no text"),
        pytest.param({}, 400, "bad-request", id="nothing"),
        pytest.param([[]], 400, "bad-request", id="a list"),
    ],
)
async def test_what_cannot_be_answered_is_a_problem(
    server: LiveServer, question: Any, status: int, code: str
) -> None:
    async with person(server, None) as somebody:
        problem = await somebody.refused(CHECK, question)
        assert (problem["status"], problem["code"]) == (status, code)
        assert (await somebody.get(problem["type"]))["ru"]


async def test_a_form_that_cannot_hold_a_record_is_refused_by_what_is_missing(server: LiveServer) -> None:
    async with person(server, None) as somebody:
        problem = await somebody.refused(CONVERT, {"text": "1) L51 L53", "to": "cards"})
    assert (problem["status"], problem["code"]) == (422, "not-in-form")
    assert problem["params"]["form"] == "cards"


async def test_ten_megabytes_are_refused_at_once(server: LiveServer) -> None:
    async with person(server, None) as somebody:
        began = time.monotonic()
        answer = await sent(somebody, CHECK, b"1. C2=5 H8+7\n" * 800_000)
        assert (answer.status_code, answer.json()["code"]) == (413, "too-large")
        assert time.monotonic() - began < 2

        async def slowly() -> Any:
            for _ in range(160):
                yield b"1. C2=5 H8+7\n" * 5_000

        answer = await somebody.http.post(CHECK, content=slowly(), timeout=60)
        assert answer.status_code == 413


HOSTILE = [
    pytest.param(b"[" * 900_000, id="brackets"),
    pytest.param(b"1. C2=5 H8+7\n" * 70_000, id="a game without end"),
    pytest.param(b"01) w 31 | 8/5 6/5 | 8/5 6/5\n" * 30_000, id="lines without end"),
    pytest.param(b"1) L51 L53\n" * 80_000, id="throws without end"),
    pytest.param(b" 1) 31: 8/5 6/5  42: 8/4 6/4\n" * 30_000, id="a mat without end"),
    pytest.param(b"{" * 300_000 + b"1. C2=5" + b"(" * 300_000, id="comments in comments"),
    pytest.param(bytes(range(256)) * 3_900, id="every byte"),
    pytest.param(b"\0" * 900_000, id="zeros"),
]


@pytest.mark.parametrize("data", HOSTILE)
async def test_a_hostile_text_is_answered_in_bounded_time_and_delays_nobody(
    server: LiveServer, data: bytes
) -> None:
    async with person(server, None) as somebody:
        began = time.monotonic()
        reading = asyncio.create_task(sent(somebody, CHECK + "?repair=1", data))
        late = 0.0
        while not reading.done():
            at = time.monotonic()
            await asyncio.sleep(0.01)
            late = max(late, time.monotonic() - at)
        answer = await reading
    assert answer.status_code in (200, 422)
    if answer.status_code == 200:
        told = answer.json()
        assert told["faults"] or told["candidates"]
        assert len(told["faults"]) <= 500
    assert time.monotonic() - began < readings.SECONDS + 5
    assert late < 5


async def test_a_text_that_takes_too_long_ends_with_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "SECONDS", 0.01)
    with pytest.raises(TextTooHard):
        await Readings().answer("check", Question(text="1) L51 L53"))


async def test_a_few_are_read_at_once_and_a_few_wait() -> None:
    service = Readings()
    question = Question(text="1) L51 L53")
    asked = [asyncio.create_task(service.answer("check", question, caller=str(i))) for i in range(14)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(one, bytes) for one in answers) == readings.AT_ONCE + readings.MOST_WAITING
    assert sum(isinstance(one, ReadersBusy) for one in answers) == 4


async def test_nobody_has_all_readers_for_himself(monkeypatch: pytest.MonkeyPatch) -> None:
    service, reading, most, done = Readings(), Counter[bytes](), Counter[bytes](), asyncio.Event()

    async def read(asked: bytes) -> bytes:
        whose = asked.rpartition(b"\n")[2]
        reading[whose] += 1
        most[whose] = max(most[whose], reading[whose])
        await done.wait()
        reading[whose] -= 1
        return readings.ANSWERED + b"{}"

    monkeypatch.setattr(readings, "_read", read)

    def ask(whose: str) -> asyncio.Task[bytes]:
        return asyncio.create_task(service.answer("check", Question(), whose.encode(), caller=whose))

    greedy = [ask("greedy") for _ in range(readings.MOST_OF_ONE + 2)]
    await asyncio.sleep(0)
    other = ask("other")
    async with asyncio.timeout(5):
        while not reading[b"other"]:
            await asyncio.sleep(0)
    done.set()
    answers = await asyncio.gather(*greedy, return_exceptions=True)
    assert sum(isinstance(one, ReadersBusy) for one in answers) == 2
    assert await other == b"{}"
    assert most == {b"greedy": 1, b"other": 1}
    assert not service._here, "nobody is remembered who has nothing here"


ENGLISH = re.compile(r"\b(?:an?|the|of|or|as|at|not|one)\b")


def test_every_fault_and_note_of_spoilt_records_has_words_in_both_languages() -> None:
    dice = random.Random(6)
    told: set[str] = set()
    files = [*DATA.glob("*.txt"), DATA / "mat_example.mat"]
    texts = ["\n".join(file.read_text("utf-8").split("\n")[:24]) for file in files]
    texts += [
        "1) L51 L53\n2) LL12 LL51\n9) 0:1 (2:3)\n",
        "1) 122_46_ (12233) RR32  33_666_ (12334) LL34\n",
        "3) (7ч 8т 10б Дб Тп) Дч, 8п, Вт (8п 8т Вт Дч Дб) LL23\n   9п, 10т, Вт (7ч 8т 9п 10б Вт) R121\n",
    ]
    for number in range(900):
        signs = list(texts[number % len(texts)])
        for _ in range(dice.randint(1, 4)):
            place = dice.randrange(len(signs))
            signs[place : place + dice.randint(0, 2)] = dice.choice(
                [
                    "",
                    "x",
                    "7",
                    "-",
                    "\u2014",
                    "\u00a0",
                    "(",
                    ")",
                    "\n",
                    "R",
                    "ф",
                    "*",
                    '"',
                    "[",
                    "0",
                    ";",
                    "5 ",
                ]
            )
        try:
            found = answer(Question(text="".join(signs)), b"", convert=False)
        except NotRecognised:
            continue
        told |= {one.code for one in (*found.faults, *found.notes)}
        assert all(one.phrase or not ENGLISH.search(one.expected) for one in found.faults)
    assert len(told) > 40
    for language in ("ru", "en"):
        file = Path(__file__).parents[2] / "static" / "locales" / language / "reader.json"
        assert told - json.loads(file.read_text("utf-8"))["code"].keys() == set()


def test_every_code_that_the_documents_name_has_words() -> None:
    docs = Path(__file__).parents[2] / "docs"
    table = (docs / "RECORDS.md").read_text("utf-8").partition("| codes |")[2].partition("\n\n")[0]
    moves = (docs / "records" / "xiangqi.md").read_text("utf-8").partition("Why a move is refused")[2]
    checks = (docs / "records" / "curling.md").read_text("utf-8").partition("Checks, each with line")[2]
    text = table + moves.partition("## One move")[0] + checks.partition("Written:")[0]
    named = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", text))
    assert len(named) > 70
    words = json.loads((docs.parent / "static" / "locales" / "ru" / "reader.json").read_text("utf-8"))
    assert named - words["code"].keys() == set()


def zipped(*files: tuple[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", packing) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return made.getvalue()


MAT = (DATA / "mat_example.mat").read_bytes()
WHOLE_ZIP = zipped(("a.mat", MAT))
LZMA_ZIP = zipped(("a.mat", MAT), packing=zipfile.ZIP_LZMA)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b"PK\x03\x04" + bytes(range(256)), "bad-zip", id="no zip"),
        pytest.param(WHOLE_ZIP[:-40], "bad-zip", id="cut off"),
        pytest.param(
            WHOLE_ZIP.replace(b"\x08\x00", b"\x63\x00"), "bad-zip", id="packed in a way that is not known"
        ),
        pytest.param(
            zipped(("ж.mat", MAT)).replace("ж".encode(), b"\xd0\xff"), "bad-zip", id="a name that is no text"
        ),
        pytest.param(
            LZMA_ZIP[:60] + b"\xff\xff\xff\xff" + LZMA_ZIP[64:], "bad-zip", id="what is packed is damaged"
        ),
        pytest.param(
            WHOLE_ZIP[:-6] + b"\xff\xff\xff\x00\x00\x00", "bad-zip", id="its list begins before its beginning"
        ),
        pytest.param(zipped(("folder/", b"")), "bad-zip", id="only a folder"),
        pytest.param(zipped(("zeros.txt", b"0" * 50_000_000)), "bad-zip", id="unpacks to very much"),
        pytest.param(zipped(*((f"{n}.mat", MAT) for n in range(21))), "bad-zip", id="many files"),
        pytest.param(zipped(("a.mat", MAT), ("b.png", b"\x89PNG")), "bad-zip", id="something else in it"),
        pytest.param(
            zipped(("a.mat", MAT), ("b.mat", MAT.replace(b"Boris", b"Vera "))),
            "bad-zip",
            id="different matches",
        ),
        pytest.param(
            zipped(("a.mat", MAT), ("b.mat", MAT.replace(b"13/9", b"13/8"))), "illegal-play", id="wrong"
        ),
        pytest.param(zipped(("b.txt", b"\xff\xfe\x00")), "unreadable-bytes", id="no text in it"),
    ],
)
def test_a_zip_that_is_no_record_is_a_fault(data: bytes, code: str) -> None:
    found = answer(Question(), data, convert=False)
    assert found.faults[0].code == code


def test_the_name_of_a_file_in_a_zip_does_nothing_where_it_is_shown() -> None:
    shown = {
        "../../etc/passwd": "../../etc/passwd",  # nothing is written anywhere by this name
        "\x1b[31mred\u202e\n.mat": "\ufffd[31mred\ufffd\ufffd.mat",
        "a" * 60_000: "a" * 79 + "…",
    }
    for name, words in shown.items():
        (note,) = answer(Question(), zipped((name, MAT)), convert=False).notes
        assert (note.text, note.message) == (words, f"Read from a zip: {words}.")


def test_a_zip_of_one_record_is_that_record() -> None:
    for name in ("objective_full_ru.txt", "xiangqi_example_cn_simp.txt"):
        content = (DATA / name).read_bytes()
        found = answer(Question(), zipped((name, content)), convert=False)
        assert (found.faults, found.text, found.notes[0].text) == ([], content.decode(), name)


@pytest.mark.parametrize(
    "text", ['{"format":"nardy-match/1"}', '{"format":"nardy-match/1","result":[', '{"a":1}']
)
def test_json_that_is_no_match_is_no_record(text: str) -> None:
    with pytest.raises(NotRecognised):
        answer(Question(text=text), b"", convert=False)


SEED = "00" * 32
ABORTED: dict[str, Any] = {
    "format": "nardy-match/1",
    "dice_id": "k3fA9bQz01",
    "ruleset": {},
    "players": {"A": {"name": "Anna", "kind": "guest"}, "B": None},
    "started_at": 1_796_040_000_000,
    "dice": {
        "commitment": "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925",
        "seed": SEED,
        "seeds": {"A": SEED[:32], "B": SEED[:32]},
    },
    "phases": [],
    "open": None,
    "parted": None,
    "result": {
        "outcome": "aborted",
        "credit_for_A": 0,
        "time_ms": {"A": 0, "B": 0},
        "time_adjustment": 0,
        "points": {"A": 0, "B": 0},
        "games": {"X": {"outcome": "-", "class": None}, "Y": {"outcome": "-", "class": None}},
    },
}


def test_a_match_as_json_is_its_record() -> None:
    found = answer(Question(text=json.dumps(ABORTED)), b"", convert=False)
    assert (found.faults, [note.code for note in found.notes]) == ([], ["json"])
    assert '[Player1 "Anna"]\n' in found.text
    assert found.text.endswith("\n01) 0:0 (0:0)\n")
    half = {**ABORTED, "players": {"A": {"name": "\ud800", "kind": "guest"}, "B": None}}
    found = answer(Question(text=json.dumps(half)), b"", convert=False)
    assert [(fault.code, fault.text) for fault in found.faults] == [("escape", "\\ud800")]
    wrong = {**ABORTED, "parted": 3}
    found = answer(Question(text=json.dumps(wrong)), b"", convert=False)
    assert [(fault.code, fault.phrase) for fault in found.faults] == [
        ("wrong-parting", phrase("no-such-tag"))
    ]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"started_at": 10**18}, id="no date"),
        pytest.param({"started_at": float("inf")}, id="infinite"),
        pytest.param({"players": []}, id="a list of players"),
        pytest.param({"result": None}, id="no result"),
        pytest.param({"ruleset": {"scoring": "by eye"}}, id="no rules"),
        pytest.param({"open": {"turn": "1W", "roll": [1, "x"]}}, id="no roll"),
    ],
)
def test_json_with_something_else_in_it_is_no_record(changes: dict[str, Any]) -> None:
    with pytest.raises(NotRecognised):
        answer(Question(text=json.dumps({**ABORTED, **changes})), b"", convert=False)
