// The end of a time by losses, and with the pods' checkpoints: looks at the pods themselves, which the
// manager's caches do not keep whole. It happens a few times a day, and only on nodes that hold too
// much.
#include <limits>

#include <fmt/core.h>

#include "api/annotations/checkpoint.h"
#include "api/object/event.h"
#include "base/os/log.h"
#include "manager/controllers/timepolicy/by_loss.h"
#include "manager/controllers/timepolicy/controller.h"
#include "stakes/stake.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;
const Logger log("manager");

constexpr Duration kLookAgain = std::chrono::seconds(2);

client::Request podsOn(const std::string& node) {
  client::Request out;
  out.verb = client::Verb::kList;
  out.ref = {kind::kPod, "", ""};
  out.query.fieldSelector = "spec.nodeName=" + node;
  return out;
}

}  // namespace

void TimePolicyController::clearByLoss(std::shared_ptr<Pass> pass) {
  pass->underWay = 1;  // ourselves, until all are sent
  const std::string node = pass->name;
  desk_.client.submit(desk_.owner, podsOn(node),
                      life_.guard([this, pass, node](const Result<client::Reply>& reply) mutable {
                        auto pods =
                            reply ? holdersIn(reply->body, node) : mangrove::pass(reply.error());
                        if (pods)
                          sendAway(*pods, pass);
                        else
                          pass->outcome = mangrove::pass(pods.error());
                        settle(std::move(pass));
                      }));
}

void TimePolicyController::sendAway(const std::vector<api::Pod>& pods,
                                    const std::shared_ptr<Pass>& pass) {
  const WallTime now = desk_.clock.wall();
  for (const LossLeaver& one : leaversByLoss(pods, pass->allowed, tally_, now)) {
    const api::Pod& pod = pods[one.pod];
    if (savesFirst_ && !hasSaved(pod, pass)) continue;
    tally_.add(stakes::jobOf(pod), now);
    evictNow({pod.meta.ns.view(), pod.meta.name.view()}, pass, pass->why + "; " + one.loss);
  }
}

// Asked with a date and waited for, as everybody who evicts does (api/annotations/checkpoint.h).
bool TimePolicyController::hasSaved(const api::Pod& pod, const std::shared_ptr<Pass>& pass) {
  using Step = api::CheckpointStep::Step;
  const api::SaidCheckpoint said = api::saidCheckpoint(pod.meta.annotations);
  const Step step = api::stepOf(said, desk_.clock.wall()).step;
  if (step != Step::kAsk && step != Step::kWait) return true;
  pass->waits = true;
  if (step == Step::kWait) return false;
  const auto request =
      api::requestFor(said, "mangrove-manager", "ColocationWindowClosed", desk_.clock.wall());
  const std::string key = api::keyOf(pod.meta).text();
  pass->underWay++;
  desk_.send(client::patchRequest({kind::kPod, pod.meta.ns.str(), pod.meta.name.str()},
                                  client::PatchType::kMerge, api::requestPatch(request)),
             [this, pass, key](const Result<client::Reply>& reply) {
               if (!reply && reply.error().code() != Code::kNotFound)
                 log.warn("asking {} to save: {}", key, reply.error().text());
               settle(pass);
             });
  return false;
}

// Some are saving: the node is looked at again until they have gone.
void TimePolicyController::waitForCheckpoints(const std::string& node) {
  states_[node].factor = std::numeric_limits<double>::infinity();
  keys_.addAfter(node, kLookAgain);
}

}  // namespace mangrove::manager
