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
    from app.service.organisers import KeyInfo, NewKey, Organisers
    from app.settings import Settings

T = TypeVar("T")
Found = TypeVar("Found")
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
    recompute = command(
        "recompute", _recompute, "prove that a competition is what its stored matches and facts give"
    )
    recompute.add_argument("event", metavar="EVENT", help="the id of the competition, as in its address")
    for made in (serve, migrate, recompute):
        add_database(made)
    serve.add_argument("--host", help="the address to listen on (HOST; 127.0.0.1)")
    serve.add_argument("--port", type=_port, help="the port to listen on, 0 for any (PORT; 8000)")

    _add_admin(commands)

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
    moves = of_record.add_parser("moves", help=words, description=words, epilog=_RECORD_MOVES)
    moves.set_defaults(run=_record_moves)
    moves.add_argument("files", nargs="*", metavar="FILE", help="standard input if there is none")
    for name, words in (
        ("check", "what a record is, and everything that is wrong with it, each in its place"),
        ("convert", "a record in another form, language or family"),
        ("replay", "a record step by step, with the position after each"),
    ):
        made = of_record.add_parser(
            name, help=words, description=words, epilog=f"{_RECORD_FORMS} {_RECORD_STATUS}"
        )
        made.set_defaults(run=_record, story=name)
        made.add_argument("file", metavar="FILE", help="- is standard input")
        made.add_argument("--from", dest="source", metavar="FORM", help="its family or form, as below")
        if name == "convert":
            made.add_argument(
                "--to", dest="target", metavar="FORM", help="a form or family, as below; else its own"
            )
        if name == "replay":
            made.add_argument("--json", action="store_true", help="all steps, as one line of JSON")
        words = "what is said"
        if name == "convert":
            words = "what is said and written; else English, and the record's own"
        made.add_argument("--language", choices=("ru", "en"), help=f"of {words}")
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


def _add_admin(commands: Any) -> None:
    words = "make, list and revoke the keys of organisers' programs"
    admin = commands.add_parser("admin", help=words, description=words)
    things = admin.add_subparsers(title="things", metavar="THING", required=True)
    key = things.add_parser("key", help=words, description=words)
    actions = key.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, act, words in (
        ("create", _key_create, "make a key, and print it: it is shown once"),
        ("list", _key_list, "all keys of this server"),
        ("revoke", _key_revoke, "take a key away"),
    ):
        made = actions.add_parser(name, help=words, description=words)
        made.set_defaults(run=act)
        made.add_argument("--database", metavar="URL", help="postgresql://… or sqlite:///file (DATABASE_URL)")
        made.add_argument("--data", metavar="FOLDER", help="the data folder (DATA_DIR; ./data)")
        if name == "revoke":
            made.add_argument("id", metavar="ID", help="of the key, as `list` tells it")
        if name == "create":
            made.add_argument("label", metavar="LABEL", help="what it is for, in words")
            made.add_argument("--role", choices=("observer", "arbiter", "owner"), default="owner")
            made.add_argument("--owner", metavar="PLAYER", help="whose events: an account, or name #tag")
            made.add_argument("--name", help="else: of the new account whose events they are (Organiser)")
            made.add_argument("--event", metavar="ID", help="for one event only")
            made.add_argument("--expires", metavar="TIME", help="2027-01-31T00:00Z; never, if it is not said")


_RECORD_FORMS = (
    "families and their forms: objective: full, short, fixed; mat; xiangqi: wxf2018, wxf1997, cn_simp, cn_trad, uci, "
    "ucci, iccs; curling: short, dice, cards."
)
_RECORD_MOVES = (
    "from: wxf2018 (usual), wxf1997, cn, uci, ucci, iccs. letters: any (usual), wxf, cci, general. Each line is "
    'answered by a line: {"uci","wxf2018","wxf1997","cn_simp","cn_trad"} or {"error":{"code","message"}}. '
    "status: 1 if any line was refused, else 0"
)
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


def _key_create(given: argparse.Namespace) -> int:
    async def work(organisers: Organisers) -> NewKey:
        owner = await organisers.owner_of_keys(given.owner, given.name or "Organiser", given.event)
        return await organisers.create_key(
            None, label=given.label, role=given.role, event=given.event, owner=owner, expires_at=given.expires
        )

    made = _with_organisers(given, work)
    print(_key_line(made.key), made.secret, sep="\n")
    return 0


def _key_list(given: argparse.Namespace) -> int:
    for key in _with_organisers(given, lambda organisers: organisers.keys(None)).keys:
        print(_key_line(key))
    return 0


def _key_revoke(given: argparse.Namespace) -> int:
    print(_key_line(_with_organisers(given, lambda organisers: organisers.revoke_key(None, given.id))))
    return 0


def _key_line(key: KeyInfo) -> str:
    """One line on a key: id, role, events, whose, until when, label."""
    from datetime import UTC, datetime

    def day(at: int) -> str:
        return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d")

    until = f"until {day(key.expires_at)}" if key.expires_at else "for ever"
    state = f"revoked {day(key.revoked_at)}" if key.revoked_at else until
    used = f"used {day(key.last_used_at)}" if key.last_used_at else "never used"
    return "  ".join((key.id, key.role, key.event or "all events", f"of {key.owner}", state, used, key.label))


def _with_organisers(
    given: argparse.Namespace, do: Callable[[Organisers], Coroutine[Any, Any, Found]]
) -> Found:
    """Does this on the database, whether or not a server runs on it."""
    import asyncio
    import time

    from app.service.errors import AppError
    from app.service.organisers import Organisers
    from app.store import open_store
    from engine.errors import RuleError

    async def work() -> Found:
        settings = _settings(given)
        store = await open_store(settings)
        try:
            secret = settings.secret().encode()
            return await do(Organisers(store, None, secret, lambda: time.time_ns() // 1_000_000))
        finally:
            await store.close()

    with _one_line_errors():
        try:
            return asyncio.run(work())
        except (AppError, RuleError) as refused:
            raise _Failed(refused.detail) from None


def _recompute(given: argparse.Namespace) -> int:
    import asyncio

    from app.service.recompute import NoSuchCompetition, Recomputed, recompute
    from app.store import open_store

    async def work() -> Recomputed:
        store = await open_store(_settings(given))
        try:
            return await recompute(store, given.event)
        finally:
            await store.close()

    with _one_line_errors():
        try:
            found = asyncio.run(work())
        except NoSuchCompetition as error:
            raise _Failed(str(error)) from None
    for difference in found.differences:
        print(difference)
    looked_at = f"{found.matches} matches and {found.facts} facts"
    if found.differences:
        print(f"{given.event}: {len(found.differences)} differences in {looked_at}.")
        return 1
    print(f"{given.event}: {looked_at} give what is stored and shown.")
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
