"""Runs in a pod of up_api.sh: talks to the API server as client libraries do, with what every pod is given."""
import os
import ssl
import urllib.error
import urllib.request

PLACE = "/var/run/secrets/kubernetes.io/serviceaccount/"


def read(name):
    with open(PLACE + name) as text:
        return text.read().strip()


host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
trusted = ssl.create_default_context(cafile=PLACE + "ca.crt")
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=trusted))


def ask(path, at=host):
    request = urllib.request.Request(f"https://{at}:{port}{path}", headers={"Authorization": "Bearer " + read("token")})
    try:
        with opener.open(request, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


print("host", host)
print("namespace", read("namespace"))
print("version", "ok" if ask("/version") == 200 else "refused")
print("pods", ask("/api/v1/namespaces/default/pods"))
print("secrets", ask("/api/v1/namespaces/default/secrets"))
print("by name", "ok" if ask("/version", "kubernetes.default.svc") == 200 else "refused")
