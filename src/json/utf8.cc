#include "json/utf8.h"

namespace mangrove::json {
namespace {

struct Form {
  uint8_t mask, lead;  // of the first byte
  size_t length;
  uint32_t smallest;  // anything below is over-long
};

constexpr Form kForms[] = {
    {0x80, 0x00, 1, 0}, {0xE0, 0xC0, 2, 0x80}, {0xF0, 0xE0, 3, 0x800}, {0xF8, 0xF0, 4, 0x10000}};

bool isScalar(uint32_t code) {
  return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

}  // namespace

Character firstCharacter(std::string_view text) {
  const auto first = static_cast<uint8_t>(text[0]);
  for (const Form& form : kForms) {
    if ((first & form.mask) != form.lead) continue;
    if (text.size() < form.length) return {};
    uint32_t code = first & static_cast<uint8_t>(~form.mask);
    for (size_t i = 1; i < form.length; ++i) {
      const auto next = static_cast<uint8_t>(text[i]);
      if ((next & 0xC0) != 0x80) return {};
      code = code << 6 | (next & 0x3F);
    }
    if (code < form.smallest || !isScalar(code)) return {};
    return {code, form.length};
  }
  return {};
}

}  // namespace mangrove::json
