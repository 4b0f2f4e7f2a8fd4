#include "apiserver/lifecycle/certificate_signer.h"

#include <algorithm>

#include "apiserver/core/commit.h"
#include "apiserver/core/object.h"
#include "base/os/log.h"
#include "base/text/encoding.h"
#include "base/text/time_text.h"

namespace mangrove::apiserver {

namespace {

const Logger log("apiserver");
constexpr std::string_view kClient = "kubernetes.io/kube-apiserver-client";
constexpr std::string_view kNodeClient = "kubernetes.io/kube-apiserver-client-kubelet";
constexpr std::string_view kNodeServing = "kubernetes.io/kubelet-serving";
constexpr std::string_view kLegacy = "kubernetes.io/legacy-unknown";
constexpr auto kLongest = std::chrono::hours(365 * 24);
constexpr auto kShortest = std::chrono::seconds(600);
constexpr auto kClockSkew = std::chrono::minutes(5);

const Interned& storedRequests() {
  static const Interned name =
      Resources::storedName("certificates.k8s.io", "certificatesigningrequests");
  return name;
}

bool has(const std::vector<std::string>& list, std::string_view one) {
  return std::find(list.begin(), list.end(), one) != list.end();
}

// What these signers give is for one purpose, and nothing else may be asked of them.
Result<> checkUsages(const std::vector<std::string>& usages, std::string_view purpose) {
  if (!has(usages, purpose)) return invalid("usages: must include '{}'", purpose);
  for (const auto& one : usages)
    if (one != purpose && one != "digital signature" && one != "key encipherment")
      return invalid("usages: '{}' is not given by this signer", one);
  return {};
}

Result<> checkNode(const net::CertificateInfo& asked) {
  if (asked.organizations != std::vector<std::string>{"system:nodes"})
    return invalid("subject organization is not system:nodes");
  if (!asked.commonName.starts_with("system:node:"))
    return invalid("subject common name '{}' does not begin with 'system:node:'", asked.commonName);
  return {};
}

Result<> checkSubject(std::string_view signer, const net::CertificateInfo& asked) {
  const bool isNamed = !asked.dnsNames.empty() || !asked.ipAddresses.empty();
  if (signer == kNodeClient && isNamed)
    return invalid("DNS names and IP addresses are not given to clients");
  if (signer == kNodeServing && !isNamed) return invalid("want a DNS name or an IP address");
  return signer == kNodeClient || signer == kNodeServing ? checkNode(asked) : Result<>();
}

bool hasCondition(const json::Object& object, std::string_view type) {
  const json::Object* status = findObject(object, "status");
  const json::Array* list = status ? findArray(*status, "conditions") : nullptr;
  return list && std::any_of(list->begin(), list->end(), [&](const json::Value& one) {
           return one.is_object() && textAt(one.get_object(), "type") == type &&
                  textAt(one.get_object(), "status") != "False";
         });
}

bool isWaiting(const json::Object& object) {
  const json::Object* spec = findObject(object, "spec");
  const json::Object* status = findObject(object, "status");
  return spec && status && isOwnSigner(textAt(*spec, "signerName")) &&
         textAt(*status, "certificate").empty() && hasCondition(object, "Approved") &&
         !hasCondition(object, "Denied") && !hasCondition(object, "Failed");
}

void refuse(json::Object& status, const std::string& why, WallTime now) {
  json::Value& list = status["conditions"];
  if (!list.is_array()) list.emplace_array();
  list.get_array().push_back(json::Object{{"type", "Failed"},
                                          {"status", "True"},
                                          {"reason", "SignerValidationFailure"},
                                          {"message", why},
                                          {"lastUpdateTime", formatTime(now)},
                                          {"lastTransitionTime", formatTime(now)}});
}

}  // namespace

bool isOwnSigner(std::string_view signer) {
  return signer == kClient || signer == kNodeClient || signer == kNodeServing || signer == kLegacy;
}

Result<net::CertificateInfo> granted(const SigningWish& wish, const net::CertificateInfo& asked,
                                     WallTime now) {
  net::CertificateInfo out = asked;
  out.serverOnly = wish.signer == kNodeServing;
  out.clientOnly = wish.signer == kClient || wish.signer == kNodeClient;
  if (wish.signer != kLegacy)
    if (auto ok = checkUsages(wish.usages, out.serverOnly ? "server auth" : "client auth"); !ok)
      return pass(ok.error());
  if (auto ok = checkSubject(wish.signer, asked); !ok) return pass(ok.error());
  // The group of administrators comes from the server's own files alone.
  if (has(asked.organizations, "system:masters"))
    return invalid("certificates of the group system:masters are not given");
  const auto life = wish.expirationSeconds
                        ? std::clamp<std::chrono::seconds>(
                              std::chrono::seconds(*wish.expirationSeconds), kShortest, kLongest)
                        : std::chrono::seconds(kLongest);
  out.notBefore = now - kClockSkew;
  out.notAfter = now + life;
  out.isCa = false;
  return out;
}

void CertificateSigner::changed(const Resource& resource, const store::ObjectPtr& now,
                                const store::ObjectPtr&) {
  if (!now || resource.kind->plural != "certificatesigningrequests" || resource.kind->isCustom)
    return;
  // Later, so that the other observers hear of this change before they hear of ours.
  context_.owner.post([this, name = std::string(now->name())] { examine(name); });
}

void CertificateSigner::recover() {
  auto page = context_.store.list({.resource = storedRequests()});
  if (!page) return;
  for (const auto& object : page->items) examine(std::string(object->name()));
}

Result<std::string> CertificateSigner::certificateFor(const json::Object& spec) const {
  auto pem = base64Decode(textAt(spec, "request"));
  if (!pem) return pem.error().in("spec.request");
  auto asked = net::readRequest(*pem);
  if (!asked) return asked.error().in("spec.request");
  SigningWish wish{std::string(textAt(spec, "signerName")), {}, std::nullopt};
  if (const json::Array* usages = findArray(spec, "usages"))
    for (const json::Value& one : *usages)
      if (one.is_string()) wish.usages.emplace_back(one.get_string());
  const json::Value* seconds = spec.if_contains("expirationSeconds");
  if (seconds && seconds->is_int64()) wish.expirationSeconds = seconds->get_int64();
  auto info = granted(wish, *asked, context_.clock.wall());
  if (!info) return pass(info.error());
  auto authority = authority_();
  if (!authority) return pass(authority.error());
  return net::signRequest(*authority, *pem, *info);
}

void CertificateSigner::examine(const std::string& name) {
  const auto stored = context_.store.getHead(storedRequests(), "", name);
  auto value = stored ? json::parse(*stored->json()) : Result<json::Value>(json::Value());
  if (!value || !value->is_object() || !isWaiting(value->get_object())) return;
  json::Object& object = value->get_object();
  json::Object& status = objectAt(object, "status");
  auto certificate = certificateFor(*findObject(object, "spec"));
  if (certificate)
    status["certificate"] = base64Encode(*certificate);
  else if (certificate.error().code() == Code::kInvalid)
    refuse(status, certificate.error().sentence(), context_.clock.wall());
  else
    return log.warn("certificate request {}: {}", name, certificate.error().text());
  auto resource = context_.resources.findStored(storedRequests());
  // Somebody else was faster: we are told of that change too, and look again.
  if (resource) putObject(context_, resource, std::move(*value), stored, [](const auto&) {});
}

}  // namespace mangrove::apiserver
