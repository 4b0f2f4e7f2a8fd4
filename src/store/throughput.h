#pragma once
// How fast this machine makes objects durable: the store's part of `mangrove bench api`.
//
//   auto measured = measureCreates(*store, owner, realClock(), {.creates = 20000, .inFlight = 64});
//   measured->perSecond();  measured->p99;
//
// Runs on the owner thread, which it keeps until everything is done; `owner` must be the mailbox
// the store posts to.

#include <cstddef>

#include "base/clock.h"
#include "base/mailbox.h"
#include "base/number/units.h"
#include "base/result.h"
#include "store/store.h"

namespace mangrove::store {

struct Load {
  size_t creates = 10000;
  size_t inFlight = 64;  // begun and not yet durable
  size_t bodyBytes = 2048;
  std::string ns = "bench";
};

struct Throughput {
  size_t creates = 0;
  size_t batches = 0;  // disk transactions it took
  Duration elapsed{};
  Duration cpu{};         // of the whole process
  Duration p50{}, p99{};  // from commit to durable

  double perSecond() const;
};

// Names are new for every run as long as the namespace is empty. Fails with the first write that
// does.
Result<Throughput> measureCreates(Store& store, Mailbox& owner, Clock& clock, const Load& load);

}  // namespace mangrove::store
