"""Names of operator types, spelled alike whatever framework recorded them."""

from __future__ import annotations

import re


def canonical(operator: str) -> str:
    """An operator type in lower case letters and digits: ``realdiv`` of "RealDiv", ``log`` of "at::log_"."""
    name = re.split(r"[.:/]", operator)[-1]
    return "".join(letter for letter in name.lower() if letter.isalnum())
