package event

// Artefact is a text that belongs to a thread of a cell: what was compiled, or
// the machine code. Artefacts are too large for the event stream; they are in
// stores only.
type Artefact struct {
	Thread int    `json:"thread"`
	Kind   string `json:"kind"` // see the constants ArtefactPTX to ArtefactMachine
	Text   string `json:"text"`
}

// The kinds of artefacts.
const (
	ArtefactPTX     = "ptx"
	ArtefactOpenCL  = "opencl"
	ArtefactLLVMIR  = "llvm-ir"
	ArtefactMachine = "machine"
)
