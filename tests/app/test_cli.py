"""The `nardy` command: what it answers, what it refuses, and how it ends."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.cli import main
from tests.builders import DATA, data

HOUSE = Path(__file__).parents[2]
SCRIPT = HOUSE / "examples" / "verify_dice.py"
COMMAND = [sys.executable, "-m", "app.cli"]
START = [0, -2, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0]


def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """The command as a process of its own."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input=given,
        capture_output=True,
        text=True,
        cwd=HOUSE,
        timeout=120,
        check=False,
    )


def answers(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines()]


# ---------------------------------------------------------------------------------------------------- legal plays


def test_plays_answers_every_worked_position() -> None:
    cases = [json.loads(line) for line in (DATA / "legal_plays.jsonl").read_text().splitlines()[1:]]
    lines = "".join(json.dumps({"board": case["board"], "roll": case["roll"]}) + "\n" for case in cases)
    done = run("plays", given=lines)
    assert (done.returncode, done.stderr) == (0, "")
    assert [answer["results"] for answer in answers(done.stdout)] == [case["results"] for case in cases]


def a_board(**points: int) -> list[int]:
    """The start with some counts changed: `p6=4`."""
    board = START[:]
    for name, count in points.items():
        board[int(name[1:])] = count
    return board


BOTH_CLOSED = [1, *[2] * 6, *[0] * 12, *[-2] * 6, 1]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param("nonsense", "bad-json", id="no JSON"),
        pytest.param('{"board":[', "bad-json", id="half a line"),
        pytest.param("[" * 100_000, "bad-json", id="too deep"),
        pytest.param("[1]", "bad-line", id="no object"),
        pytest.param(json.dumps({"board": START}), "bad-line", id="no roll"),
        pytest.param(json.dumps({"board": 5, "roll": [6, 5]}), "bad-position", id="a board that is no list"),
        pytest.param(json.dumps({"board": START[1:], "roll": [6, 5]}), "bad-position", id="25 counts"),
        pytest.param(json.dumps({"board": a_board(p6=5.0), "roll": [6, 5]}), "bad-position", id="a fraction"),
        pytest.param(json.dumps({"board": a_board(p6=True), "roll": [6, 5]}), "bad-position", id="a truth"),
        pytest.param(json.dumps({"board": a_board(p6=6), "roll": [6, 5]}), "bad-position", id="16 of mine"),
        pytest.param(
            json.dumps({"board": a_board(p1=-3), "roll": [6, 5]}), "bad-position", id="16 of theirs"
        ),
        pytest.param(
            json.dumps({"board": a_board(p0=-1), "roll": [6, 5]}), "bad-position", id="their bar below 0"
        ),
        pytest.param(
            json.dumps({"board": a_board(p25=-1), "roll": [6, 5]}), "bad-position", id="my bar below 0"
        ),
        pytest.param(
            json.dumps({"board": BOTH_CLOSED, "roll": [6, 5]}), "bad-position", id="both closed out"
        ),
        pytest.param(json.dumps({"board": START, "roll": [6]}), "bad-roll", id="one die"),
        pytest.param(json.dumps({"board": START, "roll": [6, 7]}), "bad-roll", id="a seven"),
        pytest.param(json.dumps({"board": START, "roll": [0, 1]}), "bad-roll", id="a zero"),
        pytest.param(json.dumps({"board": START, "roll": [True, 1]}), "bad-roll", id="a truth for a die"),
        pytest.param(json.dumps({"board": START, "roll": "65"}), "bad-roll", id="a text for dice"),
    ],
)
def test_a_bad_line_is_refused_and_the_next_is_answered(
    line: str, code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text(f"{line}\n\n   \n" + json.dumps({"board": START, "roll": [3, 1]}))
    assert main(["plays", str(file)]) == 1
    refused, answered = answers(capsys.readouterr().out)
    assert refused["error"]["code"] == code
    assert refused["error"]["message"]
    assert refused.keys() == {"error"}
    assert len(answered["results"]) == 16


def test_lines_that_are_no_text_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b'\xff\xfe\n{"board": "\xff"}\n')
    assert main(["plays", str(file)]) == 1
    assert [answer["error"]["code"] for answer in answers(capsys.readouterr().out)] == ["bad-json"] * 2


def test_plays_answers_each_line_as_it_comes() -> None:
    with subprocess.Popen(
        [*COMMAND, "plays"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HOUSE
    ) as asked:
        assert asked.stdin is not None
        assert asked.stdout is not None
        for number in (16, 16):
            asked.stdin.write(json.dumps({"board": START, "roll": [3, 1]}) + "\n")
            asked.stdin.flush()
            assert len(json.loads(asked.stdout.readline())["results"]) == number
        asked.stdin.close()
        assert asked.wait(60) == 0


def test_a_reader_who_leaves_is_not_complained_about() -> None:
    line = json.dumps({"board": START, "roll": [6, 6]}) + "\n"
    with subprocess.Popen(
        [*COMMAND, "plays"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=HOUSE
    ) as asked:
        assert asked.stdout is not None
        asked.stdout.close()
        _, complaint = asked.communicate((line * 2000).encode(), timeout=60)
    assert complaint == b""
    assert asked.returncode == 141


# ---------------------------------------------------------------------------------------------------------- score


def test_score_answers_every_worked_case() -> None:
    cases = data("match_cases.json")["cases"]
    done = run("score", str(DATA / "match_cases.json"))
    assert (done.returncode, done.stderr) == (0, "")
    for case, answer in zip(cases, answers(done.stdout), strict=True):
        assert answer.pop("id") == case["id"]
        expected = case["expected"]
        if "tolerance" in case:
            expected = pytest.approx(expected, abs=case["tolerance"])
        assert answer == expected, case["id"]


def a_case(kind: str) -> dict[str, Any]:
    found: dict[str, Any] = copy.deepcopy(
        next(case for case in data("match_cases.json")["cases"] if case["kind"] == kind)
    )
    return found


def changed(kind: str, change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    case = a_case(kind)
    change(case)
    return case


@pytest.mark.parametrize(
    ("case", "code"),
    [
        pytest.param(5, "bad-case", id="no object"),
        pytest.param({"id": "x", "kind": "raffle"}, "bad-case", id="unknown kind"),
        pytest.param(changed("match", lambda c: c.pop("boards")), "bad-case", id="no boards"),
        pytest.param(changed("match", lambda c: c["time_ms"].update(A=-1)), "bad-case", id="time below 0"),
        pytest.param(changed("concession", lambda c: c.update(loser="C")), "bad-case", id="no such seat"),
        pytest.param(
            changed("rating", lambda c: c["input"].update(rd=0)), "bad-case", id="a deviation of nothing"
        ),
        pytest.param(
            changed("match", lambda c: c.update(ruleset={"stakes": 5})), "bad-ruleset", id="unknown rule"
        ),
        pytest.param(
            changed("match", lambda c: c["boards"]["X"]["white"].update(off=3)),
            "bad-position",
            id="3 checkers",
        ),
        pytest.param(
            changed("match", lambda c: c["boards"]["Y"]["white"]["p"].update({"24": 5, "6": 0, "5": 1})),
            "bad-position",
            id="two sides on one point",
        ),
    ],
)
def test_a_bad_case_is_refused_and_the_next_is_answered(
    case: Any, code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.json"
    good = a_case("match")
    file.write_text(json.dumps([case, good]))
    assert main(["score", str(file)]) == 1
    refused, answered = answers(capsys.readouterr().out)
    assert refused["id"] == (case["id"] if isinstance(case, dict) else None)
    assert refused["error"]["code"] == code
    assert answered == {"id": good["id"], **good["expected"]}


def test_a_file_without_cases_has_no_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, code in (("{", "bad-json"), ("{}", "bad-case")):
        file = tmp_path / "cases.json"
        file.write_text(text)
        assert main(["score", str(file)]) == 1
        [answer] = answers(capsys.readouterr().out)
        assert (answer["id"], answer["error"]["code"]) == (None, code)


# --------------------------------------------------------------------------------------------------------- verify


def sha256(hex_text: str) -> str:
    return hashlib.sha256(bytes.fromhex(hex_text)).hexdigest()


def a_match_file(vector: int = 0) -> dict[str, Any]:
    """A finished match, its rolls taken from the vectors that are part of the rules."""
    dice = data("dice_vectors.json")["vectors"][vector]
    a, b = dice["client_seed_white_in_X"], dice["client_seed_white_in_Y"]
    rolls = [{"turn": f"{number}{phase}", "roll": roll} for number, phase, roll in dice["rolls"]]
    return {
        "format": "nardy-match/1",
        "match": dice["match_id"],
        "dice_id": dice["match_id"],
        "variant": "short",
        "ruleset": {"variant": "short", "opening_double": "reroll", "scoring": "pips"},
        "players": {"A": {"name": "A"}, "B": {"name": "B"}},
        "dice": {
            "commitment": dice["commit_sha256"],
            "hashes": {"A": sha256(a), "B": sha256(b)},
            "seeds": {"A": a, "B": b},
            "defaulted": [],
            "seed": dice["server_seed_hex"],
        },
        "phases": [roll | {"plays": {"A": "--", "B": "--"}, "ms": {"A": 0, "B": 0}} for roll in rolls[:-1]],
        "open": rolls[-1],
        "result": {},
    }


def verified(match: dict[str, Any], folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """What `nardy verify` says; the script of the docs must agree whether anything is wrong."""
    file = folder / "match.json"
    file.write_text(json.dumps(match))
    status = main(["verify", str(file)])
    script = subprocess.run(
        [sys.executable, "-I", str(SCRIPT), str(file)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert script.returncode == status, script.stdout + script.stderr
    assert ("0 wrong" in script.stdout) == (status == 0), script.stdout
    return status, capsys.readouterr().out


@pytest.mark.parametrize("vector", [0, 1, 2])
def test_dice_as_promised(vector: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, words = verified(a_match_file(vector), tmp_path, capsys)
    assert status == 0
    assert "16 rolls are as promised" in words


def test_an_opening_double_stands_where_the_rules_allow_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vector = data("dice_vectors.json")["vectors"][0]
    assert vector["opening_allow_double_r1_W"] == [1, 1]
    for change in ({"opening_double": "allow"}, {"variant": "long"}):
        match = a_match_file()
        match["ruleset"].update(change)
        assert verified(match, tmp_path, capsys)[0] == 1
        match["phases"][0]["roll"] = [1, 1]
        assert verified(match, tmp_path, capsys)[0] == 0


def test_zeros_stand_for_a_seed_that_was_never_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    match = a_match_file(2)  # both seeds are zeros
    match["dice"]["hashes"], match["dice"]["defaulted"] = {"A": None, "B": sha256("ab" * 16)}, ["A", "B"]
    assert verified(match, tmp_path, capsys)[0] == 0


def test_a_match_that_ended_before_its_first_roll(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    match = a_match_file()
    match["dice"]["seeds"] = match["dice"]["hashes"] = {"A": None, "B": None}
    match["phases"], match["open"] = [], None
    assert verified(match, tmp_path, capsys)[0] == 0


def tampered(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    match = a_match_file()
    change(match)
    return match


@pytest.mark.parametrize(
    ("match", "words"),
    [
        pytest.param(
            tampered(lambda m: m["phases"][2].update(roll=[5, 6])), "Turn 2W: the roll is 5-6", id="a roll"
        ),
        pytest.param(tampered(lambda m: m["open"].update(roll=[1, 1])), "Turn 8K", id="the open roll"),
        pytest.param(tampered(lambda m: m["phases"].pop(3)), "where turn 2K should be", id="a turn left out"),
        pytest.param(
            tampered(lambda m: m["dice"].update(commitment=sha256("00"))), "commitment", id="the commitment"
        ),
        pytest.param(
            tampered(lambda m: m["dice"]["hashes"].update(B=sha256("00"))), "B's seed", id="a player's hash"
        ),
        pytest.param(
            tampered(lambda m: m["dice"].update(defaulted=["A"])), "A showed no seed", id="defaulted"
        ),
        pytest.param(tampered(lambda m: m.update(dice_id="m-0002")), "Turn 1W", id="another match's dice"),
        pytest.param(tampered(lambda m: m["dice"]["seeds"].update(A=None)), "seeds of both", id="no seed"),
    ],
)
def test_dice_that_were_changed(
    match: dict[str, Any], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, said = verified(match, tmp_path, capsys)
    assert status == 1
    assert words in said


def test_a_running_match_cannot_be_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "match.json"
    for text in ("", "{}", "[]", json.dumps(tampered(lambda m: m["dice"].update(seed=None)))):
        file.write_text(text)
        assert main(["verify", str(file)]) == 1
        said = capsys.readouterr()
        assert said.out == ""
        assert "not a finished match" in said.err


def test_the_docs_print_the_script_that_is_there() -> None:
    blocks = re.findall(
        r"```python\n(.*?)```", (HOUSE / "docs" / "DICE.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert blocks == [SCRIPT.read_text(encoding="utf-8")]
    assert not re.search(r"^(from|import) (app|engine)", blocks[0], re.MULTILINE)


# ------------------------------------------------------------------------------------------------ usage and server


@pytest.mark.parametrize(
    "arguments",
    [[], ["raffle"], ["score"], ["plays", "--fast"], ["serve", "--port", "70000"], ["demo", "--pace", "-1"]],
    ids=" ".join,
)
def test_a_command_that_makes_no_sense_ends_with_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: nardy" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["plays", "score", "verify"])
def test_a_file_that_is_not_there(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "/nowhere/at-all.json"]) == 1
    assert capsys.readouterr().err == "nardy: cannot read /nowhere/at-all.json: No such file or directory\n"


def test_the_command_brings_only_what_it_needs() -> None:
    code = "import app.cli, sys; print(*({'msgspec', 'fastapi', 'uvicorn', 'engine'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=HOUSE, check=True)
    assert done.stdout.strip() == ""


def serving(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A server as a process of its own, on the embedded database in this folder."""
    given = {name: text for name, text in os.environ.items() if name not in ("DATABASE_URL", "HOST", "PORT")}
    return subprocess.Popen(
        [*COMMAND, "serve", "--data", str(folder), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=HOUSE,
        env=given,
    )


def test_serve_says_where_it_is_and_stops_quietly(tmp_path: Path) -> None:
    with serving(tmp_path, "--port", "0") as server:
        assert server.stdout is not None
        try:
            found = re.fullmatch(
                r"Objective Nardy is at (http://127\.0\.0\.1:([1-9][0-9]*))\n", server.stdout.readline()
            )
            assert found
            with urllib.request.urlopen(f"{found[1]}/healthz", timeout=30) as answer:
                assert json.load(answer) == {"ok": True}
            with serving(tmp_path, "--port", found[2]) as second:
                said = second.communicate(timeout=60)
            assert second.returncode == 1
            assert said == (
                "",
                f"nardy: cannot listen on 127.0.0.1 port {found[2]}: Address already in use\n",
            )
        finally:
            server.send_signal(signal.SIGINT)
            said = server.communicate(timeout=60)
    assert said[0] == ""
    assert [line["message"] for line in answers(said[1])] == ["stopping", "stopped"]
    assert server.returncode == 0


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        pytest.param(["--database", "mysql://here"], "DATABASE_URL begins with", id="unknown database"),
        pytest.param(["--host", "192.0.2.1"], "cannot listen on 192.0.2.1", id="a host that is not this one"),
        pytest.param(
            ["--database", "postgresql://nobody@127.0.0.1:1/none"],
            "cannot be reached",
            id="no database there",
        ),
    ],
)
def test_serve_says_in_one_line_why_it_does_not_start(setting: list[str], words: str, tmp_path: Path) -> None:
    with serving(tmp_path, "--port", "0", *setting) as server:
        out, err = server.communicate(timeout=60)
    assert (server.returncode, out) == (1, "")
    assert re.fullmatch(rf"nardy: .*{re.escape(words)}.*\n", err), err


def test_migrate_can_be_repeated(migrated_postgres_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main(["migrate", "--database", migrated_postgres_url]) == 0
        assert capsys.readouterr().out == "The database has the schema of this version.\n"


def test_demo_plays_a_whole_match_by_itself() -> None:
    done = run("demo", "--pace", "0")
    assert (done.returncode, done.stderr) == (0, "")
    first, *_, last = done.stdout.splitlines()
    assert re.fullmatch(r"Watch at http://127\.0\.0\.1:[0-9]+/match/[A-Za-z0-9-]+", first)
    assert "are as promised" in last
    assert "match" in done.stdout.splitlines()[-2]


def test_demo_without_a_server_fails(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert main(["demo", "--url", f"http://127.0.0.1:{port}"]) == 1
    assert capsys.readouterr().err.startswith("nardy: http://127.0.0.1:")


# --------------------------------------------------------------------------------------------------- organisers' keys


def test_keys_are_made_listed_and_revoked_where_the_server_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ["--data", str(tmp_path)]
    assert main(["admin", "key", "create", "my laptop", "--name", "Our club", *data]) == 0
    line, secret = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"nk_[A-Za-z0-9_-]{43}", secret)
    key, role, *_ = line.split()
    assert role == "owner"
    assert main(["admin", "key", "list", *data]) == 0
    listed = capsys.readouterr().out
    assert "my laptop" in listed
    assert "never used" in listed
    assert secret not in listed
    # Nor does the database hold it.
    assert all(secret.encode() not in file.read_bytes() for file in tmp_path.iterdir())
    assert main(["admin", "key", "revoke", key, *data]) == 0
    assert "revoked" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["revoke", "nothing"], "There is no such key."),
        (["create", "x", "--event", "nothing"], "There is no such competition."),
        (["create", "x", "--owner", "Nobody"], "There is no player 'Nobody'."),
        (["create", "x", "--expires", "tomorrow"], "'tomorrow' is not a time like 2026-10-25T10:00."),
        (["create", " "], "label: is 1 to 100 visible characters."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_key_that_cannot_be_is_told_in_a_line(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["admin", "key", *arguments, "--data", str(tmp_path)]) == 1
    assert capsys.readouterr().err == f"nardy: {words}\n"
