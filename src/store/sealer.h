#pragma once
// Who makes rows unreadable on the disk. The store asks it for every row it writes and reads; what
// is in memory is plain. Thread-safe.

#include <string>
#include <string_view>

#include "base/result.h"

namespace mangrove::store {

class Sealer {
 public:
  virtual ~Sealer() = default;
  // Whether objects of this resource (its stored name) are sealed.
  virtual bool wants(std::string_view resource) const = 0;
  // `place` names the row; what was sealed for one place does not open in another.
  virtual Result<std::string> seal(std::string_view plain, std::string_view place) const = 0;
  virtual Result<std::string> open(std::string_view sealed, std::string_view place) const = 0;
};

}  // namespace mangrove::store
