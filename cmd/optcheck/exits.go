package main

// exit says what 0 and 1 mean as the exit code of a command; one is "" where there is no 1. 2 and 130 mean
// the same everywhere.
type exit struct{ zero, one string }

// Meanings that several commands share.
const (
	isPrinted    = "what was asked for was printed"
	wasDone      = "it was done"
	allDecided   = "every cell was decided but for those that --allow-unknown or a known finding accepts, and none that --fail-on counts is there"
	reachesFail  = "a cell that --fail-on counts"
	onlyFinished = "everything that the campaign asks for is done, and nothing in it counts for --fail-on"
)

// exits is the table of exit codes, by command.
var exits = map[string]exit{
	"optcheck":                        {isPrinted, ""},
	"optcheck app":                    {isPrinted, ""},
	"optcheck app cost":               {"everything was measured", ""},
	"optcheck app harden":             {"fences were found", "the model demands more fences than stress does"},
	"optcheck app list":               {isPrinted, ""},
	"optcheck app test":               {"all runs were made, and all were right", "a run was wrong"},
	"optcheck audit":                  {allDecided, reachesFail},
	"optcheck bench-gpu":              {"everything was measured", ""},
	"optcheck bench-ordering":         {"everything was measured", ""},
	"optcheck bug":                    {"the bundle was written", ""},
	"optcheck campaign":               {isPrinted, ""},
	"optcheck campaign attach":        {onlyFinished, reachesFail},
	"optcheck campaign cancel":        {wasDone, ""},
	"optcheck campaign init":          {isPrinted, ""},
	"optcheck campaign run":           {onlyFinished, reachesFail},
	"optcheck campaign status":        {isPrinted, ""},
	"optcheck check":                  {allDecided, "a kernel that --fail-on counts"},
	"optcheck config":                 {isPrinted, ""},
	"optcheck convert":                {"every test was converted", ""},
	"optcheck deps":                   {"the fate of every dependency is known, but for those that --allow-unknown accepts", ""},
	"optcheck devices":                {isPrinted, ""},
	"optcheck diff":                   {"cells were compared, and nothing that --fail-on counts is new or worse on the right side", "something is"},
	"optcheck disturbance":            {"kernels were compared, and the markers disturb none", "they disturb one"},
	"optcheck emit":                   {isPrinted, ""},
	"optcheck emulate":                {"the launch was executed to its end", "it did not come to its end"},
	"optcheck explain":                {isPrinted, ""},
	"optcheck gen":                    {isPrinted, ""},
	"optcheck gen cycle":              {isPrinted, ""},
	"optcheck gen kinds":              {isPrinted, ""},
	"optcheck gen name":               {"every test was classified", "one was not"},
	"optcheck gen presets":            {isPrinted, ""},
	"optcheck hunt":                   {"the hunt came to its end and decided something, whatever it found", ""},
	"optcheck isa":                    {isPrinted, "a line was not understood, or --hazards found one"},
	"optcheck issues":                 {isPrinted, ""},
	"optcheck known":                  {isPrinted, ""},
	"optcheck known list":             {isPrinted, ""},
	"optcheck lift":                   {"every cell was decided but for those that --allow-unknown accepts", ""},
	"optcheck log":                    {isPrinted, ""},
	"optcheck log check":              {"the model allows every state", "it forbids one, or that could not be said"},
	"optcheck mapping":                {"every cell of the mapping is known", "a compiler crashes or hangs at an operation"},
	"optcheck merge":                  {wasDone, ""},
	"optcheck model":                  {"every test was decided", ""},
	"optcheck model compare":          {"every test was decided, and the models agree", "they disagree"},
	"optcheck model search":           {"every test was decided", ""},
	"optcheck models":                 {isPrinted, ""},
	"optcheck reduce":                 {"the finding was reduced; with --check: it is there", "with --check: it is not there"},
	"optcheck replay":                 {"the machine code computes what the program does", "a value is wrong"},
	"optcheck report":                 {"the run was shown, and no cell in it counts for --fail-on", reachesFail},
	"optcheck run":                    {"every test was run that the device can do, whatever was seen", ""},
	"optcheck serve":                  {"it was asked to end", ""},
	"optcheck store":                  {isPrinted, ""},
	"optcheck store artefact":         {isPrinted, ""},
	"optcheck store artefact extract": {wasDone, ""},
	"optcheck store artefact get":     {isPrinted, ""},
	"optcheck store artefact list":    {isPrinted, ""},
	"optcheck store artefact put":     {wasDone, ""},
	"optcheck store check":            {"the store is whole", "something in it is damaged or missing"},
	"optcheck store export":           {isPrinted, ""},
	"optcheck store gc":               {wasDone, ""},
	"optcheck store import":           {wasDone, ""},
	"optcheck store info":             {isPrinted, ""},
	"optcheck store merge":            {wasDone, ""},
	"optcheck tests":                  {isPrinted, ""},
	"optcheck toolchain":              {isPrinted, ""},
	"optcheck toolchain add":          {wasDone, ""},
	"optcheck toolchain driver":       {wasDone, ""},
	"optcheck toolchain install":      {"all of it is installed", ""},
	"optcheck toolchain list":         {isPrinted, ""},
	"optcheck toolchain remove":       {wasDone, ""},
	"optcheck toolchain verify":       {"what is installed is what was installed", "something differs or is missing"},
	"optcheck trust":                  {wasDone, ""},
	"optcheck tune":                   {"the search came to its end", ""},
	"optcheck verify":                 {"every kernel was verified to the end of its runs, and nothing was found that --fail-on counts", "something was"},
	"optcheck version":                {isPrinted, ""},
}
