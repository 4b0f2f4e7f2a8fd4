#pragma once
// What a node may do: a kubelet with a credential of its own sees and changes what concerns its
// pods, nothing else, so that a stolen one opens one machine and not the cluster.
//
//   NodeAuthorizer authorizer(store, rbac);      // asked before RBAC, for users system:node:NAME
//   chain.add(std::make_unique<NodeRestriction>(store));
//
// A node is whoever is in the group system:nodes and is called system:node:NAME; no role is bound
// to the group. The authorizer says which kinds and which objects, by what the pods bound to the
// node refer to; the admission plugin says what a node may write into them. Owner thread.

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/admission/admission.h"
#include "apiserver/auth/authorizer.h"
#include "store/store.h"

namespace mangrove::apiserver {

// "n1" of the identity of node n1; nullopt for everybody else.
std::optional<std::string> nodeNameOf(const Identity& who);

class NodeAuthorizer final : public Authorizer {
 public:
  NodeAuthorizer(const store::Store& store, Authorizer& others) : store_(store), others_(others) {}
  Decision authorize(const Identity& who, const Attributes& what) override;

 private:
  const store::Store& store_;
  Authorizer& others_;
};

class NodeRestriction final : public AdmissionPlugin {
 public:
  explicit NodeRestriction(const store::Store& store) : store_(store) {}
  std::string_view name() const override { return "NodeRestriction"; }
  void validate(AdmissionRequest& request, Done done) override;

 private:
  std::optional<std::string> refusal(const AdmissionRequest& request,
                                     const std::string& node) const;
  std::optional<std::string> ofPod(const AdmissionRequest& request, const std::string& node) const;
  std::optional<std::string> ofToken(const AdmissionRequest& request,
                                     const std::string& node) const;

  const store::Store& store_;
};

// Does a pod of this spec need that object? `plural`: secrets, configmaps, persistentvolumeclaims,
// serviceaccounts. `name` "": any of them. Pure.
bool podRefersTo(const json::Object& spec, std::string_view plural, std::string_view name);

}  // namespace mangrove::apiserver
