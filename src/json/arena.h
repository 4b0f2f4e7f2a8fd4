#pragma once
// Memory for the documents of one request: taken in large pieces, given back all at once. A tree in
// an arena costs a third of one in the heap, and nothing to destroy.
//
//   Arena arena;
//   auto pod = parse(text, arena.storage());        // Value; its members grow in the arena, too
//   take(request.object, std::move(*pod));          // stays there; `=` would copy it to the heap
//
// The arena must outlive every value in it. Values move freely between places of one arena; a copy
// (`Value b = a`) is in the heap and may outlive it. Memory of members that were erased comes back
// only with the arena. One thread at a time.

#include <cstddef>
#include <memory>
#include <string_view>

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/storage_ptr.hpp>

#include "json/value.h"

namespace mangrove::json {

using Storage = boost::json::storage_ptr;

class Arena {
 public:
  Arena();
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  Storage storage() { return &resource_; }

 private:
  std::unique_ptr<unsigned char[]> first_;  // reused by the next arena of this thread
  boost::json::monotonic_resource resource_;
};

Result<Value> parse(std::string_view text, Storage storage);
Value toValue(View view, Storage storage);

// Moves a value together with its storage; assignment would copy it into the storage of `to`.
void take(Value& to, Value&& from) noexcept;

}  // namespace mangrove::json
