#include "apiserver/admission/webhook_review.h"

#include <fmt/core.h>

#include "apiserver/core/object.h"
#include "base/text/encoding.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kApiVersion = "admission.k8s.io/v1";

json::Object userOf(const Identity& who) {
  json::Object out{{"username", who.user}};
  if (!who.uid.empty()) out["uid"] = who.uid;
  json::Array groups;
  for (const auto& group : who.groups) groups.emplace_back(group);
  if (!groups.empty()) out["groups"] = std::move(groups);
  json::Object extra;
  for (const auto& [key, values] : who.extra) {
    json::Array list;
    for (const auto& value : values) list.emplace_back(value);
    extra[key] = std::move(list);
  }
  if (!extra.empty()) out["extra"] = std::move(extra);
  return out;
}

// What is sent need not be what the path is of: a Binding below a pod.
json::Object kindOf(const AdmissionRequest& request) {
  const KindInfo& info = *request.resource->kind;
  const json::Value& sent = request.object.is_object() ? request.object : request.oldObject;
  const std::string_view kind = sent.is_object() ? textAt(sent.get_object(), "kind") : "";
  if (kind.empty() || kind == info.kind)
    return {{"group", info.group}, {"version", info.version}, {"kind", info.kind}};
  const std::string_view version = textAt(sent.get_object(), "apiVersion");
  const size_t slash = version.find('/');
  const bool grouped = slash != std::string_view::npos;
  return {{"group", grouped ? version.substr(0, slash) : std::string_view()},
          {"version", grouped ? version.substr(slash + 1) : version},
          {"kind", kind}};
}

void addWhat(const AdmissionRequest& request, json::Object& out) {
  const KindInfo& info = *request.resource->kind;
  const json::Object kind = kindOf(request);
  const json::Object resource{
      {"group", info.group}, {"version", info.version}, {"resource", info.plural}};
  out["kind"] = kind;
  out["resource"] = resource;
  if (!request.subresource.empty()) out["subResource"] = request.subresource;
  out["requestKind"] = kind;
  out["requestResource"] = resource;
  if (!request.subresource.empty()) out["requestSubResource"] = request.subresource;
}

json::Value optionsOf(const AdmissionRequest& request) {
  if (!request.options.is_null()) return request.options;
  const char* kind = request.operation == Operation::kCreate   ? "CreateOptions"
                     : request.operation == Operation::kUpdate ? "UpdateOptions"
                     : request.operation == Operation::kDelete ? "DeleteOptions"
                                                               : nullptr;
  if (!kind) return nullptr;
  return json::Object{{"kind", kind}, {"apiVersion", "meta.k8s.io/v1"}};
}

Result<json::Value> patchOf(const json::Object& response) {
  const std::string_view text = textAt(response, "patch");
  if (text.empty()) return json::Value(nullptr);
  if (const auto type = textAt(response, "patchType"); type != "JSONPatch")
    return invalid("patchType '{}': want JSONPatch", type);
  auto bytes = base64Decode(text);
  if (!bytes) return bytes.error().in("patch");
  auto patch = json::parse(*bytes);
  if (!patch) return patch.error().in("patch");
  return std::move(*patch);
}

std::vector<std::string> warningsOf(const json::Object& response) {
  std::vector<std::string> out;
  const json::Array* list = findArray(response, "warnings");
  for (const json::Value& one : list ? *list : json::Array())
    if (one.is_string()) out.emplace_back(std::string_view(one.get_string()));
  return out;
}

}  // namespace

std::string reviewRequest(const AdmissionRequest& request, std::string_view uid) {
  json::Object out{{"uid", uid}};
  addWhat(request, out);
  if (!request.name.empty()) out["name"] = request.name;
  if (!request.ns.empty()) out["namespace"] = request.ns;
  out["operation"] = operationName(request.operation);
  out["userInfo"] = userOf(request.who);
  out["object"] = request.object;
  out["oldObject"] = request.oldObject;
  out["dryRun"] = request.dryRun;
  out["options"] = optionsOf(request);
  return json::write(json::Object{
      {"kind", "AdmissionReview"}, {"apiVersion", kApiVersion}, {"request", std::move(out)}});
}

Result<Verdict> readReview(std::string_view body, std::string_view uid) {
  auto review = json::parse(body);
  if (!review) return pass(review.error());
  if (!review->is_object()) return invalid("the answer is no JSON object");
  const json::Object& root = review->get_object();
  if (textAt(root, "kind") != "AdmissionReview" || textAt(root, "apiVersion") != kApiVersion)
    return invalid("the answer is {}, Kind={}, want {}, Kind=AdmissionReview",
                   textAt(root, "apiVersion"), textAt(root, "kind"), kApiVersion);
  const json::Object* response = findObject(root, "response");
  if (!response) return invalid("the answer has no response");
  if (textAt(*response, "uid") != uid)
    return invalid("response.uid is '{}', want '{}'", textAt(*response, "uid"), uid);
  Verdict out;
  const json::Value* allowed = response->if_contains("allowed");
  out.allowed = allowed && allowed->is_bool() && allowed->get_bool();
  if (const json::Object* status = findObject(*response, "status")) out.status = *status;
  out.warnings = warningsOf(*response);
  auto patch = patchOf(*response);
  if (!patch) return pass(patch.error());
  out.patch = std::move(*patch);
  return out;
}

Answer deniedBy(const std::string& webhook, const json::Object& status) {
  const json::Value* number = status.if_contains("code");
  const int64_t given = number && number->is_int64() ? number->get_int64() : 0;
  const int code = given >= 400 && given < 600 ? static_cast<int>(given) : 400;
  const std::string_view message = textAt(status, "message"), reason = textAt(status, "reason");
  const std::string_view why = message.empty() ? reason : message;
  const json::Object* details = findObject(status, "details");
  return answer::status(code, reason,
                        fmt::format("admission webhook \"{}\" denied the request{}{}", webhook,
                                    why.empty() ? " without explanation" : ": ", why),
                        details ? json::Value(*details) : json::Value(nullptr));
}

}  // namespace mangrove::apiserver
