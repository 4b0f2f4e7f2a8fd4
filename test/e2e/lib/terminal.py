#!/usr/bin/env python3
"""Runs a full-screen program in a terminal of WIDTH x HEIGHT, presses keys, and prints its last picture.

    terminal.py 80 24 mangrove top …

Fails when a line is too wide, the picture too high, the program does not end at 'q', or the screen is not given back.
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


seen = read_until(lambda text: text.count(b"\x1b[H") >= 3, 20)
for key in b"mpn":
    os.write(terminal, bytes([key]))
    before = seen.count(b"\x1b[H")
    seen += read_until(lambda text: text.count(b"\x1b[H") >= 1, 5)
    assert seen.count(b"\x1b[H") > before, f"no new picture after the key {chr(key)}"
os.write(terminal, b"p")
seen += read_until(lambda text: b"\x1b[J" in text[text.find(b"NODE"):] and b"NODE" in text, 5)
# The last one that is whole: the next may just have begun.
picture = [frame for frame in seen.split(b"\x1b[H") if frame.endswith(b"\x1b[J")][-1]
os.write(terminal, b"q")
rest = read_until(lambda text: b"\x1b[?1049l" in text, 10)
assert b"\x1b[?1049l" in rest, "the screen was not given back"
_, status = os.waitpid(pid, 0)
assert os.waitstatus_to_exitcode(status) == 0, f"ended with {status}"
lines = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", picture).decode().replace("\r", "").split("\n")
assert len(lines) <= height, f"{len(lines)} lines on a screen of {height}"
for line in lines:
    assert len(line) <= width, f"{len(line)} columns on a screen of {width}: {line}"
print("\n".join(lines))
