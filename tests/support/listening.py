"""A listener of a test's own: a thread a connection."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def listening(serve: Callable[[socket.socket, int], None]) -> Iterator[int]:
    """Hand each connection to `serve`, with the moment it was there (monotonic ns); gives the port
    on the loopback.
    """
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    listener.settimeout(0.05)
    over = threading.Event()
    threads: list[threading.Thread] = []

    def accept() -> None:
        while not over.is_set():
            try:
                sock, _ = listener.accept()
            except TimeoutError:
                continue
            came = sock, time.monotonic_ns()
            threads.append(threading.Thread(target=serve, args=came, daemon=True))
            threads[-1].start()

    accepting = threading.Thread(target=accept, daemon=True)
    accepting.start()
    try:
        yield listener.getsockname()[1]
    finally:
        over.set()
        accepting.join(5)
        listener.close()
        for thread in threads:
            thread.join(5)
