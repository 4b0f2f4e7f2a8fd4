#include "cli/raw_objects.h"

namespace mangrove::cli {

Result<std::vector<json::Value>> listRaw(client::ApiClient& client, const client::Kind& kind,
                                         const std::string& ns) {
  std::vector<json::Value> out;
  client::Query query{.limit = 500};
  do {
    auto page = client.list(kind, ns, query);
    if (!page && page.error().code() == Code::kNotFound) return out;
    if (!page) return pass(page.error());
    for (auto item : page->items)
      if (auto one = json::parse(item); one && one->is_object()) out.push_back(std::move(*one));
    query.continueToken = page->continueToken;
  } while (!query.continueToken.empty());
  return out;
}

const json::Value* valueAt(const json::Value& from, std::initializer_list<std::string_view> path) {
  const json::Value* here = &from;
  for (auto name : path) {
    here = here->is_object() ? here->get_object().if_contains(name) : nullptr;
    if (here == nullptr) return nullptr;
  }
  return here;
}

std::string textAt(const json::Value& from, std::initializer_list<std::string_view> path) {
  const json::Value* found = valueAt(from, path);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

std::vector<json::Value> elementsAt(const json::Value& from,
                                    std::initializer_list<std::string_view> path) {
  const json::Value* found = valueAt(from, path);
  if (found == nullptr || !found->is_array()) return {};
  return {found->get_array().begin(), found->get_array().end()};
}

}  // namespace mangrove::cli
