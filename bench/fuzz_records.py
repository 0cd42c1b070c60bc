"""Coverage-guided fuzzing of the readers: `python -m bench.fuzz_records FAMILY [--seconds 600] [--corpus FOLDER]`.

FAMILY is objective, mat, xiangqi or curling. It needs `pip install atheris`, which is no part of the project. The
first failure stops it: an exception other than RecordError, a fault outside the text, a record that reads back
otherwise, or a reading that takes seconds. Without a corpus it starts from the texts of tests/data/records.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "tests" / "data" / "records"
SLOW = 30  # seconds of work, of instrumented code
LESS = ("short", "fixed")  # forms that hold less than a record does


def seeds(family: str) -> Iterator[str]:
    """Texts that are read today, or nearly so."""
    if family == "xiangqi":
        for file in sorted(DATA.glob("xiangqi_example*.txt")):
            yield file.read_text(encoding="utf-8")
        for case in json.loads((DATA / "xiangqi_cases.json").read_text(encoding="utf-8"))["cases"][::7]:
            yield f'[FEN "{case["fen"]}"]\n{case["wxf1997"]} {{a}} *\n'
            yield f'[Dialect "1997"]\n[FEN "{case["fen"]}"]\n{case["cn_trad"]}'
        yield "position startpos moves h2e2 h9g7"
        yield "Red: a\n1. H2-E2 H9-G7 (2. H0-G2) ; b\n1/2-1/2"
        return
    if family in ("objective", "mat"):
        for file in sorted(DATA.glob("objective_*.txt" if family == "objective" else "*.mat")):
            text = file.read_text(encoding="utf-8")
            yield text
            yield "\n".join(text.split("\n")[:24])  # short enough to be changed often
        return
    cases = json.loads((DATA / "curling_cases.json").read_text(encoding="utf-8"))
    yield cases["short_end_complete"]["text"]
    yield from cases["dice_line"].values()
    yield from (cases["cards_move"][key] for key in ("text", "canonical_ru", "canonical_lat"))
    yield from (f"1) {case['text']} ({case['final']}) RR32" for case in cases["dice"])


def check(family: Any, data: bytes, errors: Any) -> None:
    """One text, read strictly or repaired as its first byte says, and every record of it written and read again."""
    text = errors.normalised(data[1:].decode("utf-8", "ignore"))
    begun = time.process_time()
    assert 0 <= family.recognise(text) <= 1
    try:
        candidates = family.read(text, repair=data[:1] > b"\xe0").candidates
    except errors.RecordError as refused:
        for fault in refused.faults:
            assert 1 <= fault.line <= len(text.lines), fault
            assert 1 <= fault.column <= len(text.lines[fault.line - 1]) + 1, fault
        return
    finally:
        assert time.process_time() - begun < SLOW
    for candidate in candidates:
        family.steps(candidate.record)
        for form in family.FORMS:
            try:
                written = family.write(candidate.record, form)
            except errors.NotInForm:
                continue
            again = family.read(errors.normalised(written)).record
            assert again == candidate.record or form in LESS, written
            assert family.write(again, form) == written


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench.fuzz_records", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("family", choices=("objective", "mat", "xiangqi", "curling"))
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--corpus", type=Path)
    given = parser.parse_args()
    if given.corpus is None:  # in a process of its own, for fuzzing ends the one it runs in
        with tempfile.TemporaryDirectory() as folder:
            return subprocess.call(
                [sys.executable, "-m", "bench.fuzz_records", *sys.argv[1:], "--corpus", folder]
            )
    try:
        import atheris
    except ImportError:
        print("It needs atheris: pip install atheris")
        return 2
    with atheris.instrument_imports(include=["engine"]):
        from engine.records import text as errors

        family = importlib.import_module(f"engine.records.{given.family}")

    def one(data: bytes) -> None:
        check(family, data, errors)

    for number, seed in enumerate(seeds(given.family)):
        for mode in (b"\x00", b"\xff"):
            (given.corpus / f"seed-{number}-{mode.hex()}").write_bytes(mode + seed.encode())
    options = [f"-max_total_time={given.seconds}", "-max_len=6000", "-timeout=120", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *options, str(given.corpus)], one)
    atheris.Fuzz()  # ends the process itself
    return 0


if __name__ == "__main__":
    sys.exit(main())
