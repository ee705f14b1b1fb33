import { isNewer } from './compare-versions.ts';
import { openRelease } from './open-release.ts';
import { programName, readSignedSums } from './read-signed-sums.ts';
import { readSigners } from './read-signers.ts';

/** A release and who may have signed it. */
export interface ReleaseSource {
  /** An address that begins with http:// or https://, or a folder. */
  from: string;
  /** A file in the format of ssh-keygen's `allowed_signers`. */
  signers: string;
  caFile: string | null;
}

/** What a release offers to the program that asks. */
export interface OfferedUpdate {
  version: string;
  /** Beside the version that asked. */
  isNewer: boolean;
  isOlder: boolean;
  /** The program for this processor; null when the release has none. */
  program: { place: string; sha256: string } | null;
}

/**
 * The release at an address. It is compared by its signed content only; nothing is installed.
 * Refuses as `readSigners` and `readSignedSums` do.
 */
export async function checkForUpdate(
  source: ReleaseSource,
  own: { version: string; arch: string },
): Promise<OfferedUpdate> {
  const signers = await readSigners(source.signers);
  const files = openRelease(source.from, source);
  try {
    const { version, sums } = await readSignedSums(files, signers);
    const name = programName(version, own.arch);
    const sha256 = sums.get(name);
    return {
      version,
      isNewer: isNewer(version, own.version),
      isOlder: isNewer(own.version, version),
      program: sha256 === undefined ? null : { place: files.placeOf(name), sha256 },
    };
  } finally {
    files.close();
  }
}
