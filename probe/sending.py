"""Hands bytes to the kernel without letting another thread of this process in between.

`socket.send` lets the interpreter go during the call, and whoever waits for it keeps it for up to
its whole interval of 5 ms: with a busy thread beside, ten requests would leave 50 ms apart. The
sockets are non-blocking, so the call takes microseconds.
"""

import ctypes
import os
import socket

_libc = ctypes.PyDLL(None, use_errno=True)
_send = _libc.send
_send.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_send.restype = ctypes.c_ssize_t

_FLAGS = getattr(socket, "MSG_DONTWAIT", 0) | getattr(socket, "MSG_NOSIGNAL", 0)


def send(sock: socket.socket, data: memoryview) -> int:
    """Return how many of the bytes the kernel took; raises OSError as `socket.send` does.

    The view is writable, of single bytes, and not empty.
    """
    taken: int = _send(
        sock.fileno(), ctypes.addressof(ctypes.c_char.from_buffer(data)), len(data), _FLAGS
    )
    if taken < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return taken
