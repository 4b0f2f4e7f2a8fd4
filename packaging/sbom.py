"""What is inside a thing we ship, as an SPDX 2.3 document (JSON).

    text = spdx("mangrove", version, commit, epoch, [("usr/bin/mangrove", data)], packages)    # packages: debian.Package
"""
import hashlib
import json
import time


def _identifier(name):
    return "SPDXRef-" + "".join(c if c.isalnum() or c in ".-" else "-" for c in name)


def _file(name, data, licence):
    return {"SPDXID": _identifier("File-" + name), "fileName": "./" + name, "licenseConcluded": licence, "copyrightText": "NOASSERTION",
            "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                          {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}]}


def _package(name, version, url, supplier, licence, source=None):
    one = {"SPDXID": _identifier("Package-" + name), "name": name, "versionInfo": version, "supplier": supplier,
           "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
           "copyrightText": "NOASSERTION",
           "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": url}]}
    if source:
        one["sourceInfo"] = source
    return one


def spdx(name, version, commit, epoch, own, packages):
    """`own`: our files by path; `packages`: those of Debian. Licences of the latter are in their copyright files, which are shipped."""
    ours = _package(name, version, f"pkg:generic/{name}@{version}", "Organization: Mangrove", "Apache-2.0", f"built from commit {commit}")
    theirs = [_package(p.name, p.version, p.url, "Organization: Debian", "NOASSERTION",
                       f"Debian source package {p.source}; licence in /usr/share/doc/{p.name}/copyright") for p in packages]
    files = [_file(path, data, "Apache-2.0") for path, data in own]
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": ours["SPDXID"]}]
    relations += [{"spdxElementId": ours["SPDXID"], "relationshipType": "DEPENDS_ON", "relatedSpdxElement": p["SPDXID"]} for p in theirs]
    for p in packages:
        for path in sorted(p.files):
            if "/zoneinfo/" in path or path.endswith("/copyright"):
                continue
            files.append(_file(path, p.files[path], "NOASSERTION"))
            relations.append({"spdxElementId": _identifier("Package-" + p.name), "relationshipType": "CONTAINS",
                              "relatedSpdxElement": _identifier("File-" + path)})
    relations += [{"spdxElementId": ours["SPDXID"], "relationshipType": "CONTAINS", "relatedSpdxElement": _identifier("File-" + path)}
                  for path, _ in own]
    digest = hashlib.sha256("".join(f["checksums"][1]["checksumValue"] for f in files).encode()).hexdigest()
    return json.dumps({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"{name}-{version}",
                       "documentNamespace": f"https://mangrove.io/spdx/{name}-{version}-{digest}",
                       "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
                                        "creators": ["Organization: Mangrove", "Tool: packaging/sbom.py"]},
                       "packages": [ours] + theirs, "files": files, "relationships": relations}, indent=1, sort_keys=True) + "\n"
