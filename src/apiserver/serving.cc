#include "apiserver/serving.h"

#include <utility>

#include <fmt/core.h>

#include "apiserver/auth/credential_files.h"
#include "base/os/log.h"

namespace mangrove::apiserver {

namespace {

const Logger logger("apiserver");
constexpr Duration kLookEvery = std::chrono::minutes(1);

std::string bracketed(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

}  // namespace

Serving::Serving(frame::RoleContext& context, ServingOptions options)
    : context_(context), options_(std::move(options)), addresses_{options_.bind} {}

Result<std::unique_ptr<Serving>> Serving::start(frame::RoleContext& context,
                                                const ServerFlags& flags, ServingOptions options) {
  std::unique_ptr<Serving> serving(new Serving(context, std::move(options)));
  if (auto ok = serving->openAll(flags); !ok) return pass(ok.error());
  if (auto ok = serving->listen(); !ok) return pass(ok.error());
  auto kubeconfig =
      writeKubeconfig(serving->options_.dataDir, serving->url(), serving->credentials_);
  if (!kubeconfig) return pass(kubeconfig.error());
  serving->kubeconfig_ = std::move(*kubeconfig);
  serving->lookLater();
  return serving;
}

Result<> Serving::openAll(const ServerFlags& flags) {
  auto credentials =
      openCredentials(options_.dataDir, addresses_, context_.clock.wall(), std::string());
  if (!credentials) return pass(credentials.error());
  credentials_ = std::move(*credentials);
  auto security = flags.podSecurity();
  if (!security) return pass(security.error());
  auto size = flags.storeLimit();
  if (!size) return pass(size.error());
  auto sealing = flags.sealing();
  if (!sealing) return pass(sealing.error());
  auto audit = flags.openAudit(context_.clock);
  if (!audit) return pass(audit.error());
  audit_ = std::move(*audit);
  auto embedded = EmbeddedServer::open(context_.clock, context_.owner, context_.metrics,
                                       {.dataDir = options_.dataDir,
                                        .caPem = credentials_.caPem,
                                        .io = &context_.io,
                                        .podSecurity = std::move(*security),
                                        .storeSize = *size,
                                        .sealing = std::move(*sealing),
                                        .isOwnAddress = options_.isOwnAddress,
                                        .tokenVolumes = true,
                                        .windowEvents = options_.windowEvents,
                                        .windowBytes = options_.windowBytes});
  if (!embedded) return pass(embedded.error());
  embedded_ = std::move(*embedded);
  auto secrets = readSecrets(options_.dataDir);
  if (!secrets) return pass(secrets.error());
  secrets_ = std::move(*secrets);
  return {};
}

net::TlsServerOptions Serving::tls() const {
  return {credentials_.serving.certPem, credentials_.serving.keyPem, credentials_.caPem,
          net::ClientCertificates::kRequest};
}

Result<> Serving::listen() {
  net::ServerOptions options;
  options.bind = options_.bind;
  options.port = options_.port;
  options.tls = tls();
  auto identify = [this](const net::HttpRequest& request, const RequestInfo& info) {
    return embedded_->authenticator().authenticate(request.peer, request.headers, info);
  };
  auto refused = [this](const net::HttpRequest& request, const RequestInfo& info) {
    return embedded_->authenticator()
        .known(request.peer, request.headers, info)
        .value_or(Identity());
  };
  auto front = HttpFront::listen(
      context_.io, options, {context_.owner, embedded_->server(), identify, refused, audit_.get()});
  if (!front) return pass(front.error());
  front_ = std::move(*front);
  return {};
}

std::string Serving::url() const {
  return fmt::format("https://{}:{}", bracketed(options_.bind), front_->port());
}

std::string Serving::announcement() const {
  return fmt::format("API server on {}, kubeconfig {}", url(), kubeconfig_);
}

Result<> Serving::alsoKnownAs(const std::string& address) {
  addresses_.push_back(address);
  auto credentials =
      openCredentials(options_.dataDir, addresses_, context_.clock.wall(), credentials_.caPem);
  if (!credentials) return pass(credentials.error());
  return takeOver(std::move(*credentials));
}

Result<> Serving::listenAlso(const std::string& address) {
  if (auto ok = alsoKnownAs(address); !ok) return ok;
  net::ServerOptions options;
  options.bind = address;
  options.port = front_->port();
  options.tls = tls();
  return front_->alsoListen(context_.io, std::move(options));
}

// Connections that are there keep the certificate they began with.
Result<> Serving::takeOver(Credentials now) {
  const bool authority = now.caPem != credentials_.caPem;
  const bool tokens = now.adminToken != credentials_.adminToken;
  const bool serving = now.serving.certPem != credentials_.serving.certPem;
  if (!authority && !tokens && !serving) return {};
  Credentials before = std::exchange(credentials_, std::move(now));
  for (const auto& http : front_->https())
    if (auto ok = http->setTls(tls()); !ok) return credentials_ = std::move(before), ok;
  if (authority) embedded_->setAuthority(credentials_.caPem);
  if (serving) logger.info("the server has a new certificate");
  if (authority) logger.info("the authority has changed; kubeconfig and kube-root-ca.crt name it");
  if (!authority && !tokens) return {};
  auto written = writeKubeconfig(options_.dataDir, url(), credentials_);
  return written ? Result<>() : pass(written.error());
}

Result<> Serving::lookAtSecrets() {
  auto now = readSecrets(options_.dataDir);
  if (!now) return pass(now.error());
  if (now->tokens != secrets_.tokens) {
    auto tokens = StaticTokens::parse(now->tokens);
    if (!tokens) return tokens.error().in("{}/tokens.csv", options_.dataDir);
    embedded_->authenticator().setTokens(std::move(*tokens));
    logger.info("tokens.csv has changed: its tokens count from now on");
  }
  if (now->signingKey != secrets_.signingKey) {
    auto key = SigningKey::fromPem(now->signingKey);
    if (!key) return key.error().in("{}/service-account.key", options_.dataDir);
    embedded_->setSigningKey(std::move(*key));
    logger.info("service-account.key has changed: it signs from now on");
  }
  secrets_ = std::move(*now);
  return {};
}

void Serving::look() {
  auto credentials =
      openCredentials(options_.dataDir, addresses_, context_.clock.wall(), credentials_.caPem);
  Result<> done = credentials ? takeOver(std::move(*credentials)) : pass(credentials.error());
  if (done) done = lookAtSecrets();
  if (!done) logger.warn("credentials stay as they are: {}", done.error().text());
}

void Serving::lookLater() {
  next_ = life_.later(context_.clock, context_.owner, kLookEvery, [this] {
    look();
    lookLater();
  });
}

void Serving::stopListening(Duration grace) {
  next_.reset();
  front_->shutdown(grace);
  front_.reset();
}

}  // namespace mangrove::apiserver
