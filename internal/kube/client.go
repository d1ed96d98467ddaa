package kube

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

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

// pageSize is the number of objects in one page of a list, as in kubectl.
const pageSize = 500

// Options are the options of a client. The zero value works.
type Options struct {
	// Warn receives each warning of the server once, for example about a deprecated
	// version. With nil, the client drops them. Calls don't overlap.
	Warn func(text string)
	// Log says what to log of each request.
	Log RequestLog
	// Transport carries the requests. With nil, the client uses the one of the kubeconfig.
	Transport http.RoundTripper
	// Secrets are the values that no error, warning or event shows. nil means none.
	Secrets *redact.Filter
	// Answered receives each request: its verb in the terms of Kubernetes' rules, and the
	// status of the answer, or 0 without one. It must be safe for concurrent use. nil means
	// none.
	Answered func(verb string, status int)
	// Namespaces are the only namespaces in which the user has permissions, nil for all.
	Namespaces []string
}

// Client talks to one cluster. It is safe for concurrent use.
type Client struct {
	rest     *rest.RESTClient
	patience retrier
	pageSize int64
	kinds    kinds
	log      RequestLog
	bodies   *atomic.Bool // see LogBodies
	secrets  *redact.Filter
	events   *eventSeries
	user     *renewing
	// namespaces are the only ones about whose objects the client sends requests. Empty
	// means all.
	namespaces []string
	// mayWrite, if not nil, must allow each try of a write.
	mayWrite func() error
}

var (
	_ apply.Cluster        = (*Client)(nil)
	_ observe.ObjectReader = (*Client)(nil)
	_ store.ConfigMaps     = ConfigMaps{}
	_ lease.Leases         = Leases{}
)

// NewClient returns a client for a configuration, which it doesn't change. It sends nothing
// yet.
func NewClient(config *rest.Config, o Options) (*Client, error) {
	return newClient(o, func() (*rest.Config, error) { return config, nil })
}

// newClient works like NewClient. If the server refuses the credentials, the client reads
// the configuration again.
func newClient(o Options, read func() (*rest.Config, error)) (*Client, error) {
	config, err := read()
	if err != nil {
		return nil, err
	}
	connect := func(config *rest.Config) (http.RoundTripper, error) { return rest.TransportFor(configure(config, o)) }
	user := &renewing{read: read, connect: connect, now: time.Now, config: config}
	if user.next, err = connect(config); err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	client, err := rest.UnversionedRESTClientForConfigAndClient(configure(config, o), &http.Client{Transport: user, Timeout: config.Timeout})
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	return &Client{rest: client, patience: newPatience(o.Warn), pageSize: pageSize, kinds: newKinds(), log: o.Log, bodies: &atomic.Bool{}, secrets: o.Secrets, events: newEventSeries(), user: user, namespaces: o.Namespaces}, nil
}

// LogBodies says whether the log of requests may show the bodies of objects. It may not if
// they may have values of secret columns.
func (c *Client) LogBodies(may bool) { c.bodies.Store(may) }

// While returns a client for the same cluster that writes only while mayWrite returns nil.
// The client asks before each try. Dry runs need no permission.
func (c *Client) While(mayWrite func() error) *Client {
	guarded := *c
	guarded.mayWrite = mayWrite
	return &guarded
}

// MayWrite returns an error if the client may not write now.
func (c *Client) MayWrite() error {
	if c.mayWrite == nil {
		return nil
	}
	return c.mayWrite()
}

// statusCodecs decode a server's errors, and this package decodes everything else.
// client-go's scheme of all built-in kinds would cost 4.4 ms at every start.
func statusCodecs() runtime.NegotiatedSerializer {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(scheme).WithoutConversion()
}

// warnings passes each warning on once. It implements rest.WarningHandlerWithContext.
type warnings struct {
	tell    func(string)
	secrets *redact.Filter

	mu   sync.Mutex
	told map[string]bool
}

// ofVersion reports whether a warning is about a version of an API. It has only names.
func ofVersion(text string) bool {
	return regexp.MustCompile(`^[-./a-z0-9]+ [A-Za-z0-9]+ is deprecated( in v[.0-9]+\+(, unavailable in v[.0-9]+\+)?(; use [-./a-z0-9]+ [A-Za-z0-9]+)?)?$`).MatchString(text)
}

// HandleWarningHeaderWithContext implements rest.WarningHandlerWithContext. Code 299 marks
// warnings about the request.
func (w *warnings) HandleWarningHeaderWithContext(ctx context.Context, code int, _, text string) {
	if w.tell == nil || code != 299 || text == "" {
		return
	}
	if redact.HidesMessages(ctx) && !ofVersion(text) {
		text = "the server warns about an object; the text is " + hiddenText
	}
	text = w.secrets.Hide(text)
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
