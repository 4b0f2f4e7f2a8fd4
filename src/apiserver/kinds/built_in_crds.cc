#include "apiserver/kinds/built_in_crds.h"

#include <vector>

#include <fmt/core.h>

#include "apiserver/kinds/catalogue.h"
#include "apiserver/kinds/kind_assets.h"
#include "apiserver/schema/decoding.h"
#include "apiserver/schema/defaulting.h"
#include "base/check.h"
#include "base/number/fnv.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {
namespace {

// "slo.koordinator.sh_nodemetrics.json": the names of the files are the names of the definitions.
std::string nameOfFile(std::string_view file) {
  const auto [group, rest, found] = cut(file, '_');
  CHECK(found, "config/crd/{}: want GROUP_PLURAL", file);
  return fmt::format("{}.{}", cut(rest, '.').before, group);
}

std::vector<BuiltInCrd> listAll() {
  std::vector<BuiltInCrd> all;
  for (const Asset& asset : builtInCrdAssets())
    all.push_back({nameOfFile(asset.name), asset.bytes});
  return all;
}

}  // namespace

std::string BuiltInCrd::digest() const {
  return fmt::format("{:016x}", fnv1a(json));
}

// The files are part of the program: an error in them is a bug of ours, found by every test.
json::Value BuiltInCrd::read() const {
  const KindInfo& kind =
      *catalogue().find("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
  auto crd = json::parse(json);
  CHECK(crd.has_value(), "{}: {}", name, crd ? "" : crd.error().text());
  auto decoded = decode(kind, *crd);
  CHECK(decoded.has_value(), "{}: {}", name, decoded ? "" : decoded.error().text());
  applyDefaults(kind, *crd);
  return std::move(*crd);
}

std::span<const BuiltInCrd> builtInCrds() {
  static const std::vector<BuiltInCrd> all = listAll();
  return all;
}

}  // namespace mangrove::apiserver
