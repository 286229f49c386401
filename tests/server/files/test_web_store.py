"""A web server as a store: one that is honest, and those that send more, lead elsewhere or never end."""

import gzip
import ipaddress
import itertools
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from mindinsight.server.errors import BadSettings
from mindinsight.server.files import own_files, web_store
from mindinsight.server.files.remote_store import REQUESTS, RemoteFile, RemoteStore, StoreError, open_store
from mindinsight.server.files.web_store import LimitError, WebStore, check_address
from mindinsight.server.ingest.mirrors import Mirror

NAME = "events.out.events.summary.1700000000.0.host_MS"
Answer = Callable[[BaseHTTPRequestHandler], None]


class Site:
    """A web server whose answers are functions by path; it notes the requests."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, str]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append((self.command, self.path))
                answer = site.answers.get(self.path)
                if answer is None:
                    self.send_error(404)
                else:
                    answer(self)

            do_HEAD = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

            def handle(self) -> None:
                with suppress(BrokenPipeError, ConnectionResetError):
                    super().handle()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/runs"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def folder(self, path: str, *names: str) -> None:
        self.answers[path] = body("".join(f'<a href="{name}">{name}</a>' for name in names).encode())

    def file(self, name: str = NAME) -> RemoteFile:
        return RemoteFile(f"{self.url}/{name}", 1 << 30, 0.0, "")


def body(content: bytes, ranges: bool = False) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        section = handler.headers.get("Range")
        part = content
        if ranges and section:
            start, _, end = section.removeprefix("bytes=").partition("-")
            part = content[int(start) : int(end) + 1]
            handler.send_response(206)
            handler.send_header("Content-Range", f"bytes {start}-{end}/{len(content)}")
        else:
            handler.send_response(200)
        handler.send_header("Content-Length", str(len(part)))
        handler.end_headers()
        if handler.command == "GET":
            handler.wfile.write(part)

    return answer


def endless(piece: bytes, status: int = 200, head: dict[str, str] | None = None) -> Answer:
    """Send until the client leaves."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in (head or {}).items():
            handler.send_header(name, value)
        handler.end_headers()
        while handler.command == "GET":
            handler.wfile.write(piece)

    return answer


def redirect(target: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", target)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.server.shutdown()
    site.server.server_close()


@pytest.fixture
def other() -> Iterator[Site]:
    site = Site()
    yield site
    site.server.shutdown()
    site.server.server_close()


def store_of(url: str) -> RemoteStore:
    stopping = threading.Event()
    stopping.set()  # one attempt
    return RemoteStore(url, stopping)


def peak(work: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_files_are_listed_and_read_in_sections(site: Site) -> None:
    site.folder("/runs/", "../", "a%20b/", "?C=M", "https://other.host/x", "/elsewhere", f"{NAME}#x")
    site.folder("/runs/a%20b/", NAME)
    site.answers[f"/runs/a%20b/{NAME}"] = site.answers[f"/runs/{NAME}"] = body(b"0123456789", ranges=True)
    store = store_of(site.url)
    files = store.list_files()
    assert {path: file.size for path, file in files.items()} == {f"a b/{NAME}": 10, NAME: 10}
    assert store.read(files[f"a b/{NAME}"], 2, 5) == b"234"
    assert not store.cut


@pytest.mark.parametrize(
    "answer",
    [
        endless(b"x" * 65536),
        endless(b"x" * 65536, head={"Content-Length": str(1 << 50)}),
        endless(b"x" * 65536, 206, {"Content-Range": "bytes 0-99/100"}),
    ],
    ids=["without a length", "of a petabyte", "as a section"],
)
def test_an_endless_body_costs_what_was_asked_for(site: Site, answer: Answer) -> None:
    site.answers[f"/runs/{NAME}"] = answer
    store = store_of(site.url)
    data = []
    assert peak(lambda: data.append(store.read(site.file(), 0, 1 << 20))) < 8 << 20
    assert len(data[0]) == 1 << 20


def test_a_listing_that_never_ends_is_cut_and_that_is_said(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_store, "PAGE", 1 << 16)
    links = b"".join(b'<a href="%d">' % number for number in range(3000))
    site.answers["/runs/"] = endless(links)
    store = store_of(site.url)
    mirror = Mirror(store, tmp_path / "remote" / "digest" / "runs", threading.Event())
    assert peak(mirror.sync) < 64 << 20
    assert (store.cut, mirror.error) == (True, "remote.cut")


@pytest.mark.parametrize(
    ("limit", "value"), [("PAGES", 5), ("DEPTH", 5), ("ENTRIES", 1), ("CHARACTERS", 400), ("SECONDS", -1.0)]
)
def test_each_limit_of_a_listing_cuts_it(
    site: Site, monkeypatch: pytest.MonkeyPatch, limit: str, value: float
) -> None:
    monkeypatch.setattr(web_store, limit, value)
    for depth in range(8):
        path = "/runs/" + "d/" * depth
        site.folder(path, "d/", f"{NAME}{depth}")
        site.answers[f"{path}{NAME}{depth}"] = body(b"x")
    store = store_of(site.url)
    assert len(store.list_files()) <= 5
    assert store.cut


def test_a_listing_that_was_cut_removes_nothing(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_store, "WAITS", (0.0, 0.0))
    names = [f"{NAME}{number}" for number in range(3)]
    site.folder("/runs/", *names)
    for name in names:
        site.answers[f"/runs/{name}"] = body(b"events", ranges=True)
    folder = tmp_path / "remote" / "digest" / "runs"
    mirror = Mirror(store_of(site.url), folder, threading.Event())
    mirror.sync()
    monkeypatch.setattr(web_store, "ENTRIES", 1)
    mirror.sync()
    assert sorted(path.name for path in folder.iterdir()) == names
    assert mirror.error == "remote.cut"


def test_without_ranges_a_file_is_read_once_and_in_order(site: Site) -> None:
    content = bytes(range(256)) * 4096
    site.answers[f"/runs/{NAME}"] = body(content)
    store = store_of(site.url)
    sections = [store.read(site.file(), start, start + (1 << 18)) for start in range(0, 1 << 20, 1 << 18)]
    assert b"".join(sections) == content
    assert site.asked == [("GET", f"/runs/{NAME}")]
    assert store.read(site.file(), 100, 110) == content[100:110]


def test_without_ranges_files_read_to_their_ends_hold_no_connection(site: Site) -> None:
    content = bytes(range(256)) * 4096
    names = [f"{number}.{NAME}" for number in range(REQUESTS)]
    site.answers |= {f"/runs/{name}": body(b"small") for name in names}
    site.answers[f"/runs/{NAME}"] = body(content)
    store = store_of(site.url)
    for name in names:
        assert store.read(site.file(name), 0, 5) == b"small"
    sections = [store.read(site.file(), start, start + (1 << 18)) for start in range(0, 1 << 20, 1 << 18)]
    assert b"".join(sections) == content
    assert site.asked[len(names) :] == [("GET", f"/runs/{NAME}")]
    site.answers[f"/runs/{NAME}"] = body(content + b"grown")
    assert store.read(site.file(), 1 << 20, (1 << 20) + 5) == b"grown"


def test_without_ranges_the_oldest_connection_is_closed_for_another_file(site: Site) -> None:
    names = [f"{number}.{NAME}" for number in range(REQUESTS + 1)]
    site.answers |= {f"/runs/{name}": body(bytes(range(100))) for name in names}
    store = store_of(site.url)
    for name in names:
        store.read(site.file(name), 0, 10)
    requests = len(site.asked)
    for name in reversed(names):
        assert store.read(site.file(name), 10, 20) == bytes(range(10, 20))
    assert site.asked[requests:] == [("GET", f"/runs/{names[0]}")]
    assert store.read(site.file(names[-1]), 40, 50) == bytes(range(40, 50))
    assert store.read(site.file(names[-1]), 50, 60) == bytes(range(50, 60))


def test_without_ranges_what_lies_far_behind_is_refused(site: Site) -> None:
    site.answers[f"/runs/{NAME}"] = endless(b"x" * 65536)
    with pytest.raises(StoreError, match=r"remote\.ranges"):
        store_of(site.url).read(site.file(), web_store.SKIP + 1, web_store.SKIP + 2)


def test_a_redirect_to_another_host_is_followed_only_if_that_was_said(
    site: Site, other: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    other.answers["/x"] = body(b"of another")
    site.answers[f"/runs/{NAME}"] = redirect(
        other.url.replace("127.0.0.1", "localhost").replace("/runs", "/x")
    )
    with pytest.raises(StoreError, match=r"remote\.redirect"):
        store_of(site.url).read(site.file(), 0, 10)
    assert other.asked == []
    monkeypatch.setattr(web_store, "redirect_hosts", {"localhost"})
    assert store_of(site.url).read(site.file(), 0, 10) == b"of another"


def test_redirects_on_the_server_are_followed_a_few_times(site: Site) -> None:
    site.answers[f"/runs/{NAME}"] = redirect("/moved")
    site.answers["/moved"] = body(b"here")
    assert store_of(site.url).read(site.file(), 0, 10) == b"here"
    site.answers["/moved"] = redirect("/moved")
    with pytest.raises(StoreError, match=r"remote\.redirect"):
        store_of(site.url).read(site.file(), 0, 10)


@pytest.mark.parametrize("target", ["ftp://localhost/x", "file:///etc/passwd", "http://169.254.169.254/x"])
def test_a_redirect_to_what_is_no_web_server_or_a_metadata_service(
    site: Site, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_store, "redirect_hosts", {"localhost", "169.254.169.254"})
    site.answers[f"/runs/{NAME}"] = redirect(target)
    with pytest.raises(StoreError, match=r"remote\.(redirect|address)"):
        store_of(site.url).read(site.file(), 0, 10)


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "169.254.0.1", "fe80::1%eth0", "fd00:ec2::254", "::ffff:169.254.169.254"]
    + ["100.100.100.200", "168.63.129.16", "192.0.0.192", "fd20:ce::254"]
    + ["64:ff9b::a9fe:a9fe", "::169.254.169.254", "::ffff:0:169.254.169.254", "2002:a9fe:a9fe::1", "ff02::1"],
)
def test_addresses_of_clouds_and_link_local_networks_are_refused(address: str) -> None:
    with pytest.raises(LimitError, match=r"remote\.address"):
        check_address("store.example", address)


def test_a_name_of_a_metadata_service_is_refused_and_ordinary_ones_are_not() -> None:
    with pytest.raises(LimitError):
        check_address("Metadata.Google.Internal.", "10.0.0.1")
    for address in ("127.0.0.1", "10.0.0.1", "192.0.2.1", "::1", "2001:db8::1", "64:ff9b::c000:201"):
        check_address("store.example", address)


def test_a_name_that_stands_for_a_refused_address_is_not_connected_to(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name has two addresses, of which one is refused: neither is asked."""
    places: list[Any] = [(2, 1, 6, "", (address, 80)) for address in ("127.0.0.1", "169.254.169.254")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: places)
    with pytest.raises(StoreError, match=r"remote\.address"):
        store_of("http://store.example/runs").list_files()


def test_what_does_not_change_is_asked_about_less_and_less(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{NAME}{number}" for number in range(20)]
    site.folder("/runs/", *names)
    for name in names:
        site.answers[f"/runs/{name}"] = body(b"events")
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    store = store_of(site.url)
    counts = []
    for _ in range(5):  # minutes, with a pass every 3 seconds
        before = len(site.asked)
        for _ in range(20):
            store.list_files()
            now[0] += 3.0
        counts.append(len(site.asked) - before)
    assert counts[0] <= 21 * 6
    assert counts[4] <= 21 * 2
    assert own_files.redirect_hosts == set()


@pytest.mark.parametrize("url", ["generic://x", "reference::file:///x", "zip://::http://host/a.zip"])
def test_what_is_no_store_is_a_sentence(url: str) -> None:
    with pytest.raises(BadSettings, match=r"Use the URL of the store itself|Download the archive"):
        open_store(url)


@pytest.mark.parametrize(("status", "remaining"), [(403, 1), (401, 1), (404, 0)])
def test_a_file_that_is_refused_stays_known_and_a_missing_one_does_not(
    site: Site, monkeypatch: pytest.MonkeyPatch, status: int, remaining: int
) -> None:
    monkeypatch.setattr(web_store, "WAITS", (0.0, 0.0))  # everything is asked about at each listing
    site.folder("/runs/", NAME)
    site.answers[f"/runs/{NAME}"] = body(b"x" * 10)
    store = store_of(site.url)
    assert len(list(store.list_files())) == 1
    site.answers[f"/runs/{NAME}"] = lambda handler: handler.send_error(status)
    assert len(list(store.list_files())) == remaining


@pytest.mark.parametrize(
    "host", ["0251.0376.0251.0376", "2852039166", "0xa9fea9fe", "0xa9.254.0251.254", "[::ffff:a9fe:a9fe]"]
)
def test_other_spellings_of_a_refused_address(host: str) -> None:
    with pytest.raises(StoreError, match=r"remote\.address"):
        store_of(f"http://{host}/runs").list_files()


def test_a_name_of_many_addresses_is_tried_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Any] = []

    def connect(address: Any, timeout: float) -> socket.socket:
        tried.append((address, timeout))
        raise ConnectionRefusedError

    addresses = [str(ipaddress.IPv4Address("192.0.2.0") + number) for number in range(250)]
    places: list[Any] = [(2, 1, 6, "", (address, 80)) for address in addresses]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_options: places)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(StoreError, match=r"remote\.unreachable"):
        store_of("http://store.example/runs").list_files()
    assert len(tried) == web_store.ADDRESSES


OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("first", "repeated", "limit"),
    [
        (b"", b"H", 1 << 20),
        (b"", b"HTTP/1.1 100 Continue\r\nA: b\r\n\r\n", None),
        (OK, b"x", 1 << 20),
        (OK, b"A: b\r\n", None),
        (OK + b"Content-Length: 1000000\r\n\r\n", b"x", 100),
        (CHUNKED, b"0", 1 << 20),
        (CHUNKED + b"1\r\nx\r\n0\r\n", b"A: b\r\n", None),
    ],
    ids=["status", "informational", "header", "headers", "body", "size of a chunk", "trailers"],
)
def test_an_answer_that_never_ends_is_given_up(
    monkeypatch: pytest.MonkeyPatch, first: bytes, repeated: bytes, limit: int | None
) -> None:
    """Bytes come often enough for every read and make no answer. The server stops after `limit` of them."""
    monkeypatch.setattr(web_store, "SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as executor:

        def answer() -> None:
            peer, _ = server.accept()
            with peer, suppress(OSError):
                peer.sendall(first)
                for _ in itertools.count() if limit is None else range(limit):
                    peer.sendall(repeated)
                    time.sleep(0.001 if len(repeated) > 1 else 0.02)

        executor.submit(answer)
        file = RemoteFile(f"http://127.0.0.1:{server.getsockname()[1]}/runs/{NAME}", 1 << 30, 0.0, "")
        try:
            data = store_of(f"http://127.0.0.1:{server.getsockname()[1]}/runs").read(file, 0, 1 << 20)
        except StoreError as error:
            assert error.reason == "remote.unreachable"
        else:
            pytest.fail(f"{len(data)} bytes")


@pytest.mark.parametrize("count", [101, 100_000])
def test_heads_without_end_are_given_up(site: Site, count: int) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        for number in range(count):
            handler.wfile.write(b"X-%d: %s\r\n" % (number, b"x" * 100))
        handler.end_headers()

    site.answers[f"/runs/{NAME}"] = answer
    store = store_of(site.url)

    def read() -> None:
        with pytest.raises(StoreError, match=r"remote\.unreachable"):
            store.read(site.file(), 0, 10)

    assert peak(read) < 8 << 20


def test_what_was_not_asked_to_be_packed_is_not_unpacked(site: Site) -> None:
    """A gigabyte of zeros in a megabyte: the bytes come as they are."""
    packed = gzip.compress(bytes(64 << 20))

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Encoding", "gzip")
        handler.end_headers()
        handler.wfile.write(packed)

    site.answers[f"/runs/{NAME}"] = answer
    data: list[bytes] = []
    assert peak(lambda: data.append(store_of(site.url).read(site.file(), 0, 1 << 20))) < 8 << 20
    assert data == [packed[: 1 << 20]]


def test_a_section_behind_the_end_ends_a_copy(site: Site, tmp_path: Path) -> None:
    """The file is listed with a gigabyte, and each section of it is refused with 416."""
    site.folder("/runs/", NAME)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200 if handler.command == "HEAD" else 416)
        handler.send_header("Content-Length", str(1 << 20))
        handler.end_headers()

    site.answers[f"/runs/{NAME}"] = answer
    mirror = Mirror(store_of(site.url), tmp_path / "remote" / "digest" / "runs", threading.Event())
    mirror.sync()
    mirror.sync()
    assert site.asked.count(("GET", f"/runs/{NAME}")) <= 2
    assert (tmp_path / "remote" / "digest" / "runs" / NAME).stat().st_size == 0


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "%2e%2e/x",
        "..%2fx",
        "%2e%2e%2f%2e%2e%2fx",
        "..",
        "%2e%2e",
        "a%00b",
        "%2fetc%2fpasswd",
        ".hidden",
    ]
    + ["//other.host/x", "http://[", "http://a:b/x", "x" * 5000, "a\\..\\b%2f..%2f..%2fx", "\ud800"],
)
def test_names_in_a_listing_lead_nowhere_else(site: Site, tmp_path: Path, name: str) -> None:
    site.answers["/runs/"] = body(f'<a href="{name}">'.encode("utf-8", "surrogatepass"))
    site.answers.update({path: body(b"theirs") for path in ("/x", "/runs/..%2fx", "/etc/passwd", "/runs/x")})
    folder = tmp_path / "remote" / "digest" / "runs"
    Mirror(store_of(site.url), folder, threading.Event()).sync()
    inside = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert {path.name for path in inside} <= {".copied.json", ".copying.lock"}


@pytest.mark.parametrize(
    "text",
    ["<", "<a ", "<a href=", "<a href='", '<a href="x', "<a  href='x\"", "<!--", "&#x41", "<a href=x "],
)
def test_a_page_of_tags_without_end_is_searched_once(site: Site, text: str) -> None:
    """A search that begins anew at every tag would take hours, and end at the limit of time of any test."""
    site.answers["/runs/"] = body(text.encode() * (web_store.PAGE // len(text)))
    store = WebStore(site.url)
    assert {link.removeprefix(store.root) for link in store._page(store.root, None)} <= {"x"}


@pytest.mark.parametrize(
    ("link", "name"),
    [
        ('<a href="a&amp;b">', "a&b"),
        ("<A class='x' HREF = 'a b'>", "a b"),
        ("<a\nhref=a>", "a"),
        ('<a title="t" href="a">', "a"),
    ],
)
def test_links_of_listings_in_their_spellings(site: Site, link: str, name: str) -> None:
    site.answers["/runs/"] = body(f'<link href="style.css"><abbr href="no">{link}'.encode())
    store = WebStore(site.url)
    assert [url.removeprefix(store.root) for url in store._page(store.root, None)] == [name]
