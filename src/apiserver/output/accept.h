#pragma once
// Accept headers: which of the forms we can make a client wants.
//
//   for (const MediaRange& range : parseAccept(call.accept))
//     if (range.takesJson() && range.parameter("as") == "Table") …
//
// Pure; any thread.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/answer.h"

namespace mangrove::apiserver {

struct MediaRange {
  std::string type;  // "application/json", "application/*", "*/*"; lower case
  std::vector<std::pair<std::string, std::string>> parameters;  // without q; keys in lower case
  double quality = 1;

  std::string_view parameter(std::string_view key) const;  // "" when it is not there
  // application/json itself or a range that includes it.
  bool takesJson() const;
  // Kubernetes' protobuf by its name; whoever takes anything gets JSON.
  bool takesProtobuf() const;
};

// The wanted ranges, the most wanted first, equal ones in the client's order. What is refused by
// q=0 or has no type is left out. An empty header wants anything.
std::vector<MediaRange> parseAccept(std::string_view accept);

// 406; `offers` are the media types that could be had.
Answer notAcceptable(std::string_view offers);

// For documents that exist as JSON only: 406 unless the client takes that.
Outcome<> requireJson(std::string_view accept);
// For answers that exist as the object itself only, such as reviews: 406 for clients that want a
// table or nothing.
Outcome<> requireObject(std::string_view accept);

}  // namespace mangrove::apiserver
