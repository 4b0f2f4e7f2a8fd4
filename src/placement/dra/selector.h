#pragma once
// Selectors of devices, a part of CEL: comparisons of the driver, of attributes and of capacity,
// joined by &&, || and !, with parentheses.
//
//   auto selector = parseDeviceSelector(
//       "device.driver == 'gpu.example.com' && "
//       "device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0");
//   if (!selector) … selector.error()     // "… 'startsWith' is not served; want a comparison …"
//   selector->matches({driver, device})   // true, false, or why it cannot be said
//
// Strings, integers, booleans, semver('1.2.3') and quantity('1Gi') are compared by == != < <= > >=,
// versions and quantities by compareTo(…), isGreaterThan(…) and isLessThan(…); "x in [a, b]" is
// known. As in CEL an attribute that a device lacks is an error, unless the other side of && or ||
// decides.
//
// Pure functions and values, any thread.

#include <memory>
#include <string>
#include <string_view>

#include "api/object/dynamic_resources.h"
#include "base/result.h"

namespace mangrove::placement {

struct DeviceInQuestion {
  std::string_view driver;
  const api::OfferedDevice& device;
};

class DeviceSelector {
 public:
  struct Term;  // of the expression
  explicit DeviceSelector(std::shared_ptr<const Term> root) : root_(std::move(root)) {}
  Result<bool> matches(const DeviceInQuestion& question) const;

 private:
  std::shared_ptr<const Term> root_;
};

Result<DeviceSelector> parseDeviceSelector(std::string_view expression);

}  // namespace mangrove::placement
