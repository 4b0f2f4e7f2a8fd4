#pragma once
// The pods of this node as the API (or the kubelet) describes them, found by what a cgroup's name
// says. Static pods are known to the cgroup tree by the hash their mirror object carries.
//
//   PodBook book;
//   book.put(pod);  book.remove(uid);
//   const api::Pod* pod = book.findByCgroup("7712555c_ce62_…");
//
// Owner thread. `version` grows with every change, so that readers can skip when nothing happened.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "agent/collect/pod_said.h"
#include "api/pod/pod.h"

namespace mangrove::agent {

using PodPtr = std::shared_ptr<const api::Pod>;

class PodBook {
 public:
  void put(PodPtr pod);
  void remove(std::string_view uid);
  // Everything at once; an empty list is refused (a kubelet that just started knows no pods yet)
  // and false returned.
  bool replace(std::vector<PodPtr> pods);

  PodPtr find(std::string_view uid) const;
  // By the id in a cgroup's name, "-" and "_" alike.
  PodPtr findByCgroup(std::string_view id) const;
  // Visits pods, with what they say if the visitor takes that too.
  template <class F>
  void each(F&& visit) const {
    for (const auto& [uid, one] : pods_) {
      if constexpr (std::is_invocable_v<F, const PodPtr&, const PodSaid&>)
        visit(one.pod, *one.said);
      else
        visit(one.pod);
    }
  }
  // What this very object's annotations say, decoded when it came; null: another object is here.
  PodSaidPtr saidBy(const api::Pod& pod) const;
  size_t size() const { return pods_.size(); }
  uint64_t version() const { return version_; }

 private:
  struct Entry {
    PodPtr pod;
    PodSaidPtr said;
  };
  std::map<std::string, Entry, std::less<>> pods_;       // by uid
  std::map<std::string, PodPtr, std::less<>> byCgroup_;  // by normalised id in the cgroup's name
  uint64_t version_ = 0;
};

// The uid under which the kubelet made the pod's cgroup.
std::string cgroupUid(const api::Pod& pod);

}  // namespace mangrove::agent
