#pragma once
// Quotas whose numbers changed since somebody looked last, so that looking every second costs what
// has changed and not what there is.
//
//   TouchedQuotas touched;                            // one for each who looks
//   touched.each(book, [&](const QuotaPlace& place, const std::string& treeId) { … });
//
// Owner thread.

#include <map>
#include <string>

#include "placement/quota/book.h"

namespace mangrove::placement {

class TouchedQuotas {
 public:
  // Whether the trees are others than at the last look: all quotas were visited, and those that
  // were not are gone.
  template <class Visit>
  bool each(const QuotaBook& book, Visit visit) {
    const auto& trees = book.trees();
    const bool anew = generation_ != book.generation();
    if (anew) marks_.clear();
    generation_ = book.generation();
    for (const auto& [treeId, tree] : trees) {
      uint64_t& mark = marks_[tree.get()];
      if (mark == tree->touches()) continue;
      tree->eachTouched(mark, [&](QuotaId id) { visit(QuotaPlace{tree.get(), id}, treeId); });
      mark = tree->touches();
    }
    return anew;
  }

 private:
  uint64_t generation_ = 0;
  std::map<const QuotaLedger*, uint64_t> marks_;
};

}  // namespace mangrove::placement
