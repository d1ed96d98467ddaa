package controlplane

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/lynqctl/lynqctl/test/cluster/internal/binaries"
	"github.com/lynqctl/lynqctl/test/cluster/internal/process"
)

const (
	// startTimeout limits the whole start, which takes seconds on an idle machine.
	startTimeout = 5 * time.Minute
	// pollInterval is the interval at which a start checks a step.
	pollInterval = 25 * time.Millisecond
	// stopGrace is the time in which a program may end by itself.
	stopGrace = 3 * time.Second
)

// Cluster is a running control plane.
type Cluster struct {
	layout    layout
	ports     *reservation
	programs  binaries.Set
	api       *client
	reaper    *process.Reaper
	processes []running  // in the order of their start
	failed    chan error // the end of a component that nobody stopped
}

// running is a started component.
type running struct {
	component
	*process.Process
	meant chan struct{} // closes before a restart ends the component
}

// Options say what to run and where.
type Options struct {
	Dir      string       // for the cluster's files; Start creates it
	Programs binaries.Set // all of them
	// Reaper is the command line of a program that calls process.Reap.
	Reaper []string
	// Remove makes the reaper remove Dir when this process ends, once the cluster has
	// started.
	Remove bool
}

// Start starts a control plane and returns when it works. The error names the component
// that failed, with the end of its log. In that case, nothing keeps running.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("gave up after %s", startTimeout))
	defer cancel()
	// Some programs interpret a relative path in another way.
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	reserved, free, err := reserve(3)
	if err != nil {
		return nil, err
	}
	c := &Cluster{
		layout:   layout{dir: dir, ports: ports{etcdClient: free[0], etcdPeer: free[1], apiServer: free[2]}},
		ports:    reserved,
		programs: o.Programs,
		failed:   make(chan error, len(o.Programs)),
	}
	if err := c.start(ctx, o); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// start starts the components in order, each when the ones before it are ready.
func (c *Cluster) start(ctx context.Context, o Options) error {
	reaper, err := process.StartReaper(o.Reaper[0], o.Reaper[1:]...)
	if err != nil {
		return err
	}
	c.reaper = reaper
	api, err := writeFiles(c.layout, time.Now())
	if err != nil {
		return err
	}
	c.api = api
	// The API server itself waits for etcd.
	for _, part := range []component{storage(c.layout), apiServer(c.layout)} {
		if err := c.run(part); err != nil {
			return err
		}
	}
	if err := c.await(ctx, binaries.APIServer, api.healthy); err != nil {
		return err
	}
	if err := api.createSeed(ctx); err != nil {
		return err
	}
	for _, part := range controllers(c.layout) {
		if err := c.run(part); err != nil {
			return err
		}
	}
	if err := c.await(ctx, binaries.ControllerManager, api.controlled); err != nil {
		return err
	}
	if err := c.await(ctx, binaries.Kwok, api.nodeReady); err != nil || !o.Remove {
		return err // the logs of a failed start stay
	}
	return c.reaper.Remove(c.layout.dir)
}

// run starts one component.
func (c *Cluster) run(part component) error {
	p, err := process.Start(part.name, c.programs[part.name], part.args, []string{collectLess}, c.layout.log(part.name))
	if err != nil {
		return err
	}
	r := running{part, p, make(chan struct{})}
	c.processes = append(c.processes, r)
	go func() {
		<-p.Done()
		select {
		case <-r.meant:
		default:
			c.failed <- p.Failure()
		}
	}()
	return c.reaper.Watch(p)
}

// RestartAPIServer kills the API server, starts it again with the same arguments, and
// returns when it answers. Its log begins again.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	i := slices.IndexFunc(c.processes, func(r running) bool { return r.name == binaries.APIServer })
	old := c.processes[i]
	close(old.meant)
	old.Stop(0)
	if err := c.run(old.component); err != nil {
		return err
	}
	// It keeps its place, so that Stop stops it after the components that need it.
	last := len(c.processes) - 1
	c.processes[i] = c.processes[last]
	c.processes = c.processes[:last]
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("gave up after %s", startTimeout))
	defer cancel()
	return c.await(ctx, binaries.APIServer, c.api.healthy)
}

// await calls ready until it returns nil. It gives up when any component ends, or at the
// timeout, and then blames the component with this name.
func (c *Cluster) await(ctx context.Context, name string, ready func(context.Context) error) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	last := errors.New("not asked yet")
	for {
		if err := ready(ctx); err == nil {
			return nil
		} else if ctx.Err() == nil {
			last = err // the last error that says more than a timeout
		}
		select {
		case err := <-c.failed:
			return err
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready: %w: %w; %s", name, context.Cause(ctx), last, c.logTail(name))
		case <-tick.C:
		}
	}
}

// logTail returns the end of a component's log.
func (c *Cluster) logTail(name string) string {
	i := slices.IndexFunc(c.processes, func(r running) bool { return r.name == name })
	if i < 0 {
		return "it was not started"
	}
	return c.processes[i].LogTail()
}

// Kubeconfig returns the path of a file with one context for each user.
func (c *Cluster) Kubeconfig() string { return c.layout.kubeconfig() }

// Logs returns the directory with a log of each component, and the audit log.
func (c *Cluster) Logs() string { return c.layout.logs() }

// Failed delivers an error when a component ends by itself.
func (c *Cluster) Failed() <-chan error { return c.failed }

// Stop ends all components, in the reverse order of their start. It removes files only with
// Options.Remove.
func (c *Cluster) Stop() error {
	for _, p := range slices.Backward(c.processes) {
		p.Stop(stopGrace)
	}
	err := c.ports.close()
	if c.reaper != nil {
		err = errors.Join(err, c.reaper.Close())
	}
	return err
}
