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
  Shown spec, status;
  for (const auto& [treeId, tree] : desk.book().trees())
    for (QuotaId id : tree->all()) {
      const QuotaTerms& terms = tree->terms(id);
      const QuotaNumbers& n = tree->numbers(id);
      const Quota* object = desk.book().quotas().find(terms.name);
      const bool isParent = object != nullptr && object->isParent;
      const LabelValues labels{
          terms.name, "", treeId, isParent ? "true" : "false", tree->terms(tree->parentOf(id)).name,
          ""};
      add(spec, labels, "min", terms.min);
      add(spec, labels, "max", terms.max);
      add(spec, labels, "sharedWeight", terms.weight);
      for (const auto& [field, amounts] :
           {std::pair{"runtime", &n.runtime}, std::pair{"request", &n.request},
            std::pair{"child-request", &n.childRequest}, std::pair{"guaranteed", &n.guaranteed},
            std::pair{"allocated", &n.allocated}, std::pair{"used", &n.used},
            std::pair{"non-preemptible-request", &n.fixedRequest},
            std::pair{"non-preemptible-used", &n.fixedUsed}})
        add(status, labels, field, *amounts);
    }
  publish(spec_, shownSpec_, std::move(spec));
  publish(status_, shownStatus_, std::move(status));
}

}  // namespace mangrove::placement
