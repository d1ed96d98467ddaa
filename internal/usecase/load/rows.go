package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/redact"
	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/pkg/source"
	"github.com/lynqctl/lynqctl/pkg/source/address"
	"github.com/lynqctl/lynqctl/pkg/source/httprows"
)

// RowSource opens the sources of hubs.
type RowSource struct {
	Stdin io.Reader
	// Override has the values of --source, as URL or HUB=URL.
	Override  []string
	Passwords Passwords
	// Filter learns the secrets of connections and rows, nil for none.
	Filter *redact.Filter
	// shuffle, if not nil, changes the order of rows.
	shuffle *rand.Rand
	// read, if not nil, is called for each row.
	read func()
	// answers keeps the answers of an API. With nil, RowSource keeps none.
	answers *httprows.Answers
}

// Connections returns the connection of each hub, with its password. It opens no source, so
// that errors in the inputs come first.
func (s RowSource) Connections(ctx context.Context, hubs []HubPrograms, inputs []string) ([]endpoint.Connection, error) {
	connections, errs := s.Locate(hubs)
	if connections == nil {
		return nil, session.BadUsage(errors.Join(errs...))
	}
	variables, err := s.Passwords.environment(hubs, connections)
	if err != nil {
		errs = append(errs, err)
	}
	for i, h := range hubs {
		if err := s.Passwords.fill(ctx, h, &connections[i], variables[i]); err != nil {
			errs = append(errs, err)
		}
		s.Filter.Learn(string(connections[i].Password), string(connections[i].Certificate))
	}
	errs = append(errs, oneReader(hubs, connections, inputs))
	if err := errors.Join(errs...); err != nil {
		return nil, &session.Error{Outcome: session.BadInput, Err: err}
	}
	return connections, nil
}

// Locate works like Connections, but adds only passwords in URLs. The connection of a bad
// URL is empty. The result is nil if a --source fits no hub.
func (s RowSource) Locate(hubs []HubPrograms) ([]endpoint.Connection, []error) {
	overrides, err := s.Overrides(hubs)
	if err != nil {
		return nil, []error{err}
	}
	connections := make([]endpoint.Connection, len(hubs))
	var errs []error
	for i, h := range hubs {
		connections[i] = h.Hub.Source
		if url := overrides[i]; url != "" {
			if connections[i], err = address.Parse(url, h.Hub.Source); err != nil {
				connections[i] = endpoint.Connection{}
				errs = append(errs, fmt.Errorf("--source: %w", err))
			}
			if at := slices.IndexFunc(h.Hub.Lookups, func(l *form.Lookup) bool { return l.Table != "" }); at >= 0 && connections[i].Type != "" && !connections[i].Type.HasSQL() {
				errs = append(errs, fmt.Errorf("--source: hub %q has lookup %q in a table (%s), and %s has no second table (pass a database, such as sqlite:PATH)", h.Hub.Name, h.Hub.Lookups[at].Name, h.Hub.Lookups[at].Pos, connections[i].Type))
			}
			if where := connections[i].Where; where.SQL != "" && !connections[i].Type.HasSQL() {
				errs = append(errs, fmt.Errorf("--source: hub %q has where (%s), and %s has no SQL, so inactive rows could count (pass a database, such as sqlite:PATH, or a hub without where)", h.Hub.Name, where.At, connections[i].Type))
			}
		}
	}
	return connections, errs
}

// oneReader refuses two readers of standard input, because the second would find nothing.
func oneReader(hubs []HubPrograms, connections []endpoint.Connection, inputs []string) error {
	reader := ""
	if slices.Contains(inputs, "-") {
		reader = "-f -"
	}
	for i, c := range connections {
		if c.Path != "-" {
			continue
		}
		name := fmt.Sprintf("hub %q", hubs[i].Hub.Name)
		if reader != "" {
			return fmt.Errorf("%s: %s already reads standard input (use a file for one of them)", name, reader)
		}
		reader = name
	}
	return nil
}

// Overrides returns the URL that --source has for each hub, "" for none.
func (s RowSource) Overrides(hubs []HubPrograms) ([]string, error) {
	urls := make([]string, len(hubs))
	for _, o := range s.Override {
		if o == "" {
			return nil, errors.New("--source is empty (an unset variable, perhaps)")
		}
		i, url := 0, o
		if name, rest, found := strings.Cut(o, "="); found && !strings.ContainsAny(name, ":.?") {
			which, err := hubCalled(name, hubs)
			if err != nil {
				return nil, err
			}
			i, url = which, rest
		} else if len(hubs) > 1 {
			return nil, errors.New("--source: your files have several hubs; name one with --source HUB=URL")
		}
		if urls[i] != "" {
			return nil, fmt.Errorf("--source: hub %q has two URLs (remove one)", hubs[i].Key)
		}
		urls[i] = url
	}
	return urls, nil
}

// Named returns the URLs of --source, each with the name of its hub, so that they fit a run
// of all hubs.
func (s RowSource) Named(hubs []HubPrograms) ([]string, error) {
	urls, err := s.Overrides(hubs)
	if err != nil {
		return nil, err
	}
	var named []string
	for i, url := range urls {
		if url != "" {
			named = append(named, hubs[i].Key.String()+"="+url)
		}
	}
	return named, nil
}

// hubCalled returns the index of the hub that --source names as NAME or NAMESPACE/NAME.
func hubCalled(name string, hubs []HubPrograms) (int, error) {
	var all []lynq.FormKey
	for _, h := range hubs {
		all = append(all, lynq.FormKey{Namespace: h.Key.Namespace, Name: h.Key.Name})
	}
	if err := errors.Join(known("source", "hub", []string{name}, all), distinct("source", "hubs", []string{name}, all)); err != nil {
		return 0, err
	}
	return slices.IndexFunc(all, func(n lynq.FormKey) bool { return lynq.Names{name}.Choose(n.Namespace, n.Name) }), nil
}

// readHub opens the rows of a hub and passes them to take.
func (s RowSource) readHub(ctx context.Context, h HubPrograms, c endpoint.Connection, take func(render.Input) error) error {
	var src source.Source
	err := session.Interruptible(ctx, func() error {
		opened, err := source.Open(ctx, c, s.Stdin, s.answers)
		src = opened
		return err
	})
	if err != nil {
		return fmt.Errorf("hub %q: %w", h.Hub.Name, err)
	}
	query := source.Query{Columns: render.Columns(h.Hub), UID: UIDColumn(h.Hub)}
	err = take(render.Input{
		Hub:      h.Key,
		Programs: h.Programs,
		Rows:     s.ordered(s.rowsOf(src.Records(ctx, query), h.Hub)),
		Place:    src.Place,
	})
	return errors.Join(err, src.Close())
}

// rowsOf adds the name of the hub to each error of its source.
func (s RowSource) rowsOf(records iter.Seq2[lynq.Row, error], h *form.Hub) iter.Seq2[lynq.Row, error] {
	return func(yield func(lynq.Row, error) bool) {
		for r, err := range records {
			if err != nil {
				err = fmt.Errorf("hub %q: %w", h.Name, err)
			}
			if err == nil {
				learn(s.Filter, h, r)
			}
			if s.read != nil {
				s.read()
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// learn adds the secret values of a row, active or not, to a filter. The uid may be shown.
func learn(f *redact.Filter, h *form.Hub, r lynq.Row) {
	if f == nil || len(h.SecretColumns) == 0 {
		return
	}
	f.Learn(render.SecretValues(h, r.Values)...)
	f.Publish(strings.Clone(strings.TrimSpace(r.Values[slices.Index(render.Columns(h), UIDColumn(h))])))
}

// ordered shuffles the rows if s.shuffle is set. In that case, it reads all of them first.
func (s RowSource) ordered(rows iter.Seq2[lynq.Row, error]) iter.Seq2[lynq.Row, error] {
	if s.shuffle == nil {
		return rows
	}
	return func(yield func(lynq.Row, error) bool) {
		var all []lynq.Row
		for r, err := range rows {
			if err != nil {
				yield(r, err)
				return
			}
			all = append(all, lynq.Row{Values: slices.Clone(r.Values), Null: slices.Clone(r.Null), Line: r.Line})
		}
		s.shuffle.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// UIDColumn returns the column that identifies a hub's rows, or "" if no mapping names one.
func UIDColumn(h *form.Hub) string {
	for _, m := range h.Mappings {
		if m.Variable == "uid" {
			return m.Column
		}
	}
	return ""
}
