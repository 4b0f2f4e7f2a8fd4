// mangrove explain quota Q: what a quota has, may use and lends, who borrows beside it, and who
// waits in it and why. mangrove check quota -f FILE: what a changed tree would do to the pods that
// run and wait now.
#include <algorithm>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>

#include "base/os/files.h"
#include "base/text/strings.h"
#include "cli/cluster_access.h"
#include "cli/command.h"
#include "cli/quota_view.h"
#include "cli/voice.h"
#include "json/yaml.h"
#include "net/loop.h"
#include "placement/plugins/elasticquota/page.h"
#include "placement/plugins/elasticquota/seats.h"
#include "placement/quota/overuse.h"

namespace mangrove::cli {
namespace {

using placement::Amounts;
using placement::QuotaPlace;

constexpr size_t kWaitingShown = 10;

struct Options {
  ClusterAccess access;
  Output output;
  std::string file, config;
  std::vector<std::string> names;
};

std::string shown(const Amounts& amounts, Interned name) {
  const int64_t* amount = amounts.find(name);
  return amount ? placement::quantityOf(name, *amount).text() : "-";
}

std::string numbersTable(const QuotaPlace& place) {
  const placement::QuotaTerms& terms = place.ledger->terms(place.id);
  const placement::QuotaNumbers& n = place.ledger->numbers(place.id);
  std::vector<std::vector<std::string>> rows{
      {"RESOURCE", "MIN", "USED", "MAY USE", "MAX", "ASKED FOR", "WEIGHT"}};
  for (const auto& [name, max] : terms.max)
    rows.push_back({name.str(), shown(n.scaledMin, name), shown(n.used, name),
                    shown(n.runtime, name), shown(terms.max, name), shown(n.request, name),
                    shown(terms.weight, name)});
  std::sort(rows.begin() + 1, rows.end());
  return tableText(rows);
}

// What of its use nobody runs in yet.
std::string reservedText(const placement::QuotaBook& book, const QuotaPlace& place) {
  const auto reserved = book.reserved();
  const auto held = reserved.find({place.ledger, place.id});
  if (held == reserved.end() || held->second.isZero()) return "";
  return fmt::format("\nReservations hold {} of what is used, for owners that are still to come.\n",
                     placement::textOf(held->second));
}

// Who borrows from whom among the quotas below the same parent, and since when.
std::string lendingText(const json::Object& page) {
  std::string out;
  const json::Value* loans = page.if_contains("loansBeside");
  if (loans == nullptr || !loans->is_array()) return out;
  for (const json::Value& one : loans->as_array()) {
    const json::Object& loan = one.as_object();
    const auto said = [&](std::string_view name) {
      return std::string_view(loan.at(name).as_string());
    };
    out += fmt::format("  {} borrows {} of {} from {}{}\n", said("borrower"), said("amount"),
                       said("resource"),
                       said("lender").empty() ? "what nobody's minimum covers" : said("lender"),
                       said("since").empty() ? "" : fmt::format(", since {}", said("since")));
  }
  return out.empty() ? "" : "\nBelow the same parent:\n" + out;
}

std::string waitingText(QuotaView& view, const QuotaPlace& place) {
  std::string out;
  size_t count = 0;
  for (const QuotaPodName& pod : view.pods()) {
    const placement::QuotaPod* known = view.desk().book().podOf(pod.uid);
    if (!known || known->assigned || !(view.desk().book().placeOf(pod.uid) == place)) continue;
    if (count++ < kWaitingShown) out += fmt::format("\n{}\n{}", pod.name, quotaWhy(view, pod.uid));
  }
  if (count > kWaitingShown) out += fmt::format("\nand {} more that wait\n", count - kWaitingShown);
  return out;
}

Result<Told> explain(const Options& options) {
  net::Loop loop;
  auto client = options.access.open(loop);
  if (!client) return pass(client.error());
  const auto args = quotaArgsIn(options.config);
  if (!args) return pass(args.error());
  auto view = QuotaView::load(**client, *args);
  if (!view) return pass(view.error());
  const QuotaPlace place = (*view)->desk().book().find(options.names[0]);
  if (!place) return fail(Code::kNotFound, "there is no quota '{}'", options.names[0]);
  Told told;
  const auto page = placement::quotaPage((*view)->desk(), (*view)->picture().borrowings(),
                                         "quotas/" + options.names[0]);
  if (page && page->is_object()) told.data = page->get_object();
  const placement::QuotaNumbers& n = place.ledger->numbers(place.id);
  told.answer = fmt::format("quota {} uses {} and may use {}", place.name(),
                            placement::textOf(n.used), placement::textOf(n.runtime));
  told.terms = numbersTable(place) + reservedText((*view)->desk().book(), place) +
               lendingText(told.data) + waitingText(**view, place);
  return told;
}

Result<std::vector<api::ElasticQuota>> quotasIn(const std::string& file) {
  auto text = readFile(file);
  if (!text) return pass(text.error());
  auto documents = json::parseYaml(*text, file);
  if (!documents) return pass(documents.error());
  std::vector<api::ElasticQuota> out;
  for (const json::YamlDocument& document : *documents) {
    auto quota = api::decodeText<api::ElasticQuota>(json::write(document.value));
    if (!quota) return quota.error().in("{}", file);
    if (quota->meta.name.view().empty()) return invalid("{}: a quota has no name", file);
    out.push_back(std::move(*quota));
  }
  if (out.empty()) return invalid("{}: no ElasticQuota in it", file);
  return out;
}

// The waiting pods that quotas have room for, one beside the other, in the order of the line.
std::unordered_set<api::Uid> admittedIn(QuotaView& view) {
  const placement::QuotaBook& book = view.desk().book();
  std::vector<std::tuple<int64_t, WallTime, std::string, api::Uid>> line;
  for (const QuotaPodName& pod : view.pods())
    if (const placement::QuotaPod* known = book.podOf(pod.uid); known && !known->assigned)
      line.emplace_back(-int64_t{known->priority}, known->created, pod.name, pod.uid);
  std::sort(line.begin(), line.end());
  std::unordered_set<api::Uid> out;
  placement::Seats seats;
  for (const auto& [rank, created, name, uid] : line) {
    const placement::QuotaPod* pod = book.podOf(uid);
    const placement::QuotaDesk::Asked asked{book.placeOf(uid), pod->request, pod->kind};
    if (asked.place && view.desk().isRefused(asked)) continue;
    if (asked.place) seats.take(asked);
    out.insert(uid);
  }
  return out;
}

// Pods that would count elsewhere, and waiting ones whose fate differs between the two views.
void compare(QuotaView& now, QuotaView& then, Told& told) {
  json::Array blocked, freed, moved;
  const auto admittedNow = admittedIn(now), admittedThen = admittedIn(then);
  for (const QuotaPodName& pod : now.pods()) {
    const placement::QuotaPod* known = now.desk().book().podOf(pod.uid);
    if (!known) continue;
    const QuotaPlace here = now.desk().book().placeOf(pod.uid);
    const QuotaPlace there = then.desk().book().placeOf(pod.uid);
    if (here && there && here.name() != there.name()) {
      told.terms +=
          fmt::format("{} would count in {} instead of {}\n", pod.name, there.name(), here.name());
      moved.emplace_back(pod.name);
    }
    if (known->assigned) continue;
    const bool before = admittedNow.contains(pod.uid), after = admittedThen.contains(pod.uid);
    if (before == after) continue;
    (after ? freed : blocked).emplace_back(pod.name);
    told.terms += fmt::format("{} would {}\n", pod.name,
                              after ? "be admitted, and is not now" : "be refused, and is not now");
  }
  told.data["admitted"] = std::move(freed);
  told.data["refused"] = std::move(blocked);
  told.data["moved"] = std::move(moved);
}

// Running pods of a quota that would have to go, where overuse is revoked.
std::vector<std::string> revocable(QuotaView& then, const QuotaPlace& place) {
  std::vector<std::string> names, out;
  std::vector<placement::OverusePod> pods;
  for (const QuotaPodName& pod : then.pods()) {
    const placement::QuotaPod* known = then.desk().book().podOf(pod.uid);
    if (!known || !known->assigned || !(then.desk().book().placeOf(pod.uid) == place)) continue;
    names.push_back(pod.name);
    pods.push_back({known->priority, known->created, *known->request, known->kind});
  }
  const placement::QuotaNumbers& n = place.ledger->numbers(place.id);
  for (size_t i : placement::overuseVictims(n.used, n.runtime, pods)) out.push_back(names[i]);
  return out;
}

void listOverused(QuotaView& then, Told& told) {
  json::Array over;
  for (const auto& [treeId, tree] : then.desk().book().trees())
    for (const auto id : tree->all()) {
      const placement::QuotaNumbers& n = tree->numbers(id);
      const auto names = placement::exceeding(n.used, n.runtime);
      for (Interned name : names)
        told.terms +=
            fmt::format("quota {} would use {} of {} and may use {}\n", tree->terms(id).name,
                        shown(n.used, name), name.view(), shown(n.runtime, name));
      if (names.empty()) continue;
      json::Array going;
      for (const std::string& pod : revocable(then, {tree.get(), id})) {
        told.terms += fmt::format("  {} would be evicted where overuse is revoked\n", pod);
        going.emplace_back(pod);
      }
      over.push_back(json::Object{{"quota", tree->terms(id).name}, {"pods", std::move(going)}});
    }
  told.good = told.good && over.empty();
  told.data["overused"] = std::move(over);
}

Result<Told> check(const Options& options) {
  auto changed = quotasIn(options.file);
  if (!changed) return pass(changed.error());
  net::Loop loop;
  auto client = options.access.open(loop);
  if (!client) return pass(client.error());
  const auto args = quotaArgsIn(options.config);
  if (!args) return pass(args.error());
  auto now = QuotaView::load(**client, *args);
  if (!now) return pass(now.error());
  auto then = QuotaView::load(**client, *args, *changed);
  if (!then) return pass(then.error());
  Told told;
  compare(**now, **then, told);
  listOverused(**then, told);
  told.answer = told.terms.empty() ? fmt::format("{} changes nothing for any pod", options.file)
                                   : fmt::format("{} changes what pods may do", options.file);
  return told;
}

int tell(const std::string& command, const std::string& about, const std::vector<std::string>& args,
         bool fromFile, Result<Told> (*find)(const Options&)) {
  Options options;
  frame::Flags flags(command, about);
  options.access.declare(flags);
  options.output.declare(flags);
  flags.add("config", options.config,
            "KubeSchedulerConfiguration whose ElasticQuota arguments count");
  if (fromFile)
    flags.add("f", options.file, "ElasticQuotas as they are to be");
  else
    flags.positionals("QUOTA", options.names, "name of the quota");
  auto go = flags.parse(args);
  if (go && *go && (fromFile ? options.file.empty() : options.names.size() != 1))
    go = invalid("{}", fromFile ? "want -f FILE" : "want the name of one quota");
  if (!go) {
    fmt::print(stderr, "{}: {}\n", command, go.error().text());
    return kWrongUsage;
  }
  if (!*go) return 0;
  const auto told = find(options);
  if (told) return say(*told, options.output);
  fmt::print(stderr, "{}: {}\n", command, told.error().text());
  return kFailed;
}

}  // namespace

int explainQuota(const std::vector<std::string>& args) {
  return tell("mangrove explain quota", "what a quota has and lends, and who waits in it", args,
              false, &explain);
}

int checkQuota(const std::vector<std::string>& args) {
  return tell("mangrove check quota", "what a changed quota tree would do to the pods there are",
              args, true, &check);
}

}  // namespace mangrove::cli
