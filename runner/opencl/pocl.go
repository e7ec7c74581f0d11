package opencl

import (
	"bytes"
	"crypto/rand"
)

// Env are variables of the environment in which a driver compiles code that can be
// checked before it runs. PoCL would otherwise compile a kernel again for each size of a
// work-group, when it is launched; put the work-items of a group into vectors; and take
// from a folder what another process, perhaps in another way, has compiled.
var Env = []string{"POCL_WORK_GROUP_SPECIALIZATION=0", "POCL_WORK_GROUP_METHOD=loops", "POCL_KERNEL_CACHE=0"}

// The head of an archive of PoCL's (lib/CL/pocl_binary.c, struct pocl_binary_s): a magic
// word and five numbers, and then the folder into which it is unpacked.
const (
	magic      = "poclbin"
	folderAt   = 36
	folderSize = 40
)

// ownFolder gives an archive of PoCL's a folder of its own. PoCL unpacks nothing into a
// folder that is there already, as that of the program is of which it made the archive:
// it would run that one, whatever the archive holds.
func ownFolder(archive []byte) []byte {
	if !bytes.HasPrefix(archive, []byte(magic)) || len(archive) < folderAt+folderSize {
		return archive
	}
	archive = bytes.Clone(archive)
	name := archive[folderAt:][:folderSize]
	_, _ = rand.Read(name) // never fails
	for i := range name {
		name[i] = 'A' + name[i]%16
	}
	name[2] = '/'
	return archive
}
