"""Server process. Run as a module it reads its settings from stdin and serves until a signal ends it."""

import contextlib
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Final, NoReturn

import uvicorn

from mindinsight.server.app import THREADS, create_app
from mindinsight.server.compute.background_jobs import start_within_limit
from mindinsight.server.compute.memory_budget import RESERVE, SHARE, limit_arenas, room
from mindinsight.server.errors import BadSettings, bad_settings
from mindinsight.server.http.protocol import Protocol
from mindinsight.server.http.service import Service
from mindinsight.server.http.sse import Hub
from mindinsight.server.process import daemon, logs, memory_tuning
from mindinsight.server.process.memory_tuning import MemoryRelease
from mindinsight.server.process.sockets import BACKLOG, listen
from mindinsight.server.settings import Settings
from mindinsight.server.settings.base_dirs import joined

# Seconds after which a computing thread yields the interpreter. A request needs it several times, briefly.
# With Python's 0.005 requests take three times as long while files are read.
_TURN: Final = 0.001

_STACK: Final = 2 << 20  # bytes of addresses for each of some 70 threads: a quarter of Linux's usual 8 MiB
_ARENAS: Final = 2  # of glibc: the first, and one that threads share; 8 for each core are usual
_ARENA: Final = 64 << 20  # bytes of addresses that the shared arena reserves
_GRACE: Final = 1  # seconds that a stopping server waits for its clients, before it cancels their work
_END: Final = 1.5  # seconds from a signal to the end of the process: 2 on a machine with much to do
KEEP_ALIVE: Final = 10  # seconds that a connection is kept without a request: five times the pages' interval
# Connections accepted in one turn of the event loop. With hundreds each turn takes a second under a load of
# clients that leave, and every answer takes several turns.
_ACCEPTED: Final = 8

_log = logging.getLogger(__name__)


class Server(uvicorn.Server):
    """Uvicorn server that calls `ready` once it listens, ends streams on a signal and releases memory."""

    def __init__(self, config: uvicorn.Config, hub: Hub, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._hub = hub
        self._ready = ready
        self._leaving = threading.Event()
        self._memory = MemoryRelease()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen on ``sockets``, and call `ready` if that succeeded."""
        await super().startup(sockets)
        for sock in sockets or ():
            sock.listen(BACKLOG)
        if self.started:
            self._ready()

    async def on_tick(self, counter: int) -> bool:
        """Pass the number of connections to the release of memory, and return True if the server is to
        end."""
        self._memory.observe(len(self.server_state.connections))
        return await super().on_tick(counter)

    def end(self) -> None:
        """Wait for a signal, then end the process `_END` seconds later if it has not ended by itself. This
        is the only deadline for everything a stopping server does."""
        self._leaving.wait()
        time.sleep(_END)
        os._exit(0)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end: start the deadline of `end`, close all streams, and let uvicorn handle the signal."""
        self._leaving.set()
        self._hub.close()
        super().handle_exit(sig, frame)


def run(settings: Settings, ready: Callable[[], None]) -> NoReturn:
    """Serve until SIGINT, SIGTERM or SIGHUP, and end the process. Call `ready` once listening."""
    log = logs.configure(settings)
    sys.setswitchinterval(_TURN)
    threading.stack_size(_STACK)
    limit_arenas(_ARENAS)
    _say_who_may_ask(settings)
    sock = listen(settings)
    signal.signal(signal.SIGTERM, _quit)
    app = create_app(settings)
    check_memory(app.state.service)
    memory_tuning.after_imports()
    config = uvicorn.Config(
        app,
        http=Protocol,
        log_config=None,
        backlog=_ACCEPTED,
        access_log=False,  # addresses may hold a token
        server_header=False,
        proxy_headers=False,  # no response depends on the client; security reads the prefix
        timeout_graceful_shutdown=_GRACE,
        timeout_keep_alive=KEEP_ALIVE,
    )

    def answering() -> None:
        daemon.remember(settings, log)
        ready()

    server = Server(config, app.state.hub, answering)
    start_within_limit(threading.Thread(target=server.end, name="end", daemon=True))
    hang_up = getattr(signal, "SIGHUP", None)  # the end of a session; under nohup it is ignored here too
    if hang_up is not None and signal.getsignal(hang_up) != signal.SIG_IGN:
        signal.signal(hang_up, server.handle_exit)
    try:
        server.run(sockets=[sock])
    except (KeyboardInterrupt, SystemExit):
        pass  # uvicorn raises the signal again after closing everything
    finally:
        daemon.forget(settings.port)
        sock.close()
    leave(0 if server.started else 1)


def leave(code: int) -> NoReturn:
    """End the process with an exit code, but without Python's end, which waits for threads. That takes
    seconds on a busy machine."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # there is none, or nobody reads it
            stream.flush()
    os._exit(code)


def check_memory(service: Service) -> None:
    """Raise BadSettings if there is no memory for the threads and for one request."""
    threads = THREADS + sum(threads.count for threads in service.threads)
    needed, free = threads * _STACK + _ARENA + RESERVE + SHARE, room()
    if free < needed:
        raise bad_settings("memory", needed=needed >> 20, free=max(0, free) >> 20)


def _say_who_may_ask(settings: Settings) -> None:
    shown = joined(settings.summary_base_dir)
    if settings.token is not None:
        _log.info("serving %s at %s: a token is asked for", shown, settings.address)
    elif settings.loopback:
        _log.info("serving %s at %s, to this machine", shown, settings.address)
    else:
        _log.warning("no token is asked for: anybody who can reach %s can see the data", settings.address)


def _quit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(0)


def main() -> int:
    """Serve with the settings on standard input. Return 1 if the server cannot start, else do not return."""
    try:
        run(Settings.from_json(sys.stdin.read()), ready=logs.leave_screen)
    except BadSettings as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
