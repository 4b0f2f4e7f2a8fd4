#pragma once
// Exec credential plugins (client.authentication.k8s.io/v1 and v1beta1): a program of the user's
// cloud that prints an ExecCredential with a token or a client certificate.
//
//   auto credential = runExecPlugin(spec, execInfo(spec, config));
//
// runExecPlugin blocks until the program ends, at most `timeout`; call it on a thread of its own
// (credentials.h does). Its environment is ours plus the spec's entries plus KUBERNETES_EXEC_INFO;
// its stdin is empty, its output limited, its whole process group killed when time is up. What it
// says on stderr becomes part of the error.

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/number/units.h"
#include "base/result.h"
#include "client/http/kubeconfig.h"

namespace mangrove::client {

struct ExecCredential {
  std::string token;
  std::string clientCertificate;  // PEM
  std::string clientKey;
  std::optional<WallTime> expires;  // absent: good until the server says 401
};

struct ExecLimits {
  Duration timeout = std::chrono::seconds(60);
  size_t maxOutput = 1 << 20;
  const std::atomic<bool>* cancelled = nullptr;  // another thread may end it
};

// The value of KUBERNETES_EXEC_INFO.
std::string execInfo(const ExecSpec& spec, const ClientConfig& config, std::string_view caPem);
// What the program printed. Errors say which field is wrong.
Result<ExecCredential> parseExecCredential(std::string_view output, std::string_view apiVersion);

Result<ExecCredential> runExecPlugin(const ExecSpec& spec, const std::string& info, Clock& clock,
                                     ExecLimits limits = {});

}  // namespace mangrove::client
