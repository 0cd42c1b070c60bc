"""The `nardy` command. Only the standard library is imported here; each subcommand brings what it needs itself."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

if TYPE_CHECKING:
    from app.service.bots import BotInfo, Bots
    from app.settings import Settings

T = TypeVar("T")
_BROKEN_PIPE, _INTERRUPTED = 141, 130  # as a shell counts a command that a signal ended


class _Failed(Exception):
    """The command cannot go on; the words are for its user."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one subcommand: 0 if all is well, 1 if something was wrong, 2 for a command that makes no sense."""
    given = _parser().parse_args(arguments)
    try:
        status: int = given.run(given)
        sys.stdout.flush()
    except _Failed as failed:
        print(f"nardy: {failed}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # Nobody reads on. What is still buffered must not fail once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="nardy", description="Objective Nardy: two games at once with the same dice."
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def command(name: str, run: Callable[[argparse.Namespace], int], words: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=words, description=words)
        made.set_defaults(run=run)
        return made

    def add_database(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--database", metavar="URL", help="postgresql://… or sqlite:///file (DATABASE_URL)"
        )
        parser.add_argument("--data", metavar="FOLDER", help="the data folder (DATA_DIR; ./data)")

    serve = command("serve", _serve, "serve the game")
    migrate = command("migrate", _migrate, "bring the database to the newest schema")
    add_database(serve)
    add_database(migrate)
    serve.add_argument("--host", help="the address to listen on (HOST; 127.0.0.1)")
    serve.add_argument("--port", type=_port, help="the port to listen on, 0 for any (PORT; 8000)")

    demo = command("demo", _demo, "play a whole match between two computer players, as two browsers would")
    demo.add_argument("--url", help="a running server; else one is started and stopped")
    demo.add_argument("--pace", type=_seconds, default=0.5, metavar="SECONDS", help="for a play (0.5)")

    words = "make bots, the accounts of programs that play, and their tokens"
    bot = commands.add_parser("bot", help=words, description=words)
    actions = bot.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, act, wanted, words in (
        ("create", _bot_create, "name", "make a bot, and print its token, which is shown once"),
        ("list", _bot_list, None, "all bots of this server"),
        ("token", _bot_token, "id", "print another token; the old one is not valid any longer"),
        ("revoke", _bot_revoke, "id", "take the token away"),
        ("delete", _bot_delete, "id", "delete a bot; what it has played stays"),
    ):
        made = actions.add_parser(name, help=words, description=words)
        made.set_defaults(run=act)
        if wanted:
            made.add_argument(wanted, metavar=wanted.upper())
        add_database(made)

    plays = command(
        "plays", _plays, 'legal plays: lines of {"board":[26 counts],"roll":[6,5]} to lines of {"results":…}'
    )
    plays.add_argument("files", nargs="*", metavar="FILE", help="standard input if there is none")
    score = command("score", _score, "what the matches, concessions and ratings in a file of cases come to")
    score.add_argument("file", metavar="FILE", help="cases as JSON; - is standard input")
    verify = command("verify", _verify, "check the dice of a finished match that was downloaded")
    verify.add_argument("file", metavar="MATCH.json", help="- is standard input")
    record = commands.add_parser("record", help="records of games: nardy, xiangqi, tabletop curling")
    of_record = record.add_subparsers(title="commands", metavar="COMMAND", required=True)
    words = 'one move of xiangqi in every spelling: lines of {"fen","text","from","letters"}'
    moves = of_record.add_parser("moves", help=words, description=words)
    moves.set_defaults(run=_record_moves)
    moves.add_argument("files", nargs="*", metavar="FILE", help="standard input if there is none")
    for name, words in (
        ("check", "what a record is, and everything that is wrong with it, each in its place"),
        ("convert", "a record in another form, language or family"),
        ("replay", "a record step by step, with the position after each"),
    ):
        made = of_record.add_parser(name, help=words, description=words, epilog=_RECORD_STATUS)
        made.set_defaults(run=_record, story=name)
        made.add_argument("file", metavar="FILE", help="- is standard input")
        made.add_argument(
            "--from", dest="source", metavar="FORM", help="its family or form; else it is recognised"
        )
        if name == "convert":
            made.add_argument(
                "--to", dest="target", metavar="FORM", help="a form or a family; else it keeps its own"
            )
        if name == "replay":
            made.add_argument("--json", action="store_true", help="all steps, as one line of JSON")
        made.add_argument("--language", choices=("ru", "en"), help="to write in; else the record's own")
        made.add_argument("--dialect", choices=("2018", "1997"), help="of xiangqi's WXF")
        made.add_argument(
            "--letters", choices=("any", "wxf", "cci", "general"), help="the school of xiangqi's letters"
        )
        made.add_argument(
            "--repair", action="store_true", help="list every record that a faulty text may mean"
        )
        if name != "check":
            made.add_argument("--choose", type=_count, metavar="N", help="take candidate N of a repair")
    analyse = command("analyse", _analyse, "what the plays and the luck of a finished match were worth")
    analyse.add_argument(
        "file", metavar="MATCH.json", help="a match that was downloaded; - is standard input"
    )
    analyse.add_argument(
        "--level",
        choices=("club", "expert", "master"),
        default="expert",
        help="how closely plays are looked at: network alone, one look-ahead, two (expert)",
    )
    analyse.add_argument("--json", action="store_true", help="all of it, as one line of JSON")
    return parser


_RECORD_STATUS = (
    "status: 0 all is well; 1 the record has faults, or is not read; 2 a form or option that there is not; "
    "3 no record that is known here; 4 the form asked for cannot hold it"
)


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 1_000:
        raise argparse.ArgumentTypeError("a whole number from 1")
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError("a port is a whole number up to 65535")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1
    if not 0 <= seconds <= 60:
        raise argparse.ArgumentTypeError("from 0 to 60")
    return seconds


def _write(answer: Mapping[str, Any]) -> None:
    """One answer, one line, at once."""
    print(json.dumps(answer, ensure_ascii=False, separators=(",", ":")), flush=True)


# ------------------------------------------------------------------------------------------------------ the server


def _settings(given: argparse.Namespace) -> Settings:
    """The environment's settings with the command's own before them. Raises BadSettings."""
    from app.settings import read_settings

    own = {
        "HOST": getattr(given, "host", None),
        "PORT": getattr(given, "port", None),
        "DATABASE_URL": given.database,
        "DATA_DIR": given.data,
    }
    return read_settings({**os.environ, **{name: str(v) for name, v in own.items() if v is not None}})


def _serve(given: argparse.Namespace) -> int:
    import asyncio
    import logging
    import socket

    from app import logs
    from app.main import create_app
    from app.serving import Server, uvicorn_config
    from app.store import open_store

    log = logging.getLogger("app.cli")

    async def try_store() -> None:
        await (await open_store(settings)).close()

    with _one_line_errors():
        settings = _settings(given)
        family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
        try:
            listening = socket.create_server((settings.host, settings.port), family=family, backlog=2048)
        except OSError as error:
            because = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
            raise _Failed(f"cannot listen on {settings.host} port {settings.port}: {because}") from None
        asyncio.run(try_store())  # what is wrong with it is said here, and not in the traceback of a start
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{listening.getsockname()[1]}"

    def ready() -> None:
        if settings.log_format == "json":  # then there is nothing but JSON
            log.info("serving", extra={"facts": {"address": address}})
        else:
            print(f"Objective Nardy is at {address}", flush=True)

    app = create_app(settings)
    logs.install(settings)
    server = Server(uvicorn_config(app, settings), app, ready)
    with listening:
        server.run([listening])
    return 0 if server.started else 1


def _migrate(given: argparse.Namespace) -> int:
    import asyncio

    from app.store import upgrade

    with _one_line_errors():
        asyncio.run(upgrade(_settings(given)))
    print("The database has the schema of this version.")
    return 0


def _bot_create(given: argparse.Namespace) -> int:
    made = _with_bots(given, lambda bots: bots.create(None, given.name))
    print(f"{made.bot.id}  {_named(made.bot)}\n{made.token}")
    return 0


def _bot_list(given: argparse.Namespace) -> int:
    for bot in _with_bots(given, lambda bots: bots.mine(None)).bots:
        print(f"{bot.id}  {_named(bot)}{'' if bot.token_at else '  (no token)'}")
    return 0


def _bot_token(given: argparse.Namespace) -> int:
    print(_with_bots(given, lambda bots: bots.renew(None, given.id)).token)
    return 0


def _bot_revoke(given: argparse.Namespace) -> int:
    _with_bots(given, lambda bots: bots.revoke(None, given.id))
    return 0


def _bot_delete(given: argparse.Namespace) -> int:
    _with_bots(given, lambda bots: bots.retire(None, given.id))
    return 0


def _named(bot: BotInfo) -> str:
    return f"{bot.name} #{bot.tag}" if bot.tag else bot.name


def _with_bots(given: argparse.Namespace, do: Callable[[Bots], Coroutine[Any, Any, T]]) -> T:
    """Does this to the bots of the database, whether or not a server runs on it."""
    import asyncio
    import time

    from app.service.bots import Bots
    from app.service.errors import AppError
    from app.store import open_store

    async def work() -> T:
        store = await open_store(_settings(given))
        try:
            return await do(Bots(store, lambda: time.time_ns() // 1_000_000))
        finally:
            await store.close()

    with _one_line_errors():
        try:
            return asyncio.run(work())
        except AppError as refused:
            raise _Failed(refused.detail) from None


@contextlib.contextmanager
def _one_line_errors() -> Iterator[None]:
    """What an operator can put right is told in a line; anything else is a bug and keeps its traceback."""
    from asyncpg import InterfaceError, PostgresError
    from sqlalchemy.exc import DBAPIError

    from app.settings import BadSettings
    from app.store.database import StoreError
    from app.store.seal import WrongSecret

    try:
        yield
    except DBAPIError as error:
        raise _Failed(f"the database cannot be used: {error.orig}") from None
    except (PostgresError, InterfaceError) as error:
        raise _Failed(f"the database cannot be used: {error}") from None
    except ConnectionError as error:
        raise _Failed(f"the database cannot be reached: {error}") from None
    except (BadSettings, StoreError, WrongSecret, OSError) as error:
        raise _Failed(str(error)) from None


def _demo(given: argparse.Namespace) -> int:
    from app.demo import DemoFailed, show

    try:
        show(given.url, given.pace, lambda words: print(words, flush=True))
    except DemoFailed as error:
        raise _Failed(str(error)) from None
    return 0


# --------------------------------------------------------------------------------------------------------- answers


def _plays(given: argparse.Namespace) -> int:
    from app.answers import Refused, legal_results

    status = 0
    for name in given.files or ["-"]:
        with _open(name) as lines:
            for line in lines:
                if not line.strip():
                    continue
                try:
                    _write({"results": legal_results(line)})
                except Refused as refused:
                    _write({"error": refused.error})
                    status = 1
    return status


def _record_moves(given: argparse.Namespace) -> int:
    from app.answers import Refused
    from app.recordmoves import answer, lines

    status = 0
    for name in given.files or ["-"]:
        with _open(name) as opened:
            for line in lines(opened):
                try:
                    _write(answer(line))
                except Refused as refused:
                    _write({"error": refused.error})
                    status = 1
    return status


def _record(given: argparse.Namespace) -> int:
    from app import recordfiles
    from engine.records.family import Options

    with _open(given.file) as opened:
        data = opened.read(recordfiles.MAX_BYTES + 1)
    asked = recordfiles.Asked(
        name="standard input" if given.file == "-" else given.file,
        source=given.source,
        target=getattr(given, "target", None),
        options=Options(dialect=given.dialect, letters=given.letters, language=given.language),
        repair=given.repair or getattr(given, "choose", None) is not None,
        choose=getattr(given, "choose", None),
    )
    if given.story == "replay":
        answer = recordfiles.replay(data, asked, as_json=given.json)
    else:
        answer = {"check": recordfiles.check, "convert": recordfiles.convert}[given.story](data, asked)
    sys.stderr.write(answer.err)
    sys.stdout.write(answer.out)
    return answer.status


def _score(given: argparse.Namespace) -> int:
    from app.answers import Refused, read_cases, score

    try:
        with _open(given.file) as opened:
            cases = read_cases(opened.read())
    except Refused as refused:
        _write({"id": None, "error": refused.error})
        return 1
    status = 0
    for case in cases:
        case_id = case.get("id") if isinstance(case, dict) else None
        try:
            _write({"id": case_id, **score(case)})
        except Refused as refused:
            _write({"id": case_id, "error": refused.error})
            status = 1
    return status


def _verify(given: argparse.Namespace) -> int:
    from app.dicecheck import NotAMatch, check

    try:
        with _open(given.file) as opened:
            checked = check(opened.read())
    except NotAMatch as error:
        raise _Failed(f"{given.file} is {error}") from None
    print(checked)
    return 1 if checked.wrong else 0


def _analyse(given: argparse.Namespace) -> int:
    from app.engines.judge import NoJudge, judge_of
    from app.review import NotAnalysable, plain, read_match, report
    from engine.analysis import analysed, work

    try:
        with _open(given.file) as opened:
            recorded = read_match(opened.read())
        judge = judge_of(given.level)
    except NotAnalysable as error:
        raise _Failed(f"{given.file} is {error}") from None
    except NoJudge as error:
        raise _Failed(str(error)) from None
    turns, phases = [], len(recorded.played.phases)
    is_watched = sys.stderr.isatty()
    for turn in work(recorded.played, judge):
        turns.append(turn)
        if is_watched:
            print(f"\r{len(turns)} of {phases} phases", end="", file=sys.stderr, flush=True)
    if is_watched and turns:
        print("\r" + " " * 30, end="\r", file=sys.stderr, flush=True)
    found = analysed(recorded.played, turns, judge.names)
    if given.json:
        _write(plain(recorded, found))
    else:
        print(report(recorded, found))
    return 0


@contextlib.contextmanager
def _open(name: str) -> Iterator[BinaryIO]:
    """A file, or standard input, as bytes."""
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        with Path(name).open("rb") as opened:
            yield opened
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise _Failed(f"cannot read {name}: {error.strerror}") from None


if __name__ == "__main__":
    sys.exit(main())
