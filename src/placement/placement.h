#pragma once
// Where pods go: the cluster as columns, plans of pods, plugins, the cycle that chooses a node, and
// the engine that drives them. A library without a client, a clock or a thread of its own: the
// scheduler role feeds it from watches, a descheduler or a simulator from whatever they have.
//
//   Cluster cluster;                                     what is believed: nodes, pods, nominations
//   auto profile = Profile::make(config, plugins, …);    plugins in order, with their arguments
//   Cycle(profile, cluster, pod).run()                   one decision; writes nothing
//   Engine engine(setup, effects);                       queue, decisions, permits, preemption
//
// Rooms: cluster/ (what is known), framework/ (what a plugin is), plugins/ (the rules), cycle/ (one
// decision), preemption/, queue/ (who is next), engine/ (the whole, over Effects), explain/ (why),
// intake/ (objects before they are believed), config/. testing/ has clusters in text for tests.
// Everything runs in the owner's thread.

#include "placement/cluster/cluster.h"
#include "placement/config/config.h"
#include "placement/cycle/cycle.h"
#include "placement/cycle/profile.h"
#include "placement/engine/effects.h"
#include "placement/engine/engine.h"
#include "placement/explain/explanation.h"
#include "placement/framework/plugin.h"
#include "placement/intake/watched_pod.h"
