"""Two tenants: borrow, explain, reclaim. See scheduler_quota.sh."""
import json
import os
import re
import sys
import tempfile

from apiserver_client import eventually
from quota_cluster import QUOTAS, Cluster, used


def has(text, *wanted):
    for one in wanted:
        assert one in text, "no %r in:\n%s" % (one, text)


def main():
    with tempfile.TemporaryDirectory() as directory:
        cluster = Cluster(os.environ["MANGROVE"], directory, {"reclaim": True})
        cluster.node("n1", 10)
        cluster.quota("org", 10, 10, is_parent=True)
        cluster.quota("owner", 6, 10, "org")
        cluster.quota("borrower", 4, 10, "org")
        cluster.start()

        # The borrower takes everything.
        for i in range(10):
            cluster.pod("b%d" % i, "borrower", 1)
        eventually("ten pods of the borrower run", lambda: used(cluster.pods()).get("borrower") == 10, 60)
        eventually("the quota shows it", lambda: cluster.call("GET", QUOTAS + "/borrower").get("status", {}).get("used", {}).get("cpu") == "10", 30)
        since = eventually("since when it borrows is written", lambda: cluster.call("GET", QUOTAS + "/borrower")["metadata"].get(
            "annotations", {}).get("quota.mangrove.io/borrows-since"), 30)
        began = json.loads(since)["cpu"]
        told = cluster.tell("explain", "quota", "borrower")
        has(told, "quota borrower uses cpu=10", "borrower borrows 6 of cpu from owner, since " + began)
        shown = cluster.tell("top", "--once", "--by", "quota")
        has(shown, "org", "  borrower ", "borrower borrows 6.00 of cpu from owner, since " + began)

        # One more of its own waits, and is told why, where, by how much and what must happen.
        cluster.pod("late", "borrower", 1)
        told = eventually("the pod is refused", lambda: (lambda text: text if "refuses" in text else None)(
            cluster.tell("explain", "pod", "late")), 30)
        has(told, "Quota: borrower has no room; the pod is 1 of 1 that wait there", "cpu: 10 used + 1 asked > 10", "to be admitted: ")
        named = re.search(r"to be admitted: (\d+) of cpu must be given back by pods of quota borrower", told)
        assert named, told
        data = json.loads(cluster.tell("explain", "pod", "late", "-o", "json"))
        assert data["quota"]["placeInLine"] == 1, data["quota"]

        # What a smaller tree would do, before it is applied.
        with open(directory + "/smaller.yaml", "w") as out:
            json.dump(cluster.quota_object("borrower", 4, 8, "org"), out)
        told = cluster.tell("check", "quota", "-f", directory + "/smaller.yaml", wanted=1)
        has(told, "quota borrower would use 10 of cpu and may use 8", "would be evicted where overuse is revoked")

        # Exactly the change that was named admits it.
        assert named.group(1) == "1", told
        cluster.call("DELETE", "/api/v1/namespaces/default/pods/b0")
        eventually("the pod that waited runs", lambda: "late" in cluster.bound(), 30)

        # The owner wants its minimum: enough borrowers go, and no more.
        cluster.pod("mine", "owner", 4)
        eventually("the owner's pod runs", lambda: "mine" in cluster.bound(), 60)
        now = used(cluster.pods())
        assert now == {"owner": 4, "borrower": 6}, now
        told = cluster.tell("explain", "quota", "borrower")
        has(told, "borrower borrows 2 of cpu from owner, since " + began)
        print("all good: borrowed, explained, admitted by the named change, reclaimed")


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit("FAILED: %s" % error)
