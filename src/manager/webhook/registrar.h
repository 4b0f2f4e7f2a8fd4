#pragma once
// Keeps the two webhook configurations right (registration.h): whenever they change, whenever the
// certificates change, and every minute. Configurations that nobody installed are not made: whoever
// deletes one to free a cluster from us must not find it back a minute later.
//
//   Registrar registrar({.client = &client, .owner = &owner, …});
//   registrar.start();
//   registrar.announce(facts);               // again with every new certificate
//
// Owner thread.

#include <memory>
#include <optional>
#include <string>

#include "api/object/meta.h"
#include "base/clock.h"
#include "base/lifetime.h"
#include "base/metrics.h"
#include "client/events/event_recorder.h"
#include "client/informer/informer.h"
#include "manager/webhook/registration.h"

namespace mangrove::manager {

struct RegistrarSetup {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Mailbox* home = nullptr;
  Clock* clock = nullptr;
  Registry* metrics = nullptr;
  client::EventRecorder* events = nullptr;
  std::string mutatingName, validatingName;
  Duration period = std::chrono::minutes(1);
};

class Registrar {
 public:
  explicit Registrar(RegistrarSetup setup);
  ~Registrar();

  void start();
  void announce(RegistrationFacts facts);
  // Whether both configurations, as far as they exist, are as announced.
  bool settled() const;
  // Whether both exist and name us, so that API servers ask us.
  bool registered() const { return mutating_.right && validating_.right; }

 private:
  using Informer = client::Informer<api::ObjectHead>;
  struct Side {
    client::Kind kind;
    std::string name;
    std::unique_ptr<Informer> informer;
    Gauge registered;
    bool busy = false;
    bool right = false;
    std::string trouble;
  };
  void follow(Side& side);
  void checkAll();
  void check(Side& side);
  void send(Side& side, const json::Value& patch);
  void note(Side& side, std::string trouble);
  void arm();

  RegistrarSetup setup_;
  std::optional<RegistrationFacts> facts_;
  Side mutating_, validating_;
  Timer timer_;
  Lifetime life_;
};

}  // namespace mangrove::manager
