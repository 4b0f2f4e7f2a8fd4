#pragma once
// Which GPUs are well, from the errors (XIDs) their driver told of and from whether they answer. An
// error makes a card unhealthy; it is asked again after a time that depends on the kind of error,
// so that one hiccup does not cost a card until the next restart.
//
//   GpuHealth health;
//   health.error("GPU-1", 74, now);
//   health.verdict("GPU-1", /*answers=*/true, now).healthy
//
// Owner thread; pure but for what it remembers.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/number/units.h"

namespace mangrove::agent {

struct GpuVerdict {
  bool healthy = true;
  std::string reason = {};  // "": nothing is known against it
  std::string message = {};
};

// Errors of programs, not of cards: out of range access, a crash of the program, a decoder's.
bool isProgramsError(uint64_t xid);
// How long a card that had this error counts as unhealthy. Errors that need a reset or a repair
// count for longer.
Duration timeoutOf(uint64_t xid);

class GpuHealth {
 public:
  // `uuid` "": the driver could not say which card, so all of them.
  void error(const std::string& uuid, uint64_t xid, MonoTime now);
  // Its errors cannot be listened to.
  void unheard(const std::string& uuid) { unheard_.insert(uuid); }
  GpuVerdict verdict(const std::string& uuid, bool answers, MonoTime now) const;

 private:
  struct Error {
    uint64_t xid = 0;
    MonoTime until{};
  };
  std::map<std::string, Error> errors_;
  std::set<std::string> unheard_;
};

}  // namespace mangrove::agent
