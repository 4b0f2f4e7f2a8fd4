#include "manager/webhook/in_process.h"

#include <utility>

#include "json/json_patch.h"
#include "manager/webhook/routes.h"
#include "manager/webhook/server_core.h"

namespace mangrove::manager {
namespace {

AdmissionRequest requestOf(const InProcessQuestion& q) {
  AdmissionRequest out;
  out.uid = q.uid;
  out.group = q.group;
  out.version = q.version;
  out.resource = q.resource;
  out.subresource = q.subresource;
  out.kind = q.kind;
  out.operation = q.operation;
  out.ns = q.ns;
  out.name = q.name;
  out.user = q.user;
  out.dryRun = q.dryRun;
  return out;
}

// The views of one value, alive as long as this.
class Shown {
 public:
  json::View show(const json::Value& value) {
    if (value.is_null()) return {};
    auto view = doc_.parse(json::write(value));
    return view ? *view : json::View();
  }

 private:
  json::Doc doc_;
};

}  // namespace

InProcessAdmission::InProcessAdmission(
    Picture picture, std::function<void(const InProcessQuestion&, const Notice&)> heard)
    : picture_(std::move(picture)), heard_(std::move(heard)) {}

std::optional<Review> InProcessAdmission::run(const InProcessQuestion& question,
                                              const json::Value& object, json::Value* target,
                                              const json::Value& oldObject,
                                              std::vector<std::string>& warnings) {
  const std::shared_ptr<const Surroundings> around = picture_();
  AdmissionRequest request = requestOf(question);
  Shown now, before;
  bool shown = false;
  for (const Route& route : inProcessHandlers()) {
    if (route.mutating != (target != nullptr) || !route.wants(request) ||
        !isActive(route, around->gates) || isSpared(route, question.ns, *around))
      continue;
    if (!shown) {
      request.object = now.show(object);
      request.oldObject = before.show(oldObject);
      shown = true;
    }
    Review review = callHandler(route, request, *around);
    if (!review.allowed && review.code >= kBrokenHandler)
      review.notices.push_back({"AdmissionHandlerFailed", review.message});
    for (std::string& text : review.warnings) warnings.push_back(std::move(text));
    if (heard_ && !question.dryRun)
      for (const Notice& notice : review.notices) heard_(question, notice);
    if (!review.allowed) return review;
    if (target == nullptr || review.patch.is_null()) continue;
    if (auto done = json::applyJsonPatch(*target, review.patch); !done)
      return Review::refuse(kBrokenHandler, "patch", done.error().text());
    request.object = now.show(*target);
  }
  return std::nullopt;
}

std::optional<Review> InProcessAdmission::mutate(const InProcessQuestion& question,
                                                 json::Value& object, const json::Value& oldObject,
                                                 std::vector<std::string>& warnings) {
  return run(question, object, &object, oldObject, warnings);
}

std::optional<Review> InProcessAdmission::validate(const InProcessQuestion& question,
                                                   const json::Value& object,
                                                   const json::Value& oldObject,
                                                   std::vector<std::string>& warnings) {
  return run(question, object, nullptr, oldObject, warnings);
}

}  // namespace mangrove::manager
