#include <algorithm>

#include <fmt/core.h>

#include "base/text/strings.h"
#include "placement/framework/args.h"
#include "placement/plugins/volumes/volume_base.h"
#include "placement/plugins/volumes/volumes.h"

namespace mangrove::placement {

namespace {

constexpr uint32_t kWrongNode = 0, kNoVolume = 1, kNoRoom = 2, kLostVolume = 3;

class VolumeBinding final : public VolumePlugin, public Transactional {
 public:
  VolumeBinding(Cluster& cluster, Duration longest) : VolumePlugin(cluster), longest_(longest) {}
  std::string_view name() const override { return "VolumeBinding"; }
  Transactional* transactional() override { return this; }

  bool prepares() const override { return true; }
  PodVerdict prepare(const PodPlan& plan, const api::Pod&) override {
    if (!hasVolumes(*plan.cls)) return {};
    const auto refuse = [](std::string reason) {
      return PodVerdict::refuse(PodVerdict::Kind::kUnresolvable, std::move(reason));
    };
    for (const std::string& key : claimsOf(*plan.cls)) {
      const std::string name = key.substr(key.find('/') + 1);
      const auto claim = storage().claims.find(key);
      if (!claim) return refuse(fmt::format("persistentvolumeclaim \"{}\" not found", name));
      if (claim->meta.isDeleting())
        return refuse(fmt::format("persistentvolumeclaim \"{}\" is being deleted", name));
      if (claim->phase == "Lost")
        return refuse(
            fmt::format("persistentvolumeclaim \"{}\" bound to non-existent "
                        "persistentvolume \"{}\"",
                        name, claim->volumeName.view()));
      if (!isBound(*claim) && !waitsForPod(storage(), *claim))
        return refuse("pod has unbound immediate PersistentVolumeClaims");
    }
    return {};
  }

  std::vector<std::string> reasons(const PodPlan&, uint32_t why) const override {
    switch (why) {
      case kWrongNode:
        return {"node(s) didn't match PersistentVolume's node affinity"};
      case kNoRoom:
        return {"node(s) did not have enough free storage"};
      case kLostVolume:
        return {"node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"};
      default:
        return {"node(s) didn't find available persistent volumes to bind"};
    }
  }

  // Claims that no node can serve any more stay in the way for ever.
  std::optional<Suggestion> advise(const PodPlan& plan) const override {
    const auto claims = conflictingClaims(storage(), *plan.cls, cluster_.table);
    if (claims.empty()) return std::nullopt;
    return Suggestion{std::string(suggestion::kDeleteConflictPvc),
                      fmt::format("no node reaches the volume(s) of persistentvolumeclaim(s) {}",
                                  join(claims, ", "))};
  }

  // ---- decisions
  Result<> reserve(const Decision& decision) override {
    if (!hasVolumes(*decision.plan.cls)) return {};
    auto& promised = cluster_.storage.promised;
    std::erase_if(promised, [&](const auto& promise) { return isOver(promise.first); });
    const auto open = matchOpenClaims(storage(), claimsOf(*decision.plan.cls), node(decision.row));
    if (open.answer != Provision::kYes)
      return fail(mangrove::Code::kUnavailable, "{}",
                  reasons(decision.plan, whyOf(open.answer)).front());
    for (const auto& match : open.matches)
      if (match.volume) promised[match.volume->meta.name.str()] = match.claim;
    if (!open.matches.empty()) cluster_.storage.generation++;
    return {};
  }
  void unreserve(const Decision& decision) override {
    for (const std::string& key : claimsOf(*decision.pod->cls))
      if (std::erase_if(cluster_.storage.promised,
                        [&](const auto& promise) { return promise.second == key; }) > 0)
        cluster_.storage.generation++;
  }

  // Static volumes are tied to their claims, provisioners are told the node; the binding waits
  // until all claims are bound.
  Result<> preBind(const Decision& decision, BindNotes& notes) override {
    if (!hasVolumes(*decision.plan.cls)) return {};
    for (const std::string& key : claimsOf(*decision.plan.cls)) {
      const auto claim = storage().claims.find(key);
      if (!claim || isBound(*claim)) continue;
      VolumeNote note{key, claim->meta.uid.str(), "", ""};
      for (const auto& [volume, promisedTo] : storage().promised)
        if (promisedTo == key) note.volume = volume;
      if (note.volume.empty()) note.selectedNode = node(decision.row).meta.name.str();
      notes.volumes.push_back(std::move(note));
    }
    notes.longestVolumeWait = longest_;
    return {};
  }

 protected:
  Verdict verdict(const PodClass& cls, Row row) const override {
    for (const std::string& key : claimsOf(cls)) {
      const auto claim = storage().claims.find(key);
      if (!claim) continue;
      if (isBound(*claim)) {
        const auto volume = volumeOf(storage(), key);
        if (!volume) return {Code::kUnresolvable, 0, kLostVolume};
        if (!reaches(*volume, node(row))) return {Code::kUnresolvable, 0, kWrongNode};
      }
    }
    const Provision answer = matchOpenClaims(storage(), claimsOf(cls), node(row)).answer;
    if (answer != Provision::kYes) return {Code::kUnresolvable, 0, whyOf(answer)};
    return {};
  }

 private:
  static uint32_t whyOf(Provision answer) {
    return answer == Provision::kNoRoom ? kNoRoom : kNoVolume;
  }
  // The server shows whose the volume is, or that it is gone: nothing more to remember.
  bool isOver(std::string_view volume) const {
    const auto found = storage().volumes.find(volume);
    return !found || found->claimRef;
  }

  Duration longest_;
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeVolumeBinding(const json::Value& value, PluginHandle handle) {
  Args args(value, "VolumeBindingArgs");
  args.only({"bindTimeoutSeconds", "shape"});
  const int64_t seconds = args.integer("bindTimeoutSeconds", 600);
  if (seconds < 0) args.complain(fmt::format("bindTimeoutSeconds: {} is below 0", seconds));
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return std::make_unique<VolumeBinding>(handle.cluster, std::chrono::seconds(seconds));
}

}  // namespace mangrove::placement
