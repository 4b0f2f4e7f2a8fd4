// mangrove migrate off: takes away what is left of us on a cluster after the roles are gone: amounts for
// sale on nodes, our taints and conditions, Leases. Says what it would do unless told --yes.
#include <algorithm>
#include <array>
#include <optional>
#include <thread>

#include <fmt/core.h>

#include "api/wire/names.h"
#include "base/clock.h"
#include "cli/cluster_access.h"
#include "cli/command.h"
#include "cli/migrate_off_plan.h"
#include "cli/raw_objects.h"
#include "cli/usage.h"

namespace mangrove::cli {
namespace {

namespace kind = api::kind;

constexpr std::array<std::string_view, 6> kLeases = {"koordinator-manager", "koord-scheduler",
                                                     "koord-descheduler",   "mangrove-manager",
                                                     "mangrove-scheduler",  "mangrove-descheduler"};

constexpr Duration kLook = std::chrono::seconds(1);

struct Off {
  client::ApiClient& client;
  bool yes = false;
  size_t done = 0;
  std::vector<std::string> failures;

  void act(std::string_view what, client::Request request) {
    fmt::print("{} {}\n", yes ? "taken away:" : "would take away:", what);
    done++;
    if (!yes) return;
    auto answer = client.call(std::move(request));
    if (!answer && answer.error().code() != Code::kNotFound)
      failures.push_back(answer.error().text());
  }
};

void clearNode(Off& off, const json::Value& node) {
  const std::string name = textAt(node, {"metadata", "name"});
  const auto patch = [&](const char* what, std::string body, const char* subresource) {
    if (body.empty()) return;
    off.act(fmt::format("{} of node {}", what, name),
            client::patchRequest({kind::kNode, "", name, subresource}, client::PatchType::kMerge,
                                 std::move(body)));
  };
  patch("amounts for sale", statusLeftovers(node), "status");
  patch("taints", taintLeftovers(node), "");
}

Result<> clearNodes(Off& off) {
  auto nodes = listRaw(off.client, kind::kNode);
  if (!nodes) return pass(nodes.error());
  for (const auto& node : *nodes) clearNode(off, node);
  return {};
}

// Nothing when there is none.
Result<std::optional<api::Lease>> leaseOf(Off& off, const client::Ref& ref) {
  auto text = off.client.get(ref);
  if (!text && text.error().code() == Code::kNotFound) return std::nullopt;
  if (!text) return pass(text.error());
  auto lease = api::decodeText<api::Lease>(*text);
  if (!lease) return pass(lease.error());
  return std::move(*lease);
}

// A Lease that somebody renews belongs to a role that runs, ours or the reference's. One that just
// ended may have left it as it was: silence for as long as the Lease itself lasts tells them apart.
Result<> awaitSilence(Off& off, const client::Ref& ref, std::optional<api::Lease>& lease) {
  if (!isAlive(*lease, realClock().wall())) return {};
  const WallTime renewed = lease->renewTime;
  const MonoTime until =
      realClock().mono() + std::chrono::seconds(std::max(1, lease->leaseDurationSeconds));
  fmt::print("Lease {} was renewed a moment ago by {}: waiting whether it goes on\n", ref.key(),
             lease->holderIdentity);
  while (lease && realClock().mono() < until) {
    std::this_thread::sleep_for(kLook);
    auto now = leaseOf(off, ref);
    if (!now) return pass(now.error());
    lease = std::move(*now);
    if (lease && lease->renewTime != renewed)
      return invalid(
          "Lease {} is held by {}, which renews it: end that first, or it will write everything "
          "again",
          ref.key(), lease->holderIdentity);
  }
  return {};
}

Result<> clearLeases(Off& off, const std::vector<std::string>& namespaces) {
  for (const auto& ns : namespaces)
    for (std::string_view name : kLeases) {
      const client::Ref ref{kind::kLease, ns, std::string(name)};
      auto lease = leaseOf(off, ref);
      if (!lease) return pass(lease.error());
      if (!*lease) continue;
      if (auto ok = awaitSilence(off, ref, *lease); !ok) return ok;
      if (*lease) off.act(fmt::format("Lease {}", ref.key()), client::deleteRequest(ref));
    }
  return {};
}

Result<> purge(Off& off, const std::vector<std::string>& plurals) {
  for (const auto& plural : plurals) {
    const auto all = api::allKinds();
    const auto found = std::find_if(all.begin(), all.end(), [&](const api::Kind& one) {
      return one.plural == plural && one.group.find("koordinator.sh") != std::string_view::npos;
    });
    if (found == all.end())
      return invalid("--purge '{}': want kinds of koordinator.sh by their plural, as nodemetrics",
                     plural);
    auto objects = listRaw(off.client, *found);
    if (!objects) return pass(objects.error());
    for (const auto& one : *objects) {
      const client::Ref ref{*found, textAt(one, {"metadata", "namespace"}),
                            textAt(one, {"metadata", "name"})};
      off.act(fmt::format("{} {}", found->kind, ref.key()), client::deleteRequest(ref));
    }
  }
  return {};
}

}  // namespace

int migrateOff(const std::vector<std::string>& args) {
  ClusterAccess access;
  bool yes = false;
  std::vector<std::string> namespaces = {std::string(api::object::kSystemNamespace),
                                         "mangrove-system"};
  std::vector<std::string> purged;
  frame::Flags flags(
      "mangrove migrate off",
      "takes away what is left on nodes when manager, scheduler and agents are gone");
  access.declare(flags);
  flags.add("yes", yes, "do it; without it only say what would be done");
  flags.add("lease-namespaces", namespaces, "where Leases of ours may be");
  flags.add("purge", purged, "kinds whose objects go too, by name: nodemetrics,nodeslos");
  if (const auto end = readArguments(flags, args)) return *end;
  net::Loop loop(1);
  auto client = access.open(loop);
  if (!client) return complain(flags, client.error());
  Off off{**client, yes, 0, {}};
  if (auto ok = clearLeases(off, namespaces); !ok) return complain(flags, ok.error());
  if (auto ok = clearNodes(off); !ok) return complain(flags, ok.error());
  if (auto ok = purge(off, purged); !ok) return complain(flags, ok.error());
  if (off.done == 0) fmt::print("nothing of ours is left\n");
  if (off.done > 0 && !yes) fmt::print("nothing was changed; --yes does it\n");
  for (const auto& failure : off.failures) fmt::print(stderr, "{}\n", failure);
  return off.failures.empty() ? 0 : kFailed;
}

}  // namespace mangrove::cli
