package kube

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/lynqctl/lynqctl/pkg/apply"
	"github.com/lynqctl/lynqctl/pkg/apply/observe"
	"github.com/lynqctl/lynqctl/pkg/inventory/lease"
	"github.com/lynqctl/lynqctl/pkg/inventory/store"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
)

const userAgent = "lynqctl"

// pageSize is how many objects are listed at once; kubectl's number.
const pageSize = 500

// Options of a client. The zero value serves.
type Options struct {
	// Warn is told, once, of each warning that the server sends, such as that a
	// version of an API is deprecated. Where it is nil they are dropped. Calls do
	// not overlap.
	Warn func(text string)
	// Log is what is told of each request.
	Log RequestLog
	// Transport carries the requests; nil is one as the kubeconfig has it.
	Transport http.RoundTripper
	// Answered is told of each request that was sent: its verb, as Kubernetes' rules
	// have it, and the status of the answer, 0 where there was none. It must be safe for
	// concurrent use. Nil for none.
	Answered func(verb string, status int)
}

// Client talks to one cluster. It is safe for concurrent use.
type Client struct {
	rest     *rest.RESTClient
	patience patience
	pageSize int64
	kinds    kinds
	log      RequestLog
	bodies   *atomic.Bool // see LogBodies
	// mayWrite, where it is not nil, is asked before each try of a write.
	mayWrite func() error
}

var (
	_ apply.Cluster        = (*Client)(nil)
	_ observe.ObjectReader = (*Client)(nil)
	_ store.ConfigMaps     = ConfigMaps{}
	_ lease.Leases         = Leases{}
)

// NewClient makes a client of a configuration, which stays as it is. It sends
// nothing yet.
func NewClient(config *rest.Config, o Options) (*Client, error) {
	client, err := rest.UnversionedRESTClientFor(configure(config, o))
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return &Client{rest: client, patience: newPatience(o.Warn), pageSize: pageSize, kinds: newKinds(), log: o.Log, bodies: &atomic.Bool{}}, nil
}

// LogBodies says whether the log of requests may show the bodies of objects: not if they
// may have values of secret columns.
func (c *Client) LogBodies(may bool) { c.bodies.Store(may) }

// While is a client of the same cluster that writes only while there is no error,
// which it asks for before it sends anything, also when it tries again. Dry runs
// are no writes.
func (c *Client) While(mayWrite func() error) *Client {
	guarded := *c
	guarded.mayWrite = mayWrite
	return &guarded
}

// MayWrite is an error where the client may not write now.
func (c *Client) MayWrite() error {
	if c.mayWrite == nil {
		return nil
	}
	return c.mayWrite()
}

// statusCodecs decode a server's errors; all else is decoded in this package.
// client-go's scheme of all built-in kinds would cost 4.4 ms at every start.
func statusCodecs() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}

// warnings passes on each warning once. It implements rest.WarningHandlerWithContext.
type warnings struct {
	tell func(string)

	mu   sync.Mutex
	told map[string]bool
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext. 299 is the
// code of warnings that are about the request.
func (w *warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	if w.tell == nil || code != 299 || text == "" {
		return
	}
	text = redact.Of(ctx).Hide(text)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told[text] {
		return
	}
	if w.told == nil {
		w.told = map[string]bool{}
	}
	w.told[text] = true
	w.tell(text)
}
