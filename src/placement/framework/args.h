#pragma once
// Reading the arguments of a plugin and other configuration: every field has a known name and type,
// and a mistake says which name or type would be right.
//
//   Args args(value, "NodeResourcesFitArgs");
//   args.only({"scoringStrategy", "ignoredResources"});
//   const int64_t timeout = args.integer("bindTimeoutSeconds", 600);
//   if (auto ok = args.done(); !ok) return pass(ok.error());
//
// "NodeResourcesFitArgs: unknown field 'scoringStrategie', did you mean 'scoringStrategy'?"

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::placement {

class Args {
 public:
  // Null is an object without fields.
  Args(const json::Value& value, std::string where);

  // apiVersion and kind are always known.
  void only(std::initializer_list<std::string_view> known);
  bool has(std::string_view key) const { return find(key) != nullptr; }
  const json::Value* find(std::string_view key) const;  // nullptr when absent or null
  int64_t integer(std::string_view key, int64_t fallback);
  double number(std::string_view key, double fallback);
  bool boolean(std::string_view key, bool fallback);
  std::string text(std::string_view key, std::string_view fallback = "");
  std::optional<Duration> duration(std::string_view key);  // "5m0s"
  std::map<std::string, int64_t> integers(std::string_view key);
  std::vector<std::string> texts(std::string_view key);
  const json::Array& list(std::string_view key);
  // A reader of a part; its mistakes are ours.
  Args object(std::string_view key);
  void take(const Args& part);

  void complain(std::string sentence);  // "<where>: <sentence>"; the first one counts
  Result<> done() const;
  const std::string& where() const { return where_; }

 private:
  void wants(std::string_view key, std::string_view type);

  const json::Object* object_ = nullptr;
  std::string where_;
  std::string trouble_;
};

}  // namespace mangrove::placement
