"""Parser of indices in a request: one, or several separated by commas."""


def index_of(text: str, count: int) -> int | None:
    """Return the index below `count` that `text` states in decimal digits, or None for any other text."""
    if not (text.isascii() and text.isdecimal()) or len(text) > len(str(count)):
        return None
    index = int(text)
    return index if index < count else None


def indices_of(text: str | None, count: int) -> list[int]:
    """Return the indices below `count` in a comma-separated text, without invalid ones, [] for None. A
    link to an older graph may hold invalid ones."""
    indices = (index_of(part, count) for part in (text or "").split(","))
    return [index for index in indices if index is not None]
