import type { ShownAddresses } from './addresses.ts';

interface StartupInfo {
  readonly version: string;
  readonly addresses: ShownAddresses;
  readonly sshFingerprint: string | null;
  /** `host:port` for CI runners that use native gRPC; all others use the web address. */
  readonly grpc: string;
  readonly dataDir: string;
  /** Present while there is no administrator. */
  readonly setupUrl: string | null;
  /** Present while the base URL differs from the one that other servers know. */
  readonly originChange?: { readonly from: string; readonly to: string } | null;
}

/** The text after a start, with the URLs, for users and scripts. */
export function formatStartupBanner({
  version,
  addresses,
  sshFingerprint,
  grpc,
  dataDir,
  setupUrl,
  originChange = null,
}: StartupInfo): string {
  const { web, webHere, ssh } = addresses;
  const lines = [
    `Hearth ${version} is running.`,
    `  Web   ${web}${webHere === null ? '' : `   (also ${webHere})`}`,
    ...(ssh === null
      ? []
      : [
          `  SSH   ${ssh}   ${sshFingerprint === null ? "through this machine's own sshd" : `fingerprint ${sshFingerprint}`}`,
        ]),
    `  gRPC  ${grpc}`,
    `  Data  ${dataDir}`,
  ];
  if (setupUrl !== null) {
    lines.push(
      'No administrator yet. Open this link within 24 hours to create one:',
      `  ${setupUrl}`,
      'Show it again: hearth setup-url      Without a browser: hearth user add NAME --admin',
    );
  }
  if (originChange !== null) {
    const { from, to } = originChange;
    lines.push(
      `Warning: the federation URL has changed to ${to}. Other servers know this server as ${from},`,
      '  so follows do not work in either direction. Set SERVICE_FEDERATION_BASE_URL back, or continue with:',
      `  hearth federation origin accept ${to}`,
    );
  }
  return lines.join('\n') + '\n';
}
