#include "runtime/cri/credentials.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text/encoding.h"
#include "base/text/strings.h"
#include "json/value.h"
#include "runtime/cri/image_name.h"

namespace mangrove::runtime::cri {

namespace {

struct Match {
  size_t length;  // of what the secret names: the longer, the more specific
  Credentials credentials;
};

std::string_view word(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

// "https://index.docker.io/v1/" is where docker writes the hub's.
std::string_view placeIn(std::string_view key) {
  for (std::string_view scheme : {"https://", "http://"})
    if (key.starts_with(scheme)) key.remove_prefix(scheme.size());
  while (key.ends_with('/')) key.remove_suffix(1);
  for (std::string_view version : {"/v1", "/v2"})
    if (key.ends_with(version)) key.remove_suffix(version.size());
  return key;
}

// One '*' stands for letters of one label: "*.example.com".
bool fitsLabel(std::string_view pattern, std::string_view label) {
  const size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == label;
  const auto head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return label.size() >= head.size() + tail.size() && label.starts_with(head) &&
         label.ends_with(tail);
}

bool fitsHost(std::string_view pattern, std::string_view host) {
  if (cut(pattern, ':').after != cut(host, ':').after) return false;
  const auto wanted = split(cut(pattern, ':').before, '.'),
             given = split(cut(host, ':').before, '.');
  return wanted.size() == given.size() &&
         std::equal(wanted.begin(), wanted.end(), given.begin(), fitsLabel);
}

// A place beneath what the secret names, path by path.
bool fits(std::string_view key, std::string_view place) {
  if (key == "docker.io") key = "index.docker.io";
  const auto wanted = cut(key, '/'), given = cut(place, '/');
  if (!fitsHost(wanted.before, given.before)) return false;
  return wanted.after.empty() || given.after == wanted.after ||
         given.after.starts_with(std::string(wanted.after) + "/");
}

Credentials read(std::string_view server, const json::Object& entry) {
  Credentials out;
  out.server = server;
  out.username = word(entry, "username");
  out.password = word(entry, "password");
  out.identityToken = word(entry, "identitytoken");
  out.registryToken = word(entry, "registrytoken");
  const auto both = base64Decode(word(entry, "auth"));
  if (!both || !out.username.empty()) return out;
  const auto parts = cut(*both, ':');
  out.username = parts.before;
  out.password = parts.after;
  while (!out.password.empty() && out.password.back() == '\0') out.password.pop_back();
  return out;
}

}  // namespace

std::vector<Credentials> credentialsFor(std::string_view image,
                                        const std::vector<PullSecret>& secrets,
                                        std::vector<std::string>* troubles) {
  const std::string place = placeOf(image);
  std::vector<Match> found;
  for (const auto& secret : secrets) {
    const auto parsed = json::parse(secret.content);
    if (!parsed || !parsed->is_object()) {
      if (troubles)
        troubles->push_back(
            fmt::format("pull secret {}: want {{\"auths\": {{HOST: {{…}}}}}} as docker writes it",
                        secret.name));
      continue;
    }
    const json::Value* auths = parsed->get_object().if_contains("auths");
    const json::Object& entries =
        auths && auths->is_object() ? auths->get_object() : parsed->get_object();
    for (const auto& [key, entry] : entries) {
      const std::string_view named = placeIn(key);
      if (entry.is_object() && fits(named, place))
        found.push_back({named.size(), read(key, entry.get_object())});
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Match& a, const Match& b) { return a.length > b.length; });
  std::vector<Credentials> out;
  for (auto& match : found) out.push_back(std::move(match.credentials));
  return out;
}

}  // namespace mangrove::runtime::cri
