#pragma once
// Lives through a recording again: the same role, made anew, gets what came in, turn by turn, and
// what it asks for is compared with what was asked for then, byte by byte.
//
//   auto result = replay("/var/lib/mangrove/day", [&](const Session& session, ReplayHouse& house) {
//     return makeTheRole(session, house);
//   });
//   if (result->difference) fmt::print("{}\n", result->difference->text());
//
// The first difference ends the session it is in: what follows stands on another ground. Nothing is
// sent anywhere and no time passes. Blocks; everything happens in the calling thread.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mailbox.h"
#include "frame/record/session.h"
#include "frame/record/turns.h"

namespace mangrove::frame::record {

// What the role to be replayed gets. Outlives it.
struct ReplayHouse {
  Mailbox& owner;
  Turns& turns;
};

// A role to be replayed. start() and stop() run inside of turns.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual Result<> start() = 0;
  virtual void stop(Fn done) = 0;
};
using MakeSubject =
    std::function<Result<std::unique_ptr<Subject>>(const Session& session, ReplayHouse& house)>;

struct Difference {
  uint64_t session = 0, turn = 0;  // from 1
  WallTime at{};
  std::string cause;               // what came in
  std::string recorded, replayed;  // first lines; "": nothing
  std::string where;               // in what they differ
  std::string text() const;
};

struct ReplayResult {
  uint64_t sessions = 0, turns = 0, decisions = 0, bytes = 0;
  std::vector<std::string> roles;  // of the sessions
  std::vector<std::string> notes;  // what could not be replayed, and why
  std::optional<Difference> difference;
};

Result<ReplayResult> replay(const std::string& path, const MakeSubject& make);

// Where two decisions differ: "/spec/nodeName: "n1" was recorded, "n2" is decided now". Pure.
std::string whereTheyDiffer(std::string_view recorded, std::string_view replayed);

}  // namespace mangrove::frame::record
