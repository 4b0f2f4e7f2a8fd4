// Any text as a kubeconfig: no crash, errors that name the file, and two properties: reading is
// deterministic, and merging a file with itself changes nothing. The plugin's answer and the
// in-list scanners see the same bytes, as they parse foreign text too.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "client/http/exec_plugin.h"
#include "client/http/kubeconfig.h"
#include "client/informer/json_slices.h"

namespace {

using namespace mangrove;
using namespace mangrove::client;

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "property violated: %s\n", what);
  std::abort();
}

bool sameConfig(const ClientConfig& a, const ClientConfig& b) {
  return a.server == b.server && a.ns == b.ns && a.token == b.token && a.tokenFile == b.tokenFile &&
         a.ca.data == b.ca.data && a.ca.path == b.ca.path && a.exec == b.exec &&
         a.impersonate == b.impersonate && a.username == b.username;
}

void checkResolved(const Kubeconfig& config, std::string_view context) {
  auto once = resolveContext(config, context);
  Kubeconfig twice = mergeKubeconfigs({config, config});
  auto merged = resolveContext(twice, context);
  require(once.has_value() == merged.has_value(), "merging a file with itself changes the outcome");
  if (!once) {
    require(!once.error().text().empty(), "an error without a sentence");
    return;
  }
  require(sameConfig(*once, *merged), "merging a file with itself changes the result");
  require(once->server.find("://") != std::string::npos, "an address without scheme");
  require(once->clientCertificate.empty() == once->clientKey.empty(), "half a client certificate");
  for (const std::string& path : {once->ca.path, once->tokenFile, once->clientKey.path})
    require(path.empty() || path.front() == '/', "a relative path is left");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto config = parseKubeconfig(text, "/etc/kube/config");
  if (config) {
    checkResolved(*config, "");
    for (const KubeContext& context : config->contexts) checkResolved(*config, context.name);
  } else {
    require(config.error().text().find("/etc/kube/config") != std::string::npos,
            "an error that does not name the file");
  }
  (void)parseExecCredential(text, "client.authentication.k8s.io/v1");
  if (auto list = sliceList(text)) {
    for (std::string_view item : list->items)
      require(item.data() >= text.data() && item.data() + item.size() <= text.data() + text.size(),
              "an item outside of the text");
  }
  (void)sliceEvent(text);
  return 0;
}
