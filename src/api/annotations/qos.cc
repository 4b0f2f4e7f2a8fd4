#include "api/annotations/qos.h"

#include "api/wire/schema.h"
#include "base/text/strings.h"

namespace mangrove::api {
namespace {

constexpr int kMostOomScoreAdj = 1000;  // the kernel's range is ±1000

bool readLimit(const In& in, std::optional<Quantity>& out) {
  if (in.view.string() == "") return true;
  return read(in, out.emplace());
}
bool readIngress(const In& in, PodNetworkQos& out) {
  return readLimit(in, out.ingressLimit);
}
bool readEgress(const In& in, PodNetworkQos& out) {
  return readLimit(in, out.egressLimit);
}

Result<int> checkedScore(int64_t value, std::string_view what) {
  if (value < -kMostOomScoreAdj || value > kMostOomScoreAdj)
    return invalid("{}: {}, want an integer from -1000 to 1000", what, value);
  return static_cast<int>(value);
}

}  // namespace

Result<std::optional<CpuBurstConfig>> parseCpuBurst(const Annotations& pod) {
  return parseAnnotation<CpuBurstConfig>(pod, annotation::kCpuBurst);
}

static constexpr Schema kMemoryPolicy{unlessUnset<&PodMemoryQos::policy>("policy")};
bool read(const In& in, PodMemoryQos& out) {
  return kMemoryPolicy.read(in, out) && read(in, static_cast<MemoryQos&>(out));
}
json::Value toJson(const PodMemoryQos& value) {
  json::Object out;
  kMemoryPolicy.writeInto(out, value);
  const json::Value settings = toJson(static_cast<const MemoryQos&>(value));
  for (const auto& [key, member] : settings.get_object()) out[key] = member;
  return out;
}
Result<std::optional<PodMemoryQos>> parseMemoryQos(const Annotations& pod) {
  return parseAnnotation<PodMemoryQos>(pod, annotation::kMemoryQos);
}

Result<std::optional<CpuQosConfig>> parseCpuQos(const Annotations& pod) {
  auto config = parseAnnotation<CpuQosConfig>(pod, annotation::kCpuQos);
  if (!config || !*config) return config;
  const int64_t identity = (*config)->groupIdentity.value_or(0);
  if (identity < -1 || identity > 2)
    return invalid("annotation {}: groupIdentity: {}, want -1 to 2", annotation::kCpuQos, identity);
  return config;
}

Result<std::optional<BlkioQos>> parseBlkioQos(const Annotations& pod) {
  return parseAnnotation<BlkioQos>(pod, annotation::kBlkioQos);
}

bool read(const In& in, PodNetworkQos& out) {
  static constexpr Fields fields{via<readIngress>("ingressLimit"), via<readEgress>("egressLimit")};
  return fields.read(in, out);
}
json::Value toJson(const PodNetworkQos& value) {
  json::Object out;
  put(out, "ingressLimit", value.ingressLimit);
  put(out, "egressLimit", value.egressLimit);
  return out;
}
Result<std::optional<PodNetworkQos>> parseNetworkQos(const Annotations& pod) {
  return parseAnnotation<PodNetworkQos>(pod, annotation::kNetworkQos);
}

static constexpr Schema kSchemata{
    unlessUnset<&Schemata::percent>("percent"),
    unlessUnset<&Schemata::range>("range"),
};
bool read(const In& in, Schemata& out) {
  return kSchemata.read(in, out);
}
json::Value toJson(const Schemata& value) {
  return kSchemata.write(value);
}

static constexpr Schema kCacheId{unlessUnset<&CacheSchemata::cacheId>("cacheID")};
bool read(const In& in, CacheSchemata& out) {
  return kCacheId.read(in, out) && kSchemata.read(in, out);
}
json::Value toJson(const CacheSchemata& value) {
  json::Object out;
  kCacheId.writeInto(out, value);
  kSchemata.writeInto(out, value);
  return out;
}

static constexpr Schema kResctrlResource{
    always<&ResctrlResource::schemata>("schemata"),
    unlessUnset<&ResctrlResource::schemataPerCache>("schemataPerCache"),
};
bool read(const In& in, ResctrlResource& out) {
  return kResctrlResource.read(in, out);
}
json::Value toJson(const ResctrlResource& value) {
  return kResctrlResource.write(value);
}

static constexpr Schema kResctrl{
    always<&ResctrlConfig::llc>("llc"),
    always<&ResctrlConfig::mb>("mb"),
};
bool read(const In& in, ResctrlConfig& out) {
  return kResctrl.read(in, out);
}
json::Value toJson(const ResctrlConfig& value) {
  return kResctrl.write(value);
}
Result<std::optional<ResctrlConfig>> parseResctrl(const Annotations& pod) {
  const auto text = pod.get(annotation::kResctrl);
  if (text && trim(*text) == "null") return std::nullopt;
  return parseAnnotation<ResctrlConfig>(pod, annotation::kResctrl);
}

std::optional<int> OomScoreAdj::of(const std::string& container) const {
  const auto own = byContainer.find(container);
  return own == byContainer.end() ? pod : std::optional(own->second);
}

Result<OomScoreAdj> parseOomScoreAdj(const Annotations& pod) {
  OomScoreAdj out;
  if (const auto text = pod.get(annotation::kOomScoreAdj)) {
    auto number = parseGoInt(*text);
    if (!number) return number.error().in("annotation {}", annotation::kOomScoreAdj);
    auto score = checkedScore(*number, annotation::kOomScoreAdj);
    if (!score) return pass(score.error());
    out.pod = *score;
  }
  auto spec = parseAnnotation<std::map<std::string, int64_t>>(pod, annotation::kOomScoreAdjSpec);
  if (!spec) return pass(spec.error());
  if (!*spec) return out;
  for (const auto& [container, number] : **spec) {
    auto score = checkedScore(number, container);
    if (!score) return score.error().in("annotation {}", annotation::kOomScoreAdjSpec);
    out.byContainer[container] = *score;
  }
  return out;
}

CoreSched coreSchedOf(const Labels& pod) {
  CoreSched out;
  out.groupId = pod.get(label::kCoreSchedGroupId).value_or("");
  const auto policy = pod.get(label::kCoreSchedPolicy);
  if (policy == "none") out.policy = CoreSched::Policy::kNone;
  if (policy == "exclusive") out.policy = CoreSched::Policy::kExclusive;
  return out;
}

}  // namespace mangrove::api
