#include "manager/webhook/service.h"

#include <utility>

#include "api/names.h"
#include "base/log.h"
#include "base/time_text.h"
#include "manager/webhook/pod/colocate.h"
#include "manager/webhook/quota/pods_of_quota.h"
#include "manager/webhook/server_core.h"

namespace mangrove::manager {
namespace {

const Logger log("webhook");

constexpr Duration kPatience = std::chrono::seconds(8);     // below the API server's own of 10
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

DeskSetup deskSetup(const AdmissionSetup& setup, ClusterPicture& picture) {
  DeskSetup out;
  out.client = setup.client;
  out.owner = setup.owner;
  out.clock = setup.clock;
  out.picture = &picture;
  out.maxRetries = static_cast<int>(setup.options.quotaMaxRetries);
  out.retryJitter = setup.options.quotaRetryJitter;
  out.maxTotalJitter = setup.options.quotaMaxTotalJitter;
  if (setup.clock != nullptr)
    out.seed = static_cast<uint64_t>(setup.clock->wall().time_since_epoch().count());
  return out;
}

client::InformerSetup followed(const AdmissionSetup& setup) {
  client::InformerSetup out;
  out.client = setup.client;
  out.owner = setup.owner;
  out.home = setup.home;
  out.clock = setup.clock;
  out.raw = client::RawKeep::kNone;
  return out;
}

// Pods that ask for colocation by label escape the namespace's ResourceQuota otherwise.
bool asksByLabel(const AdmissionRequest& request) {
  const json::View labels = request.object["metadata"]["labels"];
  return request.operation == Operation::kCreate &&
         (labels[kCasterResourceType].exists() || labels[kResourceType].exists());
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
      desk_(deskSetup(setup_, picture_)),
      namespaceQuotas_(followed(setup_)) {}

AdmissionService::~AdmissionService() {
  alive_.reset();
}

void AdmissionService::start() {
  picture_.start();
  registrar_.start();
  keeper_.start();
  namespaceQuotas_.start();
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
  later(kProbeEvery, probe_, [this] { probe(); });
}

void AdmissionService::later(Duration delay, Timer& timer, std::function<void()> fn) {
  timer = setup_.clock->after(
      delay, [owner = setup_.owner, alive = std::weak_ptr<int>(alive_), fn = std::move(fn)] {
        owner->post([alive, fn] {
          if (!alive.expired()) fn();
        });
      });
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
  const std::weak_ptr<int> alive = alive_;
  server.onOwner = [this, alive](const Route& route, const AdmissionRequest& request,
                                 ReviewDone done) {
    if (!alive.expired()) judge(route, request, std::move(done));
  };
  server.needsSecondLook = [any = namespaceQuotas_.anyFlag()](const AdmissionRequest& request,
                                                              const Surroundings& around) {
    if (request.resource != "pods" || !request.group.empty() || !request.subresource.empty())
      return false;
    return around.gates.quotaAdmission || (*any && asksByLabel(request));
  };
  server.secondLook = [this, alive](const AdmissionRequest& request, ReviewDone done) {
    if (!alive.expired()) secondLook(request, std::move(done));
  };
  auto started = WebhookServer::start(std::move(server));
  if (!started) {
    log.error("{}; trying again in {}", started.error().text(), formatDuration(kListenAgain));
    return later(kListenAgain, retry_, [this] {
      if (!server_ && keeper_.current()) certificatesChanged(*keeper_.current());
    });
  }
  server_ = std::move(*started);
  log.info("admission is served at {}", server_->url());
  registrar_.announce(factsOf(certs));
}

void AdmissionService::judge(const Route& route, const AdmissionRequest& request, ReviewDone done) {
  if (route.resource == "elasticquotas") return judgeQuota(route, request, std::move(done));
  if (route.subresource == "binding") return judgeBinding(route, request, std::move(done));
  Surroundings around = *picture_.now();
  if (setup_.nodes) around.nodes = std::make_shared<const std::vector<NodeLabels>>(setup_.nodes());
  done(callHandler(route, request, around));
}

void AdmissionService::judgeBinding(const Route& route, const AdmissionRequest& request,
                                    ReviewDone done) {
  client::Request get;
  get.ref = {client::kind::kPod, request.ns, request.name};
  get.timeout = kPatience;
  setup_.client->submit(*setup_.owner, std::move(get),
                        [this, &route, &request, done = std::move(done),
                         alive = std::weak_ptr<int>(alive_)](Result<client::Reply> reply) mutable {
                          if (alive.expired()) return;
                          Surroundings around = *picture_.now();
                          auto pod =
                              reply ? api::decodeText<api::Pod>(reply->body) : pass(reply.error());
                          around.findPod = [&pod](std::string_view, std::string_view) {
                            return pod ? std::make_shared<const api::Pod>(*pod) : nullptr;
                          };
                          done(callHandler(route, request, around));
                        });
}

void AdmissionService::judgeQuota(const Route& route, const AdmissionRequest& request,
                                  ReviewDone done) {
  picture_.settle();
  const auto answer = [this, &route, &request](const PodsOfQuota& pods, ReviewDone& reply) {
    Surroundings around = *picture_.now();
    around.podsOfQuota = [&pods](std::string_view, const std::vector<std::string>&) {
      return pods;
    };
    Review review = callHandler(route, request, around);
    if (review.allowed && !route.mutating && !request.dryRun) {
      auto object = api::decode<api::ElasticQuota>(
          request.operation == Operation::kDelete ? request.oldObject : request.object);
      auto quota = object ? quotaOf(*object) : pass(object.error());
      if (quota && request.operation == Operation::kDelete)
        picture_.expectGone(quota->ns, quota->name);
      else if (quota)
        picture_.expect(std::move(*quota));
    }
    reply(std::move(review));
  };
  auto old = request.oldObject.exists() ? api::decode<api::ElasticQuota>(request.oldObject)
                                        : api::ElasticQuota();
  auto quota = old ? quotaOf(*old) : pass(old.error());
  const bool deleting = request.operation == Operation::kDelete;
  const bool asks = !route.mutating && quota &&
                    (deleting || (request.operation == Operation::kUpdate && !quota->isParent));
  if (!asks) return answer({}, done);
  std::vector<std::string> namespaces;
  if (!deleting) {
    namespaces = quota->namespaces;
    namespaces.push_back(quota->name);
  }
  askPodsOfQuota(
      *setup_.client, *setup_.owner, quota->name, namespaces,
      [answer, done = std::move(done),
       alive = std::weak_ptr<int>(alive_)](Result<PodsOfQuota> pods) mutable {
        if (alive.expired()) return;
        if (!pods)
          return done(Review::refuse(kBrokenHandler, "pods-of-quota", pods.error().text()));
        answer(*pods, done);
      });
}

void AdmissionService::secondLook(const AdmissionRequest& request, ReviewDone done) {
  auto pod = api::decode<api::Pod>(request.object);
  auto old = request.oldObject.exists() ? api::decode<api::Pod>(request.oldObject) : api::Pod();
  if (!pod || !old)
    return done(Review::refuse(kBadRequest, "unreadable", "the pod cannot be read"));
  const std::string ns = pod->meta.ns.empty() ? request.ns : pod->meta.ns.str();
  if (!asksByLabel(request)) return charge(request, *pod, ns, std::move(done));
  namespaceQuotas_.judge(*pod, ns,
                         [this, &request, pod = *pod, ns, done = std::move(done),
                          alive = std::weak_ptr<int>(alive_)](Review review) mutable {
                           if (alive.expired()) return;
                           if (!review.allowed) return done(std::move(review));
                           charge(request, pod, ns, std::move(done));
                         });
}

// The request lives as long as its answer is not given.
void AdmissionService::charge(const AdmissionRequest& request, const api::Pod& pod,
                              const std::string& ns, ReviewDone done) {
  const auto around = picture_.now();
  auto old = request.oldObject.exists() ? api::decode<api::Pod>(request.oldObject) : api::Pod();
  if (!around->gates.quotaAdmission || !old) return done(Review());
  const std::string quota =
      quotaToCharge(pod, request.oldObject.exists() ? &*old : nullptr, ns, *around);
  if (quota.empty()) return done(Review());
  desk_.book(quota, chargeOf(pod, around->gates, setup_.clock->wall()), request.dryRun,
             std::move(done));
}

}  // namespace mangrove::manager
