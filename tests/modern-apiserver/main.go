//go:debug default=go1.26

// The modern API server of the testbed: Kubernetes' own server of CustomResourceDefinitions and their objects, from the packages
// of Debian unstable. tests/install.sh builds it.
//
// It lists, watches, streams, patches and finalizes custom resources as a cluster does. It does not know what else a cluster has: no
// core API (namespaces need not exist; Events, Leases, TokenReview are 404), no RBAC, no admission, no audit log, no priority and
// fairness. Users are those of a file of tokens, and each may do everything.
package main

import (
	"net"
	"net/url"
	"os"
	"slices"

	"github.com/spf13/cobra"
	noop "go.opentelemetry.io/otel/trace/noop"
	apiv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver"
	"k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	namer "k8s.io/apiserver/pkg/endpoints/openapi"
	genericserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/component-base/cli"
	base "k8s.io/component-base/version"
)

// There are no webhooks, so there are no services to call.
type noServices struct{}

func (noServices) ResolveEndpoint(string, string, int32) (*url.URL, error) {
	return nil, os.ErrNotExist
}

func main() {
	o := options.NewCustomResourceDefinitionsServerOptions(os.Stdout, os.Stderr)
	r := o.RecommendedOptions
	r.Features.EnablePriorityAndFairness = false // needs the core API
	var tokens string
	cmd := &cobra.Command{
		Use:               "apiserver",
		Version:           base.Get().GitVersion,
		SilenceUsage:      true,
		PersistentPreRunE: func(*cobra.Command, []string) error { return o.ServerRunOptions.ComponentGlobalsRegistry.Set() },
		RunE: func(c *cobra.Command, _ []string) error {
			if err := o.Complete(); err != nil {
				return err
			}
			// A certificate and its issuer in --cert-dir, as kube-apiserver makes them.
			if err := r.SecureServing.MaybeDefaultWithSelfSignedCerts("localhost", nil, []net.IP{net.IPv4(127, 0, 0, 1)}); err != nil {
				return err
			}
			g := genericserver.NewRecommendedConfig(apiserver.Codecs)
			for _, apply := range []func() error{
				func() error { return o.ServerRunOptions.ApplyTo(&g.Config) },
				func() error { return r.Etcd.ApplyTo(&g.Config) },
				func() error { return r.SecureServing.ApplyToConfig(&g.Config) },
				func() error { return r.Features.ApplyTo(&g.Config, nil, nil) },
				func() error {
					return o.APIEnablement.ApplyTo(&g.Config, apiserver.DefaultAPIResourceConfigSource(), apiserver.Scheme)
				},
			} {
				if err := apply(); err != nil {
					return err
				}
			}
			users, err := tokenfile.NewCSV(tokens)
			if err != nil {
				return err
			}
			g.Authentication.Authenticator = bearertoken.New(users)
			g.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
			g.AdmissionControl = admission.NewChainHandler()
			defs := openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(generated.GetOpenAPIDefinitions)
			n := namer.NewDefinitionNamer(apiserver.Scheme, scheme.Scheme)
			g.OpenAPIConfig = genericserver.DefaultOpenAPIConfig(defs, n)
			g.OpenAPIV3Config = genericserver.DefaultOpenAPIV3Config(defs, n)
			conf := &apiserver.Config{GenericConfig: g, ExtraConfig: apiserver.ExtraConfig{
				CRDRESTOptionsGetter: options.NewCRDRESTOptionsGetter(*r.Etcd, g.ResourceTransformers, g.StorageObjectCountTracker),
				ServiceResolver:      noServices{},
				AuthResolverWrapper:  webhook.NewDefaultAuthenticationInfoResolverWrapper(nil, nil, g.LoopbackClientConfig, noop.NewTracerProvider()),
			}}
			s, err := conf.Complete().New(genericserver.NewEmptyDelegate())
			if err != nil {
				return err
			}
			// /apis, which the aggregator would serve: aggregated for kubectl, and the plain list of groups.
			a, crds := s.GenericAPIServer, s.Informers.Apiextensions().V1().CustomResourceDefinitions()
			group := func(obj any) {
				if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj = d.Obj
				}
				g := metav1.APIGroup{Name: obj.(*apiv1.CustomResourceDefinition).Spec.Group}
				all, _ := crds.Lister().List(labels.Everything())
				for _, c := range all {
					for _, v := range c.Spec.Versions {
						d := metav1.GroupVersionForDiscovery{GroupVersion: g.Name + "/" + v.Name, Version: v.Name}
						if c.Spec.Group == g.Name && v.Served && !slices.Contains(g.Versions, d) {
							g.Versions = append(g.Versions, d)
						}
					}
				}
				if len(g.Versions) == 0 {
					a.DiscoveryGroupManager.RemoveGroup(g.Name)
					return
				}
				slices.SortFunc(g.Versions, func(x, y metav1.GroupVersionForDiscovery) int {
					return version.CompareKubeAwareVersionStrings(y.Version, x.Version)
				})
				g.PreferredVersion = g.Versions[0]
				a.DiscoveryGroupManager.AddGroup(g)
			}
			if _, err := crds.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc: group, UpdateFunc: func(_, obj any) { group(obj) }, DeleteFunc: group,
			}); err != nil {
				return err
			}
			w := aggregated.WrapAggregatedDiscoveryToHandler(a.DiscoveryGroupManager, a.AggregatedDiscoveryGroupManager, a.PeerAggregatedDiscoveryManager)
			a.Handler.GoRestfulContainer.Add(w.GenerateWebService("/apis", metav1.APIGroupList{}))
			return a.PrepareRun().RunWithContext(c.Context())
		},
	}
	fs := cmd.Flags()
	o.ServerRunOptions.AddUniversalFlags(fs)
	r.Etcd.AddFlags(fs)
	r.SecureServing.AddFlags(fs)
	fs.StringVar(&tokens, "token-auth-file", "", "CSV of token,name,uid,groups")
	_ = cmd.MarkFlagRequired("token-auth-file")
	cmd.SetContext(genericserver.SetupSignalContext())
	os.Exit(cli.Run(cmd))
}
