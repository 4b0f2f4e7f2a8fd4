#include "runtime/node/pods/status_writer.h"

#include "base/os/log.h"

namespace mangrove::runtime {

namespace {
const Logger log("runtime");
constexpr Duration kRetry = std::chrono::seconds(1);
}  // namespace

struct StatusWriter::State : std::enable_shared_from_this<State> {
  State(client::ApiClient& c, Mailbox& o, Clock& k) : client(c), owner(o), clock(k) {}

  void pump() {
    if (inFlight || !alive) return;
    if (wanted == sent) {
      if (settled) std::exchange(settled, nullptr)();
      return;
    }
    inFlight = true;
    client.submit(owner,
                  client::patchRequest({client::kind::kPod, ns, name, "status"},
                                       client::PatchType::kMerge, wanted),
                  [self = shared_from_this(), body = wanted](Result<client::Reply> reply) {
                    self->answered(body, reply);
                  });
  }

  void answered(const std::string& body, const Result<client::Reply>& reply) {
    inFlight = false;
    if (!alive) return;
    const Code code = reply ? Code::kInternal : reply.error().code();
    // A pod that is gone, or a namesake (the uid in the patch does not fit), needs no status.
    const bool pointless =
        !reply && (code == Code::kNotFound || code == Code::kConflict || code == Code::kInvalid);
    if (pointless) log.debug("status of {}/{}: {}", ns, name, reply.error().text());
    if (reply || pointless) {
      sent = body;
      return pump();
    }
    log.warn("status of {}/{}: {}", ns, name, reply.error().text());
    retry = clock.after(kRetry, [weak = weak_from_this(), &o = owner] {
      o.post([weak] {
        if (auto self = weak.lock()) self->pump();
      });
    });
  }

  client::ApiClient& client;
  Mailbox& owner;
  Clock& clock;
  std::string ns, name, uid;
  std::string wanted, sent;
  bool inFlight = false;
  bool alive = true;
  Fn settled;
  Timer retry;
};

StatusWriter::StatusWriter(client::ApiClient& client, Mailbox& owner, Clock& clock, std::string ns,
                           std::string name, std::string uid)
    : state_(std::make_shared<State>(client, owner, clock)) {
  state_->ns = std::move(ns);
  state_->name = std::move(name);
  state_->uid = std::move(uid);
}

StatusWriter::~StatusWriter() {
  state_->alive = false;
}

void StatusWriter::set(const json::Object& status) {
  state_->wanted = json::write(
      json::Object{{"metadata", json::Object{{"uid", state_->uid}}}, {"status", status}});
  state_->pump();
}

void StatusWriter::onSettled(Fn fn) {
  state_->settled = std::move(fn);
  state_->pump();
}

}  // namespace mangrove::runtime
