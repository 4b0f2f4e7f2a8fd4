#!/usr/bin/env bash
# Custom resources through stock kubectl: a definition's life, objects judged by its schema, subresources, versions.
source "$(dirname "$0")/lib/apiserver.sh"
start
cat >"$dir/crd.yaml" <<'Y'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Colour, type: string, jsonPath: .spec.colour, priority: 1}
    schema:
      openAPIV3Schema:
        description: A thing for tests
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [size]
            properties:
              size: {type: integer, minimum: 1, maximum: 10, description: How big it is}
              colour: {type: string, enum: [red, green], default: red}
              name: {type: string, pattern: "^[a-z]+$"}
              replicas: {type: integer, default: 1}
              parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [key], items: {type: object, required: [key], properties: {key: {type: string}, value: {type: string}}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, properties: {replicas: {type: integer}, phase: {type: string}}}
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
Y
widget() { printf '{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"%s"},"spec":%s}' "$1" "$2"; }

refused "no matches for kind" kubectl apply -f - <<<"$(widget early '{"size":1}')"
want "customresourcedefinition.apiextensions.k8s.io/widgets.example.org created" kubectl create -f "$dir/crd.yaml"
want "condition met" kubectl wait --for=condition=Established crd/widgets.example.org --timeout=10s
want "widgets" kubectl api-resources --api-group=example.org
want "How big it is" kubectl explain widget.spec.size
want "green" kubectl explain widget.spec.colour
want "widget.example.org/a created" kubectl create -f - <<<"$(widget a '{"size":3,"free":{"any":{"thing":1}}}')"
same "red 1 1" kubectl get wd a -o 'jsonpath={.spec.colour} {.spec.replicas} {.spec.free.any.thing}'

refused 'spec.size: Required value' kubectl create -f - <<<"$(widget bad '{}')"
refused 'spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10' kubectl create -f - <<<"$(widget bad '{"size":11}')"
refused 'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"' kubectl create -f - <<<"$(widget bad '{"size":"3"}')"
refused 'spec.colour: Unsupported value: "blue": supported values: "red", "green"' kubectl create -f - <<<"$(widget bad '{"size":3,"colour":"blue"}')"
refused "spec.name: Invalid value: \"A\": spec.name in body should match '^[a-z]+\$'" kubectl create -f - <<<"$(widget bad '{"size":3,"name":"A"}')"
refused 'spec.parts[1]: Duplicate value' kubectl create -f - <<<"$(widget bad '{"size":3,"parts":[{"key":"a"},{"key":"a"}]}')"
refused 'strict decoding error: unknown field "spec.nope"' kubectl create -f - <<<"$(widget bad '{"size":3,"nope":1}')"
want 'Warning: unknown field "spec.nope"' kubectl create --validate=warn -f - <<<"$(widget pruned '{"size":3,"nope":1}')"
same "" kubectl get widget pruned -o 'jsonpath={.spec.nope}'

want "NAME     SIZE" kubectl get widgets
want "COLOUR" kubectl get widgets -o wide
want "widget.example.org/a" kubectl get all
want "scaled" kubectl scale widget a --replicas=4
want "patched" kubectl patch widget a --subresource=status --type=merge -p '{"spec":{"size":9},"status":{"phase":"Busy","replicas":4}}'
same "3 4 Busy" kubectl get widget a -o 'jsonpath={.spec.size} {.spec.replicas} {.status.phase}'
want "patched" kubectl patch widget a --type=merge -p '{"status":{"phase":"No"}}'
same "Busy 2" kubectl get widget a -o 'jsonpath={.status.phase} {.metadata.generation}'
refused "is not supported by example.org/v1, Kind=Widget" kubectl patch widget a --type=strategic -p '{"spec":{"size":5}}'
want "example.org/v1beta1" kubectl get widgets.v1beta1.example.org a -o 'jsonpath={.apiVersion}'
want "serverside-applied" kubectl apply --server-side --field-manager=m -f - <<<"$(widget ssa '{"size":3,"parts":[{"key":"x","value":"1"}]}')"
want "serverside-applied" kubectl apply --server-side --field-manager=n -f - <<<"$(widget ssa '{"size":3,"parts":[{"key":"y","value":"2"}]}')"
same "x y" kubectl get widget ssa -o 'jsonpath={.spec.parts[*].key}'
want "Name:         a" kubectl describe widget a
want "widget.example.org \"pruned\" deleted" kubectl delete widget pruned

# A bad definition says why; a rule we do not evaluate is not passed over in silence.
sed 's/type: integer, minimum/type: whole, minimum/' "$dir/crd.yaml" | sed 's/widgets/gadgets/; s/widgets/gadgets/; s/Widget/Gadget/; s/\[wd\]/[gd]/' >"$dir/bad.yaml"
refused 'Unsupported value: "whole"' kubectl create -f "$dir/bad.yaml"
cat >"$dir/cel.yaml" <<'Y'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ruled.example.org}
spec:
  group: example.org
  scope: Cluster
  names: {plural: ruled, kind: Ruled}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: "self.a > 3", message: "a must be more than 3"}]}
Y
want "x-kubernetes-validations" kubectl create -f "$dir/cel.yaml"

# Its objects go with it.
want "deleted" kubectl delete crd widgets.example.org --timeout=20s
refused "could not find the requested resource" kubectl get widgets
want "created" kubectl create -f "$dir/crd.yaml"
eventually want "No resources found" kubectl get widgets

# Koordinator's are built in.
want "noderesourcetopologies.topology.node.k8s.io" kubectl get crd -o name
want "created" kubectl apply -f - <<'Y'
apiVersion: slo.koordinator.sh/v1alpha1
kind: NodeMetric
metadata: {name: n1}
spec: {metricCollectPolicy: {reportIntervalSeconds: 60}}
Y
want "patched" kubectl patch nodemetric n1 --subresource=status --type=merge -p '{"status":{"nodeMetric":{"nodeUsage":{"resources":{"cpu":"1500m"}}}}}'
same "1500m" kubectl get nodemetric n1 -o 'jsonpath={.status.nodeMetric.nodeUsage.resources.cpu}'
all_good
