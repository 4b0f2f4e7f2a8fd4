#include "base/metrics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace mangrove {

namespace metrics_detail {

struct Cell {
  std::atomic<double> value{0};
};

struct Buckets {
  explicit Buckets(std::vector<double> limits)
      : bounds(std::move(limits)), counts(bounds.size() + 1) {}
  const std::vector<double> bounds;           // upper ends, ascending
  std::vector<std::atomic<uint64_t>> counts;  // not cumulative; the last one is above all bounds
  std::atomic<double> sum{0};
};

}  // namespace metrics_detail

namespace {

using metrics_detail::Buckets;
using metrics_detail::Cell;

bool isNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool isLabelName(std::string_view name) {
  const auto inside = [](char c) { return isNameStart(c) || (c >= '0' && c <= '9'); };
  return !name.empty() && isNameStart(name[0]) && std::all_of(name.begin(), name.end(), inside) &&
         !name.starts_with("__");
}

bool isMetricName(std::string_view name) {
  std::string plain(name);
  std::replace(plain.begin(), plain.end(), ':', 'x');
  return isLabelName(plain);
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

void appendEscaped(std::string& out, std::string_view text, bool quotes) {
  for (char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && quotes) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

// {a="x",b="y"} with one more pair at the end when `le` is given; nothing without any label.
void appendLabels(std::string& out, const std::vector<std::string>& names,
                  const LabelValues& values, std::string_view le = {}) {
  if (names.empty() && le.empty()) return;
  out += '{';
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += ',';
    out += names[i];
    out += "=\"";
    appendEscaped(out, values[i], true);
    out += '"';
  }
  if (!le.empty())
    fmt::format_to(std::back_inserter(out), "{}le=\"{}\"", names.empty() ? "" : ",", le);
  out += '}';
}

void appendCells(std::string& out, const std::string& name, const std::vector<std::string>& labels,
                 const std::map<LabelValues, std::shared_ptr<Cell>>& cells) {
  for (const auto& [values, cell] : cells) {
    out += name;
    appendLabels(out, labels, values);
    out += ' ';
    out += number(cell->value.load(std::memory_order_relaxed));
    out += '\n';
  }
}

void appendBuckets(std::string& out, const std::string& name,
                   const std::vector<std::string>& labels, const LabelValues& values,
                   const Buckets& buckets) {
  uint64_t total = 0;
  for (size_t i = 0; i < buckets.counts.size(); ++i) {
    total += buckets.counts[i].load(std::memory_order_relaxed);
    out += name + "_bucket";
    appendLabels(out, labels, values,
                 i < buckets.bounds.size() ? number(buckets.bounds[i]) : "+Inf");
    fmt::format_to(std::back_inserter(out), " {}\n", total);
  }
  out += name + "_sum";
  appendLabels(out, labels, values);
  fmt::format_to(std::back_inserter(out), " {}\n",
                 number(buckets.sum.load(std::memory_order_relaxed)));
  out += name + "_count";
  appendLabels(out, labels, values);
  fmt::format_to(std::back_inserter(out), " {}\n", total);
}

}  // namespace

void Counter::inc(double by) {
  if (cell_ && by > 0) cell_->value.fetch_add(by, std::memory_order_relaxed);
}

double Counter::value() const {
  return cell_ ? cell_->value.load(std::memory_order_relaxed) : 0;
}

void Gauge::set(double value) {
  if (cell_) cell_->value.store(value, std::memory_order_relaxed);
}

void Gauge::add(double by) {
  if (cell_) cell_->value.fetch_add(by, std::memory_order_relaxed);
}

double Gauge::value() const {
  return cell_ ? cell_->value.load(std::memory_order_relaxed) : 0;
}

void Histogram::observe(double value) {
  if (!buckets_) return;
  const auto& bounds = buckets_->bounds;
  const auto place = std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin();
  buckets_->counts[static_cast<size_t>(place)].fetch_add(1, std::memory_order_relaxed);
  buckets_->sum.fetch_add(value, std::memory_order_relaxed);
}

uint64_t Histogram::count() const {
  uint64_t total = 0;
  if (buckets_) {
    for (const auto& count : buckets_->counts) total += count.load(std::memory_order_relaxed);
  }
  return total;
}

double Histogram::sum() const {
  return buckets_ ? buckets_->sum.load(std::memory_order_relaxed) : 0;
}

Family::Family(std::string name, std::string help, std::vector<std::string> labels)
    : name_(std::move(name)), help_(std::move(help)), labels_(std::move(labels)) {
  CHECK(isMetricName(name_), "metric name '{}'", name_);
  for (const std::string& label : labels_)
    CHECK(isLabelName(label), "label '{}' of {}", label, name_);
}

void Family::checkArity(const LabelValues& values) const {
  CHECK(values.size() == labels_.size(), "{} has {} labels, not {}", name_, labels_.size(),
        values.size());
}

template <class Child>
bool FamilyOf<Child>::remove(const LabelValues& values) {
  std::lock_guard lock(mutex_);
  return children_.erase(values) > 0;
}

template <class Child>
size_t FamilyOf<Child>::removeIf(const std::function<bool(const LabelValues&)>& fits) {
  std::lock_guard lock(mutex_);
  return std::erase_if(children_, [&](const auto& child) { return fits(child.first); });
}

template <class Child>
size_t FamilyOf<Child>::size() const {
  std::lock_guard lock(mutex_);
  return children_.size();
}

template <class Child>
template <class Make>
std::shared_ptr<Child> FamilyOf<Child>::child(const LabelValues& values, Make make) {
  checkArity(values);
  std::lock_guard lock(mutex_);
  std::shared_ptr<Child>& slot = children_[values];
  if (!slot) slot = make();
  return slot;
}

template class FamilyOf<Cell>;
template class FamilyOf<Buckets>;

Counter CounterFamily::with(const LabelValues& values) {
  return Counter(child(values, [] { return std::make_shared<Cell>(); }));
}

void CounterFamily::appendChildren(std::string& out) const {
  std::lock_guard lock(mutex_);
  appendCells(out, name_, labels_, children_);
}

Gauge GaugeFamily::with(const LabelValues& values) {
  return Gauge(child(values, [] { return std::make_shared<Cell>(); }));
}

void GaugeFamily::appendChildren(std::string& out) const {
  std::lock_guard lock(mutex_);
  appendCells(out, name_, labels_, children_);
}

HistogramFamily::HistogramFamily(std::string name, std::string help,
                                 std::vector<std::string> labels, std::vector<double> bounds)
    : FamilyOf(std::move(name), std::move(help), std::move(labels)), bounds_(std::move(bounds)) {
  CHECK(std::is_sorted(bounds_.begin(), bounds_.end()), "bounds of {} do not ascend", name_);
  CHECK(std::find(labels_.begin(), labels_.end(), "le") == labels_.end(), "label 'le' of {}",
        name_);
}

Histogram HistogramFamily::with(const LabelValues& values) {
  return Histogram(child(values, [this] { return std::make_shared<Buckets>(bounds_); }));
}

void HistogramFamily::appendChildren(std::string& out) const {
  std::lock_guard lock(mutex_);
  for (const auto& [values, buckets] : children_)
    appendBuckets(out, name_, labels_, values, *buckets);
}

const std::vector<double>& latencyBounds() {
  static const auto* bounds = new std::vector<double>{
      0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
  return *bounds;
}

template <class F, class... Args>
F& Registry::familyOf(std::string name, std::string help, std::vector<std::string> labels,
                      Args&&... args) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Family>& slot = families_[name];
  if (!slot) {
    slot.reset(
        new F(std::move(name), std::move(help), std::move(labels), std::forward<Args>(args)...));
    return static_cast<F&>(*slot);
  }
  F* known = dynamic_cast<F*>(slot.get());
  CHECK(known && slot->labels_ == labels,
        "metric {} asked for again with another type or other labels", slot->name_);
  return *known;
}

CounterFamily& Registry::counters(std::string name, std::string help,
                                  std::vector<std::string> labels) {
  return familyOf<CounterFamily>(std::move(name), std::move(help), std::move(labels));
}

GaugeFamily& Registry::gauges(std::string name, std::string help, std::vector<std::string> labels) {
  return familyOf<GaugeFamily>(std::move(name), std::move(help), std::move(labels));
}

HistogramFamily& Registry::histograms(std::string name, std::string help,
                                      std::vector<std::string> labels, std::vector<double> bounds) {
  return familyOf<HistogramFamily>(std::move(name), std::move(help), std::move(labels),
                                   std::move(bounds));
}

void Registry::beforeExposition(std::function<void()> refresh) {
  std::lock_guard lock(mutex_);
  refreshers_.push_back(std::move(refresh));
}

std::string Registry::exposition() const {
  std::unique_lock lock(mutex_);
  const auto refreshers = refreshers_;
  lock.unlock();
  for (const auto& refresh : refreshers) refresh();

  std::string out;
  lock.lock();
  for (const auto& [name, family] : families_) {
    out += "# HELP " + name + ' ';
    appendEscaped(out, family->help_, false);
    fmt::format_to(std::back_inserter(out), "\n# TYPE {} {}\n", name, family->type());
    family->appendChildren(out);
  }
  return out;
}

}  // namespace mangrove
