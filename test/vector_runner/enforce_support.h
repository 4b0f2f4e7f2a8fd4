#pragma once
// What the handlers of the enforcing half share.

#include "api/wire/decode.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {

// Decodes a member; a case that does not decode is a mismatch.
template <class T>
std::optional<T> decoded(const json::Value& value, Report& r, std::string_view field) {
  auto out = api::decodeText<T>(json::write(value.is_null() ? json::Value(json::Object()) : value));
  if (out) return *std::move(out);
  r.mismatch(field, "decodes", out.error().text());
  return std::nullopt;
}

}  // namespace mangrove::vectors
