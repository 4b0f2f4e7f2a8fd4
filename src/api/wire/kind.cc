#include "api/wire/kind.h"

#include <algorithm>

#include "base/text/encoding.h"

namespace mangrove::api {
namespace {

constexpr Kind kAll[] = {
#define KIND(name, ...) kind::name,
#include "api/wire/kinds.def"
#undef KIND
};

std::string root(const Kind& kind) {
  std::string out = kind.group.empty() ? "/api/" : "/apis/" + std::string(kind.group) + "/";
  return out.append(kind.version);
}

}  // namespace

std::string Kind::apiVersion() const {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

std::string Kind::path(std::string_view ns) const {
  std::string out = root(*this);
  if (namespaced && !ns.empty()) out += "/namespaces/" + percentEncode(ns);
  return out.append("/").append(plural);
}

std::string Kind::path(std::string_view ns, std::string_view name,
                       std::string_view subresource) const {
  std::string out = path(ns) + "/" + percentEncode(name);
  if (!subresource.empty()) out.append("/").append(subresource);
  return out;
}

GroupVersion parseApiVersion(std::string_view apiVersion) {
  const size_t slash = apiVersion.find('/');
  if (slash == std::string_view::npos) return {"", apiVersion};
  const GroupVersion parsed{apiVersion.substr(0, slash), apiVersion.substr(slash + 1)};
  const bool good = !parsed.group.empty() && !parsed.version.empty() &&
                    parsed.version.find('/') == std::string_view::npos;
  return good ? parsed : GroupVersion{};
}

std::span<const Kind> allKinds() {
  return kAll;
}

const Kind* findKind(std::string_view apiVersion, std::string_view kind) {
  const GroupVersion wanted = parseApiVersion(apiVersion);
  auto at = std::ranges::find_if(kAll, [&](const Kind& k) {
    return k.kind == kind && k.group == wanted.group && k.version == wanted.version;
  });
  return at == std::end(kAll) ? nullptr : &*at;
}

const Kind* findPlural(std::string_view group, std::string_view version, std::string_view plural) {
  auto at = std::ranges::find_if(kAll, [&](const Kind& k) {
    return k.plural == plural && k.group == group && (version.empty() || k.version == version);
  });
  return at == std::end(kAll) ? nullptr : &*at;
}

}  // namespace mangrove::api
