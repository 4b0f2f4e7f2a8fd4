#pragma once
// How one strategy is laid over another: what the upper one does not say stays; objects merge
// member by member, maps key by key with whole values, lists and scalars are replaced. Empty lists,
// maps and texts say nothing.
//
//   ResourceQosStrategy node = merged(cluster, entry);
//
// Pure; any thread.

#include "api/wire/decode.h"
#include "api/wire/write.h"
#include "base/check.h"
#include "json/value.h"

namespace mangrove::api {

// Both are what toJson wrote: unset members are not there.
json::Value overlay(json::Value base, const json::Value& upper);

template <class Strategy>
Strategy merged(const Strategy& base, const Strategy& upper) {
  auto out = decodeText<Strategy>(json::write(overlay(toJson(base), toJson(upper))));
  CHECK(out.has_value());  // both sides were written by us
  return *out;
}

}  // namespace mangrove::api
