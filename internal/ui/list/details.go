package list

import (
	"strings"

	"github.com/lynqctl/lynqctl/internal/ui/tty"
)

// Details show one thing in full: facts about the whole, and its parts.
type Details struct {
	Facts []Fact
	Parts List // Data also contains the Data of its items
	// More has further sections, except for -o name. Sections without items are left out.
	More []Section
	Data any // a struct of plain data for -o json and -o yaml
}

// Fact is one fact. Without a Text, it is left out.
type Fact struct{ Name, Text string }

// Section is a list with a title.
type Section struct {
	Title string
	List
}

// PrintDetails prints details to out, in one of the Formats.
func PrintDetails(d *Details, format tty.Format, out tty.Stream) error {
	text, err := d.text(format, out)
	return out.WriteText("details", format, text, err)
}

// PrintAllDetails prints the details of several things, some of which may be missing.
// Programs get a list.
func PrintAllDetails(all []*Details, format tty.Format, out tty.Stream) error {
	text, err := allText(all, format, out)
	return out.WriteText("details", format, text, err)
}

func allText(all []*Details, format tty.Format, out tty.Stream) (string, error) {
	if TellsEmpty(format) {
		texts := make([]string, len(all))
		for i, d := range all {
			texts[i], _ = d.text(format, out) // the template of these formats can't fail
		}
		between := "\n\n"
		if format == tty.Name {
			between = ""
		}
		return strings.Join(texts, between), nil
	}
	if format == tty.HTML {
		return detailsPage(all)
	}
	var whole List
	for _, d := range all {
		whole.Items, whole.NoHeaders = append(whole.Items, Item{Data: d.Data}), d.Parts.NoHeaders
	}
	return whole.data(format, whole.document(), out)
}

func (d *Details) text(format tty.Format, out tty.Stream) (string, error) {
	switch format {
	case tty.Table, tty.Wide:
		return d.lines(format == tty.Wide, out), nil
	case tty.Name:
		return d.Parts.names(), nil
	case tty.HTML:
		return detailsPage([]*Details{d})
	}
	whole := List{Items: []Item{{Data: d.Data}}, NoHeaders: d.Parts.NoHeaders}
	return whole.data(format, d.Data, out)
}

// lines returns the details for people.
func (d *Details) lines(wide bool, out tty.Stream) string {
	var facts [][]string
	for _, f := range d.Facts {
		if f.Text != "" {
			facts = append(facts, []string{f.Name + ":", tty.Safe(f.Text)})
		}
	}
	var b strings.Builder
	b.WriteString(tty.Flow("", facts, out.Columns()))
	if len(d.Parts.Items) > 0 {
		b.WriteString("\n" + d.Parts.Table(wide, out))
	}
	if len(d.Parts.Footer) > 0 {
		b.WriteByte('\n')
	}
	for _, line := range d.Parts.Footer {
		b.WriteString(out.Fitted(tty.Safe(line)) + "\n")
	}
	for i := range d.More {
		if m := &d.More[i]; len(m.Items) > 0 {
			b.WriteString("\n" + tty.Safe(m.Title) + ":\n" + m.Table(wide, out))
		}
	}
	return b.String()
}
