#include "apiserver/role.h"

#include <cstdio>

#include <fmt/core.h>

#include "frame/role_flags.h"
#include "net/loopback.h"

namespace mangrove::apiserver {

namespace {

constexpr Duration kShutdownGrace = std::chrono::seconds(5);

}  // namespace

frame::RoleInfo ApiServerRole::info() const {
  return {.name = "apiserver",
          .about = "serves a Kubernetes API from one directory",
          .opsDefault = "0"};
}

void ApiServerRole::flags(frame::Flags& flags) {
  flags.add("data-dir", dataDir_, "where everything is kept: database, certificates, kubeconfig");
  flags.add("bind", bind_, "address to listen on");
  flags.add("port", port_, "port to listen on; 0 takes a free one");
  flags.add("allow-remote", allowRemote_,
            "listen beyond loopback, so that other machines can connect");
  server_.add(flags);
  frame::refuseRecord(flags,
                      "the API server decides nothing; record manager, scheduler and descheduler, "
                      "or keep its audit log");
}

Result<> ApiServerRole::checkBind() const {
  if (port_ < 0 || port_ > 65535) return invalid("--port {}: want 0 to 65535", port_);
  if (net::isLoopback(bind_) || allowRemote_) return {};
  return invalid("--bind {}: other machines could connect; if that is meant, add --allow-remote",
                 bind_);
}

Result<> ApiServerRole::start(frame::RoleContext& context) {
  if (auto ok = checkBind(); !ok) return ok;
  owner_ = &context.owner;
  tuneHeap();
  auto serving = Serving::start(
      context, server_, {.dataDir = dataDir_, .bind = bind_, .port = static_cast<uint16_t>(port_)});
  if (!serving) return pass(serving.error());
  serving_ = std::move(*serving);
  heap_.emplace(context.clock, context.owner);
  fmt::print("{}\n", serving_->announcement());
  std::fflush(stdout);
  return {};
}

// Messages that wait for the owner name parts of the server: none may run once those are gone.
void ApiServerRole::stop(Fn stopped) {
  serving_->stopListening(kShutdownGrace);
  serving_->embedded().close();
  owner_->stop();
  heap_.reset();
  serving_.reset();
  stopped();
}

}  // namespace mangrove::apiserver
