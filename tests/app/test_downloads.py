"""A finished match downloaded in every form, each read back to the same result."""

from __future__ import annotations

import io
import zipfile
from typing import Any

from app.recordunpack import text_of, text_of_pasted
from engine.position import Position
from engine.records import mat, objective
from engine.records.ids import position_id, read_gnu_id, read_xgid
from engine.records.text import read_bytes
from engine.turn import Seat
from tests.support.server import LiveServer, Person, owes, person, play_to_the_end, seated

FORMS = [(form, language) for form in ("full", "short", "fixed") for language in ("en", "ru")]
ALL = ["/record", ".mat", ".mat.zip", ".json"]


async def fetched(who: Person, path: str) -> tuple[bytes, Any]:
    answer = await who.http.get(path)
    assert answer.status_code == 200, answer.text
    return answer.content, answer.headers


async def test_a_match_just_played_is_downloaded_in_every_form_and_read_back(server: LiveServer) -> None:
    async with seated(server) as (match_id, anna, boris, a, b):
        name = 'Анна [Ш"] \\ –'
        assert (await anna.post("/api/session", {"name": name}))["player"]["name"] == name
        await play_to_the_end(a, b)
        stored = await anna.get(f"/api/matches/{match_id}.json")
        view = await anna.get(f"/api/matches/{match_id}/view")
        for form, language in FORMS:
            content, headers = await fetched(
                anna, f"/api/matches/{match_id}/record?form={form}&lang={language}"
            )
            assert headers["content-type"] == "text/plain; charset=utf-8"
            file = f"nardy-{match_id}-{form}-{language}.txt"
            assert headers["content-disposition"] == f'attachment; filename="{file}"'
            text = read_bytes(content)
            assert (objective.form_of(text), objective.language_of(text)) == (form, language)
            found = objective.reader.read(text)
            assert found.notes == ()
            assert found.record.result is not None
            points = found.record.result.points
            assert stored["result"]["points"] == {"A": points.A, "B": points.B}
            assert found.record.tag("DiceId") == stored["dice_id"]
            assert found.record.tag("Seed") == stored["dice"]["seed"]
            assert "dice" in found.replayed.checked
            seats = stored["players"]
            assert [found.record.tag("Player1"), found.record.tag("Player2")] == [
                seats[k]["name"] for k in "AB"
            ]
            assert name in (found.record.tag("Player1"), found.record.tag("Player2"))
            assert [[line.halves.A.play, line.halves.B.play] for line in found.record.lines] == [
                [phase["plays"]["A"], phase["plays"]["B"]] for phase in stored["phases"]
            ]
            for game in ("X", "Y"):
                position: Position = getattr(found.replayed.games, game)
                assert [list(position.mine), list(position.theirs)] == [
                    view["boards"][game]["white"],
                    view["boards"][game]["black"],
                ]
            if form == "full":
                assert [found.record.tag("Time1"), found.record.tag("Time2")] == [
                    str(stored["result"]["time_ms"][seat]) for seat in "AB"
                ]
        content, headers = await fetched(boris, f"/api/matches/{match_id}.mat")
        assert headers["content-disposition"] == f'attachment; filename="nardy-{match_id}.mat"'
        both = mat.read(read_bytes(content)).record
        content, headers = await fetched(boris, f"/api/matches/{match_id}.mat.zip")
        assert headers["content-type"] == "application/zip"
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            assert archive.namelist() == [f"nardy-{match_id}-X.mat", f"nardy-{match_id}-Y.mat"]
            for entry, game in zip(archive.namelist(), both.games, strict=True):
                assert mat.read(read_bytes(archive.read(entry))).record.games[0].turns == game.turns
        assert mat.read(text_of(content)).record == both
        full, _ = await fetched(anna, f"/api/matches/{match_id}/record")
        told, _ = await fetched(anna, f"/api/matches/{match_id}.json")
        for unpacked in (text_of(told), text_of_pasted(told.decode())):
            assert unpacked.text == full.decode()
            assert [note.code for note in unpacked.notes] == ["json"]
        again, _ = await fetched(boris, f"/api/matches/{match_id}.mat.zip")
        assert again == content


async def test_a_match_that_was_given_up_is_read_back_from_its_json(server: LiveServer) -> None:
    async with seated(server) as (match_id, anna, _, a, b):
        await a.play_something()
        await b.until_view(lambda view: owes(view) or view["turn"] != "1W")
        await b.ask(type="resign", turn=b.view["turn"], points=b.view["mine"]["resign"]["points"])
        over = await a.until_view(lambda view: view["stage"] == "over")
        full, _ = await fetched(anna, f"/api/matches/{match_id}/record")
        content, _ = await fetched(anna, f"/api/matches/{match_id}.json")
        told, unpacked = objective.reader.read(read_bytes(full)), objective.reader.read(text_of(content))
        assert unpacked.record.result == told.record.result
        assert told.record.result is not None
        assert over["result"]["points"] == {seat: told.record.result.points[Seat(seat)] for seat in "AB"}
        assert dict(unpacked.record.tags) == dict(told.record.tags)
        assert len(unpacked.record.lines) == len(told.record.lines)
        assert "dice" in unpacked.replayed.checked


async def test_the_usual_form_is_the_full_international_one(server: LiveServer) -> None:
    async with seated(server) as (match_id, anna, _, a, b):
        await play_to_the_end(a, b)
        usual, _ = await fetched(anna, f"/api/matches/{match_id}/record")
        full, _ = await fetched(anna, f"/api/matches/{match_id}/record?form=full&lang=en")
        assert usual == full
        for wrong in ("form=long", "lang=fr", "form="):
            answer = await anna.http.get(f"/api/matches/{match_id}/record?{wrong}")
            assert (answer.status_code, answer.json()["code"]) == (400, "bad-request")


async def test_nobody_gets_a_record_while_the_match_runs(server: LiveServer) -> None:
    async with seated(server) as (match_id, anna, *_), person(server, None) as stranger:
        for path in ALL:
            for who in (anna, stranger):
                answer = await who.http.get(f"/api/matches/{match_id}{path}")
                assert (answer.status_code, answer.json()["code"]) == (409, "match-still-runs")
        answer = await stranger.http.get("/api/matches/nothing/record")
        assert (answer.status_code, answer.json()["code"]) == (404, "no-such-match")


async def test_the_replay_names_every_position_for_other_programs(server: LiveServer) -> None:
    async with seated(server) as (match_id, anna, _, a, b):
        await play_to_the_end(a, b)
        history = await anna.get(f"/api/matches/{match_id}/history")
        boards = [history["start"], *(phase["boards"] for phase in history["phases"])]
        assert len(history["ids"]) == len(boards)
        turns = ["", *(phase["turn"] for phase in history["phases"])]
        for told, board, turn in zip(history["ids"], boards, turns, strict=True):
            for game in ("X", "Y"):
                position = Position(tuple(board[game]["white"]), tuple(board[game]["black"]))
                seen = position.turned() if turn.endswith("W") else position
                assert read_xgid(told[game]["xgid"]).position == seen
                assert told[game]["gnubg"] == position_id(seen)
                assert read_gnu_id(told[game]["gnubg"]).position == seen
