#!/usr/bin/env python3
"""A registry of images on loopback, made of this machine's own programs: enough of the distribution protocol to pull from.

    registry.py --port-file FILE [--password USER:WORD] [--nginx]     serves until it is ended

Images: busybox:1 and pause:1 (busybox-static), private/busybox:1 (wants the password), failing:1 (user 1000, ends with 4), and
with --nginx nginx:1 (the machine's nginx with its libraries and a page)."""

import argparse
import base64
import gzip
import hashlib
import http.server
import io
import json
import os
import re
import shutil
import subprocess
import tarfile

BLOBS, MANIFESTS = {}, {}


def keep(data):
    digest = 'sha256:' + hashlib.sha256(data).hexdigest()
    BLOBS[digest] = data
    return {'digest': digest, 'size': len(data)}


def layer(files, links=(), folders=()):
    """files: path to bytes or a path on this machine."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w') as tar:
        made = set()
        for path in list(files) + [name for name, _ in links] + [f + '/x' for f in folders]:
            parts = path.split('/')[:-1]
            for end in range(1, len(parts) + 1):
                folder = '/'.join(parts[:end])
                if folder in made:
                    continue
                made.add(folder)
                info = tarfile.TarInfo(folder)
                info.type, info.mode = tarfile.DIRTYPE, 0o1777 if folder == 'tmp' else 0o755
                tar.addfile(info)
        for path, content in files.items():
            data = content if isinstance(content, bytes) else open(content, 'rb').read()
            info = tarfile.TarInfo(path)
            info.size, info.mode = len(data), 0o755
            tar.addfile(info, io.BytesIO(data))
        for name, target in links:
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            tar.addfile(info)
    return out.getvalue()


def image(name, tar, **config):
    packed = gzip.compress(tar, compresslevel=1, mtime=0)
    body = {'architecture': 'amd64', 'os': 'linux', 'config': config,
            'rootfs': {'type': 'layers', 'diff_ids': ['sha256:' + hashlib.sha256(tar).hexdigest()]}}
    media = 'application/vnd.oci.image.'
    manifest = json.dumps({
        'schemaVersion': 2, 'mediaType': media + 'manifest.v1+json',
        'config': {'mediaType': media + 'config.v1+json', **keep(json.dumps(body).encode())},
        'layers': [{'mediaType': media + 'layer.v1.tar+gzip', **keep(packed)}]}).encode()
    MANIFESTS[name] = manifest
    MANIFESTS[name.split(':')[0] + ':sha256:' + hashlib.sha256(manifest).hexdigest()] = manifest


def busybox():
    words = subprocess.run(['busybox', '--list'], capture_output=True, text=True, check=True).stdout.split()
    return layer({'bin/busybox': shutil.which('busybox'), 'etc/passwd': b'root:x:0:0:root:/:/bin/sh\n'},
                 [('bin/' + word, 'busybox') for word in words if word != 'busybox'], ['tmp', 'root'])


def nginx():
    program = shutil.which('nginx')
    libraries = re.findall(r'(/\S+)', subprocess.run(['ldd', program], capture_output=True, text=True, check=True).stdout)
    files = {path.lstrip('/'): path for path in libraries}
    files['usr/sbin/nginx'] = program
    files['etc/nginx/nginx.conf'] = (b'daemon off; error_log stderr; events {} http { access_log /dev/stdout; '
                                     b'server { listen 80; root /srv; } }')
    files['srv/index.html'] = b'a page out of an image\n'
    files['etc/passwd'] = b'root:x:0:0::/:\nnobody:x:65534:65534::/:\n'
    files['etc/group'] = b'root:x:0:\nnogroup:x:65534:\n'
    return layer(files, folders=['tmp', 'var/log/nginx', 'var/lib/nginx', 'run'])


class Registry(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    password = ''

    def log_message(self, *words):
        pass

    def answer(self, status, data=b'', **headers):
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key.replace('_', '-'), value)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(data)

    def do_GET(self):
        if self.path.startswith('/v2/private/'):
            wanted = 'Basic ' + base64.b64encode(self.password.encode()).decode()
            if self.headers.get('Authorization') != wanted:
                return self.answer(401, b'{}', WWW_Authenticate='Basic realm="private"')
        found = re.match(r'/v2/(.+)/(manifests|blobs)/(.+)', self.path)
        if not found:
            return self.answer(200, b'{}')
        name, what, ref = found.groups()
        data = BLOBS.get(ref) if what == 'blobs' else MANIFESTS.get(f'{name}:{ref}')
        if data is None:
            return self.answer(404, b'{"errors":[{"code":"MANIFEST_UNKNOWN"}]}')
        kind = 'application/octet-stream' if what == 'blobs' else 'application/vnd.oci.image.manifest.v1+json'
        self.answer(200, data, Content_Type=kind,
                    Docker_Content_Digest='sha256:' + hashlib.sha256(data).hexdigest())

    do_HEAD = do_GET


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--port-file', required=True)
    parser.add_argument('--password', default='')
    parser.add_argument('--nginx', action='store_true')
    options = parser.parse_args()
    box = busybox()
    image('busybox:1', box, Cmd=['sh'], Env=['PATH=/bin', 'GREETING=hello'])
    image('busybox:latest', box, Cmd=['sh'], Env=['PATH=/bin', 'GREETING=newest'])
    image('pause:1', box, Entrypoint=['/bin/sleep', '1000000000'])
    image('private/busybox:1', box, Cmd=['sleep', '1000'], Env=['PATH=/bin'])
    image('failing:1', box, Entrypoint=['sh', '-c'], Cmd=['id -u; exit 4'], Env=['PATH=/bin'], User='1000')
    if options.nginx:
        image('nginx:1', nginx(), Entrypoint=['/usr/sbin/nginx'], StopSignal='SIGQUIT')
    Registry.password = options.password
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Registry)
    with open(options.port_file + '.new', 'w') as file:
        file.write(str(server.server_address[1]))
    os.rename(options.port_file + '.new', options.port_file)
    server.serve_forever()


main()
