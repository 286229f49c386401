"""The faults that need rights over a machine, as they are: a full disk, a mount that goes, no watches left.

    unshare --user --map-root-user --mount python -m tests.faults.mounted

In a namespace of its own a user may mount small file systems and set the limits of watches; not every machine
lets users have one, so this is no test of the suite. Prints a line for each fault; the exit status is 1 when
one of them cost more than it may.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.faults.conftest import Base, Server
from tests.waiting import until

WATCHES = Path("/proc/sys/user/max_inotify_watches")
VIEW = b'{"name": "a", "view": "scalar", "query": "q=loss"}'
SMALL = "size=96k"  # less than the cache of the runs below


def mount(path: Path, *options: str) -> None:
    path.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", ",".join(options) or "defaults", "tmpfs", path], check=True)


def unmount(path: Path) -> None:
    subprocess.run(["umount", "--lazy", path], check=True)


def many(base: Base, steps: range) -> dict[str, int]:
    """Runs that grow by these steps, and the last step of each."""
    for number in range(20):
        base.run(f"run{number}", steps.start, steps.stop)
    return {f"run{number}": steps.stop - 1 for number in range(20)}


def note(server: Server) -> int:
    """The status of an answer that has to write to the workspace."""
    request = Request(f"http://127.0.0.1:{server.port}/v2/views", VIEW, method="PUT")
    request.add_header("Content-Type", "application/json")
    try:
        return int(urlopen(request, timeout=60).status)
    except HTTPError as error:
        return error.code


def full_disk(base: Base, server: Server) -> bool:
    """Everything is shown though cache and log have no place, and after a restart with room."""
    mount(server.workspace, SMALL, "mode=700")
    with suppress(OSError):
        (server.workspace / "filler").write_bytes(bytes(1 << 20))
    first = many(base, range(2000))
    shown = server.start().shows(**first) is True
    grown = server.shows(**many(base, range(2000, 2100))) is True
    refused = note(server) == 507
    (server.workspace / "filler").unlink()
    ended = server.stop() == 0
    again = server.start().shows(**many(base, range(2100, 2101))) is True
    return shown and grown and refused and ended and again


def read_only_workspace(base: Base, server: Server) -> bool:
    """A workspace that can no longer be written to costs the cache and the notes."""
    mount(server.workspace, "mode=700")
    shown = server.start().shows(**many(base, range(100))) is True
    noted = note(server) == 200
    mount(server.workspace, "ro")  # over the first, in which the log is still open
    grown = server.shows(**many(base, range(100, 200))) is True
    return shown and noted and grown and note(server) == 507 and server.stop() == 0


def lost_mount(base: Base, server: Server) -> bool:
    """A base directory whose file system goes is said to be missing, and followed when another is there."""
    mount(base.path)
    shown = server.start().shows(**many(base, range(100))) is True
    unmount(base.path)
    base.path.rmdir()
    reported = until(lambda: server.get("health")["base_missing"])
    mount(base.path)
    back = server.shows(**many(base, range(50))) is True
    return bool(shown and reported and back)


def no_watches(base: Base, server: Server) -> bool:
    """Without watches files are looked at now and then, and the page says so."""
    before = WATCHES.read_text()
    WATCHES.write_text("4")
    try:
        shown = server.start().shows(**many(base, range(100))) is True
        reported = until(lambda: server.get("v2/runs")["watch"] == "polling", 90)  # noticed once a minute
        return bool(shown and reported) and server.shows(**many(base, range(100, 110))) is True
    finally:
        WATCHES.write_text(before)


FAULTS: tuple[Callable[[Base, Server], bool], ...] = (full_disk, read_only_workspace, lost_mount, no_watches)


def main() -> int:
    failed = 0
    for fault in FAULTS:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            base = Base(Path(folder, "base"))
            server = Server(base.path, Path(folder, "workspace"))
            try:
                well = fault(base, server)
            finally:
                server.stop()
        failed += not well
        print(f"{'ok    ' if well else 'FAILED'} {fault.__name__.replace('_', ' ')}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
