#pragma once
// Whether the first list of an informer is in. A kind that the server does not know has nothing to
// list and is not waited for.
//
//   if (auto why = notListed(pods, "pods"); !why.empty()) return why;
//     // "pods are not listed yet"
//
// Owner thread, as informers.

#include <string>
#include <string_view>

#include <fmt/core.h>

#include "client/informer/informer.h"

namespace mangrove::manager {

// "" when it is in; else what is missing, with the informer's trouble.
template <class T>
std::string notListed(const client::Informer<T>& informer, std::string_view what) {
  if (informer.hasSynced()) return "";
  const auto trouble = informer.trouble();
  if (trouble && trouble->code() == Code::kNotFound) return "";
  return fmt::format("{} are not listed yet{}", what, trouble ? ": " + trouble->text() : "");
}

}  // namespace mangrove::manager
