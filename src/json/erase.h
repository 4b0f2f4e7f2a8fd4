#pragma once
// Members that a patch sets to null leave the object; the others keep their order. All at once,
// because taking members out one by one costs the object's size each time. Pure.
//
//   eraseNulled(data, patch);          // {"a":1,"b":2}, {"a":null} → {"b":2}

#include "json/value.h"

namespace mangrove::json {

void eraseNulled(Object& target, const Object& patch);

}  // namespace mangrove::json
