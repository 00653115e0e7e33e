"""The `__init__` of the shipped package; `ship` puts it in place of the original.

The package is sent as one zip. Its modules are unpacked once per machine and version, so that compiled code is cached
beside them for later workers; a zip has no room for that.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path

INNER = "shipped"
"""The folder in the zip that contains the original package."""


def unpacked(archive: Path) -> Path:
    """The folder with the content of a zip: in the user's cache, or beside the zip if no cache is writable. Its name is
    the zip's, which includes a hash of the content."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    for parent in (Path(home, "thence"), archive.parent / "thence-unpacked"):
        try:
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return _unpacked_to(archive, parent / archive.stem)
        except OSError:
            continue
    raise ImportError(f"No folder is writable to unpack {archive}. Try: XDG_CACHE_HOME, one of its own")


def _unpacked_to(archive: Path, target: Path) -> Path:
    if target.is_dir():
        return target
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:  # another process may do the same now
        with zipfile.ZipFile(archive) as content:
            content.extractall(folder, [name for name in content.namelist() if name.startswith(f"{INNER}/")])
        try:
            (Path(folder) / INNER).rename(target)
        except OSError:
            if not target.is_dir():
                raise
    return target


def begin(names: dict[str, object]) -> None:
    """Makes the unpacked package the one with these names."""
    archive = str(names["__file__"]).rpartition(f"{os.sep}thence{os.sep}")[0]
    package = unpacked(Path(archive)) / "thence"
    source = package / "__init__.py"
    names["__path__"], names["__file__"] = [str(package)], str(source)
    exec(compile(source.read_bytes(), str(source), "exec"), names)
