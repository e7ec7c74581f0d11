package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"optcheck/internal/required"
	"optcheck/toolchain"
)

// action is what action.yml has.
type action struct {
	Inputs  map[string]struct{ Default string }
	Outputs map[string]struct{ Value string }
	Runs    struct {
		Steps []struct {
			ID, Uses, Run, Shell string
			Env                  map[string]string
		}
	}
}

func readYAML(t *testing.T, file string, to any) {
	text, err := os.ReadFile(filepath.Join("..", "..", file))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, to), file)
}

var inputOf = regexp.MustCompile(`\$\{\{ inputs\.([a-z-]+) \}\}`)

// acquireGone is a kernel that ptxas 11.8 miscompiles.
const acquireGone = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry wait(.param .u64 flag, .param .u64 data)\n{\n" +
	".reg .pred %p1; .reg .b32 %r<4>; .reg .b64 %rd<3>;\nld.param.u64 %rd1, [flag];\nld.param.u64 %rd2, [data];\n" +
	"W: ld.volatile.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra W;\nld.acquire.gpu.u32 %r2, [%rd1];\nld.global.u32 %r3, [%rd2];\nst.global.u32 [%rd2+4], %r3;\nret;\n}\n"

// TestAction runs the steps of the GitHub action: a finding fails it, and with a baseline it passes.
func TestAction(t *testing.T) {
	if _, err := os.Stat(filepath.Join(toolchain.ManagedDir(os.Getenv), "cuda-11.8")); err != nil {
		required.Missing(t, "no cuda-11.8")
	}
	var a action
	readYAML(t, "action.yml", &a)
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	temp, work := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(work, "wait.ptx"), []byte(acquireGone), 0o644))
	steps := func(with map[string]string) (output string, err error) {
		file := filepath.Join(t.TempDir(), "output")
		for _, s := range a.Runs.Steps {
			if s.Uses != "" || s.ID == "" && strings.Contains(s.Run, "toolchain install") && with["install"] == "" {
				continue
			}
			require.Equal(t, "bash", s.Shell)
			cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", s.Run)
			cmd.Dir = work
			cmd.Env = append(os.Environ(), "GITHUB_ACTIONS=true", "GITHUB_ACTION_PATH="+root, "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+file,
				"GITHUB_STEP_SUMMARY="+filepath.Join(temp, "summary.md"))
			for name, value := range s.Env {
				cmd.Env = append(cmd.Env, name+"="+inputOf.ReplaceAllStringFunc(value, func(m string) string {
					key := inputOf.FindStringSubmatch(m)[1]
					in, ok := a.Inputs[key]
					require.True(t, ok, key)
					if v, given := with[key]; given {
						return v
					}
					return in.Default
				}))
			}
			out, failed := cmd.CombinedOutput()
			t.Logf("%s", out)
			if err = failed; err != nil {
				break
			}
		}
		text, readErr := os.ReadFile(file)
		require.NoError(t, readErr)
		return string(text), err
	}
	with := map[string]string{"paths": "wait.ptx", "toolchains": "11.8", "targets": "sm_80", "flags": "--write-known known.yaml"}
	out, err := steps(with)
	require.Error(t, err)
	require.Contains(t, out, "status=1\nsarif=optcheck-results/optcheck.sarif\n")
	require.FileExists(t, filepath.Join(work, "known.yaml"))
	with["flags"], with["known"] = "", "known.yaml"
	out, err = steps(with)
	require.NoError(t, err)
	require.Contains(t, out, "status=0\n")
	for name, o := range a.Outputs {
		m := regexp.MustCompile(`^\$\{\{ steps\.audit\.outputs\.([a-z]+) \}\}$`).FindStringSubmatch(o.Value)
		require.NotNil(t, m, name)
		require.Contains(t, out, m[1]+"=", name)
	}
}

// TestRecipes: the template for GitLab and the hook for pre-commit are what their readers expect, and name files and flags that are there.
func TestRecipes(t *testing.T) {
	var lab map[string]struct {
		Script, BeforeScript []string
		Variables            map[string]string
		Artifacts            struct{ Reports map[string]string }
	}
	readYAML(t, "ci/gitlab.yml", &lab)
	job := lab["optcheck"]
	require.Equal(t, []string{"/opt/optcheck/scripts/ci-audit.sh $AUDIT_PATHS $AUDIT_FLAGS"}, job.Script)
	for name := range job.Variables {
		known := otherVariables[name] != ""
		for _, k := range settingNames() {
			known = known || envName(k) == name
		}
		require.True(t, known || !strings.HasPrefix(name, "OPTCHECK_"), "%s is no variable of optcheck, which would refuse it", name)
	}
	require.Equal(t, "optcheck-results/junit.xml", job.Artifacts.Reports["junit"])
	var hooks []struct{ ID, Entry, Files string }
	readYAML(t, ".pre-commit-hooks.yaml", &hooks)
	require.Len(t, hooks, 1)
	require.NoError(t, wrongLine(t, hooks[0].Entry+" --targets=sm_80 --known=known.yaml --new-only src/wait.cu"))
	require.Regexp(t, hooks[0].Files, "src/wait.cu")
	require.NotRegexp(t, hooks[0].Files, "src/wait.cuh")
	require.FileExists(t, filepath.Join("..", "..", "scripts", "ci-audit.sh"))
}
