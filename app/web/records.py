"""Records that people paste or drop: what is wrong with them, and the same in another form. Nothing is stored."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Depends, Request, Response

from app.recordreader import Question, RecordCheck, RecordConversion
from app.service.errors import AppError
from app.service.pace import household
from app.service.readings import MOST_BYTES
from app.web.deps import Served, address_of
from app.web.openapi import PROBLEM, answers

router = APIRouter(prefix="/api/records", tags=["records"], responses=PROBLEM)

_BYTES = "application/octet-stream"
_YES = {"1": True, "true": True, "0": False, "false": False}
Asked = tuple[Question, bytes]


def _body(example: dict[str, Any]) -> dict[str, Any]:
    """What may be sent, for OpenAPI."""
    json = {"schema": {"$ref": "#/components/schemas/Question"}, "example": example}
    octets = {"schema": {"type": "string", "format": "binary", "maxLength": MOST_BYTES}}
    return {"requestBody": {"required": True, "content": {"application/json": json, _BYTES: octets}}}


async def _asked(request: Request) -> Asked:
    """The question, from a body of JSON or, for a file in any encoding, from the query. Raises AppError."""
    body = await request.body()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind == _BYTES:
            return msgspec.convert(_query(request), Question, strict=False), body
        question = msgspec.json.decode(body, type=Question)
    except (msgspec.DecodeError, RecursionError) as wrong:
        raise AppError(f"body: {wrong}.", where="body") from None
    if question.text is None:
        raise AppError("text: the record is missing.", where="text")
    return question, b""


def _query(request: Request) -> dict[str, Any]:
    said: dict[str, Any] = {name: value for name, value in request.query_params.items() if name != "text"}
    if said.get("repair") in _YES:
        said["repair"] = _YES[said["repair"]]
    return said


def _household(request: Request) -> str:
    return household(address_of(request) or "")


Record = Annotated[Asked, Depends(_asked)]
Household = Annotated[str, Depends(_household)]


def _json(answer: bytes) -> Response:
    return Response(answer, media_type="application/json")


@router.post(
    "/check",
    summary="What a record is, everything that is wrong with it, and the game step by step",
    response_class=Response,
    responses=answers(RecordCheck),
    openapi_extra=_body({"text": "1) L51 L53"}),
)
async def check(of: Served, asked: Record, caller: Household) -> Response:
    """A text of any family in any form, as JSON, or a file's bytes in any encoding with the options in the query.

    A text with faults is answered with 200 and all of them. Problems: `not-recognised`, `unknown-option`,
    `text-too-hard`, `readers-busy`, `too-large`.
    """
    return _json(await of.readings.answer("check", *asked, caller=caller))


@router.post(
    "/convert",
    summary="A record in another form, language or dialect",
    response_class=Response,
    responses=answers(RecordConversion),
    openapi_extra=_body({"text": "1. C2=5 H8+7", "to": "cn_simp"}),
)
async def convert(of: Served, asked: Record, caller: Household) -> Response:
    """`to` is a form or a family. Problems: as of check, and `not-in-form`."""
    return _json(await of.readings.answer("convert", *asked, caller=caller))
