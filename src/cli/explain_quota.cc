// mangrove explain quota Q: what a quota has, may use and lends, who borrows beside it, and who
// waits in it and why. mangrove check quota -f FILE: what a changed tree would do to the pods that
// run and wait now.
#include <algorithm>

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

namespace mangrove::cli {
namespace {

using placement::Amounts;
using placement::QuotaPlace;

constexpr size_t kWaitingShown = 10;

struct Options {
  ClusterAccess access;
  Output output;
  std::string file;
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

// Above or below their minimums, of the quotas beside it and of itself.
std::string lendingText(const QuotaPlace& place) {
  std::string out;
  const auto parent = place.ledger->parentOf(place.id);
  if (parent == placement::kNoQuota) return out;
  for (const auto id : place.ledger->childrenOf(parent)) {
    const placement::QuotaNumbers& n = place.ledger->numbers(id);
    for (const auto& [name, max] : place.ledger->terms(id).max) {
      const int64_t more = n.used.amount(name) - n.scaledMin.amount(name);
      if (more == 0 || (more < 0 && !place.ledger->terms(id).lends)) continue;
      out += fmt::format("  {} {} {} of {}\n", place.ledger->terms(id).name,
                         more > 0 ? "borrows" : "lends",
                         placement::quantityOf(name, std::abs(more)).text(), name.view());
    }
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
  auto view = QuotaView::load(**client);
  if (!view) return pass(view.error());
  const QuotaPlace place = (*view)->desk().book().find(options.names[0]);
  if (!place) return fail(Code::kNotFound, "there is no quota '{}'", options.names[0]);
  Told told;
  const auto page = placement::quotaPage((*view)->desk(), {}, "quotas/" + options.names[0], {});
  if (page && page->is_object()) told.data = page->get_object();
  const placement::QuotaNumbers& n = place.ledger->numbers(place.id);
  told.answer = fmt::format("quota {} uses {} and may use {}", place.name(),
                            placement::textOf(n.used), placement::textOf(n.runtime));
  told.terms = numbersTable(place) + lendingText(place) + waitingText(**view, place);
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

// Pods whose fate differs between the two views.
void compare(QuotaView& now, QuotaView& then, Told& told) {
  json::Array blocked, freed;
  for (const QuotaPodName& pod : now.pods()) {
    const placement::QuotaPod* known = now.desk().book().podOf(pod.uid);
    if (!known || known->assigned) continue;
    const auto verdict = [&](QuotaView& view) {
      const placement::QuotaPod* there = view.desk().book().podOf(pod.uid);
      return !view.desk().verdict(
          {view.desk().book().placeOf(pod.uid), there->request, there->kind});
    };
    const bool before = verdict(now), after = verdict(then);
    if (before == after) continue;
    (after ? freed : blocked).emplace_back(pod.name);
    told.terms += fmt::format("{} would {}\n", pod.name,
                              after ? "be admitted, and is not now" : "be refused, and is not now");
  }
  told.data["admitted"] = std::move(freed);
  told.data["refused"] = std::move(blocked);
}

void listOverused(QuotaView& then, Told& told) {
  json::Array over;
  for (const auto& [treeId, tree] : then.desk().book().trees())
    for (const auto id : tree->all()) {
      const placement::QuotaNumbers& n = tree->numbers(id);
      for (Interned name : placement::exceeding(n.used, n.runtime)) {
        told.terms +=
            fmt::format("quota {} would use {} of {} and may use {}\n", tree->terms(id).name,
                        shown(n.used, name), name.view(), shown(n.runtime, name));
        over.emplace_back(tree->terms(id).name);
      }
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
  auto now = QuotaView::load(**client);
  if (!now) return pass(now.error());
  auto then = QuotaView::load(**client, *changed);
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
