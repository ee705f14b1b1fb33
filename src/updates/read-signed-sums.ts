import { checkSshSignature } from '../accounts/index.ts';
import { conflict, forbidden } from '../kernel/index.ts';
import { isVersion } from './compare-versions.ts';
import type { ReleaseFiles } from './open-release.ts';
import { namespace } from './read-signers.ts';

/** What a signed SHA256SUMS states. */
export interface SignedSums {
  version: string;
  /** Name of a file → SHA-256 in hexadecimal digits. */
  sums: ReadonlyMap<string, string>;
}

const maxSumsBytes = 64 * 1024;
const maxSignatureBytes = 16 * 1024;

/** The program of a release for a processor in Node's words. */
export const programName = (version: string, arch: string): string => `hearth-${version}-linux-${arch}`;

/**
 * Reads SHA256SUMS and its signature (OpenSSH, PROTOCOL.sshsig); nothing of it is used before the signature is right.
 * Throws `release_signature_wrong`, `release_sums_malformed`, and as `ReleaseFiles.read` does.
 */
export async function readSignedSums(files: ReleaseFiles, signers: ReadonlySet<string>): Promise<SignedSums> {
  const [text, signature] = [
    await files.read('SHA256SUMS', maxSumsBytes),
    await files.read('SHA256SUMS.sig', maxSignatureBytes),
  ];
  const checked = checkSshSignature(signature.toString('latin1'), text, namespace);
  const wrong = (why: string) =>
    forbidden('release_signature_wrong', `${files.placeOf('SHA256SUMS')} cannot be trusted: ${why}.`);
  if (checked === null) throw wrong('its signature cannot be read');
  if (!checked.isGood) throw wrong('it is not what was signed');
  if (!signers.has(checked.fingerprint))
    throw wrong(`${checked.fingerprint} signed it, which is not among the signers`);

  const sums = new Map<string, string>();
  const versions = new Set<string>();
  for (const line of text.toString().replace(/\n$/, '').split('\n')) {
    const [, sum, name] = /^([0-9a-f]{64}) {2}([\w.+~-]+)$/.exec(line) ?? [];
    if (sum === undefined || name === undefined) throw malformed(files);
    sums.set(name, sum);
    const version = /^hearth-(.+)-linux-(?:x64|arm64)$/.exec(name)?.[1];
    if (version !== undefined) versions.add(version);
  }
  const [version = ''] = versions;
  if (versions.size !== 1 || !isVersion(version)) throw malformed(files);
  return { version, sums };
}

const malformed = (files: ReleaseFiles) =>
  conflict('release_sums_malformed', `${files.placeOf('SHA256SUMS')} does not have the form of a release.`);
