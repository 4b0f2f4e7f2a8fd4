"""Parts that die, hang or are restarted while work goes on; the API server too."""
import signal

from lib.checks import check, eventually, same
from cases.admission import hooked
from cases.resources import amount, batch_cpu, for_sale, report
from cases.scheduling import cpus_of, on_fakes, placed, scheduler, topology


def prepared(cluster):
    hooked(cluster)
    scheduler(cluster)
    if not any(n["metadata"]["name"] == "outages" for n in cluster.api.items("/api/v1/namespaces")):
        cluster.namespace("outages")
        cluster.fake_node("steady", 64)
        topology(cluster, "steady", 32)
        eventually(lambda: cluster.api.get("/apis/slo.koordinator.sh/v1alpha1/nodemetrics/steady"), what="a NodeMetric")
        report(cluster, "steady", 1, 1)
    cluster.configure()


def service(cluster, name):
    """A pod with two CPUs of its own; asked again until the server and admission take it."""
    def made():
        try:
            return cluster.run("outages", name, labels={"koordinator.sh/qosClass": "LSR"}, requests={"cpu": "2", "memory": "64Mi"},
                               priorityClassName="koord-prod", **on_fakes("steady"))
        except ValueError as why:
            if "already exists" in str(why):  # the answer of the first try was lost
                return True
            raise
    eventually(made, within=40, what=f"pod {name} is taken")


def exclusive(cluster):
    """No CPU belongs to two pods; how many belong to one."""
    seen = {}
    for pod in cluster.api.items("/api/v1/namespaces/outages/pods"):
        for cpu in cpus_of(pod):
            check(cpu not in seen, f"CPU {cpu} belongs to {seen.get(cpu)} and to {pod['metadata']['name']}")
            seen[cpu] = pod["metadata"]["name"]
    return len(seen)


def remove(cluster, names):
    for name in names:
        cluster.api.delete(f"/api/v1/namespaces/outages/pods/{name}", grace=0)


def case_the_api_server_restarts_in_the_middle(world):
    cluster = world.cluster
    prepared(cluster)
    made = [f"mid-{i}" for i in range(12)]
    for name in made[:6]:
        service(cluster, name)
    cluster.kill_api()
    cluster.restart_api()
    for name in made[6:]:
        service(cluster, name)
    for name in made:
        placed(cluster, "outages", name, within=60)
    same(exclusive(cluster), 24, "exclusive CPUs")
    report(cluster, "steady", 2, 8)
    expected = round((64 * 0.8 - 2 - 8 - 24) * 1000)
    eventually(lambda: amount(for_sale(cluster, "steady").get(batch_cpu, "0")), expected, 60, "the manager goes on after the restart")
    remove(cluster, made)


def case_each_role_dies_and_comes_back(world):
    cluster = world.cluster
    prepared(cluster)
    for turn, name in enumerate(("scheduler", "manager", "scheduler", "manager")):
        pods = [f"r{turn}-{i}" for i in range(4)]
        for pod in pods[:2]:
            service(cluster, pod)
        cluster.roles[name].kill()
        cluster.roles[name].start()
        for pod in pods[2:]:
            service(cluster, pod)
        for pod in pods:
            placed(cluster, "outages", pod, within=60)
        exclusive(cluster)
        remove(cluster, pods)


def case_a_role_that_hangs_loses_its_lease(world):
    """A stopped scheduler must not bind on its old lease when it wakes after another took over."""
    cluster = world.cluster
    prepared(cluster)
    pods = [f"hang-{i}" for i in range(5)]
    holder = lambda: cluster.api.get("/apis/coordination.k8s.io/v1/namespaces/koordinator-system/leases/koord-scheduler")["spec"]["holderIdentity"]
    service(cluster, pods[0])
    placed(cluster, "outages", pods[0], within=40)
    first, before = cluster.roles["scheduler"], holder()
    cluster.role("scheduler", "--metrics-bind-address", "0", "--config", cluster.dir + "/scheduler.yaml", name="scheduler-2")
    first.signal(signal.SIGSTOP)
    try:
        eventually(lambda: holder() not in ("", before), within=40, what="the second scheduler takes the lease")
        for name in pods[1:4]:
            service(cluster, name)
        for name in pods[1:4]:
            placed(cluster, "outages", name, within=40)
    finally:
        first.signal(signal.SIGCONT)
    service(cluster, pods[4])
    placed(cluster, "outages", pods[4], within=40)
    exclusive(cluster)
    remove(cluster, pods)
    cluster.roles.pop("scheduler-2").kill()
