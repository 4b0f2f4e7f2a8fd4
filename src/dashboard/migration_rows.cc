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

// Times as milliseconds, as everywhere on the pages.
json::Value millis(WallTime when) {
  if (when == kZeroTime) return nullptr;
  return std::chrono::floor<std::chrono::milliseconds>(when).time_since_epoch().count();
}

json::Object change(const NodeShares& before, const NodeShares* after) {
  const auto pair = [&](double was, double is) {
    return json::Array{was, after == nullptr ? json::Value(nullptr) : json::Value(is)};
  };
  return {{"cpu", pair(before.cpu, after ? after->cpu : 0)},
          {"memory", pair(before.memory, after ? after->memory : 0)}};
}

json::Value accountOf(const std::optional<Account>& account) {
  if (!account) return nullptr;
  const auto* after = account->after ? &*account->after : nullptr;
  return json::Object{
      {"source", change(account->before.source, after ? &after->source : nullptr)},
      {"target", change(account->before.target, after ? &after->target : nullptr)},
      {"podCores", json::Array{account->before.podCores,
                               after ? json::Value(after->podCores) : json::Value(nullptr)}}};
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

}  // namespace

json::Object migrationBoard(const MigrationObjects& jobs, const FindPod& pod) {
  const std::vector<MigrationStory> stories = storiesOf(jobs, pod);
  json::Array rows;
  int64_t underWay = 0, succeeded = 0, failed = 0;
  for (const MigrationStory& story : stories) {
    rows.push_back(rowOf(story));
    underWay += isUnderWay(story) ? 1 : 0;
    succeeded += story.phase == "Succeeded" ? 1 : 0;
    failed += story.phase == "Failed" ? 1 : 0;
  }
  return {{"moves", std::move(rows)},
          {"arrows", arrowsOf(stories)},
          {"underWay", underWay},
          {"succeeded", succeeded},
          {"failed", failed}};
}

}  // namespace mangrove::dashboard
