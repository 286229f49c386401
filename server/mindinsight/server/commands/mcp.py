"""Command ``mindinsight mcp``: answers an agent over standard input and output (Model Context Protocol)."""

import argparse
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import wraps
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mindinsight.server.commands.options import add_bases, add_command
from mindinsight.server.errors import ApiError, bad_settings
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import bases_of

if TYPE_CHECKING:
    from mcp.server import MCPServer
    from starlette.applications import Starlette

Tool = Callable[..., Awaitable[str]]
_ABOUT = (
    "Trainings recorded by MindInsight, read-only. Begin with list_runs. Runs are named by their directory "
    "below the base. A sentence marked (unknown) is no answer. Each answer says what it left out."
)


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "mcp", answer_agent)
    add_bases(parser)
    parser.add_argument("--workspace", type=Path, default=Path.home() / "mindinsight")


def answer_agent(options: argparse.Namespace) -> int:
    """Serve the Model Context Protocol on standard input and output until the input ends, and return 0.
    Raises BadSettings without the package mcp."""
    try:
        import mcp.server  # noqa: F401 (an extra)
    except ImportError:
        raise bad_settings("mcp_missing") from None
    from mindinsight.server.app import create_app

    workspace = options.workspace.expanduser().absolute()
    settings = Settings(bases_of(options.summary_base_dir, workspace), workspace)
    make_server(create_app(settings)).run("stdio")
    return 0


def make_server(app: "Starlette") -> "MCPServer[Any]":
    """Return an MCP server with the tools of `app`. The lifespan of `app` is that of the server."""
    from contextlib import asynccontextmanager

    import httpx2
    from mcp.server import MCPServer

    from mindinsight.server.commands.agent_tools import Tools

    client = httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app),
        base_url="http://127.0.0.1",
        timeout=None,  # the app has deadlines
    )

    async def ask(path: str, method: str = "GET", **query: Any) -> Any:
        answer = await client.request(method, f"/{quote(path)}", params=query)
        content = answer.json()
        if answer.is_success:
            return content
        if answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY and "detail" in content:
            wrong = [f"{problem['loc'][-1]}: {problem['msg']}" for problem in content["detail"]]
            raise ApiError(answer.status_code, "invalid", "; ".join(wrong))
        error = content["error"]
        raise ApiError(answer.status_code, error["code"], error["message"])

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        async with app.router.lifespan_context(app):
            yield

    server = MCPServer("mindinsight", instructions=_ABOUT, lifespan=lifespan, log_level="ERROR")
    for tool in Tools(ask, app.state.service.store).all():
        server.tool(structured_output=False)(_with_reasons(tool))
    return server


def _with_reasons(tool: Tool) -> Tool:
    """Wrap a tool so that its errors tell an agent the reason."""
    from mcp.server.mcpserver.exceptions import ToolError

    @wraps(tool)
    async def answered(*arguments: Any, **named: Any) -> str:
        try:
            return await tool(*arguments, **named)
        except ApiError as error:
            raise ToolError(error.message) from None

    return answered
