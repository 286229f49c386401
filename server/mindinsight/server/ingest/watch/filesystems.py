"""Types of file systems: which report changes, and which must be polled."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

_SILENT: Final = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|fuse(blk|ctl)?(\..*)?|overlay|aufs|9p|virtiofs|vboxsf|prl_fs|drvfs|"
    r"afs|ceph|lustre|beegfs|gpfs|glusterfs|pvfs2|orangefs|panfs|autofs"
)
_ESCAPED: Final = re.compile(r"\\(\d{3})")


def tells_changes(path: str, mounts: str | None = None) -> bool:
    """Whether changes below ``path`` made by anybody are told to this machine.

    They are not where another machine can make them (NFS, CIFS, cluster file systems), and not reliably
    on FUSE and on the lower layers of an overlay. ``mounts`` is the text of /proc/self/mounts.
    """
    base = _folder(os.path.realpath(path))
    lines = [line.split() for line in (_mounts() if mounts is None else mounts).splitlines()]
    where = [(_folder(_plain(fields[1])), fields[2]) for fields in lines if len(fields) > 2]
    inside = [kind for mount, kind in where if mount.startswith(base) and mount != base]
    around = sorted((len(mount), n, kind) for n, (mount, kind) in enumerate(where) if base.startswith(mount))
    kinds = [
        *inside,
        *(kind for _, _, kind in around[-1:]),
    ]  # the last mount on a path is visible
    return not any(_SILENT.fullmatch(kind) for kind in kinds)


def _folder(path: str) -> str:
    return path.rstrip("/") + "/"


def _mounts() -> str:
    try:
        return Path("/proc/self/mounts").read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _plain(path: str) -> str:
    return _ESCAPED.sub(lambda match: chr(int(match[1], 8)), path)
