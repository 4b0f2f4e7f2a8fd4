#pragma once
// Who owns which field: metadata.managedFields and server-side apply. Pure functions on values.
//
// Field sets follow the paths of the schema: lists of type map are walked by their keys, sets by
// their values, everything atomic is one leaf.

#include <string>
#include <string_view>

#include "apiserver/answer.h"
#include "apiserver/schema/schema.h"
#include "base/number/units.h"
#include "json/value.h"

namespace mangrove::apiserver {

struct Manager {
  std::string name;         // fieldManager parameter, else the first word of the user agent
  std::string apiVersion;   // of the request
  std::string subresource;  // "" or "status", …
  WallTime now;
  bool leavesStatus = false;  // status is written through its own path; here it belongs to nobody
};

// After a create, update or non-apply patch: `object` gets the managedFields that follow from `old`
// (null for a create), from what `manager` changed, and from what the client sent (an empty list
// resets them). Bad entries are dropped, never fatal.
void trackUpdate(const Schema& schema, const json::Object* old, json::Object& object,
                 const Manager& manager);

// Server-side apply: what `live` (null: it does not exist) becomes when `manager` applies `patch`.
// Fields it applied before and no longer names go away unless others own them; fields that others
// own and have another value are a 409 with one cause each, unless `force`.
Outcome<json::Value> applyConfiguration(const Schema& schema, const json::Object* live,
                                        const json::Object& patch, const Manager& manager,
                                        bool force);

}  // namespace mangrove::apiserver
