#pragma once
// The C++ side of each built-in kind, found by group and kind; every version of a kind shares it.
// The list is in rules.cc; nothing registers itself.

#include <string_view>

#include "apiserver/kinds/catalogue.h"

namespace mangrove::apiserver {

KindRules rulesOf(std::string_view group, std::string_view version, std::string_view kind);

}  // namespace mangrove::apiserver
