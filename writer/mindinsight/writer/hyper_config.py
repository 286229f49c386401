"""Hyper-parameters that a tuner gives a training, in the environment variable MINDINSIGHT_HYPER_CONFIG.

config = HyperConfig()
optimizer = nn.Momentum(network.trainable_params(), config.params.learning_rate, config.params.momentum)
collector = SummaryCollector(config.summary_dir)  # records config.custom_lineage_data by itself
"""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

VARIABLE: Final = "MINDINSIGHT_HYPER_CONFIG"
LONGEST: Final = 100_000  # characters, as in MindInsight


class HyperConfigError(ValueError):
    """Error of MINDINSIGHT_HYPER_CONFIG: the variable is missing or invalid."""


class Params(Mapping[str, Any]):
    """Read-only hyper-parameters by name, also as attributes: ``params.learning_rate``."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__["_values"] = dict(values)

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        values: dict[str, Any] = self.__dict__.get("_values", {})
        if name not in values:
            known = ", ".join(values) or "none"
            raise AttributeError(f"there is no parameter {name!r} in this trial; known are {known}")
        return values[name]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"parameters are read-only, {name!r} too; dict(params) is a copy to change")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Params({self._values!r})"


class HyperConfig:
    """Hyper-parameters that a tuner passes to this training, and the directory to record in.

    Args:
        params: Values for a training that no tuner started. A tuner's values override them. Without a tuner
            and ``params`` an error is raised, as in MindInsight.
        summary_dir: Directory without a tuner.

    Raises:
        HyperConfigError: The variable is missing and there are no ``params``, it is longer than 100 000
            characters, or it is not a JSON object with ``summary_dir`` and ``params``.
    """

    def __init__(
        self,
        params: Mapping[str, Any] | None = None,
        summary_dir: str = "./summary_dir",
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        text = environment.get(VARIABLE)
        if text is None:
            if params is None:
                raise HyperConfigError(
                    f"{VARIABLE} is not set: run this by mindinsight tune, or pass params to HyperConfig"
                )
            content: Mapping[str, Any] = {"params": params, "summary_dir": summary_dir}
        else:
            content = read_hyper_config(text)
            _check(content)
        self.tuned: bool = text is not None
        self.params: Params = Params({**(params or {}), **content["params"]})
        self.summary_dir: str = os.path.realpath(content["summary_dir"])
        custom = content.get("custom_lineage_data")
        self.custom_lineage_data: dict[str, Any] = dict(custom if isinstance(custom, dict) else {})


def read_hyper_config(text: str) -> Mapping[str, Any]:
    """Parse the text of the environment variable, a JSON object. Raises HyperConfigError for anything else,
    and for more than LONGEST characters."""
    if len(text) > LONGEST:
        raise HyperConfigError(f"{VARIABLE} has {len(text)} characters; {LONGEST} are allowed")
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HyperConfigError(f"{VARIABLE} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise HyperConfigError(f"{VARIABLE} is not a JSON object")
    return content


def _check(content: Mapping[str, Any]) -> None:
    if not isinstance(content.get("summary_dir"), str):
        raise HyperConfigError(f"{VARIABLE} needs summary_dir, a text")
    params = content.get("params")
    if not isinstance(params, dict):
        raise HyperConfigError(f"{VARIABLE} needs params, an object")
    for name, value in params.items():
        if not isinstance(value, (int, float, str)):
            raise HyperConfigError(f"parameter {name!r} must be a number or a text, got {value!r}")
