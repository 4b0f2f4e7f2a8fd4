#include "vector_runner/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "base/number/quantity.h"

namespace mangrove::vectors {

namespace {

using SameText = bool (*)(std::string_view, std::string_view);

bool nothing(const json::Value& v) {
  return v.is_null() || (v.is_object() && v.get_object().empty());
}

bool sameNumber(const json::Value& a, const json::Value& b) {
  if (a.is_int64() && b.is_int64()) return a.get_int64() == b.get_int64();
  return a.to_number<double>() == b.to_number<double>();
}

bool sameAmount(std::string_view a, std::string_view b) {
  if (a == b) return true;
  auto left = Quantity::parse(a);
  auto right = Quantity::parse(b);
  return left && right && *left == *right;
}

bool sameExactly(std::string_view a, std::string_view b) {
  return a == b;
}

class Differ {
 public:
  Differ(Report& report, SameText sameText) : report_(report), sameText_(sameText) {}

  void compare(const std::string& path, const json::Value& want, const json::Value& got) {
    if (nothing(want) && nothing(got)) return;
    if (want.is_object() && (got.is_object() || got.is_null())) return objects(path, want, got);
    if (want.is_array() && got.is_array()) return arrays(path, want.get_array(), got.get_array());
    if (!sameScalar(want, got)) report_.mismatch(path, json::write(want), json::write(got));
  }

 private:
  bool sameScalar(const json::Value& want, const json::Value& got) const {
    if (want.is_number() && got.is_number()) return sameNumber(want, got);
    if (want.is_string() && got.is_string()) {
      return sameText_(want.get_string(), got.get_string());
    }
    return want == got;
  }

  void objects(const std::string& path, const json::Value& want, const json::Value& got) {
    static const json::Object kEmpty;
    const json::Object& left = want.get_object();
    const json::Object& right = got.is_object() ? got.get_object() : kEmpty;
    for (const auto& [key, value] : left) {
      const json::Value* other = right.if_contains(key);
      compare(fmt::format("{}.{}", path, std::string_view(key)), value, other ? *other : nullptr);
    }
    for (const auto& [key, value] : right) {
      if (!left.contains(key)) {
        compare(fmt::format("{}.{}", path, std::string_view(key)), nullptr, value);
      }
    }
  }

  void arrays(const std::string& path, const json::Array& want, const json::Array& got) {
    if (want.size() != got.size()) {
      return report_.mismatch(path, json::write(want), json::write(got));
    }
    for (size_t i = 0; i < want.size(); ++i)
      compare(fmt::format("{}[{}]", path, i), want[i], got[i]);
  }

  Report& report_;
  SameText sameText_;
};

}  // namespace

void Report::expect(std::string_view field, const json::Value& want, const json::Value& got) {
  Differ(*this, &sameExactly).compare(std::string(field), want, got);
}

void Report::expectAmounts(std::string_view field, const json::Value& want,
                           const json::Value& got) {
  Differ(*this, &sameAmount).compare(std::string(field), want, got);
}

void Report::expectNear(std::string_view field, double want, double got, double relative) {
  const double scale = std::max(std::abs(want), std::abs(got));
  if (want == got || std::abs(want - got) <= relative * scale) return;
  mismatch(field, fmt::format("{:.17g}", want), fmt::format("{:.17g}", got));
}

void Report::mismatch(std::string_view field, std::string_view want, std::string_view got) {
  mismatches_.push_back(fmt::format("{}: expected {}, got {}", field, want, got));
}

}  // namespace mangrove::vectors
