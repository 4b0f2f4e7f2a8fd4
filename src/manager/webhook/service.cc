#include "manager/webhook/service.h"

#include <utility>

#include "api/wire/names.h"
#include "base/os/log.h"
#include "base/text/time_text.h"

namespace mangrove::manager {
namespace {

const Logger log("webhook");

constexpr Duration kListenAgain = std::chrono::seconds(5);  // the port may be taken for a while
constexpr Duration kProbeEvery = std::chrono::milliseconds(100);  // until the caches are filled

PictureSetup pictureSetup(const AdmissionSetup& setup) {
  PictureSetup out;
  out.client = setup.client;
  out.owner = setup.owner;
  out.home = setup.home;
  out.clock = setup.clock;
  out.metrics = setup.metrics;
  out.configNamespace = setup.options.configNamespace;
  out.configName = setup.options.configName;
  out.rulesNamespace = setup.options.rulesNamespace;
  out.rulesName = setup.options.rulesName;
  if (setup.gates != nullptr) out.fixed.gates = webhookGatesOf(*setup.gates);
  out.fixed.binding = std::make_shared<const BindingRules>(setup.options.binding);
  out.fixed.entryNamesRequired = setup.options.entryNamesRequired;
  out.fixed.byLabel.casterNames = setup.options.casterNames;
  out.fixed.byLabel.refuseWithoutAmounts = setup.options.refuseWithoutAmounts;
  out.fixed.defaultScheduler = setup.options.workloadScheduler;
  return out;
}

KeeperSetup keeperSetup(const AdmissionSetup& setup) {
  KeeperSetup out;
  out.client = setup.client;
  out.owner = setup.owner;
  out.clock = setup.clock;
  out.ns = setup.options.ns;
  out.secret = setup.options.secret;
  if (setup.options.certFiles) out.directory = setup.options.certDirectory;
  out.names = setup.options.host.empty() ? namesOfService(setup.options.service, setup.options.ns)
                                         : namesOfHost(setup.options.host);
  return out;
}

RegistrarSetup registrarSetup(const AdmissionSetup& setup) {
  RegistrarSetup out;
  out.client = setup.client;
  out.owner = setup.owner;
  out.home = setup.home;
  out.clock = setup.clock;
  out.metrics = setup.metrics;
  out.events = setup.events;
  out.mutatingName = setup.options.mutatingName;
  out.validatingName = setup.options.validatingName;
  return out;
}

WatchdogSetup watchdogSetup(const AdmissionSetup& setup) {
  WatchdogSetup out;
  out.client = setup.client;
  out.owner = setup.owner;
  out.clock = setup.clock;
  out.metrics = setup.metrics;
  out.events = setup.events;
  out.mutatingName = setup.options.mutatingName;
  out.validatingName = setup.options.validatingName;
  out.ns = setup.options.configNamespace;
  return out;
}

OwnerJudgeSetup judgeSetup(const AdmissionSetup& setup, ClusterPicture& picture) {
  OwnerJudgeSetup out;
  out.client = setup.client;
  out.owner = setup.owner;
  out.home = setup.home;
  out.clock = setup.clock;
  out.picture = &picture;
  out.nodes = setup.nodes;
  out.quotaMaxRetries = static_cast<int>(setup.options.quotaMaxRetries);
  out.quotaRetryJitter = setup.options.quotaRetryJitter;
  out.quotaMaxTotalJitter = setup.options.quotaMaxTotalJitter;
  return out;
}

net::TlsServerOptions tlsOf(const WebhookCertificates& certs) {
  net::TlsServerOptions out;
  out.certPem = certs.cert;
  out.keyPem = certs.key;
  return out;
}

}  // namespace

AdmissionService::AdmissionService(AdmissionSetup setup)
    : setup_(std::move(setup)),
      picture_(pictureSetup(setup_)),
      keeper_(keeperSetup(setup_),
              [this](const WebhookCertificates& certs) { certificatesChanged(certs); }),
      registrar_(registrarSetup(setup_)),
      watchdog_(watchdogSetup(setup_)),
      judge_(judgeSetup(setup_, picture_)) {}

AdmissionService::~AdmissionService() = default;

void AdmissionService::start() {
  picture_.start();
  registrar_.start();
  keeper_.start();
  judge_.start();
  watchdog_.start([this] { return registrar_.registered(); });
  probe();
}

void AdmissionService::stop(Duration grace) {
  probe_.reset();
  retry_.reset();
  if (server_) server_->shutdown(grace);
}

void AdmissionService::probe() {
  *ready_ = server_ != nullptr && picture_.ready();
  if (*ready_) return;
  probe_ = life_.later(*setup_.clock, *setup_.owner, kProbeEvery, [this] { probe(); });
}

std::function<Result<>()> AdmissionService::readiness() const {
  return [ready = ready_]() -> Result<> {
    if (*ready) return {};
    return fail(Code::kUnavailable,
                "admission is not ready yet: certificates or caches are missing");
  };
}

RegistrationFacts AdmissionService::factsOf(const WebhookCertificates& certs) const {
  RegistrationFacts facts;
  facts.caBundle = certs.caCert;
  facts.host = setup_.options.host;
  facts.port = server_->port();
  facts.serviceNamespace = setup_.options.ns;
  facts.serviceName = setup_.options.service;
  const WebhookGates& gates = picture_.now()->gates;
  for (const Route& route : allRoutes())
    if (isActive(route, gates)) facts.paths.insert(std::string(route.path));
  return facts;
}

void AdmissionService::certificatesChanged(const WebhookCertificates& certs) {
  if (server_) {
    auto done = server_->setTls(tlsOf(certs));
    if (!done) log.warn("webhook server: {}", done.error().text());
    registrar_.announce(factsOf(certs));
    return;
  }
  WebhookServerSetup server;
  server.io = setup_.io;
  server.owner = setup_.owner;
  server.clock = setup_.clock;
  server.metrics = setup_.metrics;
  server.events = setup_.events;
  server.bind = setup_.options.bind;
  server.port = static_cast<uint16_t>(setup_.options.port);
  server.tls = tlsOf(certs);
  server.picture = [this] { return picture_.now(); };
  server.ready = readiness();
  // Questions may still be on their way to the owner when we are gone; they end unanswered.
  server.onOwner =
      life_.guard([this](const Route& route, const AdmissionRequest& request, ReviewDone done) {
        judge_.judge(route, request, std::move(done));
      });
  server.needsSecondLook = judge_.needsSecondLook();
  server.secondLook = life_.guard([this](const AdmissionRequest& request, ReviewDone done) {
    judge_.secondLook(request, std::move(done));
  });
  auto started = WebhookServer::start(std::move(server));
  if (!started) {
    log.error("{}; trying again in {}", started.error().text(), formatDuration(kListenAgain));
    retry_ = life_.later(*setup_.clock, *setup_.owner, kListenAgain, [this] {
      if (!server_ && keeper_.current()) certificatesChanged(*keeper_.current());
    });
    return;
  }
  server_ = std::move(*started);
  log.info("admission is served at {}", server_->url());
  registrar_.announce(factsOf(certs));
}

}  // namespace mangrove::manager
