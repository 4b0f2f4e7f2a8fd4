#pragma once
// Every namespace has a ServiceAccount "default" and a ConfigMap "kube-root-ca.crt" with the
// certificate pods check the API server by. Both come with the namespace, and come back when
// somebody removes them or changes the certificate.
//
//   DefaultAccounts accounts(context, caPem);
//   context.observers.push_back(&accounts);
//   accounts.refresh();                        // namespaces that were there before
//
// An Observer; owner thread. Must outlive the messages in context.owner.

#include <string>
#include <string_view>

#include "apiserver/core/server.h"

namespace mangrove::apiserver {

class DefaultAccounts final : public Observer {
 public:
  DefaultAccounts(Context& context, std::string caPem)
      : context_(context), caPem_(std::move(caPem)) {}

  void changed(const Resource& resource, const store::ObjectPtr& now,
               const store::ObjectPtr& before) override;
  void refresh();
  // What pods check the server by from now on; every namespace is told.
  void setCa(std::string caPem);

 private:
  void furnish(const std::string& ns);
  void create(std::string_view plural, json::Object object);
  void restoreCa(const std::string& ns);

  Context& context_;
  std::string caPem_;
};

}  // namespace mangrove::apiserver
