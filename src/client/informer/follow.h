#pragma once
// What an informer of one kind needs, taken from whatever its owner was set up with.
//
//   struct Setup { client::ApiClient* client; Mailbox *owner, *home; Clock* clock; … };
//   client::Informer<api::Pod> pods(client::follow(setup, kind::kPod));
//   client::Informer<api::ConfigMap> map(client::followOne(setup, kind::kConfigMap, "ns", "name"));
//
// Members may be pointers or references; `metrics` and `seed` are used where the setup has them. Only the decoded
// objects are kept unless the caller asks for raw(). Pure.

#include <memory>
#include <string>
#include <string_view>

#include "client/informer/informer_engine.h"

namespace mangrove::client {

template <class T>
T* addressOf(T* pointer) {
  return pointer;
}
template <class T>
T* addressOf(T& reference) {
  return std::addressof(reference);
}

template <class Setup>
InformerSetup follow(const Setup& setup, const Kind& kind, RawKeep raw = RawKeep::kNone) {
  InformerSetup out;
  out.client = addressOf(setup.client);
  out.owner = addressOf(setup.owner);
  out.home = addressOf(setup.home);
  out.clock = addressOf(setup.clock);
  if constexpr (requires { setup.metrics; }) out.metrics = addressOf(setup.metrics);
  if constexpr (requires { setup.seed; }) out.seed = setup.seed;
  out.raw = raw;
  out.follow.kind = kind;
  return out;
}

// One object alone, there or not.
template <class Setup>
InformerSetup followOne(const Setup& setup, const Kind& kind, std::string_view ns,
                        std::string_view name) {
  auto out = follow(setup, kind);
  out.follow.ns = ns;
  out.follow.fieldSelector = "metadata.name=" + std::string(name);
  return out;
}

}  // namespace mangrove::client
