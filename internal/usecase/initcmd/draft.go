package initcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lynqctl/lynqctl/internal/draft"
	"github.com/lynqctl/lynqctl/internal/kube"
	"github.com/lynqctl/lynqctl/internal/usecase/load"
	"github.com/lynqctl/lynqctl/internal/usecase/session"
	"github.com/lynqctl/lynqctl/pkg/lynq"
	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/render"
	"github.com/lynqctl/lynqctl/pkg/source/address"
)

// everyRow is the value of --activate for a table in which every row is active.
const everyRow = "none"

// Options say for which table Run drafts a hub and a form.
type Options struct {
	Access  kube.Access
	Timeout time.Duration // 0 means no limit
	// Source is the URL of the table. Alternatively, Paths are the files of a hub with a
	// source.
	Source string
	Paths  []string
	// Namespace is the namespace of the hub and its nodes. An existing hub may have its
	// own.
	Namespace string
	// Dir is the folder for the files. Name and Form are the names of hub and form.
	Dir, Name, Form string
	// UID and Activate are columns. With "", Run guesses them. With "none", Activate is no
	// column, and every row is active.
	UID, Activate string
	// From says of what the form is made: FromChart, FromHelm, or an object KIND/NAME. It is ""
	// for a starter form. Args are the chart, the release, or more objects.
	From string
	Args []string
	// Chart is the chart of a release. With "", it is the one that Helm keeps.
	Chart string
	// Tenant is the beginning of the names of objects. With "", it is what they share.
	Tenant string
}

// Drafted names the new files.
type Drafted struct {
	Files []string
	// Notes say what Run found, and what comes next.
	Notes []string
}

// Run reads a table and writes a hub and a form for it. It never overwrites a file. If it
// returns an error, it has written none.
func Run(ctx context.Context, e *session.Engine, o *Options) (*Drafted, error) {
	ctx, cancel := session.Deadline(ctx, o.Timeout)
	defer cancel()
	if o.From != "" {
		return runFrom(ctx, e, o)
	}
	from, err := originOf(ctx, e, o)
	if err != nil {
		return nil, err
	}
	d, err := lookAt(ctx, from, e.Stdin, e.Now())
	if err != nil {
		if _, undecided := errors.AsType[*draft.Error](err); undecided {
			err = fmt.Errorf("%s: %w", from.place, err)
		}
		return nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: "nothing was written"}
	}
	files, err := o.files(from, d)
	if err != nil {
		return nil, err
	}
	drafted := &Drafted{Notes: draftNotes(e, o, from, d)}
	for _, f := range files {
		drafted.Files = append(drafted.Files, f.path)
	}
	return drafted, writeNew(o.Dir, files, "")
}

// draftNotes say what Run found in a table, and what comes next.
func draftNotes(e *session.Engine, o *Options, from *origin, d *draft.Draft) []string {
	shows := "every row is active"
	if d.Activate != "" {
		shows = phrase.Quote(d.Activate) + " shows which rows are active"
	}
	notes := []string{fmt.Sprintf("hub %s: column %q is the uid, %s; %s more", from.hub, d.UID, shows, phrase.Count(len(d.Mappings), "column"))}
	if d.Assumption != "" {
		notes = append(notes, fmt.Sprintf("assumption about %q: %s", d.Activate, d.Assumption))
	}
	if d.Rows != nil {
		notes = append(notes, rowsNote(d.Rows))
	}
	if len(d.Perhaps) > 0 && !from.given {
		notes = append(notes, "if a column shows which rows are active, name it with --activate; possibly "+strings.Join(d.Perhaps, " or "))
	}
	if len(d.PerhapsExpires) > 0 {
		notes = append(notes, "if a column has the time at which a row ended, add expires to the hub with its name; possibly "+strings.Join(d.PerhapsExpires, " or "))
	}
	if d.Expires != "" && !from.given {
		notes = append(notes, fmt.Sprintf("a row counts as inactive from the time in column %q on", d.Expires))
	}
	if len(d.Others) > 0 {
		notes = append(notes, "columns that may show inactive rows, too, but don't count: "+strings.Join(d.Others, ", "))
	}
	if d.PreviousUID != "" {
		notes = append(notes, fmt.Sprintf("a row had the uid in column %q before", d.PreviousUID))
	}
	if d.Hashed {
		notes = append(notes, fmt.Sprintf("values of %q make no distinct Kubernetes names; templates use hashes of them (--uid names another column)", d.UID))
	} else if d.Converted != "" && !from.given {
		notes = append(notes, fmt.Sprintf("values of %q, such as %q, aren't valid Kubernetes names; templates convert them (--uid names another column)", d.UID, d.Converted))
	}
	if len(d.Unclear) > 0 && !from.given {
		notes = append(notes, fmt.Sprintf("add these values of %q to activeValues or inactiveValues in the hub: %s", d.Activate, strings.Join(d.Unclear, ", ")))
	}
	if len(d.Secrets) > 0 {
		notes = append(notes, "skipped columns that look like secrets: "+strings.Join(d.Secrets, ", "))
		if open := from.open(d.Secrets); len(open) > 0 {
			notes = append(notes, "to hide their values in all output, add to the hub: secretColumns: ["+strings.Join(open, ", ")+"]")
		}
	}
	if len(d.Bytes) > 0 {
		notes = append(notes, "skipped columns that hold bytes: "+strings.Join(d.Bytes, ", "))
	}
	if !from.given && from.connection.Password != "" && e.Getenv(endpoint.PasswordVariable) == "" {
		notes = append(notes, "the hub takes the password from the environment: export "+endpoint.PasswordVariable)
	}
	return append(notes, "next: lynqctl render "+o.inputs())
}

// rowsNote counts the rows of a table by what its draft makes of them.
func rowsNote(r *draft.Rows) string {
	note := fmt.Sprintf("active now: %d of %s", r.Active, phrase.Count(r.Active+r.Inactive+r.Unclear, "row"))
	if r.Unclear > 0 {
		note += fmt.Sprintf(" (unclear: %d)", r.Unclear)
	}
	return note
}

// origin says where the rows of a draft come from.
type origin struct {
	hub        string // the hub's name
	namespace  string // the namespace in the hub's file
	place      string // the table's name in messages
	given      bool   // the hub exists already
	connection endpoint.Connection
	choice     draft.Choice
}

// open returns the columns of an existing hub that look like secrets, although it doesn't
// list them as secret columns. In a new hub, a comment names them.
func (o *origin) open(secrets []string) []string {
	if !o.given {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(secrets), func(column string) bool { return slices.Contains(o.choice.Secrets, column) })
}

// originOf finds out where the rows are.
func originOf(ctx context.Context, e *session.Engine, o *Options) (*origin, error) {
	if len(o.Paths) > 0 {
		return givenHub(ctx, e, o)
	}
	c, err := address.Parse(o.Source, endpoint.Connection{})
	if err != nil {
		return nil, session.BadUsage(fmt.Errorf("--source: %w", err))
	}
	if c.Path == "-" && c.Type.HasSQL() {
		return nil, session.BadUsage(fmt.Errorf("--source: a %s database can't be read from standard input (name a file)", c.Type.Kind().Name))
	}
	name := cmp.Or(c.Table, strings.TrimSuffix(filepath.Base(c.Path), filepath.Ext(c.Path)))
	switch {
	case c.Type == endpoint.SourceHTTP:
		if c.Password = endpoint.Secret(e.Getenv(endpoint.PasswordVariable)); c.Password != "" {
			c.HTTP.Auth = endpoint.BearerAuth
		}
		name = apiName(c.HTTP.URL)
	case c.Type.HasServer():
		if c.Password == "" {
			c.Password = endpoint.Secret(e.Getenv(endpoint.PasswordVariable))
		}
		if err := load.URLCertificate(&c); err != nil {
			return nil, session.BadUsage(err)
		}
		for _, part := range [][2]string{{c.Username, "user"}, {c.Database, "database"}} {
			if part[0] == "" {
				return nil, session.BadUsage(fmt.Errorf("--source: no %s (write %s://USER@HOST/DATABASE?table=TABLE)", part[1], c.Type))
			}
		}
	}
	return &origin{hub: cmp.Or(o.Name, hubName(name[strings.LastIndexByte(name, '.')+1:])), place: name, connection: c, choice: draft.Choice{UID: o.UID, Activate: o.Activate, EveryRow: o.Activate == everyRow}}, nil
}

// givenHub returns the one hub of the inputs.
func givenHub(ctx context.Context, e *session.Engine, options *Options) (*origin, error) {
	inputs, err := e.Memory.LoadHubs(load.Builder(ctx, e, &load.InputOptions{}), options.Paths, false, e.Stdin)
	var problems lynq.Problems
	switch {
	case errors.As(err, &problems):
		return nil, session.BadInputs(problems, "nothing was written")
	case err != nil:
		return nil, &session.Error{Outcome: session.BadInput, Err: err, Summary: "nothing was written"}
	case len(inputs.Hubs) != 1:
		return nil, session.BadUsage(fmt.Errorf("-f: your files have %s, and init needs one", phrase.Count(len(inputs.Hubs), "hub")))
	}
	h := inputs.Hubs[0]
	if options.Namespace != "" && h.Namespace != "" && options.Namespace != h.Namespace {
		return nil, session.BadUsage(fmt.Errorf("-n: the hub's namespace is %s, and so is its form's (remove -n)", h.Namespace))
	}
	// The user's namespace for the nodes may hold the hub's Secret.
	hubs := []load.HubPrograms{{Hub: h, Programs: []*render.Program{{Namespace: cmp.Or(options.Namespace, "default")}}}}
	rows := load.RowSource{Filter: e.Secrets, Stdin: e.Stdin, Passwords: load.Passwords{Getenv: e.Getenv, Secrets: inputs.Secrets, Cluster: load.SecretsOf(e, &options.Access)}}
	connections, err := rows.Connections(ctx, hubs, options.Paths)
	if err != nil {
		return nil, err
	}
	o := &origin{hub: h.Name, namespace: h.Namespace, place: fmt.Sprintf("hub %q", h.Name), given: true, connection: connections[0], choice: draft.Choice{Mappings: []draft.Mapping{}, EveryRow: true, Activity: h.Activity, Expires: h.Expires.Column, Secrets: h.SecretColumns}}
	for _, m := range h.Mappings {
		switch m.Variable {
		case "uid":
			o.choice.UID = m.Column
		case "activate":
			o.choice.Activate, o.choice.EveryRow = m.Column, false
		default:
			o.choice.Mappings = append(o.choice.Mappings, draft.Mapping{Variable: m.Variable, Column: m.Column})
		}
	}
	return o, nil
}

// apiName returns the last part of an API's URL as the name of its rows.
func apiName(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	name := path.Base(strings.TrimSuffix(u.Path, "/"))
	return strings.TrimSuffix(name, path.Ext(name))
}

// hubName turns a table's name into a name for a hub.
func hubName(table string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(table))
	const most = 50 // inventories have it in labels
	name = strings.Trim(name[:min(len(name), most)], "-")
	return cmp.Or(name, "tenants")
}
