#include "manager/webhook/certificate_keeper.h"

#include <filesystem>
#include <utility>

#include "api/object/core_objects.h"
#include "base/os/files.h"
#include "base/os/log.h"
#include "base/text/encoding.h"
#include "manager/webhook/draft.h"

namespace mangrove::manager {
namespace {

const Logger log("webhook");

constexpr Duration kSoon = std::chrono::milliseconds(500);  // after somebody else was first
constexpr Duration kLater = std::chrono::seconds(10);       // after a failure

CertificateFiles decodedData(const std::map<std::string, std::string>& data) {
  CertificateFiles out;
  for (const auto& [name, text] : data)
    if (auto bytes = base64Decode(text)) out[name] = std::move(*bytes);
  return out;
}

json::Object secretData(const WebhookCertificates& certs) {
  json::Object out;
  for (const auto& [name, bytes] : filesOf(certs)) out[name] = base64Encode(bytes);
  return out;
}

CertificateFiles readDirectory(const std::string& directory) {
  CertificateFiles out;
  for (const auto& [name, unused] : filesOf({}))
    if (auto text = readFile(directory + "/" + name)) out[name] = std::move(*text);
  return out;
}

Result<> writeDirectory(const std::string& directory, const WebhookCertificates& certs) {
  std::error_code trouble;
  std::filesystem::create_directories(directory, trouble);
  for (const auto& [name, bytes] : filesOf(certs))
    if (auto done = writeFileAtomically(directory + "/" + name, bytes, {.mode = 0600}); !done)
      return done;
  return {};
}

}  // namespace

CertificateKeeper::CertificateKeeper(KeeperSetup setup, Changed changed)
    : setup_(std::move(setup)), changed_(std::move(changed)) {
  if (setup_.clock == nullptr) setup_.clock = &realClock();
}

CertificateKeeper::~CertificateKeeper() = default;

void CertificateKeeper::start() {
  look();
}

void CertificateKeeper::again(Duration after, std::string why) {
  if (!why.empty() && why != trouble_) log.warn("webhook certificates: {}", why);
  trouble_ = std::move(why);
  timer_ = life_.later(*setup_.clock, *setup_.owner, after, [this] { look(); });
}

void CertificateKeeper::look() {
  if (!setup_.directory.empty()) return lookAtDirectory();
  client::Request request;
  request.ref = {client::kind::kSecret, setup_.ns, setup_.secret};
  setup_.client->submit(
      *setup_.owner, std::move(request),
      life_.guard([this](Result<client::Reply> reply) { heard(std::move(reply)); }));
}

void CertificateKeeper::lookAtDirectory() {
  judge(certificatesIn(readDirectory(setup_.directory)), "");
}

void CertificateKeeper::heard(Result<client::Reply> reply) {
  if (!reply && reply.error().code() == Code::kNotFound) return judge(std::nullopt, "");
  if (!reply) return again(kLater, reply.error().text());
  auto secret = api::decodeText<api::Secret>(reply->body);
  if (!secret) return again(kLater, secret.error().text());
  judge(certificatesIn(decodedData(secret->data)), secret->meta.resourceVersion);
}

void CertificateKeeper::judge(std::optional<WebhookCertificates> found,
                              const std::string& version) {
  const WallTime now = setup_.clock->wall();
  auto fresh = found ? checkFresh(*found, setup_.names, now) : Result<>(invalid("there are none"));
  if (fresh) return accept(*found);
  log.info("webhook certificates: {}; issuing new ones", fresh.error().text());
  auto renewed = renew(found, setup_.names, now);
  if (!renewed) return again(kLater, renewed.error().text());
  if (setup_.directory.empty()) return write(*renewed, version);
  if (auto done = writeDirectory(setup_.directory, *renewed); !done)
    return again(kLater, done.error().text());
  accept(*renewed);
}

// What the server then has is read back, so that a replica that lost the race takes the winner's.
void CertificateKeeper::write(const WebhookCertificates& certs, const std::string& version) {
  client::Request request;
  json::Object body{{"data", secretData(certs)}};
  json::Object& metadata = metadataOf(body);
  if (version.empty()) {
    request.verb = client::Verb::kCreate;
    request.ref = {client::kind::kSecret, setup_.ns, ""};
    metadata["name"] = setup_.secret;
    metadata["namespace"] = setup_.ns;
    body["apiVersion"] = "v1";
    body["kind"] = "Secret";
    body["type"] = "Opaque";
  } else {
    request.verb = client::Verb::kPatch;
    request.ref = {client::kind::kSecret, setup_.ns, setup_.secret};
    metadata["resourceVersion"] = version;
  }
  request.body = json::write(body);
  const auto written = [this](Result<client::Reply> reply) {
    if (reply) return heard(std::move(reply));
    const Code code = reply.error().code();
    const bool lost = code == Code::kConflict || code == Code::kExists;
    // Not found is our namespace, which somebody may be making this very moment.
    const bool soon = lost || code == Code::kNotFound;
    again(soon ? kSoon : kLater, lost ? "" : reply.error().text());
  };
  setup_.client->submit(*setup_.owner, std::move(request), life_.guard(written));
}

void CertificateKeeper::accept(const WebhookCertificates& certs) {
  again(setup_.period, "");
  if (current_ == certs) return;
  current_ = certs;
  changed_(certs);
}

}  // namespace mangrove::manager
