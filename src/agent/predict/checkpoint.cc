#include "agent/predict/checkpoint.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "api/wire/write.h"
#include "base/os/files.h"
#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kModels = "models.json", kLessons = "lessons.log";
constexpr std::string_view kTemporary = ".tmp";

json::Value histogramJson(const stats::DecayingHistogram& histogram) {
  const stats::HistogramCheckpoint saved = histogram.checkpoint();
  json::Object weights;
  for (const auto& [bucket, weight] : saved.bucketWeights) weights[std::to_string(bucket)] = weight;
  return json::Object{{"referenceTimestamp", formatTime(saved.referenceTimestamp)},
                      {"bucketWeights", std::move(weights)},
                      {"totalWeight", saved.totalWeight}};
}

Result<stats::DecayingHistogram> readHistogram(json::View view, stats::HistogramOptions options) {
  stats::HistogramCheckpoint saved;
  const auto reference = view["referenceTimestamp"].string();
  if (!reference) return invalid("referenceTimestamp is missing");
  auto time = parseTime(*reference);
  if (!time) return time.error().in("referenceTimestamp");
  saved.referenceTimestamp = *time;
  for (auto [key, value] : view["bucketWeights"].members()) {
    const auto bucket = parseInt<int>(key);
    const auto weight = value.unsignedInteger();
    if (!bucket || !weight || *weight > 1000000)
      return invalid("bucketWeights[{}]: want a bucket and its weight", key);
    saved.bucketWeights[*bucket] = static_cast<uint32_t>(*weight);
  }
  saved.totalWeight = view["totalWeight"].number().value_or(0);
  return stats::DecayingHistogram::restore(options, saved);
}

std::vector<std::string> namesIn(const std::string& dir) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error))
    if (it->is_regular_file(error)) names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Result<NamedModel> readCheckpointFile(const std::string& path, const ModelOptions& options) {
  auto text = readFile(path);
  if (!text) return pass(text.error());
  json::Doc doc;
  auto view = doc.parse(*text);
  if (!view) return pass(view.error());
  return readCheckpoint(*view, options);
}

}  // namespace

json::Value checkpointJson(std::string_view key, const Model& model) {
  return json::Object{{"UID", key},
                      {"CPU", histogramJson(model.cpu)},
                      {"Memory", histogramJson(model.memory)},
                      {"LastUpdated", formatMicroTime(model.updated)},
                      {"FirstLearnt", formatMicroTime(model.since)}};
}

Result<NamedModel> readCheckpoint(json::View view, const ModelOptions& options) {
  const auto key = view["UID"].string();
  const auto updated = view["LastUpdated"].string();
  if (!key || key->empty() || !updated) return invalid("UID or LastUpdated is missing");
  auto time = parseTime(*updated);
  if (!time) return time.error().in("LastUpdated");
  auto cpu = readHistogram(view["CPU"], stats::cpuHistogram(options.cpuHalfLife));
  if (!cpu) return cpu.error().in("CPU");
  auto memory = readHistogram(view["Memory"], stats::memoryHistogram(options.memoryHalfLife));
  if (!memory) return memory.error().in("Memory");
  // Ours; the reference and our own older files do not say it.
  const auto first = view["FirstLearnt"].string();
  const auto since = first ? parseTime(*first) : Result<WallTime>(kZeroTime);
  Model model{*std::move(cpu), *std::move(memory), *time, since.value_or(kZeroTime)};
  if (model.since == kZeroTime)
    model.since = *time - std::chrono::duration_cast<WallTime::duration>(
                              leastSpan(model.cpu, options.trainingInterval, *time));
  return NamedModel{std::string(*key), std::move(model)};
}

std::string lessonLine(std::string_view key, const Lesson& lesson, WallTime at) {
  return fmt::format("{} {} {} {}\n", at.time_since_epoch().count(), lesson.cores, lesson.bytes,
                     key);
}

Result<LoggedLesson> parseLessonLine(std::string_view line) {
  const auto parts = split(line, ' ');
  const auto bad = [&] { return invalid("lesson '{}': want time, cores, bytes and a name", line); };
  if (parts.size() != 4 || parts[3].empty()) return bad();
  const auto us = parseInt<int64_t>(parts[0]);
  double numbers[2] = {};
  for (int i = 0; i < 2; ++i) {
    const std::string_view word = parts[static_cast<size_t>(i) + 1];
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), numbers[i]);
    if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(numbers[i]) ||
        numbers[i] < 0)
      return bad();
  }
  if (!us) return bad();
  return LoggedLesson{WallTime(std::chrono::microseconds(*us)), {numbers[0], numbers[1]}, parts[3]};
}

LoadReport CheckpointDir::load(Models& models) {
  LoadReport report;
  if (dir_.empty()) return report;
  std::error_code error;
  fs::create_directories(dir_, error);
  for (const std::string& name : namesIn(dir_))
    if (name.ends_with(kTemporary)) fs::remove(file(name), error);
  loadOurs(models, report);
  replay(models, report);
  import(models, report);
  return report;
}

void CheckpointDir::loadOurs(Models& models, LoadReport& report) {
  auto text = readFile(file(kModels));
  if (!text) {
    if (text.error().code() != Code::kNotFound) report.troubles.push_back(text.error().text());
    return;
  }
  json::Doc doc;
  auto view = doc.parse(*text);
  if (!view) {
    report.troubles.push_back(fmt::format("{}: {}", file(kModels), view.error().text()));
    return;
  }
  for (json::View one : (*view)["models"].elements()) {
    auto model = readCheckpoint(one, models.options());
    if (!model) {
      report.troubles.push_back(fmt::format("{}: {}", file(kModels), model.error().text()));
      continue;
    }
    models.put(std::move(model->key), std::move(model->model));
    ++report.models;
  }
}

// A lesson counts only when the model in models.json is older: between writing that file and
// emptying the log the process may have been killed.
void CheckpointDir::replay(Models& models, LoadReport& report) {
  auto text = readFile(file(kLessons));
  if (!text) return;
  std::map<std::string, WallTime, std::less<>> saved;
  for (const auto& [key, model] : models.all()) saved[key] = model.updated;
  std::string_view rest = *text;
  // The last line may be torn; only whole ones count.
  for (size_t end; (end = rest.find('\n')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
    const auto logged = parseLessonLine(rest.substr(0, end));
    if (!logged) {
      report.troubles.push_back(logged.error().text());
      continue;
    }
    const auto known = saved.find(logged->key);
    if (known != saved.end() && logged->at <= known->second) continue;
    models.learn(logged->key, logged->lesson, logged->at);
    ++report.lessons;
  }
  // What comes next must not be taken for the rest of a torn line.
  if (rest.empty()) return;
  report.troubles.push_back(fmt::format("{} ends in the middle of a line", file(kLessons)));
  std::error_code ignored;
  fs::resize_file(file(kLessons), text->size() - rest.size(), ignored);
}

void CheckpointDir::import(Models& models, LoadReport& report) {
  for (const std::string& name : namesIn(dir_)) {
    if (name == kModels || name == kLessons || name.ends_with(kTemporary)) continue;
    auto model = readCheckpointFile(file(name), models.options());
    if (!model) {
      // As the reference does: a checkpoint nobody can read is of no use.
      report.troubles.push_back(fmt::format("{}: {}", file(name), model.error().text()));
      std::error_code ignored;
      fs::remove(file(name), ignored);
      continue;
    }
    const Model* ours = models.find(model->key);
    if (ours != nullptr && ours->updated >= model->model.updated) continue;
    models.put(std::move(model->key), std::move(model->model));
    ++report.imported;
  }
}

Result<> CheckpointDir::note(const std::vector<std::pair<std::string, Lesson>>& lessons,
                             WallTime at) {
  if (dir_.empty() || lessons.empty()) return {};
  if (!log_) {
    log_ =
        UniqueFd(::open(file(kLessons).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (!log_) return failErrno(errno, "open " + file(kLessons));
  }
  std::string text;
  for (const auto& [key, lesson] : lessons) text += lessonLine(key, lesson, at);
  // One write: a kill leaves all of it, or none, or a torn last line.
  if (::write(log_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return failErrno(errno, "write " + file(kLessons));
  return {};
}

Result<> CheckpointDir::save(const Models& models) {
  if (dir_.empty()) return {};
  json::Array all;
  for (const auto& [key, model] : models.all()) all.push_back(checkpointJson(key, model));
  const json::Value document = json::Object{{"version", 1}, {"models", std::move(all)}};
  auto written = writeFileAtomically(file(kModels), json::write(document), {.mode = 0600});
  if (!written) return written.error().in("checkpoint");
  log_.reset();
  if (::truncate(file(kLessons).c_str(), 0) != 0 && errno != ENOENT)
    return failErrno(errno, "empty " + file(kLessons));
  // Imported once, they are in our file now; a stale one must not come back.
  std::error_code ignored;
  for (const std::string& name : namesIn(dir_))
    if (name != kModels && name != kLessons && models.find(name) == nullptr)
      fs::remove(file(name), ignored);
  return {};
}

Result<> CheckpointDir::exportTo(const std::string& dir, const Models& models) const {
  std::error_code error;
  fs::create_directories(dir, error);
  for (const auto& [key, model] : models.all()) {
    if (key.find('/') != std::string::npos) continue;
    auto written = writeFileAtomically(dir + "/" + key, json::write(checkpointJson(key, model)),
                                       {.mode = 0600});
    if (!written) return written.error().in("export of model {}", key);
  }
  return {};
}

}  // namespace mangrove::agent
