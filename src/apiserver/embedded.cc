#include "apiserver/embedded.h"

#include <optional>

#include "apiserver/admission/builtin_addresses.h"
#include "apiserver/admission/builtin_certificates.h"
#include "apiserver/admission/builtin_claims.h"
#include "apiserver/admission/builtin_limits.h"
#include "apiserver/admission/builtin_namespace.h"
#include "apiserver/admission/builtin_pods.h"
#include "apiserver/admission/builtin_priority.h"
#include "apiserver/admission/builtin_quota.h"
#include "apiserver/admission/builtin_rules.h"
#include "apiserver/admission/builtin_services.h"
#include "apiserver/admission/builtin_tokens.h"
#include "apiserver/admission/builtin_warnings.h"
#include "apiserver/admission/webhook.h"
#include "apiserver/auth/bootstrap.h"
#include "apiserver/auth/credential_files.h"
#include "apiserver/auth/default_service_account.h"
#include "apiserver/auth/node_rights.h"
#include "apiserver/auth/rbac.h"
#include "apiserver/auth/rbac_guard.h"
#include "apiserver/auth/reviews.h"
#include "apiserver/auth/routes.h"
#include "apiserver/backup.h"
#include "apiserver/core/service_place.h"
#include "apiserver/core/store_metrics.h"
#include "apiserver/data_dir.h"
#include "apiserver/in_process_client.h"
#include "apiserver/lifecycle/certificate_signer.h"
#include "apiserver/lifecycle/custom_resources.h"
#include "apiserver/lifecycle/event_expiry.h"
#include "apiserver/lifecycle/garbage_collector.h"
#include "apiserver/lifecycle/namespaces.h"
#include "apiserver/lifecycle/stored_fields.h"
#include "apiserver/output/serve.h"
#include "apiserver/pod_security/admission.h"
#include "apiserver/subresources/proxy.h"
#include "apiserver/subresources/subresources.h"
#include "base/os/log.h"
#include "client/events/event_recorder.h"

namespace mangrove::apiserver {

namespace {

const Logger log("apiserver");

// Secrets on disk, or made for this run.
struct Secrets {
  SigningKey key;
  StaticTokens tokens;
};

Result<Secrets> openSecrets(const std::string& dir) {
  if (dir.empty()) {
    auto key = SigningKey::makePem().and_then(
        [](const std::string& pem) { return SigningKey::fromPem(pem); });
    if (!key) return pass(key.error());
    return Secrets{std::move(*key), {}};
  }
  auto key = openSigningKey(dir + "/service-account.key");
  if (!key) return pass(key.error());
  auto tokens = openTokens(dir + "/tokens.csv");
  if (!tokens) return pass(tokens.error());
  return Secrets{std::move(*key), std::move(*tokens)};
}

}  // namespace

// In the order in which they need each other; destroyed in reverse.
struct EmbeddedServer::Parts {
  Parts(Clock& clock, Mailbox& owner, Registry& metrics, std::unique_ptr<store::Store> opened,
        Secrets secrets, const EmbeddedOptions& options)
      : store(std::move(opened)),
        podSecurity(options.podSecurity),
        isOwnAddress(options.isOwnAddress),
        tokenVolumes(options.tokenVolumes),
        dataDir(options.dataDir),
        rng(options.seed ? options.seed
                         : static_cast<uint64_t>(clock.wall().time_since_epoch().count())),
        nodes(*store, rbac),
        context{clock, owner, *store, resources, admission, nodes, metrics, rng},
        serviceAccounts(std::move(secrets.key), {}, clock, *store),
        authenticator(std::move(secrets.tokens), &serviceAccounts, nodes),
        reviews(authenticator, rbac, nodes),
        aggregation(context, rbac),
        accounts(context, options.caPem),
        custom(context),
        namespaces(context),
        collector(context),
        expiry(context),
        signer(context, [dir = options.dataDir] { return readAuthority(dir); }),
        server(context),
        eventClient(owner, server, Identity::system(), "mangrove-apiserver"),
        events(eventClient, owner, clock, {.component = "mangrove-apiserver"}) {}

  void start(net::Loop* io) {
    if (auto loaded = rbac.load(*store); !loaded) log.warn("RBAC: {}", loaded.error().text());
    context.observers = {&rbac,       &aggregation, &accounts, &custom,
                         &namespaces, &collector,   &expiry,   &signer};
    chainAdmission(io);
    serve();
    if (io) serveProxies(server, context, *io);
    recover();
  }

  // The order of Kubernetes: what the server knows first, strangers last.
  void chainAdmission(net::Loop* io) {
    admission.add(std::make_unique<NamespaceAdmission>(*store));
    admission.add(std::make_unique<LimitAdmission>(*store));
    admission.add(std::make_unique<PodAdmission>(*store));
    if (tokenVolumes) admission.add(std::make_unique<TokenVolumes>(*store, rng));
    admission.add(std::make_unique<PriorityAdmission>(*store));
    admission.add(std::make_unique<ClaimAdmission>(*store));
    auto services = std::make_unique<ServiceAdmission>(context);
    services->load();
    context.observers.push_back(services.get());
    admission.add(std::move(services));
    admission.add(std::make_unique<RbacGuard>(rbac));
    if (isOwnAddress) admission.add(std::make_unique<AddressGuard>(rbac, isOwnAddress));
    admission.add(std::make_unique<NodeRestriction>(*store));
    admission.add(std::make_unique<pod_security::PodSecurity>(*store, podSecurity));
    admission.add(std::make_unique<CertificateAdmission>());
    admission.add(std::make_unique<UnevaluatedRules>());
    admission.add(std::make_unique<Warnings>());
    if (io) {
      WebhookOptions options;
      options.resolveService = [this](const ServiceReference& to) {
        return placeOfService(*store, to.ns, to.name, std::to_string(to.port), rng);
      };
      options.failed = [this](const Webhook& webhook, WebhookType type,
                              const std::string& sentence) { tell(webhook, type, sentence); };
      auto hooks = std::make_unique<Webhooks>(context, *io, std::move(options));
      hooks->load();
      context.observers.push_back(hooks.get());
      admission.add(std::move(hooks));
    }
    auto quotas = std::make_unique<QuotaAdmission>(context);
    context.observers.push_back(quotas.get());
    admission.add(std::move(quotas));
  }

  // A webhook that does not answer stops or lets through what others do: whoever installed it finds
  // out by `kubectl describe`.
  void tell(const Webhook& webhook, WebhookType type, const std::string& sentence) {
    api::ObjectRef about;
    about.apiVersion = "admissionregistration.k8s.io/v1";
    about.kind = type == WebhookType::kMutating ? "MutatingWebhookConfiguration"
                                                : "ValidatingWebhookConfiguration";
    about.name = webhook.configuration;
    events.warning(about, "FailedCallingWebhook", sentence);
  }

  void serve() {
    serveDiscovery(server, context);
    serveOpenApi(server, context);
    serveTokens(server, context, serviceAccounts);
    serveReviews(server, reviews);
    serveNoMeasurements();
    serveSubresources(server, context, [this] { return runner; });
    namespaces.install(server);
    serveHealth();
    serveMetrics(server, context);
    serveBackup(server, context, dataDir);
  }

  // Until somebody who measures takes over (up/metrics_api.h).
  void serveNoMeasurements() {
    for (const char* plural : {"nodes", "pods"}) {
      server.onSubresource(
          "metrics.k8s.io", plural, "", [](const Call&, ResourcePtr, ResponderPtr to) {
            to->answer(
                answer::unavailable("nobody measures nodes and pods here; `mangrove up` does"));
          });
    }
  }

  // What an earlier run left undone, then what every server has.
  void recover() {
    custom.recover();
    namespaces.recover();
    collector.recover();
    expiry.recover();
    signer.recover();
    ensureNamespaces(context, kInitialNamespaces);
    ensurePriorityClasses(context);
    createBootstrapObjects(context, bootstrapObjects());
    aggregation.refresh();
    accounts.refresh();
    custom.installBuiltIn();
  }

  // A full disk is no reason to be restarted: reads go on, and nothing would be better afterwards.
  void serveHealth() {
    for (const std::string path : {"/healthz", "/livez", "/readyz"}) {
      server.onPath(path, [this, live = path == "/livez"](const Call&, ResponderPtr to) {
        const auto failure = live ? std::nullopt : store->stats().writeFailure;
        Answer answer =
            answer::json(failure ? 500 : 200, failure ? "store: " + failure->text() : "ok");
        answer.contentType = "text/plain";
        to->answer(std::move(answer));
      });
    }
  }

  std::unique_ptr<store::Store> store;
  frame::NodeRunner* runner = nullptr;
  const pod_security::Configuration podSecurity;
  const net::IsOwnAddress isOwnAddress;
  const bool tokenVolumes;
  const std::string dataDir;
  Resources resources;
  AdmissionChain admission;
  Rbac rbac;
  Rng rng;
  NodeAuthorizer nodes;
  Context context;
  ServiceAccountTokens serviceAccounts;
  Authenticator authenticator;
  Reviews reviews;
  RoleAggregation aggregation;
  DefaultAccounts accounts;
  CustomResources custom;
  NamespaceLifecycle namespaces;
  GarbageCollector collector;
  EventExpiry expiry;
  CertificateSigner signer;
  Server server;
  InProcessClient eventClient;
  client::EventRecorder events;
};

Result<std::unique_ptr<EmbeddedServer>> EmbeddedServer::open(Clock& clock, Mailbox& owner,
                                                             Registry& metrics,
                                                             EmbeddedOptions options) {
  auto secrets = openSecrets(options.dataDir);
  if (!secrets) return pass(secrets.error());
  // Told before it reads, so that every object is indexed once.
  store::Options kept{.dir = options.dataDir,
                      .resources = storedFields(Resources()),
                      .maxSize = options.storeSize,
                      .onBatch = batchMetrics(metrics)};
  kept.seal = options.sealing;
  if (options.windowEvents > 0) kept.windowEvents = options.windowEvents;
  if (options.windowBytes.v > 0) kept.windowBytes = options.windowBytes;
  auto store = store::Store::open(std::move(kept), [&owner](Fn fn) { owner.post(std::move(fn)); });
  if (!store) return pass(store.error());
  auto parts = std::make_unique<Parts>(clock, owner, metrics, std::move(*store),
                                       std::move(*secrets), options);
  parts->start(options.io);
  // The first client must find everything it was promised, the built-in custom resources included.
  parts->store->flush();
  return std::unique_ptr<EmbeddedServer>(new EmbeddedServer(std::move(parts)));
}

EmbeddedServer::EmbeddedServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
EmbeddedServer::~EmbeddedServer() = default;

Server& EmbeddedServer::server() {
  return parts_->server;
}
Context& EmbeddedServer::context() {
  return parts_->context;
}
Authenticator& EmbeddedServer::authenticator() {
  return parts_->authenticator;
}
void EmbeddedServer::setRunner(frame::NodeRunner* runner) {
  parts_->runner = runner;
}
void EmbeddedServer::setAuthority(std::string caPem) {
  parts_->accounts.setCa(std::move(caPem));
}
void EmbeddedServer::setSigningKey(SigningKey key) {
  parts_->serviceAccounts.setKey(std::move(key));
}
void EmbeddedServer::close() {
  parts_->store->close();
}

}  // namespace mangrove::apiserver
