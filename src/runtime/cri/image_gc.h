#pragma once
// Which images go when their disk fills: unused ones, the least recently used first, until it is
// below the lower mark; none that was seen or used in the last minutes. As a kubelet does it.
//
//   ImageGc gc;
//   gc.saw(images, inUse, now);
//   for (const auto& id : gc.toRemove(images, inUse, disk, now)) …
//
// One owner.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "runtime/cri/messages.h"

namespace mangrove::runtime::cri {

struct DiskRoom {
  Bytes capacity, available;
};

struct GcRules {
  int high = 85, low = 80;  // per cent of the disk
  Duration youngest = std::chrono::minutes(2);
};

class ImageGc {
 public:
  explicit ImageGc(GcRules rules = {}) : rules_(rules) {}
  // `inUse`: ids of the images of present containers.
  void saw(const std::vector<Image>& images, const std::set<std::string>& inUse, MonoTime now);
  std::vector<std::string> toRemove(const std::vector<Image>& images,
                                    const std::set<std::string>& inUse, const DiskRoom& disk,
                                    MonoTime now) const;

 private:
  struct Seen {
    MonoTime first, used;
  };
  GcRules rules_;
  std::map<std::string, Seen> seen_;
};

}  // namespace mangrove::runtime::cri
