#include "placement/plugins/dynamicresources/dynamic_resources.h"

#include <algorithm>

#include <fmt/core.h>

namespace mangrove::placement {
namespace {

constexpr uint32_t kElsewhere = 0;  // further reasons are texts_, from 1 on

struct ClaimPlan final : PlanData {
  bool asks = false;
};

// A claim of the pod on its way to a node.
struct OwnClaim {
  std::string key;
  ClaimBook::ClaimPtr claim;
};

class DynamicResources final : public Plugin, public NodeLocal, public Transactional {
 public:
  explicit DynamicResources(Cluster& cluster) : cluster_(cluster) {}
  std::string_view name() const override { return "DynamicResources"; }
  NodeLocal* nodeLocal() override { return this; }
  Transactional* transactional() override { return this; }

  std::unique_ptr<PlanData> compile(const PodClass& cls) override {
    auto out = std::make_unique<ClaimPlan>();
    out->asks = !cls.spec->resourceClaims.empty();
    return out;
  }
  bool prepares() const override { return true; }
  PodVerdict prepare(const PodPlan& plan, const api::Pod& pod) override {
    if (!asks(plan)) return {};
    for (const api::PodResourceClaim& one : plan.cls->spec->resourceClaims)
      if (const std::string why = whyNot(*plan.cls, one, pod); !why.empty())
        return PodVerdict::refuse(PodVerdict::Kind::kUnresolvable, why);
    return {};
  }

  bool filters(const PodPlan& plan) const override { return asks(plan); }
  void fits(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
            Verdict* out) const override {
    const auto claims = claimsOf(*plan.cls);
    for (size_t i = 0; i < rows.size(); i++) {
      const auto got = choose(claims, table.node(rows[i]).meta);
      if (!got) out[i] = {Code::kUnresolvable, 0, numberOf(got.error())};
    }
  }
  std::vector<std::string> reasons(const PodPlan&, uint32_t why) const override {
    if (why == kElsewhere) return {"resourceclaim not available on the node"};
    return {texts_[why - 1]};
  }
  uint64_t outside(const PodPlan& plan, const NodeTable&) const override {
    return asks(plan) ? book().generation() : 0;
  }
  uint32_t interests() const override {
    return bit(EventKind::kResourceClaims) | bit(EventKind::kNodeAdd) | bit(EventKind::kNodeUpdate);
  }
  Hint hint(const ClusterEvent& event, const PodInfo&) override {
    if (event.kind == EventKind::kNodeUpdate)
      return event.actions & action::kLabel ? Hint::kQueue : Hint::kSkip;
    return Hint::kQueue;
  }

  // ---- decisions
  Result<> reserve(const Decision& decision) override {
    if (!asks(decision.plan)) return {};
    const auto claims = claimsOf(*decision.plan.cls);
    const api::ObjectMeta& node = cluster_.table.node(decision.row).meta;
    auto got = choose(claims, node);
    if (!got) return fail(mangrove::Code::kUnavailable, "{}", got.error().text());
    const api::ObjectMeta& pod = decision.pod->pod->meta;
    const api::ClaimConsumer consumer{"", "pods", pod.name.str(), pod.uid.str()};
    auto fresh = got->begin();
    for (const OwnClaim& one : claims) {
      ClaimPromise promise;
      if (isOpen(one)) {
        promise.devices = std::move(fresh->devices);
        if (fresh->isLocal) promise.node = node.name.str();
        ++fresh;
      }
      promise.shown = one.claim->allocation.has_value();
      book().promise(one.key, std::move(promise), consumer);
    }
    return {};
  }
  void unreserve(const Decision& decision) override {
    const api::ObjectMeta& pod = decision.pod->pod->meta;
    for (const OwnClaim& one : claimsOf(*decision.pod->cls))
      book().breakPromise(one.key, pod.uid.str());
  }
  Result<> preBind(const Decision& decision, BindNotes& notes) override {
    if (!asks(decision.plan)) return {};
    for (const OwnClaim& one : claimsOf(*decision.plan.cls)) {
      const ClaimPromise* promise = book().promised(one.key);
      if (!promise) continue;  // the server shows it already
      for (ObjectPatch& patch : claimPatches({*one.claim, *promise, book().classes}))
        notes.patches.push_back(std::move(patch));
    }
    return {};
  }

 private:
  bool asks(const PodPlan& plan) const { return plan.get<ClaimPlan>(slot()).asks; }
  ClaimBook& book() const { return cluster_.claims; }

  std::string keyOf(const PodClass& cls, const api::PodResourceClaim& one) const {
    if (one.claimName.empty())
      return book().madeFor(cls.ns.view(), cls.podName.view(), one.name.view());
    return fmt::format("{}/{}", cls.ns.view(), one.claimName.view());
  }
  // Those that are there; prepare() has refused the pod where one is not.
  std::vector<OwnClaim> claimsOf(const PodClass& cls) const {
    std::vector<OwnClaim> out;
    for (const api::PodResourceClaim& one : cls.spec->resourceClaims) {
      std::string key = keyOf(cls, one);
      auto claim = book().find(key);
      const bool twice = std::any_of(out.begin(), out.end(),
                                     [&](const OwnClaim& other) { return other.key == key; });
      if (claim && !twice) out.push_back({std::move(key), std::move(claim)});
    }
    return out;
  }

  // Why the claim keeps the pod from every node; "" when it does not.
  std::string whyNot(const PodClass& cls, const api::PodResourceClaim& one,
                     const api::Pod& pod) const {
    const std::string key = keyOf(cls, one);
    const auto claim = book().find(key);
    if (!claim && one.claimName.empty())
      return fmt::format("waiting for a resourceclaim of template \"{}\" to be made",
                         one.templateName.view());
    if (!claim) return fmt::format("resourceclaim \"{}\" not found", one.claimName.view());
    if (claim->meta.isDeleting())
      return fmt::format("resourceclaim \"{}\" is being deleted", claim->meta.name.view());
    if (one.claimName.empty() && !isOwnedBy(*claim, pod))
      return fmt::format("resourceclaim \"{}\" belongs to another pod of this name",
                         claim->meta.name.view());
    if (claim->reservedFor.size() >= api::kMostConsumers && !uses(*claim, pod))
      return fmt::format("resourceclaim \"{}\" is in use by {} pods already",
                         claim->meta.name.view(), claim->reservedFor.size());
    if (claim->allocation) return "";
    const auto ok = checkClaim(*claim, book().classes);
    return ok ? "" : ok.error().text();
  }
  static bool isOwnedBy(const api::ResourceClaim& claim, const api::Pod& pod) {
    return std::any_of(claim.meta.owners->begin(), claim.meta.owners->end(),
                       [&](const auto& owner) { return owner.uid == pod.meta.uid; });
  }
  static bool uses(const api::ResourceClaim& claim, const api::Pod& pod) {
    return std::any_of(claim.reservedFor.begin(), claim.reservedFor.end(),
                       [&](const auto& one) { return one.uid == pod.meta.uid.str(); });
  }

  // Neither allocated nor on its way to be.
  bool isOpen(const OwnClaim& one) const {
    return !one.claim->allocation && !book().promised(one.key);
  }
  bool isUsableOn(const OwnClaim& one, const api::ObjectMeta& node) const {
    if (one.claim->allocation)
      return !one.claim->allocation->nodes ||
             api::NodeTerms(*one.claim->allocation->nodes).match(node);
    const ClaimPromise* promise = book().promised(one.key);
    return !promise || promise->node.empty() || node.name.view() == promise->node;
  }
  // What the open ones among the claims get on the node, in their order.
  Result<std::vector<AllocatedClaim>> choose(const std::vector<OwnClaim>& claims,
                                             const api::ObjectMeta& node) const {
    std::vector<const api::ResourceClaim*> open;
    for (const OwnClaim& one : claims) {
      if (!isUsableOn(one, node)) return fail(mangrove::Code::kConflict, "elsewhere");
      if (isOpen(one)) open.push_back(one.claim.get());
    }
    if (open.empty()) return std::vector<AllocatedClaim>();
    if (std::exchange(poolsSeen_, book().generation()) != book().generation())
      pools_ = poolsOf(book().slices);
    return allocateClaims({node, pools_, book().classes, book().inUse()}, open);
  }
  uint32_t numberOf(const Error& error) const {
    if (error.code() == mangrove::Code::kConflict) return kElsewhere;
    const auto found = std::find(texts_.begin(), texts_.end(), error.text());
    const auto number = static_cast<uint32_t>(found - texts_.begin());
    if (found == texts_.end()) texts_.push_back(error.text());
    return number + 1;
  }

  Cluster& cluster_;
  mutable std::vector<std::string> texts_;  // of refusals, by number
  mutable std::vector<DevicePool> pools_;
  mutable uint64_t poolsSeen_ = 0;
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeDynamicResources(const json::Value&, PluginHandle handle) {
  return std::make_unique<DynamicResources>(handle.cluster);
}

}  // namespace mangrove::placement
