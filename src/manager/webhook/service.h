#pragma once
// Admission as a whole, for the manager's role: picture of the cluster, certificates, HTTPS server,
// registration. Runs on every replica, leader or not.
//
//   AdmissionService admission({.client = &client, .owner = &owner, .home = &worker.mailbox(),
//                               .io = &io, .clock = &clock, .metrics = &metrics, .events = &events,
//                               .gates = &gates, .options = options});
//   admission.start();
//   health.ready("webhook", admission.readiness());
//   admission.stop(5s);
//
// Owner thread.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/feature_gates.h"
#include "base/lifetime.h"
#include "client/events/event_recorder.h"
#include "frame/flags.h"
#include "manager/webhook/certificate_keeper.h"
#include "manager/webhook/cluster_picture.h"
#include "manager/webhook/owner_judge.h"
#include "manager/webhook/registrar.h"
#include "manager/webhook/server.h"
#include "manager/webhook/watchdog.h"

namespace mangrove::manager {

struct AdmissionOptions {
  // Environment variables of the reference.
  std::string mutatingName, validatingName;
  std::string host;  // WEBHOOK_HOST: API servers reach us here, not through a Service
  std::string ns, secret, service;
  int port = 0;
  std::string certDirectory;
  bool certFiles = false;  // certificates live in the directory, not in the Secret

  // Flags.
  std::string bind = "0.0.0.0";
  std::string configNamespace = "koordinator-system";
  std::string configName = "slo-controller-config";
  std::string rulesNamespace = "koordinator-system";  // of the enhanced validator
  std::string rulesName{api::object::kEnhancedValidatorConfig};
  bool entryNamesRequired = false;
  int64_t quotaMaxRetries = 3;
  Duration quotaRetryJitter{};
  Duration quotaMaxTotalJitter = std::chrono::seconds(1);
  BindingRules binding;
  bool casterNames = false;
  bool refuseWithoutAmounts = false;
  std::string workloadScheduler;
};

// What the environment says, on top of the options. Fails on a port that is no number.
using Environment = std::function<std::string(std::string_view name)>;  // "": not set
Result<> readAdmissionEnvironment(AdmissionOptions& options, const Environment& get);
Result<> readAdmissionEnvironment(AdmissionOptions& options);  // of this process
// Declares the flags of admission; the role adds them to its own.
void declareAdmissionFlags(frame::Flags& flags, AdmissionOptions& options);

struct AdmissionSetup {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Mailbox* home = nullptr;
  net::Loop* io = nullptr;
  Clock* clock = nullptr;
  Registry* metrics = nullptr;
  client::EventRecorder* events = nullptr;
  const FeatureGates* gates = nullptr;  // knows kWebhookGates
  AdmissionOptions options;
  // Labels of all nodes, for configuration checks; owner thread. Empty: not checked.
  std::function<std::vector<NodeLabels>()> nodes;
};

class AdmissionService {
 public:
  explicit AdmissionService(AdmissionSetup setup);
  ~AdmissionService();

  void start();
  // Ends what is under way, at most `grace`; then nobody is answered any more.
  void stop(Duration grace);

  // Says why we are not ready yet; any thread, also after we are gone.
  std::function<Result<>()> readiness() const;
  std::shared_ptr<const Surroundings> picture() const { return picture_.now(); }
  uint16_t port() const { return server_ ? server_->port() : 0; }

 private:
  void certificatesChanged(const WebhookCertificates& certs);
  RegistrationFacts factsOf(const WebhookCertificates& certs) const;
  void probe();

  AdmissionSetup setup_;
  ClusterPicture picture_;
  CertificateKeeper keeper_;
  Registrar registrar_;
  WebhookWatchdog watchdog_;
  OwnerJudge judge_;
  std::unique_ptr<WebhookServer> server_;
  Timer probe_, retry_;
  std::shared_ptr<std::atomic<bool>> ready_ = std::make_shared<std::atomic<bool>>(false);
  Lifetime life_;
};

}  // namespace mangrove::manager
