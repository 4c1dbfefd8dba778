"""SQLite's way to the operating system, with somebody who watches it.

The library that Python's `sqlite3` module uses calls the operating system through a table of functions, its VFS
(https://sqlite.org/vfs.html). `watched` puts another table in its place for as long as it lasts: a copy of the first,
in which opening, writing, truncating, syncing and deleting tell the watcher before they happen. So the module, the
library and the code above run as they are.
"""

from __future__ import annotations

import _sqlite3
import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

OK = 0
RECORDED_KINDS = 0x00000100 | 0x00000800 | 0x00080000
"""Main files, rollback journals, write-ahead logs. The shared memory beside a log does not count after a crash."""

SYNCS_DIRECTORY = 0x00000800 | 0x00080000
"""The first sync of a new journal or write-ahead log syncs its directory, too."""

_pointer, _int, _int64 = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64
_Open = ctypes.CFUNCTYPE(_int, _pointer, _pointer, _pointer, _int, _pointer)
_Delete = ctypes.CFUNCTYPE(_int, _pointer, _pointer, _int)
_Close = ctypes.CFUNCTYPE(_int, _pointer)
_Write = ctypes.CFUNCTYPE(_int, _pointer, _pointer, _int, _int64)
_Truncate = ctypes.CFUNCTYPE(_int, _pointer, _int64)
_Sync = ctypes.CFUNCTYPE(_int, _pointer, _int)


class Watcher(Protocol):
    """Told of what is about to happen. Whatever is returned but 0 is SQLite's code of an error: it does not happen."""

    def on_open(self, path: Path, syncs_directory: bool) -> int: ...
    def on_write(self, path: Path, offset: int, data: bytes) -> int: ...
    def on_truncate(self, path: Path, size: int) -> int: ...
    def on_sync(self, path: Path) -> int: ...
    def on_delete(self, path: Path, syncs_directory: bool) -> int: ...


class _Vfs(ctypes.Structure):
    _fields_ = [
        ("version", _int),
        ("file_size", _int),
        ("path_length_max", _int),
        ("next", _pointer),
        ("name", ctypes.c_char_p),
        ("data", _pointer),
        ("open", _pointer),
        ("delete", _pointer),
        *((name, _pointer) for name in ("access", "full_path", "dl_open", "dl_error", "dl_sym", "dl_close")),
        *((name, _pointer) for name in ("randomness", "sleep", "time", "last_error", "time_int64")),
        *((name, _pointer) for name in ("set_call", "get_call", "next_call")),
    ]


class _Methods(ctypes.Structure):
    _fields_ = [
        ("version", _int),
        *((name, _pointer) for name in ("close", "read", "write", "truncate", "sync", "file_size", "lock", "unlock")),
        *((name, _pointer) for name in ("reserved", "control", "sector_size", "characteristics")),
        *((name, _pointer) for name in ("shm_map", "shm_lock", "shm_barrier", "shm_unmap", "fetch", "unfetch")),
    ]


class _File(ctypes.Structure):
    _fields_ = [("methods", ctypes.POINTER(_Methods))]


_library = ctypes.CDLL(getattr(_sqlite3, "__file__", None))
_library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
_library.sqlite3_vfs_find.argtypes = [ctypes.c_char_p]
_library.sqlite3_vfs_register.argtypes = [ctypes.POINTER(_Vfs), _int]
_library.sqlite3_vfs_unregister.argtypes = [ctypes.POINTER(_Vfs)]


class _Shim:
    """The two tables of functions, and which open file is which."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher
        self._original = _library.sqlite3_vfs_find(None)
        self._paths: dict[int, Path] = {}
        self._methods: dict[int, _Methods] = {}
        self._functions: list[Any] = []
        self.vfs = _Vfs()
        ctypes.memmove(ctypes.byref(self.vfs), self._original, ctypes.sizeof(_Vfs))
        self.vfs.name = b"watched"
        self._open = _Open(self.vfs.open)
        self._delete = _Delete(self.vfs.delete)
        self.vfs.open = self._kept(_Open(self._on_open))
        self.vfs.delete = self._kept(_Delete(self._on_delete))

    def _kept(self, function: Any) -> int | None:
        """The address of a function that must not be forgotten as long as SQLite may call it."""
        self._functions.append(function)
        return ctypes.cast(function, _pointer).value

    def _on_open(self, vfs: int, name: int | None, file: int, flags: int, out: int | None) -> int:
        if name is None or not flags & RECORDED_KINDS:
            return int(self._open(ctypes.addressof(self._original.contents), name, file, flags, out))
        path = Path(ctypes.string_at(name).decode())
        code = self._watcher.on_open(path, bool(flags & SYNCS_DIRECTORY))
        code = code or self._open(ctypes.addressof(self._original.contents), name, file, flags, out)
        if code == OK:
            self._paths[file] = path
            opened = _File.from_address(file)
            opened.methods = ctypes.pointer(self._watched_methods(opened.methods))
        return code

    def _watched_methods(self, methods: Any) -> _Methods:
        address = ctypes.addressof(methods.contents)
        if address not in self._methods:
            copy = _Methods()
            ctypes.memmove(ctypes.byref(copy), methods, ctypes.sizeof(_Methods))
            self._replace(copy)
            self._methods[address] = copy
        return self._methods[address]

    def _replace(self, copy: _Methods) -> None:
        write, truncate, sync, close = (
            _Write(copy.write),
            _Truncate(copy.truncate),
            _Sync(copy.sync),
            _Close(copy.close),
        )
        paths, watcher = self._paths, self._watcher

        def on_write(file: int, buffer: int, count: int, offset: int) -> int:
            code = watcher.on_write(paths[file], offset, ctypes.string_at(buffer, count))
            return code or write(file, buffer, count, offset)

        def on_truncate(file: int, size: int) -> int:
            return watcher.on_truncate(paths[file], size) or truncate(file, size)

        def on_sync(file: int, flags: int) -> int:
            return watcher.on_sync(paths[file]) or sync(file, flags)

        def on_close(file: int) -> int:
            del paths[file]
            return int(close(file))

        copy.write = self._kept(_Write(on_write))
        copy.truncate = self._kept(_Truncate(on_truncate))
        copy.sync = self._kept(_Sync(on_sync))
        copy.close = self._kept(_Close(on_close))

    def _on_delete(self, vfs: int, name: int, syncs_directory: int) -> int:
        path = Path(ctypes.string_at(name).decode())
        code = self._watcher.on_delete(path, bool(syncs_directory)) if path.exists() else OK
        return code or int(self._delete(ctypes.addressof(self._original.contents), name, syncs_directory))


@contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Every database that is opened meanwhile is watched, and must be closed before the end."""
    shim = _Shim(watcher)
    _library.sqlite3_vfs_register(ctypes.byref(shim.vfs), 1)
    try:
        yield
    finally:
        assert not shim._paths, "all databases are closed"
        _library.sqlite3_vfs_unregister(ctypes.byref(shim.vfs))
