#pragma once
// Writes to one object, one after the other: requests under way at the same time may overtake each
// other, and an older word about an object must not be the last one.
//
//   order.begin("Reservation/r1", [=] { send(…, [=] { order.finished("Reservation/r1"); … }); });
//
// Owner thread.

#include <deque>
#include <string>
#include <unordered_map>

#include "base/fn.h"

namespace mangrove::scheduler {

class WriteOrder {
 public:
  using Start = UniqueFn<void()>;

  // Now, or when all that began before on the same object are finished.
  void begin(const std::string& object, Start start);
  void finished(const std::string& object);

 private:
  std::unordered_map<std::string, std::deque<Start>> waiting_;  // an entry: one is under way
};

}  // namespace mangrove::scheduler
