"""Small things every case needs: waiting for a condition, saying what was wanted and what was there, processes by their id.

    eventually(lambda: node()["status"]["phase"], "Running", within=20, what="phase of the pod")
"""
import glob
import os
import random
import signal
import socket
import subprocess
import time


# Waiting costs nothing when all is well: limits are this many times what a quiet machine needs, because others may use this one too.
patience = float(os.environ.get("PATIENCE", "4"))


class Failed(Exception):
    """A check that did not hold; its text says what was wanted and what was there."""


class Skipped(Exception):
    """Something this machine does not have; its text names it."""


def check(holds, text):
    if not holds:
        raise Failed(text)


def same(got, wanted, what):
    check(got == wanted, f"{what}: want {wanted!r}, got {got!r}")


def eventually(ask, wanted=None, within=30.0, what="", pause=0.1):
    """Asks until the answer is `wanted` (or true, or accepted by it when it can be called); returns the answer."""
    within *= patience
    end, got = time.monotonic() + within, None
    while True:
        try:
            got = ask()
            if wanted(got) if callable(wanted) else got == wanted if wanted is not None else got:
                return got
        except (OSError, KeyError, IndexError, LookupError, ValueError) as error:
            got = repr(error)
        if time.monotonic() > end:
            text = "" if wanted is None or callable(wanted) else f" want {wanted!r},"
            raise Failed(f"{what}: not within {within:g} s:{text} got {str(got)[:600]}")
        time.sleep(pause)


def free_port(address="127.0.0.1"):
    """Below the ports the kernel gives to connections: while its server is down, one of those trying to reach it could otherwise take it."""
    while True:
        with socket.socket() as held:
            try:
                held.bind((address, random.randrange(10000, 15000)))
                return held.getsockname()[1]
            except OSError:
                pass


class Process:
    """A program of ours, ended by its id and never by its name. Its output is in `log`."""

    def __init__(self, name, command, log, env=None, cwd=None):
        self.name, self.command, self.log, self.env, self.cwd = name, command, log, env, cwd
        self.child, self.killed = None, False

    def start(self):
        with open(self.log, "ab") as out:
            env = dict(os.environ, **(self.env or {}))
            self.child = subprocess.Popen(self.command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=env, cwd=self.cwd)
        self.killed = False  # only now: who supervises would start it a second time
        return self

    @property
    def pid(self):
        return self.child.pid

    def alive(self):
        return self.child is not None and self.child.poll() is None

    def signal(self, number):
        if self.alive():
            self.child.send_signal(number)

    def kill(self):
        """kill -9, as a machine that loses power for this one process."""
        self.killed = True
        if self.child:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGKILL)
            self.child.wait()

    def stop(self, within=30):
        """SIGTERM; returns the exit code. Whoever does not end in time is killed, which is a failure."""
        if not self.child:
            return None
        self.killed = True
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGTERM)
        try:
            return self.child.wait(within)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"{self.name} did not end within {within} s of SIGTERM")

    def said(self):
        with open(self.log, errors="replace") as file:
            return file.read()


def end_guardians(heartbeat):
    """The child of a killed agent outlives it, as it should; it is known by the file it was given."""
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                if heartbeat.encode() in file.read():
                    os.kill(int(path.split("/")[2]), signal.SIGKILL)
        except OSError:
            pass
