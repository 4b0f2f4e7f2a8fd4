"""Last: what the server wrote down about our roles. The shipped RBAC must have been enough."""
from lib.checks import Skipped, check


def case_nothing_was_forbidden(world):
    asked = world.cluster.requests()
    if not asked:
        raise Skipped("no role of ours asked the server anything")
    code = lambda r: r.get("responseStatus", {}).get("code")
    right = lambda r: (r["user"]["username"].split(":")[-1], r["verb"], r["objectRef"].get("apiGroup", ""), r["objectRef"]["resource"],
                       r["objectRef"].get("subresource", ""))
    asked = [r for r in asked if "objectRef" in r]
    # A server that was just restarted forbids everything for a moment: a right that was granted once is there.
    granted = {right(r) for r in asked if code(r) not in (401, 403)}
    forbidden = sorted({right(r) for r in asked} - granted)
    check(not forbidden, f"{len(forbidden)} rights are missing: {forbidden[:8]}")
    print(f"        {len(asked)} requests of {len({r['user']['username'] for r in asked})} roles, no right missing")
