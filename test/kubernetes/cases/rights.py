"""Last: what the server wrote down about our roles. The shipped RBAC must have been enough."""
from lib.checks import Skipped, check


def right(request):
    what = request["objectRef"]
    return (request["user"]["username"], request["verb"], what.get("apiGroup", ""), what["resource"], what.get("subresource", ""), what.get("namespace", ""))


def allowed(api, one, groups):
    user, verb, group, resource, subresource, namespace = one
    review = {"spec": {"user": user, "groups": groups.get(user, []), "resourceAttributes": {
        "verb": verb, "group": group, "resource": resource, "subresource": subresource, "namespace": namespace}}}
    return api.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]


def case_nothing_was_forbidden(world):
    asked = [r for r in world.cluster.requests() if "objectRef" in r]
    if not asked:
        raise Skipped("no role of ours asked the server anything")
    groups = {r["user"]["username"]: r["user"].get("groups", []) for r in asked}
    # A server that was just restarted forbids everything for a moment, so it is asked again now.
    refused = {right(r) for r in asked if r.get("responseStatus", {}).get("code") in (401, 403)}
    missing = sorted(one for one in refused if not allowed(world.cluster.api, one, groups))
    check(not missing, f"{len(missing)} rights are missing: {missing[:8]}")
    print(f"        {len(asked)} requests of {len(groups)} roles, no right missing; {len(refused)} were refused by a server that was just starting")
