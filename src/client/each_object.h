#pragma once
// Every object of a kind that a server has, page by page. A kind the server does not know is empty.
//
//   auto ok = eachObject<api::Node>(client, kind::kNode, [&](std::shared_ptr<api::Node> node) { … });

#include <functional>
#include <memory>

#include "api/wire/decode.h"
#include "client/api_client.h"

namespace mangrove::client {

template <class T>
Result<> eachObject(ApiClient& client, const api::Kind& kind,
                    const std::function<void(std::shared_ptr<T>)>& use) {
  Query query{.limit = 500};
  do {
    auto page = client.list(kind, "", query);
    if (!page && page.error().code() == Code::kNotFound) return {};
    if (!page) return pass(page.error());
    for (std::string_view item : page->items)
      if (auto object = api::decodeText<T>(item)) use(std::make_shared<T>(std::move(*object)));
    query.continueToken = page->continueToken;
  } while (!query.continueToken.empty());
  return {};
}

}  // namespace mangrove::client
