"""A program that plays objective nardy: python bot.py http://127.0.0.1:8000 --token nardy_bot_…

It joins somebody who waits for anyone, or opens a match and waits itself; --invite and --computer say otherwise. Needs
Python 3.11 and the package `websockets`. Where it thinks is `choose`; the rest is the protocol. README.md explains it.
"""

import argparse
import asyncio
import hashlib
import json
import os
import pathlib
import random
import secrets
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

LATE = {"stale-turn", "already-played", "match-over", "time-is-up"}  # the match went on without this message


class Refused(Exception):
    """The server says no, and will say so again."""


# ----------------------------------------------------------------------------------------------------- where it thinks


def choose(mine, theirs, steps):
    """The moves [[from, to], …] of the play that leaves the best position.

    `mine` and `theirs` are 26 counts each, [off, 1-point … 24-point, bar], counted from the side whose checkers they
    are. `steps` is the step graph: node 0 is now, an edge [from, to, die, hit, node] is a move, and a node without
    edges is a finished play.
    """
    best, seen, waiting = None, {0}, [(0, [], mine, theirs)]
    while waiting:
        node, moves, me, they = waiting.pop()
        if not steps[node]:
            best = max(best or (float("-inf"), []), (worth(me, they), moves))
        for start, end, _, hit, following in steps[node]:
            if following not in seen:
                seen.add(following)
                waiting.append((following, [*moves, [start, end]], *moved(me, they, start, end, hit)))
    return best[1]


def moved(mine, theirs, start, end, hit):
    """The position after one move."""
    mine, theirs = list(mine), list(theirs)
    mine[start] -= 1
    mine[end] += 1
    if hit:
        theirs[25 - end] -= 1  # their point there
        theirs[25] += 1
    return mine, theirs


def worth(mine, theirs):
    """The more, the better; a beginner's idea of the game."""
    pips = [sum(point * count for point, count in enumerate(side)) for side in (mine, theirs)]
    value = pips[1] - pips[0]
    for point in range(1, 25):
        behind = sum(theirs[25 - p] for p in range(1, point)) + theirs[25]  # of theirs, still to come past
        if mine[point] == 1 and behind:
            value -= (25 - point) * 0.5  # what a hit costs, half of the time
        elif mine[point] >= 2 and behind:
            value += 8 if 4 <= point <= 7 else 3
            value -= 2 * max(0, mine[point] - 3)  # a stack does nothing
    return value


# ------------------------------------------------------------------------------------------------------------ over HTTP


class Server:
    """The server, as this bot talks to it."""

    def __init__(self, url, token):
        self.url, self.token = url.rstrip("/"), token

    async def call(self, method, path, body=None):
        """The answer as JSON. A call that got lost is made again, with its key: what it makes is made once."""
        key, pauses = secrets.token_hex(8), backoff()
        while True:
            try:
                return await asyncio.to_thread(self._call, method, path, body, key)
            except urllib.error.HTTPError as error:
                problem = json.loads(error.read() or b"{}")
                if error.code not in (429, 503):
                    raise Refused(f"{method} {path}: {problem.get('detail', error)}") from None
                await asyncio.sleep(float(error.headers.get("Retry-After") or next(pauses)))
            except OSError:
                await asyncio.sleep(next(pauses))

    def _call(self, method, path, body, key):
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, content, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    async def find_match(self, given):
        """A match to play: the one that is asked for, one that was begun before, or whatever there is."""
        if given.invite:
            code = given.invite.rstrip("/").rpartition("/")[2]
            return (await self.call("POST", f"/api/invites/{code}/join"))["id"]
        lobby = await self.call("GET", "/api/lobby")
        if lobby["mine"]:
            return lobby["mine"][-1]["id"]  # it was begun before this program was, and its clock runs
        rules = {"preset": given.preset, "ruleset": json.loads(given.rules)}
        if given.computer:
            rules |= {"opponent": "computer", "level": given.computer}
            return (await self.call("POST", "/api/matches", rules))["id"]
        for info in lobby["waiting"]:
            if not info["ruleset"]["rated"]:  # a bot plays for nothing
                try:
                    return (await self.call("POST", f"/api/matches/{info['id']}/join"))["id"]
                except Refused:
                    pass  # somebody was faster
        return (await self.call("POST", "/api/matches", {**rules, "opponent": "anyone"}))["id"]

    async def rematch(self, match, patience_s=60):
        """Asks for another match; its id, if the opponent wants it too."""
        info = await self.call("POST", f"/api/matches/{match}/rematch")
        while not info["rematch"]["id"] and patience_s > 0:
            await asyncio.sleep(2)
            patience_s -= 2
            info = await self.call("GET", f"/api/matches/{match}")
        return info["rematch"]["id"]


def backoff():
    """Seconds to wait before the next try: 0.5, 1, 2 … up to 30, more or less, so that not all come back at once."""
    pause = 0.5
    while True:
        yield pause * random.uniform(0.5, 1.5)
        pause = min(2 * pause, 30)


# ------------------------------------------------------------------------------------------------------------ one match


class Match:
    """One match from its seeds to its result."""

    def __init__(self, server, match):
        self.server, self.id = server, match
        self.seed = secrets.token_bytes(16)  # our part of the dice
        self.info = self.view = None
        self.promised = None  # the server's commitment, as we first heard it
        self.unanswered = {}  # messages by id, until the server has answered them
        self.done = set()  # what has been decided: seeds, turns

    async def play(self):
        """The last view; None if the match was cancelled before it began."""
        address = f"ws{self.server.url.removeprefix('http')}/ws/matches/{self.id}"
        headers, pauses = {"Authorization": f"Bearer {self.server.token}"}, backoff()
        while True:
            try:
                async with connect(address, additional_headers=headers, compression=None) as socket:
                    for message in self.unanswered.values():  # the line was cut before we heard: say it again
                        await socket.send(json.dumps(message))
                    async for text in socket:
                        pauses = backoff()  # the line is good
                        if await self.heard(json.loads(text), socket):
                            return self.view
            except (ConnectionClosed, InvalidHandshake, OSError, TimeoutError) as error:
                print(f"connection lost: {error}", file=sys.stderr)
            await asyncio.sleep(next(pauses))

    async def heard(self, frame, socket):
        """Does what a frame asks for; true once the match is over."""
        if "ping" in frame:
            await socket.send(
                json.dumps({"type": "pong", "ping": frame["ping"]})
            )  # at once: it measures the way
        match frame["type"]:
            case "view":
                self.info, self.view = frame.get("info", self.info), frame["view"]
                if self.info["state"] == "cancelled" or (self.view and self.view["result"]):
                    return True
                if self.view:
                    await self.act(socket)
            case "accepted":
                self.unanswered.pop(frame["id"], None)
            case "problem":
                self.unanswered.pop(frame["id"], None)
                if frame["problem"]["code"] not in LATE:
                    raise Refused(frame["problem"]["detail"])
            case "bye" if frame["reason"] in ("flood", "revoked"):
                raise Refused(f"sent away: {frame['reason']}")
        return False

    async def act(self, socket):
        """What this view asks of us, once: our part of the dice, or a play."""
        view, dice, mine = self.view, self.view["dice"], self.view["mine"]
        self.promised = self.promised or dice["commitment"]
        if view["stage"] == "seeding":
            digest = hashlib.sha256(self.seed).hexdigest()
            await self.say_once(socket, type="seed-commit", id="commit", hash=digest)
            if all(dice["hashes"][seat] or seat in dice["defaulted"] for seat in "AB"):
                await self.say_once(socket, type="seed-reveal", id="reveal", seed=self.seed.hex())
        elif view["stage"] == "playing" and mine and mine["steps"] and mine["steps"][0]:
            board, turn = view["boards"][mine["game"]], view["turn"]
            if f"play-{turn}" in self.done:
                return
            other = {"white": "black", "black": "white"}[mine["color"]]
            moves = await asyncio.to_thread(choose, board[mine["color"]], board[other], mine["steps"])
            await self.say_once(socket, type="play", id=f"play-{turn}", turn=turn, moves=moves)

    async def say_once(self, socket, **message):
        """Sends a message, and keeps it until it is answered. Said twice with its id it is done once."""
        if message["id"] not in self.done:
            self.done.add(message["id"])
            self.unanswered[message["id"]] = message
            await socket.send(json.dumps(message))

    async def check_dice(self):
        """Were the dice those that were promised before the match, and made with our seed too?"""
        record = await self.server.call("GET", f"/api/matches/{self.id}.json")
        dice, seat = record["dice"], self.view["seat"]
        if self.promised not in (None, dice["commitment"]):
            raise Refused("The server has exchanged its commitment.")
        if seat not in dice["defaulted"] and "reveal" in self.done and dice["seeds"][seat] != self.seed.hex():
            raise Refused("Our seed is not in the record.")
        checked = await asyncio.to_thread(verified, record)
        print(checked.stdout.strip())
        if checked.returncode:
            raise Refused("The dice are not as promised.")


def verified(record):
    """What verify_dice.py, the script beside this one, says of a record."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "match.json")
        file.write_text(json.dumps(record), encoding="utf-8")
        script = pathlib.Path(__file__).with_name("verify_dice.py")
        return subprocess.run([sys.executable, script, file], capture_output=True, text=True)


# -------------------------------------------------------------------------------------------------------------- the bot


async def main(given):
    server = Server(given.url, given.token)
    me = (await server.call("GET", "/api/session"))["player"]
    print(f"I am {me['name']}, a {me['kind']}.")
    match_id = await server.find_match(given)
    while match_id:
        match = Match(server, match_id)
        print(f"Watch at {server.url}/match/{match_id}", flush=True)
        view = await match.play()
        if view is None:
            print("Nobody came.")
            return
        result, seat = view["result"], view["seat"]
        print(f"{result['outcome']}: {result['points'][seat]:+} points for me, as {seat}", flush=True)
        await match.check_dice()
        match_id = await server.rematch(match_id) if given.rematch else None


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url", help="of the server")
    parser.add_argument(
        "--token", default=os.environ.get("NARDY_TOKEN"), help="else NARDY_TOKEN in the environment"
    )
    parser.add_argument("--invite", metavar="LINK", help="accept this invitation, a link or its code")
    parser.add_argument(
        "--computer", metavar="LEVEL", help="play the server's computer: beginner, club, expert, master"
    )
    parser.add_argument(
        "--preset", default="objective", help="the rules of a match that it makes (objective)"
    )
    parser.add_argument("--rules", default="{}", metavar="JSON", help='what differs: {"scoring": "classic"}')
    parser.add_argument("--rematch", action="store_true", help="ask for another match after each")
    given = parser.parse_args()
    if not given.token:
        parser.error("a bot needs its --token")
    return given


if __name__ == "__main__":
    try:
        asyncio.run(main(arguments()))
    except Refused as refused:
        sys.exit(f"bot.py: {refused}")
    except KeyboardInterrupt:
        sys.exit(130)
