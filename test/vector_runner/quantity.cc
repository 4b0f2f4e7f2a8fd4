#include "base/number/quantity.h"

#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

// "value" and "milli" are recorded only where the exact result fits.
void parseCase(const json::Object& c, Report& r) {
  const auto parsed = Quantity::parse(text(c, "in"));
  r.expect("error", member(c, "error"), !parsed.has_value());
  if (!parsed || !member(c, "expect").is_object()) return;
  const json::Object& want = c.at("expect").get_object();
  r.expect("text", member(want, "text"), json::Value(parsed->text()));
  r.expect("format", member(want, "format"), json::Value(formatName(parsed->format())));
  r.expect("sign", member(want, "sign"), parsed->sign());
  if (want.contains("value")) r.expect("value", want.at("value"), parsed->value());
  if (want.contains("milli")) r.expect("milli", want.at("milli"), parsed->milliValue());
}

void arithmeticCase(const json::Object& c, Report& r) {
  const auto a = Quantity::parse(text(c, "a"));
  const auto b = Quantity::parse(text(c, "b"));
  if (!a || !b) return r.mismatch("a, b", "two quantities", "an error");
  const json::Object& want = c.at("expect").get_object();
  r.expect("add", member(want, "add"), json::Value((*a + *b).text()));
  r.expect("sub", member(want, "sub"), json::Value((*a - *b).text()));
  r.expect("cmp", member(want, "cmp"), a->compare(*b));
}

void scaleCase(const json::Object& c, Report& r) {
  const auto a = Quantity::parse(text(c, "a"));
  if (!a) return r.mismatch("a", "a quantity", a.error().text());
  const double factor = number(c, "factor");
  const json::Object& want = c.at("expect").get_object();
  r.expect("by_milli", member(want, "by_milli"), json::Value(a->mulMilli(factor).text()));
  r.expect("by_value", member(want, "by_value"), json::Value(a->mul(factor).text()));
}

}  // namespace

void quantity(const json::Object& c, Report& r) {
  const std::string_view op = text(c, "op");
  if (op == "parse") return parseCase(c, r);
  if (op == "arith") return arithmeticCase(c, r);
  if (op == "scale") return scaleCase(c, r);
  r.mismatch("op", "parse, arith or scale", op);
}

}  // namespace mangrove::vectors
