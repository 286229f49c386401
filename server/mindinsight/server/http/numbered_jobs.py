"""Long jobs by number. One request starts a job, others read its results from any server of the workspace."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from mindinsight.server.compute.background_jobs import BackgroundJob
from mindinsight.server.compute.lru_cache import SessionCache
from mindinsight.server.errors import ApiError
from mindinsight.server.http.service import Service

# For which all requests of a page get the same error. Then the job is run again: what it reads may have come
# or been mended.
RETRY_SECONDS: Final = 5.0

Body = TypeVar("Body", bound=BaseModel)
Item = TypeVar("Item")


@dataclass
class _Numbered:
    """Job in the cache, and the time (seconds) at which a client was first shown that the job failed."""

    job: BackgroundJob[Any]
    shown_at: float | None = None

    def stop(self) -> None:
        self.job.stop()

    def is_to_be_run_again(self, now: float) -> bool:
        if not self.job.done or (self.job.items and not self.job.error):
            return False
        if self.shown_at is None:
            self.shown_at = now
        return now - self.shown_at >= RETRY_SECONDS


@dataclass(frozen=True)
class NumberedJob(Generic[Body, Item]):
    """Kind of job: its name, the model of its requests, and the function that starts one.

    A server that does not know a number runs the request stored in the workspace again: after a restart, or
    if another server behind the same address started the job.
    """

    name: str
    model: type[Body]
    make: Callable[[Service, Body], BackgroundJob[Item]]

    def start(self, service: Service, body: Body) -> int:
        """Start a job and return its number. Raises the exceptions of `make`."""
        job = self.make(service, body)
        number = service.workspace.job_requests.add(self.name, body.model_dump())
        _sessions(service).get((self.name, number), _Numbered, lambda: _Numbered(job))
        return number

    def find(self, service: Service, number: int) -> BackgroundJob[Item]:
        """Return the job with this number. Raises ApiError if it is unknown or expired. A job that failed
        or returned nothing is run again `RETRY_SECONDS` after a client was first shown that."""

        def make() -> _Numbered:
            body = service.workspace.job_requests.body(self.name, number)
            try:
                return _Numbered(self.make(service, self.model.model_validate(body)))
            except ValidationError:
                text = f"There is no {self.name} {number} any more."
                raise ApiError(404, f"unknown_{self.name}", text, number=number) from None

        sessions, key = _sessions(service), (self.name, number)
        numbered = sessions.get(key, _Numbered, make)
        if numbered.is_to_be_run_again(time.monotonic()):
            sessions.drop(key, _Numbered, numbered)
            numbered = sessions.get(key, _Numbered, make)
        return numbered.job


def _sessions(service: Service) -> SessionCache:
    return service.parts.of(SessionCache)
