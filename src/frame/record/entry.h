#pragma once
// What a recording consists of: everything that came to a role from outside, in the order in which
// it was taken up, and after each piece what the role decided because of it. Pure functions; any
// thread.
//
//   std::string bytes;
//   EntryPen pen;
//   pen.write({Mark::kTimer, 7, now, ""}, bytes);
//   while (auto entry = takeEntry(rest, last)) …     // of a file: entry_file.h

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/number/units.h"
#include "base/result.h"
#include "client/api_client.h"

namespace mangrove::frame::record {

enum class Mark : char {
  kSession = 'S',  // a process begins, or its next file: JSON
  // What came in.
  kStart = 'B',
  kTimer = 'T',
  kReply = 'R',   // to a request
  kOpen = 'O',    // of a watch
  kEvents = 'E',  // of a watch, whole lines
  kEnd = 'X',     // of a watch
  kStop = 'P',
  // What was decided.
  kRequest = 'q',
  kWatch = 'w',
};
bool isDecision(Mark mark);

struct Moment {
  MonoTime mono{};
  WallTime wall{};
  bool operator==(const Moment&) const = default;
};

struct Entry {
  Mark mark = Mark::kSession;
  uint64_t id = 0;
  Moment at{};  // of what came in; decisions have that of the turn they are in
  std::string body;
};

// Times are written as distances; a session begins anew.
class EntryPen {
 public:
  void write(Mark mark, uint64_t id, Moment at, std::string_view body, std::string& out);

 private:
  Moment last_{};
};

// The first entry of `rest`, which goes on behind it. nullopt: none is whole, and neither `rest` nor
// `last`, the time of the entry before, has changed.
std::optional<Entry> takeEntry(std::string_view& rest, Moment& last);

// Answers. An error keeps its code, its detail and its whole text as one sentence.
std::string textOf(const Result<client::Reply>& reply);
Result<client::Reply> replyFrom(std::string_view text);
std::string textOf(const Result<>& outcome);
Result<> outcomeFrom(std::string_view text);
// The same error as it comes back from a recording.
Error flattened(const Error& error);

// Decisions: "PATCH /api/v1/namespaces/default/pods/web-1/status", the kind of patch, the body.
std::string textOf(const client::Request& request);
std::string textOf(const client::WatchRequest& request);

}  // namespace mangrove::frame::record
