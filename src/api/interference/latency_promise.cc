#include "api/interference/latency_promise.h"

#include "api/annotations/annotation.h"

namespace mangrove::api {
namespace {

constexpr std::string_view kScheme = "http://:";

Result<> check(const LatencyPromise& said) {
  if (said.prometheus.empty() == said.probe.empty())
    return invalid("annotation {}: found {}, want prometheus or probe, one of them",
                   kLatencyAnnotation, said.probe.empty() ? "neither" : "both");
  const std::string& url = said.probe.empty() ? said.prometheus : said.probe;
  if (!url.starts_with(kScheme))
    return invalid("annotation {}: found '{}', want such as http://:8080/metrics, without a host",
                   kLatencyAnnotation, url);
  if (!said.prometheus.empty() && said.histogram.empty())
    return invalid("annotation {}: histogram is missing, want its name without _bucket",
                   kLatencyAnnotation);
  if (!(said.quantile > 0 && said.quantile < 1))
    return invalid("annotation {}: quantile {}, want more than 0 and less than 1",
                   kLatencyAnnotation, said.quantile);
  if (said.promisedMs < 0 || !(said.toMillis > 0))
    return invalid("annotation {}: promisedMs {} and toMillis {}, want positive numbers",
                   kLatencyAnnotation, said.promisedMs, said.toMillis);
  return {};
}

}  // namespace

bool read(const In& in, LatencyPromise& out) {
  static constexpr Fields fields{
      field<&LatencyPromise::prometheus>("prometheus"),
      field<&LatencyPromise::histogram>("histogram"),
      field<&LatencyPromise::labels>("labels"),
      field<&LatencyPromise::toMillis>("toMillis"),
      field<&LatencyPromise::probe>("probe"),
      field<&LatencyPromise::quantile>("quantile"),
      field<&LatencyPromise::promisedMs>("promisedMs"),
  };
  return fields.read(in, out);
}

Result<std::optional<LatencyPromise>> parseLatencyPromise(const Annotations& pod) {
  auto said = parseAnnotation<LatencyPromise>(pod, kLatencyAnnotation);
  if (!said || !*said) return said;
  if (auto ok = check(**said); !ok) return pass(ok.error());
  return said;
}

}  // namespace mangrove::api
