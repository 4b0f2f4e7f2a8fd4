#!/usr/bin/env bash
# What stock kubectl learns about the server: resources, versions, documentation, raw paths.
source "$(dirname "$0")/lib/apiserver.sh"
start

want "pods" kubectl api-resources --api-group= -o name
want "NAME" kubectl api-resources
want "deployments" kubectl api-resources --api-group=apps
want "nodemetrics" kubectl api-resources --api-group=slo.koordinator.sh
lacks "pods" kubectl api-resources --namespaced=false --verbs=list -o name
want "nodes" kubectl api-resources --namespaced=false --verbs=list -o name
want "create,delete,deletecollection,get,list,patch,update,watch" kubectl api-resources -o wide
want "deployments.apps" kubectl api-resources --categories=all -o name
want "apps/v1" kubectl api-versions
want "slo.koordinator.sh/v1alpha1" kubectl api-versions

want "KIND:       Pod" kubectl explain pod
want "containers" kubectl explain pod.spec
want "-required-" kubectl explain pod.spec
want "livenessProbe" kubectl explain pod.spec.containers --recursive
want "FIELD: image <string>" kubectl explain pod.spec.containers.image
want "GROUP:      apps" kubectl explain deploy.spec.strategy
want "FIELDS:" kubectl explain hpa.spec.metrics --api-version=autoscaling/v2
want "reportIntervalSeconds" kubectl explain nodemetric.spec.metricCollectPolicy
want "KIND:       NodeSLO" kubectl explain nodeslo --recursive
refused "does not exist" kubectl explain pod.spec.nope

want "Kubernetes control plane" kubectl cluster-info
want "Server Version: v1.35" kubectl version
want '"major"' kubectl get --raw /version
same "ok" kubectl get --raw /readyz
want '"kind":"APIResourceList"' kubectl get --raw /apis/apps/v1
want '"openapi":"3.0' kubectl get --raw /openapi/v3/apis/apps/v1
want '"NamespaceList"' kubectl get --raw "/api/v1/namespaces?limit=1"
refused "could not find the requested resource" kubectl get --raw /nothing/here
refused "nobody measures nodes and pods here" kubectl top nodes
refused "the server doesn't have a resource type" kubectl get nothings
all_good
