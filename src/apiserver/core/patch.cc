#include "apiserver/core/patch.h"

#include <fmt/core.h>

#include "apiserver/kinds/merge_rules.h"
#include "base/text/strings.h"
#include "json/json_patch.h"
#include "json/merge_patch.h"
#include "json/strategic_patch.h"
#include "json/yaml.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kJsonPatch = "application/json-patch+json";
constexpr std::string_view kMergePatch = "application/merge-patch+json";
constexpr std::string_view kStrategicPatch = "application/strategic-merge-patch+json";
constexpr std::string_view kApplyYaml = "application/apply-patch+yaml";

Outcome<PatchType> typeOf(std::string_view contentType, const KindInfo& kind) {
  if (contentType == kJsonPatch) return PatchType::kJson;
  if (contentType == kMergePatch) return PatchType::kMerge;
  if (contentType == kApplyYaml) return PatchType::kApply;
  if (contentType == kStrategicPatch && !kind.isCustom) return PatchType::kStrategic;
  return refuse(answer::unsupportedMediaType(
      contentType, fmt::format("{}, {}, {}{}{}", kJsonPatch, kMergePatch, kApplyYaml,
                               kind.isCustom ? "" : ", ", kind.isCustom ? "" : kStrategicPatch)));
}

Outcome<> checkApply(const RequestInfo& info) {
  if (!info.parameter("fieldManager").empty()) return {};
  FieldErrors errors;
  errors.required(FieldPath("fieldManager"), "is required for apply patch");
  return refuse(answer::invalid("meta.k8s.io", "PatchOptions", "", errors));
}

// "line 9, column 3: the key 'foo' is there twice (line 8)" with Kubernetes' words before it, which
// clients look for.
std::string applyYamlTrouble(const std::string& text) {
  constexpr std::string_view kKey = ": the key '";
  const size_t key = text.find(kKey), end = text.find("' is there twice");
  const bool isTwice = text.starts_with("line ") && key != text.npos && end != text.npos;
  if (!isTwice || end < key + kKey.size()) return "error decoding YAML: " + text;
  return fmt::format("error decoding YAML: {}: key \"{}\" already set in map; {}",
                     cut(text, ',').before, text.substr(key + kKey.size(), end - key - kKey.size()),
                     text);
}

Answer patchFailure(const Error& error) {
  // A failed test or a missing path is the document's state, not the client's spelling.
  const bool state = error.code() == Code::kConflict || error.code() == Code::kNotFound;
  if (error.code() == Code::kTooLarge) return answer::tooLarge(error.text());
  return state ? answer::status(422, "Invalid",
                                "the server rejected our request due to an error in our request: " +
                                    error.text())
               : answer::badRequest(error.text());
}

}  // namespace

Outcome<Patch> readPatch(const Call& call, const Resource& resource) {
  auto type = typeOf(call.contentType, *resource.kind);
  if (!type) return tl::unexpected(type.error());
  if (call.body.empty()) return refuse(answer::badRequest("the request has no body"));
  Patch patch{.type = *type, .body = nullptr, .force = call.info.flag("force")};
  if (patch.type == PatchType::kApply) {
    if (auto ok = checkApply(call.info); !ok) return tl::unexpected(ok.error());
  } else if (call.info.has("force")) {
    FieldErrors errors;
    errors.forbidden(FieldPath("force"), "may not be specified for non-apply patch");
    return refuse(answer::invalid("meta.k8s.io", "PatchOptions", "", errors));
  }
  auto body =
      patch.type == PatchType::kApply ? json::parseYamlDocument(call.body) : json::parse(call.body);
  if (!body && patch.type == PatchType::kApply)
    return refuse(answer::badRequest(applyYamlTrouble(body.error().text())));
  if (!body) return refuse(answer::badRequest(body.error().in("patch").value().text()));
  patch.body = std::move(*body);
  return patch;
}

Outcome<json::Value> patched(const Patch& patch, const Resource& resource,
                             const json::Object& current, json::Storage storage) {
  json::Value object(current, std::move(storage));
  Result<> done;
  if (patch.type == PatchType::kJson) {
    done = json::applyJsonPatch(object, patch.body);
  } else if (!patch.body.is_object()) {
    return refuse(answer::badRequest("the patch is not a JSON object"));
  } else if (patch.type == PatchType::kMerge) {
    json::applyMergePatch(object, patch.body);
  } else {
    done = json::applyStrategicPatch(object, patch.body, *mergeRulesOf(*resource.kind));
  }
  if (!done) return refuse(patchFailure(done.error()));
  if (!object.is_object()) return refuse(answer::badRequest("the patch leaves no JSON object"));
  return object;
}

}  // namespace mangrove::apiserver
