#pragma once
// Where in an object something is, built on the stack while walking down and turned into text only
// when somebody must be told: "spec.containers[0].ports[1].name", "data[my key]".
//
//   check(container, path.child("containers").at(i));
//
// A path points to its parent: it must not outlive it. Returned paths are for the expression or
// block that made them.

#include <cstddef>
#include <string>
#include <string_view>

namespace mangrove::apiserver {

class FieldPath {
 public:
  FieldPath() = default;  // the root
  explicit FieldPath(std::string_view name) : kind_(Kind::kMember), name_(name) {}

  FieldPath child(std::string_view name) const { return {this, Kind::kMember, name, 0}; }
  FieldPath key(std::string_view key) const { return {this, Kind::kKey, key, 0}; }
  FieldPath at(size_t index) const { return {this, Kind::kIndex, {}, index}; }

  bool isRoot() const { return kind_ == Kind::kRoot; }
  std::string text() const;

 private:
  enum class Kind : unsigned char { kRoot, kMember, kKey, kIndex };
  FieldPath(const FieldPath* parent, Kind kind, std::string_view name, size_t index)
      : parent_(parent), kind_(kind), name_(name), index_(index) {}
  void appendTo(std::string& out) const;

  const FieldPath* parent_ = nullptr;
  Kind kind_ = Kind::kRoot;
  std::string_view name_;
  size_t index_ = 0;
};

}  // namespace mangrove::apiserver
