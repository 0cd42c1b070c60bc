"""The organiser's guide and the example do what they say: their very commands, against a server, with players."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.organising import an_owner
from tests.support.server import LiveServer

ROOT = Path(__file__).parents[2]


def commands_of(guide: str) -> list[str]:
    return re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / guide).read_text(encoding="utf-8"), re.DOTALL)


def the_example() -> Any:
    """`examples/run_event.py` as a module."""
    spec = importlib.util.spec_from_file_location("run_event", ROOT / "examples" / "run_event.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_both_languages_give_the_same_commands() -> None:
    assert commands_of("ORGANISERS.md") == commands_of("ORGANISERS.ru.md")
    assert len(commands_of("ORGANISERS.md")) > 8


@pytest.fixture
def shell(server: LiveServer, tmp_path: Path) -> dict[str, str]:
    """The environment in which the guide's commands run: with `nardy`, and a small field for a quick test."""
    assert shutil.which("curl"), "the guide needs curl: apt-get install curl"
    folder = tmp_path / "bin"
    folder.mkdir()
    nardy = folder / "nardy"
    nardy.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m app.cli "$@"\n')
    nardy.chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "SERVER": server.url,
        "DATABASE_URL": server.settings.database_url,
        "DATA_DIR": str(server.settings.data_dir),
        "SECRET_KEY": server.settings.secret_key,
        "ENTRANTS": "4",
        "GROUP": "2",
        "PAUSE": "0.3",
    }


async def test_the_guide_runs_an_event_from_key_to_export(
    server: LiveServer, shell: dict[str, str], tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    script = "set -euo pipefail\n" + "\n".join(commands_of("ORGANISERS.md"))
    running = await asyncio.create_subprocess_exec(
        "bash",
        "-c",
        script,
        cwd=folder,
        env=shell,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    example = the_example()

    async def players_come() -> None:
        """Whoever was sent a link opens it and plays, as the example's players do."""
        report = folder / "report.json"
        while not (report.exists() and report.read_text().strip().endswith("}")):
            await asyncio.sleep(0.1)
        lines = json.loads(report.read_text())["lines"]
        assert len(lines) == 4
        players = [example.Player(server.url, line["name"], line["link"]) for line in lines]
        await asyncio.gather(*(player.take_part("spring-cup") for player in players))

    playing = asyncio.create_task(players_come())
    try:
        async with asyncio.timeout(240):
            told, _ = await running.communicate()
            assert running.returncode == 0, told.decode()[-3_000:]
            await playing
    finally:
        playing.cancel()
        if running.returncode is None:
            running.kill()
            await running.wait()
    said = told.decode()
    assert '"differences":[]' in said
    assert "give what is stored and shown" in said
    exported = json.loads((folder / "spring-cup.json").read_text())
    assert exported["event"]["view"]["state"] == "finished"
    assert [place["place"] for place in exported["event"]["view"]["places"]] == [1, 2, 3, 4]
    assert [stage["standings"]["kind"] for stage in exported["stages"]] == [
        "qualifying",
        "groups",
        "single_elimination",
    ]
    assert (folder / "audit.csv").read_text(encoding="utf-8-sig").count("round-closed") >= 4


async def test_the_example_runs_an_event_to_its_table(
    server: LiveServer, capsys: pytest.CaptureFixture[str]
) -> None:
    example = the_example()
    async with an_owner(server) as admin:
        key = admin.http.headers["authorization"].removeprefix("Bearer ")
        given = [
            "run_event.py",
            server.url,
            "--key",
            key,
            "--entrants",
            "3",
            "--qualifying",
            "1",
            "--group",
            "3",
        ]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", given)
            arguments = example.arguments()
        async with asyncio.timeout(240):
            event = await example.run(arguments)
        view = (await admin.get(f"/events/{event}"))["view"]
    assert view["state"] == "finished"
    told = capsys.readouterr().out
    assert "recomputed equal" in told
    for name in ("Player 1", "Player 2", "Player 3"):
        assert name in told
