#include "apiserver/output/serve.h"

#include <memory>

#include <fmt/core.h>

#include "apiserver/output/discovery.h"
#include "apiserver/output/openapi.h"

namespace mangrove::apiserver {

namespace {

// A handler that answers reads with what `make` says and refuses everything else.
template <class Make>
PathHandler reading(Make make) {
  return [make](const Call& call, ResponderPtr to) {
    if (call.info.verb == Verb::kGet) return to->answer(make(call));
    to->answer(answer::methodNotAllowed(fmt::format("{} can only be read", call.info.path)));
  };
}

}  // namespace

void serveDiscovery(Server& server, Context& context) {
  auto documents = std::make_shared<Discovery>(context.resources);
  const auto groups = [documents](const Call& call) {
    return documents->answer(call.info.path, call.accept);
  };
  server.onPath("/api/", reading(groups));
  server.onPath("/apis/", reading(groups));
  server.onPath("/version", reading([](const Call&) { return answer::json(200, versionText()); }));
  server.onPath("/", reading([documents](const Call& call) {
                  return call.info.path == "/" ? documents->paths()
                                               : answer::noSuchPath(call.info.path);
                }));
}

void serveOpenApi(Server& server, Context& context) {
  auto documents = std::make_shared<OpenApiDocuments>(context.resources);
  server.onPath("/openapi/", reading([documents](const Call& call) {
                  return documents->answer(call.info.path, call.accept,
                                           call.info.parameter("hash"));
                }));
}

}  // namespace mangrove::apiserver
