import asyncio
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import pytest
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from mindinsight.server.http import security
from mindinsight.server.http.security import (
    LARGEST,
    BodyLimit,
    below_prefix,
    forwarded_prefix,
    host_name,
    same_origin,
)

TOKEN = "a-long-token"


def test_every_answer_carries_the_policy(shared_samples: Any) -> None:
    client = shared_samples()
    for path in ("/", "/v2/runs", "/nothing"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "unsafe-eval" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "SAMEORIGIN"
        assert "access-control-allow-origin" not in headers


def test_pages_of_a_notebook_may_be_allowed_to_frame_ours(shared_samples: Any) -> None:
    headers = shared_samples(frame_ancestors=("http://localhost:8888",)).get("/").headers
    assert "frame-ancestors 'self' http://localhost:8888" in headers["content-security-policy"]
    assert "x-frame-options" not in headers


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "[::1]:80", "192.168.1.5"])
def test_addresses_and_this_machine_are_known_hosts(shared_samples: Any, host: str) -> None:
    assert shared_samples().get("/v2/runs", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:80"])
def test_foreign_names_get_nothing(shared_samples: Any, host: str) -> None:
    answer = shared_samples().get("/v2/runs", headers={"Host": host})
    assert answer.status_code == 421
    assert answer.json()["error"]["code"] == "unknown_host"


def test_a_name_can_be_allowed(shared_samples: Any) -> None:
    client = shared_samples(allowed_hosts=("board.example",))
    assert client.get("/v2/runs", headers={"Host": "Board.example:443"}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}],
    ids=["origin", "null", "fetch"],
)
def test_foreign_pages_may_not_change_anything(shared_samples: Any, headers: Any) -> None:
    answer = shared_samples().patch("/v2/runs/notes", json={"run": "./a", "note": "n"}, headers=headers)
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "foreign_origin"


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_foreign_pages_may_not_ask_an_interface(shared_samples: Any, site: str) -> None:
    client = shared_samples()
    for path in ("/v2/runs", "/v2/nothing", "/v1/mindinsight/datavisual/train-jobs"):
        answer = client.get(path, headers={"Sec-Fetch-Site": site})
        assert answer.status_code == 403
        assert "another site" in answer.text
    for path in ("/", "/health"):  # a link to a page may be anywhere
        assert client.get(path, headers={"Sec-Fetch-Site": site}).status_code == 200


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_our_pages_and_people_may_ask(shared_samples: Any, site: str) -> None:
    assert shared_samples().get("/v2/runs", headers={"Sec-Fetch-Site": site}).status_code == 200


def test_our_pages_and_scripts_may(shared_samples: Any) -> None:
    client = shared_samples("record_api/values")
    for headers in ({}, {"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"}):
        answer = client.patch("/v2/runs/notes", json={"run": "./values", "note": "n"}, headers=headers)
        assert answer.status_code == 200


def test_a_proxy_that_renames_the_host_does_not_make_us_foreign() -> None:
    headers = {
        "host": "127.0.0.1:8080",
        "origin": "https://board.example",
        "x-forwarded-host": "board.example",
    }
    assert same_origin(Headers(headers))


def test_without_its_token_a_server_says_nothing(shared_samples: Any) -> None:
    client = shared_samples(token=TOKEN)
    for path in ("/v2/runs", "/metrics", "/v2/openapi.json", "/v2/events", "/static/x/js/app.js"):
        answer = client.get(path, headers={"Authorization": ""})
        assert answer.status_code == 401, path
        assert answer.json()["error"]["code"] == "token_required"
    assert client.get("/health", headers={"Authorization": ""}).status_code == 200


def test_a_browser_without_the_token_is_asked_for_it(shared_samples: Any) -> None:
    answer = shared_samples(token=TOKEN).get("/scalar", headers={"Authorization": "", "Accept": "text/html"})
    assert answer.status_code == 401
    assert '<input name="token"' in answer.text


@pytest.mark.parametrize("shown", ["", "wrong", TOKEN + "x", TOKEN[:-1], "é"])
def test_a_wrong_token_is_no_token(shared_samples: Any, shown: Any) -> None:
    client = shared_samples(token=TOKEN)
    assert client.get("/v2/runs", headers={"Authorization": f"Bearer {shown}".encode()}).status_code == 401
    assert client.get("/v2/runs", params={"token": shown}, headers={"Authorization": ""}).status_code == 401


def test_the_link_sets_a_cookie_and_leaves_the_address_bar(shared_samples: Any) -> None:
    client = shared_samples(token=TOKEN)
    client.headers.pop("Authorization")
    answer = client.get("/scalar", params={"tag": "loss/a", "token": TOKEN})
    assert answer.status_code == 303
    assert answer.headers["location"] == "./scalar?tag=loss%2Fa"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert client.get("/v2/runs").status_code == 200


def test_the_link_to_the_first_page_keeps_its_folder(shared_samples: Any) -> None:
    client = shared_samples(token=TOKEN, url_path_prefix="/team")
    answer = client.get("/", params={"token": TOKEN}, headers={"Authorization": ""})
    assert answer.headers["location"] == "./"
    assert "Path=/team" in answer.headers["set-cookie"]


TOKENS = [
    "a&b=c d%20+e#",
    "Schl\u00fcssel-12",
    "\u5bc6\u7801" * 4,
    '";\\,x-long',
]


@pytest.mark.parametrize("token", TOKENS)
def test_any_token_works_in_the_link_the_cookie_and_the_header(shared_samples: Any, token: Any) -> None:
    client = shared_samples(token=token)
    assert client.get("/v2/runs").status_code == 200  # as Authorization
    client.headers = {}
    assert client.get("/v2/runs").status_code == 401
    answer = client.get(f"/scalar?token={quote(token, safe='')}")
    assert answer.status_code == 303
    assert token not in answer.headers["set-cookie"]
    assert client.get("/v2/runs").status_code == 200


FOREIGN = [
    "/https:evil.example",
    "/\\\\evil.example",
    "/x/%5C%5Cevil.example",
    "/%0d%0aLocation:evil.example",
]


@pytest.mark.parametrize("path", FOREIGN)
def test_the_link_leads_to_no_other_site(shared_samples: Any, path: Any) -> None:
    answer = shared_samples(token=TOKEN).get(path, params={"token": TOKEN}, headers={"Authorization": ""})
    assert answer.status_code == 303
    location = answer.headers["location"]
    assert urlsplit(urljoin("http://127.0.0.1/", location)).netloc == "127.0.0.1"
    assert "\\" not in location
    assert ":" not in location


def test_with_a_token_any_name_will_do(shared_samples: Any) -> None:
    """A foreign name pointed at us never has the cookie."""
    assert shared_samples(token=TOKEN).get("/v2/runs", headers={"Host": "board.example"}).status_code == 200


def test_everything_lies_below_the_prefix(shared_samples: Any) -> None:
    client = shared_samples(url_path_prefix="/a/b")
    assert client.get("v2/runs").status_code == 200
    assert client.get("scalar").status_code == 200
    assert client.get("http://127.0.0.1/scalar").status_code == 404
    assert client.get("http://127.0.0.1/a/bc/scalar").status_code == 404
    answer = client.get("http://127.0.0.1/a/b")
    assert (answer.status_code, answer.headers["location"]) == (308, "/a/b/")


def test_a_prefix_that_a_proxy_took_away_is_known(shared_samples: Any) -> None:
    answer = shared_samples().get("/v2/openapi.json", headers={"X-Forwarded-Prefix": "/proxy/8080/"})
    assert answer.json()["servers"] == [{"url": "/proxy/8080"}]


def test_a_prefix_that_a_proxy_left_in_place_is_not_doubled() -> None:
    scope = {"path": "/proxy/scalar", "root_path": ""}
    assert below_prefix(scope, "/proxy", "")["path"] == "/proxy/scalar"
    assert below_prefix({"path": "/scalar", "root_path": ""}, "/proxy", "")["path"] == "/proxy/scalar"
    assert below_prefix({"path": "/proxy", "root_path": ""}, "/proxy", "")["path"] == "/proxy"
    assert below_prefix({"path": "/proxybox", "root_path": ""}, "/proxy", "")["path"] == "/proxy/proxybox"


@pytest.mark.parametrize("value", ["//evil.example", "/a b", "http://x", "/a?b", "/a\r\nSet-Cookie: x"])
def test_odd_prefixes_are_ignored(value: str) -> None:
    assert forwarded_prefix(value) == ""


@pytest.mark.parametrize(
    ("host", "name"), [("a:1", "a"), ("a", "a"), ("[::1]:8080", "::1"), ("[::1]", "::1"), ("", "")]
)
def test_ports_are_no_part_of_a_name(host: str, name: str) -> None:
    assert host_name(host) == name


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Answers with the size of the body; with 400, as FastAPI does, when it cannot be read."""
    try:
        answer = PlainTextResponse(str(len(await Request(scope, receive).body())))
    except Exception:
        answer = PlainTextResponse("unreadable", 400)
    await answer(scope, receive, send)


def ask(parts: Any, headers: Any = ()) -> tuple[Any, Any, Any]:
    """(status, body, how many parts were taken)."""
    sent: list[Any] = []
    taken: list[Any] = []

    async def receive() -> dict[Any, Any]:
        if len(taken) == len(parts):
            await asyncio.sleep(60)
        taken.append(parts[len(taken)])
        return {
            "type": "http.request",
            "body": taken[-1],
            "more_body": len(taken) < len(parts) or not taken[-1],
        }

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": list(headers), "query_string": b""}
    asyncio.run(BodyLimit(app)(scope, receive, send))
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent), len(taken)


def test_a_body_up_to_the_limit_is_read() -> None:
    assert ask([b"x" * (LARGEST - 1), b"y"]) == (200, b"%d" % LARGEST, 2)


@pytest.mark.parametrize("length", [str(LARGEST + 1), "9" * 5000, "-1", "x"])
def test_a_body_that_says_it_is_larger_is_not_read(length: Any) -> None:
    status, body, taken = ask([b"x"], [(b"content-length", length.encode())])
    assert (status, taken) == (413, 0)
    assert b"large_body" in body


def test_a_body_that_turns_out_to_be_larger_is_not_read_to_its_end() -> None:
    status, body, taken = ask([b"x" * LARGEST] * 10)
    assert (status, taken) == (413, 2)
    assert b"large_body" in body


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(security, "SECONDS", 0.1)
    status, body, _ = ask([b""])
    assert status == 408
    assert b"slow_body" in body


def test_a_body_that_comes_in_drops_is_not_waited_for_longer_than_a_whole_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(security, "WHOLE", 0.05)
    status, body, taken = ask([b"x"] * 200_000)
    assert status == 408
    assert b"slow_body" in body
    assert taken < 200_000
