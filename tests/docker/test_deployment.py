"""Files that people deploy with: they agree with the image, the server's options and its metrics."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from mindinsight.server.commands.main import parser
from mindinsight.server.http.health import counts
from mindinsight.server.store.store import Store

DOCKER = Path(__file__).parents[2] / "docker"
SYSTEM = Path(__file__).parents[2] / "server" / "mindinsight" / "server" / "api" / "system.py"


def deployment() -> Any:
    documents = list(yaml.safe_load_all((DOCKER / "kubernetes.yaml").read_text(encoding="utf-8")))
    return next(document for document in documents if document["kind"] == "Deployment")


def test_the_pod_runs_as_nobody_special_and_writes_to_its_volumes_alone() -> None:
    pod = deployment()["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    mounts = {mount["name"] for mount in container["volumeMounts"]}
    assert mounts == {volume["name"] for volume in pod["volumes"]}
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["path"] == "/health"


def commands() -> list[list[str]]:
    """Arguments of ``mindinsight`` in each file."""
    compose = yaml.safe_load((DOCKER / "compose.servers.yaml").read_text(encoding="utf-8"))
    unit = (DOCKER / "mindinsight.service").read_text(encoding="utf-8")
    started = re.search(r"^ExecStart=\S+ (.*)$", unit, re.MULTILINE)
    assert started is not None
    return [
        deployment()["spec"]["template"]["spec"]["containers"][0]["args"],
        compose["x-server"]["command"],
        started[1].split(),
    ]


@pytest.mark.parametrize("arguments", commands(), ids=["kubernetes", "compose", "systemd"])
def test_the_options_are_those_of_the_command(arguments: list[str]) -> None:
    options = parser("start").parse_args(arguments)
    assert options.foreground


def test_every_server_of_nginx_is_one_of_compose() -> None:
    compose = yaml.safe_load((DOCKER / "compose.servers.yaml").read_text(encoding="utf-8"))
    named = re.findall(r"server (\S+):8080", (DOCKER / "nginx.conf").read_text(encoding="utf-8"))
    assert {*named, "nginx"} == set(compose["services"])


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    dashboard = json.loads((DOCKER / "grafana-dashboard.json").read_text(encoding="utf-8"))
    metrics = {
        name
        for panel in dashboard["panels"]
        for target in panel["targets"]
        for name in re.findall(r"mindinsight_(\w+)", target["expr"])
    }
    own = set(re.findall(r'^ {8}"(\w+)":', SYSTEM.read_text(encoding="utf-8"), re.MULTILINE))
    assert metrics
    assert metrics <= own | counts(Store().snapshot()).keys()


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    recipe = yaml.safe_load((DOCKER / "conda.yaml").read_text(encoding="utf-8"))
    project = (DOCKER.parent / "pyproject.toml").read_text(encoding="utf-8")
    (block,) = re.findall(r"^dependencies = \[\n(.*?)^\]", project, re.MULTILINE | re.DOTALL)
    needed = re.findall(r'"([\w-]+)([^"]+)"', block)
    assert len(needed) > 10
    assert recipe["requirements"]["run"] == ["python >=3.10", *(f"{name} {bound}" for name, bound in needed)]
    (version,) = re.findall(r'^version = "(.+)"', project, re.MULTILINE)
    assert recipe["context"]["version"] == version


def test_each_package_is_checked_on_every_python_and_both_machines() -> None:
    release = yaml.safe_load((DOCKER.parent / ".github" / "workflows" / "release.yml").read_text("utf-8"))
    matrix = release["jobs"]["install"]["strategy"]["matrix"]
    assert matrix["python"] == ["3.10", "3.11", "3.12", "3.13", "3.14"]
    assert len(matrix["machine"]) == 2
    for name in ("image", "publish"):
        assert {"install", "beside"} <= set(release["jobs"][name]["needs"])
    assert release["jobs"]["beside"]["strategy"]["matrix"]["numpy"] == ["numpy==1.26.4", "numpy>=2"]
    steps = "\n".join(step.get("run", "") for step in release["jobs"]["install"]["steps"])
    assert steps.count("docker/check-package.sh") == 2
