"""The unit in which the budget of the build counts: one compilation of a fixed piece of standard headers.

Processors differ, and two cores of one machine slow each other and are slowed by neighbours, so the unit is timed beside the build.
"""
import os
import statistics
import subprocess
import threading

PIECE = "#include <algorithm>\n#include <functional>\n#include <iostream>\n#include <map>\n#include <regex>\n#include <thread>\n" \
        "int main() { return std::regex_match(\"a\", std::regex(\"[a-z]\")); }\n"


def once():
    """Processor seconds of one compilation."""
    child = subprocess.Popen(["g++", "-std=c++20", "-O1", "-g1", "-x", "c++", "-c", "-o", "/dev/null", "-"], stdin=subprocess.PIPE, text=True)
    child.stdin.write(PIECE)
    child.stdin.close()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"g++ cannot compile standard headers: exit {child.returncode}")
    return used.ru_utime + used.ru_stime


class Beside:
    """Times the unit again and again while something else runs; its own seconds are in `spent`."""

    def __init__(self, every_s=60):
        self.seen, self.every_s, self.over = [], every_s, threading.Event()
        self.thread = threading.Thread(target=self._go_on)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def _go_on(self):
        while True:
            self.seen.append(once())
            if self.over.wait(self.every_s):
                return

    @property
    def unit(self):
        return statistics.median(self.seen)

    @property
    def spent(self):
        return sum(self.seen)
