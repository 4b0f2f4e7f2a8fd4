#include "runtime/core/probes.h"

namespace mangrove::runtime {

const char* probeName(ProbeKind kind) {
  switch (kind) {
    case ProbeKind::kStartup:
      return "Startup";
    case ProbeKind::kReadiness:
      return "Readiness";
    case ProbeKind::kLiveness:
      return "Liveness";
  }
  return "";
}

bool ProbeCount::passed(int threshold) {
  bad = 0;
  return ++good >= threshold;
}

bool ProbeCount::failed(int threshold) {
  good = 0;
  return ++bad >= threshold;
}

ProbeEffect effectOf(const ProbeNews& news, bool hasReadinessProbe) {
  if (!news.verdict) return {};
  if (news.kind == ProbeKind::kReadiness) return {.ready = news.good};
  if (!news.good) return {.restart = true};
  if (news.kind == ProbeKind::kLiveness) return {};
  return {.started = true, .ready = !hasReadinessProbe};
}

Standing standingOf(bool hasStartupProbe, bool hasReadinessProbe, Standing heardBefore) {
  Standing out;
  out.started = !hasStartupProbe || heardBefore.started;
  out.ready = out.started && (!hasReadinessProbe || heardBefore.ready);
  return out;
}

}  // namespace mangrove::runtime
