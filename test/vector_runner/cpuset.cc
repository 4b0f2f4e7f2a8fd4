#include <vector>

#include "base/number/cpu_set.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

json::Value listOf(const CpuSet& set) {
  json::Array out;
  for (int cpu : set) out.push_back(cpu);
  return out;
}

void parseCase(const json::Object& c, Report& r) {
  const auto parsed = CpuSet::parse(text(c, "in"));
  r.expect("error", member(c, "error"), !parsed.has_value());
  if (!parsed || !member(c, "expect").is_object()) return;
  const json::Object& want = c.at("expect").get_object();
  r.expect("text", member(want, "text"), json::Value(parsed->text()));
  r.expect("cpus", member(want, "cpus"), listOf(*parsed));
}

void formatCase(const json::Object& c, Report& r) {
  CpuSet set;
  for (const json::Value& cpu : c.at("in").get_array()) set.add(cpu.to_number<int>());
  r.expect("text", member(c, "expect"), json::Value(set.text()));
}

void setCase(const json::Object& c, Report& r) {
  const auto a = CpuSet::parse(text(c, "a"));
  const auto b = CpuSet::parse(text(c, "b"));
  if (!a || !b) return r.mismatch("a, b", "two cpu lists", "an error");
  const json::Object& want = c.at("expect").get_object();
  r.expect("union", member(want, "union"), json::Value((*a | *b).text()));
  r.expect("intersection", member(want, "intersection"), json::Value((*a & *b).text()));
  r.expect("difference", member(want, "difference"), json::Value((*a - *b).text()));
  r.expect("equal", member(want, "equal"), *a == *b);
  r.expect("a_subset_of_b", member(want, "a_subset_of_b"), a->isSubsetOf(*b));
  r.expect("size_a", member(want, "size_a"), a->size());
}

}  // namespace

void cpuset(const json::Object& c, Report& r) {
  const std::string_view op = text(c, "op");
  if (op == "parse") return parseCase(c, r);
  if (op == "format") return formatCase(c, r);
  if (op == "set_ops") return setCase(c, r);
  r.mismatch("op", "parse, format or set_ops", op);
}

}  // namespace mangrove::vectors
