"""Long jobs by number. One request starts a job, others read its results from any server of the workspace."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from mindinsight.server.compute.background_jobs import BackgroundJob
from mindinsight.server.compute.lru_cache import SessionCache
from mindinsight.server.errors import ApiError
from mindinsight.server.http.service import Service

Body = TypeVar("Body", bound=BaseModel)
Item = TypeVar("Item")


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
        _sessions(service).get((self.name, number), BackgroundJob, lambda: job)
        return number

    def find(self, service: Service, number: int) -> BackgroundJob[Item]:
        """Return the job with this number. Raises ApiError if it is unknown or expired."""

        def make() -> BackgroundJob[Any]:
            body = service.workspace.job_requests.body(self.name, number)
            try:
                return self.make(service, self.model.model_validate(body))
            except ValidationError:
                text = f"There is no {self.name} {number} any more."
                raise ApiError(404, f"unknown_{self.name}", text, number=number) from None

        return _sessions(service).get((self.name, number), BackgroundJob, make)


def _sessions(service: Service) -> SessionCache:
    return service.parts.of(SessionCache)
