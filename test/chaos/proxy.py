"""A TCP relay between roles and the API server that can fail as networks do: refuse, cut, delay, swallow.

    proxy = Proxy(server_port); proxy.port
    proxy.mode = "slow"      # pass | slow (0.3 s each way) | swallow (nothing passes, connections stay) | refuse (cut at once)
    proxy.cut()              # every connection there is ends now
"""
import socket
import threading
import time


class Proxy:
    def __init__(self, target):
        self.target, self.mode = target, "pass"
        self.pairs, self.lock = set(), threading.Lock()
        self.server = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self.server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.server.close()
        self.cut()

    def cut(self):
        with self.lock:
            pairs, self.pairs = self.pairs, set()
        for pair in pairs:
            for one in pair:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            if self.mode == "refuse":
                client.close()
                continue
            threading.Thread(target=self._join, args=(client,), daemon=True).start()

    def _join(self, client):
        try:
            upstream = socket.create_connection(("127.0.0.1", self.target), timeout=10)
            upstream.settimeout(None)
        except OSError:
            client.close()
            return
        pair = (client, upstream)
        for one in pair:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.lock:
            self.pairs.add(pair)
        back = threading.Thread(target=self._relay, args=(upstream, client), daemon=True)
        back.start()
        self._relay(client, upstream)
        back.join()
        for one in pair:
            one.close()
        with self.lock:
            self.pairs.discard(pair)

    def _relay(self, source, sink):
        try:
            while data := source.recv(65536):
                while self.mode == "swallow":
                    time.sleep(0.05)
                if self.mode == "slow":
                    time.sleep(0.3)
                sink.sendall(data)
        except OSError:
            pass
        for one in (source, sink):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
