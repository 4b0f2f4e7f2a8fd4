#pragma once
// One kind's controller: looks at the caches and says what it wants. Owner thread; no I/O.

#include <optional>
#include <string>
#include <string_view>

#include "api/object/meta.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

class Controller {
 public:
  virtual ~Controller() = default;
  virtual const api::Kind& kind() const = 0;
  // nullopt: the object is gone. `trouble`: why the last creation failed, "" when it did not.
  virtual std::optional<Plan> plan(std::string_view key, std::string_view trouble,
                                   WallTime now) = 0;
  // What Events point to; nullopt when the object is gone.
  virtual std::optional<api::ObjectRef> about(std::string_view key) const = 0;
};

}  // namespace mangrove::workloads
