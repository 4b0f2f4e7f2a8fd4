#pragma once
// Answers the ScheduleExplanation objects of a cluster: a user names a pod (or a job, or a gang) in
// spec.questionObjectKey, and its status says what stands in the way, as explanation.h finds it.
// The label topology-key-to-explain, on the object or on the pod, asks for an answer per domain.
//
//   Explanations explanations({client, owner, home, clock, seed}, engine);
//   explanations.start();      // watches
//   explanations.tick();       // about once a second, and only while this scheduler leads
//
// Each object is looked at every kEvery, at most kAtOnce of them in one tick. A status is written
// when the answer differs from the one before, and once a minute while pods wait, so that
// lastUpdateTime tells that somebody is looking. Objects older than spec.ttl are deleted. A cluster
// without the kind has no questions.
//
// Owner thread only; destroy it before the client.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/koordinator/schedule_explanation.h"
#include "client/informer/informer.h"
#include "placement/explain/explanation.h"
#include "scheduler/names.h"

namespace mangrove::scheduler {

struct ExplanationSetup {
  client::ApiClient& client;
  Mailbox& owner;
  Mailbox& home;  // where objects are decoded
  Clock& clock;
  uint64_t seed = 1;
};

class Explanations {
 public:
  static constexpr Duration kEvery = std::chrono::seconds(10);
  static constexpr Duration kLongestSilence = std::chrono::minutes(1);
  static constexpr size_t kAtOnce = 8;

  Explanations(const ExplanationSetup& setup, Engine& engine);
  ~Explanations();

  void start() { informer_.start(); }
  void tick();
  size_t asked() const { return asked_.size(); }

 private:
  using Object = std::shared_ptr<const api::ScheduleExplanation>;
  struct Asked {
    Object object;
    MonoTime lookAt{};
    std::optional<api::ScheduleExplanationStatus> told;  // what the server has accepted from us
    bool underWay = false;
  };
  using Due = std::vector<std::pair<std::string, Asked*>>;  // by key of the object

  void changed(const client::Change<api::ScheduleExplanation>& change);
  Due takeDue();
  std::map<std::string, Question> questionsOf(const Due& due) const;
  void answer(const std::string& key, Asked& asked, Question question);
  void write(const std::string& key, Asked& asked, api::ScheduleExplanationStatus status);
  bool isOver(const api::ScheduleExplanation& object) const;
  void remove(const std::string& key, Asked& asked);
  void send(const std::string& key, client::Request request,
            std::function<void(Asked&, const Result<client::Reply>&)> then);

  ExplanationSetup setup_;
  Engine& engine_;
  client::Informer<api::ScheduleExplanation> informer_;
  std::map<std::string, Asked> asked_;
  std::shared_ptr<Explanations*> self_;  // answers may come after us
};

}  // namespace mangrove::scheduler
