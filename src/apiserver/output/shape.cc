#include <optional>

#include <fmt/core.h>

#include "apiserver/output/accept.h"
#include "apiserver/output/encode.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kOffers =
    "application/json, application/json;as=Table;v=v1;g=meta.k8s.io, "
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io, "
    "application/vnd.kubernetes.protobuf (built-in kinds and metadata)";

std::optional<Form> formOf(std::string_view as) {
  if (as == "Table") return Form::kTable;
  if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList") return Form::kMetadata;
  return std::nullopt;
}

// What we would answer to this alternative; nullopt when we cannot.
std::optional<Shape> shapeFor(const MediaRange& range, const KindInfo& kind) {
  const bool protobuf = range.takesProtobuf();
  if (!range.takesJson() && !protobuf) return std::nullopt;
  Shape shape;
  shape.protobuf = protobuf;
  const std::string_view as = range.parameter("as");
  if (as.empty()) return protobuf && kind.isCustom ? std::nullopt : std::optional(shape);
  const std::string_view version = range.parameter("v");
  const auto form = formOf(as);
  const bool known =
      range.parameter("g") == "meta.k8s.io" && (version == "v1" || version == "v1beta1");
  if (!form || !known || (protobuf && form == Form::kTable)) return std::nullopt;
  shape.form = *form;
  shape.metaVersion = version;
  return shape;
}

Outcome<> readInclude(const RequestInfo& info, Shape& shape) {
  const std::string_view include = info.parameter("includeObject");
  shape.includeObject = include.empty() ? "Metadata" : std::string(include);
  if (include.empty() || include == "None" || include == "Metadata" || include == "Object")
    return {};
  return refuse(answer::badRequest(
      fmt::format("includeObject '{}': want None, Metadata or Object", include)));
}

}  // namespace

Outcome<Shape> shapeOf(std::string_view accept, const RequestInfo& info, const KindInfo& kind) {
  for (const MediaRange& range : parseAccept(accept)) {
    auto shape = shapeFor(range, kind);
    if (!shape) continue;
    if (shape->form != Form::kTable) return *shape;
    if (auto ok = readInclude(info, *shape); !ok) return refuse(ok.error());
    return *shape;
  }
  return refuse(notAcceptable(kOffers));
}

}  // namespace mangrove::apiserver
