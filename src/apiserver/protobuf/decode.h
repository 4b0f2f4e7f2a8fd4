#pragma once
// Protobuf message → JSON object, as Kubernetes' own types would write it: times and quantities as
// text, bytes in base64, free-form parts as the JSON they carry, zeros that mean "not set" left
// out. Unknown numbers are skipped, as Kubernetes does; protobuf cannot be validated strictly.
//
//   auto object = decodeMessage(*messageOf(schema), bytes);
//   if (!object) return badRequest(object.error().text());   // "spec: containers: image: …"
//
// For any bytes whatsoever. Pure; any thread.

#include <string_view>

#include "apiserver/protobuf/message.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::apiserver::protobuf {

// Messages inside each other; objects of the API stay below 30.
inline constexpr int kDeepest = 100;

Result<json::Object> decodeMessage(const Message& message, std::string_view bytes);

}  // namespace mangrove::apiserver::protobuf
