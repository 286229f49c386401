"""The Python client: reads runs without a server, exports them, shows the pages in a notebook."""

from typing import Any


def load_pandas() -> Any:
    """Return the module pandas. Raises ModuleNotFoundError, which names what to install."""
    try:
        import pandas as pd
    except ModuleNotFoundError as error:
        text = "frame() needs pandas: pip install 'mindinsight[notebook]'"
        raise ModuleNotFoundError(text, name=error.name) from error
    return pd
