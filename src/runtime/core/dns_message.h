#pragma once
// The wire format of names (RFC 1035, 2782, 6891): one question in, an answer out.
//
//   auto asked = readQuestion(datagram);
//   writeAnswer(*asked, {.records = {{"web.default.svc.cluster.local", kTypeA, 5, "10.96.0.7"}}});
//
// Whatever bytes come in, reading ends with a question or an error. Pure functions, any thread.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove::runtime::dns {

inline constexpr uint16_t kTypeA = 1, kTypeCname = 5, kTypePtr = 12, kTypeAaaa = 28, kTypeSrv = 33,
                          kTypeAny = 255;

enum class Code : uint8_t {
  kNoError = 0,
  kFormat = 1,
  kServerFailure = 2,
  kNoName = 3,
  kRefused = 5
};

struct Question {
  uint16_t id = 0;
  bool recursionDesired = false;
  std::string name;  // in small letters, without the last dot
  uint16_t type = kTypeA;
  size_t room = 512;  // how long an answer the asker takes
};
Result<Question> readQuestion(std::string_view datagram);
std::string writeQuestion(const Question& question);

// `data` as people write it: an address; a name; "priority weight port target" for SRV.
struct Record {
  std::string name;
  uint16_t type = kTypeA;
  uint32_t seconds = 5;  // how long it may be kept
  std::string data;
  bool operator==(const Record&) const = default;
};

struct Reply {
  Code code = Code::kNoError;
  bool authoritative = true;
  std::vector<Record> records;
  bool operator==(const Reply&) const = default;
};
// Records that do not fit are left out, and the answer says that it was cut.
std::string writeAnswer(const Question& question, const Reply& reply);
// Addresses and aliases of an answer that somebody else gave.
Result<Reply> readAnswer(std::string_view datagram);

}  // namespace mangrove::runtime::dns
