#pragma once
// Signs certificate requests that somebody approved, for Kubernetes' own signers, with the server's
// authority: kubernetes.io/kube-apiserver-client, …-client-kubelet, kubelet-serving, legacy-unknown. A
// request that asks for what its signer does not give gets the condition Failed and why. Requests for
// other signers are left to them.
//
//   CertificateSigner signer(context, [dir] { return readAuthority(dir); });
//   context.observers.push_back(&signer);
//   signer.recover();
//
// An Observer; owner thread. Must outlive the messages in context.owner.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/core/server.h"
#include "net/tls/tls_keys.h"

namespace mangrove::apiserver {

// The certificate that a signer gives for what is asked, or why not. Pure.
struct SigningWish {
  std::string signer;
  std::vector<std::string> usages;
  std::optional<int64_t> expirationSeconds;
};
bool isOwnSigner(std::string_view signer);
Result<net::CertificateInfo> granted(const SigningWish& wish, const net::CertificateInfo& asked,
                                     WallTime now);

class CertificateSigner final : public Observer {
 public:
  using Authority = std::function<Result<net::KeyPair>()>;
  CertificateSigner(Context& context, Authority authority)
      : context_(context), authority_(std::move(authority)) {}

  void changed(const Resource& resource, const store::ObjectPtr& now,
               const store::ObjectPtr& before) override;
  void recover();

 private:
  void examine(const std::string& name);
  Result<std::string> certificateFor(const json::Object& spec) const;

  Context& context_;
  Authority authority_;
};

}  // namespace mangrove::apiserver
