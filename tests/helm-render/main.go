// Renders a chart as Helm does, for the tests: helm-render CHART VALUES [REVISION]
//
// This is not Helm. It has what Helm's templates have, from the same libraries (text/template, sprig, sigs.k8s.io/yaml, and gojsonschema for
// values.schema.json): .Values, .Release, .Chart, .Files, .Template, include, tpl, required, toYaml and its like. It talks to no cluster, so
// `lookup` and .Capabilities are missing, and has no hooks and no charts within charts: a chart that uses them fails here.
//
// VALUES is a file of values for one's own, as for `helm install -f`. REVISION above 1 renders an upgrade. The output is JSON:
// {"objects": [...], "notes": "..."}. Mistakes go to standard error, and the exit code is 1.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/xeipuuv/gojsonschema"
	"sigs.k8s.io/yaml"
)

type values = map[string]interface{}

// The files of a chart by their paths in it. As with Helm, a link is what it leads to.
type files map[string][]byte

// As Helm has it: a file that is not there is empty.
func (f files) Get(name string) string { return string(f[name]) }

func main() {
	if len(os.Args) < 3 || len(os.Args) > 4 {
		fmt.Fprintln(os.Stderr, "usage: helm-render CHART VALUES [REVISION]")
		os.Exit(2)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	revision := 1
	if len(arguments) == 3 {
		var err error
		if revision, err = strconv.Atoi(arguments[2]); err != nil {
			return err
		}
	}
	chart := files{}
	if err := chart.read(arguments[0], ""); err != nil {
		return err
	}
	var metadata, merged, own values
	for name, into := range map[string]*values{"Chart.yaml": &metadata, "values.yaml": &merged} {
		if err := yaml.UnmarshalStrict(chart[name], into); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	text, err := os.ReadFile(arguments[1])
	if err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, &own); err != nil {
		return fmt.Errorf("%s: %w", arguments[1], err)
	}
	merge(merged, own)
	if err := validate(chart["values.schema.json"], merged); err != nil {
		return err
	}
	root := values{
		"Values": merged,
		"Chart":  capitalized(metadata),
		"Files":  chart.others(),
		"Release": values{
			"Name": "ingester", "Namespace": "default", "Service": "Helm", "Revision": revision,
			"IsInstall": revision == 1, "IsUpgrade": revision > 1,
		},
	}
	return render(chart, root)
}

func (f files) read(folder, within string) error {
	entries, err := os.ReadDir(filepath.Join(folder, within))
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := filepath.Join(within, entry.Name())
		about, err := os.Stat(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		if about.IsDir() {
			err = f.read(folder, name)
		} else {
			f[filepath.ToSlash(name)], err = os.ReadFile(filepath.Join(folder, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// What .Files has: neither templates nor what Helm itself reads.
func (f files) others() files {
	others := files{}
	for name, text := range f {
		switch {
		case strings.HasPrefix(name, "templates/"), name == "Chart.yaml", name == "values.yaml", name == "values.schema.json":
		default:
			others[name] = text
		}
	}
	return others
}

// The user's values over the chart's: maps are merged, a null removes the chart's value.
func merge(into, from values) {
	for key, value := range from {
		under, isMap := into[key].(values)
		over, both := value.(values)
		switch {
		case value == nil:
			delete(into, key)
		case isMap && both:
			merge(under, over)
		default:
			into[key] = value
		}
	}
}

func validate(schema []byte, merged values) error {
	if len(schema) == 0 {
		return errors.New("the chart has no values.schema.json")
	}
	text, err := json.Marshal(merged)
	if err != nil {
		return err
	}
	result, err := gojsonschema.Validate(gojsonschema.NewBytesLoader(schema), gojsonschema.NewBytesLoader(text))
	if err != nil {
		return err
	}
	var faults []string
	for _, fault := range result.Errors() {
		faults = append(faults, "- "+fault.String())
	}
	if len(faults) > 0 {
		return errors.New("values don't meet the specifications of the schema:\n" + strings.Join(faults, "\n"))
	}
	return nil
}

// Chart.yaml's keys as templates name them: .Chart.AppVersion.
func capitalized(metadata values) values {
	named := values{}
	for key, value := range metadata {
		named[strings.ToUpper(key[:1])+key[1:]] = value
	}
	named["APIVersion"] = metadata["apiVersion"]
	return named
}

func render(chart files, root values) error {
	var names []string
	for name := range chart {
		if strings.HasPrefix(name, "templates/") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(functions(all))
	for _, name := range names {
		if _, err := all.New(name).Parse(string(chart[name])); err != nil {
			return err
		}
	}
	objects, notes := []interface{}{}, ""
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), "_") {
			continue
		}
		root["Template"] = values{"Name": name, "BasePath": "templates"}
		text, err := execute(all, name, root)
		if err != nil {
			return err
		}
		if strings.HasSuffix(name, "NOTES.txt") {
			notes = text
			continue
		}
		for _, document := range strings.Split("\n"+text, "\n---") {
			var object interface{}
			if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
				return fmt.Errorf("%s makes no YAML: %w\n%s", name, err, document)
			}
			if object != nil {
				objects = append(objects, object)
			}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(values{"objects": objects, "notes": notes})
}

func execute(all *template.Template, name string, data interface{}) (string, error) {
	var out bytes.Buffer
	if err := all.ExecuteTemplate(&out, name, data); err != nil {
		return "", err
	}
	// As Helm does: what is missing is empty.
	return strings.ReplaceAll(out.String(), "<no value>", ""), nil
}

// Helm's functions: sprig's without those that read the environment, and its own.
func functions(all *template.Template) template.FuncMap {
	known := sprig.TxtFuncMap()
	delete(known, "env")
	delete(known, "expandenv")
	known["include"] = func(name string, data interface{}) (string, error) { return execute(all, name, data) }
	known["tpl"] = func(text string, data interface{}) (string, error) {
		within, err := all.Clone()
		if err != nil {
			return "", err
		}
		within.Funcs(functions(within))
		if _, err := within.New("tpl").Parse(text); err != nil {
			return "", err
		}
		return execute(within, "tpl", data)
	}
	known["required"] = func(message string, value interface{}) (interface{}, error) {
		if text, isText := value.(string); value == nil || isText && text == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	known["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		if err != nil {
			return ""
		}
		return strings.TrimSuffix(string(text), "\n")
	}
	known["toJson"] = func(value interface{}) string {
		text, err := json.Marshal(value)
		if err != nil {
			return ""
		}
		return string(text)
	}
	// Helm puts an error of these under the key `Error`. Here it ends the program, because no template asks for that key.
	known["fromYaml"] = func(text string) (values, error) {
		value := values{}
		return value, yaml.Unmarshal([]byte(text), &value)
	}
	known["fromYamlArray"] = func(text string) ([]interface{}, error) {
		value := []interface{}{}
		return value, yaml.Unmarshal([]byte(text), &value)
	}
	known["fromJson"] = known["fromYaml"]
	return known
}
