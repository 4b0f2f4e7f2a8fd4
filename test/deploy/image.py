"""Reads an image as a runtime would: python3 image.py BUILT ROOT unpacks it into ROOT and fails when a digest, size or document is wrong."""
import gzip
import hashlib
import io
import json
import pathlib
import sys
import tarfile

built, root = map(pathlib.Path, sys.argv[1:3])


def blob(entry):
    data = (built / "oci/blobs" / entry["digest"].replace(":", "/")).read_bytes()
    assert len(data) == entry["size"], f"{entry['digest']} has {len(data)} bytes, not {entry['size']}"
    assert "sha256:" + hashlib.sha256(data).hexdigest() == entry["digest"], f"{entry['digest']} is not its content's"
    return data


assert json.loads((built / "oci/oci-layout").read_text()) == {"imageLayoutVersion": "1.0.0"}
index = json.loads((built / "oci/index.json").read_text())
manifest = json.loads(blob(index["manifests"][0]))
config = json.loads(blob(manifest["config"]))
assert config["config"]["User"] == "65532:65532" and config["config"]["Entrypoint"] == ["/usr/bin/mangrove"], config["config"]
labels = config["config"]["Labels"]
for wanted in ("title", "version", "revision", "created", "licenses"):
    assert labels.get("org.opencontainers.image." + wanted), f"no label {wanted}"
total = 0
for layer, known in zip(manifest["layers"], config["rootfs"]["diff_ids"], strict=True):
    tar = gzip.decompress(blob(layer))
    assert "sha256:" + hashlib.sha256(tar).hexdigest() == known, "a layer is not what the configuration says"
    total += len(tar)
    with tarfile.open(fileobj=io.BytesIO(tar)) as entries:
        for one in entries:
            assert one.uid == one.gid == 0 and one.mtime == 1700000000, f"{one.name} carries this machine's owner or time"
            assert not one.mode & 0o6000, f"{one.name} is setuid"
        entries.extractall(root)
assert total <= 60_000_000, f"{total} bytes"
for shell in ("bin/sh", "bin/bash", "usr/bin/apt"):
    assert not (root / shell).exists(), f"the image has {shell}"
assert (root / "usr/share/zoneinfo/Asia/Shanghai").exists(), "no time zones"
with tarfile.open(next(built.glob("*.docker.tar"))) as docker:
    said = json.load(docker.extractfile("manifest.json"))[0]
    names = docker.getnames()
    assert said["Config"] in names and set(said["Layers"]) <= set(names) and said["RepoTags"], said
document = json.loads(next(built.glob("*.spdx.json")).read_text())
facts = json.loads((built / "image.json").read_text())
assert document["spdxVersion"] == "SPDX-2.3" and len(document["packages"]) == len(facts["packages"]) + 1
ids = {one["SPDXID"] for one in document["packages"] + document["files"]} | {"SPDXRef-DOCUMENT"}
for one in document["relationships"]:
    assert one["spdxElementId"] in ids and one["relatedSpdxElement"] in ids, one
print(f"{total / 1e6:.1f} MB, {len(manifest['layers'])} layers, {len(facts['packages'])} packages of Debian")
