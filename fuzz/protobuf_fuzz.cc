// Kubernetes' protobuf: any bytes are an object or a refusal, and what was read is written to bytes
// that read as the same object. The first byte chooses a kind, the rest is its message; input that
// starts with the magic bytes is taken as it is.
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/kinds/catalogue.h"
#include "apiserver/protobuf/envelope.h"
#include "base/check.h"
#include "base/text/wire.h"

using namespace mangrove;
using namespace mangrove::apiserver;

namespace {

std::string enveloped(const KindInfo& kind, std::string_view raw) {
  std::string out("k8s\0", 4);
  appendNested(1, out, [&](std::string& inner) {
    appendBytes(1, kind.apiVersion(), inner);
    appendBytes(2, kind.kind, inner);
  });
  appendBytes(2, raw, out);
  return out;
}

void checkRoundTrip(std::string_view bytes) {
  auto object = protobuf::fromProtobuf(bytes);
  if (!object) return;
  json::Doc doc;
  const std::string text = json::write(*object);
  auto view = doc.parse(text);
  CHECK(view, "{}", view.error().text());
  auto again = protobuf::toProtobuf(*view);
  CHECK(again, "{}", text);
  auto back = protobuf::fromProtobuf(*again);
  CHECK(back, "{} of {}", back.error().text(), text);
  CHECK(json::equal(*back, *object), "{} is not {}", json::write(*back), text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > 65536) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with("k8s")) {
    checkRoundTrip(bytes);
    return 0;
  }
  const auto& kinds = catalogue().kinds();
  checkRoundTrip(enveloped(*kinds[data[0] % kinds.size()], bytes.substr(1)));
  return 0;
}
