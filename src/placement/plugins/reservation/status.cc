#include "placement/plugins/reservation/status.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "api/annotations/annotation.h"
#include "api/annotations/reservation.h"
#include "api/wire/kind.h"
#include "api/wire/names.h"
#include "base/text/strings.h"

namespace mangrove::placement {
namespace {

json::Object annotationsOf(const std::vector<std::pair<std::string, std::string>>& notes) {
  json::Object out;
  for (const auto& [key, value] : notes) out[key] = value;
  return out;
}

ObjectPatch metaPatch(const api::Kind& kind, const api::ObjectMeta& meta,
                      const json::Object& annotations) {
  ObjectPatch out;
  out.kind = &kind;
  out.ns = meta.ns.str();
  out.name = meta.name.str();
  out.body["metadata"] =
      json::Object{{"uid", meta.uid.str()}, {"annotations", json::Value(annotations)}};
  return out;
}

std::string_view textOf(Meeting meeting) {
  switch (meeting) {
    case Meeting::kOtherName:
      return "Reservation(s) didn't match the requested reservation name";
    case Meeting::kClosed:
      return "Reservation(s) is unschedulable";
    case Meeting::kUntoleratedTaint:
      return "Reservation(s) had untolerated taint";
    case Meeting::kOtherLabels:
      return "Reservation(s) didn't match affinity rules";
    case Meeting::kNotExact:
      return "Reservation(s) is not exact matched";
    case Meeting::kNotMatchable:
      return "Reservation(s) is not available or taken";
    default:
      return "Reservation(s) had not enough room on their node";
  }
}

// Whose it would be, available or not.
Meeting meetAnyway(const ReservationClaim& claim, const ReservationEntry& entry,
                   const Cluster& cluster) {
  static const api::Labels kNone;
  const api::Labels& node =
      entry.place == kNoRow ? kNone : cluster.table.node(entry.place).meta.labels;
  if (!entry.offer->owners.match(*claim.pod)) return Meeting::kNotOwner;
  return entry.isOpen() ? meet(claim, *entry.offer, node, entry.present()) : Meeting::kNotMatchable;
}

}  // namespace

std::string allocatedText(const ReservationEntry& entry) {
  return api::annotationText(api::ReservationAllocated{entry.name, entry.uid.str()});
}

std::vector<ObjectPatch> bindingPatches(const ReservationEntry& entry, std::string_view node,
                                        const BindNotes& notes, WallTime now) {
  std::vector<ObjectPatch> out;
  const json::Object mark{
      {std::string(api::annotation::kReservationAllocated), allocatedText(entry)}};
  for (const auto& [uid, owner] : entry.owners)
    out.push_back(metaPatch(api::kind::kPod, owner.pod->pod->meta, mark));
  if (!notes.annotations.empty())
    out.push_back(
        metaPatch(api::kind::kReservation, entry.object->meta, annotationsOf(notes.annotations)));
  out.push_back(statusPatch(*entry.object, entry.isPlanned
                                               ? plannedStatus(*entry.object, node, now)
                                               : availableStatus(*entry.object, node, now)));
  return out;
}

ReservationUse useOf(const ReservationEntry& entry) {
  ReservationUse out;
  Amounts allocated;
  for (const auto& [uid, owner] : entry.owners) {
    if (!owner.confirmed) continue;
    api::ObjectRef ref;
    ref.ns = owner.pod->pod->meta.ns.str();
    ref.name = owner.pod->pod->meta.name.str();
    ref.uid = uid.str();
    out.owners.push_back(std::move(ref));
    allocated.add(owner.request);
  }
  allocated.keepOnly(entry.room.allocatable);
  out.allocated = quantitiesOf(allocated);
  out.spent = entry.spent;
  return out;
}

std::string whyNoReservation(const ReservationClaim& claim, const Cluster& cluster) {
  std::map<std::string_view, size_t> reasons;
  size_t all = 0, owned = 0;
  cluster.reservations.each([&](const ReservationPtr& entry) {
    if (!entry->offer) return;
    all++;
    const Meeting meeting = meetAnyway(claim, *entry, cluster);
    if (meeting == Meeting::kNotOwner) return;
    owned++;
    reasons[textOf(meeting)]++;
  });
  std::vector<std::string> parts;
  for (const auto& [text, count] : reasons) parts.push_back(fmt::format("{} {}", count, text));
  parts.push_back(fmt::format("{} Reservation(s) matched owner total", owned));
  return fmt::format("0/{} reservations are available: {}.", all, join(parts, ", "));
}

}  // namespace mangrove::placement
