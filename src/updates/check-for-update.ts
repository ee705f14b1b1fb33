import { isNewer } from './compare-versions.ts';
import { programName } from './read-signed-sums.ts';
import { withRelease } from './with-release.ts';
import type { ReleaseSource } from './with-release.ts';

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
 * Refuses as `withRelease` does.
 */
export function checkForUpdate(source: ReleaseSource, own: { version: string; arch: string }): Promise<OfferedUpdate> {
  return withRelease(source, ({ version, sums }, files) => {
    const name = programName(version, own.arch);
    const sha256 = sums.get(name);
    return {
      version,
      isNewer: isNewer(version, own.version),
      isOlder: isNewer(own.version, version),
      program: sha256 === undefined ? null : { place: files.placeOf(name), sha256 },
    };
  });
}
