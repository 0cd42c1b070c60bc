"""A qualifying round of scripted entrants, all at once against one computer on the same dice (§12.1):
`python -m bench.qualifying 64 expert --postgres`.

Plays it twice, on one server on SQLite and, with --postgres, on two servers, everybody in another order; says whether
equal entrants had equal matches and the computer equal answers, and what it took.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from app.engines.levels import LEVELS, levels_here
from app.settings import Settings
from app.store import upgrade
from bench.wire import databases, postgres_argument
from tests.support.entrants import Round, play_round, servers

KINDS = ("first", "beginner", "last", "club", "expert")


def story(played: Round) -> dict[str, set[str]]:
    """What happened in the matches of each kind of entrant, without the time that it took."""
    return {
        kind: {str(([line[:4] for line in view.record], view.result and view.result.games)) for view in views}
        for kind, views in played.by_kind().items()
    }


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("entrants", type=int, nargs="?", default=64)
    parser.add_argument("computer", nargs="?", default="expert", choices=LEVELS)
    postgres_argument(parser)
    asked = parser.parse_args()
    levels = {level.key: level for level in levels_here()}
    kinds = list(islice(cycle(KINDS), asked.entrants))
    rounds = []
    with (
        tempfile.TemporaryDirectory() as folder,
        databases(Path(folder), asked.postgres) as known,
    ):
        for order, (name, url) in enumerate(known):
            settings = Settings(
                database_url=url, data_dir=Path(folder, name), secret_key="a key for this bench"
            )
            await upgrade(settings)
            nodes = 1 if url.startswith("sqlite") else 2
            async with servers(settings, list(levels.values()), nodes) as at:
                began = time.perf_counter()
                played = await play_round(at, kinds, levels[asked.computer], order)
                took = time.perf_counter() - began
            rounds.append(played)
            plays = sum(len(view.record) for views in played.by_kind().values() for view in views)
            print(
                f"{name}, {nodes} server{'s' * (nodes > 1)}: {asked.entrants} matches against {asked.computer}, "
                f"{plays} phases in {took:.1f} s"
            )
    for wrong in differences(rounds):
        print(wrong)
    equal = sum(len(kind) for kind in (story(rounds[0]).values()))
    print(f"{asked.entrants} entrants of {len(story(rounds[0]))} kinds: {equal} different matches")


def differences(rounds: list[Round]) -> Iterator[str]:
    """What is not as it should be."""
    for number, played in enumerate(rounds):
        for kind, stories in story(played).items():
            if len(stories) > 1:
                yield f"round {number}: {kind} had {len(stories)} different matches"
        asked = sum(len(answers) > 1 for answers in played.answers.values())
        if asked:
            yield f"round {number}: {asked} positions had different answers"
        if story(played) != story(rounds[0]) or played.answers != rounds[0].answers:
            yield f"round {number} is not like the first"


if __name__ == "__main__":
    asyncio.run(main())
