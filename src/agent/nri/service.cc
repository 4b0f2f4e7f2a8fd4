#include "agent/nri/service.h"

#include <algorithm>

#include "agent/metrics_enforce.h"
#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("nri");

}  // namespace

// Rules come from the owner; the plugin and its stream belong to the I/O thread until they are
// lost.
struct NriService::Shared {
  std::mutex mutex;
  std::shared_ptr<const HookRules> rules;
  NriStats stats;
  uint64_t connections = 0;
  std::string trouble = "not connected yet";
  std::unique_ptr<NriPlugin> plugin;
  std::unique_ptr<net::ByteStream> stream;
  UniqueFn<void(std::string)> onLost;        // posts to the owner
  std::function<void(const NriPod&)> onPod;  // likewise
  std::function<void(const NriPod&, const NriContainer&)> onContainer;

  std::shared_ptr<const HookRules> now() {
    std::lock_guard lock(mutex);
    return rules;
  }
  void keepStats() {
    std::lock_guard lock(mutex);
    if (plugin->stats().registered && !stats.registered) {
      ++connections, trouble.clear();
      log.info("registered with {}", plugin->stats().runtime);
    }
    stats = plugin->stats();
  }
};

NriService::NriService(NriContext context, NriOptions options)
    : context_(context),
      options_(std::move(options)),
      shared_(std::make_shared<Shared>()),
      wait_(options_.firstWait) {
  shared_->onLost = [this, life = life_.token(), &owner = context_.owner](std::string why) {
    owner.post(life.guard([this, why = std::move(why)] { lost(why); }));
  };
  shared_->onPod = [this, life = life_.token(), &owner = context_.owner](const NriPod& pod) {
    owner.post(life.guard([this, pod] {
      if (options_.onPod) options_.onPod(pod);
    }));
  };
  shared_->onContainer = [this, life = life_.token(), &owner = context_.owner](
                             const NriPod& pod, const NriContainer& container) {
    owner.post(life.guard([this, pod, container] {
      if (options_.onContainer) options_.onContainer(pod, container);
    }));
  };
  connect();
}

NriService::~NriService() {
  life_.end();
  client_.reset();
  // Destroying the stream waits for its callbacks; they must not wait for us.
  std::unique_ptr<net::ByteStream> stream;
  {
    std::lock_guard lock(shared_->mutex);
    stream = std::move(shared_->stream);
  }
}

void NriService::publish(std::shared_ptr<const HookRules> rules) {
  std::lock_guard lock(shared_->mutex);
  shared_->rules = std::move(rules);
}

void NriService::connect() {
  net::Url url;
  url.scheme = net::Url::Scheme::kUnix;
  url.socket = options_.socket;
  client_ = std::make_unique<net::RawClient>(
      context_.io, url,
      [shared = shared_, name = options_.name, index = options_.index, series = context_.series,
       clock = &context_.clock](Result<std::unique_ptr<net::ByteStream>> made) {
        if (!made) return shared->onLost(made.error().text());
        net::ByteStream* stream = made->get();
        std::string hello;
        {
          std::lock_guard lock(shared->mutex);
          Shared* raw = shared.get();
          NriSetup setup{
              name, index, [raw] { return raw->now(); }, shared->onPod, shared->onContainer,
              {},   clock};
          if (series)
            setup.invoked = [series, name](std::string_view stage, bool ok, Duration took) {
              series->hookInvoked(name, stage, ok, took);
            };
          shared->plugin = std::make_unique<NriPlugin>(std::move(setup));
          shared->stats = {};
          shared->stream = std::move(*made);
          hello = shared->plugin->hello();
        }
        stream->write(std::move(hello), {});
        readOn(shared, stream);
      });
}

void NriService::readOn(std::shared_ptr<Shared> shared, net::ByteStream* stream) {
  stream->read([shared, stream](Result<std::string> got) {
    if (!got || got->empty())
      return shared->onLost(got ? "the runtime closed the connection" : got.error().text());
    auto answer = shared->plugin->receive(*got);
    shared->keepStats();
    if (!answer) return shared->onLost(answer.error().text());
    if (!answer->empty()) stream->write(*std::move(answer), {});
    readOn(shared, stream);
  });
}

void NriService::lost(const std::string& why) {
  std::unique_ptr<net::ByteStream> stream;
  bool wasRegistered = false;
  bool isNew = false;
  {
    std::lock_guard lock(shared_->mutex);
    stream = std::move(shared_->stream);
    wasRegistered = shared_->stats.registered;
    isNew = shared_->trouble != why;
    shared_->stats = {};
    shared_->trouble = why;
  }
  stream.reset();
  // A runtime that had accepted us is restarting: soon again.
  if (wasRegistered) wait_ = options_.firstWait;
  if (isNew) log.warn("{}: {}; trying again", options_.socket, why);
  retry_ = life_.later(context_.clock, context_.owner, wait_, [this] { connect(); });
  wait_ = std::min(wait_ * 2, options_.longestWait);
}

bool NriService::isRegistered() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->stats.registered;
}

uint64_t NriService::connections() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->connections;
}

json::Value NriService::state() const {
  std::lock_guard lock(shared_->mutex);
  return json::Object{
      {"socket", options_.socket},           {"registered", shared_->stats.registered},
      {"runtime", shared_->stats.runtime},   {"requests", shared_->stats.requests},
      {"adjusted", shared_->stats.adjusted}, {"refused", shared_->stats.refused},
      {"connections", shared_->connections}, {"trouble", shared_->trouble}};
}

}  // namespace mangrove::agent
