#pragma once
// Where the API server is and how to prove who we are, read the way kubectl reads it.
//
//   auto config = loadClientConfig({.kubeconfig = flag, .context = flag2});
//   if (!config) return config.error();          // "kubeconfig /root/.kube/config: context 'dev':
//   …" auto client = makeHttpApiClient(*config, …);
//
// Three steps: text → Kubeconfig (parseKubeconfig), several files → one (mergeKubeconfigs, the
// first one that names a thing wins), one context of it → ClientConfig (resolveContext), which has
// every path absolute and every inline *-data decoded. Plain values and pure functions, any thread;
// only loadClientConfig and inClusterConfig read files and the environment, both through
// Surroundings.
//
// Refused with a sentence instead of half obeyed: proxy-url and auth-provider (the ecosystem
// removed the latter; exec plugins replace it).

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace mangrove::client {

struct ExecSpec {
  std::string apiVersion;  // client.authentication.k8s.io/v1 or …/v1beta1
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string installHint;
  std::string interactiveMode;  // Never, IfAvailable, Always or empty
  bool provideClusterInfo = false;
  bool operator==(const ExecSpec&) const = default;
};

struct KubeCluster {
  std::string name, file;  // file: where it was defined, for messages and relative paths
  std::string server = {};
  std::string certificateAuthority;      // path as written
  std::string certificateAuthorityData;  // base64 as written
  std::string tlsServerName;
  std::string proxyUrl;
  std::string execConfig;  // JSON of the extension client.authentication.k8s.io/exec, for plugins
  bool insecureSkipTlsVerify = false;
};

struct KubeUser {
  std::string name, file;
  std::string clientCertificate, clientCertificateData;
  std::string clientKey, clientKeyData;
  std::string token, tokenFile;
  std::string username, password;
  std::string impersonate, impersonateUid;
  std::vector<std::string> impersonateGroups;
  std::vector<std::pair<std::string, std::vector<std::string>>> impersonateExtra;
  std::optional<ExecSpec> exec;
  std::string authProvider;  // its name; refused when the user is needed
};

struct KubeContext {
  std::string name, file;
  std::string cluster, user, ns;
};

struct Kubeconfig {
  std::string file;
  std::string currentContext;
  std::vector<KubeCluster> clusters;
  std::vector<KubeUser> users;
  std::vector<KubeContext> contexts;
};

// A private key or certificate: inline bytes, or a file that may be replaced while we run.
struct PemSource {
  std::string data;  // PEM text; wins over the path
  std::string path;
  bool empty() const { return data.empty() && path.empty(); }
  Result<std::string> load() const;
};

// Everything a client needs to know about one server and one identity.
struct ClientConfig {
  std::string source;  // for messages: "kubeconfig /x, context 'y'" or "in-cluster configuration"
  std::string server = {};  // absolute URL: https://host:port/prefix, http://…, or unix:///path
  std::string ns = "default";
  PemSource ca;  // empty: the system's certificates
  bool insecureSkipTlsVerify = false;
  std::string tlsServerName;
  PemSource clientCertificate, clientKey;
  std::string token;
  std::string tokenFile;  // read again as it rotates; wins over token
  std::string username, password;
  std::optional<ExecSpec> exec;
  std::string execConfig;
  std::string impersonate, impersonateUid;
  std::vector<std::string> impersonateGroups;
  std::vector<std::pair<std::string, std::vector<std::string>>> impersonateExtra;
};

Result<Kubeconfig> parseKubeconfig(std::string_view text, std::string file);
Kubeconfig mergeKubeconfigs(std::vector<Kubeconfig> files);
// context "": the current one.
Result<ClientConfig> resolveContext(const Kubeconfig& config, std::string_view context = "");

// The process's environment and well-known places, replaceable in tests.
struct Surroundings {
  std::function<std::optional<std::string>(const std::string&)> env = {};  // default: getenv
  std::string serviceAccountDir = "/var/run/secrets/kubernetes.io/serviceaccount";
};

struct ConfigRequest {
  std::string kubeconfig = {};  // --kubeconfig; empty: not given
  std::string context = {};     // --context
  std::string server = {};      // --master or --server: replaces the address
  Surroundings surroundings = {};
};
// --kubeconfig, else $KUBECONFIG (colon-separated, merged), else in-cluster, else ~/.kube/config.
Result<ClientConfig> loadClientConfig(const ConfigRequest& request);

bool runsInCluster(const Surroundings& surroundings);
Result<ClientConfig> inClusterConfig(const Surroundings& surroundings);

}  // namespace mangrove::client
