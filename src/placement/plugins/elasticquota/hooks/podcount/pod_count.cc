// PodCount: a quota may hold at most so many pods, its children's included, as the annotation
// quota.mangrove.io/max-pods says; how many there are stands beside it.
#include <map>

#include <fmt/format.h>

#include "base/os/log.h"
#include "base/text/strings.h"
#include "placement/framework/args.h"
#include "placement/plugins/elasticquota/hooks/hook.h"

namespace mangrove::placement {
namespace {

const Logger log("quota");
constexpr std::string_view kMaxPods = "quota.mangrove.io/max-pods";
constexpr std::string_view kPods = "quota.mangrove.io/pods";

class PodCount final : public QuotaHook {
 public:
  void quotaChanged(std::string_view name, const api::ElasticQuota* after) override {
    const std::string quota(name);
    limits_.erase(quota);
    const auto said = after ? after->meta.annotations.get(kMaxPods) : std::nullopt;
    if (!said) return;
    if (const auto limit = parseInt<int64_t>(*said))
      limits_[quota] = *limit;
    else
      log.warn("quota {}: annotation {} is '{}', and should be a number of pods", quota, kMaxPods,
               *said);
  }
  void podAssigned(const QuotaPlace& place, const QuotaPod&, bool assigned) override {
    each(place, [&](const std::string& name) { counts_[name] += assigned ? 1 : -1; });
  }
  std::optional<std::string> check(const QuotaPlace& place, const Amounts&, PodKind) override {
    std::optional<std::string> out;
    each(place, [&](const std::string& name) {
      const auto limit = limits_.find(name);
      if (out || limit == limits_.end() || counts_[name] < limit->second) return;
      out = fmt::format("quota {} has {} pods, as many as its annotation {} allows", name,
                        counts_[name], kMaxPods);
    });
    return out;
  }
  void addStatus(const QuotaPlace& place, json::Object& annotations) override {
    if (limits_.contains(place.name())) annotations[kPods] = std::to_string(counts_[place.name()]);
  }

 private:
  template <class Visit>
  static void each(const QuotaPlace& place, Visit visit) {
    for (QuotaId at = place.id; at != kRootId && at != kNoQuota; at = place.ledger->parentOf(at))
      visit(place.ledger->terms(at).name);
  }
  std::map<std::string, int64_t> limits_, counts_;
};

}  // namespace

Result<std::unique_ptr<QuotaHook>> makePodCountHook(const json::Value& value) {
  Args args(value, "PodCount");
  args.only({});
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return std::make_unique<PodCount>();
}

}  // namespace mangrove::placement
