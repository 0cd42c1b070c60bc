"""`nardy record check`, `convert`, `replay`: files of every family, recognised by themselves."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.cli import main
from app.recordfiles import FAULTY, FINE, SENSELESS, UNHOLDABLE, UNKNOWN
from engine.records import families
from engine.records.text import normalised
from tests.builders import DATA

RECORDS = DATA / "records"
FULL = RECORDS / "objective_full_int.txt"
SHORT = RECORDS / "objective_short_int.txt"


def run(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    status = main(["record", *map(str, words)])
    said = capsys.readouterr()
    return status, said.out, said.err


def changed(folder: Path, usual: str, written: str, of: Path = FULL) -> Path:
    text = of.read_text(encoding="utf-8")
    assert usual in text
    file = folder / "changed.txt"
    file.write_text(text.replace(usual, written, 1), encoding="utf-8")
    return file


KNOWN = [
    ("objective_full_int.txt", "an objective match, form full, international", "points 74:-74"),
    ("objective_full_ru.txt", "an objective match, form full, Russian", "checked: plays, points, times"),
    ("objective_short_ru.txt", "an objective match, form short, Russian", "checked: plays, points"),
    ("objective_fixed.txt", "an objective match, form fixed, international", "58 lines"),
    ("mat_example.mat", "games of backgammon in a .mat file, form mat", "2 games, 115 turns"),
    (
        "xiangqi_example_cn_simp.txt",
        "a game of xiangqi, form cn_simp",
        "73 plies, result 1-0, ending checkmate",
    ),
    ("xiangqi_example_cn_trad.txt", "a game of xiangqi, form cn_trad", "73 plies"),
]


@pytest.mark.parametrize(("name", "taken_for", "summary"), KNOWN, ids=[name for name, *_ in KNOWN])
def test_a_file_is_recognised_said_aloud_and_checked(
    capsys: pytest.CaptureFixture[str], name: str, taken_for: str, summary: str
) -> None:
    status, out, err = run(capsys, "check", RECORDS / name)
    assert (status, err) == (FINE, "")
    assert taken_for in out
    assert summary in out


def test_a_record_of_curling_is_recognised(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "end.txt"
    file.write_text("1) 122_46_ (12233) RR32  33_666_ (12334) LL34\n2) 11111 (11111) L51\n", encoding="utf-8")
    status, out, _ = run(capsys, "check", file)
    assert "a game of tabletop curling, form dice" in out
    assert status in (FINE, FAULTY)


def test_a_fault_is_told_with_line_column_code_text_and_what_was_expected(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = changed(tmp_path, "03) w 63 | 13/7 7/4", "03) w 63 | 13/7 7/5")
    status, out, _ = run(capsys, "check", file)
    assert status == FAULTY
    assert f"{file}:15:12: illegal-play: 13/7 7/5 is not a legal play of 6-3" in out
    assert "    here stands: 13/7 7/5\n" in out
    assert "    expected: one of 14 legal plays of 6-3" in out
    assert out.endswith("1 fault\n")


def test_all_is_said_in_russian_where_russian_is_asked_for(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = changed(tmp_path, "03) w 63 | 13/7 7/4", "03) w 63 | 13/7 7/5")
    assert run(capsys, "check", "--language", "ru", file) == (
        FAULTY,
        f"{file}: матч объективных нард, форма full, международная запись (уверенность 100 %)\n"
        f"{file}:15:12: illegal-play: Такой ход невозможен\n"
        "    здесь стоит: 13/7 7/5\n"
        "    ожидалось: один из 14 возможных ходов при 6-3, например 24/18 24/21\n"
        "1 ошибка\n",
        "",
    )
    _, out, _ = run(capsys, "check", "--language", "ru", FULL)
    assert out.endswith("Верно: 58 строк; проверено: ходы, очки, время; очки 74:-74\n")
    file = changed(tmp_path, "bar/24", "bаr/24")
    _, out, _ = run(capsys, "check", "--language", "ru", file)
    assert ":24:12: замечание look-alike: Похожие буквы заменены\n" in out
    status, _, err = run(capsys, "convert", "--language", "ru", SHORT, "--to", "full")
    assert (status, err.partition(": ")[2]) == (
        UNHOLDABLE,
        "В полной форме есть секунды, а в этой записи они не везде.\n",
    )
    status, out, _ = run(capsys, "check", "--language", "ru", "--from", "chess", FULL)
    assert (status, out[:24]) == (SENSELESS, "nardy: form: одно из obj")
    _, out, _ = run(capsys, "check", "--language", "ru", "--repair", RECORDS / "xiangqi_example.txt")
    assert "Возможно, имелось в виду, сначала с меньшими изменениями (2):\n  1. 4:4 R2+1 -> H2+1\n" in out


@pytest.mark.parametrize("command", ["check", "convert", "replay"])
def test_help_names_every_family_form_and_status(capsys: pytest.CaptureFixture[str], command: str) -> None:
    with pytest.raises(SystemExit):
        main(["record", command, "--help"])
    said = " ".join(capsys.readouterr().out.split())
    epilog = said.partition("families and their forms:")[2]
    assert [name for name in families.names() if name not in epilog] == []
    for status in (FINE, FAULTY, SENSELESS, UNKNOWN, UNHOLDABLE):
        assert f" {status} " in epilog.partition("status:")[2]


def test_a_note_says_what_was_read_otherwise(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, out, _ = run(capsys, "check", changed(tmp_path, "bar/24", "bаr/24"))
    assert status == FINE
    assert ":24:12: note look-alike: bаr was read as bar" in out


@pytest.mark.parametrize(
    ("source", "options", "target"),
    [
        ("objective_full_int.txt", ["--language", "ru"], "objective_full_ru.txt"),
        ("objective_full_ru.txt", ["--to", "short"], "objective_short_ru.txt"),
        ("objective_full_ru.txt", ["--to", "short", "--language", "en"], "objective_short_int.txt"),
        ("objective_full_ru.txt", ["--to", "mat"], "mat_example.mat"),
        ("mat_example.mat", [], "mat_example.mat"),
        ("xiangqi_example_cn_simp.txt", ["--to", "cn_trad"], "xiangqi_example_cn_trad.txt"),
    ],
)
def test_a_file_is_converted_to_the_letter(
    capsys: pytest.CaptureFixture[str], source: str, options: list[str], target: str
) -> None:
    status, out, err = run(capsys, "convert", RECORDS / source, *options)
    assert (status, out) == (FINE, (RECORDS / target).read_text(encoding="utf-8"))
    assert err.count("\n") == 1, "what it was taken for, and no more"


def test_standard_input_is_read(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(FULL.read_bytes())))
    status, out, err = run(capsys, "convert", "-", "--to", "short")
    assert (status, out) == (FINE, SHORT.read_text(encoding="utf-8"))
    assert err.startswith("standard input: an objective match")


def test_another_encoding_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "old.txt"
    file.write_bytes((RECORDS / "objective_full_ru.txt").read_text("utf-8").encode("windows-1251"))
    status, out, err = run(capsys, "convert", file, "--to", "full")
    assert (status, out) == (FINE, (RECORDS / "objective_full_ru.txt").read_text("utf-8"))
    assert "note encoding: Read as windows-1251." in err


def test_what_a_form_needs_and_the_record_lacks_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "convert", SHORT, "--to", "full")
    assert (status, out) == (UNHOLDABLE, "")
    assert "The full form has seconds" in err
    status, out, err = run(capsys, "convert", RECORDS / "mat_example.mat", "--to", "short")
    assert (status, out) == (UNHOLDABLE, "")
    assert "Black's last move" in err
    status, _, err = run(capsys, "convert", SHORT, "--to", "cn_simp")
    assert status == UNHOLDABLE
    assert "cannot be converted into cn_simp" in err


def test_what_is_no_record_has_a_status_of_its_own(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Anna,\n\nit was a nice match. See you on Sunday!\n", encoding="utf-8")
    status, out, err = run(capsys, "check", letter)
    assert status == UNKNOWN
    assert "no record of a game that is known here" in out + err
    status, out, _ = run(capsys, "check", letter, "--from", "full")
    assert status == FAULTY
    assert "form full" in out
    status, out, err = run(capsys, "check", FULL, "--from", "wav")
    assert status == SENSELESS
    assert "objective" in out + err


def test_a_source_that_is_named_is_believed(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "check", FULL, "--from", "objective")
    assert status == FINE
    assert "(as asked)" in out
    assert run(capsys, "check", FULL, "--from", "mat")[0] == FAULTY
    assert run(capsys, "check", FULL, "--from", "short")[0] == FAULTY


def test_a_repair_lists_everything_and_chooses_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """The documents' game of xiangqi may have been two games."""
    file = RECORDS / "xiangqi_example.txt"
    status, out, _ = run(capsys, "check", file, "--repair")
    assert status == FAULTY
    assert "fewest changes first (2)" in out
    assert "4:4 R2+1 -> H2+1" in out
    status, out, err = run(capsys, "convert", file, "--to", "cn_trad", "--repair")
    assert (status, out) == (FAULTY, "")
    assert "--choose N takes one of them" in err
    texts = []
    for number in ("1", "2"):
        status, out, err = run(capsys, "convert", file, "--to", "cn_trad", "--choose", number)
        assert status == FINE
        assert "R2+1 -> H2+1" in err
        texts.append(out)
    assert texts[0] != texts[1]
    assert (RECORDS / "xiangqi_example_cn_trad.txt").read_text("utf-8") in texts
    assert run(capsys, "convert", file, "--choose", "3")[0] == FAULTY


def test_a_single_repair_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = changed(tmp_path, "05) w 53", "05) w 54")
    status, out, err = run(capsys, "convert", file, "--choose", "1")
    assert (status, out) == (FINE, FULL.read_text(encoding="utf-8"))
    assert "17:7 54 -> 53" in err


def test_a_replay_shows_the_positions_after_every_step(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "replay", FULL)
    lines = out.splitlines()
    assert status == FINE
    assert len(lines) == 3 * 58
    assert lines[0] == "  1W 3-2 | 13/10 10/8                  | 13/10 10/8"
    assert lines[1] == "     X 24:2 13:4 8:4 6:5 | 24:2 13:5 8:3 6:5"
    assert lines[-2].startswith("     X | "), "White has borne everything off"
    for name, words in (("mat_example.mat", "Game 2"), ("xiangqi_example_cn_simp.txt", "check")):
        status, out, _ = run(capsys, "replay", RECORDS / name)
        assert status == FINE
        assert words in out


def test_a_replay_as_json_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("objective_full_int.txt", "mat_example.mat", "xiangqi_example_cn_simp.txt"):
        status, out, _ = run(capsys, "replay", RECORDS / name, "--json")
        assert status == FINE
        assert out.count("\n") == 1
        json.loads(out)


def test_a_file_that_is_not_there_is_said(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, _, err = run(capsys, "check", tmp_path / "nothing")
    assert status == FAULTY
    assert "cannot read" in err


@pytest.mark.parametrize(
    "wrong", [["check"], ["convert", "x", "--choose", "0"], ["check", "x", "--language", "fr"], []]
)
def test_a_command_that_makes_no_sense_is_refused(
    wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["record", *wrong])
    assert left.value.code == 2


def test_families_take_no_text_of_one_another() -> None:
    texts = {
        "objective": ["objective_full_ru.txt", "objective_short_int.txt", "objective_fixed.txt"],
        "mat": ["mat_example.mat"],
        "xiangqi": ["xiangqi_example.txt", "xiangqi_example_cn_simp.txt"],
    }
    for name, files in texts.items():
        for file in files:
            text = normalised((RECORDS / file).read_text(encoding="utf-8"))
            assert families.recognise(text).entry.name == name
    assert families.recognise(normalised("1) L51 L53\n2) R24 RR32\n")).entry.name == "curling"


def test_every_family_is_there_with_its_forms() -> None:
    assert [entry.name for entry in families.FAMILIES] == ["objective", "mat", "xiangqi", "curling"]
    for entry in families.FAMILIES:
        assert {entry.name, *entry.family.FORMS} <= set(families.names())
