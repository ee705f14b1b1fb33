import type { Config } from '../config/index.ts';
import { unitFile } from './serving/systemd-unit.ts';

/** Where Litestream finds the database and leaves its copies. */
interface LitestreamPlaces {
  /** The SQLite file. */
  database: string;
  endpoint: string;
  bucket: string;
  /** Prefix of the instance's objects; null without one. */
  prefix: string | null;
  region: string;
  usesPathStyle: boolean;
}

/** File of the unit: its variables are the keys of the bucket. */
const keysFile = '/etc/hearth/litestream.env';
const configFile = '/etc/hearth/litestream.yml';

/**
 * Litestream's configuration, in YAML. It ships every second by default, which is 86,000 requests a day; pushes are in
 * the bucket without it (`git.storage = "store"`).
 */
export function litestreamConfig({
  database,
  endpoint,
  bucket,
  prefix,
  region,
  usesPathStyle,
}: LitestreamPlaces): string {
  const path = [...(prefix === null ? [] : [prefix]), 'litestream'].join('/');
  return `# Litestream 0.5 or newer. The keys of the bucket are in its environment: see ${keysFile}.
dbs:
  - path: ${JSON.stringify(database)}
    replica:
      type: s3
      endpoint: ${JSON.stringify(endpoint)}
      bucket: ${JSON.stringify(bucket)}
      path: ${JSON.stringify(path)}
      region: ${JSON.stringify(region)}
      force-path-style: ${usesPathStyle}
      # One request in ten seconds. Pushes do not wait for it: their journal is in the bucket before they are answered.
      sync-interval: 10s
`;
}

/** The unit for systemd. Litestream writes its own files next to the database. */
export function litestreamUnit({ dataDir, caFile }: Pick<Config, 'dataDir' | 'caFile'>): string {
  const authority = caFile === null ? '' : `Environment=SSL_CERT_FILE=${caFile}\n`;
  return unitFile(
    "Litestream copies of Hearth's database",
    `ExecStart=/usr/bin/litestream replicate -config ${configFile}
EnvironmentFile=${keysFile}
${authority}UMask=0077
Restart=always
RestartSec=5

NoNewPrivileges=true
ProtectSystem=strict
ReadWritePaths=${dataDir}
ProtectHome=true
PrivateTmp=true
PrivateDevices=true
ProtectKernelTunables=true
ProtectKernelModules=true
ProtectKernelLogs=true
ProtectControlGroups=true
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=true
LockPersonality=true
SystemCallArchitectures=native
SystemCallFilter=@system-service
CapabilityBoundingSet=
`,
  );
}

/** What is left to do, as commands for root. */
export const litestreamSteps: readonly string[] = [
  `hearth init --litestream > ${configFile}`,
  'hearth init --litestream --unit > /etc/systemd/system/hearth-litestream.service',
  `install -m 600 /dev/null ${keysFile}       # LITESTREAM_ACCESS_KEY_ID=… and LITESTREAM_SECRET_ACCESS_KEY=…`,
  'systemctl daemon-reload && systemctl enable --now hearth-litestream',
];
