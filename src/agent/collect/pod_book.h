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
#include <vector>

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
  template <class F>
  void each(F&& visit) const {
    for (const auto& [uid, pod] : pods_) visit(pod);
  }
  size_t size() const { return pods_.size(); }
  uint64_t version() const { return version_; }

 private:
  std::map<std::string, PodPtr, std::less<>> pods_;      // by uid
  std::map<std::string, PodPtr, std::less<>> byCgroup_;  // by normalised id in the cgroup's name
  uint64_t version_ = 0;
};

// The uid under which the kubelet made the pod's cgroup.
std::string cgroupUid(const api::Pod& pod);

}  // namespace mangrove::agent
