"""`nardy record moves`: one move of xiangqi in every spelling, for each line of JSON."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.answers import Refused
from app.recordmoves import LONGEST_LINE, SPELLINGS, answer, lines
from engine.records.xiangqi.board import START_FEN
from tests.builders import data

HOUSE = Path(__file__).parents[2]
VECTORS = data("records/xiangqi_cases.json")
FROM = {"wxf2018": "wxf2018", "wxf1997": "wxf1997", "cn_simp": "cn", "cn_trad": "cn", "cn_old": "cn"}


def told(**question: Any) -> dict[str, Any]:
    """The answer to a question, or its error."""
    try:
        return dict(answer(json.dumps(question).encode()))
    except Refused as refused:
        return {"error": refused.error["code"]}


@pytest.mark.parametrize("spelling", FROM)
def test_every_worked_move_is_answered_in_all_spellings(spelling: str) -> None:
    for case in VECTORS["cases"]:
        found = told(fen=case["fen"], text=case[spelling], letters="wxf", **{"from": FROM[spelling]})
        assert found == {form: case[form] for form in SPELLINGS}


@pytest.mark.parametrize("case", VECTORS["accept"], ids=lambda case: case["text"])
def test_what_is_to_be_accepted_is_answered(case: dict[str, str]) -> None:
    for source in [case["dialect"]] if case["dialect"] else ["wxf2018", "wxf1997", None]:
        found = told(fen=case["fen"], text=case["text"], letters=case["letters"], **{"from": source})
        assert (found["uci"], found["wxf2018"], found["cn_simp"]) == (
            case["uci"],
            case["wxf2018"],
            case["cn_simp"],
        )


@pytest.mark.parametrize("case", VECTORS["reject"], ids=lambda case: case["text"])
def test_what_is_to_be_refused_is_an_error(case: dict[str, str]) -> None:
    for source in ("wxf2018", "wxf1997"):
        found = told(fen=case["fen"], text=case["text"], letters="wxf", **{"from": source})
        assert found["error"] in {"ambiguous-move", "no-such-piece", "never-sideways"}


@pytest.mark.parametrize("case", VECTORS["cross_dialect_conflicts"], ids=lambda case: case["text"])
def test_the_dialect_that_is_named_decides(case: dict[str, str]) -> None:
    for source in ("wxf2018", "wxf1997"):
        found = told(fen=case["fen"], text=case["text"], letters="wxf", **{"from": source})
        assert found["uci"] == case[f"{source}_uci"]


def test_a_mark_of_utf_8_before_the_first_line_is_let_pass() -> None:
    line = b"\xef\xbb\xbf" + json.dumps({"fen": START_FEN, "text": "C2=5"}).encode()
    assert answer(line)["uci"] == "h3e3"


def asked(text: str, source: str = "wxf2018", letters: str = "any") -> bytes:
    return json.dumps({"fen": START_FEN, "text": text, "from": source, "letters": letters}).encode()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param(b"nonsense", "bad-json", id="no JSON"),
        pytest.param(b'{"fen":"\xff"}', "bad-json", id="no UTF-8"),
        pytest.param(b"[" * 9_000, "bad-line", id="deep brackets"),
        pytest.param(b"[1]", "bad-line", id="no object"),
        pytest.param(b'{"fen":"x"}', "bad-line", id="no text"),
        pytest.param(b'{"fen":1,"text":"C2=5"}', "bad-line", id="a number for a position"),
        pytest.param(b'{"fen":"9/9","text":"C2=5"}', "bad-fen", id="no position"),
        pytest.param(b"x" * (LONGEST_LINE + 1), "bad-line", id="too long"),
        pytest.param(asked("C2=5", "pgn"), "bad-line", id="from"),
        pytest.param(asked("C2=5", letters="z"), "bad-line", id="letters"),
        pytest.param(asked("C2=5", "cn"), "unreadable-move", id="WXF for Chinese"),
        pytest.param(asked("炮二平五"), "unreadable-move", id="Chinese for WXF"),
        pytest.param(asked("B3+5", letters="wxf"), "other-letters", id="a letter of others"),
        pytest.param(asked("R1+3"), "cannot-go", id="illegal"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_answered_says_why(line: bytes, code: str) -> None:
    with pytest.raises(Refused) as refused:
        answer(line)
    assert refused.value.error["code"] == code
    assert refused.value.error["message"]


def test_a_bad_line_never_stops_the_stream() -> None:
    good = asked("C2=5").decode()
    given = f"{good}\n\nnonsense\n{'x' * 3 * LONGEST_LINE}\n{good}"
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", "record", "moves"],
        input=given,
        capture_output=True,
        text=True,
        cwd=HOUSE,
        timeout=60,
        check=False,
    )
    first, *errors, last = map(json.loads, done.stdout.splitlines())
    assert first == last
    assert first == {
        "uci": "h3e3",
        "wxf2018": "C2=5",
        "wxf1997": "C2.5",
        "cn_simp": "炮二平五",
        "cn_trad": "炮二平五",
    }
    assert [error["error"]["code"] for error in errors] == ["bad-json", "bad-line"]
    assert (done.returncode, done.stderr) == (1, "")


def test_lines_of_any_length_are_taken_one_by_one() -> None:
    long = b"x" * (2 * LONGEST_LINE)
    just = b"y" * LONGEST_LINE
    found = list(lines(io.BytesIO(b"\n".join([b"a", long, b"", just, b"b\n", long]))))
    assert [line[:1] for line in found] == [b"a", b"x", b"y", b"b", b"x"]
    assert max(map(len, found)) == LONGEST_LINE + 1
