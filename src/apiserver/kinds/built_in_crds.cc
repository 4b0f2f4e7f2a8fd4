#include "apiserver/kinds/built_in_crds.h"

#include <vector>

#include "apiserver/kinds/catalogue.h"
#include "apiserver/kinds/kind_assets.h"
#include "apiserver/schema/decoding.h"
#include "apiserver/schema/defaulting.h"
#include "base/check.h"
#include "json/yaml.h"

namespace mangrove::apiserver {
namespace {

// The files are part of the program: an error in them is a bug of ours, found by every test.
std::vector<json::Value> readAll() {
  const KindInfo& kind =
      *catalogue().find("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
  std::vector<json::Value> out;
  for (const Asset& asset : builtInCrdAssets()) {
    auto crd = json::parseYamlDocument(asset.bytes, asset.name);
    CHECK(crd.has_value(), "{}", crd ? "" : crd.error().text());
    auto decoded = decode(kind, *crd);
    CHECK(decoded.has_value(), "{}: {}", asset.name, decoded ? "" : decoded.error().text());
    applyDefaults(kind, *crd);
    out.push_back(std::move(*crd));
  }
  return out;
}

}  // namespace

std::span<const json::Value> builtInCrds() {
  static const std::vector<json::Value> crds = readAll();
  return crds;
}

}  // namespace mangrove::apiserver
