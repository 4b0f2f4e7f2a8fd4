#pragma once
// What a list asks for and what it gets: a page of objects that all belong to one revision.
//
//   Query query{.resource = pods, .ns = "default", .limit = 500};
//   query.filter = [&](const Object& pod) { return selector.matches(pod.labels()); };
//   Result<Page> page = store.list(query);
//   // next page, same state of the world: query.from = Continue::parse(token)
//
// Values only; any thread.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text/interned.h"
#include "store/object.h"
#include "store/revision.h"

namespace mangrove::store {

// Where the next page starts and which state of the world it belongs to. The text is opaque to
// clients.
struct Continue {
  Revision revision;  // none: whatever is newest then, which may not fit the pages before
  std::string after;  // Object::path of the last object looked at

  std::string text() const;
  // kInvalid for anything text() did not make.
  static Result<Continue> parse(std::string_view text);
  // For clients that would rather go on than start again after kGone.
  Continue inconsistent() const { return {{}, after}; }
};

struct Query {
  Interned resource;
  std::string ns = {};  // empty: all namespaces
  // Only objects whose declared field (its place in ResourceSpec::fields) has this text. Through
  // the index when the field has one.
  std::optional<std::pair<size_t, std::string>> field = {};
  // Everything else that must be true, e.g. label selectors. Empty: no condition.
  std::function<bool(const Object&)> filter = {};
  size_t limit = 0;  // 0: no limit. Counts objects that passed the filter
  std::optional<Continue> from = {};
  // The state at exactly this revision instead of the newest. Ignored with `from`.
  Revision exact = {};
};

struct Page {
  Revision revision;  // of all objects in all pages: where a watch goes on
  std::vector<ObjectPtr> items;
  std::optional<Continue> next;     // nullopt: this was the last page
  std::optional<size_t> remaining;  // objects behind this page; only known without conditions
};

}  // namespace mangrove::store
