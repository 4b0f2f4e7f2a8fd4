#pragma once
// Whole objects in Kubernetes' protobuf: four magic bytes, then a message that names apiVersion and
// kind and carries the object. And the frames in which watch events travel.
//
//   auto object = fromProtobuf(call.body, {.apiVersion = "v1", .kind = "Pod"});
//   std::optional<std::string> bytes = toProtobuf(root);      // nullopt: protobuf cannot say this
//
// Pure; any thread.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/value.h"
#include "json/view.h"

namespace mangrove::apiserver::protobuf {

inline constexpr std::string_view kMediaType = "application/vnd.kubernetes.protobuf";

struct TypeName {
  std::string_view apiVersion, kind;
};

// The object with apiVersion and kind in front; zeros that mean "not set" are gone, the rest is as
// it was sent. `assumed` stands in for names the envelope leaves empty. Errors: no envelope, a type
// that protobuf does not know here, bytes that are no message of that type.
Result<json::Value> fromProtobuf(std::string_view bytes, TypeName assumed = {});

// An object or a list of a built-in kind, a Status, metadata alone. Custom kinds and Tables exist
// in JSON only.
std::optional<std::string> toProtobuf(json::View object);

// One event ({"type":…,"object":{…}}) as a frame: its length in four bytes, then a bare WatchEvent.
std::optional<std::string> watchFrame(json::View event);

}  // namespace mangrove::apiserver::protobuf
