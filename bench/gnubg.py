"""GNU Backgammon as the judge of what we write for it: `python -m bench.gnubg`, where the program is installed.

It imports files of ours and says how it understood them, tells the ids of positions, and plays some games. What it
said is compared with tests/data/gnubg, which the tests take for its word; `--write` writes that anew.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from random import Random

from engine.dice import Roll
from engine.plays import results
from engine.position import CHECKERS, OFF
from engine.records import mat
from engine.records.ids import Exchange, xgid
from engine.records.objective.record import record_of
from engine.ruleset import DEFAULT
from engine.turn import Seats
from engine.variant import SHORT
from tests.support.recorded import match_over

DATA = Path(__file__).parents[1] / "tests" / "data" / "gnubg"
OURS = (
    ("finished-1", 1, "finished", Seats("Anna", "Boris")),
    ("finished-2", 2, "finished", Seats("Анна Каренина", "Борис: «гроссмейстер»")),
    ("finished-3", 3, "finished", Seats("A name too long for its column", "B")),
    ("last-move-4", 4, "last-move-given-up", Seats("Anna", "Boris")),
    ("resigned-5", 5, "resigned", Seats("Anna", "Boris")),
    ("void-6", 6, "void", Seats("Anna", "Boris")),
)
_COMPLAINT = re.compile("warning|illegal|invalid|error|unrecogni|unknown", re.IGNORECASE)
PROGRAM = shutil.which("gnubg") or shutil.which("gnubg", path="/usr/games")
_NO_MATCH = [
    "set confirm new off",
    "set player 0 human",
    "set player 1 human",
    "set jacoby off",
    "new session",
]
_PLAYERS = [
    "set player 0 gnubg",
    "set player 1 gnubg",
    "set automatic roll on",
    "set automatic move on",
    "set automatic bearoff on",
    "set confirm new off",
    "set jacoby off",
]


def run(commands: Iterable[str], folder: Path) -> str:
    """What the program says to these commands."""
    assert PROGRAM is not None
    script = folder / "commands.txt"
    script.write_text("\n".join([*commands, ""]), encoding="utf-8")
    called = [PROGRAM, "-t", "-q", "-r", "-c", str(script)]
    done = subprocess.run(
        called, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True
    )
    return done.stdout.decode("utf-8", "replace") + done.stderr.decode("utf-8", "replace")


def our_file(seed: int, end: str, names: Seats[str]) -> str:
    """A match of ours as we write it for other programs."""
    return mat.write(mat.mat_of(record_of(match_over(seed, DEFAULT, end=end), names, at=1_796_040_000_000)))


def judged(folder: Path) -> dict[str, str]:
    """Our files, how the program writes them itself once it has imported them, and all its complaints."""
    found, complaints = {}, {}
    texts = {name: our_file(seed, end, names) for name, seed, end, names in OURS}
    # To see that it does complain: one file with a move that cannot be made.
    texts["broken"] = re.sub(r"^(  9\) \d\d: ).*", r"\g<1>24/1", texts["finished-1"], count=1, flags=re.M)
    for name, text in texts.items():
        (folder / f"{name}.mat").write_text(text, encoding="utf-8")
        said = run([f"import mat {name}.mat", f"export match mat {name}.back.mat"], folder)
        complaints[name] = [line for line in said.splitlines() if _COMPLAINT.search(line)]
        found[f"{name}.mat"] = text
        if name != "broken":
            found[f"{name}.back.mat"] = (folder / f"{name}.back.mat").read_text("utf-8", errors="replace")
    version = run(["show version"], folder).splitlines()[0]
    found["complaints.json"] = json.dumps({"version": version, "complaints": complaints}, indent=1) + "\n"
    return found


def positions(number: int) -> list[Exchange]:
    """Positions from games by chance, with dice, cubes and scores of all kinds."""
    chance = Random(20261130)
    found: list[Exchange] = []
    while len(found) < number:
        position = SHORT.opening()
        for _ in range(chance.randrange(90)):
            position = chance.choice(
                results(position, Roll(chance.randint(1, 6), chance.randint(1, 6)))
            ).turned()
            if CHECKERS in (position.mine[OFF], position.theirs[OFF]):
                break
        else:
            length = chance.choice([0, 0, 1, 5, 7, 11])
            score = (chance.randrange(length), chance.randrange(length)) if length else (0, 0)
            cube = chance.choice([1, 1, 2, 4, 8])
            found.append(
                Exchange(
                    position,
                    chance.choice([None, Roll(chance.randint(1, 6), chance.randint(1, 6))]),
                    cube,
                    None if cube == 1 else chance.choice(["mine", "theirs"]),
                    score,
                    length,
                    is_crawford=length > 1 and length - 1 in score and score[0] != score[1] and cube == 1,
                    uses_jacoby=False,
                )
            )
    return found


def ids(folder: Path) -> str:
    """Positions as XGID, each with the ids that the program has for it, as JSON."""
    told = []
    for exchange in positions(60):
        said = run([*_NO_MATCH, "set xgid " + xgid(exchange), "show board"], folder)
        position = re.findall(r"Position ID: (\S+)", said)[-1]
        match = re.findall(r"Match ID   : (\S+)", said)[-1]
        told.append({"xgid": xgid(exchange), "position": position, "match": match})
    return json.dumps(told, indent=1) + "\n"


def games(folder: Path) -> dict[str, str]:
    """A match and single games that the program plays against itself."""
    found = {}
    for name, start, number, seed in (("match-5", "new match 5", 9, 7), ("money", "new session", 3, 11)):
        end = ["new game", "end game"] * number
        commands = [*_PLAYERS, "set rng mersenne", f"set seed {seed}", start]
        commands += ["set player 0 name Alice", "set player 1 name Bob", *end, f"export match mat {name}.mat"]
        run(commands, folder)
        text = (folder / f"{name}.mat").read_text(encoding="utf-8")
        found[f"gnubg-{name}.mat"] = re.sub(r'EventDate "[^"]*"', 'EventDate "2026.11.30"', text)
    return found


def main() -> int:
    """0 if the program says what is stored."""
    given = argparse.ArgumentParser(description=__doc__)
    given.add_argument("--write", action="store_true", help="store what the program says now")
    options = given.parse_args()
    if PROGRAM is None:
        print("gnubg is not installed")
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        said = {**judged(folder), "ids.json": ids(folder), **games(folder)}
    wrong = 0
    for name, text in sorted(said.items()):
        stored = DATA / name
        if options.write:
            DATA.mkdir(exist_ok=True)
            stored.write_text(text, encoding="utf-8", newline="\n")
        elif not stored.exists() or stored.read_text(encoding="utf-8") != text:
            print(f"{name}: not as stored")
            wrong += 1
    print(f"{len(said)} texts, {wrong} not as stored" if not options.write else f"{len(said)} texts written")
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
