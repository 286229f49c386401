"""Every parameter of every route, as the interface's own description lists them, with hostile values.

Nothing outside the base directory comes back, nothing fails inside, and every answer carries the headers.
"""

import itertools
import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from fastapi.testclient import TestClient

from mindinsight.server.app import create_app
from mindinsight.server.settings import Settings
from tests.thoroughness import share

DATA = Path(__file__).parents[1] / "data"
SECRET = "the-secret-of-another-folder"
TOKEN = "a-token-of-the-tests"
JSON = {"Content-Type": "application/json"}
PATHS = ("session_id", "train_id")
FOREIGN = {"Origin": "http://evil.example"}
CHANGES = ("post", "patch", "put")
PARTS = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A base with runs, dumps and weights, links out of it, and secrets beside it."""
    folder = tmp_path_factory.mktemp("hostile")
    base = folder / "base"
    shutil.copytree(DATA / "events" / "lenet", base / "lenet")
    shutil.copytree(DATA / "events" / "record_api" / "values", base / "values")
    shutil.copytree(DATA / "dumps" / "ms_sync_v2_0_names", base / "job" / "dump")
    shutil.copytree(DATA / "dumps" / "ckpt", base / "weights")
    outside = folder / "outside"
    shutil.copytree(DATA / "dumps" / "ckpt", outside)
    for name in ("secret.txt", "secret.ckpt", "secret.npy"):
        (outside / name).write_text(SECRET)
        (base / f"link-{name}").symlink_to(outside / name)
    (base / "link").symlink_to(outside)
    (base / "lenet" / "link.ckpt").symlink_to(outside / "secret.ckpt")
    return folder


@pytest.fixture(scope="module")
def client(folder: Any) -> Iterator[Any]:
    settings = Settings(folder / "base", folder / "workspace", workers=1, watch="polling")
    with TestClient(
        create_app(settings), base_url="http://127.0.0.1", raise_server_exceptions=False
    ) as client:
        end = time.monotonic() + 60
        while len(client.get("/v2/dump/list").json()["dumps"]) < 1 and time.monotonic() < end:
            time.sleep(0.05)
        yield client


def hostile(folder: Any) -> list[Any]:
    """Values a path, a name or a number must survive."""
    outside = str(folder / "outside" / "secret.ckpt")
    up = "../" * 12
    return [
        "../outside/secret.ckpt", "./../outside/secret.ckpt", "./lenet/../../outside/secret.ckpt",
        "%2e%2e/outside/secret.ckpt", "..%2foutside%2fsecret.ckpt", "..\\outside\\secret.ckpt",
        outside, f"./{outside}", f"{up}etc/passwd", "/etc/passwd", "file:///etc/passwd",
        "./link/secret.ckpt", "./link-secret.ckpt", "link-secret.txt", "./lenet/link.ckpt", "./link",
        "./lenet\0", "./weights/tinynet-1.ckpt\0.ckpt", "\0", "", ".", "..", "/", "~", "~root/.ssh",
        "x" * 5000, "./" + "x" * 300 + ".ckpt", "./" + "a/" * 2100 + "b.ckpt", "\uffff\U0001f600", "%00",
        "-1", "0", "99999999999999999999999999", "1e999", "nan", "-inf", "[::0]", "[99999999999999999999:]",
        "<script>alert(1)</script>", "{{7*7}}", "${jndi:x}", "' or 1=1 --", "\r\nSet-Cookie: a=b",
    ]  # fmt: skip


# Text and numbers that nobody types, for every parameter of every route.
ODD = [
    str(2**63 - 1), str(-(2**63)), "9" * 5000, "NaN", "1e400", "\u0661\u00b2", "\x1b[31m\x7f\x85",
    "\u202e\u2066x\ufdd0", "x" * 60_000, "9," * 30 + "9" * 5000, "[" * 2000,
]  # fmt: skip
# In bodies also what no address can hold.
ODDER = [
    *ODD, "\ud800", 2**63, -(10**400), float("nan"), [["x"]], ["\ud800"], {"\ud800": 1}, list(range(3000)),
]  # fmt: skip

GOOD = {
    "run": "./values", "tag": "loss", "kind": "scalar", "dump": "./job/dump", "rank": "0", "step": "0",
    "operator": "x", "direction": "output", "slot": "0", "file": "./weights/tinynet-1.ckpt",
    "first": "./weights/tinynet-1.ckpt", "second": "./weights/tinynet-2.ckpt", "train_id": "./values",
    "plugin_name": "scalar", "session_id": "1", "row": "0", "since": "0",
}  # fmt: skip

BODY = {"train_id": "./values", "session_type": "OFFLINE", "dump_dir": "job/dump", "run": "./values"}

FIELDS = (*GOOD, "note", "labels", "session_type", "dump_dir", "summary_dir", "params", "name", "rank_id")


def operations(app: Any) -> Iterator[Any]:
    """(method, path, parameters) of every route that is described, but for the endless stream."""
    for prefix, interface in app.state.interfaces.items():
        for path, methods in interface.app().openapi()["paths"].items():
            for method, about in methods.items():
                if path != "/v2/events":
                    yield method, prefix + path, about.get("parameters", [])


def address(path: Any, values: Any, names: Any) -> Any:
    for name in names:
        path = path.replace(f"{{{name}}}", quote(values.get(name, "x"), safe=""))
    return path


def requests_of(client: Any, folder: Any, odd: bool = False) -> Iterator[Any]:
    """(method, address, what is sent with it, about): each parameter with each hostile value, others good."""
    hostile_values = ODD if odd else hostile(folder)
    for method, path, parameters in operations(client.app):
        places = {parameter["name"]: parameter["in"] for parameter in parameters}
        for name, value in itertools.product(places, hostile_values):
            if places[name] == "header" or (len(value) > 100 and name not in GOOD and not odd):
                continue
            values = {**{other: GOOD.get(other, "x") for other in places}, name: value}
            inside = [other for other in places if places[other] == "path"]
            query = {
                other: values[other]
                for other in places
                if places[other] == "query" and (other in GOOD or other == name)
            }
            sent = {"params": query, **({"content": b"{}"} if method in CHANGES else {})}
            yield method, address(path, values, inside), sent, (path, name, value[:400])


def bodies_of(client: Any, folder: Any) -> Iterator[Any]:
    """The same of each route that takes a body: what is no body, and each hostile value in every field."""
    values = [*hostile(folder), *ODDER, None, 1, [], {}, True]
    bodies = [
        b"", b"[]", b"null", b"\xff\xfe", b'"x"', b"{", b"[" * 100_000, b'{"a":' * 5000, b"1e999",
        b'{"a": ' + b"9" * 5000 + b"}", b'["' + b"\\ud800" * 3 + b'"]', b"\xef\xbb\xbf{}",
        *(json.dumps(dict.fromkeys(FIELDS, value)).encode() for value in values),
    ]  # fmt: skip
    for method, path, _ in operations(client.app):
        if method in CHANGES:
            for body in bodies:
                sent = {"content": body, "headers": JSON}
                yield method, address(path, GOOD, PATHS), sent, (path, body[:400])
            for name, value in itertools.product(sorted(named_fields(client.app, method, path)), ODDER):
                sent = {"content": json.dumps({**BODY, name: value}).encode(), "headers": JSON}
                yield method, address(path, GOOD, PATHS), sent, (path, name, str(value)[:400])


def named_fields(app: Any, method: Any, path: Any) -> set[Any]:
    """The fields of the body that a route describes; those of v1 are described in words."""
    for prefix, interface in app.state.interfaces.items():
        about = interface.app().openapi()
        body = about["paths"].get(path.removeprefix(prefix), {}).get(method, {}).get("requestBody")
        if body is not None and path.startswith(prefix):
            schema = body["content"].get(JSON["Content-Type"], {}).get("schema", {})
            name = schema.get("$ref", "").rpartition("/")[2]
            schema = about.get("components", {}).get("schemas", {}).get(name, schema)
            return {*schema.get("properties", {}), *re.findall(r"[a-z_]+", body.get("description", ""))}
    return set()


def checked(answer: Any, folder: Any, about: Any) -> None:
    text = answer.content.decode("latin-1")
    assert answer.status_code < 500 or answer.status_code in (501, 503, 507), (about, text[:300])
    assert SECRET not in text, about
    assert "root:" not in text, about
    assert str(folder / "outside") not in text or str(folder / "outside") in str(about), about
    assert "script-src 'self';" in answer.headers["content-security-policy"], about
    assert answer.headers["x-content-type-options"] == "nosniff", about
    assert "access-control-allow-origin" not in answer.headers, about
    assert "a" not in answer.cookies, about
    if "<script>alert" in text:
        assert not answer.headers["content-type"].startswith("text/html"), about


async def send_all(app: Any, requests: Any, folder: Any) -> Any:
    """How many requests were asked and checked: within the app's own loop, as they are thousands."""
    transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
    count = 0
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        for method, path, sent, about in requests:
            checked(await client.request(method, path, **sent), folder, about)
            count += 1
    return count


@pytest.mark.parametrize("part", share(range(PARTS), PARTS))
def test_every_parameter_survives_what_is_hostile(client: Any, folder: Any, part: Any) -> None:
    requests = itertools.islice(requests_of(client, folder), part, None, PARTS)
    assert client.portal.call(send_all, client.app, requests, folder) > 1000


@pytest.mark.parametrize("part", share(range(PARTS), PARTS, start=1))
def test_every_parameter_survives_what_is_odd(client: Any, folder: Any, part: Any) -> None:
    requests = itertools.islice(requests_of(client, folder, odd=True), part, None, PARTS)
    assert client.portal.call(send_all, client.app, requests, folder) > 100


def test_every_body_survives_what_is_hostile(client: Any, folder: Any) -> None:
    requests = share(bodies_of(client, folder), 4)
    assert client.portal.call(send_all, client.app, requests, folder) > 500


@pytest.mark.parametrize("start", ["/static/x/", "/v2/", "/", "/v1/mindinsight/"])
def test_no_file_is_reached_by_an_address(client: Any, folder: Any, start: str) -> None:
    for value in hostile(folder):
        for target in (quote(value, safe=""), quote(value, safe="/.%")):
            checked(client.get(start + target), folder, (start, value[:400]))


def test_a_run_that_becomes_a_link_shows_nothing_of_its_target(client: Any, folder: Any) -> None:
    """Between the list and the look a folder is replaced by a link to secrets."""
    weights, elsewhere = folder / "base" / "weights", folder / "weights"
    weights.rename(elsewhere)
    weights.symlink_to(folder / "outside")
    try:
        answer = client.get("/v2/dump/checkpoint", params={"file": "./weights/tinynet-1.ckpt"})
        assert answer.status_code == 404
    finally:
        weights.unlink()
        elsewhere.rename(weights)


def test_every_route_asks_for_the_token_and_for_a_known_page(folder: Any) -> None:
    settings = Settings(folder / "base", folder / "other", workers=1, token=TOKEN)
    client = TestClient(create_app(settings), base_url="http://127.0.0.1", raise_server_exceptions=False)
    app = client.app
    for method, path, parameters in operations(app):
        target = address(path, GOOD, [parameter["name"] for parameter in parameters])
        answer = client.request(method, target)
        assert answer.status_code == (200 if path == "/health" else 401), (method, path)
        if method != "get":
            shown = {"Authorization": f"Bearer {TOKEN}", **FOREIGN}
            assert client.request(method, target, headers=shown).status_code == 403, (method, path)


def test_every_route_refuses_a_foreign_host(folder: Any) -> None:
    client = TestClient(
        create_app(Settings(folder / "base", folder / "third", workers=1)), base_url="http://evil.example"
    )
    for method, path, parameters in operations(client.app):
        target = address(path, GOOD, [parameter["name"] for parameter in parameters])
        assert client.request(method, target).status_code == 421, (method, path)
