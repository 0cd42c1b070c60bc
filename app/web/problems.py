"""The one place where a refusal becomes problem+json (RFC 9457), over HTTP and on the socket alike."""

from __future__ import annotations

from typing import Any, TypedDict

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from app.service.errors import AppError, BadToken, TooOften
from engine.errors import RuleError


class Problem(TypedDict):
    """RFC 9457, with a stable `code` and `params` for programs."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    params: dict[str, str | int | None]


_TITLES = {
    400: "Bad request",
    401: "Who are you?",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
}
_RULE_STATUS = {"illegal-play": 422, "bad-ruleset": 422, "bad-seed": 422, "bad-decision": 422}


def problem_of(error: RuleError | AppError) -> Problem:
    """The body: a stable `code` and `params` for programs, `detail` for people."""
    status = error.status if isinstance(error, AppError) else _RULE_STATUS.get(error.code, 409)
    return _problem(status, error.code, str(error), error.params)


def _problem(status: int, code: str, detail: str, params: dict[str, Any] | None = None) -> Problem:
    return {
        "type": f"/problems/{code}",
        "title": _TITLES.get(status, "Refused"),
        "status": status,
        "code": code,
        "detail": _writable(detail),
        "params": {name: _writable(value) for name, value in (params or {}).items()},
    }


def _headers(error: AppError | RuleError) -> dict[str, str]:
    """What a program is to do about it."""
    match error:
        case TooOften():
            return {"Retry-After": str(error.params["retry_s"])}
        case BadToken():
            return {"WWW-Authenticate": "Bearer"}
    return {}


def _writable(value: Any) -> Any:
    """Half a character, echoed from a bad request, can be written by nobody."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def problem_response(
    status: int, code: str, detail: str, params: dict[str, Any] | None = None
) -> JSONResponse:
    """A problem as an HTTP answer."""
    return JSONResponse(
        _problem(status, code, detail, params), status_code=status, media_type="application/problem+json"
    )


def install(app: FastAPI) -> None:
    """Every refusal of this application leaves it as a problem."""

    @app.exception_handler(AppError)
    @app.exception_handler(RuleError)
    async def refused(_: Request, error: AppError | RuleError) -> JSONResponse:
        problem = problem_of(error)
        return JSONResponse(
            problem, problem["status"], _headers(error), media_type="application/problem+json"
        )

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return problem_response(400, "bad-request", f"{where or 'body'}: {first['msg']}.", {"where": where})

    @app.exception_handler(HTTPException)
    async def by_status(_: Request, error: HTTPException) -> JSONResponse:
        code = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "bad-request")
        return problem_response(error.status_code, code, str(error.detail))
