#!/usr/bin/env python3
"""Runs a full-screen program in a terminal of WIDTH x HEIGHT, presses keys, and prints its last picture.

    terminal.py 80 24 mangrove top …

Fails when keys do not sort, a line is too wide, the picture too high (also after the window changed), the program does not end at 'q', or the screen is not given back.
"""
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time

width, height, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "xterm"
    os.execvp(command[0], command)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))


def read_until(enough, limit):
    text, end = b"", time.monotonic() + limit
    while time.monotonic() < end and not enough(text):
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                text += os.read(terminal, 65536)
            except OSError:  # the other side has ended
                break
    return text


def resize(columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def lines_of(picture):
    return re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", picture).decode().replace("\r", "").split("\n")


def fits(picture, columns, rows):
    lines = lines_of(picture)
    return len(lines) <= rows and all(len(line) <= columns for line in lines)


# The last one that is whole: the next may just have begun.
def last_whole(text):
    return [frame for frame in text.split(b"\x1b[H") if frame.endswith(b"\x1b[J")][-1]


def press(key, good):
    """The picture after a key, as soon as one satisfies `good`."""
    os.write(terminal, key)
    whole = lambda text: [frame for frame in text.split(b"\x1b[H") if frame.endswith(b"\x1b[J")]
    text = read_until(lambda text: any(good(frame) for frame in whole(text)), 10)
    found = [frame for frame in whole(text) if good(frame)]
    assert found, f"no such picture after {key}: {text[-2000:]!r}"
    return found[0]


def pods(picture):
    lines = lines_of(picture)
    head = next((i for i, line in enumerate(lines) if line.startswith("POD ")), None)
    rows = [line.split() for line in lines[head + 1:] if "/" in line] if head is not None else []
    return [(row[0], float(row[3]) if row[3] != "-" else -1.0) for row in rows if len(row) > 3]


resize(width, height)
seen = read_until(lambda text: text.count(b"\x1b[H") >= 3, 20)
by_name = lambda frame: [name for name, _ in pods(frame)] == sorted(name for name, _ in pods(frame))
by_cpu = lambda frame: [cpu for _, cpu in pods(frame)] == sorted((cpu for _, cpu in pods(frame)), reverse=True)
press(b"n", by_name)
press(b"c", by_cpu)
press(b"m", lambda frame: True)
press(b"p", lambda frame: b"NODE" not in frame)
press(b"p", lambda frame: b"NODE" in frame)
# A window that shrinks and grows again.
resize(width - 12, height - 6)
assert fits(press(b"", lambda frame: fits(frame, width - 12, height - 6)), width - 12, height - 6)
resize(width, height)
picture = press(b"n", lambda frame: len(lines_of(frame)[0]) > width - 12 and by_name(frame))
os.write(terminal, b"q")
rest = read_until(lambda text: b"\x1b[?1049l" in text, 10)
assert b"\x1b[?1049l" in rest, "the screen was not given back"
_, status = os.waitpid(pid, 0)
assert os.waitstatus_to_exitcode(status) == 0, f"ended with {status}"
lines = lines_of(picture)
assert len(lines) <= height, f"{len(lines)} lines on a screen of {height}"
for line in lines:
    assert len(line) <= width, f"{len(line)} columns on a screen of {width}: {line}"
print("\n".join(lines))
