"""Archives that depend on nothing but their contents: sorted names, one time, no owners of this machine.

    tree = Tree(epoch)
    tree.file("usr/bin/mangrove", data, mode=0o755)
    tree.link("lib", "usr/lib")
    blob = tree.tar()                    # bytes; gz(blob) compresses them the same way every time
"""
import gzip
import io
import os
import subprocess
import tarfile


def commit_time(root):
    """Seconds: SOURCE_DATE_EPOCH, else the time of the last commit. A tree that has neither is refused: its archives would differ."""
    if os.environ.get("SOURCE_DATE_EPOCH"):
        return int(os.environ["SOURCE_DATE_EPOCH"])
    asked = subprocess.run(["git", "-C", str(root), "log", "-1", "--format=%ct"], capture_output=True, text=True)
    if asked.returncode or not asked.stdout.strip():
        raise SystemExit("no time to give to the files: set SOURCE_DATE_EPOCH, or build from a git checkout")
    return int(asked.stdout)


def commit_id(root):
    """The commit the tree is at, "unknown" outside git; with "-changed" when files differ from it."""
    git = ["git", "-C", str(root)]
    asked = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True)
    if asked.returncode:
        return "unknown"
    changed = subprocess.run([*git, "status", "--porcelain", "--untracked-files=no"], capture_output=True, text=True).stdout
    return asked.stdout.strip() + ("-changed" if changed.strip() else "")


def gz(data):
    out = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, compresslevel=6, mtime=0) as packed:
        packed.write(data)
    return out.getvalue()


class Tree:
    def __init__(self, epoch):
        self.epoch, self.entries = epoch, {}

    def _info(self, name, mode):
        info = tarfile.TarInfo(name)
        info.mode, info.mtime, info.uid, info.gid = mode, self.epoch, 0, 0
        return info

    def folder(self, name, mode=0o755):
        """The folder and those above it."""
        parent = os.path.dirname(name)
        if parent:
            self.folder(parent)
        if name not in self.entries:
            info = self._info(name, mode)
            info.type = tarfile.DIRTYPE
            self.entries[name] = (info, b"")

    def file(self, name, data, mode=0o644):
        self.folder(os.path.dirname(name)) if os.path.dirname(name) else None
        info = self._info(name, mode)
        info.size = len(data)
        self.entries[name] = (info, data)

    def link(self, name, target):
        self.folder(os.path.dirname(name)) if os.path.dirname(name) else None
        info = self._info(name, 0o777)
        info.type, info.linkname = tarfile.SYMTYPE, target
        self.entries[name] = (info, b"")

    def tar(self):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for name in sorted(self.entries):
                info, data = self.entries[name]
                tar.addfile(info, io.BytesIO(data) if data else None)
        return out.getvalue()
