"""Which files of Debian's archive a program needs at run time, as installed here and checked against what their packages recorded.

    for package in needed("build/release/bin/mangrove"):
        package.name, package.version, package.files      # files: path below / -> bytes
"""
import dataclasses
import functools
import hashlib
import os
import re
import subprocess


class NotDebian(Exception):
    """A library that no package owns, or that is not as its package had it."""


@dataclasses.dataclass
class Package:
    name: str
    version: str
    source: str
    architecture: str
    files: dict = dataclasses.field(default_factory=dict)
    links: dict = dataclasses.field(default_factory=dict)

    @property
    def url(self):
        return f"pkg:deb/debian/{self.name}@{self.version.replace('+', '%2B').replace(':', '%3A')}?arch={self.architecture}"


def _run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def libraries(program):
    """Paths of the shared libraries the loader takes, the loader itself included."""
    found = []
    for line in _run("ldd", program).splitlines():
        if "not found" in line:
            raise NotDebian(f"{program} needs {line.split()[0]}, which is not installed")
        path = re.search(r"(/\S+)", line)
        if path and "linux-vdso" not in line:
            found.append(path.group(1))
    return sorted(set(found))


def _merged(path):
    """/lib and /usr/lib are one folder since Debian 12; a package may know its file under either name."""
    real = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    return [path, real, real[4:] if real.startswith("/usr/") else "/usr" + real]


def owner(path):
    for name in _merged(path):
        asked = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if asked.returncode == 0:
            return asked.stdout.split(":")[0].split(",")[0], name
    raise NotDebian(f"{path} belongs to no Debian package")


@functools.lru_cache(None)
def _recorded(package, architecture):
    for name in (f"{package}:{architecture}", package):
        try:
            with open(f"/var/lib/dpkg/info/{name}.md5sums") as sums:
                return {"/" + line.split(None, 1)[1].strip(): line.split()[0] for line in sums}
        except FileNotFoundError:
            continue
    return {}


def _described(name):
    text = _run("dpkg-query", "-W", "-f", "${Version}\t${source:Package}\t${Architecture}\n", name).splitlines()[0]
    return Package(name, *text.split("\t"))


def _checked(package, path):
    with open(path, "rb") as file:
        data = file.read()
    recorded = _recorded(package.name, package.architecture)
    known = [recorded[name] for name in _merged(path) if name in recorded]
    if not known:
        raise NotDebian(f"{path}: the package {package.name} has no checksum of it")
    if hashlib.md5(data).hexdigest() != known[0]:
        raise NotDebian(f"{path} is not as the package {package.name} {package.version} had it")
    return data


def _take(packages, path):
    """The file, and the links that lead to it, under their owner."""
    name, _ = owner(path)
    package = packages.setdefault(name, _described(name))
    while os.path.islink(path):
        target = os.readlink(path)
        package.links[path.lstrip("/")] = target
        path = os.path.normpath(os.path.join(os.path.dirname(path), target))
    package.files[path.lstrip("/")] = _checked(package, path)


def needed(program):
    """Packages with the libraries of the program, and the time zones that time policies are written in."""
    packages = {}
    for path in libraries(program):
        _take(packages, path)
    tz = packages.setdefault("tzdata", _described("tzdata"))
    for name in _run("dpkg-query", "-L", "tzdata").splitlines():
        zone = name.removeprefix("/usr/share/zoneinfo/")
        if zone == name or zone.startswith(("right/", "posix/")) or os.path.isdir(name):
            continue
        if os.path.islink(name):
            tz.links[name.lstrip("/")] = os.readlink(name)
        else:
            tz.files[name.lstrip("/")] = _checked(tz, name)
    for package in packages.values():
        notice = f"/usr/share/doc/{package.name}/copyright"
        with open(notice, "rb") as file:  # may be a link into a folder shared with other packages of its source
            package.files[notice.lstrip("/")] = file.read()
    return [packages[name] for name in sorted(packages)]
