#pragma once
// Teaches the models once a minute from the history, keeps them on disk, and answers what is
// reclaimable.
//
//   Predictor predictor({.checkpointDir = dir});
//   predictor.tick(look);                           // learns when a minute has passed
//   Reclaim r = predictor.reclaim(look, node);
//
// Owner thread.

#include <functional>
#include <optional>
#include <string>

#include "agent/look.h"
#include "agent/predict/checkpoint.h"
#include "agent/predict/models.h"
#include "agent/predict/reclaim.h"

namespace mangrove::agent {

struct PredictorOptions {
  ModelOptions models = {};
  std::string checkpointDir = {};  // "": nothing survives
  std::string exportDir = {};      // reference's files are written here too
  Duration checkpointInterval = std::chrono::minutes(10);
  int64_t marginPercent = 10;
};

struct PredictorStats {
  uint64_t rounds = 0, lessons = 0;
  uint64_t skipped = 0;  // rounds that were not taken because the clock jumped
  uint64_t checkpoints = 0, checkpointFailures = 0;
};

class Predictor {
 public:
  explicit Predictor(PredictorOptions options);

  void tick(const Look& look);
  // Who knows what the coming hours brought on other days: "system", "band/koord-prod"; nobody by default.
  using Season = std::function<std::optional<Peak>(const std::string& subject, WallTime now)>;
  void askSeasons(Season season) { season_ = std::move(season); }
  // The wall clock was set: what is learnt now would carry a wrong time.
  void clockJumped() { skipRound_ = true; }
  // node null: an error, as nothing is known about what it offers.
  Reclaim reclaim(const Look& look, const api::Node* node) const;
  // Writes the checkpoint now; at an orderly stop.
  void save();

  const Models& models() const { return models_; }
  const PredictorStats& stats() const { return stats_; }
  const LoadReport& loaded() const { return loaded_; }

 private:
  using Lessons = std::vector<std::pair<std::string, Lesson>>;
  void train(const Look& look);
  void podLessons(const Look& look, Lessons& out) const;
  void groupLessons(const Look& look, Lessons& out) const;

  PredictorOptions options_;
  Models models_;
  CheckpointDir dir_;
  LoadReport loaded_;
  WallTime lastTrained_ = kZeroTime;
  MonoTime nextTraining_ = MonoTime::min();
  MonoTime nextCheckpoint_ = MonoTime::min();
  bool skipRound_ = false;
  Season season_;
  PredictorStats stats_;
};

api::ResourceList resourcesOf(const Amounts& amounts);

}  // namespace mangrove::agent
