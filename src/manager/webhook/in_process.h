#pragma once
// The handlers without a network, for an API server in the same process: it asks once before an
// object is completed and once before it is stored, as it would ask webhooks.
//
//   InProcessAdmission admission({.picture = [&] { return picture.now(); }});
//   admission.mutate(question, {object, oldObject, warnings},
//                    [](std::optional<Review> refusal) { … });
//   admission.validate(question, {object, oldObject, warnings}, …);
//
// Any thread, as far as the functions of the setup allow it. Answers come at once, or in whatever
// thread `onOwner` and `secondLook` answer in; object, old object and warnings live until then.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/fn.h"
#include "base/metrics.h"
#include "json/value.h"
#include "manager/webhook/admission.h"
#include "manager/webhook/server.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::manager {

// Everything of an AdmissionRequest but the objects.
struct InProcessQuestion {
  std::string uid;
  std::string group, version, resource, subresource, kind;
  Operation operation = Operation::kCreate;
  std::string ns, name, user;
  bool dryRun = false;
};

// What is judged, and where warnings are appended. Mutating handlers change the object.
struct InProcessObjects {
  json::Value& object;
  const json::Value& oldObject;
  std::vector<std::string>& warnings;
};

struct InProcessSetup {
  std::function<std::shared_ptr<const Surroundings>()> picture;
  // Gets the notices of every review, for Events; may be empty.
  std::function<void(const InProcessQuestion&, const Notice&)> heard = {};
  // As for the webhook server (server.h, owner_judge.h); empty: handlers have the picture alone.
  std::function<void(const Route&, const AdmissionRequest&, ReviewDone)> onOwner = {};
  std::function<bool(const AdmissionRequest&, const Surroundings&)> needsSecondLook = {};
  std::function<void(const AdmissionRequest&, ReviewDone)> secondLook = {};
  // Whether the picture shows the cluster yet; empty: it always does. Until it does, questions are
  // given to `wait`, which calls back when it does or when that takes too long; what cannot be
  // judged then is refused where a webhook's failure policy would be Fail, and passes elsewhere.
  std::function<bool()> ready = {};
  std::function<void(Fn)> wait = {};
  Registry* metrics = nullptr;  // null: nothing is counted
  Clock* clock = nullptr;       // null: realClock()
};

class InProcessAdmission {
 public:
  explicit InProcessAdmission(InProcessSetup setup);

  // nullopt: go on. Objects that no handler wants cost nothing.
  using Done = UniqueFn<void(std::optional<Review>)>;
  void mutate(InProcessQuestion question, InProcessObjects objects, Done done);
  void validate(InProcessQuestion question, InProcessObjects objects, Done done);

 private:
  struct Shop;  // the setup, and what is measured
  class Run;
  std::shared_ptr<const Shop> shop_;
};

}  // namespace mangrove::manager
