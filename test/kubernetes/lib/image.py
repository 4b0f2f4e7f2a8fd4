"""OCI images without a registry: one layer of a few files, as a tar that `ctr images import` takes.

    write("/tmp/tools.tar", "registry.local/tools:1", {"bin/busybox": "/bin/busybox"}, links={"bin/sh": "busybox"}, entry=["/bin/sh"])
"""
import gzip
import hashlib
import io
import json
import tarfile


def _entry(tar, name, data=b"", mode=0o755, link=None):
    info = tarfile.TarInfo(name)
    info.mode, info.size = mode, len(data)
    if link is not None:
        info.type, info.linkname = tarfile.SYMTYPE, link
    elif name.endswith("/"):
        info.name, info.type, info.size = name.rstrip("/"), tarfile.DIRTYPE, 0
    tar.addfile(info, io.BytesIO(data) if data else None)


def _layer(files, links):
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as tar:
        for folder in ("bin/", "tmp/", "etc/"):
            _entry(tar, folder)
        for name, path in files.items():
            with open(path, "rb") as file:
                _entry(tar, name, file.read())
        for name, target in links.items():
            _entry(tar, name, link=target)
    return raw.getvalue()


def write(path, name, files, links=None, entry=None):
    blobs = {}

    def blob(data, kind):
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        blobs[digest] = data
        return {"mediaType": kind, "digest": digest, "size": len(data)}

    layer = _layer(files, links or {})
    packed = blob(gzip.compress(layer, 1, mtime=0), "application/vnd.oci.image.layer.v1.tar+gzip")
    config = {"architecture": "amd64", "os": "linux", "config": {"Entrypoint": entry or [], "Env": ["PATH=/bin"]},
              "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]}}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "layers": [packed],
                "config": blob(json.dumps(config).encode(), "application/vnd.oci.image.config.v1+json")}
    top = blob(json.dumps(manifest).encode(), "application/vnd.oci.image.manifest.v1+json")
    top["annotations"] = {"io.containerd.image.name": name}
    with tarfile.open(path, "w") as tar:
        _entry(tar, "oci-layout", b'{"imageLayoutVersion":"1.0.0"}', 0o644)
        _entry(tar, "index.json", json.dumps({"schemaVersion": 2, "manifests": [top]}).encode(), 0o644)
        for digest, data in blobs.items():
            _entry(tar, "blobs/sha256/" + digest.split(":")[1], data, 0o644)
