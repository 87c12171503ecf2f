"""Which system calls an answer may make, and where it may write, by filters of the Linux kernel.

Both need no rights. seccomp refuses calls by number; Landlock refuses files by folder. They are a
second wall where namespaces work, and the only one where they do not.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable

from classroom import linux

# number on x86_64, number on arm64
CALLS = {
    "socket": (41, 198), "connect": (42, 203), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428), "fsopen": (430, 430),
    "mount_setattr": (442, 442), "bpf": (321, 280), "perf_event_open": (298, 241),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438), "kcmp": (312, 272), "personality": (135, 92),
}  # fmt: skip
SIGNALS = {
    "kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "pidfd_send_signal": (424, 424),
}  # fmt: skip
_CLONE, _CLONE3 = (56, 220), (435, 435)
_NAMESPACES = 0x7E020000  # the flags of clone that make namespaces
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000


def refuse_calls(*, signals: bool) -> None:
    """From now on the calls above fail with "not permitted"; with ``signals``, sending any too.

    Raises:
        OSError: when the system has no such filters, or the machine is of another kind.
    """
    if platform.machine() not in _MACHINES:
        raise OSError(errno.ENOSYS, f"no list of system calls for {platform.machine()}")
    column, machine = _MACHINES[platform.machine()]
    program = [
        (_LOAD, 0, 0, 4), (_EQUAL, 1, 0, machine), (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0), (_AT_LEAST, 0, 1, 0x40000000), (_RETURN, 0, 0, _ERRNO | errno.EPERM),
    ]  # fmt: skip
    for numbers in [*CALLS.values(), *(SIGNALS.values() if signals else ())]:
        program += _refused(numbers[column], errno.EPERM)
    # A filter cannot look into the arguments of clone3; libraries fall back to clone.
    program += _refused(_CLONE3[column], errno.ENOSYS)
    program += [
        (_EQUAL, 0, 3, _CLONE[column]), (_LOAD, 0, 0, 16), (_ANY_BIT, 0, 1, _NAMESPACES),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM), (_RETURN, 0, 0, _ALLOW),
    ]  # fmt: skip
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    whole = ctypes.create_string_buffer(
        struct.pack("HxxxxxxP", len(program), ctypes.addressof(code))
    )
    linux.prctl(22, 2, ctypes.byref(whole))


def _refused(number: int, error: int) -> list[tuple[int, int, int, int]]:
    return [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ERRNO | error)]


_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_ALL_OF_FIRST, _REFER, _TRUNCATE, _DEVICE = (1 << 13) - 1, 1 << 13, 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICE


def restrict_files(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Landlock: read only below these, write only below those.

    Raises:
        OSError: when the kernel has no Landlock.
    """
    version = linux.syscall(_CREATE, None, 0, 1)
    rights = _ALL_OF_FIRST
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _DEVICE)):
        rights |= right if version >= since else 0
    # Since version 6 also: no signals to, and no abstract sockets of, processes outside.
    handled = (ctypes.c_uint64 * 3)(rights, 0, 3 if version >= 6 else 0)
    rules = linux.syscall(_CREATE, ctypes.byref(handled), 24 if version >= 6 else 8, 0)
    try:
        for path in readable:
            _allow(rules, path, _EXECUTE | _READ_FILE | _READ_DIR)
        for path in writable:
            _allow(rules, path, rights)
        linux.syscall(_RESTRICT, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # not there: nothing to allow
        return
    try:
        rights &= _OF_FILES if not os.path.isdir(path) else ~0
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, fd))
        linux.syscall(_ADD, rules, 1, ctypes.byref(rule), 0)
    finally:
        os.close(fd)
