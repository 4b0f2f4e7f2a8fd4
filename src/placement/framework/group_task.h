#pragma once
// A group of pods that is decided whole: its members, how many of them must get a place, and what is
// planned for it. Values.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/wire/text.h"
#include "base/clock.h"
#include "base/result.h"
#include "placement/framework/verdict.h"

namespace mangrove::placement {

struct GroupMember {
  api::Uid pod;
  uint32_t part = 0;  // which gang of the group
  Row row = kNoRow;   // where it is planned; kNoRow: anywhere
};
struct GroupTask {
  std::string id;                    // told in messages
  std::vector<GroupMember> members;  // in the order they are placed in
  std::vector<int32_t> needed;       // by part: so many must get a place, or nobody does
  bool preempts = false;             // others may be evicted for it
  // Where everybody goes, by member; given how many members each row takes one after the other, in
  // their order, and the harm of going there (empty: none). Unset: wherever the scores say.
  std::function<Result<std::vector<Row>>(const std::vector<int64_t>& slots,
                                         const std::vector<int64_t>& costs)>
      spread = {};
  // Backfill: where it was planned when it had no place, by member, for when nothing else fits.
  std::vector<Row> kept = {};
  bool isAged = false;                 // a plan may count on pods whose end nobody knows
  std::vector<api::Uid> waiting = {};  // members that have a node and wait for these at Permit
};
// When a group will have its places, as far as pods say how long they run.
struct GroupPlan {
  WallTime start{};       // max: some of them do not say it
  std::vector<Row> rows;  // by member
};
// A group as somebody sees it who only wants to know.
struct GroupView {
  struct Part {
    std::string name;  // of the gang
    int32_t min = 0, members = 0, ready = 0, waiting = 0, bound = 0;
  };
  GroupTask task;
  std::vector<Part> parts;
  bool isStrict = false;
  bool isSatisfied = false;  // members need not wait for each other any more
};

}  // namespace mangrove::placement
