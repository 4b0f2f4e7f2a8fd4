#include "runtime/cri/image_gc.h"

#include <algorithm>
#include <tuple>

namespace mangrove::runtime::cri {

void ImageGc::saw(const std::vector<Image>& images, const std::set<std::string>& inUse,
                  MonoTime now) {
  std::map<std::string, Seen> next;
  for (const auto& image : images) {
    const auto before = seen_.find(image.id);
    Seen one = before == seen_.end() ? Seen{now, now} : before->second;
    if (inUse.contains(image.id)) one.used = now;
    next[image.id] = one;
  }
  seen_ = std::move(next);
}

std::vector<std::string> ImageGc::toRemove(const std::vector<Image>& images,
                                           const std::set<std::string>& inUse, const DiskRoom& disk,
                                           MonoTime now) const {
  if (disk.capacity.v <= 0) return {};
  const int64_t used = disk.capacity.v - disk.available.v;
  if (used * 100 < disk.capacity.v * rules_.high) return {};
  struct Candidate {
    Seen seen;
    const Image* image;
  };
  std::vector<Candidate> candidates;
  for (const auto& image : images) {
    const auto seen = seen_.find(image.id);
    if (image.pinned || inUse.contains(image.id) || seen == seen_.end()) continue;
    if (now - seen->second.first < rules_.youngest || now - seen->second.used < rules_.youngest)
      continue;
    candidates.push_back({seen->second, &image});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.seen.used, a.seen.first, a.image->id) <
           std::tie(b.seen.used, b.seen.first, b.image->id);
  });
  int64_t excess = used - disk.capacity.v / 100 * rules_.low;
  std::vector<std::string> out;
  for (const auto& one : candidates) {
    if (excess <= 0) break;
    excess -= one.image->size.v;
    out.push_back(one.image->id);
  }
  return out;
}

}  // namespace mangrove::runtime::cri
