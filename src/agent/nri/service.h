#pragma once
// Keeps the plugin connected: to the runtime's socket, again after every loss, with growing waits
// (1 s, 2 s, … 60 s).
//
//   NriService nri({loop, clock, owner}, {.socket = "/var/run/nri/nri.sock"});
//   nri.publish(std::make_shared<HookRules>(…));         // at every tick
//
// Made, used and destroyed in the owner's thread; calls of the runtime are answered on an I/O
// thread from the rules published last.

#include <memory>
#include <mutex>
#include <string>

#include "agent/nri/plugin.h"
#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "json/value.h"
#include "net/client/raw_client.h"
#include "net/loop.h"
#include "net/upgrade/byte_stream.h"

namespace mangrove::agent {

class EnforceMetrics;

struct NriOptions {
  std::string socket = "/var/run/nri/nri.sock";
  std::string name = "koordlet_nri";
  std::string index = "00";
  Duration firstWait = std::chrono::seconds(1);
  Duration longestWait = std::chrono::seconds(60);
  // In the owner's thread.
  std::function<void(const NriPod&)> onPod = {};
  std::function<void(const NriPod&, const NriContainer&)> onContainer = {};
};

struct NriContext {
  net::Loop& io;
  Clock& clock;
  Mailbox& owner;
  std::shared_ptr<EnforceMetrics> series = {};  // null: nobody counts
};

class NriService {
 public:
  NriService(NriContext context, NriOptions options);
  ~NriService();
  NriService(const NriService&) = delete;
  NriService& operator=(const NriService&) = delete;

  void publish(std::shared_ptr<const HookRules> rules);
  // For `explain` and metrics: connected, runtime, requests, what went wrong last.
  json::Value state() const;
  bool isRegistered() const;
  uint64_t connections() const;

 private:
  struct Shared;  // with the I/O thread
  void connect();
  void lost(const std::string& why);
  static void readOn(std::shared_ptr<Shared> shared, net::ByteStream* stream);

  NriContext context_;
  NriOptions options_;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<net::RawClient> client_;
  Timer retry_;
  Duration wait_;
  Lifetime life_;
};

}  // namespace mangrove::agent
