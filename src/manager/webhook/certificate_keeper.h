#pragma once
// Sees to it that there are certificates, that all replicas have the same ones, and that they are
// renewed: reads them every minute from a Secret (or a directory), writes new ones when they are
// missing or old, and tells when they changed. Two replicas that renew at once do not harm: the
// Secret's version decides who was first, the other one takes what is there.
//
//   CertificateKeeper keeper({.client = &client, .owner = &owner, …},
//                            [&](const WebhookCertificates& c) { server.setTls(…); });
//   keeper.start();
//
// Owner thread.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "client/api_client.h"
#include "manager/webhook/certificates.h"

namespace mangrove::manager {

struct KeeperSetup {
  client::ApiClient* client = nullptr;  // unused with a directory
  Mailbox* owner = nullptr;
  Clock* clock = nullptr;
  std::string ns, secret;  // where replicas share them
  std::string directory;   // instead of a Secret
  ServerNames names;
  Duration period = std::chrono::minutes(1);
};

class CertificateKeeper {
 public:
  using Changed = std::function<void(const WebhookCertificates&)>;
  CertificateKeeper(KeeperSetup setup, Changed changed);
  ~CertificateKeeper();

  void start();
  const std::optional<WebhookCertificates>& current() const { return current_; }
  // Why there are none, or why they could not be renewed; "" when all is well.
  const std::string& trouble() const { return trouble_; }

 private:
  void look();
  void lookAtDirectory();
  void heard(Result<client::Reply> reply);
  void judge(std::optional<WebhookCertificates> found, const std::string& version);
  void write(const WebhookCertificates& certs, const std::string& version);
  void accept(const WebhookCertificates& certs);
  void again(Duration after, std::string why);

  KeeperSetup setup_;
  Changed changed_;
  std::optional<WebhookCertificates> current_;
  std::string trouble_;
  Timer timer_;
  Lifetime life_;
};

}  // namespace mangrove::manager
