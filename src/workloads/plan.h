#pragma once
// What a controller wants done about one object: a value, decided without touching anything. The
// shell (runner.h) carries it out and asks again when the world has answered.
//
//   Plan plan = planReplicaSet(replicaSet, pods, now);
//   plan.create, plan.remove, plan.change, plan.again
//
// Values of one thread.

#include <string>
#include <vector>

#include "api/object/bodies.h"
#include "api/pod/pod.h"
#include "api/wire/kind.h"
#include "base/number/units.h"
#include "client/api_client.h"
#include "json/value.h"

namespace mangrove::workloads {

struct Creation {
  api::Kind kind;
  std::string ns;
  json::Object body;
};

struct Removal {
  client::Ref ref;
  api::DeleteOptions options;  // with the uid, so that a namesake is left alone
};

struct Amendment {
  client::Ref ref;
  client::PatchType type = client::PatchType::kMerge;
  json::Object body;
  // The object's JSON as we know it; a patch that would not change it is not sent. "": always sent.
  std::string current;
};

// An Event about the object at hand.
struct Note {
  bool warning = false;
  std::string reason, message;
};

struct Plan {
  std::vector<Creation> create;
  std::vector<Removal> remove;
  std::vector<Amendment> change;
  std::vector<Note> notes;
  // Look again after this long even if nothing changes; zero: no need.
  Duration again = Duration::zero();

  // The earlier of two wishes.
  void lookAgainIn(Duration delay) {
    if (delay > Duration::zero() && (again == Duration::zero() || delay < again)) again = delay;
  }
};

using Pods = std::vector<std::shared_ptr<const api::Pod>>;

Removal removePod(const api::Pod& pod);

}  // namespace mangrove::workloads
