#include "placement/plugins/elasticquota/series.h"

#include <utility>

namespace mangrove::placement {

namespace {

constexpr Duration kEvery = std::chrono::seconds(10);

std::vector<double> doubling(double first, int count) {
  std::vector<double> out;
  for (int i = 0; i < count; i++, first *= 2) out.push_back(first);
  return out;
}

}  // namespace

QuotaSeries::QuotaSeries(Registry& registry)
    : spec_(registry.gauges("scheduler_elastic_quota_spec", "What quotas are given, by field.",
                            {"name", "resource", "tree", "is_parent", "parent", "field"})),
      status_(registry.gauges("scheduler_elastic_quota_status",
                              "What quotas ask for, use and may use, by field.",
                              {"name", "resource", "tree", "is_parent", "parent", "field"})),
      writing_(registry.histogram("scheduler_update_elastic_quota_status_duration_seconds",
                                  "Time of writing the figures of a quota.", doubling(0.001, 15))) {
}

void QuotaSeries::wrote(Duration took) {
  writing_.observe(std::chrono::duration<double>(took).count());
}

void QuotaSeries::add(Shown& out, const LabelValues& labels, std::string_view field,
                      const Amounts& amounts) {
  for (const auto& [name, amount] : amounts) {
    LabelValues values = labels;
    values[1] = name.str();
    values[5] = field;
    out[std::move(values)] = amount;
  }
}

void QuotaSeries::publish(GaugeFamily& family, Shown& shown, Shown next) {
  for (const auto& [labels, amount] : shown)
    if (!next.contains(labels)) family.remove(labels);
  for (const auto& [labels, amount] : next) {
    const auto before = shown.find(labels);
    if (before == shown.end() || before->second != amount)
      family.with(labels).set(static_cast<double>(amount));
  }
  shown = std::move(next);
}

void QuotaSeries::show(const QuotaDesk& desk, MonoTime now) {
  if (shownAt_ != MonoTime() && now - shownAt_ < kEvery) return;
  shownAt_ = now;
  const bool anew = touched_.each(
      desk.book(),
      [&](const QuotaPlace& place, const std::string& treeId) { showOne(desk, place, treeId); });
  if (anew) dropGone(desk);
}

void QuotaSeries::showOne(const QuotaDesk& desk, const QuotaPlace& place,
                          const std::string& treeId) {
  const QuotaTerms& terms = place.ledger->terms(place.id);
  const QuotaNumbers& n = place.ledger->numbers(place.id);
  const Quota* object = desk.book().quotas().find(terms.name);
  const bool isParent = object != nullptr && object->isParent;
  const std::string& parent = place.ledger->terms(place.ledger->parentOf(place.id)).name;
  const LabelValues labels{terms.name, "", treeId, isParent ? "true" : "false", parent, ""};
  OfQuota next;
  add(next.spec, labels, "min", terms.min);
  add(next.spec, labels, "max", terms.max);
  add(next.spec, labels, "sharedWeight", terms.weight);
  for (const auto& [field, amounts] :
       {std::pair{"runtime", &n.runtime}, std::pair{"request", &n.request},
        std::pair{"child-request", &n.childRequest}, std::pair{"guaranteed", &n.guaranteed},
        std::pair{"allocated", &n.allocated}, std::pair{"used", &n.used},
        std::pair{"non-preemptible-request", &n.fixedRequest},
        std::pair{"non-preemptible-used", &n.fixedUsed}})
    add(next.status, labels, field, *amounts);
  OfQuota& shown = shown_[terms.name];
  publish(spec_, shown.spec, std::move(next.spec));
  publish(status_, shown.status, std::move(next.status));
}

void QuotaSeries::dropGone(const QuotaDesk& desk) {
  for (auto at = shown_.begin(); at != shown_.end();) {
    if (desk.book().find(at->first)) {
      ++at;
      continue;
    }
    publish(spec_, at->second.spec, {});
    publish(status_, at->second.status, {});
    at = shown_.erase(at);
  }
}

}  // namespace mangrove::placement
