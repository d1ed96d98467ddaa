package deploy

import "errors"

// Watch is a watch in a Deployment.
type Watch struct {
	Options
	Replicas int
	// Port serves health and metrics.
	Port int
}

// Manifests returns manifests for kubectl apply.
func (w *Watch) Manifests() (string, error) {
	err := w.check(Deployment)
	if w.Replicas < 1 {
		err = errors.Join(err, errors.New("at least 1 replica is needed"))
	}
	if err != nil {
		return "", err
	}
	return w.print("watch.yaml", &printed{Kind: Deployment, Component: "watch", Arguments: w.Arguments(), Pods: w.Replicas, Port: w.Port})
}

// Arguments returns the container's arguments.
func (w *Watch) Arguments() []string { return w.arguments("watch") }
