package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

type object map[string]any

// bom returns the program's modules as CycloneDX 1.6, from the build information that Go
// wrote into the program. It has no tree of dependencies: all are the program's.
func (r *release) bom(program []byte) ([]byte, error) {
	sum := sha256.Sum256(program)
	id := sha256.Sum256(append([]byte("symtool SBOM"), sum[:]...))
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // UUID version 8: a custom form
	root := purl(r.info.Main.Path, r.version)
	goRef := purl("std", strings.TrimPrefix(r.info.GoVersion, "go"))
	components := []object{component("std", strings.TrimPrefix(r.info.GoVersion, "go"), goRef, []string{"BSD-3-Clause"})}
	refs := []string{goRef}
	for _, d := range r.info.Deps {
		ref := purl(d.Path, d.Version)
		c := component(d.Path, d.Version, ref, r.licencesOf(d.Path))
		c["properties"] = []object{{"name": "go:sum", "value": d.Sum}}
		components, refs = append(components, c), append(refs, ref)
	}
	var settings []object
	for _, s := range r.info.Settings {
		settings = append(settings, object{"name": "go:build:" + s.Key, "value": s.Value})
	}
	main := component("symtool", r.version, root, []string{"Apache-2.0"})
	main["type"], main["hashes"], main["properties"] = "application", []object{{"alg": "SHA-256", "content": fmt.Sprintf("%x", sum)}}, settings
	dependencies := []object{{"ref": root, "dependsOn": refs}}
	for _, ref := range refs {
		dependencies = append(dependencies, object{"ref": ref})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(object{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"serialNumber": fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:16]),
		"metadata":     object{"timestamp": r.date.Format(time.RFC3339), "component": main},
		"components":   components, "dependencies": dependencies,
	})
	return b.Bytes(), err
}

func component(name, version, ref string, licences []string) object {
	var list []object
	for _, id := range licences {
		list = append(list, object{"license": object{"id": id}})
	}
	return object{"type": "library", "bom-ref": ref, "name": name, "version": version, "purl": ref, "licenses": list}
}

func purl(module, version string) string {
	return "pkg:golang/" + module + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// licenceWords maps licences to words that only they contain.
var licenceWords = []struct{ id, words string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"BSD-3-Clause", "may be used to endorse or promote products derived from this software without specific prior written permission"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce the above copyright notice"},
}

// licencesOf returns the SPDX identifiers of a module's licences.
func (r *release) licencesOf(module string) (ids []string) {
	for _, l := range licenceWords {
		for _, n := range r.notices {
			text := strings.ReplaceAll(string(n.text), "\n>", "\n") // some are quoted
			text = strings.Join(strings.Fields(text), " ")
			if n.module != module || !strings.Contains(text, l.words) || l.id == "BSD-2-Clause" && len(ids) > 0 {
				continue
			}
			ids = append(ids, l.id)
			break
		}
	}
	return ids
}
