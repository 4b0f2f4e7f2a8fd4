// The fast reader and the slow scanner must agree on what is JSON, and everything read must survive
// being written.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "json/diagnose.h"
#include "json/value.h"
#include "json/view.h"

using namespace mangrove;

namespace {

void checkText(const std::string& text, const json::Value& value) {
  auto back = json::parse(text);
  CHECK(back.has_value(), "{}: {}", text, back.error().text());
  CHECK(json::equal(*back, value), "{} is not {}", text, json::write(*back));
}

void checkAccepted(json::View root) {
  const json::Value value = json::toValue(root);
  std::string echo;
  json::write(root, echo);
  checkText(echo, value);
  checkText(json::write(value), value);
  checkText(json::writeSorted(value), value);
  checkText(json::writePretty(value), value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const json::Limits limits{.maxDepth = 32};
  json::Doc doc(limits);
  auto root = doc.parse(text);
  const auto fault = json::firstFault(text, limits.maxDepth);
  CHECK(root.has_value() != fault.has_value(), "reader: {}, scanner: {}",
        root ? "fine" : root.error().text(), fault ? fault->sentence : "fine");
  if (root) checkAccepted(*root);
  return 0;
}
