#include "manager/webhook/reservation/mutate.h"

#include "api/object/meta.h"
#include "json/json_patch.h"
#include "json/merge_schema.h"
#include "manager/webhook/draft.h"
#include "manager/webhook/pod/apply_profile.h"
#include "manager/webhook/pod/profiles.h"

namespace mangrove::manager {
namespace {

// Namespace selectors do not count: Reservations have no namespace.
std::vector<const Profile*> matching(const ProfileIndex& profiles, const api::Labels& labels) {
  std::vector<const Profile*> out;
  for (const auto& profile : profiles.all())
    if (profile->trouble.empty() && profile->pods.matches(labels)) out.push_back(profile.get());
  return out;
}

json::Object* templateSpec(json::Object& reservation) {
  json::Object* spec = findObject(reservation, "spec");
  json::Object* pod = spec ? findObject(*spec, "template") : nullptr;
  return pod ? &objectIn(*pod, "spec") : nullptr;
}

}  // namespace

Review mutateReservation(const AdmissionRequest& request, const Surroundings& around) {
  if (request.operation != Operation::kCreate || !request.subresource.empty()) return {};
  auto head = api::decode<api::ObjectHead>(request.object);
  if (!head)
    return Review::refuse(kBadRequest, "unreadable", "Reservation: " + head.error().text());
  auto chosen = chooseProfiles(matching(*around.profiles, head->meta.labels), around, request.uid);
  if (!chosen) return Review::refuse(kBrokenHandler, "mutation", chosen.error().text());
  if (chosen->applied.empty()) return {};
  const json::Value before = json::toValue(request.object);
  json::Value after = before;
  for (const Profile* profile : chosen->applied) {
    const ProfileTarget target{after, templateSpec(after.get_object()), json::plainObjectSchema()};
    if (auto done = applyProfile(*profile, target, *around.priorityClasses); !done)
      return Review::refuse(kBrokenHandler, "mutation", done.error().text());
  }
  Review review;
  json::Value patch = json::jsonDiff(before, after);
  if (!patch.get_array().empty()) review.patch = std::move(patch);
  return review;
}

}  // namespace mangrove::manager
