"""The image and the services around it, as far as they can be checked without an engine that runs them."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from app.cli import _parser
from app.settings import Settings, read_settings
from tests.support.server import LiveServer, running_server

HOUSE = Path(__file__).parents[2]
SETTINGS = {name.upper() for name in Settings.__dataclass_fields__}
Instructions = list[tuple[str, str]]


def instructions() -> Instructions:
    """The Dockerfile's, each on one line."""
    text = re.sub(r"^#.*\n", "", (HOUSE / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines) if word]


def stages() -> list[Instructions]:
    made: list[Instructions] = [[]]
    for instruction in instructions():
        if instruction[0] == "FROM":
            made.append([])
        made[-1].append(instruction)
    return made[1:]


def said(word: str, stage: Instructions) -> list[str]:
    return [rest for instruction, rest in stage if instruction == word]


def goes_to_the_engine(path: str) -> bool:
    """Whether .dockerignore lets a file through; the last line that fits decides."""
    through = True
    for line in (HOUSE / ".dockerignore").read_text().splitlines():
        pattern = line.removeprefix("!")
        if not line or line.startswith("#"):
            continue
        names = [path, *(str(parent) for parent in Path(path).parents if str(parent) != ".")]
        if pattern.startswith("**/"):
            fits = any(fnmatch(Path(name).name, pattern[3:]) for name in names)
        else:
            fits = any(fnmatch(name, pattern) and name.count("/") == pattern.count("/") for name in names)
        if fits:
            through = line.startswith("!")
    return through


def compose() -> Any:
    return yaml.safe_load((HOUSE / "docker-compose.yml").read_text())


def variables_of_the_image() -> dict[str, str]:
    pairs = (pair for env in said("ENV", stages()[-1]) for pair in env.split())
    return dict(pair.split("=", 1) for pair in pairs)


# ---------------------------------------------------------------------------------------------------- the image


def test_all_that_is_copied_is_there_and_let_through() -> None:
    copied = [path for rest in said("COPY", stages()[0]) for path in rest.split()[:-1]]
    assert {"engine", "app", "static", "migrations", "requirements/runtime.txt"} <= set(copied)
    for path in copied:
        assert (HOUSE / path).exists(), path
        assert goes_to_the_engine(path), path
        assert goes_to_the_engine(f"{path}/x.py" if (HOUSE / path).is_dir() else path), path


@pytest.mark.parametrize(
    "path",
    ".env data/secret.key data/nardy.sqlite3 .git/config tests/conftest.py app/__pycache__/cli.pyc "
    "requirements/dev.txt docs/OPERATIONS.md .venv/bin/python".split(),
)
def test_nothing_else_is_let_through(path: str) -> None:
    assert not goes_to_the_engine(path)


def test_what_the_wheel_is_made_of_is_in_the_image() -> None:
    project = tomllib.loads((HOUSE / "pyproject.toml").read_text())
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    needed = {*packages, project["project"]["readme"], *project["project"]["license-files"], "pyproject.toml"}
    copied = {path for rest in said("COPY", stages()[0]) for path in rest.split()[:-1]}
    assert needed <= copied


def test_installs_are_by_hash_and_name_no_place() -> None:
    for command in said("RUN", stages()[0]):
        for install in re.findall(r"pip install [^&]*", command):
            assert "--require-hashes" in install or "--no-index" in install
        assert "index-url" not in command.replace("--no-index", "")


def test_the_image_runs_as_a_user_of_its_own_and_is_small() -> None:
    first, last = stages()
    assert said("FROM", first) == ["python:${PYTHON}-slim AS build"]
    assert said("FROM", last) == ["python:${PYTHON}-slim"]
    assert said("USER", last) == ["10001:10001"]
    assert said("VOLUME", last) == ["/data"]
    assert [rest for rest in said("COPY", last) if "--from=build" not in rest] == []
    assert "pip install" not in " ".join(said("RUN", last))


def test_signals_reach_the_server() -> None:
    last = stages()[-1]
    assert json.loads(said("ENTRYPOINT", last)[0]) == ["nardy"]  # the exec form: no shell in between
    assert json.loads(said("CMD", last)[0]) == ["serve"]
    assert said("STOPSIGNAL", last) == ["SIGTERM"]


def test_the_image_s_variables_are_settings() -> None:
    own = {name: text for name, text in variables_of_the_image().items() if not re.match("PATH|PYTHON", name)}
    assert own.keys() <= SETTINGS
    settings = read_settings(own)
    assert (settings.host, settings.port, settings.data_dir) == ("0.0.0.0", 8000, Path("/data"))
    assert said("EXPOSE", stages()[-1]) == ["8000"]


async def test_the_health_check_tells_a_ready_server_from_others(server: LiveServer) -> None:
    [check] = said("HEALTHCHECK", stages()[-1])
    command = json.loads(check.partition("CMD ")[2])
    assert command[:2] == ["python", "-c"]

    async def healthy(port: str) -> bool:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", command[2], env={"PORT": port}, stderr=asyncio.subprocess.DEVNULL
        )
        return await process.wait() == 0

    port = server.url.rpartition(":")[2]
    assert await healthy(port)
    server.services.health.stop()
    assert not await healthy(port)
    assert not await healthy("1")


# -------------------------------------------------------------------------------------------------- the services


def test_every_service_is_what_it_is_meant_to_be() -> None:
    services = compose()["services"]
    assert services.keys() == {"database", "migrate", "app"}
    assert int(services["database"]["image"].removeprefix("postgres:")) >= 15
    for name in ("migrate", "app"):
        service = services[name]
        assert _parser().parse_args(service["command"])
        assert service["build"] == "."
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
    assert services["app"]["restart"] == services["database"]["restart"] == "unless-stopped"
    assert services["migrate"]["restart"] == "no"
    assert services["app"]["depends_on"] == {
        "database": {"condition": "service_healthy"},
        "migrate": {"condition": "service_completed_successfully"},
    }
    assert services["migrate"]["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert int(services["app"]["stop_grace_period"].removesuffix("s")) > 10


def test_the_services_variables_are_settings_and_make_sense() -> None:
    given = {
        "POSTGRES_PASSWORD": "swordfish",
        "SECRET_KEY": "sixteen letters!",
        "BASE_URL": "https://x.example",
    }
    for name in ("migrate", "app"):
        environment = compose()["services"][name]["environment"]
        assert environment.keys() <= SETTINGS
        settings = read_settings({key: filled(text, given) for key, text in environment.items()})
        assert settings.database_url == "postgresql://nardy:swordfish@database/nardy"
        assert settings.secret_key == "sixteen letters!"
        assert settings.base_url == "https://x.example"
        read_settings({key: filled(text, {"POSTGRES_PASSWORD": "x"}) for key, text in environment.items()})
    database = compose()["services"]["database"]["environment"]
    assert (database["POSTGRES_USER"], database["POSTGRES_DB"]) == ("nardy", "nardy")
    assert filled(database["POSTGRES_PASSWORD"], given) == "swordfish"


def filled(text: str, given: dict[str, str]) -> str:
    """As the engine fills in ${NAME:-default} and ${NAME:?what is wrong}."""

    def value(found: re.Match[str]) -> str:
        name, kind, rest = found.groups()
        if kind == ":?":
            assert given.get(name), rest
        return given.get(name) or (rest if kind == ":-" else "")

    return re.sub(r"\$\{(\w+)(?:(:[-?])([^}]*))?\}", value, text)


def test_every_variable_of_the_compose_file_is_in_the_example() -> None:
    used = set(re.findall(r"\$\{(\w+)", (HOUSE / "docker-compose.yml").read_text()))
    example = (HOUSE / ".env.example").read_text()
    assert set(re.findall(r"^(\w+)=", example, re.MULTILINE)) == used
    assert not re.search(r"^(POSTGRES_PASSWORD|SECRET_KEY)=.", example, re.MULTILINE), (
        "no secret for everyone"
    )
    assert "/.env\n" in (HOUSE / ".gitignore").read_text()


def test_what_must_be_kept_is_in_volumes() -> None:
    services, volumes = compose()["services"], compose()["volumes"]
    kept = {mount.partition(":")[0] for service in services.values() for mount in service.get("volumes", [])}
    assert kept == volumes.keys() == {"database", "keys"}
    assert services["app"]["volumes"] == [f"keys:{variables_of_the_image()['DATA_DIR']}"]


async def test_a_read_only_file_system_is_enough(migrated_postgres_url: str, tmp_path: Path) -> None:
    """With a key that is set nothing is written, not even a folder."""
    async with running_server(migrated_postgres_url, tmp_path / "not made") as server:
        async with httpx2.AsyncClient(base_url=server.url) as http:
            assert (await http.post("/api/session", json={"name": "Anna"})).status_code == 200
    assert not (tmp_path / "not made").exists()
