#pragma once
// The expression of a selector, as a tree: what selector_parse.cc makes and selector.cc evaluates.
//
// Values; any thread.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/number/quantity.h"
#include "placement/dra/selector.h"

namespace mangrove::placement {

struct DeviceVersion {
  std::array<int64_t, 3> parts{};
  std::string pre;  // "rc.1"; a version with one comes before that without
  bool operator==(const DeviceVersion&) const = default;
};
std::optional<DeviceVersion> readVersion(std::string_view text);  // "1.2.3-rc.1"

using DeviceValue = std::variant<int64_t, bool, std::string, DeviceVersion, Quantity>;
// "an integer", …
std::string_view typeName(const DeviceValue& value);

// One node of the expression: a constant, something of the device, or an operation on others.
struct DeviceSelector::Term {
  enum class Kind : uint8_t {
    kConstant,
    kDriver,
    kAttribute,
    kCapacity,
    kCompareTo,  // -1, 0 or 1
    kNot,
    kAnd,
    kOr,
    kIn,  // the first among the others
    kEqual,
    kUnequal,
    kLess,
    kLessOrEqual,
    kGreater,
    kGreaterOrEqual,
  };
  using Ptr = std::shared_ptr<const Term>;
  Kind kind = Kind::kConstant;
  DeviceValue value = int64_t{0};
  std::string domain, name;  // of attributes and capacity
  std::vector<Ptr> parts;

  Result<DeviceValue> evaluate(const DeviceInQuestion& question) const;
  Result<bool> truth(const DeviceInQuestion& question) const {
    auto got = evaluate(question);
    if (!got) return pass(got.error());
    if (const bool* out = std::get_if<bool>(&*got)) return *out;
    return invalid("{} is no condition", typeName(*got));
  }

 private:
  template <class Map>
  auto find(const Map& map, std::string_view driver) const {
    auto at = map.find(domain + "/" + name);
    // Names without a domain are the driver's own.
    if (at == map.end() && domain == driver) at = map.find(name);
    return at;
  }
  Result<DeviceValue> attribute(const DeviceInQuestion& question) const;
  Result<DeviceValue> joined(const DeviceInQuestion& question) const;
  Result<DeviceValue> compared(const DeviceInQuestion& question) const;
};

}  // namespace mangrove::placement
