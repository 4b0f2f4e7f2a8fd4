"""call NUMBER ARGUMENT…: one system call; ends with 0 when the kernel did it.

Arguments: a number, =TEXT (a pointer to the text), buffer (zeroed memory), handle (a file handle with room), perf (a counter of
this process's own clock)."""
import ctypes
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
keep = []


def argument(word):
    if word.startswith("="):
        keep.append(ctypes.create_string_buffer(word[1:].encode()))
    elif word == "buffer":
        keep.append(ctypes.create_string_buffer(512))
    elif word == "handle":
        keep.append(ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128)))
    elif word == "perf":  # software clock of user code
        keep.append(ctypes.create_string_buffer(struct.pack("IIQQQQQ", 1, 112, 1, 0, 0, 0, 0b1100000) + bytes(64)))
    else:
        return ctypes.c_long(int(word, 0))
    return keep[-1]


result = libc.syscall(ctypes.c_long(int(sys.argv[1])), *[argument(word) for word in sys.argv[2:]])
sys.exit(0 if result >= 0 else 1)
