// mangrove report batch: what batch work had, used, lost and waited for, by tenant and job.
#include <algorithm>

#include <fmt/format.h>

#include "api/koordinator/node_metric.h"
#include "api/object/event.h"
#include "api/pod/classes.h"
#include "api/pod/pod.h"
#include "api/wire/names.h"
#include "base/os/files.h"
#include "base/text/time_text.h"
#include "cli/cluster_access.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "client/each_object.h"
#include "frame/interrupt.h"
#include "net/loop.h"
#include "report/batch_ledger.h"

namespace mangrove::cli {
namespace {

namespace kind = client::kind;
using mangrove::report::BatchLedger;

struct BatchFlags {
  ClusterAccess access;
  Output output;
  std::string ledger;
  Duration span = std::chrono::seconds(0);
  Duration every = std::chrono::seconds(10);
  mangrove::report::BatchPrices prices;
};

void declare(frame::Flags& flags, BatchFlags& given) {
  given.access.declare(flags);
  given.output.declare(flags);
  flags.add("ledger", given.ledger, "file that keeps the account; goes on where it ended");
  flags.add("for", given.span, "how long to look; 0: once, and then the account as it is");
  flags.add("every", given.every, "between two looks");
  flags.add("batch-price", given.prices.batch, "of a core hour of batch resources");
  flags.add("dedicated-price", given.prices.dedicated, "of a core hour of dedicated machines");
}

Result<> check(const BatchFlags& given) {
  if (given.every < std::chrono::seconds(1))
    return invalid("--every {}: want a second or more", formatDuration(given.every));
  if (given.span < Duration::zero()) return invalid("--for: want no less than 0");
  if (given.prices.batch < 0 || given.prices.dedicated < 0)
    return invalid("--batch-price and --dedicated-price: want none below 0");
  return {};
}

Result<> read(BatchLedger& ledger, const std::string& file) {
  if (file.empty()) return {};
  const auto text = readFile(file);
  if (!text && text.error().code() == Code::kNotFound) return {};
  if (!text) return text.error().in("--ledger");
  const auto value = json::parse(*text);
  if (!value) return value.error().in("--ledger {}", file);
  if (auto ok = ledger.restore(*value); !ok) return ok.error().in("--ledger {}", file);
  return {};
}

// Whoever of us evicts says so in an Event with one of these reasons.
bool isEviction(std::string_view reason) {
  constexpr std::string_view kReasons[] = {"evictPodSuccess",        "Evicted",     "Preempted",
                                           "ColocationWindowClosed", "Descheduled", "Reclaimed",
                                           "EvictedByQuota"};
  return std::find(std::begin(kReasons), std::end(kReasons), reason) != std::end(kReasons);
}

Result<> lookOnce(client::ApiClient& client, BatchLedger& ledger) {
  std::vector<api::Pod> pods;
  BatchLedger::Usage usage;
  BatchLedger::Uids evicted;
  auto ok = client::eachObject<api::Pod>(client, kind::kPod, [&](std::shared_ptr<api::Pod> pod) {
    if (api::rawQos(pod->meta.labels) == api::Qos::kBe) pods.push_back(std::move(*pod));
  });
  if (!ok) return ok;
  ok = client::eachObject<api::NodeMetric>(
      client, kind::kNodeMetric, [&](const std::shared_ptr<api::NodeMetric>& metric) {
        for (const api::PodMetric& one : metric->status.podsMetric)
          usage[one.ns.str() + "/" + one.name.str()] =
              static_cast<double>(one.podUsage.resources.cpu().v) / 1000;
      });
  if (!ok) return ok;
  ok = client::eachObject<api::Event>(client, kind::kEvent,
                                      [&](const std::shared_ptr<api::Event>& one) {
                                        if (isEviction(one->reason))
                                          evicted.insert(one->regarding.uid);
                                      });
  if (!ok) return ok;
  std::vector<const api::Pod*> all;
  for (const api::Pod& pod : pods) all.push_back(&pod);
  ledger.look(all, usage, evicted, realClock().wall());
  return {};
}

Result<> keep(const BatchLedger& ledger, const std::string& file) {
  if (file.empty()) return {};
  auto ok = writeFileAtomically(file, json::write(ledger.state()));
  if (!ok) return ok.error().in("--ledger");
  return {};
}

// Until the time is over or somebody ends us; a look that fails is said and made up for by the next.
Result<> follow(client::ApiClient& client, const BatchFlags& given, frame::Interrupt& interrupt,
                BatchLedger& ledger) {
  const MonoTime end = realClock().mono() + given.span;
  for (;;) {
    const auto ok = lookOnce(client, ledger);
    if (!ok && given.span == Duration::zero()) return ok;
    if (!ok) fmt::print(stderr, "mangrove report batch: {}\n", ok.error().text());
    if (auto kept = keep(ledger, given.ledger); !kept) return kept;
    const Duration left = end - realClock().mono();
    if (left <= Duration::zero() || interrupt.during(std::min(given.every, left))) return {};
  }
}

}  // namespace

int reportBatch(const std::vector<std::string>& args) {
  BatchFlags given;
  frame::Flags flags("mangrove report batch",
                     "what batch work had, used, lost and waited for, by tenant and job");
  declare(flags, given);
  if (const auto end = readArguments(flags, args)) return *end;
  if (auto ok = check(given); !ok) return complain(flags, ok.error());
  BatchLedger ledger;
  if (auto ok = read(ledger, given.ledger); !ok) return complain(flags, ok.error());
  frame::Interrupt interrupt;  // before other threads
  net::Loop loop(1);
  const auto client = given.access.open(loop);
  if (!client) return complain(flags, client.error());
  if (auto ok = follow(**client, given, interrupt, ledger); !ok) return complain(flags, ok.error());
  given.output.show(mangrove::report::toJson(ledger, given.prices),
                    mangrove::report::toTable(ledger.accounts(), given.prices));
  return 0;
}

}  // namespace mangrove::cli
