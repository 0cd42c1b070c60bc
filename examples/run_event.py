"""Runs a whole event: python run_event.py http://127.0.0.1:8000 --key nk_… --entrants 64

It makes an event by the organisers' API, enters so many players, plays for each of them as a browser would, over a
socket of his own, until the last match is over, and prints the table. Qualifying against the computer, groups, final
knock-out. Needs Python 3.11 and the package `websockets`. docs/ORGANISERS.md tells the same by curl.
"""

import argparse
import asyncio
import concurrent.futures
import hashlib
import http.client
import json
import os
import random
import secrets
import sys
import time
import urllib.error
import urllib.request

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

ADMIN = "/api/admin/v1"
LATE = {"stale-turn", "already-played", "match-over", "time-is-up"}  # the match went on without this message


class Refused(Exception):
    """The server says no, and will say so again."""


class Caller:
    """Somebody who talks to the server: an organiser by his key, a player by the cookie that his link gave him."""

    def __init__(self, url, key=None):
        self.url, self.key, self.cookie = url.rstrip("/"), key, None

    async def call(self, method, path, body=None):
        """The answer as JSON. A call that got lost is made again under its name: what it does is done once."""
        name, pause = secrets.token_hex(8), 0.5
        while True:
            try:
                return await asyncio.to_thread(self._call, method, path, body, name)
            except urllib.error.HTTPError as error:
                problem = json.loads(error.read() or b"{}")
                if error.code not in (429, 503):
                    raise Refused(f"{method} {path}: {problem.get('detail', error)}") from None
                wait = float(error.headers.get("Retry-After") or pause)
            except (OSError, http.client.HTTPException):
                wait = pause  # the server is being restarted, perhaps
            await asyncio.sleep(wait * random.uniform(0.8, 1.2))
            pause = min(2 * pause, 15)

    def _call(self, method, path, body, name):
        headers = {"Idempotency-Key": name}
        if isinstance(body, str):
            content, headers["Content-Type"] = body.encode(), "text/csv"
        else:
            content, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        request = urllib.request.Request(self.url + path, None if body is None else content, method=method)
        for header, value in {**headers, **self.identity()}.items():
            request.add_header(header, value)
        with urllib.request.urlopen(request, timeout=600) as answer:
            if cookie := answer.headers.get("Set-Cookie"):
                self.cookie = cookie.partition(";")[0]
            return json.load(answer)

    def identity(self):
        """The headers by which the server knows who this is."""
        if self.key:
            return {"Authorization": f"Bearer {self.key}"}
        return {"Cookie": self.cookie} if self.cookie else {}


# ---------------------------------------------------------------------------------------------------------- a player


class Player(Caller):
    """An entrant: comes in by his link, and goes to whatever match is next for him."""

    def __init__(self, url, name, link):
        super().__init__(url)
        self.name, self.link, self.plays = name, link, 0
        self.mood = random.Random(name)  # who errs less wins more; without it all would play alike, and draw
        self.errs = self.mood.random() * 0.4

    async def take_part(self, event):
        """Until the event is over for everybody."""
        await self.call("POST", "/api/session/link", {"link": self.link})
        while True:
            mine = (await self.call("GET", f"/api/competitions/{event}/mine"))["mine"]["next"]
            if mine["kind"] in ("over", "cancelled", "banned", "withdrawn"):
                return
            if mine["kind"] == "play" and mine["is_made"]:
                await self.play(mine["match"])
            await asyncio.sleep(random.uniform(1, 3))

    async def play(self, match):
        """One match from its seeds to its result, whatever becomes of the line meanwhile."""
        address = f"ws{self.url.removeprefix('http')}/ws/matches/{match}"
        seat, pause = Seat(match, self), 0.5
        while True:
            try:
                async with connect(address, additional_headers=self.identity(), compression=None) as socket:
                    for message in seat.unanswered.values():  # the line was cut before we heard: say it again
                        await socket.send(json.dumps(message))
                    async for text in socket:
                        pause = 0.5
                        if await seat.heard(json.loads(text), socket):
                            self.plays += len(seat.said)
                            return
            except (ConnectionClosed, InvalidHandshake, OSError, TimeoutError):
                pass
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(2 * pause, 15)


class Seat:
    """A player's side of one match: what he has said there, and what is not answered yet."""

    def __init__(self, match, player):
        self.match, self.player, self.seed = match, player, secrets.token_bytes(16)
        self.said, self.unanswered = set(), {}

    async def heard(self, frame, socket):
        """Does what a frame asks for; true once the match is over."""
        if "ping" in frame:
            await socket.send(json.dumps({"type": "pong", "ping": frame["ping"]}))
        if frame["type"] == "view" and frame["view"]:
            if frame["view"]["stage"] == "over":
                return True
            await self.act(frame["view"], socket)
        elif frame["type"] in ("accepted", "problem"):
            self.unanswered.pop(frame["id"], None)
            if frame["type"] == "problem" and frame["problem"]["code"] not in LATE:
                raise Refused(f"{self.match}: {frame['problem']['detail']}")
        return False

    async def act(self, view, socket):
        """What this view asks of us, once: our part of the dice, or a play."""
        mine, dice = view["mine"], view["dice"]
        if view["stage"] == "seeding":
            digest = hashlib.sha256(self.seed).hexdigest()
            await self.say(socket, type="seed-commit", id="commit", hash=digest)
            if all(dice["hashes"][seat] or seat in dice["defaulted"] for seat in "AB"):
                await self.say(socket, type="seed-reveal", id="reveal", seed=self.seed.hex())
        elif view["stage"] == "playing" and mine and mine["steps"] and mine["steps"][0]:
            board = view["boards"][mine["game"]]
            moves = choose(board[mine["color"]], mine["steps"], self.player)
            await self.say(socket, type="play", id=f"play-{view['turn']}", turn=view["turn"], moves=moves)

    async def say(self, socket, **message):
        """Sends a message once, and keeps it until it is answered."""
        if message["id"] not in self.said:
            self.said.add(message["id"])
            self.unanswered[message["id"]] = message
            await socket.send(json.dumps(message))


def choose(mine, steps, player):
    """A beginner's play: hit if you can, else make a point, else bring the last checker on; or, by mistake, anything.

    `mine` are 26 counts, [off, 1-point … 24-point, bar]. `steps` is the step graph: node 0 is now, an edge
    [from, to, die, hit, node] is a move, and a node without edges is a finished play.
    """
    mine, node, moves = list(mine), 0, []
    while steps[node]:
        best = max(steps[node], key=lambda edge: (edge[3], mine[edge[1]] == 1, mine[edge[0]] != 2, edge[0]))
        start, end, _, _, node = (
            best if player.mood.random() >= player.errs else player.mood.choice(steps[node])
        )
        mine[start] -= 1
        mine[end] += 1
        moves.append([start, end])
    return moves


# --------------------------------------------------------------------------------------------------------- the event


def settings(given):
    """Qualifying, groups of leaders and of outsiders, final knock-out; rounds follow one another by themselves."""
    groups = -(-given.entrants // given.group)
    stages = [
        {"kind": "qualifying", "matches": given.qualifying, "computer": given.computer},
        {"kind": "groups", "size": given.group},
        {"kind": "single_elimination", "take_per_group": 1 if groups > 1 else 2},
    ]
    return {
        "stages": stages,
        "ruleset": {"reveal_ms": 0, "auto_pass_ms": 0},  # nobody looks at the dice
        "pace": {"mode": "auto", "break_ms": 0},
        "tie_breaks": ["point_difference", "wins", "less_time", "lot"],
    }


async def run(given):
    """The event from its making to its table; its id."""
    loop = asyncio.get_running_loop()
    loop.set_default_executor(concurrent.futures.ThreadPoolExecutor(given.entrants + 4))
    admin, began = Caller(given.url, given.key), time.monotonic()
    title = {"en": f"Event of {given.entrants}", "ru": f"Турнир на {given.entrants}"}
    made = await admin.call("POST", f"{ADMIN}/events", {"title": title, "settings": settings(given)})
    event = made["id"]
    root = f"{ADMIN}/events/{event}"
    await admin.call("POST", f"{root}/open-entry")
    names = "name\n" + "".join(f"Player {number}\n" for number in range(1, given.entrants + 1))
    report = await admin.call("POST", f"{root}/entrants/import?new=true", names)
    if report["entered"] != given.entrants:
        raise Refused(f"{report['wrong']} lines of the list were wrong")
    players = [Player(given.url, line["name"], line["link"]) for line in report["lines"]]
    await admin.call("POST", f"{root}/start")
    print(f"{given.url}/events/{event}: {len(players)} entrants, started", flush=True)

    watching = asyncio.create_task(watch(admin, root, began))
    try:
        await asyncio.gather(*(player.take_part(event) for player in players), watching)
    finally:
        watching.cancel()
    table = await admin.call("GET", root)
    names = {one["entrant"]["number"]: one["entrant"] for one in table["entrants"]}
    for place in table["view"]["places"]:
        one = names[place["entrant"]]
        print(f"{place['place']:>4}  {one['name']:<24} {one['points']:>6}  stage {place['stage']}")
    proof = await admin.call("GET", f"{root}/recompute")
    for difference in proof["differences"]:
        print(f"NOT EQUAL  {difference['where']}: {difference['stored']} / {difference['computed']}")
    plays, took = sum(player.plays for player in players), time.monotonic() - began
    equal = "recomputed equal" if not proof["differences"] else "NOT EQUAL"
    print(f"{event}: {proof['matches']} matches, {plays} messages, {took:.0f} s, {equal}")
    return event if not proof["differences"] else None


async def watch(admin, root, began):
    """Says how far the event is, until it is over."""
    before = None
    while True:
        view = (await admin.call("GET", root))["view"]
        shown = [(stage["kind"], round["number"]) for stage in view["stages"] for round in stage["rounds"]]
        if shown and shown[-1] != before:
            before = shown[-1]
            print(f"{time.monotonic() - began:6.0f} s  {before[0]}, round {before[1]}", flush=True)
        if view["state"] in ("finished", "cancelled"):
            return
        await asyncio.sleep(2)


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url", help="of the server")
    parser.add_argument(
        "--key", default=os.environ.get("NARDY_KEY"), help="else NARDY_KEY in the environment"
    )
    parser.add_argument("--entrants", type=int, default=64, metavar="N")
    parser.add_argument(
        "--qualifying", type=int, default=2, metavar="N", help="matches against the computer (2)"
    )
    parser.add_argument("--computer", default="beginner", help="its level (beginner)")
    parser.add_argument("--group", type=int, default=8, metavar="N", help="entrants of a group (8)")
    given = parser.parse_args()
    if not given.key:
        parser.error("an organiser needs his --key: nardy admin key create")
    if given.entrants < 2:
        parser.error("an event has two entrants or more")
    return given


if __name__ == "__main__":
    try:
        sys.exit(0 if asyncio.run(run(arguments())) else 1)
    except Refused as refused:
        sys.exit(f"run_event.py: {refused}")
    except KeyboardInterrupt:
        sys.exit(130)
