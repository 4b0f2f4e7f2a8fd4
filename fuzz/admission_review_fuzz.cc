// Admission reviews: any bytes are refused with a sentence or judged by every handler that wants
// them; a patch fits the object it was made for, and the answer can be read back.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "json/json_patch.h"
#include "json/value.h"
#include "manager/webhook/review_text.h"
#include "manager/webhook/routes.h"

using namespace mangrove;
using namespace mangrove::manager;

namespace {

Surroundings everythingOn() {
  Surroundings around;
  for (const WebhookGate& gate : kWebhookGates) around.gates.*gate.member = true;
  around.gates.disableExtendedResourceSpec = around.gates.disableDeviceResourceSpec = false;
  around.gates.skipMutatingResources = false;
  api::ColocationProfile profile;
  profile.meta.name = "all";
  profile.spec.qosClass = "BE";
  profile.spec.labelSuffixes["app"] = "-x";
  around.profiles = std::make_shared<const ProfileIndex>(
      ProfileIndex::Profiles{std::make_shared<const Profile>(compileProfile(profile))});
  around.quotas = std::make_shared<const QuotaTree>();
  return around;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 65536) return 0;
  static const Surroundings around = everythingOn();
  ReviewQuestion question;
  auto read = question.read({reinterpret_cast<const char*>(data), size});
  if (!read) {
    CHECK(!read.error().text().empty(), "a refusal without a word");
    return 0;
  }
  const AdmissionRequest& request = question.request();
  for (const Route& route : allRoutes()) {
    if (!route.wants(request)) continue;
    const Review review = route.handler(request, around);
    CHECK(review.allowed || !review.message.empty(), "{} refuses without a word", route.path);
    if (!review.patch.is_null()) {
      json::Value object = json::toValue(request.object);
      auto applied = json::applyJsonPatch(object, review.patch);
      CHECK(applied, "{}: {}", route.path, applied.error().text());
    }
    CHECK(json::parse(writeReview(question.apiVersion(), request.uid, review)), "unreadable");
  }
  return 0;
}
