// One context of a Kubeconfig → ClientConfig, and the places where configuration is looked for.
#include "client/http/kubeconfig.h"

#include <cstdlib>
#include <filesystem>

#include "base/os/files.h"
#include "base/text/encoding.h"
#include "base/text/nearest.h"
#include "base/text/strings.h"

namespace mangrove::client {

namespace {

template <class Entry>
Result<const Entry*> named(const std::vector<Entry>& entries, std::string_view what,
                           std::string_view name, const std::string& where) {
  std::vector<std::string_view> known;
  for (const Entry& entry : entries) {
    if (entry.name == name) return &entry;
    known.push_back(entry.name);
  }
  return fail(Code::kNotFound, "{}: no {} named '{}'{} (known: {})", where, what, name,
              didYouMean(name, known), known.empty() ? "none" : join(known, ", "));
}

// Relative paths are meant from the folder of the file that names them.
std::string besides(const std::string& path, const std::string& file) {
  if (path.empty() || path.front() == '/') return path;
  return (std::filesystem::path(file).parent_path() / path).lexically_normal().string();
}

Result<PemSource> pemSource(const std::string& data, const std::string& path,
                            const std::string& file, std::string_view field,
                            const std::string& where) {
  PemSource source;
  if (!data.empty()) {
    auto bytes = base64Decode(data);
    if (!bytes) return bytes.error().in("{}: {}-data", where, field);
    source.data = std::move(*bytes);
  } else {
    source.path = besides(path, file);
  }
  return source;
}

std::string withScheme(const std::string& server, bool tls) {
  if (server.find("://") != std::string::npos) return server;
  return (tls ? "https://" : "http://") + server;
}

Result<> useCluster(const KubeCluster& cluster, const std::string& where, ClientConfig& out) {
  std::string here = fmt::format("{}: cluster '{}'", where, cluster.name);
  if (cluster.server.empty())
    return invalid("{}: 'server' is missing, want an address such as https://10.0.0.1:6443", here);
  if (!cluster.proxyUrl.empty())
    return fail(Code::kUnsupported,
                "{}: proxy-url '{}' is not supported; remove it and make the server reachable "
                "directly, for example through a tunnel",
                here, cluster.proxyUrl);
  auto ca = pemSource(cluster.certificateAuthorityData, cluster.certificateAuthority, cluster.file,
                      "certificate-authority", here);
  if (!ca) return pass(ca.error());
  if (cluster.insecureSkipTlsVerify && !ca->empty())
    return invalid("{}: insecure-skip-tls-verify and a certificate authority exclude each other",
                   here);
  out.ca = std::move(*ca);
  out.insecureSkipTlsVerify = cluster.insecureSkipTlsVerify;
  out.tlsServerName = cluster.tlsServerName;
  out.execConfig = cluster.execConfig;
  out.server = withScheme(cluster.server, !out.ca.empty() || cluster.insecureSkipTlsVerify);
  return {};
}

Result<> checkExec(const ExecSpec& exec, const std::string& here) {
  if (exec.command.empty()) return invalid("{}: exec: 'command' is missing", here);
  if (exec.apiVersion != "client.authentication.k8s.io/v1" &&
      exec.apiVersion != "client.authentication.k8s.io/v1beta1")
    return invalid(
        "{}: exec: apiVersion '{}', want client.authentication.k8s.io/v1 or "
        "client.authentication.k8s.io/v1beta1",
        here, exec.apiVersion);
  const std::string& mode = exec.interactiveMode;
  if (mode == "Always")
    return fail(Code::kUnsupported,
                "{}: exec: interactiveMode Always needs a terminal, which a service has not", here);
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable")
    return invalid("{}: exec: interactiveMode '{}', want Never, IfAvailable or Always", here, mode);
  return {};
}

Result<> useExec(const KubeUser& user, const std::string& here, ClientConfig& out) {
  if (!user.exec) return {};
  if (auto good = checkExec(*user.exec, here); !good) return good;
  out.exec = user.exec;
  // Only a command with a slash in it is a path; a bare word is looked up in $PATH.
  if (out.exec->command.find('/') != std::string::npos)
    out.exec->command = besides(out.exec->command, user.file);
  return {};
}

Result<> checkAuthMethods(const KubeUser& user, const std::string& here) {
  if (!user.authProvider.empty())
    return fail(Code::kUnsupported,
                "{}: auth-provider '{}' is not supported; Kubernetes removed it in favour of exec "
                "plugins (client.authentication.k8s.io/v1)",
                here, user.authProvider);
  bool token = !user.token.empty() || !user.tokenFile.empty();
  if (token && !user.username.empty())
    return invalid("{}: both a token and username/password; keep one", here);
  if (user.exec && (token || !user.username.empty()))
    return invalid("{}: exec together with a token or username/password; keep one", here);
  if (user.impersonate.empty() && (!user.impersonateGroups.empty() ||
                                   !user.impersonateUid.empty() || !user.impersonateExtra.empty()))
    return invalid("{}: as-groups, as-uid and as-user-extra need 'as'", here);
  return {};
}

Result<> useCertificates(const KubeUser& user, const std::string& here, ClientConfig& out) {
  auto certificate = pemSource(user.clientCertificateData, user.clientCertificate, user.file,
                               "client-certificate", here);
  if (!certificate) return pass(certificate.error());
  auto key = pemSource(user.clientKeyData, user.clientKey, user.file, "client-key", here);
  if (!key) return pass(key.error());
  if (certificate->empty() != key->empty())
    return invalid(
        "{}: {} is missing; a client certificate needs both client-certificate and "
        "client-key",
        here, key->empty() ? "client-key" : "client-certificate");
  out.clientCertificate = std::move(*certificate);
  out.clientKey = std::move(*key);
  return {};
}

Result<> useUser(const KubeUser& user, const std::string& where, ClientConfig& out) {
  std::string here = fmt::format("{}: user '{}'", where, user.name);
  if (auto good = checkAuthMethods(user, here); !good) return good;
  if (auto good = useCertificates(user, here, out); !good) return good;
  out.token = user.token;
  out.tokenFile = besides(user.tokenFile, user.file);
  out.username = user.username;
  out.password = user.password;
  out.impersonate = user.impersonate;
  out.impersonateUid = user.impersonateUid;
  out.impersonateGroups = user.impersonateGroups;
  out.impersonateExtra = user.impersonateExtra;
  return useExec(user, here, out);
}

std::optional<std::string> envOf(const Surroundings& surroundings, const std::string& name) {
  if (surroundings.env) return surroundings.env(name);
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Result<Kubeconfig> readKubeconfig(const std::string& path) {
  auto text = readFile(path);
  if (!text) return text.error().in("kubeconfig {}", path);
  return parseKubeconfig(*text, path);
}

// Files that do not exist are skipped, as kubectl does, so that one list serves many machines.
Result<Kubeconfig> readKubeconfigs(std::string_view paths) {
  std::vector<Kubeconfig> files;
  for (std::string_view path : split(paths, ':')) {
    if (path.empty()) continue;
    auto file = readKubeconfig(std::string(path));
    if (file) {
      files.push_back(std::move(*file));
    } else if (file.error().code() != Code::kNotFound) {
      return file;
    }
  }
  if (files.empty())
    return fail(Code::kNotFound, "$KUBECONFIG is '{}' and none of its files exists", paths);
  return mergeKubeconfigs(std::move(files));
}

Result<ClientConfig> fromHome(const ConfigRequest& request) {
  auto home = envOf(request.surroundings, "HOME");
  std::string path = home.value_or("") + "/.kube/config";
  auto file = readKubeconfig(path);
  if (file) return resolveContext(*file, request.context);
  if (file.error().code() != Code::kNotFound) return pass(file.error());
  return fail(Code::kNotFound,
              "no Kubernetes configuration: --kubeconfig not given, $KUBECONFIG not set, not in a "
              "cluster ($KUBERNETES_SERVICE_HOST not set), and {} does not exist",
              path);
}

Result<ClientConfig> lookUp(const ConfigRequest& request) {
  if (!request.kubeconfig.empty()) {
    auto file = readKubeconfig(request.kubeconfig);
    if (!file) return pass(file.error());
    return resolveContext(*file, request.context);
  }
  auto list = envOf(request.surroundings, "KUBECONFIG");
  if (list && !list->empty()) {
    auto merged = readKubeconfigs(*list);
    if (!merged) return pass(merged.error());
    return resolveContext(*merged, request.context);
  }
  if (runsInCluster(request.surroundings)) return inClusterConfig(request.surroundings);
  return fromHome(request);
}

}  // namespace

Result<std::string> PemSource::load() const {
  if (!data.empty()) return data;
  if (path.empty()) return std::string();
  return readFile(path);
}

Result<ClientConfig> resolveContext(const Kubeconfig& config, std::string_view context) {
  std::string where = fmt::format("kubeconfig {}", config.file);
  std::string_view wanted = context.empty() ? std::string_view(config.currentContext) : context;
  if (wanted.empty())
    return invalid("{}: 'current-context' is not set; set it or give --context", where);
  auto found = named(config.contexts, "context", wanted, where);
  if (!found) return pass(found.error());
  const KubeContext& chosen = **found;
  std::string here = fmt::format("{}: context '{}'", where, chosen.name);
  auto cluster = named(config.clusters, "cluster", chosen.cluster, here);
  if (!cluster) return pass(cluster.error());
  ClientConfig out;
  out.source = fmt::format("{}, context '{}'", where, chosen.name);
  if (!chosen.ns.empty()) out.ns = chosen.ns;
  if (auto good = useCluster(**cluster, here, out); !good) return pass(good.error());
  if (chosen.user.empty()) return out;  // anonymous
  auto user = named(config.users, "user", chosen.user, here);
  if (!user) return pass(user.error());
  if (auto good = useUser(**user, here, out); !good) return pass(good.error());
  return out;
}

bool runsInCluster(const Surroundings& surroundings) {
  return !envOf(surroundings, "KUBERNETES_SERVICE_HOST").value_or("").empty() &&
         !envOf(surroundings, "KUBERNETES_SERVICE_PORT").value_or("").empty();
}

Result<ClientConfig> inClusterConfig(const Surroundings& surroundings) {
  std::string host = envOf(surroundings, "KUBERNETES_SERVICE_HOST").value_or("");
  std::string port = envOf(surroundings, "KUBERNETES_SERVICE_PORT").value_or("");
  if (host.empty() || port.empty())
    return fail(Code::kNotFound,
                "in-cluster configuration: $KUBERNETES_SERVICE_HOST and $KUBERNETES_SERVICE_PORT "
                "must both be set");
  const std::string& dir = surroundings.serviceAccountDir;
  ClientConfig out;
  out.source = "in-cluster configuration";
  bool bare6 = host.find(':') != std::string::npos && host.front() != '[';
  out.server = fmt::format("https://{}:{}", bare6 ? "[" + host + "]" : host, port);
  out.tokenFile = dir + "/token";
  if (auto token = readFile(out.tokenFile); !token)
    return token.error().in("in-cluster configuration: service account token");
  out.ca.path = dir + "/ca.crt";
  if (auto ca = readFile(out.ca.path); !ca)
    return ca.error().in("in-cluster configuration: certificate authority");
  if (auto ns = readFile(dir + "/namespace")) {
    if (auto name = trim(*ns); !name.empty()) out.ns = std::string(name);
  }
  return out;
}

Result<ClientConfig> loadClientConfig(const ConfigRequest& request) {
  // An address alone is enough, as with the ecosystem's --master.
  if (!request.server.empty() && request.kubeconfig.empty() &&
      envOf(request.surroundings, "KUBECONFIG").value_or("").empty() &&
      !runsInCluster(request.surroundings)) {
    ClientConfig out;
    out.source = "--server";
    out.server = withScheme(request.server, false);
    return out;
  }
  auto config = lookUp(request);
  if (config && !request.server.empty()) config->server = withScheme(request.server, true);
  return config;
}

}  // namespace mangrove::client
