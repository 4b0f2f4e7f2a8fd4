#pragma once
// The custom resource definitions every server has from its first start (config/crd). Reading them
// takes a few milliseconds, so a server that has them already compares digests instead.
//
//   for (const BuiltInCrd& crd : builtInCrds())
//     if (!has(crd.name, crd.digest())) install(crd.read());
//
// Immutable; any thread.

#include <span>
#include <string>
#include <string_view>

#include "json/value.h"

namespace mangrove::apiserver {

struct BuiltInCrd {
  std::string name;       // "nodemetrics.slo.koordinator.sh"
  std::string_view json;  // as in config/crd

  // Changes with every change of the definition.
  std::string digest() const;
  // With its defaults, without metadata a server gives.
  json::Value read() const;
};

std::span<const BuiltInCrd> builtInCrds();

}  // namespace mangrove::apiserver
