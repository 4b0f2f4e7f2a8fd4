#pragma once
// Carries out one controller's plans: level-triggered, one plan per object at a time. After acting
// it plans again only when the caches show what it did, so that a slow cache never makes it act
// twice.
//
//   Runner runner(controller, caches, {…});
//   runner.enqueue("default/web");
//
// Owner thread; requests go through submit(), nothing blocks.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/events/event_recorder.h"
#include "client/queue/work_queue.h"
#include "client/queue/writer.h"
#include "workloads/caches.h"
#include "workloads/controller.h"

namespace mangrove::workloads {

struct RunnerSetup {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Clock* clock = nullptr;
  client::EventRecorder* events = nullptr;  // may be null
  Registry* metrics = nullptr;              // may be null
};

class Runner {
 public:
  Runner(std::unique_ptr<Controller> controller, const Caches& caches, const RunnerSetup& setup);
  ~Runner();

  void enqueue(std::string_view key);
  // No new plans; `stopped` runs when what is under way has been answered.
  void stop(Fn stopped);

 private:
  // One thing done whose trace the caches must show.
  struct Awaited {
    api::Kind kind;
    std::string key;
    std::string version;  // at least this one; "" : being deleted or gone
    std::string uid;
    bool mayBeGone = false;  // a change that lets go of an object may be the last of it
  };
  struct Pending {
    size_t unanswered = 0;
    bool failed = false;
    std::vector<Awaited> awaited;
    MonoTime patience;  // when to stop waiting for the caches
  };

  void pump();
  void work(const std::string& key);
  bool settled(const std::string& key);
  bool shows(const Awaited& awaited) const;
  void carryOut(const std::string& key, Plan& plan);
  void create(const std::string& key, Creation creation);
  void remove(const std::string& key, Removal removal);
  void amend(const std::string& key, Amendment amendment);
  void answered(const std::string& key, bool failed, std::optional<Awaited> awaited);
  void note(const std::string& key, const Note& note);

  std::unique_ptr<Controller> controller_;
  const Caches& caches_;
  RunnerSetup setup_;
  client::Writer writer_;
  client::WorkQueue queue_;
  std::map<std::string, Pending> pending_;
  std::map<std::string, std::string> trouble_;
  Fn stopped_;
  Lifetime life_;
};

}  // namespace mangrove::workloads
