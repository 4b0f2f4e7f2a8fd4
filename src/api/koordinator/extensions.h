#pragma once
// The `extensions` member of NodeSLO and pod metrics: free JSON by name. The reference writes it
// nested
// (`"extensions":{"Object":{…}}`) although the idea was flat; both forms are read, the nested one
// is written.

#include <map>
#include <string>

#include "api/wire/decode.h"
#include "json/fwd.h"

namespace mangrove::api {

struct Extensions {
  std::map<std::string, RawJson> values;
  bool operator==(const Extensions&) const = default;
};
bool read(const In& in, Extensions& out);
json::Value toJson(const Extensions& value);

}  // namespace mangrove::api
