package domains

import _ "embed" // schema.json

//go:embed schema.json
var schemaFile string

// Schema returns a JSON Schema (draft 2020-12) of skillrouter.yaml, for editors: it lists
// the keys that [ParseFile] takes and says what they mean.
func Schema() []byte { return []byte(schemaFile) }
