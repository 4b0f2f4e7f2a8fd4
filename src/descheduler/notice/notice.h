#pragma once
// What the last cycle left where it was, for the dashboard and for people: a ConfigMap beside the
// Lease (koordinator-system/mangrove-descheduler), written when it changes and no more often than
// every half minute.
//
//   data:
//     stays: '[{"pod":"shop/web-1","why":"0/40 nodes are available: …"}]'      the first 200
//     count: "312"
//
// Pure functions, any thread.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace mangrove::descheduler {

inline constexpr std::string_view kNotice = "mangrove-descheduler";  // name of the ConfigMap
inline constexpr size_t kMostInNotice = 200;

struct Stays {
  std::string pod;  // "namespace/name"
  std::string why;
};
struct Notice {
  std::vector<Stays> stays;
  size_t count = 0;  // of all, also those that are not listed
};

// The object's data, by who was refused and why. Sentences that go on too long are cut.
json::Object noticeData(const std::map<std::string, std::string>& refused);
// What cannot be read is nothing that was said.
Notice noticeOf(const std::map<std::string, std::string>& data);

}  // namespace mangrove::descheduler
