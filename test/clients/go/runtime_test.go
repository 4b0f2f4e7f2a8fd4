package clients

import (
	"context"
	"testing"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "go.example.org/finalizer"

type GadgetSpec struct {
	Size int `json:"size"`
}
type GadgetStatus struct {
	Double int `json:"double,omitempty"`
}
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GadgetSpec   `json:"spec"`
	Status            GadgetStatus `json:"status,omitempty"`
}
type GadgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Gadget `json:"items"`
}

func (g *Gadget) DeepCopyObject() runtime.Object {
	out := *g
	out.ObjectMeta = *g.ObjectMeta.DeepCopy()
	return &out
}
func (l *GadgetList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = append([]Gadget(nil), l.Items...)
	return &out
}

var gadgets = schema.GroupVersion{Group: "go.example.org", Version: "v1"}

func gadgetScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(s)
	_ = apiextensions.AddToScheme(s)
	s.AddKnownTypes(gadgets, &Gadget{}, &GadgetList{})
	metav1.AddToGroupVersion(s, gadgets)
	return s
}

func gadgetDefinition() *apiextensions.CustomResourceDefinition {
	one := 1.0
	number := apiextensions.JSONSchemaProps{Type: "integer", Minimum: &one}
	return &apiextensions.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.go.example.org"},
		Spec: apiextensions.CustomResourceDefinitionSpec{
			Group: gadgets.Group, Scope: apiextensions.NamespaceScoped,
			Names: apiextensions.CustomResourceDefinitionNames{Plural: "gadgets", Kind: "Gadget", ListKind: "GadgetList"},
			Versions: []apiextensions.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Subresources: &apiextensions.CustomResourceSubresources{Status: &apiextensions.CustomResourceSubresourceStatus{}},
				Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: &apiextensions.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensions.JSONSchemaProps{
						"spec":   {Type: "object", Properties: map[string]apiextensions.JSONSchemaProps{"size": number}},
						"status": {Type: "object", Properties: map[string]apiextensions.JSONSchemaProps{"double": number}},
					}}}}}},
	}
}

type doubler struct{ client.Client }

func (d doubler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var gadget Gadget
	if err := d.Get(ctx, request.NamespacedName, &gadget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !gadget.DeletionTimestamp.IsZero() {
		controllerutil.RemoveFinalizer(&gadget, finalizer)
		return ctrl.Result{}, client.IgnoreNotFound(d.Update(ctx, &gadget))
	}
	if controllerutil.AddFinalizer(&gadget, finalizer) {
		return ctrl.Result{}, d.Update(ctx, &gadget)
	}
	gadget.Status.Double = 2 * gadget.Spec.Size
	return ctrl.Result{}, d.Status().Update(ctx, &gadget)
}

func TestControllerRuntimeManager(t *testing.T) {
	log.SetLogger(zap.New(zap.WriteTo(testWriter{t})))
	ctx, _, ns := newClient(t)
	config := configFor(t, "")
	plain := must[client.Client](t)(client.New(config, client.Options{Scheme: gadgetScheme()}))
	if err := plain.Create(ctx, gadgetDefinition()); err != nil {
		t.Fatal(err)
	}
	manager := must[ctrl.Manager](t)(ctrl.NewManager(config, ctrl.Options{
		Scheme: gadgetScheme(), Metrics: metrics.Options{BindAddress: "0"},
		LeaderElection: true, LeaderElectionID: "gadgets", LeaderElectionNamespace: ns}))
	eventually(t, "the definition is served", func() bool {
		return ctrl.NewControllerManagedBy(manager).Named("gadgets-"+time.Now().Format("150405.000")).For(&Gadget{}).Complete(doubler{manager.GetClient()}) == nil
	})
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- manager.Start(running) }()
	gadget := &Gadget{ObjectMeta: metav1.ObjectMeta{Name: "g", Namespace: ns}, Spec: GadgetSpec{Size: 21}}
	eventually(t, "a gadget can be made", func() bool { return plain.Create(ctx, gadget.DeepCopyObject().(client.Object)) == nil })
	key := client.ObjectKeyFromObject(gadget)
	eventually(t, "the answer", func() bool { return plain.Get(ctx, key, gadget) == nil && gadget.Status.Double == 42 })
	if !controllerutil.ContainsFinalizer(gadget, finalizer) {
		t.Fatal("no finalizer")
	}
	if err := plain.Delete(ctx, gadget); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the finalizer lets it go", func() bool { return plain.Get(ctx, key, gadget) != nil })
	if err := plain.Create(ctx, &Gadget{ObjectMeta: metav1.ObjectMeta{Name: "bad", Namespace: ns}}); err == nil {
		t.Fatal("size 0 was accepted")
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(text []byte) (int, error) { return len(text), nil }
