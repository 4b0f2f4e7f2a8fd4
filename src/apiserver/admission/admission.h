#pragma once
// Admission: who may change or refuse an object on its way into the store. One chain for built-in
// rules, handlers of roles that run in the same process (the manager under `mangrove up`), and
// webhooks over HTTPS.
//
// Order, as in Kubernetes: all mutating plugins in list order (those that ask for it a second time
// when a later one changed the object), then defaults and schema validation by the caller, then all
// validating plugins. Every plugin may take its time: it answers through `done`, on the owner
// thread. Plugins are told of dry runs and must then have no side effects.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/object/verbs.h"
#include "apiserver/answer.h"
#include "apiserver/core/resources.h"
#include "apiserver/identity.h"
#include "base/fn.h"
#include "json/value.h"

namespace mangrove::apiserver {

using api::Operation;
using api::operationName;

struct AdmissionRequest {
  ResourcePtr resource;
  std::string subresource;
  Operation operation = Operation::kCreate;
  std::string ns;
  std::string name;  // may be "" for creates with generateName
  Identity who;
  json::Value object;     // null for deletes
  json::Value oldObject;  // null for creates
  json::Value options;    // CreateOptions, UpdateOptions, DeleteOptions
  bool dryRun = false;
  std::vector<std::string> warnings;                    // plugins add to it
  std::map<std::string, std::string> auditAnnotations;  // … and to this, for the audit log
  // Set by plugins that let others change the object (webhooks, handlers of roles): it is decoded
  // and given defaults once more, as if a client had sent it.
  bool isForeign = false;
};

class AdmissionPlugin {
 public:
  virtual ~AdmissionPlugin() = default;
  virtual std::string_view name() const = 0;

  // nullopt: go on. Otherwise the request ends with this answer.
  using Done = UniqueFn<void(std::optional<Answer>)>;
  // May change request.object. The request lives until `done` has been called.
  virtual void mutate(AdmissionRequest& request, Done done) { (void)request, done(std::nullopt); }
  virtual void validate(AdmissionRequest& request, Done done) { (void)request, done(std::nullopt); }
};

class AdmissionChain {
 public:
  void add(std::unique_ptr<AdmissionPlugin> plugin) { plugins_.push_back(std::move(plugin)); }
  void mutate(AdmissionRequest& request, AdmissionPlugin::Done done);
  void validate(AdmissionRequest& request, AdmissionPlugin::Done done);

 private:
  std::vector<std::unique_ptr<AdmissionPlugin>> plugins_;
};

}  // namespace mangrove::apiserver
