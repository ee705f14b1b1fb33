/**
 * Settings of the C library's allocator for a server: two pools instead of eight per processor, and free memory is
 * returned to the system, which saves 60 MB. Equal to those of scripts/executable/loader.cjs.
 */
export const allocatorSettings = 'MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=65536 MALLOC_TRIM_THRESHOLD_=131072';

/** A unit of a service that runs as the user of Hearth. */
export const unitFile = (description: string, service: string): string => `[Unit]
Description=${description}
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
User=hearth
Group=hearth
${service}
[Install]
WantedBy=multi-user.target
`;

/**
 * The unit for systemd; packaging/hearth.service is this text. It sandboxes the service, and git's processes inherit
 * that. No MemoryDenyWriteExecute: the JavaScript engine compiles at run time.
 */
export function systemdUnit(program = '/usr/local/bin/hearth'): string {
  return unitFile(
    'Hearth git forge',
    `ExecStart=${program} serve
ExecReload=${program} reload
WorkingDirectory=/var/lib/hearth
Environment=SERVICE_DATA_DIR=/var/lib/hearth
# Two pools of the C library's allocator instead of eight per processor, which give back what is free: 60 MB less.
Environment=${allocatorSettings}
EnvironmentFile=-/etc/hearth/hearth.env
StateDirectory=hearth
StateDirectoryMode=0700
ConfigurationDirectory=hearth
UMask=0077
Restart=on-failure
RestartSec=2
# It refuses to start with settings, a schema or a disk that do not fit: trying again does not help.
RestartPreventExitStatus=78
# Running clones and pushes may finish.
KillMode=mixed
TimeoutStopSec=60
LimitNOFILE=65536

NoNewPrivileges=true
ProtectSystem=strict
ProtectHome=true
PrivateTmp=true
PrivateDevices=true
ProtectHostname=true
ProtectClock=true
ProtectKernelTunables=true
ProtectKernelModules=true
ProtectKernelLogs=true
ProtectControlGroups=true
ProtectProc=invisible
# AF_NETLINK: the addresses of this machine are asked of the kernel there.
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=true
RestrictRealtime=true
RestrictSUIDSGID=true
RemoveIPC=true
LockPersonality=true
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallFilter=setpriority
CapabilityBoundingSet=
# To listen on ports 22 and 80 itself:
# CapabilityBoundingSet=CAP_NET_BIND_SERVICE
# AmbientCapabilities=CAP_NET_BIND_SERVICE
`,
  );
}
