#pragma once
// Finds the objects inside a list and the object inside a watch event without reading them: the
// places of their first and last byte. Each object is then parsed alone, which keeps the parser's
// working set in the cache, gives the raw bytes for free, and lets one broken object not spoil a
// page.
//
// The scanner follows strings and brackets only; whether the parts are valid JSON is for the parser
// that reads them. It never reads outside of the text, whatever that is. Pure functions; results
// point into the argument.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove::client {

struct ListSlices {
  std::string resourceVersion;
  std::string continueToken;
  std::vector<std::string_view> items;
};
// {"kind":…,"metadata":{"resourceVersion":…,"continue":…},"items":[…]}
Result<ListSlices> sliceList(std::string_view body);

enum class EventType { kAdded, kModified, kDeleted, kBookmark, kError };
struct EventSlice {
  EventType type = EventType::kError;
  std::string_view object;
};
// {"type":"ADDED","object":{…}}
Result<EventSlice> sliceEvent(std::string_view line);

}  // namespace mangrove::client
