#include "manager/webhook/review_text.h"

#include "base/text/encoding.h"
#include "json/print.h"
#include "json/value.h"

namespace mangrove::manager {
namespace {

constexpr std::string_view kVersions[] = {"admission.k8s.io/v1", "admission.k8s.io/v1beta1"};

std::string textOf(json::View view) {
  return std::string(view.string().value_or(""));
}

Result<Operation> operationOf(std::string_view word) {
  for (Operation operation :
       {Operation::kCreate, Operation::kUpdate, Operation::kDelete, Operation::kConnect})
    if (operationName(operation) == word) return operation;
  return invalid("request.operation is '{}'; want CREATE, UPDATE, DELETE or CONNECT", word);
}

Result<> checkHead(json::View root) {
  if (!root.isObject())
    return invalid("the body is a JSON {}; want an AdmissionReview", json::typeName(root.type()));
  const std::string version = textOf(root["apiVersion"]);
  if (version != kVersions[0] && version != kVersions[1])
    return invalid("apiVersion is '{}'; want {} or {}", version, kVersions[0], kVersions[1]);
  if (root["kind"].string() != "AdmissionReview")
    return invalid("kind is '{}'; want AdmissionReview", textOf(root["kind"]));
  if (!root["request"].isObject()) return invalid("there is no object 'request' in the review");
  if (textOf(root["request"]["uid"]).empty()) return invalid("request.uid is missing");
  return {};
}

// What the operation speaks of must be there; otherwise we would judge an empty object.
Result<> checkObjects(const AdmissionRequest& request) {
  const bool needsObject =
      request.operation == Operation::kCreate || request.operation == Operation::kUpdate;
  if (needsObject && !request.object.isObject())
    return invalid("request.object of {} is {}; want an object", operationName(request.operation),
                   json::typeName(request.object.type()));
  const bool needsOld =
      request.operation == Operation::kUpdate || request.operation == Operation::kDelete;
  if (needsOld && !request.oldObject.isObject())
    return invalid("request.oldObject of {} is {}; want an object",
                   operationName(request.operation), json::typeName(request.oldObject.type()));
  return {};
}

void appendMember(std::string& out, std::string_view key, std::string_view text) {
  json::appendString(key, out);
  out += ':';
  json::appendString(text, out);
}

void appendStatus(std::string& out, const Review& review) {
  out += R"(,"status":{"code":)";
  json::appendInteger(review.allowed ? 200 : review.code, out);
  if (!review.message.empty()) {
    out += ',';
    appendMember(out, "message", review.message);
  }
  if (!review.reason.empty()) {
    out += ',';
    appendMember(out, "reason", review.reason);
  }
  out += '}';
}

void appendWarnings(std::string& out, const std::vector<std::string>& warnings) {
  out += R"(,"warnings":[)";
  for (size_t i = 0; i < warnings.size(); ++i) {
    if (i > 0) out += ',';
    json::appendString(warnings[i], out);
  }
  out += ']';
}

}  // namespace

Result<> ReviewQuestion::read(std::string_view body) {
  auto root = doc_.parse(body);
  if (!root) return root.error().in("AdmissionReview");
  if (auto head = checkHead(*root); !head) return head.error().in("AdmissionReview");
  apiVersion_ = textOf((*root)["apiVersion"]);
  const json::View in = (*root)["request"];
  auto operation = operationOf(textOf(in["operation"]));
  if (!operation) return operation.error().in("AdmissionReview");
  const json::View resource = in["resource"];
  request_ = {textOf(in["uid"]),
              textOf(resource["group"]),
              textOf(resource["version"]),
              textOf(resource["resource"]),
              textOf(in["subResource"]),
              textOf(in["kind"]["kind"]),
              *operation,
              textOf(in["namespace"]),
              textOf(in["name"]),
              textOf(in["userInfo"]["username"]),
              in["object"],
              in["oldObject"],
              in["dryRun"].boolean().value_or(false)};
  if (auto objects = checkObjects(request_); !objects) return objects.error().in("AdmissionReview");
  return {};
}

std::string writeReview(std::string_view apiVersion, std::string_view uid, const Review& review) {
  std::string out = "{";
  appendMember(out, "apiVersion", apiVersion);
  out += R"(,"kind":"AdmissionReview","response":{)";
  appendMember(out, "uid", uid);
  out += review.allowed ? R"(,"allowed":true)" : R"(,"allowed":false)";
  if (!review.allowed) appendStatus(out, review);
  if (review.allowed && !review.patch.is_null()) {
    out += R"(,"patchType":"JSONPatch",)";
    appendMember(out, "patch", base64Encode(json::write(review.patch)));
  }
  if (!review.warnings.empty()) appendWarnings(out, review.warnings);
  return out + "}}";
}

}  // namespace mangrove::manager
