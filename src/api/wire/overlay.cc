#include "api/wire/overlay.h"

#include <algorithm>
#include <array>

namespace mangrove::api {
namespace {

// Maps whose values are objects: an entry is replaced as a whole. Maps of scalars need no mention.
constexpr std::array<std::string_view, 2> kMapsOfObjects = {"ratioModel", "extensions"};

bool isMapOfObjects(std::string_view key) {
  return std::find(kMapsOfObjects.begin(), kMapsOfObjects.end(), key) != kMapsOfObjects.end();
}

void lay(json::Object& base, const json::Object& upper, bool wholeValues) {
  for (const auto& [key, value] : upper) {
    json::Value* below = base.if_contains(key);
    const bool both = below != nullptr && below->is_object() && value.is_object();
    if (both && !wholeValues)
      lay(below->get_object(), value.get_object(), isMapOfObjects(key));
    else
      base[key] = value;
  }
}

}  // namespace

json::Value overlay(json::Value base, const json::Value& upper) {
  if (!base.is_object() || !upper.is_object()) return upper;
  lay(base.get_object(), upper.get_object(), false);
  return base;
}

}  // namespace mangrove::api
