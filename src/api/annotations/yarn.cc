#include "api/annotations/yarn.h"

#include "api/wire/schema.h"

namespace mangrove::api {

static constexpr Schema kCapacity{
    always<&YarnCapacity::vcores>("vcores"),
    always<&YarnCapacity::memoryMb>("memoryMb"),
    unlessUnset<&YarnCapacity::vcoresPerCpu>("vcoresPerCpu"),
};
bool read(const In& in, YarnCapacity& out) {
  return kCapacity.read(in, out);
}
json::Value toJson(const YarnCapacity& value) {
  return kCapacity.write(value);
}

Result<std::optional<YarnCapacity>> parseYarnCapacity(const Annotations& pod) {
  auto said = parseAnnotation<YarnCapacity>(pod, annotation::kYarnCapacity);
  if (said && *said && ((*said)->vcores < 0 || (*said)->memoryMb < 0))
    return invalid("annotation {}: {} vcores and {} MB, want none below 0",
                   annotation::kYarnCapacity, (*said)->vcores, (*said)->memoryMb);
  if (said && *said && (*said)->vcoresPerCpu.value_or(1) <= 0)
    return invalid("annotation {}: {} vcoresPerCpu, want more than 0", annotation::kYarnCapacity,
                   *(*said)->vcoresPerCpu);
  return said;
}

bool isNodeManager(const Labels& pod) {
  return pod.get(label::kComponent) == kNodeManager;
}

}  // namespace mangrove::api
