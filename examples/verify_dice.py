"""Checks the dice of a downloaded match: python verify_dice.py match.json. Needs Python and nothing else."""

import hashlib
import hmac
import json
import pathlib
import sys

match = json.loads(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
dice, rules = match["dice"], match["ruleset"]
key = bytes.fromhex(dice["seed"])
a, b = dice["seeds"]["A"], dice["seeds"]["B"]
wrong = []

# 1. What was promised before the match
if hashlib.sha256(key).hexdigest() != dice["commitment"]:
    wrong.append("The server's seed is not the one it committed to.")
for seat, seed in ("A", a), ("B", b):
    if seat in dice["defaulted"]:
        if seed != "0" * 32:
            wrong.append(f"{seat} showed no seed, yet zeros do not stand in its place.")
    elif seed and hashlib.sha256(bytes.fromhex(seed)).hexdigest() != dice["hashes"][seat]:
        wrong.append(f"{seat}'s seed is not the one that {seat} committed to.")


# 2. The dice of a turn
def dice_of(number, phase):
    counter = 0
    while True:
        text = f"nardy-dice/1|{match['dice_id']}|{a}|{b}|{number}|{phase}|{counter}"
        for byte in hmac.new(key, text.encode(), hashlib.sha256).digest():
            if byte < 252:
                yield byte % 6 + 1
        counter += 1


# 3. Every roll, in order, with none left out
reroll = rules["variant"] == "short" and rules["opening_double"] == "reroll"
rolled = match["phases"] + ([match["open"]] if match["open"] else [])
for place, phase in enumerate(rolled):
    number, letter = place // 2 + 1, "WK"[place % 2]
    stream = dice_of(number, letter)
    roll = [next(stream), next(stream)]
    while place == 0 and reroll and roll[0] == roll[1]:
        roll = [next(stream), next(stream)]
    if phase["turn"] != f"{number}{letter}" or sorted(phase["roll"]) != sorted(roll):
        wrong.append(f"Turn {phase['turn']}: {phase['roll']} should be turn {number}{letter}: {roll}.")

print(*wrong, f"{len(rolled)} rolls, {len(wrong)} wrong", sep="\n")
sys.exit(1 if wrong else 0)
