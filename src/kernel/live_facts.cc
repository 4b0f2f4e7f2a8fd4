// What only a running kernel can say: system calls are tried, nothing is changed.
#include <cerrno>
#include <chrono>
#include <cstring>

#include <sys/prctl.h>
#include <unistd.h>

#include "base/text/strings.h"
#include "kernel/capabilities.h"
#include "kernel/perf_group.h"
#include "kernel/psi_trigger.h"
#include "kernel/read_text.h"
#include "kernel/recorded_facts.h"

namespace mangrove::kernel {
namespace {

// linux/prctl.h of Debian 12 has them, older headers do not.
constexpr int kSchedCore = 62;
constexpr unsigned long kSchedCoreGet = 0;

void probeCoreScheduling(LiveFacts& facts) {
  unsigned long cookie = 0;
  const int rc = ::prctl(kSchedCore, kSchedCoreGet, ::getpid(), 0, &cookie);
  facts.coreScheduling = rc == 0;
  if (rc == 0)
    facts.coreDetail = "prctl(PR_SCHED_CORE) answers";
  else if (errno == ENODEV)
    facts.coreDetail = "the kernel has it, but this machine has no SMT";
  else
    facts.coreDetail = fmt::format("this kernel was built without it ({})", std::strerror(errno));
}

void probePressure(LiveFacts& facts) {
  const SysRoot root;
  auto dir = root.dir("proc/pressure");
  if (!dir) {
    facts.pressureDetail = dir.error().text();
    return;
  }
  const PsiThreshold wanted{std::chrono::milliseconds(75), std::chrono::milliseconds(500)};
  auto trigger = PsiTrigger::open(*dir, "cpu", wanted);
  facts.shortPressure = trigger && trigger->threshold().window == wanted.window;
  facts.pressureDetail = !trigger              ? trigger.error().text()
                         : facts.shortPressure ? "windows of 500 ms are accepted"
                                               : "only windows of 2 s (no CAP_SYS_RESOURCE)";
}

}  // namespace

LiveFacts probeLive() {
  LiveFacts facts;
  const auto perf = probePerf();
  facts.perf = perf.has_value();
  facts.perfDetail = perf ? "perf_event_open counts cycles" : perf.error().text();
  probeCoreScheduling(facts);
  probePressure(facts);
  return facts;
}

LiveFacts recordedFacts(const SysRoot& root) {
  LiveFacts facts;
  const auto text = readText(root, "live-facts");
  if (!text || !*text) return facts;
  for (std::string_view line : split(**text, '\n')) {
    const auto take = [&](const char* name, bool& present, std::string& detail) {
      if (trim(line) != name) return;
      present = true;
      detail = "recorded with the machine";
    };
    take("perf", facts.perf, facts.perfDetail);
    take("core-scheduling", facts.coreScheduling, facts.coreDetail);
    take("short-pressure", facts.shortPressure, facts.pressureDetail);
  }
  return facts;
}

}  // namespace mangrove::kernel
