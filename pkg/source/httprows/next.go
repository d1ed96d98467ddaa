package httprows

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/lynqctl/lynqctl/pkg/lynq/endpoint"
	"github.com/lynqctl/lynqctl/pkg/lynq/phrase"
	"github.com/lynqctl/lynqctl/pkg/source/fault"
)

// linked finds the next page in the Link headers of an answer from base. It returns nil if
// no page follows.
func (r *reader) linked(place string, base *url.URL, links []string) (*url.URL, error) {
	var next *url.URL
	targets, clear := nextLinks(links)
	if !clear {
		return nil, &fault.Error{Place: place, What: "a header Link with the relation next can't be read", Fix: `have the API send it as <URL>; rel="next"`}
	}
	for _, target := range targets {
		u, err := r.resolve(place, base, target)
		if err != nil {
			return nil, err
		}
		if next != nil && next.String() != u.String() {
			return nil, twoNext(place)
		}
		next = u
	}
	return next, nil
}

// nextLinks returns the targets of links with the relation next (RFC 8288). Values in single
// quotes count, too, because some servers write them. clear is false if text that is no link
// names the relation.
func nextLinks(headers []string) (targets []string, clear bool) {
	const value = `(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"';,]*)`
	link := regexp.MustCompile(`<([^>]*)>((?:\s*;(?:\s*[^\s=;,]+(?:\s*=\s*` + value + `)?)?)*)`)
	relation := regexp.MustCompile(`(?i);\s*rel\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"';,]+))`)
	named := regexp.MustCompile(`(?i)\brel\s*=[\s"'<]*(?:[^"'<>;,]*\s)?next\b`)
	titles := regexp.MustCompile(`(?i)\b(?:title|anchor|media|type)\*?\s*=\s*` + value)
	for _, header := range headers {
		for _, found := range link.FindAllStringSubmatch(header, -1) {
			rel := relation.FindStringSubmatch(titles.ReplaceAllString(found[2], ""))
			if rel == nil {
				continue
			}
			if slices.ContainsFunc(strings.Fields(rel[1]+rel[2]+rel[3]), func(word string) bool { return strings.EqualFold(word, "next") }) {
				targets = append(targets, found[1])
			}
		}
		if rest := titles.ReplaceAllString(link.ReplaceAllString(header, ""), ""); named.MatchString(rest) {
			return nil, false
		}
	}
	return targets, true
}

// twoNext returns the error for an answer that names two next pages.
func twoNext(place string) error {
	return &fault.Error{Place: place, What: "the answer names two next pages that differ", Fix: "set next to the field that counts, and have the API send one"}
}

// fieldNext returns the next page from the value of a field.
func (r *reader) fieldNext(place string, base *url.URL, value string) (*url.URL, error) {
	if name := r.c.HTTP.NextParameter; name != "" {
		u := *r.base
		query := u.Query()
		query.Set(name, value)
		u.RawQuery = query.Encode()
		return &u, nil
	}
	if !strings.Contains(value, "://") && !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "?") {
		return nil, &fault.Error{Place: place, What: fmt.Sprintf("field %q is no URL and no path", r.nextField()), Fix: "set nextParameter to the URL's parameter that takes the value"}
	}
	return r.resolve(place, base, value)
}

// resolve returns the URL of a page. The page must have the same origin, because the
// reader sends credentials there.
func (r *reader) resolve(place string, base *url.URL, target string) (*url.URL, error) {
	u, err := base.Parse(target)
	switch {
	case err != nil:
		return nil, &fault.Error{Place: place, What: "the URL of its next page can't be parsed", Fix: "correct the API"}
	case u.User != nil:
		return nil, &fault.Error{Place: place, What: "the URL of its next page has a user", Fix: "have the API leave it out"}
	case endpoint.Origin(u) != endpoint.Origin(r.base):
		return nil, &fault.Error{
			Place: place,
			What:  "its next page is elsewhere, at " + phrase.OneLine(endpoint.Origin(u)),
			Fix:   "lynqctl sends requests to " + endpoint.Origin(r.base) + " only; set url to where all pages are, or correct the API, which may not know that it is behind a proxy",
		}
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// weak returns an ETag in the form that If-None-Match compares.
func weak(tag string) string { return strings.TrimPrefix(strings.TrimSpace(tag), "W/") }
