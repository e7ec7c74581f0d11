//input:allow tests read logs of their own cluster and /proc

package slurmtest

import (
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/user"
	"strings"
)

// configure writes the configuration.
func (c *Cluster) configure() error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	c.host, _, _ = strings.Cut(host, ".")
	key := make([]byte, 1024)
	if _, err := rand.Read(key); err != nil {
		return err
	}
	if err := os.WriteFile(c.path("munge.key"), key, 0o600); err != nil {
		return err
	}
	if err := os.Chmod(c.Dir, 0o755); err != nil { // munge refuses a socket that others cannot reach
		return err
	}
	for _, d := range []string{"state", "spool.node1", "spool.node2"} {
		if err := os.Mkdir(c.path(d), 0o700); err != nil {
			return err
		}
	}
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	me, err := user.Current()
	if err != nil {
		return err
	}
	conf := fmt.Sprintf(slurmConf, c.host, ports[0], c.Dir, me.Username, CPUs, MemoryMB, ports[1], ports[2])
	if err := os.WriteFile(c.Conf, []byte(conf), 0o644); err != nil {
		return err
	}
	return os.WriteFile(c.path("gres.conf"), []byte("NodeName=node2 Name=gpu File=/dev/null\n"), 0o644)
}

// slurmConf is the configuration: no cgroups, no accounting. A dead node is noticed soon, but
// not so soon that a machine that is busy for some seconds is mistaken for one; the daemons are
// more patient with each other than by default.
const slurmConf = `ClusterName=loopback
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]d
AuthType=auth/munge
AuthInfo=socket=%[3]s/munge.socket
SlurmUser=%[4]s
SlurmdUser=%[4]s
StateSaveLocation=%[3]s/state
SlurmdSpoolDir=%[3]s/spool.%%n
SlurmctldPidFile=%[3]s/slurmctld.pid
SlurmdPidFile=%[3]s/slurmd.%%n.pid
SlurmctldLogFile=%[3]s/slurmctld.log
SlurmdLogFile=%[3]s/slurmd.%%n.log
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=1000
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,bf_interval=2,batch_sched_delay=0
ReturnToService=2
SlurmdTimeout=30
BatchStartTimeout=120
MessageTimeout=60
TCPTimeout=30
KillWait=2
InactiveLimit=0
SlurmdParameters=config_overrides
GresTypes=gpu
NodeName=node1 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[7]d CPUs=%[5]d RealMemory=%[6]d State=UNKNOWN
NodeName=node2 NodeHostname=%[1]s NodeAddr=127.0.0.1 Port=%[8]d CPUs=%[5]d RealMemory=%[6]d Gres=gpu:1 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// freePorts finds ports that nobody listens on. They are below those that the kernel assigns to
// clients, so that they stay free while a node is down.
func freePorts(n int) ([]int, error) {
	first := 0
	if text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		_, _ = fmt.Sscan(string(text), &first)
	}
	var out []int
	for tries := 0; len(out) < n; tries++ {
		port := 0 // any
		if first >= 12000 && tries < 1000 {
			port = first - 1 - mathrand.IntN(10000)
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		switch {
		case err == nil:
			defer l.Close()
			out = append(out, l.Addr().(*net.TCPAddr).Port)
		case port == 0:
			return nil, err
		}
	}
	return out, nil
}
