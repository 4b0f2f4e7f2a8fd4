"""The address under which pods find the API server, where no kube-proxy runs: an interface of ours carries it, and connections are passed on.

    with ServiceAddress("10.96.0.1", 443, cluster.port, "mgsXXXX"): ...
"""
import asyncio
import subprocess
import threading

from lib.checks import Failed


class ServiceAddress:
    def __init__(self, address, port, target, interface):
        self.address, self.port, self.target, self.interface = address, port, target, interface
        self.loop = asyncio.new_event_loop()

    def __enter__(self):
        self._ip("link", "add", self.interface, "type", "bridge")
        try:
            self._ip("addr", "add", self.address + "/32", "dev", self.interface)
            self._ip("link", "set", self.interface, "up")
            self.server = self.loop.run_until_complete(asyncio.start_server(self._carry, self.address, self.port))
        except Exception:
            self._remove()
            raise
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.server.close()
        self._remove()

    def _ip(self, *words):
        done = subprocess.run(["ip", *words], capture_output=True, text=True)
        if done.returncode:
            raise Failed(f"ip {' '.join(words)}: {done.stderr.strip()}")

    def _remove(self):
        subprocess.run(["ip", "link", "del", self.interface], capture_output=True)

    async def _carry(self, reader, writer):
        try:
            there = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            return writer.close()
        await asyncio.gather(self._pass(reader, there[1]), self._pass(there[0], writer), return_exceptions=True)

    @staticmethod
    async def _pass(reader, writer):
        try:
            while data := await reader.read(65536):
                writer.write(data)
                await writer.drain()
        finally:
            writer.close()
