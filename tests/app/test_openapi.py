"""What the interface says of itself: schemas of what is sent, true examples, words for every problem."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.web.openapi import ANSWERS, example_of
from tests.support.server import LiveServer, person, seated


@pytest.mark.parametrize("kind", ANSWERS, ids=lambda kind: kind.__name__)
def test_an_example_is_an_answer_of_its_type(kind: type) -> None:
    read = msgspec.convert(example_of(kind), kind, str_keys=True)
    assert msgspec.json.decode(msgspec.json.encode(read)) == example_of(kind)


async def test_every_call_says_what_it_answers(server: LiveServer) -> None:
    async with person(server, None) as somebody:
        api = await somebody.get("/api/openapi.json")
    schemas = api["components"]["schemas"]
    for path, operations in api["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], (path, method)
            assert "422" not in operation["responses"], "what is malformed is a problem with status 400"
            for status, answer in operation["responses"].items():
                if status == "default" or path.endswith(
                    (".svg", ".png", ".json", ".csv", ".mat", ".mat.zip", "/record")
                ):
                    continue
                if method == "head" or path in ("/healthz", "/readyz"):
                    continue
                content = answer["content"]["application/json"]
                assert content["example"], (path, status)
                assert content["schema"]["$ref"].rpartition("/")[2] in schemas
    assert "HTTPValidationError" not in schemas


async def test_what_is_sent_has_the_fields_that_are_written_down(server: LiveServer) -> None:
    async with seated(server) as (match_id, anna, *_):
        api = await anna.get("/api/openapi.json")
        for path, name in ((f"/api/matches/{match_id}", "Info"), (f"/api/matches/{match_id}/view", "View")):
            answer: dict[str, Any] = await anna.get(path)
            assert answer.keys() == api["components"]["schemas"][name]["properties"].keys()


async def test_the_type_of_a_problem_leads_to_its_words(server: LiveServer) -> None:
    async with person(server, None) as somebody:
        problem = await somebody.refused("/api/matches", {})
        assert problem["code"] == "no-name"
        told = await somebody.get(problem["type"])
        assert told["code"] == "no-name"
        assert told["ru"] != told["en"]
        assert (await somebody.http.get("/problems/no-such-thing")).status_code == 404
