// Quantities: whatever parses prints to a text that parses to the same amount, and arithmetic keeps
// its laws. The input is one text, or two separated by a line break.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/number/quantity.h"
#include "base/text/strings.h"

using mangrove::Quantity;

namespace {

void checkRoundTrip(const Quantity& a) {
  const std::string text = a.text();
  const auto again = Quantity::parse(text);
  CHECK(again, "{}: {}", text, again.error().text());
  CHECK(*again == a, "{} is not {}", again->text(), text);
  CHECK(again->withFormat(a.format()).text() == text, "{}", text);
  CHECK((a.sign() < 0) == text.starts_with('-'), "{}", text);
}

void checkViews(const Quantity& a) {
  const Quantity whole = Quantity::of(a.value());
  const bool fits = a.value() != INT64_MAX && a.value() != INT64_MIN;
  CHECK(!fits || a.sign() * whole.compare(a) >= 0, "{}: value rounds toward zero", a.text());
  const Quantity rest = whole - a;
  CHECK(!fits || (rest < Quantity::of(1) && rest > Quantity::of(-1)), "{}: value {}", a.text(),
        a.value());
  CHECK(!a.isExact(0) || whole == a, "{}", a.text());
  const Quantity milli = Quantity::ofMilli(a.milliValue());
  CHECK(!a.isExact(-3) || milli == a, "{}", a.text());
  CHECK(a.mul(1).sign() * a.sign() >= 0, "{}", a.text());
}

void checkPair(const Quantity& a, const Quantity& b) {
  CHECK(a + b == b + a);
  CHECK(a - b == -(b - a));
  CHECK((a + b) - b == a);
  CHECK((a - b).sign() == a.compare(b));
  CHECK(a.compare(b) == -b.compare(a));
  CHECK((a + b).format() == (a.isZero() ? b : a).format());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const mangrove::Halves texts = mangrove::cut(input, '\n');
  const auto a = Quantity::parse(texts.before);
  const auto b = Quantity::parse(texts.after);
  for (const auto& parsed : {&a, &b}) {
    if (!*parsed) continue;
    checkRoundTrip(**parsed);
    checkViews(**parsed);
    checkRoundTrip(-**parsed);
  }
  if (a && b) checkPair(*a, *b);
  return 0;
}
