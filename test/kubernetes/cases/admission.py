"""Profiles and translation through the real admission chain: the shipped webhook configuration, its Service, our certificates."""
from lib.api import Refused
from lib.checks import check, eventually, free_port, same
from lib.cluster import own_address, system

profile = {
    "apiVersion": "config.koordinator.sh/v1alpha1", "kind": "ClusterColocationProfile", "metadata": {"name": "spark"},
    "spec": {"namespaceSelector": {"matchLabels": {"colocation": "true"}}, "selector": {"matchLabels": {"app": "pi"}}, "qosClass": "BE",
             "priorityClassName": "koord-batch", "koordinatorPriority": 7, "schedulerName": "koord-scheduler", "labels": {"from": "profile"}}}


def hooked(cluster):
    """A manager with webhooks on this machine's address, found through the shipped Service."""
    if "manager" in cluster.roles and cluster.hooked:
        return
    if "manager" in cluster.roles:
        cluster.end("manager")
    if not getattr(cluster, "hook_port", None):
        cluster.hook_port = free_port(own_address())
    cluster.webhooks(cluster.hook_port)
    start(cluster)
    cluster.hooked = True
    eventually(lambda: answers(cluster), within=30, what="a pod passes admission")


def start(cluster):
    cluster.role("manager", "--metrics-addr", "0", "--health-probe-addr", "0", "--webhook-bind-address", own_address(),
                 "--feature-gates", "ConfigMapValidatingWebhook=true", env={
                     "WEBHOOK_PORT": str(cluster.hook_port), "WEBHOOK_CERT_DIR": cluster.dir + "/certs-hook", "POD_NAMESPACE": system})


def answers(cluster):
    """Whether a dry run of a pod is answered by us."""
    body = {"metadata": {"name": "probe", "labels": {"caster.io/resource-type": "colocation"}},
            "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}}
    made = cluster.api.create("/api/v1/namespaces/default/pods?dryRun=All", body)
    return "kubernetes.io/batch-cpu" in made["spec"]["containers"][0]["resources"]["requests"]


def refused(cluster, namespace, text, **pod):
    try:
        cluster.run(namespace, "bad", **pod)
    except Refused as why:
        check(text in str(why), f"refused with {why}, want '{text}'")
        return
    check(False, f"the pod was taken, want '{text}'")


def case_a_profile_makes_batch_pods(world):
    cluster = world.cluster
    hooked(cluster)
    cluster.namespace("spark", colocation="true")
    cluster.api.create("/apis/config.koordinator.sh/v1alpha1/clustercolocationprofiles", profile)

    def made():
        cluster.api.delete("/api/v1/namespaces/spark/pods/pi", grace=0)
        pod = cluster.run("spark", "pi", labels={"app": "pi"}, requests={"cpu": "1500m", "memory": "2Gi"}, schedulerName="nobody")
        return pod if pod["metadata"]["labels"].get("from") == "profile" else None
    pod = eventually(made, within=15, what="the profile takes effect")
    resources = pod["spec"]["containers"][0]["resources"]["requests"]
    same(resources, {"kubernetes.io/batch-cpu": "1500", "kubernetes.io/batch-memory": "2Gi"}, "requests")
    same([pod["spec"]["priority"], pod["spec"]["schedulerName"], pod["metadata"]["labels"]["koordinator.sh/qosClass"],
          pod["metadata"]["labels"]["koordinator.sh/priority"]], [5000, "koord-scheduler", "BE", "7"], "classes")
    check("batch-cpu" in pod["metadata"]["annotations"]["node.koordinator.sh/extended-resource-spec"], "extended-resource-spec lacks batch-cpu")
    plain = cluster.run("default", "plain", labels={"app": "pi"}, requests={"cpu": "100m"}, schedulerName="nobody")
    same(plain["spec"]["containers"][0]["resources"]["requests"], {"cpu": "100m"}, "a pod of another namespace")
    for namespace in ("spark", "default"):
        cluster.clear(namespace)


def case_mistakes_are_refused_with_a_sentence(world):
    cluster = world.cluster
    hooked(cluster)
    refused(cluster, "default", "must request whole cpus", requests={"cpu": "1500m"}, labels={"koordinator.sh/qosClass": "LSR"},
            priorityClassName="koord-prod")
    refused(cluster, "default", "does not go with priority class", labels={"koordinator.sh/qosClass": "BE"}, priorityClassName="koord-prod")
    try:
        cluster.api.create("/api/v1/namespaces/default/configmaps", {
            "metadata": {"name": "slo", "labels": {"koordinator.sh/configmap-type": "slo-controller-config"}},
            "data": {"colocation-config": '{"degradeTimeMinutes":0}'}})
        check(False, "a wrong configuration was taken")
    except Refused as why:
        check("ConfigParamInvalid" in str(why), f"refused with {why}")


def case_a_dead_webhook_stops_new_pods_only(world):
    cluster = world.cluster
    hooked(cluster)
    cluster.namespace("control", control_plane="true")
    cluster.run("default", "old", requests={"cpu": "100m"}, schedulerName="nobody")
    cluster.roles["manager"].kill()
    cluster.run("control", "dns", requests={"cpu": "100m"}, schedulerName="nobody")
    cluster.api.merge("/api/v1/namespaces/default/pods/old/status", {"status": {"message": "written while the webhook is dead"}})
    cluster.api.delete("/api/v1/namespaces/default/pods/old", grace=0)
    refused(cluster, "default", "failed calling webhook", requests={"cpu": "100m"})
    before = bundle(cluster)
    start(cluster)
    eventually(lambda: answers(cluster), within=30, what="admission is back")
    same(bundle(cluster), before, "the authority, from the Secret")
    cluster.clear("control")


def bundle(cluster):
    path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/koordinator-mutating-webhook-configuration"
    return cluster.api.get(path)["webhooks"][0]["clientConfig"]["caBundle"]
