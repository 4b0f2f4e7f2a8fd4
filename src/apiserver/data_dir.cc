#include "apiserver/data_dir.h"

#include <algorithm>
#include <cerrno>

#include <fmt/core.h>
#include <sys/stat.h>

#include "apiserver/auth/credential_files.h"
#include "apiserver/auth/signing_key.h"
#include "base/os/files.h"
#include "base/text/encoding.h"
#include "base/text/strings.h"
#include "json/yaml.h"

namespace mangrove::apiserver {

namespace {

using std::chrono::hours;

constexpr mode_t kSecret = 0600;
constexpr auto kDay = hours(24);
constexpr auto kCaLife = kDay * 3650;
constexpr auto kServingLife = kDay * 365;
constexpr auto kRenewBefore = kDay * 30;
constexpr auto kClockSkew = hours(1);

// The file's text, or what `make` makes, written there first.
template <class Make>
Result<std::string> openOrMake(const std::string& path, Make make) {
  auto text = readFile(path);
  if (text || text.error().code() != Code::kNotFound) return text;
  Result<std::string> made = make();
  if (!made) return made;
  if (auto done = writeFileAtomically(path, *made, {.mode = kSecret}); !done)
    return pass(done.error());
  return made;
}

// Key and certificate in one file, so that they cannot come apart; behind them certificates of
// earlier authorities.
struct PairFile {
  net::KeyPair pair;
  std::string earlier;
};
Result<PairFile> splitPair(const std::string& text, const std::string& path) {
  constexpr std::string_view kEnd = "-----END PRIVATE KEY-----\n";
  const size_t at = text.find("-----BEGIN PRIVATE KEY-----");
  const size_t end = text.find(kEnd);
  if (at == std::string::npos || end == std::string::npos || end < at)
    return invalid("{}: no private key inside; remove the file to have a new one made", path);
  const size_t rest = end + kEnd.size();
  return PairFile{{text.substr(0, at), text.substr(at, rest - at)}, text.substr(rest)};
}

// Two authorities of one name would be taken for each other.
Result<std::string> makeAuthority(WallTime now, const std::string& trusted) {
  const auto second = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::string name = trusted.empty() ? "mangrove-ca" : fmt::format("mangrove-ca@{}", second);
  auto pair = net::makeCa(name, now - kClockSkew, now + kCaLife);
  if (!pair) return pass(pair.error());
  return pair->certPem + pair->keyPem + trusted;
}

Result<PairFile> openCa(const std::string& dir, WallTime now, const std::string& trusted) {
  const std::string path = dir + "/ca.pem";
  auto text = openOrMake(path, [&] { return makeAuthority(now, trusted); });
  if (!text) return text.error().in("certificate authority");
  return splitPair(*text, path);
}

bool covers(const net::CertificateInfo& info, const std::vector<std::string>& addresses) {
  for (const auto& address : addresses) {
    const bool dns =
        std::find(info.dnsNames.begin(), info.dnsNames.end(), address) != info.dnsNames.end();
    const bool ip = std::find(info.ipAddresses.begin(), info.ipAddresses.end(), address) !=
                    info.ipAddresses.end();
    if (!dns && !ip) return false;
  }
  return true;
}

Result<net::KeyPair> issueServing(const net::KeyPair& ca, const std::vector<std::string>& addresses,
                                  WallTime now) {
  net::CertificateInfo info;
  info.commonName = "mangrove-apiserver";
  info.dnsNames = {"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                   "kubernetes.default.svc.cluster.local"};
  info.ipAddresses = {"127.0.0.1", "::1"};
  for (const auto& address : addresses) {
    const bool numeric = address.find_first_not_of("0123456789.") == std::string::npos ||
                         address.find(':') != std::string::npos;
    (numeric ? info.ipAddresses : info.dnsNames).push_back(address);
  }
  info.notBefore = now - kClockSkew;
  info.notAfter = now + kServingLife;
  info.serverOnly = true;
  return net::issue(ca, info);
}

bool isGood(const std::string& certPem, const net::KeyPair& ca,
            const std::vector<std::string>& addresses, WallTime now) {
  auto info = net::readCertificate(certPem);
  return info && info->serverOnly && info->notAfter - kRenewBefore > now &&
         covers(*info, addresses) && net::isSignedBy(certPem, ca.certPem).value_or(false);
}

// Always possible to make again, so a file that does not fit is replaced, and none needs to survive
// a power cut: each flush would cost the start some milliseconds.
Result<net::KeyPair> openServing(const std::string& dir, const net::KeyPair& ca,
                                 const std::vector<std::string>& addresses, WallTime now) {
  const std::string path = dir + "/serving.pem";
  if (auto text = readFile(path)) {
    auto file = splitPair(*text, path);
    if (file && isGood(file->pair.certPem, ca, addresses, now)) return file->pair;
  }
  auto pair = issueServing(ca, addresses, now);
  if (!pair) return pair;
  auto done =
      writeFileAtomically(path, pair->certPem + pair->keyPem, {.mode = kSecret, .sync = false});
  if (!done) return pass(done.error());
  return pair;
}

// token,user,uid,"groups": the form kube-apiserver reads too.
Result<std::string> openAdminToken(const std::string& dir) {
  auto line = openOrMake(dir + "/tokens.csv", [] {
    return randomToken().map([](const std::string& token) {
      return fmt::format("{},admin,,\"system:masters\"\n", token);
    });
  });
  if (!line) return line.error().in("administrator's token");
  return std::string(cut(*line, ',').before);
}

}  // namespace

Result<Credentials> openCredentials(const std::string& dir,
                                    const std::vector<std::string>& addresses, WallTime now,
                                    const std::string& trusted) {
  if (::mkdir(dir.c_str(), 0700) != 0 && errno != EEXIST)
    return failErrno(errno, "data directory " + dir);
  auto ca = openCa(dir, now, trusted);
  if (!ca) return pass(ca.error());
  auto serving = openServing(dir, ca->pair, addresses, now);
  if (!serving) return serving.error().in("serving certificate");
  auto token = openAdminToken(dir);
  if (!token) return pass(token.error());
  return Credentials{ca->pair.certPem + ca->earlier, std::move(*serving), std::move(*token)};
}

Result<net::KeyPair> readAuthority(const std::string& dir) {
  const std::string path = dir + "/ca.pem";
  auto text = readFile(path);
  if (!text) return text.error().in("certificate authority");
  auto file = splitPair(*text, path);
  if (!file) return pass(file.error());
  return file->pair;
}

Result<SecretTexts> readSecrets(const std::string& dir) {
  const std::string key = dir + "/service-account.key";
  if (auto made = openSigningKey(key); !made) return pass(made.error());
  auto signing = readFile(key);
  if (!signing) return pass(signing.error());
  auto tokens = readFile(dir + "/tokens.csv");
  if (!tokens) return pass(tokens.error());
  return SecretTexts{std::move(*tokens), std::move(*signing)};
}

Result<std::string> writeKubeconfig(const std::string& dir, const std::string& server,
                                    const Credentials& credentials) {
  json::Object cluster{{"server", server},
                       {"certificate-authority-data", base64Encode(credentials.caPem)}};
  json::Object config{{"apiVersion", "v1"}, {"kind", "Config"}, {"current-context", "mangrove"}};
  config["clusters"] =
      json::Array{json::Object{{"name", "mangrove"}, {"cluster", std::move(cluster)}}};
  config["users"] = json::Array{
      json::Object{{"name", "admin"}, {"user", json::Object{{"token", credentials.adminToken}}}}};
  config["contexts"] = json::Array{json::Object{
      {"name", "mangrove"}, {"context", json::Object{{"cluster", "mangrove"}, {"user", "admin"}}}}};
  const std::string path = dir + "/kubeconfig";
  // Written anew at every start.
  auto done = writeFileAtomically(path, json::writeYaml(json::Value(std::move(config))),
                                  {.mode = kSecret, .sync = false});
  if (!done) return done.error().in("kubeconfig");
  return path;
}

}  // namespace mangrove::apiserver
