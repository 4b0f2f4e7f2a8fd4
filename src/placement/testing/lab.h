#pragma once
// A cluster on a table: the engine, a virtual clock and a server that says yes to everything, for
// tests, conversation scripts and benchmarks.
//
//   Lab lab;
//   lab.node(R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"4","pods":"110"}}})");
//   lab.pod(R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}})");
//   lab.run();
//   lab.nodeOf("a")                     // "n1"
//   lab.said("a")                       // the last failure message, "" when there was none
//
// One thread.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "placement/engine/engine.h"

namespace mangrove::placement {

class Lab final : public Effects {
 public:
  explicit Lab(SchedulerConfig config = defaultConfig({"default-scheduler", "koord-scheduler"}));
  // With other plugins than the built-in ones to choose from.
  Lab(SchedulerConfig config, std::span<const PluginEntry> known);
  ~Lab() override;

  // JSON or YAML of the object; what is missing (uid, namespace, pods allocatable) is filled in.
  // The same name again is an update.
  void node(std::string_view text);
  void removeNode(std::string_view name);
  void pod(std::string_view text);
  void removePod(std::string_view name);  // "name" or "ns/name"
  // What is missing (uid, creation time, owners that match app=NAME) is filled in. Its status is
  // kept like that of an object on a server: patches of plugins change it.
  void reservation(std::string_view text);
  void removeReservation(std::string_view name);
  std::shared_ptr<const api::Reservation> findReservation(std::string_view name) const;

  // The scheduler dies and another begins, which knows nothing but the objects. What was on its way
  // to the server got there or did not.
  void restart(const std::function<bool()>& gotThere);

  // Schedules until nobody is ready; the server confirms every binding. Returns pods tried.
  size_t run();
  void wait(
      Duration duration);  // and ticks every second; statuses too where there are reservations

  std::string nodeOf(std::string_view pod) const;
  std::string said(std::string_view pod) const;
  std::string annotation(std::string_view pod, std::string_view key) const;
  std::vector<std::string> takeLog();  // what was done, in order, since the last call
  std::shared_ptr<const api::Pod> find(std::string_view pod) const;

  Engine& engine() { return *engine_; }
  Registry& metrics() { return registry_; }
  Cluster& cluster() { return engine_->cluster(); }
  VirtualClock& clock() { return clock_; }
  // The storage controller at once: what exists is tied to its claim, what does not is made.
  void bindVolumes(const std::vector<VolumeNote>& notes, Done done) override;
  bool refuseBindings = false;
  std::function<bool(std::string_view key)> refusesBinding = {};  // single ones; unset: none
  bool keepVictims = false;                        // deletions are accepted, the pods stay
  std::map<std::string, std::string> losses = {};  // of victims, as they are told
  bool bindsClaims = true;                         // false: the storage controller is away
  std::function<bool(const ObjectPatch&)> isSlow =
      {};                                 // it is answered in a later run; unset: none
  std::function<void()> afterWrite = {};  // the world as others see it between two

  void bind(const PodInfo& pod, std::string_view node, const BindNotes& notes, Done done) override;
  void scheduled(const api::Pod& pod, std::string_view node, std::string_view profile) override;
  void failed(const api::Pod& pod, const PodFailure& failure, std::string_view profile) override;
  void preempt(const api::Pod& victim, const api::Pod& preemptor, std::string_view profile,
               std::string_view loss, Done done) override;
  void clearNomination(const api::Pod& pod) override;
  void deviceTrouble(const api::Pod& pod, const std::string& what, std::string_view) override;
  void ignored(const api::Pod& pod, const std::string& what, std::string_view profile) override;
  void evict(const api::Pod& pod, std::string_view reason, Done done) override;
  void overcommitted(const api::Pod& standIn, const std::string& what, std::string_view) override;
  void patch(const ObjectPatch& patch, Done done) override;

 private:
  struct Pending {
    std::string key, node;
    BindNotes notes;
    Done done;
  };
  void confirm(Pending pending);
  void bindClaim(const VolumeNote& note);
  std::string keyFor(std::string_view pod) const;

  void begin();

  SchedulerConfig config_;
  std::span<const PluginEntry> known_;
  VirtualClock clock_;
  Registry registry_;
  std::unique_ptr<Engine> engine_;
  std::map<std::string, std::shared_ptr<const api::Pod>> pods_;
  std::map<std::string, std::shared_ptr<const api::Node>> nodes_;
  struct Reserved {
    json::Value json;
    std::shared_ptr<const api::Reservation> object;
  };
  void showReservation(Reserved& reserved, json::Value json);
  void applyToReservation(const ObjectPatch& patch);
  void applyToPod(const ObjectPatch& patch);
  void apply(const ObjectPatch& patch);
  std::map<std::string, Reserved> reservations_;
  int64_t versions_ = 0;
  std::map<std::string, std::string> said_;
  std::vector<Pending> pending_;
  std::vector<std::pair<std::vector<VolumeNote>, Done>> volumes_;
  std::vector<std::pair<std::string, Done>> deletions_;
  struct Write {
    ObjectPatch patch;
    Done done;
  };
  bool answerWrites();
  std::vector<Write> writes_;
  std::vector<std::string> log_;
  int64_t uids_ = 0;
};

}  // namespace mangrove::placement
