#pragma once
// A pod as the scheduler reads it from its watch. A pod comes back several times (with its node,
// its nomination, its status) and its spec is the same text each time, as it is for all pods of one
// ReplicaSet: a spec that was read lately is not read again. Deprecated resource names have their
// present ones already (transform.h).
//
//   client::Informer<WatchedPod> pods(setup);          // or api::decode<WatchedPod>(view)
//
// SpecMemo compares whole specs, never digests alone, so it cannot be wrong. One memo per thread;
// read() uses that of the thread it runs on.

#include <string>
#include <string_view>
#include <unordered_map>

#include "api/pod/pod.h"

namespace mangrove::placement {

struct WatchedPod : api::Pod {};
bool read(const api::In& in, WatchedPod& out);

class SpecMemo {
 public:
  // Beyond that many everything is forgotten: specs that differ from pod to pod gain nothing here.
  static constexpr size_t kMost = 1024;

  // What was put for an equal spec; null: nothing. Members in another order make another spec;
  // spec.nodeName makes none.
  const api::Shared<api::PodSpec>* find(json::View spec);
  // For the spec that was asked for last.
  void put(const api::Shared<api::PodSpec>& spec);

 private:
  struct ByText {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Known = std::unordered_map<std::string, api::Shared<api::PodSpec>, ByText, std::equal_to<>>;

  std::string text_;  // of the spec that was asked for last
  Known known_;
  const Known::value_type* last_ = nullptr;
};

}  // namespace mangrove::placement
