package endpointslice

import (
	"errors"
	"fmt"
	"path/filepath"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// The typed client would do the same with the types of every API group: a hundred packages more to compile.
var (
	scheme     = newScheme()
	codecs     = serializer.NewCodecFactory(scheme)
	parameters = runtime.NewParameterCodec(scheme)
)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	metav1.AddToGroupVersion(s, metav1.Unversioned)
	if err := discoveryv1.AddToScheme(s); err != nil {
		panic(err) // it has no input
	}
	return s
}

// connect returns a client for the group discovery.k8s.io.
func connect(kubeconfig string) (rest.Interface, error) {
	cfg, err := restConfig(kubeconfig)
	if err != nil {
		return nil, err
	}
	cfg.UserAgent = "swar"
	cfg.APIPath = "/apis"
	cfg.GroupVersion = &discoveryv1.SchemeGroupVersion
	cfg.NegotiatedSerializer = codecs.WithoutConversion()
	cfg.WarningHandlerWithContext = rest.NoWarnings{}
	client, err := rest.RESTClientFor(cfg)
	if err != nil {
		return nil, fmt.Errorf("reaching the API server of Kubernetes: %w", err)
	}
	return client, nil
}

func restConfig(kubeconfig string) (*rest.Config, error) {
	if kubeconfig == "" {
		cfg, err := rest.InClusterConfig()
		if errors.Is(err, rest.ErrNotInCluster) {
			return nil, errors.New("this is not a pod of a Kubernetes cluster: set KUBECONFIG to the file that says how to " +
				"reach one, or find worker pods by DNS or a list")
		}
		if err != nil {
			return nil, fmt.Errorf("reading the service account of this pod (is automountServiceAccountToken off?): %w", err)
		}
		return cfg, nil
	}
	paths := filepath.SplitList(kubeconfig)
	loading := clientcmd.ClientConfigLoadingRules{Precedence: paths} // which leaves out files that are not there
	if len(paths) == 1 {
		loading = clientcmd.ClientConfigLoadingRules{ExplicitPath: kubeconfig}
	}
	files, err := loading.Load()
	if err != nil {
		return nil, fmt.Errorf("reading KUBECONFIG: %w", err)
	}
	cfg, err := clientcmd.NewDefaultClientConfig(*files, nil).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, fmt.Errorf("KUBECONFIG is %q, and names no cluster: set current-context in it", kubeconfig)
	}
	if err != nil {
		return nil, fmt.Errorf("KUBECONFIG is %q: %w", kubeconfig, err)
	}
	return cfg, nil
}
