#include "client/http/exec_plugin.h"

#include "base/text/encoding.h"
#include "base/text/strings.h"
#include "base/text/time_text.h"
#include "client/http/child_process.h"
#include "json/value.h"
#include "json/view.h"

namespace mangrove::client {

std::string execInfo(const ExecSpec& spec, const ClientConfig& config, std::string_view caPem) {
  json::Object body{{"interactive", false}};
  if (spec.provideClusterInfo) {
    json::Object cluster{{"server", config.server}};
    if (!config.tlsServerName.empty()) cluster["tls-server-name"] = config.tlsServerName;
    if (config.insecureSkipTlsVerify) cluster["insecure-skip-tls-verify"] = true;
    if (!caPem.empty()) cluster["certificate-authority-data"] = base64Encode(caPem);
    if (!config.execConfig.empty()) {
      if (auto value = json::parse(config.execConfig)) cluster["config"] = std::move(*value);
    }
    body["cluster"] = std::move(cluster);
  }
  return json::write(json::Object{
      {"apiVersion", spec.apiVersion}, {"kind", "ExecCredential"}, {"spec", std::move(body)}});
}

namespace {

Result<> checkHead(json::View root, std::string_view apiVersion) {
  auto kind = root["kind"].string().value_or("");
  if (kind != "ExecCredential") return invalid("kind is '{}', want 'ExecCredential'", kind);
  auto version = root["apiVersion"].string().value_or("");
  if (version != apiVersion)
    return invalid("apiVersion is '{}', want '{}' as the kubeconfig says", version, apiVersion);
  if (!root["status"].isObject()) return invalid("'status' is missing");
  return {};
}

std::string textOf(json::View view) {
  return std::string(view.string().value_or(""));
}

}  // namespace

Result<ExecCredential> parseExecCredential(std::string_view output, std::string_view apiVersion) {
  json::Doc doc({.maxBytes = size_t{4} << 20});
  auto root = doc.parse(output);
  if (!root) return root.error().in("its output");
  if (auto good = checkHead(*root, apiVersion); !good) return good.error().in("its output");
  json::View status = (*root)["status"];
  ExecCredential out;
  out.token = textOf(status["token"]);
  out.clientCertificate = textOf(status["clientCertificateData"]);
  out.clientKey = textOf(status["clientKeyData"]);
  if (out.clientCertificate.empty() != out.clientKey.empty())
    return invalid("its output: clientCertificateData and clientKeyData must come together");
  if (out.token.empty() && out.clientCertificate.empty())
    return invalid("its output: neither status.token nor status.clientCertificateData is set");
  if (auto expires = status["expirationTimestamp"].string()) {
    auto time = parseTime(*expires);
    if (!time) return time.error().in("its output: expirationTimestamp");
    out.expires = *time;
  }
  return out;
}

namespace {

std::string hintOf(const ExecSpec& spec) {
  return spec.installHint.empty() ? "" : ". " + std::string(trim(spec.installHint));
}

Failure pluginFailure(const ExecSpec& spec, const Error& error) {
  return Failure(Error(error.code() == Code::kNotFound ? Code::kUnauthorized : error.code(),
                       fmt::format("exec plugin '{}': {}{}", spec.command, error.text(),
                                   error.code() == Code::kNotFound ? hintOf(spec) : "")));
}

}  // namespace

Result<ExecCredential> runExecPlugin(const ExecSpec& spec, const std::string& info, Clock& clock,
                                     ExecLimits limits) {
  ChildSpec child{spec.command,   spec.args,        spec.env,
                  limits.timeout, limits.maxOutput, limits.cancelled};
  child.env.emplace_back("KUBERNETES_EXEC_INFO", info);
  auto ran = runChild(child, clock);
  if (!ran) return pluginFailure(spec, ran.error());
  if (ran->exitCode != 0) {
    std::string said(trim(ran->err));
    return fail(Code::kUnauthorized, "exec plugin '{}': exit code {}{}{}{}", spec.command,
                ran->exitCode, said.empty() ? "" : ": ", said, hintOf(spec));
  }
  auto credential = parseExecCredential(ran->out, spec.apiVersion);
  if (!credential) return credential.error().in("exec plugin '{}'", spec.command);
  return credential;
}

}  // namespace mangrove::client
