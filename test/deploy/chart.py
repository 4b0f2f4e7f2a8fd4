"""What the chart renders, checked as values: python3 chart.py HELM. Prints what is wrong; exit code 1 when anything is."""
import json
import pathlib
import re
import subprocess
import sys

import yaml

root = pathlib.Path(__file__).resolve().parents[2]
chart = root / "deploy/helm/mangrove"
helm = sys.argv[1]
vap = "admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy"
faults = []


def check(good, text):
    if not good:
        faults.append(text)


def template(*flags):
    done = subprocess.run([helm, "template", "mangrove", str(chart), "-n", "here", "--kube-version", "1.33.0", "-a", vap, *flags],
                          capture_output=True, text=True)
    if done.returncode:
        return None, done.stderr
    return [one for one in yaml.safe_load_all(done.stdout) if one], ""


def render(*flags):
    objects, why = template(*flags)
    if objects is None:
        sys.exit(f"helm template {' '.join(flags)}: {why}")
    return objects


def kinds(objects, kind):
    return [one for one in objects if one["kind"] == kind]


def named(objects, kind, name):
    found = [one for one in kinds(objects, kind) if one["metadata"]["name"] == name]
    return found[0] if found else None


def containers(objects):
    for one in objects:
        if one["kind"] in ("Deployment", "DaemonSet", "Job"):
            for container in one["spec"]["template"]["spec"]["containers"]:
                yield one, container


def known_flags():
    """Flags by command, from the page that is written from the binary."""
    out, command = {}, None
    for line in (root / "docs/commands.md").read_text().splitlines():
        if line.startswith("## mangrove "):
            command = out.setdefault(line[12:], set())
        for name in re.findall(r"^\| `(-[^`]*)` \|", line):
            command.add(name)
    return out


def flags_exist(objects, known):
    for owner, container in containers(objects):
        args = container["args"]
        words = [arg for arg in args if not arg.startswith("-")]
        command = " ".join(words)
        check(command in known, f"{owner['metadata']['name']}: there is no 'mangrove {command}'")
        for arg in args:
            if arg.startswith("-"):
                check(arg.split("=")[0] in known.get(command, ()), f"mangrove {command} has no flag {arg.split('=')[0]}")


def rules(objects):
    for one in objects:
        if one["kind"] in ("ClusterRole", "Role"):
            for rule in one["rules"]:
                yield one["metadata"]["name"], rule


def rights_are_narrow(objects, kubelet):
    for name, rule in rules(objects):
        what = f"{name}: {rule['resources']} {rule['verbs']}"
        check("*" not in rule["verbs"] + rule["resources"] + rule["apiGroups"], what + " has a star")
        if any("webhookconfigurations" in r or r == "secrets" for r in rule["resources"]):
            check(rule.get("resourceNames"), what + " names nothing")
        if "leases" in rule["resources"] and rule["verbs"] != ["create"]:
            check(rule.get("resourceNames"), what + " names no Lease")
        if "nodes/proxy" in rule["resources"]:
            check(kubelet, what + " where no kubelet is asked")


def is_restricted(pod, container):
    """The Pod Security Standard `restricted`."""
    own, outer = container["securityContext"], pod.get("securityContext", {})
    either = lambda key: own.get(key, outer.get(key))  # noqa: E731
    host = any(pod.get(key) for key in ("hostNetwork", "hostPID", "hostIPC"))
    volumes = all(set(v) - {"name"} <= {"configMap", "emptyDir", "secret", "projected", "downwardAPI"} for v in pod.get("volumes", []))
    return (not host and volumes and own.get("allowPrivilegeEscalation") is False and own.get("capabilities") == {"drop": ["ALL"]}
            and either("runAsNonRoot") is True and either("seccompProfile") == {"type": "RuntimeDefault"}
            and not any("hostPort" in port for port in container.get("ports", [])))


def pods_are_safe(objects):
    for owner, container in containers(objects):
        pod, name = owner["spec"]["template"]["spec"], owner["metadata"]["name"]
        check(container["securityContext"].get("readOnlyRootFilesystem"), f"{name}/{container['name']} can write its own files")
        check(container.get("resources", {}).get("limits", {}).get("memory"), f"{name}/{container['name']} has no memory limit")
        if not name.startswith("mangrove-agent"):
            check(is_restricted(pod, container), f"{name}/{container['name']} is not allowed under 'restricted'")
        if owner["kind"] == "Deployment":
            check(all(key in container for key in ("startupProbe", "livenessProbe", "readinessProbe")), f"{name} lacks a probe")


def args_of(objects, kind, name, container=0):
    one = named(objects, kind, name)
    return one["spec"]["template"]["spec"]["containers"][container]["args"] if one else []


def observing_touches_nothing():
    for flags in ((), ("--set", "agent.reports=always")):
        objects = render(*flags)
        for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration", "PriorityClass", "ConfigMap", "Namespace", "Secret"):
            check(not kinds(objects, kind), f"observe makes a {kind}")
        for name, rule in rules(objects):
            if not name.startswith("mangrove-scheduler"):
                for resource in set(rule["resources"]) & {"nodes", "nodes/status", "pods", "pods/eviction", "nodeslos", "elasticquotas"}:
                    check(set(rule["verbs"]) <= {"get", "list", "watch"}, f"observe may {rule['verbs']} {resource} ({name})")
        agent = named(objects, "DaemonSet", "mangrove-agent")
        args = args_of(objects, "DaemonSet", "mangrove-agent")
        check("--enforce=false" in args and "--enable-nri-runtime-hook=false" in args and "--addr=:9416" in args, f"observing agent: {args}")
        check(len(agent["spec"]["template"]["spec"]["containers"]) == 1, "observe has a guardian, which writes")
        container = agent["spec"]["template"]["spec"]["containers"][0]
        check("privileged" not in container["securityContext"] and "add" not in container["securityContext"]["capabilities"],
              "the observing agent has more rights than it needs")
        for mount in container["volumeMounts"]:
            if mount["mountPath"] not in ("/run/mangrove", "/var/lib/mangrove"):
                check(mount.get("readOnly") and mount.get("recursiveReadOnly"), f"the observing agent can write {mount['mountPath']}")
        scheduler = args_of(objects, "Deployment", "mangrove-scheduler")
        check("--scheduler-name=mangrove-scheduler" in scheduler, f"observing scheduler: {scheduler}")
        check("--leader-elect-resource-name=mangrove-scheduler" in scheduler, "observe takes koord-scheduler's Lease")
        reports = bool(flags)
        check(f"--enable-node-metric-report={str(reports).lower()}" in args, f"reports: {args}")
        check(reports or "--feature-gates=NodeTopologyReport=false" in args, "the agent writes topologies")
        manager = args_of(objects, "Deployment", "mangrove-manager")
        check(bool(manager) == reports, "an observing manager runs exactly where agents report")
        if manager:
            check("--controllers=nodemetric" in manager and "--enable-webhooks=false" in manager, f"observing manager: {manager}")
            check("--leader-election-id=mangrove-manager" in manager and "--leader-election-namespace=here" in manager, "observe takes koord-manager's Lease")


def enforcing_acts():
    objects = render("--set", "mode=enforce")
    check("--enforce=true" in args_of(objects, "DaemonSet", "mangrove-agent"), "the agent does not enforce")
    check(args_of(objects, "DaemonSet", "mangrove-agent", 1)[:2] == ["agent", "guardian"], "no guardian")
    check("--leader-election-id=koordinator-manager" in args_of(objects, "Deployment", "mangrove-manager"), "two managers could act at once")
    for kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
        configuration = kinds(objects, kind)[0]
        check(configuration["webhooks"] == [], f"{kind}: API servers would ask before anybody answers")
        for hook in json.loads(configuration["metadata"]["annotations"]["template"]):
            for default in ("matchPolicy", "namespaceSelector", "objectSelector"):
                check(default in hook, f"{hook['name']} lacks {default}, which API servers fill in: the manager would write for ever")
            check(hook["clientConfig"]["service"] | {"path": 0} == {"namespace": "here", "name": "mangrove-webhook-service", "path": 0, "port": 443}, f"{hook['name']} asks somebody else")
            if any(r.startswith("pods") for rule in hook["rules"] for r in rule["resources"]):
                spared = [e for e in hook["namespaceSelector"]["matchExpressions"] if e["key"] == "kubernetes.io/metadata.name"]
                check(spared and {"here", "kube-system"} <= set(spared[0]["values"]), f"{hook['name']} can lock its own manager out")
    told = lambda *flags: [word for word in args_of(render("--set", "mode=enforce", *flags), "Deployment", "mangrove-manager") if "report-validity" in word]  # noqa: E731
    check(told() == ["--report-validity=13m"], f"reports where everybody is ours: {told()}")
    check(told("--set", "scheduler.enabled=false") == [], "somebody else's scheduler would call reports expired")
    check(told("--set", "manager.reportValidity=") == [], "a value that was emptied is said all the same")
    names = [one["metadata"]["name"] for one in objects]
    check(not any("koordinator-webhook" in name or "koordinator-mutating" in name for name in names), "an object has a name of Koordinator's release")


def shadows_write_nothing():
    objects = render("--set", "mode=shadow")
    manager, agent = args_of(objects, "Deployment", "mangrove-manager"), args_of(objects, "DaemonSet", "mangrove-agent")
    check("--dry-run" in manager and "--controllers=*" in manager and "--enable-webhooks=false" in manager, f"manager in the shadow: {manager}")
    check("--leader-election-id=mangrove-manager" in manager, "the shadow takes koord-manager's Lease")
    check("--dry-run" in agent and "--enforce=true" in agent and "--enable-nri-runtime-hook=false" in agent and "--addr=:9416" in agent, f"agent in the shadow: {agent}")
    names = {name for name, _ in rules(objects)}
    check(not any(name.endswith("-enforce") or "webhook" in name for name in names), f"the shadow has rights to act: {names}")
    check(len(named(objects, "DaemonSet", "mangrove-agent")["spec"]["template"]["spec"]["containers"]) == 1, "the shadow has a guardian, which writes")
    for kind in ("MutatingWebhookConfiguration", "PriorityClass", "ConfigMap"):
        check(not kinds(objects, kind), f"the shadow makes a {kind}")


def parts_switch():
    for part, kind in (("manager", "Deployment"), ("scheduler", "Deployment"), ("agent", "DaemonSet")):
        left = render("--set", f"mode=enforce,{part}.enabled=false")
        check(not named(left, kind, "mangrove-" + part) and not named(left, "ServiceAccount", "mangrove-" + part), f"{part}.enabled=false leaves it")
        alone = render("--set", f"{part}.mode=enforce")
        flags = " ".join(args_of(alone, "DaemonSet", "mangrove-agent"))
        check(("--enforce=true" in flags) == (part == "agent"), f"{part}.mode=enforce: {flags}")
    split = render("--set", "agent.enforceOn=mangrove.io/enforce=true")
    one, other = (named(split, "DaemonSet", n)["spec"]["template"]["spec"] for n in ("mangrove-agent", "mangrove-agent-enforce"))
    term = lambda pod: pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"][0]["matchExpressions"][0]  # noqa: E731
    check(term(one) == {"key": "mangrove.io/enforce", "operator": "NotIn", "values": ["true"]}, f"observing nodes: {term(one)}")
    check(term(other)["operator"] == "In", f"enforcing nodes: {term(other)}")
    selectors = [d["spec"]["selector"]["matchLabels"] for d in kinds(split, "DaemonSet")]
    check(selectors[0] != selectors[1], "two DaemonSets own the same pods")


def the_descheduler_moves_only_where_told():
    check(not named(render("--set", "mode=enforce"), "Deployment", "mangrove-descheduler"), "the descheduler runs unasked")
    for mode, acts in (("observe", False), ("shadow", False), ("enforce", True)):
        objects = render("--set", f"mode={mode},descheduler.enabled=true")
        args = args_of(objects, "Deployment", "mangrove-descheduler")
        lease = f"--leader-elect-resource-name={'koord' if acts else 'mangrove'}-descheduler"
        check(("--dry-run" not in args) == acts and lease in args, f"descheduler, mode {mode}: {args}")
        check(bool(named(objects, "ClusterRole", "mangrove-descheduler-enforce")) == acts, f"descheduler, mode {mode}: wrong rights")
        configuration = yaml.safe_load(named(objects, "ConfigMap", "mangrove-descheduler")["data"]["config.yaml"])
        check(configuration["kind"] == "DeschedulerConfiguration", "the descheduler's ConfigMap holds something else")


def values_are_checked():
    schema = json.loads((chart / "values.schema.json").read_text())
    values = yaml.safe_load((chart / "values.yaml").read_text())

    def compare(value, known, path):
        for key in set(value) ^ (set(known) - {"global"} if path == "" else set(known)):
            faults.append(f"values.yaml and its schema do not agree on {path}{key}")
        for key in set(value) & set(known):
            if isinstance(value[key], dict) and "properties" in known[key] and value[key]:
                compare(value[key], known[key]["properties"], f"{path}{key}.")
    compare({k: v for k, v in values.items()}, schema["properties"], "")
    for wrong in ("mode=shadowed", "manger.enabled=true", "agent.port=70000", "agent.enforceOn=yes", "image.digest=sha256:1", "scheduler.names={koord-scheduler}"):
        check(template("--set", wrong)[0] is None, f"--set {wrong} is accepted")


def versions_agree():
    version = (root / "VERSION").read_text().strip()
    said = yaml.safe_load((chart / "Chart.yaml").read_text())
    check(said["version"] == said["appVersion"] == version, f"Chart.yaml says {said['version']} and {said['appVersion']}, VERSION {version}")


def main():
    versions_agree()
    values_are_checked()
    observing_touches_nothing()
    enforcing_acts()
    shadows_write_nothing()
    parts_switch()
    the_descheduler_moves_only_where_told()
    everything = "descheduler.enabled=true,manager.webhooks.certificates=cert-manager,monitoring.podMonitor=true,monitoring.prometheusRule=true,monitoring.dashboards=true,agent.kubelet=true,agent.kubeletCA=kubelet-ca,agent.namespace=nodes"
    known = known_flags()
    for kubelet, flags in ((False, ()), (False, ("--set", "agent.reports=always")), (False, ("--set", "mode=shadow")), (False, ("--set", "mode=enforce")), (True, ("--set", "mode=enforce," + everything))):
        objects = render(*flags)
        flags_exist(objects, known)
        rights_are_narrow(objects, kubelet)
        pods_are_safe(objects)
    print("\n".join(faults) if faults else "the chart is as it should be")
    return 1 if faults else 0


sys.exit(main())
