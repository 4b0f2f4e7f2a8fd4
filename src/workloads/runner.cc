#include "workloads/runner.h"

#include <fmt/core.h>

#include "api/object/event.h"
#include "client/informer/resource_version.h"

namespace mangrove::workloads {
namespace {

// How long the caches may take to show what was done. Longer means that the watch is broken, and
// then a fresh list will tell.
constexpr auto kPatience = std::chrono::seconds(30);

std::string lowered(std::string_view kind) {
  std::string out(kind);
  if (!out.empty()) out[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(out[0])));
  return out;
}

bool isWorthAnEvent(const api::Kind& kind) {
  return kind == api::kind::kPod || kind == api::kind::kJob;
}

}  // namespace

Runner::Runner(std::unique_ptr<Controller> controller, const Caches& caches,
               const RunnerSetup& setup)
    : controller_(std::move(controller)),
      caches_(caches),
      setup_(setup),
      writer_(*setup.client, lowered(controller_->kind().kind) + "-controller", setup.metrics),
      queue_(*setup.clock, {.name = std::string(controller_->kind().plural)}) {
  queue_.onWake([this, life = life_.token(), owner = setup.owner] {
    owner->post(life.guard([this] { pump(); }));
  });
}

Runner::~Runner() = default;

void Runner::enqueue(std::string_view key) {
  queue_.add(key);
}

void Runner::stop(Fn stopped) {
  queue_.shutDown();
  stopped_ = std::move(stopped);
  bool waiting = false;
  for (const auto& [key, pending] : pending_) waiting |= pending.unanswered > 0;
  if (!waiting && stopped_) std::exchange(stopped_, nullptr)();
}

void Runner::pump() {
  if (!caches_.synced()) return queue_.addAfter("", std::chrono::milliseconds(20));
  while (auto key = queue_.tryGet()) {
    if (!key->empty() && !queue_.shuttingDown()) work(*key);
    queue_.done(*key);
  }
}

void Runner::work(const std::string& key) {
  if (!settled(key)) return;
  auto plan = controller_->plan(key, trouble_[key], setup_.clock->wall());
  if (!plan) {
    trouble_.erase(key);
    return queue_.forget(key);
  }
  for (const auto& one : plan->notes) note(key, one);
  carryOut(key, *plan);
  if (!pending_.contains(key)) queue_.forget(key);
  if (plan->again > Duration::zero()) queue_.addAfter(key, plan->again);
}

// Whether the last plan of this key is done and seen. If not, the key comes back by itself.
bool Runner::settled(const std::string& key) {
  auto at = pending_.find(key);
  if (at == pending_.end()) return true;
  if (at->second.unanswered > 0) return false;
  std::erase_if(at->second.awaited, [&](const Awaited& one) { return shows(one); });
  if (!at->second.awaited.empty() && setup_.clock->mono() < at->second.patience) {
    queue_.addAfter(key, at->second.patience - setup_.clock->mono());
    return false;
  }
  pending_.erase(at);
  return true;
}

bool Runner::shows(const Awaited& awaited) const {
  auto known = caches_.look(awaited.kind, awaited.key);
  if (!known) return true;
  const bool another = !awaited.uid.empty() && known->exists && known->uid != awaited.uid;
  if (awaited.mayBeGone && !known->exists) return true;
  if (awaited.version.empty()) return !known->exists || known->leaving || another;
  return another || (known->exists && !client::surelyOlder(known->version, awaited.version));
}

void Runner::carryOut(const std::string& key, Plan& plan) {
  Pending& pending = pending_[key];
  pending.patience = setup_.clock->mono() + kPatience;
  // The bar keeps early answers from finishing the plan before the last request is out.
  pending.unanswered = 1;
  for (auto& one : plan.change) amend(key, std::move(one));
  for (auto& one : plan.create) create(key, std::move(one));
  for (auto& one : plan.remove) remove(key, std::move(one));
  answered(key, false, std::nullopt);
}

void Runner::create(const std::string& key, Creation creation) {
  ++pending_[key].unanswered;
  client::Request request;
  request.verb = client::Verb::kCreate;
  request.ref = {creation.kind, creation.ns, ""};
  request.body = json::write(creation.body);
  const api::Kind kind = creation.kind;
  auto done = life_.guard([this, key, kind](Result<client::Reply> reply) {
    if (!reply && reply.error().code() == Code::kExists) return answered(key, false, std::nullopt);
    if (!reply) {
      trouble_[key] = reply.error().sentence();
      note(key, {true, "FailedCreate", "Error creating: " + reply.error().sentence()});
      return answered(key, true, std::nullopt);
    }
    trouble_.erase(key);
    auto made = api::decodeText<api::ObjectHead>(reply->body);
    if (!made) return answered(key, true, std::nullopt);
    if (isWorthAnEvent(kind))
      note(key, {false, "SuccessfulCreate",
                 fmt::format("Created {}: {}", lowered(kind.kind), made->meta.name.view())});
    answered(key, false,
             Awaited{kind, client::keyOf(made->meta.ns.view(), made->meta.name.view()),
                     made->meta.resourceVersion, made->meta.uid.str(), false});
  });
  writer_.submit(*setup_.owner, std::move(request), std::move(done));
}

void Runner::remove(const std::string& key, Removal removal) {
  ++pending_[key].unanswered;
  Awaited awaited{removal.ref.kind, removal.ref.key(), "", removal.options.uid.str(), true};
  const std::string name = removal.ref.name;
  auto done = life_.guard([this, key, awaited, name](Result<client::Reply> reply) {
    const bool gone = !reply && (reply.error().code() == Code::kNotFound ||
                                 reply.error().code() == Code::kConflict);
    if (!reply && !gone) return answered(key, true, std::nullopt);
    if (reply && isWorthAnEvent(awaited.kind))
      note(key, {false, "SuccessfulDelete",
                 fmt::format("Deleted {}: {}", lowered(awaited.kind.kind), name)});
    answered(key, false, awaited);
  });
  writer_.submit(*setup_.owner, client::deleteRequest(removal.ref, removal.options),
                 std::move(done));
}

void Runner::amend(const std::string& key, Amendment amendment) {
  std::string body = json::write(amendment.body);
  const bool changes =
      amendment.current.empty() ||
      client::patchChanges(amendment.current, amendment.type, body, amendment.ref.kind);
  if (!changes) return;
  ++pending_[key].unanswered;
  const api::Kind kind = amendment.ref.kind;
  auto done = life_.guard([this, key, kind](Result<client::Reply> reply) {
    if (!reply && reply.error().code() == Code::kNotFound)
      return answered(key, false, std::nullopt);
    if (!reply) return answered(key, true, std::nullopt);
    auto made = api::decodeText<api::ObjectHead>(reply->body);
    if (!made) return answered(key, true, std::nullopt);
    const std::string target = client::keyOf(made->meta.ns.view(), made->meta.name.view());
    // The server found nothing to change: planning again at once would only repeat the question.
    auto known = caches_.look(kind, target);
    if (known && known->version == made->meta.resourceVersion)
      return answered(key, false, std::nullopt);
    answered(key, false,
             Awaited{kind, target, made->meta.resourceVersion, made->meta.uid.str(), true});
  });
  writer_.submit(*setup_.owner,
                 client::patchRequest(amendment.ref, amendment.type, std::move(body)),
                 std::move(done));
}

void Runner::answered(const std::string& key, bool failed, std::optional<Awaited> awaited) {
  Pending& pending = pending_[key];
  pending.failed |= failed;
  if (awaited) pending.awaited.push_back(std::move(*awaited));
  if (--pending.unanswered > 0) return;
  const bool nothingDone = pending.awaited.empty() && !pending.failed;
  if (pending.failed) {
    pending_.erase(key);
    queue_.addRateLimited(key);
  } else if (nothingDone) {
    pending_.erase(key);
  } else {
    queue_.add(key);
  }
  if (stopped_) stop(std::exchange(stopped_, nullptr));
}

void Runner::note(const std::string& key, const Note& one) {
  auto about = controller_->about(key);
  if (!about || !setup_.events) return;
  if (one.warning)
    setup_.events->warning(*about, one.reason, one.message);
  else
    setup_.events->normal(*about, one.reason, one.message);
}

}  // namespace mangrove::workloads
