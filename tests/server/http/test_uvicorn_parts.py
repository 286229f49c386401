import subprocess
import sys


def test_the_package_is_run_when_it_is_asked_for_a_name() -> None:
    code = """
import sys
from mindinsight.server.http.uvicorn_parts import Config, Server
import uvicorn.lifespan.on, uvicorn.loops.asyncio
print("uvicorn.main" in sys.modules, "click" in sys.modules)
import uvicorn
print(uvicorn.Server is Server, uvicorn.Config is Config, uvicorn.run is sys.modules["uvicorn.main"].run)
try:
    uvicorn.none
except AttributeError:
    print("none")
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["False", "False", "True", "True", "True", "none"]


def test_a_package_that_is_loaded_already_stays() -> None:
    code = """
import uvicorn
before = uvicorn.main
from mindinsight.server.http.uvicorn_parts import Server
print(uvicorn.Server is Server, uvicorn.main is before)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["True", "True"]
