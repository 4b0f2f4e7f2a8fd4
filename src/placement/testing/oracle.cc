#include "placement/testing/oracle.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "api/pod/pod_requests.h"
#include "api/select/label_selector.h"

namespace mangrove::placement::oracle {

namespace {

using Place = World::Place;

bool meetsNodeWishes(const api::Pod& pod, const api::Node& node) {
  if (!api::contains(node.meta.labels, pod.spec->nodeSelector)) return false;
  const auto& required = pod.spec->affinity->node.required;
  return !required || api::NodeTerms(*required).match(node.meta);
}

bool meetsTaints(const api::Pod& pod, const api::Node& node) {
  for (const auto& taint : node.spec.taints)
    if (taint.effect != api::TaintEffect::kPreferNoSchedule &&
        !api::tolerates(pod.spec->tolerations, taint))
      return false;
  return true;
}

// ---- spread

int64_t matching(const Place& place, const api::SpreadConstraint& c, const api::Pod& pod) {
  const auto selector = api::compile(c.selector);
  int64_t count = 0;
  for (const api::Pod* other : place.pods)
    count += selector && other->meta.ns == pod.meta.ns && !other->meta.isDeleting() &&
             selector->matches(other->meta.labels);
  return count;
}

bool countsFor(const api::SpreadConstraint& c, const std::vector<api::SpreadConstraint>& all,
               const api::Pod& pod, const api::Node& node) {
  for (const auto& other : all)
    if (!node.meta.labels.find(other.topologyKey)) return false;
  if (c.honorNodeAffinity && !meetsNodeWishes(pod, node)) return false;
  return !c.honorNodeTaints || meetsTaints(pod, node);
}

std::vector<api::SpreadConstraint> constraintsOf(const api::Pod& pod, bool hard) {
  std::vector<api::SpreadConstraint> out;
  for (const auto& c : pod.spec->spread)
    if (c.isHard == hard) out.push_back(c);
  return out;
}

std::string spreadRefusal(const World& world, const api::Pod& pod, const Place& place) {
  const auto all = constraintsOf(pod, true);
  for (const auto& c : all) {
    const Interned* here = place.node->meta.labels.find(c.topologyKey);
    if (!here)
      return "node(s) didn't match pod topology spread constraints (missing required label)";
    std::map<std::string, int64_t> domains;
    for (const Place& other : world.places)
      if (countsFor(c, all, pod, *other.node))
        domains[other.node->meta.labels.find(c.topologyKey)->str()] += matching(other, c, pod);
    int64_t least = 0;
    if (!domains.empty() && static_cast<int32_t>(domains.size()) >= c.minDomains.value_or(1)) {
      least = domains.begin()->second;
      for (const auto& [value, count] : domains) least = std::min(least, count);
    }
    const auto selector = api::compile(c.selector);
    const int64_t self = selector && selector->matches(pod.meta.labels);
    const auto at = domains.find(here->str());
    if ((at == domains.end() ? 0 : at->second) + self - least > c.maxSkew)
      return "node(s) didn't match pod topology spread constraints";
  }
  return "";
}

// ---- affinity between pods

bool means(const api::PodAffinityTerm& term, const api::Pod& owner, const api::Pod& other) {
  const bool ownOnly = term.namespaces.empty() && !term.namespaceSelector;
  const bool named = ownOnly ? other.meta.ns == owner.meta.ns
                             : std::find(term.namespaces.begin(), term.namespaces.end(),
                                         other.meta.ns) != term.namespaces.end() ||
                                   (term.namespaceSelector && term.namespaceSelector->empty());
  const auto selector = api::compile(term.selector);
  return named && selector && selector->matches(other.meta.labels);
}

bool sameDomain(const api::Node& a, const api::Node& b, Interned key) {
  const Interned *x = a.meta.labels.find(key), *y = b.meta.labels.find(key);
  return x && y && *x == *y;
}

bool meansAll(const std::vector<api::PodAffinityTerm>& terms, const api::Pod& owner,
              const api::Pod& other) {
  return std::all_of(terms.begin(), terms.end(),
                     [&](const auto& term) { return means(term, owner, other); });
}

bool affinityHolds(const World& world, const api::Pod& pod, const Place& place) {
  const auto& terms = pod.spec->affinity->pod.required;
  if (terms.empty()) return true;
  bool everywhere = true, anybody = false;
  for (const auto& term : terms) {
    if (!place.node->meta.labels.find(term.topologyKey)) return false;
    bool near = false;
    for (const Place& other : world.places)
      for (const api::Pod* running : other.pods) {
        if (!meansAll(terms, pod, *running)) continue;
        anybody = anybody || other.node->meta.labels.find(term.topologyKey);
        near = near || sameDomain(*place.node, *other.node, term.topologyKey);
      }
    everywhere = everywhere && near;
  }
  return everywhere || (!anybody && meansAll(terms, pod, pod));
}

std::string affinityRefusal(const World& world, const api::Pod& pod, const Place& place) {
  if (!affinityHolds(world, pod, place)) return "node(s) didn't match pod affinity rules";
  for (const auto& term : pod.spec->affinity->antiPod.required)
    for (const Place& other : world.places)
      for (const api::Pod* running : other.pods)
        if (means(term, pod, *running) && sameDomain(*place.node, *other.node, term.topologyKey))
          return "node(s) didn't match pod anti-affinity rules";
  for (const Place& other : world.places)
    for (const api::Pod* running : other.pods)
      for (const auto& term : running->spec->affinity->antiPod.required)
        if (means(term, *running, pod) && sameDomain(*place.node, *other.node, term.topologyKey))
          return "node(s) didn't satisfy existing pods anti-affinity rules";
  return "";
}

// ---- room

std::string roomRefusal(const api::Pod& pod, const Place& place) {
  std::string out;
  if (static_cast<int64_t>(place.pods.size()) + 1 >
      place.node->status.allocatable.amount("pods").value())
    out = "Too many pods";
  for (const auto& want : api::podRequests(*pod.spec)) {
    int64_t used = 0;
    for (const api::Pod* other : place.pods)
      used += amount(api::podRequests(*other->spec), want.name.view());
    const int64_t asked = amount(api::podRequests(*pod.spec), want.name.view());
    if (asked > 0 && asked > amount(place.node->status.allocatable, want.name.view()) - used)
      out += (out.empty() ? "" : ", ") + ("Insufficient " + want.name.str());
  }
  return out;
}

bool portsClash(const api::Pod& pod, const Place& place) {
  for (const auto& c : pod.spec->containers)
    for (const auto& want : c.ports)
      for (const api::Pod* other : place.pods)
        for (const auto& d : other->spec->containers)
          for (const auto& used : d.ports)
            if (want.hostPort > 0 && want.hostPort == used.hostPort) return true;
  return false;
}

// ---- scores

std::vector<int64_t> scaled(const std::vector<int64_t>& raw, bool reverse) {
  int64_t top = 0;
  for (int64_t r : raw) top = std::max(top, r);
  std::vector<int64_t> out;
  for (int64_t r : raw)
    out.push_back(top == 0 ? (reverse ? 100 : r) : (reverse ? 100 - r * 100 / top : r * 100 / top));
  return out;
}

int64_t disliked(const api::Pod& pod, const api::Node& node) {
  int64_t count = 0;
  for (const auto& taint : node.spec.taints) {
    if (taint.effect != api::TaintEffect::kPreferNoSchedule) continue;
    bool tolerated = false;
    for (const auto& toleration : pod.spec->tolerations)
      tolerated = tolerated || ((toleration.effect == api::TaintEffect::kNone ||
                                 toleration.effect == api::TaintEffect::kPreferNoSchedule) &&
                                api::tolerates(toleration, taint));
    count += !tolerated;
  }
  return count;
}

int64_t leastAllocatedScore(const api::Pod& pod, const Place& place) {
  const api::RequestOptions padded{.missing = &api::scoringDefaults()};
  int64_t sum = 0, weights = 0;
  for (auto name : {"cpu", "memory", "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"}) {
    const bool native = std::string_view(name) == "cpu" || std::string_view(name) == "memory";
    const int64_t have = amount(place.node->status.allocatable, name);
    const auto& options = native ? padded : api::RequestOptions{};
    const int64_t asked = amount(api::podRequests(*pod.spec, options), name);
    if (have == 0 || (!native && asked == 0)) continue;
    int64_t then = asked;
    for (const api::Pod* other : place.pods)
      then += amount(api::podRequests(*other->spec, options), name);
    sum += then > have ? 0 : (have - then) * 100 / have;
    weights++;
  }
  return weights == 0 ? 0 : sum / weights;
}

int64_t balancedScore(const api::Pod& pod, const Place& place) {
  std::vector<double> shares;
  for (auto name : {"cpu", "memory"}) {
    const int64_t have = amount(place.node->status.allocatable, name);
    if (have == 0) continue;
    int64_t then = amount(api::podRequests(*pod.spec), name);
    for (const api::Pod* other : place.pods) then += amount(api::podRequests(*other->spec), name);
    shares.push_back(std::min(1.0, static_cast<double>(then) / static_cast<double>(have)));
  }
  const double deviation = shares.size() == 2 ? std::abs((shares[0] - shares[1]) / 2) : 0;
  return static_cast<int64_t>((1 - deviation) * 100);
}

std::vector<int64_t> spreadScores(const World& world, const api::Pod& pod,
                                  const std::vector<size_t>& feasible) {
  const auto all = constraintsOf(pod, false);
  const auto ignored = [&](size_t at) {
    return std::any_of(all.begin(), all.end(), [&](const auto& c) {
      return !world.places[at].node->meta.labels.find(c.topologyKey);
    });
  };
  std::vector<double> sums(feasible.size());
  for (const auto& c : all) {
    const bool host = c.topologyKey == "kubernetes.io/hostname";
    std::set<std::string> values;
    size_t counted = 0;
    for (size_t at : feasible)
      if (!ignored(at)) {
        counted++;
        values.insert(world.places[at].node->meta.labels.find(c.topologyKey)->str());
      }
    const double weight = std::log(static_cast<double>(host ? counted : values.size()) + 2);
    for (size_t i = 0; i < feasible.size(); i++) {
      const Place& place = world.places[feasible[i]];
      if (ignored(feasible[i])) continue;
      int64_t count = 0;
      for (const Place& other : world.places)
        if (host ? &other == &place
                 : countsFor(c, all, pod, *other.node) &&
                       sameDomain(*place.node, *other.node, c.topologyKey))
          count += matching(other, c, pod);
      sums[i] += static_cast<double>(count) * weight + (c.maxSkew - 1);
    }
  }
  int64_t least = INT64_MAX, most = 0;
  for (size_t i = 0; i < feasible.size(); i++)
    if (!ignored(feasible[i])) {
      least = std::min<int64_t>(least, std::llround(sums[i]));
      most = std::max<int64_t>(most, std::llround(sums[i]));
    }
  std::vector<int64_t> out;
  for (size_t i = 0; i < feasible.size(); i++)
    out.push_back(ignored(feasible[i]) ? 0
                  : most == 0          ? 100
                                       : 100 * (most + least - std::llround(sums[i])) / most);
  return out;
}

// Empty: nothing contributed.
std::vector<int64_t> affinityScores(const World& world, const api::Pod& pod,
                                    const std::vector<size_t>& feasible) {
  std::map<std::pair<std::string, std::string>, int64_t> pairs;
  const auto add = [&](const api::PodAffinityTerm& term, const api::Node& node, int64_t weight) {
    if (const Interned* value = node.meta.labels.find(term.topologyKey))
      pairs[{term.topologyKey.str(), value->str()}] += weight;
  };
  for (const Place& place : world.places)
    for (const api::Pod* running : place.pods) {
      for (const auto& p : pod.spec->affinity->pod.preferred)
        if (means(p.term, pod, *running)) add(p.term, *place.node, p.weight);
      for (const auto& p : pod.spec->affinity->antiPod.preferred)
        if (means(p.term, pod, *running)) add(p.term, *place.node, -p.weight);
      for (const auto& term : running->spec->affinity->pod.required)
        if (means(term, *running, pod)) add(term, *place.node, 1);
      for (const auto& p : running->spec->affinity->pod.preferred)
        if (means(p.term, *running, pod)) add(p.term, *place.node, p.weight);
      for (const auto& p : running->spec->affinity->antiPod.preferred)
        if (means(p.term, *running, pod)) add(p.term, *place.node, -p.weight);
    }
  if (pairs.empty()) return {};
  std::vector<int64_t> raw;
  for (size_t at : feasible) {
    int64_t sum = 0;
    for (const auto& [pair, weight] : pairs) {
      const auto value = world.places[at].node->meta.labels.get(pair.first);
      if (value && *value == pair.second) sum += weight;
    }
    raw.push_back(sum);
  }
  const auto [low, high] = std::minmax_element(raw.begin(), raw.end());
  const int64_t least = *low, most = *high;
  for (int64_t& r : raw)
    r = most == least ? 0
                      : static_cast<int64_t>(100.0 * (static_cast<double>(r - least) /
                                                      static_cast<double>(most - least)));
  return raw;
}

int64_t preferredSum(const api::Pod& pod, const api::Node& node) {
  int64_t sum = 0;
  for (const auto& p : pod.spec->affinity->node.preferred)
    if (api::NodeTerm(p.term).matches(node.meta.name, node.meta.labels)) sum += p.weight;
  return sum;
}

std::string withTag(std::string_view image) {
  const auto name = image.substr(image.rfind('/') + 1);  // npos + 1 is 0
  return std::string(image) + (name.find(':') == std::string_view::npos ? ":latest" : "");
}

int64_t sizeOn(const api::Node& node, const std::string& image) {
  for (const auto& entry : node.status.images)
    for (const auto& name : entry.names)
      if (withTag(name.view()) == image) return entry.size.v;
  return 0;
}

int64_t imageLocality(const World& world, const api::Pod& pod, const api::Node& node) {
  int64_t sum = 0, containers = 0;
  for (const auto* list : {&pod.spec->initContainers, &pod.spec->containers})
    for (const auto& container : *list) {
      containers++;
      const std::string image = withTag(container.image.view());
      const auto have = std::count_if(world.places.begin(), world.places.end(),
                                      [&](const Place& p) { return sizeOn(*p.node, image) > 0; });
      const double share = static_cast<double>(have) / static_cast<double>(world.places.size());
      sum += static_cast<int64_t>(static_cast<double>(sizeOn(node, image)) * share);
    }
  const int64_t least = 23 << 20, most = containers * 1000 * (1 << 20);
  return 100 * (std::clamp(sum, least, most) - least) / (most - least);
}

}  // namespace

int64_t amount(const api::ResourceList& list, std::string_view name) {
  return name == "cpu" ? list.cpu().v : list.amount(name).value();
}

std::string refusal(const World& world, const api::Pod& pod, size_t at) {
  const Place& place = world.places[at];
  api::Taint cordon;
  cordon.key = Interned("node.kubernetes.io/unschedulable");
  cordon.effect = api::TaintEffect::kNoSchedule;
  if (place.node->spec.unschedulable && !api::tolerates(pod.spec->tolerations, cordon))
    return "node(s) were unschedulable";
  if (!meetsTaints(pod, *place.node)) return "node(s) had untolerated taint(s)";
  if (!meetsNodeWishes(pod, *place.node))
    return "node(s) didn't match Pod's node affinity/selector";
  if (portsClash(pod, place)) return "node(s) didn't have free ports for the requested pod ports";
  if (auto why = roomRefusal(pod, place); !why.empty()) return why;
  if (auto why = spreadRefusal(world, pod, place); !why.empty()) return why;
  return affinityRefusal(world, pod, place);
}

std::map<std::string, std::vector<int64_t>> scores(const World& world, const api::Pod& pod,
                                                   const std::vector<size_t>& feasible) {
  std::map<std::string, std::vector<int64_t>> out;
  std::vector<int64_t> taints, affinity, fit, balance, images;
  for (size_t at : feasible) {
    const Place& place = world.places[at];
    taints.push_back(disliked(pod, *place.node));
    affinity.push_back(preferredSum(pod, *place.node));
    fit.push_back(leastAllocatedScore(pod, place));
    balance.push_back(balancedScore(pod, place));
    images.push_back(imageLocality(world, pod, *place.node));
  }
  out["TaintToleration"] = scaled(taints, true);
  if (!pod.spec->affinity->node.preferred.empty()) out["NodeAffinity"] = scaled(affinity, false);
  out["NodeResourcesFit"] = fit;
  out["ImageLocality"] = images;
  const auto requests = api::podRequests(*pod.spec);
  if (requests.cpu().v > 0 || requests.memory().v > 0)
    out["NodeResourcesBalancedAllocation"] = balance;
  if (!constraintsOf(pod, false).empty())
    out["PodTopologySpread"] = spreadScores(world, pod, feasible);
  if (auto both = affinityScores(world, pod, feasible); !both.empty())
    out["InterPodAffinity"] = both;
  return out;
}

}  // namespace mangrove::placement::oracle
