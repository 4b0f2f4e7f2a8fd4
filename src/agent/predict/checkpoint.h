#pragma once
// Models on disk. Two files of ours: `models.json`, all models, written whole and flushed every few
// minutes; and `lessons.log`, one line per lesson since, so that a killed process loses nothing and
// no lesson counts twice. The reference's files (one per model, named by its uid) are read where
// ours has nothing, and can be written for the way back.
//
//   CheckpointDir dir("/var/lib/mangrove/agent/prediction");
//   dir.load(models);                              // models.json, then lessons.log, then imports
//   dir.note(key, lesson, at);                     // after each lesson
//   dir.save(models);                              // every checkpoint interval
//
// Owner thread; files are small (1 KB a model).

#include <string>
#include <string_view>
#include <vector>

#include "agent/predict/models.h"
#include "base/os/fd.h"
#include "base/result.h"
#include "json/value.h"
#include "json/view.h"

namespace mangrove::agent {

struct LoadReport {
  size_t models = 0;    // from our file
  size_t lessons = 0;   // replayed
  size_t imported = 0;  // from the reference's files
  std::vector<std::string> troubles;
};

class CheckpointDir {
 public:
  // "": nothing is kept.
  explicit CheckpointDir(std::string dir) : dir_(std::move(dir)) {}

  LoadReport load(Models& models);
  Result<> note(const std::vector<std::pair<std::string, Lesson>>& lessons, WallTime at);
  Result<> save(const Models& models);
  // One file per model as the reference writes them.
  Result<> exportTo(const std::string& dir, const Models& models) const;

 private:
  std::string file(std::string_view name) const { return dir_ + "/" + std::string(name); }
  void loadOurs(Models& models, LoadReport& report);
  void replay(Models& models, LoadReport& report);
  void import(Models& models, LoadReport& report);

  std::string dir_;
  UniqueFd log_;
};

// {UID, CPU, Memory, LastUpdated}, the reference's shape, and FirstLearnt, which it skips.
json::Value checkpointJson(std::string_view key, const Model& model);
struct NamedModel {
  std::string key;
  Model model;
};
Result<NamedModel> readCheckpoint(json::View view, const ModelOptions& options);

// "<µs> <cores> <bytes> <key>"
std::string lessonLine(std::string_view key, const Lesson& lesson, WallTime at);
struct LoggedLesson {
  WallTime at;
  Lesson lesson;
  std::string_view key;
};
Result<LoggedLesson> parseLessonLine(std::string_view line);

}  // namespace mangrove::agent
