#include "apiserver/subresources/subresources.h"

#include "apiserver/subresources/binding.h"
#include "apiserver/subresources/eviction.h"
#include "apiserver/subresources/pod_parts.h"
#include "apiserver/subresources/scale.h"

namespace mangrove::apiserver {

namespace {

void serveScheduling(Server& server, Context& context) {
  auto bind = [&context](const Call& call, ResourcePtr, ResponderPtr to) {
    bindPod(context, call, std::move(to));
  };
  server.onSubresource("", "pods", "binding", bind);
  server.onSubresource("", "bindings", "", bind);
  server.onSubresource("", "pods", "eviction",
                       [&context](const Call& call, ResourcePtr, ResponderPtr to) {
                         evictPod(context, call, std::move(to));
                       });
}

void servePodParts(Server& server, Context& context, FindRunner runner) {
  server.onSubresource("", "pods", "resize",
                       [&context](const Call& call, ResourcePtr pods, ResponderPtr to) {
                         servePodResize(context, call, std::move(pods), std::move(to));
                       });
  server.onSubresource("", "pods", "ephemeralcontainers",
                       [&context](const Call& call, ResourcePtr pods, ResponderPtr to) {
                         serveEphemeralContainers(context, call, std::move(pods), std::move(to));
                       });
  for (const char* part : {"log", "exec", "attach", "portforward"}) {
    server.onSubresource("", "pods", part,
                         [&context, runner](const Call& call, ResourcePtr pods, ResponderPtr to) {
                           serveFromNode(context, runner, call, std::move(pods), std::move(to));
                         });
  }
}

}  // namespace

void serveSubresources(Server& server, Context& context, FindRunner runner) {
  serveScheduling(server, context);
  servePodParts(server, context, std::move(runner));
  server.onSubresource("*", "*", "scale",
                       [&context](const Call& call, ResourcePtr resource, ResponderPtr to) {
                         serveScale(context, call, std::move(resource), std::move(to));
                       });
}

}  // namespace mangrove::apiserver
