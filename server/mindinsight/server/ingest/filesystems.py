"""Types of file systems: whether changes are reported or must be polled."""

import os
import re
from pathlib import Path
from typing import Final

_SHARED: Final = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|fuse(blk|ctl)?(\..*)?|9p|virtiofs|vboxsf|prl_fs|drvfs|"
    r"afs|ceph|lustre|beegfs|gpfs|glusterfs|pvfs2|orangefs|panfs|autofs"
)
_LAYERED: Final = re.compile(r"overlay|aufs")
_ESCAPED: Final = re.compile(r"\\(\d{3})")


def reports_changes(path: str, mounts: str | None = None) -> bool:
    """Return True if the system reports all changes below ``path`` to this machine, judged by mount types.

    It does not for file systems shared with other machines (NFS, CIFS, cluster file systems), and not
    reliably for FUSE and for the lower layers of an overlay. ``mounts`` is the text of /proc/self/mounts,
    which is read if it is None.
    """
    inside, around = _kinds(path, mounts)
    return not any(_SHARED.fullmatch(kind) or _LAYERED.fullmatch(kind) for kind in [*inside, *around])


def is_shared(path: str, mounts: str | None = None) -> bool:
    """Return True if a folder is on another machine or is served by another program (FUSE). ``mounts`` is
    the text of /proc/self/mounts, which is read if it is None."""
    return any(_SHARED.fullmatch(kind) for kind in _kinds(path, mounts)[1])


def _kinds(path: str, mounts: str | None) -> tuple[list[str], list[str]]:
    """Return the types of the file systems mounted below ``path``, and of the file system that holds
    ``path``, if known."""
    base = _folder(os.path.realpath(path))
    lines = [line.split() for line in (_mounts() if mounts is None else mounts).splitlines()]
    where = [(_folder(_plain(fields[1])), fields[2]) for fields in lines if len(fields) > 2]
    inside = [kind for mount, kind in where if mount.startswith(base) and mount != base]
    around = sorted((len(mount), n, kind) for n, (mount, kind) in enumerate(where) if base.startswith(mount))
    return inside, [kind for _, _, kind in around[-1:]]  # the last mount on a path is visible


def _folder(path: str) -> str:
    """Return a path with one slash at its end."""
    return path.rstrip("/") + "/"


def _mounts() -> str:
    """Return the text of /proc/self/mounts, empty if there is none."""
    try:
        return Path("/proc/self/mounts").read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _plain(path: str) -> str:
    """Return a path of /proc/self/mounts without escapes."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), path)
