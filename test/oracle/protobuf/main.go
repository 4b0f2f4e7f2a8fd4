// The oracle of src/apiserver/protobuf: objects of every kind, filled at random, as Kubernetes' own
// types write them in JSON and in protobuf. Run by hand; docs/development.md says how.
//
//	main generate SEED COUNT > protobuf.jsonl   one {"json":…,"protobuf":base64} per line
//	main check < FILE                           the same lines, made by us: are both sides equal?
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"sort"
	"strconv"
	"time"

	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	certificates "k8s.io/api/certificates/v1"
	apiext "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/randfill"
)

type line struct {
	JSON     json.RawMessage `json:"json"`
	Protobuf []byte          `json:"protobuf"`
}

var versions = []schema.GroupVersion{
	{Group: "", Version: "v1"}, {Group: "apps", Version: "v1"}, {Group: "batch", Version: "v1"},
	{Group: "autoscaling", Version: "v1"}, {Group: "autoscaling", Version: "v2"},
	{Group: "policy", Version: "v1"}, {Group: "scheduling.k8s.io", Version: "v1"},
	{Group: "storage.k8s.io", Version: "v1"}, {Group: "coordination.k8s.io", Version: "v1"},
	{Group: "events.k8s.io", Version: "v1"}, {Group: "discovery.k8s.io", Version: "v1"},
	{Group: "rbac.authorization.k8s.io", Version: "v1"}, {Group: "node.k8s.io", Version: "v1"},
	{Group: "admissionregistration.k8s.io", Version: "v1"}, {Group: "networking.k8s.io", Version: "v1"},
	{Group: "authentication.k8s.io", Version: "v1"}, {Group: "authorization.k8s.io", Version: "v1"},
	{Group: "apiextensions.k8s.io", Version: "v1"}, {Group: "certificates.k8s.io", Version: "v1"},
	{Group: "resource.k8s.io", Version: "v1"},
}

var words = []string{"a", "web-0", "ä ö 你好", "\"quoted\\\n", "Always", "10.0.0.1", "x/y.z", "\U0001f980"}
var amounts = []string{"0", "1", "500m", "4Gi", "1500Mi", "12e6", "100k", "-3", "9223372036854775807", "3n"}
var texts = []string{`{"f:spec":{"f:x":{}}}`, `{"a":[1,2.5,"b",null,true]}`, `{}`}
var values = append([]string{`"text"`, `[1,"a"]`, `17`, `false`}, texts...)

func one(c randfill.Continue, from []string) string { return from[c.Intn(len(from))] }

func moment(c randfill.Continue) time.Time { return time.Unix(c.Int63n(4e9)-1e9, 0) }

func filler(seed int64) *randfill.Filler {
	f := randfill.New().RandSource(rand.NewSource(seed)).NilChance(0.45).NumElements(1, 2).MaxDepth(14)
	return f.Funcs(
		func(s *string, c randfill.Continue) { *s = one(c, words) },
		func(t *metav1.Time, c randfill.Continue) { *t = metav1.Time{Time: moment(c)} },
		func(t *metav1.MicroTime, c randfill.Continue) {
			*t = metav1.MicroTime{Time: moment(c).Add(time.Duration(c.Int63n(1e6)) * time.Microsecond)}
		},
		func(d *metav1.Duration, c randfill.Continue) { d.Duration = time.Duration(c.Int63n(1e15)) },
		func(q *resource.Quantity, c randfill.Continue) { *q = resource.MustParse(one(c, amounts)) },
		func(i *intstr.IntOrString, c randfill.Continue) {
			*i = intstr.FromInt32(c.Int31() - 1<<30)
			if c.Bool() {
				*i = intstr.FromString(one(c, words))
			}
		},
		func(r *runtime.RawExtension, c randfill.Continue) { r.Raw = []byte(one(c, texts)) },
		func(r *metav1.FieldsV1, c randfill.Continue) { r.Raw = []byte(one(c, texts)) },
		func(r *apiext.JSON, c randfill.Continue) { r.Raw = []byte(one(c, values)) },
		// Not on the wire: the types of objects inside objects, and whether a list or bytes in a map are nil.
		func(b *[]byte, c randfill.Continue) { *b = []byte(one(c, words))[:1] },
		func(t *metav1.TypeMeta, c randfill.Continue) {},
		func(v *authentication.ExtraValue, c randfill.Continue) { *v = []string{one(c, words)} },
		func(v *authorization.ExtraValue, c randfill.Continue) { *v = []string{one(c, words)} },
		func(v *certificates.ExtraValue, c randfill.Continue) { *v = []string{one(c, words)} },
		func(f *float64, c randfill.Continue) { *f = float64(c.Intn(2000)-1000) / 8 },
		func(o *apiext.JSONSchemaPropsOrArray, c randfill.Continue) {
			o.Schema = &apiext.JSONSchemaProps{}
			c.Fill(o.Schema)
		},
		func(o *apiext.JSONSchemaPropsOrBool, c randfill.Continue) {
			o.Allows = c.Bool()
			if o.Allows && c.Bool() {
				o.Schema = &apiext.JSONSchemaProps{}
				c.Fill(o.Schema)
			}
		},
		func(o *apiext.JSONSchemaPropsOrStringArray, c randfill.Continue) {
			o.Property = []string{one(c, words)}
			if c.Bool() {
				*o = apiext.JSONSchemaPropsOrStringArray{Schema: &apiext.JSONSchemaProps{Type: one(c, words)}}
			}
		},
	)
}

func kinds(s *runtime.Scheme) []schema.GroupVersionKind {
	var out []schema.GroupVersionKind
	for _, gv := range versions {
		for kind, t := range s.KnownTypes(gv) {
			_, object := t.FieldByName("ObjectMeta")
			_, list := t.FieldByName("ListMeta")
			if object || (list && kind != "List") || kind == "DeleteOptions" || (kind == "Status" && gv.Group == "") {
				out = append(out, gv.WithKind(kind))
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].String() < out[j].String() })
	return out
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func generate(s *runtime.Scheme, seed int64, count int) {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	wire := protobuf.NewSerializer(s, s)
	for _, gvk := range kinds(s) {
		for i := 0; i < count; i++ {
			object, err := s.New(gvk)
			must(err)
			f := filler(seed + int64(i))
			if i == 0 { // every field set, as deep as it stays small
				f = f.NilChance(0).NumElements(1, 1).MaxDepth(11)
			}
			f.Fill(object)
			object.GetObjectKind().SetGroupVersionKind(gvk)
			var encoded bytes.Buffer
			must(wire.Encode(object, &encoded))
			text, err := json.Marshal(object)
			must(err)
			whole, err := json.Marshal(line{text, encoded.Bytes()})
			must(err)
			if i > 0 && len(whole) > 12000 {
				continue
			}
			fmt.Fprintf(out, "%s\n", whole)
		}
	}
}

// Our bytes, read by Kubernetes, must be the object that Kubernetes reads from the JSON.
func check(s *runtime.Scheme) {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	wire := protobuf.NewSerializer(s, s)
	good, bad := 0, 0
	for in.Scan() {
		var l line
		must(json.Unmarshal(in.Bytes(), &l))
		got, gvk, err := wire.Decode(l.Protobuf, nil, nil)
		must(err)
		want, err := s.New(*gvk)
		must(err)
		must(json.Unmarshal(l.JSON, want))
		want.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		got.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if reflect.DeepEqual(got, want) || bytes.Equal(a, b) {
			good++
			continue
		}
		bad++
		fmt.Printf("%s\n  got  %s\n  want %s\n", gvk, a, b)
	}
	fmt.Printf("%d equal, %d differ\n", good, bad)
}

func main() {
	s := runtime.NewScheme()
	must(scheme.AddToScheme(s))
	must(apiext.AddToScheme(s))
	if len(os.Args) == 4 && os.Args[1] == "generate" {
		seed, err := strconv.ParseInt(os.Args[2], 10, 64)
		must(err)
		count, err := strconv.Atoi(os.Args[3])
		must(err)
		generate(s, seed, count)
	} else if len(os.Args) == 2 && os.Args[1] == "check" {
		check(s)
	} else {
		fmt.Fprintln(os.Stderr, "usage: main generate SEED COUNT | main check")
		os.Exit(2)
	}
}
