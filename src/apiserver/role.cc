#include "apiserver/role.h"

#include <fmt/core.h>

#include "apiserver/data_dir.h"
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
  auto credentials = openCredentials(dataDir_, {bind_}, context.clock.wall());
  if (!credentials) return pass(credentials.error());
  auto security = server_.podSecurity();
  if (!security) return pass(security.error());
  auto size = server_.storeLimit();
  if (!size) return pass(size.error());
  auto audit = server_.openAudit(context.clock);
  if (!audit) return pass(audit.error());
  audit_ = std::move(*audit);
  auto embedded = EmbeddedServer::open(context.clock, context.owner, context.metrics,
                                       {.dataDir = dataDir_,
                                        .caPem = credentials->caPem,
                                        .io = &context.io,
                                        .podSecurity = std::move(*security),
                                        .storeSize = *size});
  if (!embedded) return pass(embedded.error());
  embedded_ = std::move(*embedded);

  net::ServerOptions options;
  options.bind = bind_;
  options.port = static_cast<uint16_t>(port_);
  options.tls = net::TlsServerOptions{credentials->serving.certPem, credentials->serving.keyPem,
                                      credentials->caPem, net::ClientCertificates::kRequest};
  auto identify = [this](const net::HttpRequest& request, const RequestInfo& info) {
    return embedded_->authenticator().authenticate(request.peer, request.headers, info);
  };
  auto front = HttpFront::listen(context.io, options,
                                 {context.owner, embedded_->server(), identify, audit_.get()});
  if (!front) return pass(front.error());
  front_ = std::move(*front);

  heap_.emplace(context.clock, context.owner);
  const std::string host = bind_.find(':') == std::string::npos ? bind_ : "[" + bind_ + "]";
  auto kubeconfig =
      writeKubeconfig(dataDir_, fmt::format("https://{}:{}", host, front_->port()), *credentials);
  if (!kubeconfig) return pass(kubeconfig.error());
  fmt::print("API server on https://{}:{}, kubeconfig {}\n", host, front_->port(), *kubeconfig);
  std::fflush(stdout);
  return {};
}

// Messages that wait for the owner name parts of the server: none may run once those are gone.
void ApiServerRole::stop(Fn stopped) {
  front_->shutdown(kShutdownGrace);
  front_.reset();
  embedded_->close();
  owner_->stop();
  heap_.reset();
  embedded_.reset();
  audit_.reset();
  stopped();
}

}  // namespace mangrove::apiserver
