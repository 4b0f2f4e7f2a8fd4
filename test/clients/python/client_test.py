"""The Python client against `mangrove apiserver`: what its users do, and what they expect to come back.

Run by test/e2e/apiserver_python.sh; $MANGROVE is the binary. Each test has a namespace of its own.
"""

import copy
import datetime
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time
import unittest

import kubernetes
import yaml
from kubernetes import client, config, dynamic, watch
from kubernetes.client.rest import ApiException
from kubernetes.leaderelection import electionconfig, leaderelection
from kubernetes.leaderelection.resourcelock.configmaplock import ConfigMapLock


SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../crd-samples")


def without_nulls(value):
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return [without_nulls(v) for v in value] if isinstance(value, list) else value


def expectation(sent, text):
    """The object as the comments at the top of its file say it is stored."""
    out = copy.deepcopy(sent)
    for path, value in re.findall(r"^# defaulted: (\S+?)=(.*)$", text, re.M):
        at, last = walk(out, path)
        at[last] = json.loads(value)
    for path in re.findall(r"^# pruned: (\S+)", text, re.M):
        at, last = walk(out, path)
        at.pop(last, None)
    return out


def walk(value, path):
    parts = [int(p) if p.isdigit() else p for p in re.findall(r"[^.\[\]]+", path)]
    for part in parts[:-1]:
        value = value.setdefault(part, {}) if isinstance(value, dict) else value[part]
    return value, parts[-1]


class Server:
    def __enter__(self):
        self.dir = tempfile.mkdtemp()
        self.log = open(self.dir + "/log", "w")
        self.process = subprocess.Popen(
            [os.environ["MANGROVE"], "apiserver", "--data-dir", self.dir + "/data", "--port", "0"],
            stdout=subprocess.PIPE, stderr=self.log, text=True)
        line = self.process.stdout.readline()
        assert re.search(r":\d+,", line), line
        config.load_kube_config(self.dir + "/data/kubeconfig")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=20)
        shutil.rmtree(self.dir)


def pod(name, **labels):
    return client.V1Pod(
        metadata=client.V1ObjectMeta(name=name, labels=labels or None),
        spec=client.V1PodSpec(containers=[client.V1Container(
            name="c", image="i:1", resources=client.V1ResourceRequirements(requests={"cpu": "100m"}))]))


class ClientTest(unittest.TestCase):
    made = 0

    def setUp(self):
        ClientTest.made += 1
        self.ns = f"t{ClientTest.made}"
        self.core, self.apps = client.CoreV1Api(), client.AppsV1Api()
        self.core.create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=self.ns)))

    def refused(self, code, call, *arguments, **options):
        with self.assertRaises(ApiException) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.status, code, caught.exception.body)
        return caught.exception.body

    def test_create_read_replace_delete(self):
        made = self.core.create_namespaced_pod(self.ns, pod("a", app="x"))
        self.assertEqual(made.status.qos_class, "Burstable")
        self.assertIsInstance(made.metadata.creation_timestamp, datetime.datetime)
        self.assertIn("already exists", self.refused(409, self.core.create_namespaced_pod, self.ns, pod("a")))
        read = self.core.read_namespaced_pod("a", self.ns)
        read.metadata.labels["more"] = "1"
        replaced = self.core.replace_namespaced_pod("a", self.ns, read)
        self.assertEqual(replaced.metadata.labels["more"], "1")
        self.refused(409, self.core.replace_namespaced_pod, "a", self.ns, read)  # a stale version
        self.core.delete_namespaced_pod("a", self.ns, grace_period_seconds=0)
        self.refused(404, self.core.read_namespaced_pod, "a", self.ns)
        self.refused(422, self.core.create_namespaced_pod, self.ns, pod("Bad_Name"))

    def test_generated_names_and_dry_runs(self):
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(generate_name="gen-"))
        names = {self.core.create_namespaced_config_map(self.ns, body).metadata.name for _ in range(5)}
        self.assertEqual(len(names), 5)
        body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name="dry"))
        self.core.create_namespaced_config_map(self.ns, body, dry_run="All")
        self.refused(404, self.core.read_namespaced_config_map, "dry", self.ns)

    def test_patches(self):
        labels = client.V1LabelSelector(match_labels={"app": "d"})
        template = client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels={"app": "d"}), spec=pod("x").spec)
        self.apps.create_namespaced_deployment(self.ns, client.V1Deployment(
            metadata=client.V1ObjectMeta(name="d"), spec=client.V1DeploymentSpec(selector=labels, template=template)))
        # A dict is a strategic merge patch, a list a JSON patch.
        two = {"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "s:1"}]}}}}
        patched = self.apps.patch_namespaced_deployment("d", self.ns, two)
        self.assertEqual([c.name for c in patched.spec.template.spec.containers], ["side", "c"])
        patched = self.apps.patch_namespaced_deployment("d", self.ns, [{"op": "replace", "path": "/spec/replicas", "value": 3}])
        self.assertEqual(patched.spec.replicas, 3)
        merged = self.apps.patch_namespaced_deployment(
            "d", self.ns, {"metadata": {"labels": {"m": "1"}}}, _content_type="application/merge-patch+json")
        self.assertEqual(merged.metadata.labels, {"m": "1"})
        scale = self.apps.read_namespaced_deployment_scale("d", self.ns)
        scale.spec.replicas = 5
        self.assertEqual(self.apps.replace_namespaced_deployment_scale("d", self.ns, scale).spec.replicas, 5)
        status = self.apps.patch_namespaced_deployment_status("d", self.ns, {"status": {"replicas": 2}, "spec": {"replicas": 9}})
        self.assertEqual((status.spec.replicas, status.status.replicas), (5, 2))

    def apply(self, manager, data, **options):
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "ssa"}, "data": data}
        return self.core.patch_namespaced_config_map(
            "ssa", self.ns, body, field_manager=manager, _content_type="application/apply-patch+yaml", **options)

    def test_server_side_apply(self):
        self.apply("one", {"a": "1", "b": "1"})
        self.assertIn('conflict with \\"one\\"', self.refused(409, self.apply, "two", {"a": "2"}))
        self.assertEqual(self.apply("two", {"a": "2"}, force=True).data, {"a": "2", "b": "1"})
        applied = self.apply("one", {})
        self.assertEqual(applied.data, {"a": "2"})
        self.assertEqual({(m.manager, m.operation) for m in applied.metadata.managed_fields}, {("two", "Apply")})

    def test_pages(self):
        for i in range(5):
            self.core.create_namespaced_config_map(
                self.ns, client.V1ConfigMap(metadata=client.V1ObjectMeta(name=f"p{i}", labels={"page": "yes"})))
        names, token, left = [], None, []
        while True:
            page = self.core.list_namespaced_config_map(self.ns, label_selector="page=yes", limit=2, _continue=token)
            names += [item.metadata.name for item in page.items]
            token = page.metadata._continue
            if not token:
                break
        self.assertEqual(names, [f"p{i}" for i in range(5)])
        self.refused(400, self.core.list_namespaced_config_map, self.ns, limit=2, _continue="nonsense")

    def test_watch_resumes_and_expires(self):
        first = self.core.list_namespaced_config_map(self.ns).metadata.resource_version
        for name in ("a", "b"):
            self.core.create_namespaced_config_map(self.ns, client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name)))
        seen, watcher, last = [], watch.Watch(), None
        for event in watcher.stream(self.core.list_namespaced_config_map, self.ns, resource_version=first, timeout_seconds=5):
            seen.append((event["type"], event["object"].metadata.name))
            last = event["object"].metadata.resource_version
            if event["object"].metadata.name == "a":
                watcher.stop()
        self.assertEqual(seen[-1], ("ADDED", "a"))
        self.core.delete_namespaced_config_map("a", self.ns)
        rest = [(e["type"], e["object"].metadata.name) for e in watch.Watch().stream(
            self.core.list_namespaced_config_map, self.ns, resource_version=last, timeout_seconds=1)]
        self.assertEqual(rest, [("ADDED", "b"), ("DELETED", "a")])
        with self.assertRaises(ApiException) as caught:
            for _ in watch.Watch().stream(self.core.list_namespaced_config_map, self.ns, resource_version="-5", timeout_seconds=1):
                pass
        self.assertEqual(caught.exception.status, 400)

    def test_delete_options(self):
        rs = client.V1ReplicaSet(metadata=client.V1ObjectMeta(name="rs"), spec=client.V1ReplicaSetSpec(
            selector=client.V1LabelSelector(match_labels={"a": "b"}),
            template=client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels={"a": "b"}), spec=pod("x").spec)))
        for policy, stays in (("Background", False), ("Foreground", False), ("Orphan", True)):
            owner = self.apps.create_namespaced_replica_set(self.ns, rs)
            child = pod("child")
            child.metadata.owner_references = [client.V1OwnerReference(
                api_version="apps/v1", kind="ReplicaSet", name="rs", uid=owner.metadata.uid, controller=True,
                block_owner_deletion=True)]
            self.core.create_namespaced_pod(self.ns, child)
            self.refused(409, self.apps.delete_namespaced_replica_set, "rs", self.ns, body=client.V1DeleteOptions(
                preconditions=client.V1Preconditions(uid="other")))
            self.apps.delete_namespaced_replica_set("rs", self.ns, propagation_policy=policy)
            self.wait_until(lambda: not self.apps.list_namespaced_replica_set(self.ns).items)
            if stays:
                self.wait_until(lambda: self.core.read_namespaced_pod("child", self.ns).metadata.owner_references is None)
                self.core.delete_collection_namespaced_pod(self.ns, grace_period_seconds=0)
            self.wait_until(lambda: not self.core.list_namespaced_pod(self.ns).items)

    def wait_until(self, holds, seconds=10):
        end = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), end, "did not happen in time")
            time.sleep(0.05)

    def define_widgets(self):
        extensions = client.ApiextensionsV1Api()
        schema = {"type": "object", "properties": {"spec": {"type": "object", "required": ["size"], "properties": {
            "size": {"type": "integer", "minimum": 1}, "colour": {"type": "string", "default": "red"}}},
            "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}
        extensions.create_custom_resource_definition({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.py.example.org"},
            "spec": {"group": "py.example.org", "scope": "Namespaced", "names": {"plural": "widgets", "kind": "Widget"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
                                   "schema": {"openAPIV3Schema": schema}}]}})
        self.wait_until(lambda: any(c.type == "Established" and c.status == "True" for c in (
            extensions.read_custom_resource_definition("widgets.py.example.org").status.conditions or [])))

    def test_custom_objects(self):
        self.define_widgets()
        custom, where = client.CustomObjectsApi(), ("py.example.org", "v1", self.ns, "widgets")
        widget = {"apiVersion": "py.example.org/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 3, "nope": 1}}
        made = custom.create_namespaced_custom_object(*where, widget)
        self.assertEqual(made["spec"], {"size": 3, "colour": "red"})
        widget["spec"] = {"size": 0}
        widget["metadata"]["name"] = "bad"
        self.assertIn("should be greater than or equal to 1", self.refused(422, custom.create_namespaced_custom_object, *where, widget))
        custom.patch_namespaced_custom_object(*where, "w", {"spec": {"size": 4}})
        custom.patch_namespaced_custom_object_status(*where, "w", {"status": {"any": {"thing": 1}}, "spec": {"size": 9}})
        read = custom.get_namespaced_custom_object(*where, "w")
        self.assertEqual((read["spec"]["size"], read["status"]), (4, {"any": {"thing": 1}}))
        self.assertEqual(len(custom.list_cluster_custom_object("py.example.org", "v1", "widgets")["items"]), 1)
        self.dynamic_client()
        custom.delete_namespaced_custom_object(*where, "w")
        self.assertEqual(custom.list_namespaced_custom_object(*where)["items"], [])

    def dynamic_client(self):
        found = dynamic.DynamicClient(client.ApiClient())
        widgets = found.resources.get(api_version="py.example.org/v1", kind="Widget")
        self.assertEqual(widgets.get(name="w", namespace=self.ns).spec.size, 4)
        maps = found.resources.get(api_version="v1", kind="ConfigMap")
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "dyn"}, "data": {"a": "1"}}
        maps.server_side_apply(body=body, namespace=self.ns, field_manager="dyn")
        self.assertEqual(maps.get(name="dyn", namespace=self.ns).data.a, "1")
        self.assertIn("koordinator", " ".join(found.resources.api_groups))

    def test_koordinators_objects_come_back_as_they_went(self):
        found = dynamic.DynamicClient(client.ApiClient())
        for path in sorted(glob.glob(SAMPLES + "/good/*.yaml")):
            with self.subTest(path=os.path.basename(path)):
                text = pathlib.Path(path).read_text()
                sent = without_nulls(yaml.safe_load(text))
                kind = found.resources.get(api_version=sent["apiVersion"], kind=sent["kind"])
                sent["metadata"] = {"name": f"{self.ns}-{os.path.basename(path)[:-5]}"}
                where = {"namespace": self.ns} if kind.namespaced else {}
                made = kind.create(body=sent, **where).to_dict()
                expected = expectation(sent, text)
                if "status" in kind.subresources:
                    self.assertNotIn("status", made)
                    if "status" in sent:
                        body = dict(made, status=sent["status"])
                        made = kind.status.replace(body=body, name=sent["metadata"]["name"], **where).to_dict()
                for part in set(expected) - {"metadata", "status"}:
                    self.assertEqual(without_nulls(made.get(part)), expected[part], part)
                if expected.get("status"):
                    self.assertEqual(without_nulls(made.get("status")), expected["status"])

    def test_koordinators_objects_are_judged(self):
        found = dynamic.DynamicClient(client.ApiClient())
        for path in sorted(glob.glob(SAMPLES + "/bad/*.yaml")):
            text = pathlib.Path(path).read_text()
            field = re.search(r"^# refused: (\S+)", text, re.M).group(1)
            sent = yaml.safe_load(text)
            sent["metadata"].pop("namespace", None)
            kind = found.resources.get(api_version=sent["apiVersion"], kind=sent["kind"])
            if field.startswith("status") and "status" in kind.subresources:
                continue  # a create does not look at it
            with self.subTest(path=os.path.basename(path)):
                where = {"namespace": self.ns} if kind.namespaced else {}
                with self.assertRaises(ApiException) as caught:
                    kind.create(body=sent, **where)
                self.assertIn(caught.exception.status, (400, 422))
                self.assertIn(field, caught.exception.body.decode() if isinstance(caught.exception.body, bytes) else caught.exception.body)

    def test_leases_decide_one_leader(self):
        lease = client.V1Lease(metadata=client.V1ObjectMeta(name="lead"), spec=client.V1LeaseSpec(
            holder_identity="one", lease_duration_seconds=15,
            renew_time=datetime.datetime.now(datetime.timezone.utc)))
        leases = client.CoordinationV1Api()
        mine = leases.create_namespaced_lease(self.ns, lease)
        mine.spec.holder_identity = "two"
        theirs = leases.replace_namespaced_lease("lead", self.ns, mine)
        self.assertEqual(theirs.spec.holder_identity, "two")
        self.refused(409, leases.replace_namespaced_lease, "lead", self.ns, mine)
        led = threading.Event()
        lock = electionconfig.Config(ConfigMapLock("election", self.ns, "me"), lease_duration=3, renew_deadline=2,
                                     retry_period=1, onstarted_leading=led.set, onstopped_leading=None)
        threading.Thread(target=leaderelection.LeaderElection(lock).run, daemon=True).start()
        self.assertTrue(led.wait(10))

    def test_binding_and_eviction(self):
        self.core.create_node(client.V1Node(metadata=client.V1ObjectMeta(name="n-" + self.ns)))
        self.core.create_namespaced_pod(self.ns, pod("p", app="p"))
        binding = client.V1Binding(metadata=client.V1ObjectMeta(name="p"),
                                   target=client.V1ObjectReference(kind="Node", name="n-" + self.ns))
        self.core.create_namespaced_pod_binding("p", self.ns, binding, _preload_content=False)
        self.assertEqual(self.core.read_namespaced_pod("p", self.ns).spec.node_name, "n-" + self.ns)
        self.core.patch_namespaced_pod_status("p", self.ns, {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}})
        client.PolicyV1Api().create_namespaced_pod_disruption_budget(self.ns, client.V1PodDisruptionBudget(
            metadata=client.V1ObjectMeta(name="b"), spec=client.V1PodDisruptionBudgetSpec(
                min_available=1, selector=client.V1LabelSelector(match_labels={"app": "p"}))))
        eviction = client.V1Eviction(metadata=client.V1ObjectMeta(name="p"))
        self.assertIn("DisruptionBudget", self.refused(429, self.core.create_namespaced_pod_eviction, "p", self.ns, eviction))
        client.PolicyV1Api().delete_namespaced_pod_disruption_budget("b", self.ns)
        self.core.create_namespaced_pod_eviction("p", self.ns, eviction)
        self.assertIsNotNone(self.core.read_namespaced_pod("p", self.ns).metadata.deletion_timestamp)

    def test_reviews_and_discovery(self):
        review = client.AuthorizationV1Api().create_self_subject_access_review(client.V1SelfSubjectAccessReview(
            spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=client.V1ResourceAttributes(verb="get", resource="pods"))))
        self.assertTrue(review.status.allowed)
        self.assertIn("apps", [g.name for g in client.ApisApi().get_api_versions().groups])
        self.assertTrue(client.VersionApi().get_code().git_version.startswith("v1."))
        body = client.CoreV1Event(
            metadata=client.V1ObjectMeta(name="e"), involved_object=client.V1ObjectReference(kind="Pod", name="p", namespace=self.ns),
            reason="Hello", message="m", type="Normal")
        self.core.create_namespaced_event(self.ns, body)
        self.assertEqual([e.reason for e in self.core.list_namespaced_event(self.ns).items], ["Hello"])


if __name__ == "__main__":
    print("python client", kubernetes.__version__)
    with Server():
        unittest.main()
