#include "dashboard/migration_rows.h"

#include <algorithm>
#include <map>
#include <string>

#include "descheduler/migration/story.h"

namespace mangrove::dashboard {
namespace {

using descheduler::Account;
using descheduler::MigrationStory;
using descheduler::NodeShares;
using descheduler::PodFacts;

// Times as milliseconds, as everywhere on the pages.
json::Value millis(WallTime when) {
  if (when == kZeroTime) return nullptr;
  return std::chrono::floor<std::chrono::milliseconds>(when).time_since_epoch().count();
}

using Maybe = std::optional<double>;

json::Value valueOf(const Maybe& value) {
  return value ? json::Value(*value) : json::Value(nullptr);
}
// Before and after; null where it is not known (yet).
json::Array pair(const Maybe& was, const Maybe& is) {
  return {valueOf(was), valueOf(is)};
}

json::Object change(const NodeShares& before, const NodeShares* after) {
  return {{"cpu", pair(before.cpu, after ? Maybe(after->cpu) : Maybe())},
          {"memory", pair(before.memory, after ? Maybe(after->memory) : Maybe())},
          {"waits", pair(before.waits, after ? after->waits : Maybe())}};
}

json::Value accountOf(const std::optional<Account>& account) {
  if (!account) return nullptr;
  const auto& before = account->before;
  const auto* after = account->after ? &*account->after : nullptr;
  const PodFacts pod = after ? after->pod : PodFacts{};
  return json::Object{{"source", change(before.source, after ? &after->source : nullptr)},
                      {"target", change(before.target, after ? &after->target : nullptr)},
                      {"podCores", pair(before.pod.cores, after ? Maybe(pod.cores) : Maybe())},
                      {"podWaits", pair(before.pod.waits, pod.waits)},
                      {"podThrottled", pair(before.pod.throttled, pod.throttled)},
                      {"podLatencyMs", pair(before.pod.latency, pod.latency)}};
}

json::Object rowOf(const MigrationStory& story) {
  const bool closed = story.account && story.account->after;
  return {{"name", story.name},
          {"pod", story.pod},
          {"from", story.from},
          {"to", story.to},
          {"why", story.why},
          {"proof", story.proof},
          {"phase", story.phase},
          {"state", story.state},
          {"created", millis(story.created)},
          {"ended", millis(story.ended)},
          {"paid", closed ? json::Value(story.account->paid) : json::Value(nullptr)},
          {"account", accountOf(story.account)}};
}

bool isUnderWay(const MigrationStory& story) {
  return story.phase == "Pending" || story.phase == "Running";
}

std::vector<MigrationStory> storiesOf(const MigrationObjects& jobs, const FindPod& find) {
  std::vector<MigrationStory> out;
  for (const auto& job : jobs) {
    const auto& ref = job->spec.podRef;
    const auto pod = ref && find ? find(ref->ns + "/" + ref->name) : nullptr;
    out.push_back(descheduler::storyOf(*job, pod.get()));
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    if (isUnderWay(a) != isUnderWay(b)) return isUnderWay(a);
    return a.created > b.created;
  });
  return out;
}

// A move that failed went nowhere.
json::Array arrowsOf(const std::vector<MigrationStory>& stories) {
  std::map<std::pair<std::string, std::string>, int64_t> counts;
  for (const MigrationStory& story : stories)
    if (!story.to.empty() && (isUnderWay(story) || story.phase == "Succeeded"))
      ++counts[{story.from, story.to}];
  json::Array out;
  for (const auto& [way, moves] : counts)
    out.push_back(json::Object{{"from", way.first}, {"to", way.second}, {"moves", moves}});
  return out;
}

// Where it is now is the page's own knowledge.
json::Array staysOf(const descheduler::Notice& notice, const FindPod& find) {
  json::Array out;
  for (const descheduler::Stays& one : notice.stays) {
    const auto pod = find ? find(one.pod) : nullptr;
    out.push_back(json::Object{
        {"pod", one.pod}, {"node", pod ? pod->nodeName.str() : std::string()}, {"why", one.why}});
  }
  return out;
}

}  // namespace

json::Object migrationBoard(const MigrationObjects& jobs, const FindPod& pod,
                            const descheduler::Notice& notice) {
  const std::vector<MigrationStory> stories = storiesOf(jobs, pod);
  json::Array rows;
  int64_t underWay = 0, succeeded = 0, failed = 0;
  for (const MigrationStory& story : stories) {
    rows.push_back(rowOf(story));
    underWay += isUnderWay(story) ? 1 : 0;
    succeeded += story.phase == "Succeeded" ? 1 : 0;
    failed += story.phase == "Failed" ? 1 : 0;
  }
  return {{"moves", std::move(rows)}, {"arrows", arrowsOf(stories)},
          {"underWay", underWay},     {"succeeded", succeeded},
          {"failed", failed},         {"stays", staysOf(notice, pod)},
          {"staying", notice.count}};
}

}  // namespace mangrove::dashboard
