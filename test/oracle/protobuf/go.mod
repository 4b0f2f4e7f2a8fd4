module mangrove/test/oracle/protobuf

go 1.25

require (
	k8s.io/api v0.35.4
	k8s.io/apiextensions-apiserver v0.35.4
	k8s.io/apimachinery v0.35.4
	k8s.io/client-go v0.35.4
	sigs.k8s.io/randfill v1.0.0
)
