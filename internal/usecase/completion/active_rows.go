package completion

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/form"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/naming"
	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/pkg/source"
)

// nodeNames returns the names of the nodes for the active rows of the inputs. It asks no
// cluster, and returns nil if it can't find them.
func nodeNames(ctx context.Context, e *session.Engine, o *load.RenderOptions, inputs *form.Inputs) []string {
	forms, err := o.Inputs.Choose(inputs)
	if err != nil {
		return nil
	}
	var hubs []load.HubPrograms
	for _, h := range inputs.Hubs {
		hubs = append(hubs, load.HubPrograms{Hub: h, Programs: []*render.Program{{Namespace: cmp.Or(o.Namespace, "default")}}})
	}
	// Reading a Secret from the cluster takes too long for a completion.
	nowhere := func(context.Context, string, string, ...string) ([]endpoint.Secret, error) {
		return nil, errors.New("not asked")
	}
	rows := load.RowSource{Filter: e.Secrets, Override: o.Sources, Passwords: load.Passwords{Getenv: e.Getenv, Secrets: inputs.Secrets, Cluster: nowhere}}
	connections, err := rows.Connections(ctx, hubs, nil)
	if err != nil {
		return nil
	}
	var names []string
	for i, h := range hubs {
		var uids []string
		for _, f := range forms {
			if inputs.Hub(f) != h.Hub {
				continue
			}
			if uids == nil {
				uids = activeRows(ctx, h.Hub, connections[i], e.Now())
			}
			for _, uid := range uids {
				names = append(names, naming.NodeName(uid, f.Name))
			}
		}
	}
	return names
}

// activeRows returns the uids of a hub's active rows.
func activeRows(ctx context.Context, h *form.Hub, from endpoint.Connection, now time.Time) []string {
	q := source.Query{UID: load.UIDColumn(h)}
	activate := ""
	for _, m := range h.Mappings {
		if m.Variable == "activate" {
			activate = m.Column
		}
	}
	for _, c := range []string{q.UID, activate, h.Expires.Column} {
		if c != "" && !slices.Contains(q.Columns, c) {
			q.Columns = append(q.Columns, c)
		}
	}
	if q.UID == "" || from.Path == "-" {
		return nil
	}
	src, err := source.Open(ctx, from, strings.NewReader(""), nil)
	if err != nil {
		return nil
	}
	defer func() { _ = src.Close() }() // nothing was written
	var uids []string
	for row, err := range src.Records(ctx, q) {
		if err != nil {
			return nil
		}
		value := func(column string) string { return row.Values[slices.Index(q.Columns, column)] }
		active, err := true, error(nil)
		if activate != "" {
			active, err = h.Activity.Of(value(activate))
		}
		if err == nil && active && h.Expires.Column != "" {
			var end time.Time
			end, err = lynq.ParseMoment(value(h.Expires.Column))
			active = !render.Expired(end, now)
		}
		if err == nil && active && row.Values[0] != "" {
			uids = append(uids, row.Values[0])
		}
	}
	return uids
}
