package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// The media types of the parts of an image (OCI Image Format Specification 1.1).
const (
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// fields is an object of JSON, whose keys are written in order.
type fields = map[string]any

// image writes a container image with the program and its licences as an archive, which podman, buildah, skopeo and
// docker can load. `symtool integration container` builds the same from the release's archive.
func (r *release) image(output string, files []file) error {
	var inside []file
	for _, f := range files {
		switch f.name {
		case "symtool":
			inside = append(inside, file{"symtool", f.data, 0o755})
		case "LICENSE", "THIRD-PARTY-LICENSES":
			inside = append(inside, file{"usr/share/doc/symtool/" + f.name, f.data, 0o644})
		}
	}
	inside = append(inside, file{"work/", nil, 0o755})
	plain, err := tarOf(inside, r.date)
	if err != nil {
		return err
	}
	blobs := []file{{name: "oci-layout", data: []byte(`{"imageLayoutVersion":"1.0.0"}`), mode: 0o644}}
	add := func(mediaType string, data []byte) fields {
		sum := fmt.Sprintf("%x", sha256.Sum256(data))
		blobs = append(blobs, file{"blobs/sha256/" + sum, data, 0o644})
		return fields{"mediaType": mediaType, "digest": "sha256:" + sum, "size": len(data)}
	}
	layer := add(typeLayer, gzipped(plain))
	config := add(typeConfig, encoded(fields{
		"architecture": r.cpu, "os": "linux", "created": r.date.Format(time.RFC3339),
		"config": fields{
			"User": "65532:65532", "WorkingDir": "/work", "Entrypoint": []string{"/symtool"},
			"Labels": fields{
				"org.opencontainers.image.title": "symtool", "org.opencontainers.image.version": r.version, "org.opencontainers.image.licenses": "Apache-2.0",
				"org.opencontainers.image.source": r.homepage,
			},
		},
		"rootfs":  fields{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain))}},
		"history": []fields{{"created": r.date.Format(time.RFC3339), "created_by": "make dist"}},
	}))
	manifest := add(typeManifest, encoded(fields{"schemaVersion": 2, "mediaType": typeManifest, "config": config, "layers": []fields{layer}}))
	manifest["platform"] = fields{"architecture": r.cpu, "os": "linux"}
	manifest["annotations"] = fields{"org.opencontainers.image.ref.name": "symtool:" + r.version}
	blobs = append(blobs, file{"index.json", encoded(fields{"schemaVersion": 2, "manifests": []fields{manifest}}), 0o644})
	archive, err := tarOf(blobs, r.date)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(output, r.name+".oci.tar"), archive, 0o644)
}

// encoded returns v as JSON. All values in this file can be encoded.
func encoded(v fields) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
