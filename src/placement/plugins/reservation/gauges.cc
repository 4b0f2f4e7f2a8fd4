#include "placement/plugins/reservation/gauges.h"

#include <utility>

namespace mangrove::placement {
namespace {

constexpr std::chrono::seconds kEvery{5};

// Cores, bytes, or a plain number.
struct Unit {
  std::string_view name;
  double scale;
};
Unit unitOf(std::string_view resource) {
  if (resource == "cpu") return {"core", 1000};
  const bool isMemory = resource == "memory" || resource == "ephemeral-storage";
  return {isMemory ? "byte" : "integer", 1};
}

void dropOld(GaugeFamily& family, std::set<LabelValues>& shown, std::set<LabelValues> seen) {
  for (const LabelValues& labels : shown)
    if (!seen.contains(labels)) family.remove(labels);
  shown = std::move(seen);
}

}  // namespace

ReservationGauges::ReservationGauges(Registry* metrics) {
  if (!metrics) return;
  phases_ = &metrics->gauges("scheduler_reservation_status_phase",
                             "Whether a reservation is in this phase.", {"name", "phase"});
  amounts_ = &metrics->gauges("scheduler_reservation_resource",
                              "What a reservation has (allocatable), what its owners took "
                              "(allocated), and their ratio (utilization).",
                              {"type", "name", "resource", "unit"});
}

void ReservationGauges::setPhase(const ReservationEntry& entry, std::set<LabelValues>& seen) {
  const std::string& phase = entry.object->status.phase;
  LabelValues labels{entry.name, phase.empty() ? "Pending" : phase};
  phases_->with(labels).set(1);
  seen.insert(std::move(labels));
}

void ReservationGauges::setAmounts(const ReservationEntry& entry, std::set<LabelValues>& seen) {
  for (const auto& [name, amount] : entry.room.allocatable) {
    const Unit unit = unitOf(name.view());
    const auto taken = static_cast<double>(entry.room.allocated.amount(name));
    const auto all = static_cast<double>(amount);
    const std::pair<const char*, double> values[] = {{"allocatable", all / unit.scale},
                                                     {"allocated", taken / unit.scale},
                                                     {"utilization", all > 0 ? taken / all : 0}};
    for (const auto& [type, value] : values) {
      const bool isRatio = std::string_view(type) == "utilization";
      LabelValues labels{type, entry.name, name.str(), std::string(isRatio ? "ratio" : unit.name)};
      amounts_->with(labels).set(value);
      seen.insert(std::move(labels));
    }
  }
}

void ReservationGauges::show(const ReservationBook& book, WallTime now) {
  if (!phases_ || now < next_ || mark_ == book.now()) return;
  next_ = now + kEvery;
  mark_ = book.now();
  std::set<LabelValues> phases, amounts;
  book.each([&](const ReservationPtr& entry) {
    if (!entry->object) return;
    setPhase(*entry, phases);
    if (entry->place != kNoRow) setAmounts(*entry, amounts);
  });
  dropOld(*phases_, shownPhases_, std::move(phases));
  dropOld(*amounts_, shownAmounts_, std::move(amounts));
}

}  // namespace mangrove::placement
