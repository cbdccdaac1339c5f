"""How a fork of the warmed process confines itself before it runs a student's code. Standard library only.

Part of the warmed process: imports nothing of `autograder`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import resource
import socket
import struct
from collections.abc import Mapping
from typing import Any

_libc = ctypes.CDLL(None, use_errno=True)

NAMESPACES = {"pid": 0x20000000, "net": 0x40000000, "ipc": 0x08000000, "uts": 0x04000000, "mnt": 0x00020000}
_CLONE_NEWUSER = 0x10000000
_ANY_NAMESPACE = 0x7E020000

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def prctl(option: int, *arguments: int) -> int:
    padded = [ctypes.c_ulong(a) for a in (*arguments, 0, 0, 0, 0)[:4]]
    return int(_libc.prctl(option, *padded))


def die_with_parent() -> None:
    prctl(_PR_SET_PDEATHSIG, 9)


def adopt_orphans() -> None:
    """Detached descendants become children of this process instead of getting away."""
    prctl(_PR_SET_CHILD_SUBREAPER, 1)


def has_admin_rights() -> bool:
    """Whether this process has CAP_SYS_ADMIN in its user namespace."""
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("CapEff:"):
                return bool(int(line.split()[1], 16) >> 21 & 1)
    return False


def become_root_of_own_user_namespace() -> None:
    """An ordinary user becomes root of a user namespace that holds nobody else: enough to build boxes and join them."""
    uid, gid = os.geteuid(), os.getegid()
    _checked(_libc.unshare(_CLONE_NEWUSER), "a user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"0 {uid} 1"), ("gid_map", f"0 {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def highest_uid() -> int:
    """The highest user id that this user namespace knows."""
    highest = 0
    with open("/proc/self/uid_map") as rows:
        for row in rows:
            inside, _, count = (int(x) for x in row.split())
            highest = max(highest, inside + count - 1)
    return min(highest, 2**32 - 2)


def join(fd: int, name: str) -> None:
    _checked(_libc.setns(fd, NAMESPACES[name]), f"joining the {name} namespace")


def bound(folder: str, size: int) -> None:
    """Let the tmpfs on `folder` hold `size` bytes, and no more files than would fill it with a page each."""
    nosuid, nodev, remount = 2, 4, 32
    options = f"size={size},nr_inodes={max(size // 4096, 1024)}"
    _checked(_libc.mount(b"tmpfs", folder.encode(), b"tmpfs", nosuid | nodev | remount, options.encode()), folder)


def drop_privileges(uid: int | None) -> None:
    """No capability, now or later; `uid` becomes user and group id unless it is None."""
    for capability in range(64):
        if prctl(_PR_CAPBSET_DROP, capability) < 0:
            break
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    prctl(_PR_CAP_AMBIENT, 4)
    header = struct.pack("Ii", 0x20080522, 0)
    _checked(_libc.capset(header, bytes(24)), "dropping capabilities")
    _checked(prctl(_PR_SET_NO_NEW_PRIVS, 1), "no_new_privs")


def _address_space() -> int:
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def _own_tasks() -> int:
    """Processes and threads of this user, which RLIMIT_NPROC counts along where it does not count per namespace."""
    uid, count = os.getuid(), 0
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                if os.stat(f"/proc/{entry}").st_uid == uid:
                    count += len(os.listdir(f"/proc/{entry}/task"))
            except OSError:
                continue
    return count


def _counts_processes_per_namespace() -> bool:
    release = platform.release().split(".")
    return platform.system() == "Linux" and (int(release[0]), int(release[1].split("-")[0])) >= (5, 14)


def processes_beside(own_uid: bool, own_namespace: bool) -> int:
    """How many processes that are not the submission's RLIMIT_NPROC will count with them."""
    if own_uid:
        return 1
    if own_namespace and _counts_processes_per_namespace():
        return 8  # the warmed process and bubblewrap's own
    return 8 + (_own_tasks() if os.path.isdir("/proc/self") else 4096)


def set_limits(limits: Mapping[str, Any], others: int) -> None:
    """rlimits from `limits` (bytes, seconds, counts). The address space is what is there already and the limit."""
    wanted = {
        resource.RLIMIT_AS: _address_space() + limits["memory_bytes"] if _address_space() else None,
        resource.RLIMIT_FSIZE: limits["disk_bytes"],
        resource.RLIMIT_NPROC: limits["processes"] + others,
        resource.RLIMIT_CPU: int(limits["seconds_total"]) + 2,
        resource.RLIMIT_NOFILE: 1024,
        resource.RLIMIT_CORE: 0,
    }
    for which, value in wanted.items():
        if value is None:
            continue
        hard = resource.getrlimit(which)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        try:
            resource.setrlimit(which, (value, value))
        except (OSError, ValueError):
            if platform.system() == "Linux":
                raise


# System calls that no exercise needs: other processes' memory, kernel keys, tracing, mounts and modules, memory that
# no limit counts. One row each: x86_64, aarch64.
_REFUSED = {
    "acct": (163, 89), "add_key": (248, 217), "bpf": (321, 280), "chroot": (161, 51), "delete_module": (176, 106),
    "fanotify_init": (300, 262), "finit_module": (313, 273), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fsopen": (430, 430), "fspick": (433, 433), "init_module": (175, 105), "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427), "io_uring_setup": (425, 425), "kcmp": (312, 272), "kexec_file_load": (320, 294),
    "kexec_load": (246, 104), "keyctl": (250, 219), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "mount": (165, 40), "mount_setattr": (442, 442), "move_mount": (429, 429), "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265), "open_tree": (428, 428), "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438), "pivot_root": (155, 41), "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271), "ptrace": (101, 117), "quotactl": (179, 60), "reboot": (169, 142),
    "request_key": (249, 218), "setns": (308, 268), "shmget": (29, 194), "swapoff": (168, 225), "swapon": (167, 224),
    "syslog": (103, 116), "umount2": (166, 39), "unshare": (272, 97), "userfaultfd": (323, 282),
}  # fmt: skip
_ARCHITECTURES = {  # audit number, column of _REFUSED, clone, clone3, socket, seccomp
    "x86_64": (0xC000003E, 0, 56, 435, 41, 317),
    "aarch64": (0xC00000B7, 1, 220, 435, 198, 277),
}
_SOCKETS = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000


def filter_program(machine: str) -> bytes:
    """The filter for `machine`, empty where there is no table: a classic BPF program over struct seccomp_data: number at 0, architecture at 4, first argument at 16."""
    if machine not in _ARCHITECTURES:
        return b""
    audit, column, clone, clone3, new_socket, _ = _ARCHITECTURES[machine]
    rows: list[tuple[int, int, int, int]] = []

    def refuse(error: int) -> tuple[int, int, int, int]:
        return (_RETURN, 0, 0, _ERRNO | error)

    rows += [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, audit), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    rows += [(_AT_LEAST, 0, 1, 0x40000000), refuse(errno.EPERM)]
    for numbers in _REFUSED.values():
        rows += [(_EQUAL, 0, 1, numbers[column]), refuse(errno.EPERM)]
    # clone3 keeps its flags where a filter cannot look: pretend that it does not exist, and libc uses clone.
    rows += [(_EQUAL, 0, 1, clone3), refuse(errno.ENOSYS)]
    rows += [(_EQUAL, 0, 3, clone), (_LOAD, 0, 0, 16), (_ANY_BIT, 0, 1, _ANY_NAMESPACE), refuse(errno.EPERM)]
    rows += [(_LOAD, 0, 0, 0), (_EQUAL, 0, 2 + len(_SOCKETS), new_socket), (_LOAD, 0, 0, 16)]
    for i, family in enumerate(_SOCKETS):
        rows += [(_EQUAL, len(_SOCKETS) - i, 0, int(family))]
    rows += [refuse(errno.EAFNOSUPPORT), (_RETURN, 0, 0, _ALLOW)]
    return b"".join(struct.pack("HBBI", *row) for row in rows)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def refuse_system_calls() -> None:
    """Install the filter, for this process and all that it starts. Does nothing on an architecture without a table."""
    machine = platform.machine()
    code = filter_program(machine)
    if not code:
        return
    program = _Program(len(code) // 8, code)
    spec_allow = 4  # without it some kernels slow the whole process down
    seccomp = _ARCHITECTURES[machine][5]
    if _libc.syscall(seccomp, 1, spec_allow, ctypes.byref(program)) == 0:
        return
    _checked(int(_libc.prctl(_PR_SET_SECCOMP, 2, ctypes.byref(program), 0, 0)), "the system call filter")


def use_huge_pages() -> None:
    """Gather this process's anonymous memory into huge pages where the kernel can: a fork then has less to copy.

    Linux 6.1 and later do it when asked (MADV_COLLAPSE); everywhere else nothing happens.
    """
    collapse, size = 25, 2 << 20
    _libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    try:
        with open("/proc/self/maps") as rows:
            areas = [row.split() for row in rows]
    except OSError:
        return
    for fields in areas:
        if fields[1].startswith("rw-p") and (len(fields) < 6 or fields[5] == "[heap]"):
            begin, end = (int(x, 16) for x in fields[0].split("-"))
            for address in range(-(-begin // size) * size, end - size + 1, size):
                _libc.madvise(address, size, collapse)


def flush_c_streams() -> None:
    _libc.fflush(None)
