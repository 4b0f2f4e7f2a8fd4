#pragma once
// One watch connection that can misbehave. It writes HTTP chunks by itself on the raw connection,
// so that it can cut one in half, stay silent for ever, or end without the last chunk. Not
// thread-safe; FakeApi holds the lock.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/number/rng.h"
#include "client/testing/fake_store.h"
#include "net/upgrade/byte_stream.h"

namespace mangrove::client::testing {

// Probabilities per event (streams) or per request, 0…1.
struct Faults {
  double dropMidEvent = 0;  // half an event, then the connection is gone
  double duplicate = 0;
  double reorder = 0;        // this event is sent after the next one
  double garble = 0;         // the line is damaged
  double halfOpen = 0;       // the connection stays, nothing is ever sent again
  double slowBody = 0;       // in small pieces
  double expire = 0;         // ERROR event 410, then the end
  double error500 = 0;       // per request
  double error429 = 0;       // per request, with Retry-After
  double refuseVersion = 0;  // per watch request: 410
  double expirePages = 0;    // per page: 410 on the continue token
  double cutBody = 0;        // per list page: half the body, then the connection is gone
  double loseAnswer = 0;     // per write: it is done, but half the answer arrives
};

struct FaultCounts {
  uint64_t dropped = 0, duplicated = 0, reordered = 0, garbled = 0, silenced = 0, slowed = 0,
           expired = 0, errors = 0, throttled = 0, refused = 0, pagesExpired = 0, cut = 0;
  std::string text() const;
};

class FakeStream {
 public:
  FakeStream(std::unique_ptr<net::ByteStream> raw, std::string ns)
      : raw_(std::move(raw)), ns_(std::move(ns)) {}

  const std::string& ns() const { return ns_; }
  bool dead() const;  // nothing will arrive any more
  // Sends the event, or does what the faults say instead.
  void send(const StoredEvent& event, const Faults& faults, Rng& rng, FaultCounts& counts);
  void sendLine(const std::string& line);  // well-behaved, held-back events first
  void flush();                            // what reorder holds back
  void end();                              // properly
  void drop();                             // without a word
  void silence();

 private:
  void write(std::string_view line);
  void writePieces(std::string_view line);

  std::unique_ptr<net::ByteStream> raw_;
  std::string ns_;
  std::vector<StoredEvent> held_;
  std::shared_ptr<std::atomic<bool>> gone_ = std::make_shared<std::atomic<bool>>(false);
  bool silent_ = false;
  bool closed_ = false;
};

}  // namespace mangrove::client::testing
